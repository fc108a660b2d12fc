"""Preload: the spring forces that make a given pose an equilibrium."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ...answer import Part, PlottedAnswer, Rows, digits
from ...errors import ModelError, UnsupportedError, counted, listed, unknown
from ...model.forces.spring import Spring
from ...model.model import Model
from ...numerics.arrays import Floats
from ...system.system import System
from ..assembly.diagnose import in_words
from ..assembly.pose import Pose, closed_pose
from ..assembly.redrawn import with_initial_pose
from ..inverse.gradients import Gradients
from .statics import Balance, check_static
from .tangent_space import tangent_space


class Tension(NamedTuple):
    """The force of a spring, and the free length or angle that produces it (None without stiffness)."""

    force: float
    free: float | None


@dataclass(frozen=True, repr=False)
class Preload(PlottedAnswer):
    """The springs by name; `model` has the new initial pose and the new free lengths."""

    springs: dict[str, Tension]
    model: Model
    q: Floats

    def __getitem__(self, name: str) -> Tension:
        return self.springs[name]

    def __str__(self) -> str:
        lines = []
        for name, (force, free) in self.springs.items():
            by = (
                "by an actuator, since it has no stiffness"
                if free is None
                else f"with the free length {free:.9g}"
            )
            lines.append(f"{name} pulls with {force:.9g}, {by}")
        return "\n".join(lines)

    def _parts(self) -> Iterator[Part]:
        yield f"{self.model.name}: preload"
        rows = [[name, *map(digits, tension)] for name, tension in self.springs.items()]
        yield Rows(["spring", "force N or N m", "free length or angle"], rows)


def preload(model: Model, springs: str | Sequence[str], *, at: Pose = None, t: float = 0.0) -> Preload:
    """Adjust springs such that the pose `at` (by default the initial one) is an equilibrium.

    With more springs than free motions, the changes h of their forces have the smallest sum of squares:

        Z^T (QA - sum_k h_k s_k,q^T) = 0,      free_k = free_k - h_k / stiffness_k
    """
    names = [springs] if isinstance(springs, str) else list(springs)
    system = System(model)
    check_static(system)
    chosen = [_spring(model, system, name) for name in names]
    here = Balance(system, t, tangent_space(system, t, closed_pose(system, t, at)[0]))
    gradients = Gradients(model, [model.forces[name].measure for name in names])  # type: ignore[attr-defined]
    A = here.Z.T @ gradients.at(here.q).T
    h = np.linalg.lstsq(A, here.force, rcond=1e-10)[0]
    rest = here.force - A @ h
    if np.linalg.norm(rest) > 1e-9 * here.size:
        words, count = in_words(system, here.q, here.Z @ rest), counted(here.space.freedom, "free motion")
        raise UnsupportedError(
            f"no force of {listed(names)} makes this pose an equilibrium: {np.linalg.norm(rest):.3g} N remain "
            f"unbalanced in the motion '{words}'. There are {count}; name more springs."
        )
    return _preloaded(
        model, here, dict(zip(names, zip(chosen, h, strict=True), strict=True)), gradients.values(here.q)
    )


def _spring(model: Model, system: System, name: str) -> Spring:
    """The spring in numbers."""
    if name not in model.forces:
        raise ModelError(
            f"there is no spring '{name}' in model '{model.name}'. {unknown('force', name, model.forces)}"
        )
    spring = system.resolved.elements[name]
    if not isinstance(spring, Spring):
        raise ModelError(f"{spring.title} is not a Spring, so it cannot be preloaded.")
    return spring


def _preloaded(model: Model, here: Balance, springs: dict[str, tuple[Spring, float]], s: Floats) -> Preload:
    other, tensions = with_initial_pose(model, here.q), {}
    for (name, (spring, change)), value in zip(springs.items(), s, strict=True):
        written = other.elements[name]
        assert isinstance(written, Spring)
        force = spring.stiffness * (value - spring.free) + spring.actuator(here.t) + change
        if spring.stiffness != 0.0:
            written.free = spring.free - change / spring.stiffness
            tensions[name] = Tension(float(force), float(written.free))
        elif spring.actuator.is_constant:
            written.actuator = spring.actuator.constant + change
            tensions[name] = Tension(float(force), None)
        else:
            raise ModelError(
                f"{spring.title} has no stiffness, and an actuator that changes with time; it cannot be set."
            )
    return Preload(tensions, other, here.q)
