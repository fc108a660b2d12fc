"""The analyses of studies and the options handed on to them, so that editors complete them and type checkers know them.

Whether the chosen analysis has an option is checked when it is called.
"""

from __future__ import annotations

from typing import Any, Literal, TypedDict

AnalysisName = Literal[
    "kinematics", "dynamics", "inverse_dynamics", "inverse", "equilibrium", "modes", "linearize"
]  # fmt: skip


class MotionOptions(TypedDict, total=False):
    """Keywords of kinematics, dynamics and inverse_dynamics."""

    t_end: Any
    step: Any
    t_eval: Any
    on_singular: Any
    coordinates: Any
    integrator: Any
    formulation: Any
    rtol: Any
    atol: Any
    max_step: Any
    events: Any
    second_opinion: Any
    history: Any
    keep: Any
    motion: Any
    actuators: Any
    limits: Any


class AnalysisOptions(MotionOptions, total=False):
    """Keywords of equilibrium, modes and linearize too."""

    method: Any
    start: Any
    t: Any
    all: Any
    region: Any
    at: Any
    inputs: Any
    states: Any
    noise: Any


class WatchedOptions(AnalysisOptions, total=False):
    """With `progress`, where the study has none of its own."""

    progress: Any


class SweptOptions(AnalysisOptions, total=False):
    """Keywords of floquet too."""

    period: Any
    steps: Any
