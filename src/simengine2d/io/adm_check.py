"""What is written as .adm is read again before it is saved, and compared with the model, body by body, row by row.

Two formats may say the same thing in other words, so elements are compared by what they do: the rows of a joint and
the pushes of a force at a few states drawn at random.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from math import cos, isclose, nan, sin
from random import Random
from typing import Any

import numpy as np

from ..analyses.assembly.assemble import Assembly, assemble
from ..errors import ModelError, SimEngineError, listed, warn
from ..expressions.function import Function
from ..model.elements import Element, ForceElement, Joint, MeasureForce, Wrench
from ..model.forces.point_force import PointForce
from ..model.forces.torque import Torque
from ..model.frame import GROUND, PlacedFrame, Pose, to_global
from ..model.measure import KINDS, Measure, value
from ..model.model import Model
from ..model.resolved import ResolvedModel
from ..model.resolved_body import ResolvedBody
from ..numerics.kernel import plain
from ..system.system import System
from .adm_reader import read_adm
from .adm_writer import AdmText, adm_text
from .json_reader import read_json

SAME_START = 1e-7  # of the mechanism's length, or rad; and of its velocities


def checked_adm(model: Model) -> str:
    """The text of an .adm file that means this model; a warning names what is lost without changing the motion."""
    model = model.in_si()
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


# Whether a file means the model -----------------------------------------------------------------------


TIMES = (0.0, 0.4142, 1.7321)
CLOSE = 1e-8  # of the largest number that an element has in these states

State = tuple[float, dict[str, Pose]]
"""A time, and where the bodies are."""


def differences(written: ResolvedModel, read: ResolvedModel, renamed: Mapping[str, str]) -> Iterator[str]:
    """A sentence for each part of a model that reads back as another one. `renamed` says how elements are called."""
    if not _all_close(written.gravity, read.gravity):
        yield f"gravity {written.gravity} would become {read.gravity}"
    for name, body in written.bodies.items():
        yield from _body_differences(body, read.bodies.get(name))
    states = _states(written)
    for name, element in written.elements.items():
        other = read.elements.get(renamed.get(name, name))
        if other is None or not _same_effect(element, other, states):
            yield f"{element.title} would not read back as it is"
    if len(read.elements) != len(written.elements):
        yield f"its {len(written.elements)} joints and forces would become {len(read.elements)}"


def _body_differences(body: ResolvedBody, other: ResolvedBody | None) -> Iterator[str]:
    if other is None:
        yield f"body '{body.name}' would be lost"
        return
    for name in ("mass", "inertia", "pose", "velocity", "angular_velocity"):
        first, second = getattr(body, name), getattr(other, name)
        if (first is None) != (second is None) or not _all_close(_flat(first), _flat(second)):
            yield f"body '{body.name}', {name} {first} would become {second}"


def _flat(given: Any) -> tuple[float, ...]:
    return () if given is None else given if isinstance(given, tuple) else (given,)


def _all_close(first: Any, second: Any) -> bool:
    return all(isclose(a, b, rel_tol=1e-14, abs_tol=0.0) for a, b in zip(first, second, strict=True))


# States -----------------------------------------------------------------------------------------------


def _states(resolved: ResolvedModel) -> list[State]:
    """The bodies moved about by as much as the mechanism is large."""
    poses = {name: body.pose for name, body in resolved.bodies.items()}
    size = max((abs(part) for pose in poses.values() for part in pose[:2]), default=0.0) or 1.0
    random = Random(7)
    moved = lambda pose: (
        pose[0] + size * random.uniform(-1, 1),
        pose[1] + size * random.uniform(-1, 1),
        pose[2] + random.uniform(-2, 2),
    )
    still = resolved.model.ground.name
    return [(t, {n: p if n == still else moved(p) for n, p in poses.items()}) for t in TIMES]


def _same_effect(element: Element, other: Element, states: list[State]) -> bool:
    first, second = ([*_effect(each, states)] for each in (element, other))
    if len(first) != len(second):
        return False
    size = max((abs(part) for part in first if isinstance(part, float) and part == part), default=0.0)
    return all(_same(a, b, CLOSE * size) for a, b in zip(first, second, strict=True))


def _same(a: Any, b: Any, tolerance: float) -> bool:
    if isinstance(a, float) and isinstance(b, float):
        return (a != a and b != b) or abs(a - b) <= tolerance
    return bool(a == b)


def _effect(element: Element, states: list[State]) -> Iterator[Any]:
    """What an element does, in numbers; and in words where these are not enough."""
    if isinstance(element, Joint):
        for row in element.rows():
            yield row.formula.text if row.formula else ""
            for t, poses in states:
                yield _measured(row.measure, poses) - _at(row.value, t)
    elif (
        isinstance(element, PointForce | Torque) and element.law is not None
    ):  # of which a file holds the name
        frame = element.frame
        axes = element.axes if isinstance(element, PointForce) else ""
        yield from (axes, frame.body, float(frame.x), float(frame.y))
    elif isinstance(element, ForceElement):
        for load in element.loads():
            yield from _load_effect(load, states)


def _load_effect(load: Any, states: list[State]) -> Iterator[Any]:
    by_law = isinstance(load, MeasureForce) and load.formula is None
    start = _measured(load.measure, states[0][1]) if by_law else 0.0
    for t, poses in states:
        if by_law:  # from where s is counted is the law's affair
            s = _measured(load.measure, poses)
            yield from (s - start, *_law(load.law, s, 1.0 + t, t))
        elif isinstance(load, Wrench):
            angle = load.frame.angle + poses[load.frame.body][2] if load.turning else 0.0
            (fx,), (fy,), torque = (_law(law, 0.0, 0.0, t) for law in load[2:])
            yield from (load.frame.body, float(load.frame.x), float(load.frame.y), *torque)
            yield from _turned(fx, fy, angle)
        else:
            yield str(load)


def _turned(fx: Any, fy: Any, angle: float) -> tuple[Any, Any]:
    if isinstance(fx, str) or isinstance(fy, str):
        return f"{fx} at {angle:.9g}", f"{fy} at {angle:.9g}"
    return cos(angle) * fx - sin(angle) * fy, sin(angle) * fx + cos(angle) * fy


def _law(law: Function, s: float, sd: float, t: float) -> tuple[Any]:
    """Its value; of a law that is neither linear nor of time alone, its text."""
    if law.is_linear:
        stiffness, damping, free = law.numbers
        return (stiffness * (s - free) + damping * sd,)
    return (_at(law, t) if law.of_time else law.text,)


def _at(function: float | Function, t: float) -> float:
    """f(t); nan where it has no value."""
    if not isinstance(function, Function):
        return float(function)
    try:
        return function(t)
    except ModelError:
        return nan


def _measured(measure: Measure, poses: Mapping[str, Pose]) -> float:
    total = 0.0
    for term in measure.terms:
        ax, ay, phi_a = _place(term.a, poses)
        bx, by, phi_b = _place(term.b, poses)
        axes = (cos(phi_a), sin(phi_a), cos(phi_b), sin(phi_b))
        total += term.weight * plain(value)(KINDS[term.kind], bx - ax, by - ay, *axes, phi_a, phi_b)
    return float(total)


def _place(frame: Any, poses: Mapping[str, Pose]) -> Pose:
    placed: PlacedFrame = frame
    return to_global(poses[placed.body], placed.x, placed.y, placed.angle)
