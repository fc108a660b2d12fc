"""All joints together, in the closed pose: what they hold twice, what they leave free, and conflicting drivers."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from math import pi

import numpy as np

from ...errors import ModelError, counted, listed
from ...model.elements import Pair
from ...model.forces.spring import Spring
from ...model.joints.pin_slot import PinSlot
from ...model.joints.revolute_translational import RevoluteTranslational
from ...model.joints.translational import Translational
from ...model.model import Model
from ...numerics.arrays import Floats
from ...numerics.rank import free_motions, rank_of_rows
from ...results.reactions import non_unique
from ...results.results import Results
from ...system.system import System
from ..assembly.assemble import Assembly
from ..assembly.closure import coordinate_scale
from ..assembly.diagnose import DependentSet, Diagnosis, diagnose, in_words, nearby_poses, undriven_mobility
from .finding import ERROR, NOTE, WARNING, Finding

GUIDES = (Translational, PinSlot, RevoluteTranslational)
MOVED = 1e-2  # of a typical length or a radian: a correction of the initial pose worth reporting
OTHER_POSES = (0.3, 1.0, 3.0)  # radians of a turn: a cam may dwell for most of one
HELD = 1e-9  # rate of a measure in a free motion, below which it does not change
SAME = 1e-9  # relative, to which velocities of drivers must agree


def corrections(assembly: Assembly) -> Iterator[Finding]:
    """Bodies that were moved to close the joints, and velocities that the joints do not allow."""
    length = assembly.system.length
    for name, (shift, turn) in assembly.moved.items():
        far = max(shift / length, abs(turn))
        if far <= 1e-6:
            continue
        text = (
            f"body '{name}' was moved by {shift:.3g} m and turned by {turn:.3g} rad to close the joints at "
            f"t = {assembly.t:g} s."
        )
        remedy = "Place it where it belongs, or check the lengths around it and the drivers' first values."
        yield Finding(
            WARNING if far > MOVED else NOTE, "moved", (name,), text, remedy, {"shift": shift, "turn": turn}
        )
    for sentence in assembly.changed_velocities:
        body = sentence.split("velocity ", 1)[1].split(".", 1)[0]
        yield Finding(
            WARNING, "velocity", (body,), f"{sentence}.", "Give a velocity that the joints allow, or none."
        )


def examined(assembly: Assembly) -> Iterator[Finding]:
    diagnosis = diagnose(assembly)
    yield from _drivers(assembly, diagnosis)
    yield from _held_twice(assembly, diagnosis)
    yield from _reactions(assembly)
    yield from _freedom(diagnosis)
    yield from _idle_springs(assembly)


# Drivers ----------------------------------------------------------------------------------------------


def _drivers(assembly: Assembly, diagnosis: Diagnosis) -> Iterator[Finding]:
    """Drivers that drive what is already driven, or what the joints hold."""
    system = assembly.system
    drivers = {system.rows[i][0] for i in system.driver_rows}
    for group in diagnosis.dependent:
        names = list(dict.fromkeys(system.rows[i][0] for i in group.rows))
        acting = [name for name in names if name in drivers]
        if not acting:
            continue
        if len(acting) > 1:
            yield _fighting(assembly, group, acting)
        else:
            yield _blocked(assembly, group, acting[0], [name for name in names if name not in drivers])


def over_driven(system: System, t: float) -> Finding | None:
    """More drivers than free motions, in a mechanism that does not close with them."""
    free, drivers = undriven_mobility(system, t), dict.fromkeys(system.rows[i][0] for i in system.driver_rows)
    if free is None or len(drivers) <= free:
        return None
    text = (
        f"the drivers {listed(drivers)} fight: {counted(free, 'motion')} {'is' if free == 1 else 'are'} free, and "
        f"their values at t = {t:g} s are incompatible."
    )
    remedy = "Remove one of them, or make one a force."
    return Finding(ERROR, "fighting drivers", tuple(drivers), text, remedy, {"free motions": float(free)})


def _fighting(assembly: Assembly, group: DependentSet, drivers: list[str]) -> Finding:
    off = _disagreement(assembly, group)
    same = "with the same velocity" if off <= SAME else f"with velocities that differ by {off:.3g}"
    when = "" if group.permanent else " in this pose"
    text = f"the drivers {listed(drivers)} drive the same motion{when}, {same} at t = {assembly.t:g} s."
    remedy = "Remove one of them, or make one a force."
    return Finding(
        WARNING if off <= SAME else ERROR, "fighting drivers", tuple(drivers), text, remedy, {"velocity": off}
    )


def _disagreement(assembly: Assembly, group: DependentSet) -> float:
    """By how much the velocity of the last row differs from what the others imply."""
    system, row, partners = assembly.system, group.rows[-1], group.rows[:-1]
    J, nu = system.Phi_q(assembly.t, assembly.q), system.nu(assembly.t, assembly.q)
    weights = np.linalg.lstsq(J[partners].T, J[row], rcond=None)[0]
    size = max(1.0, float(np.abs(nu[group.rows]).max()))
    return float(abs(nu[row] - weights @ nu[partners])) / size


def _blocked(assembly: Assembly, group: DependentSet, driver: str, joints: list[str]) -> Finding:
    system = assembly.system
    title, off = system.model.elements[driver].title, _disagreement(assembly, group)
    guide = _turned_guide(system.model, driver, joints)
    if not group.permanent:
        remedy = "Start from another pose, or drive another body."
        text = f"{title} is at a dead point: in this pose {listed(joints)} hold what it should move."
    else:
        text = f"{title} cannot move anything: {listed(joints)} hold its measure."
        remedy = "Drive a measure that is free, or remove a joint."
    if guide is not None:
        remedy = f"Turned by 90 degrees, the guide '{guide}' would let it move: check its direction."
    elements = (guide, driver) if guide is not None else (driver, *joints)
    return Finding(
        ERROR if off > SAME else WARNING, "blocked driver", elements, text, remedy, {"velocity": off}
    )


def _turned_guide(model: Model, driver: str, joints: list[str]) -> str | None:
    """A guide among the joints that, turned by 90 degrees, would leave the driver's measure free."""
    for name in joints:
        joint = model.elements[name]
        if isinstance(joint, GUIDES) and _is_free(_with_turned(model, name), driver):
            return name
    return None


def _with_turned(model: Model, name: str) -> Model:
    turned = model.in_si().copy()
    resolved = turned.check()
    joint, here = turned.elements[name], resolved.elements[name]
    assert isinstance(joint, Pair) and isinstance(here, Pair)
    joint.direction = float(here.a.drawn_angle) + 0.5 * pi
    return turned


def _is_free(model: Model, driver: str) -> bool:
    """Whether the joints of a model, as drawn, leave the measure of a driver free."""
    try:
        system = System(model)
    except ModelError:
        return False
    rows = [i for i, (name, _) in enumerate(system.rows) if name == driver]
    others = [i for i, (name, row) in enumerate(system.rows) if not system.resolved.elements[name].drives]  # type: ignore[attr-defined]
    J = system.Phi_q(0.0, system.drawn_q) * coordinate_scale(system)
    return rank_of_rows(J[others + rows]).rank > rank_of_rows(J[others]).rank


# Held twice -------------------------------------------------------------------------------------------


def _held_twice(assembly: Assembly, diagnosis: Diagnosis) -> Iterator[Finding]:
    system = assembly.system
    drivers = {system.rows[i][0] for i in system.driver_rows}
    for group in diagnosis.dependent:
        names = tuple(dict.fromkeys(system.rows[i][0] for i in group.rows))
        if drivers & set(names):
            continue
        if len(names) == 1 and len(group.rows) == 1:
            text = f"{group.names[0]} restricts nothing in this pose."
            yield Finding(
                WARNING, "dependent", names, text, "Start from another pose, or check where it was drawn."
            )
            continue
        # several rows that restrict the same motion
        if diagnosis.isolated:
            continue  # said of the whole mechanism
        when = "in every pose" if group.permanent else "in this pose, a dead point or change point"
        remedy = (
            "The motion is right, but their reactions are not unique; release one of them, for example by a "
            "PinSlot instead of a Revolute."
            if group.permanent
            else "Most other poses are regular: start from one of them."
        )
        text = f"{listed(group.names)} restrict the same motion {when}."
        yield Finding(NOTE if group.permanent else WARNING, "dependent", names, text, remedy)


def _reactions(assembly: Assembly) -> Iterator[Finding]:
    system = assembly.system
    shared = non_unique(system, assembly.t, assembly.q)
    if shared:
        unique = [name for name in system.resolved.rows if name not in shared]
        text = f"the reactions of {listed(shared)} are not unique"
        rest = f"; those of {listed(unique)} are" if unique else ""
        yield Finding(NOTE, "reactions", tuple(shared), f"{text}{rest}.", "The smallest ones are given.")


def _stuck(diagnosis: Diagnosis) -> Finding:
    """Links that are stretched out or folded to the last: a structure, though a shaky one."""
    equations = list(dict.fromkeys(name for group in diagnosis.dependent for name in group.names))
    joints = tuple(dict.fromkeys(name.partition(".")[0] for name in equations))
    text = (
        f"'{diagnosis.model.name}' cannot move: its joints close in this pose only, in which {listed(equations)} "
        "restrict the same motion."
    )
    remedy = "Links are stretched out or folded completely there: make one a little longer or shorter."
    return Finding(WARNING, "locked", joints, text, remedy)


def _freedom(diagnosis: Diagnosis) -> Iterator[Finding]:
    free = diagnosis.mobility
    if diagnosis.coordinates == 0:
        return
    if diagnosis.isolated:
        yield _stuck(diagnosis)
        return
    motions = "; ".join(diagnosis.free) if free else "every motion is prescribed or prevented"
    count = counted(free, "free motion")
    yield Finding(
        NOTE, "mobility", (), f"mobility {free}, {count}: {motions}.", "", {"mobility": float(free)}
    )
    if free == 0 and not any(joint.drives for joint in diagnosis.model.joints.values()):
        text = f"'{diagnosis.model.name}' cannot move: its joints hold every motion and there is no driver."
        remedy = "Remove a joint, or check guides and pins for one that holds too much."
        yield Finding(WARNING, "locked", (), text, remedy)


def _idle_springs(assembly: Assembly) -> Iterator[Finding]:
    """Springs on a measure that the joints hold, here and in other poses: they have no effect."""
    system = assembly.system
    springs = {name: force for name, force in system.model.forces.items() if isinstance(force, Spring)}
    if not springs:
        return
    others = nearby_poses(system, assembly.t, assembly.q, OTHER_POSES)
    poses = [assembly.q, *islice(others, len(OTHER_POSES))]
    if not any(_motions(system, assembly.t, q).size for q in poses):
        return
    for name, spring in springs.items():
        if all(_is_held(spring, system, assembly.t, q) for q in poses):
            text = f"{spring.title} acts on a measure that the joints hold, so it moves nothing."
            remedy = "Remove it, or let it act on a measure that is free."
            yield Finding(NOTE, "idle", (name,), text, remedy)


def _motions(system: System, t: float, q: Floats) -> Floats:
    """The motions that the joints leave free without the drivers, one in each row."""
    scale, drivers = coordinate_scale(system), set(system.driver_rows.tolist())
    J = (system.Phi_q(t, q) * scale)[[i for i in range(system.m) if i not in drivers]]
    return (free_motions(J, rank_of_rows(J).rank) * scale[:, None]).T


def _is_held(spring: Spring, system: System, t: float, q: Floats) -> bool:
    motions = _motions(system, t, q)
    still = np.zeros_like(motions)
    moving = Results(system, np.zeros(len(motions)), still + q, motions, still)
    return bool(np.abs(moving.measure(system.resolved.measure(spring.measure))[1]).max(initial=0.0) <= HELD)


# Masses -----------------------------------------------------------------------------------------------


NOTHING = 1e-14  # mass of a motion, relative to that of the heaviest body


def massless(assembly: Assembly) -> Iterator[Finding]:
    """Free motions without mass, which forces do not determine; and massless bodies that joints guide."""
    system, scale = assembly.system, coordinate_scale(assembly.system)
    J, masses = system.Phi_q(assembly.t, assembly.q) * scale, system.masses * scale**2
    concerned: set[str] = set()
    for motion in free_motions(J, rank_of_rows(J).rank).T:
        if motion @ (masses * motion) > NOTHING * masses.max(initial=0.0) * (motion @ motion):
            continue
        moving = np.flatnonzero(np.abs(motion.reshape(-1, 3)).max(axis=1) > 1e-9)
        names = tuple(system.bodies[i].name for i in moving)
        concerned.update(names)
        words = in_words(system, assembly.q, scale * motion)
        text = f"a free motion has no mass, so forces do not determine it: {words}."
        remedy = f"Give {listed(names)} a mass and an inertia for dynamics, or drive the motion."
        yield Finding(ERROR, "massless", names, text, remedy)
    light = [b.name for b in system.bodies if b.mass == 0.0 and b.inertia == 0.0 and b.name not in concerned]
    if light and masses.max(initial=0.0) > 0.0:
        has, them = ("has", "it") if len(light) == 1 else ("have", "them")
        text = f"{listed(light)} {has} no mass; the joints guide {them}."
        yield Finding(NOTE, "massless", tuple(light), text)
