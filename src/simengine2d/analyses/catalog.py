"""The analyses that a model file or a command can ask for, each with its options.

What is listed here is known to model files, to the schema and to the command line. An analysis is imported when it
runs: a command needs one of them, and should start quickly.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..model.model import Model
    from ..results.results import Results

NUMBER = "a number or an expression such as 30*deg"
METHOD = "the name of a method such as newmark, or a mapping such as {type: newmark, beta: 0.25}"


@dataclass(frozen=True)
class Option:
    """An option of an analysis: the types that a file may hold, and in words what is expected."""

    accepts: Any
    words: str

    @property
    def is_number(self) -> bool:
        return self.words == NUMBER


OPTIONS = {
    "t_end": Option(float | str, NUMBER),
    "step": Option(float | str, NUMBER),
    "output_steps": Option(int, "a whole number"),
    "rtol": Option(float | str, NUMBER),
    "atol": Option(float | str, NUMBER),
    "max_step": Option(float | str, NUMBER),
    "integrator": Option(str | dict[str, Any], METHOD),
    "formulation": Option(str | dict[str, Any], METHOD),
    "coordinates": Option(str, "reference_point, natural, mixed or relative"),
    "on_singular": Option(str, "pass, stop or raise"),
    "method": Option(str, "newton, relaxation or energy"),
}
OUTPUTS = ("t_end", "step", "output_steps")


@dataclass(frozen=True)
class Analysis:
    """One analysis: where its function is, and which options it has."""

    name: str
    module: str
    options: tuple[str, ...]

    @property
    def in_time(self) -> bool:
        return "t_end" in self.options

    def run(self, model: Model, options: Mapping[str, Any]) -> Results:
        """The results of the function of that name."""
        function = getattr(import_module(self.module, __package__), self.name)
        answer = function(model, **{name: value for name, value in options.items() if value is not None})
        return getattr(answer, "results", answer)  # an equilibrium contains its results


CATALOG = {
    each.name: each
    for each in (
        Analysis("kinematics", ".kinematics.kinematics", (*OUTPUTS, "on_singular")),
        Analysis(
            "dynamics",
            ".dynamics.dynamics",
            (*OUTPUTS, "integrator", "formulation", "coordinates", "rtol", "atol", "max_step"),
        ),
        Analysis("inverse_dynamics", ".inverse.inverse_dynamics", OUTPUTS),
        Analysis("equilibrium", ".statics.equilibrium", ("method",)),
    )
}
