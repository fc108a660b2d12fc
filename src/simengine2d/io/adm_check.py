"""What is written as .adm is read again before it is saved, and compared with the model."""

from __future__ import annotations

import warnings

import numpy as np

from ..analyses.assembly.assemble import Assembly, assemble
from ..errors import ModelError, ModelWarning, SimEngineError, listed
from ..model.frame import GROUND
from ..model.model import Model
from ..model.resolved import Drawing, DrawnBody
from ..system.system import System
from .adm_reader import read_adm
from .adm_writer import AdmText, adm_text
from .json_text import read_json
from .read_back import differences

SAME_START = 1e-7  # of the mechanism's length, or rad; and of its velocities


def checked_adm(model: Model) -> str:
    """The text of an .adm file that means this model; what is lost though the motion is the same is told."""
    drawing, losses = model.check(), []
    half = [body.name for body in _bodies(drawing) if _is_half_given(body)]
    if half:
        drawing = _started(drawing)
        losses.append(
            f"the velocities of {listed(half)} were given in part; all are written as the joints make them."
        )
    written, read = _there_and_back(model, drawing)
    if not half and not _starts_alike(drawing, read):
        drawing = _started(drawing)
        losses.append(
            "joints are open as drawn, or do not allow the given velocities; "
            "poses and velocities are written as the joints make them."
        )
        written, read = _there_and_back(model, drawing)
    problems = list(differences(drawing, read, written.renamed))
    if problems:
        raise ModelError([f"model '{model.name}' is not saved as .adm: {problem}." for problem in problems])
    for sentence in [*written.losses, *losses]:
        warnings.warn(f"model '{model.name}' as .adm: {sentence}", ModelWarning, stacklevel=4)
    return written.text


def _there_and_back(model: Model, drawing: Drawing) -> tuple[AdmText, Drawing]:
    written = adm_text(model, drawing)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return written, read_adm(read_json(written.text, f"{model.name}.adm", arithmetic=True), None).check()


# Where the motion starts ------------------------------------------------------------------------------


def _bodies(drawing: Drawing) -> list[DrawnBody]:
    return [body for name, body in drawing.bodies.items() if name != GROUND]


def _is_half_given(body: DrawnBody) -> bool:
    """qd0 holds three numbers or none."""
    return (body.velocity is None) != (body.angular_velocity is None)


def _assembled(drawing: Drawing) -> Assembly | None:
    try:
        return assemble(System(drawing))
    except SimEngineError:
        return None


def _started(drawing: Drawing) -> Drawing:
    """In the pose in which the joints close, with the velocities that they allow; else with 0 for what is missing."""
    assembly, states = _assembled(drawing), {}
    for i, body in enumerate(_bodies(drawing)):
        part = slice(3 * i, 3 * i + 3)
        if assembly is not None:
            states[body.name] = tuple(assembly.q[part].tolist()), tuple(assembly.qd[part].tolist())
        elif _is_half_given(body):
            states[body.name] = body.pose, (*(body.velocity or (0.0, 0.0)), body.angular_velocity or 0.0)
    return drawing.started(states)


def _starts_alike(drawing: Drawing, read: Drawing) -> bool:
    """How joints close and velocities are shared follows the sizes of a model, which a format may tell otherwise."""
    a, b = _assembled(drawing), _assembled(read)
    if a is None or b is None:
        return a is b
    pose = np.abs(a.q - b.q).max(initial=0.0) <= SAME_START * a.system.length
    return bool(pose and np.abs(a.qd - b.qd).max(initial=0.0) <= SAME_START * np.abs(a.qd).max(initial=1e-9))
