"""What is written as .adm is read again before it is saved, and compared with the model."""

from __future__ import annotations

import warnings

import numpy as np

from ..analyses.assembly.assemble import Assembly, assemble
from ..errors import ModelError, SimEngineError, listed, warn
from ..model.frame import GROUND
from ..model.model import Model
from ..model.resolved import ResolvedBody, ResolvedModel
from ..system.system import System
from .adm_reader import read_adm
from .adm_writer import AdmText, adm_text
from .json_reader import read_json
from .read_back import differences

SAME_START = 1e-7  # of the mechanism's length, or rad; and of its velocities


def checked_adm(model: Model) -> str:
    """The text of an .adm file that means this model; a warning names what is lost without changing the motion."""
    resolved, losses = model.check(), []
    half = [body.name for body in _bodies(resolved) if _is_half_given(body)]
    if half:
        resolved = _started(resolved)
        losses.append(
            f"the velocities of {listed(half)} were given in part; all are written as the joints make them."
        )
    written, read = _there_and_back(model, resolved)
    if not half and not _starts_alike(resolved, read):
        resolved = _started(resolved)
        losses.append(
            "joints are open as drawn, or do not allow the given velocities; "
            "poses and velocities are written as the joints make them."
        )
        written, read = _there_and_back(model, resolved)
    problems = list(differences(resolved, read, written.renamed))
    if problems:
        raise ModelError([f"model '{model.name}' is not saved as .adm: {problem}." for problem in problems])
    for sentence in [*written.losses, *losses]:
        warn(f"model '{model.name}' as .adm: {sentence}")
    return written.text


def _there_and_back(model: Model, resolved: ResolvedModel) -> tuple[AdmText, ResolvedModel]:
    written = adm_text(model, resolved)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return written, read_adm(read_json(written.text, f"{model.name}.adm", arithmetic=True), None).check()


# Where the motion starts ------------------------------------------------------------------------------


def _bodies(resolved: ResolvedModel) -> list[ResolvedBody]:
    return [body for name, body in resolved.bodies.items() if name != GROUND]


def _is_half_given(body: ResolvedBody) -> bool:
    """qd0 holds three numbers or none."""
    return (body.velocity is None) != (body.angular_velocity is None)


def _assembled(resolved: ResolvedModel) -> Assembly | None:
    try:
        return assemble(System(resolved))
    except SimEngineError:
        return None


def _started(resolved: ResolvedModel) -> ResolvedModel:
    """In the pose in which the joints close, with the velocities that they allow; else with 0 for what is missing."""
    assembly, states = _assembled(resolved), {}
    for i, body in enumerate(_bodies(resolved)):
        part = slice(3 * i, 3 * i + 3)
        if assembly is not None:
            states[body.name] = tuple(assembly.q[part].tolist()), tuple(assembly.qd[part].tolist())
        elif _is_half_given(body):
            states[body.name] = body.pose, (*(body.velocity or (0.0, 0.0)), body.angular_velocity or 0.0)
    return resolved.started(states)


def _starts_alike(resolved: ResolvedModel, read: ResolvedModel) -> bool:
    """Whether both assemble to the same state, which depends on the lengths that a model states."""
    a, b = _assembled(resolved), _assembled(read)
    if a is None or b is None:
        return a is b
    pose = np.abs(a.q - b.q).max(initial=0.0) <= SAME_START * a.system.length
    return bool(pose and np.abs(a.qd - b.qd).max(initial=0.0) <= SAME_START * np.abs(a.qd).max(initial=1e-9))
