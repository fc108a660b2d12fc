"""Equilibrium: poses in which a mechanism stays at rest, Phi_q^T lam = QA and Phi = 0."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import overload

import numpy as np
from numpy.typing import NDArray

from ...answer import Part, PlottedAnswer, Rows, digits
from ...errors import ConvergenceError, ModelError, UnsupportedError, listed
from ...methods import ChosenCoordinates
from ...model.frame import GROUND, Frame
from ...model.model import Model
from ...numerics.arrays import Floats
from ...results.reactions import Reaction
from ...results.results import Results
from ...system.failures import finite_QA
from ...system.system import System
from ..assembly.pose import Pose, closed_pose
from ..catalog import EquilibriumMethod
from ..equation_system import EquationSystem
from ..pose_sequence import pose_sequence
from .coordinate_balance import in_family, of_bodies
from .equilibrium_energy import lowest_energy
from .equilibrium_newton import FoundEquilibrium, newton_by_arc_length
from .equilibrium_relaxation import relax
from .equilibrium_search import Region, search
from .stability import NEUTRAL, STABLE, Stability, stability
from .statics import Balance, check_static, held_at
from .tangent_space import tangent_space

ROUNDING = 1e-12  # of a length or a radian

METHODS: dict[str, Callable[..., FoundEquilibrium]] = {
    "newton": newton_by_arc_length,
    "relaxation": relax,
    "energy": lowest_energy,
}


@dataclass(frozen=True, repr=False)
class Equilibria(PlottedAnswer):
    """The equilibria found, usually one. `results` has one row for each, channels one value."""

    results: Results
    stability: list[Stability]
    search: Results | None = field(default=None, compare=False)
    """The way to it, which can be animated: the damped motion of relaxation, or the poses of other methods, whose time
    counts them. None where there were many starts."""

    def __len__(self) -> int:
        return len(self.stability)

    def __iter__(self) -> Iterator[Equilibria]:
        """Each one separately."""
        for i, verdict in enumerate(self.stability):
            yield Equilibria(self.results.at_rows(slice(i, i + 1)), [verdict])

    @overload
    def __getitem__(self, key: str) -> Floats: ...
    @overload
    def __getitem__(self, key: int) -> Equilibria: ...
    def __getitem__(self, key: str | int) -> Floats | Equilibria:
        """A channel, such as "bar.phi", "O.fy" or "spring.force"; or one of the equilibria by its number."""
        return list(self)[key] if isinstance(key, int) else self.results[key]

    @property
    def q(self) -> Floats:
        """The poses, one row each."""
        return self.results.q

    @property
    def _poses(self) -> Floats:
        """x, y, phi of each body, without what is only rounding about zero."""
        sizes = np.array([self.results.system.length] * 2 + [1.0])
        poses = self.q.reshape(len(self), -1, 3)
        return np.where(np.abs(poses) > ROUNDING * sizes, poses, 0.0)

    @property
    def stable(self) -> NDArray[np.bool_]:
        """Whether each is stable; a neutral one is not."""
        return np.array([each.verdict == STABLE for each in self.stability])

    def reaction(
        self, name: str, on: str | None = None, at: Frame | str | None = None, expressed_in: str = GROUND
    ) -> Reaction:
        """Force and torque of a joint or a force on a body; see `Results.reaction`."""
        return self.results.reaction(name, on, at, expressed_in)

    def __str__(self) -> str:
        lines = [f"{self.results.model.name}: {self.results.status}", *self.results.notes]
        for row, verdict in zip(self._poses, self.stability, strict=True):
            poses = zip(self.results.bodies, row, strict=True)
            where = "; ".join(f"{body} at ({x:.6g}, {y:.6g}), {phi:.6g} rad" for body, (x, y, phi) in poses)
            lines.append(f"{verdict}: {where}")
        return "\n".join(lines)

    def _parts(self) -> Iterator[Part]:
        yield f"{self.results.model.name}: {self.results.status}"
        yield from self.results.notes
        for row, verdict in zip(self._poses, self.stability, strict=True):
            poses = zip(self.results.bodies, row, strict=True)
            rows = [[body, *map(digits, pose)] for body, pose in poses]
            yield Rows([str(verdict), "x m", "y m", "phi rad"], rows)


def equilibrium(
    model: Model | EquationSystem,
    *,
    method: EquilibriumMethod = "newton",
    start: Pose = None,
    t: float = 0.0,
    all: bool = False,
    region: Region | None = None,
    coordinates: ChosenCoordinates | None = None,
) -> Equilibria:
    """Poses in which the mechanism stays at rest, and their stability.

    Methods: "newton" finds equilibria of any kind; "relaxation" releases the mechanism with added damping; "energy"
    descends to a minimum of the potential energy, which needs conservative forces. `start` is a pose: coordinates,
    values such as {"bar.phi": 2.1}, or results; by default the initial one. Functions of time are held at `t`.

    `all` searches for every equilibrium in the `region`, such as {"bar.phi": (-3, 3)}; by default up to one turn and 20
    typical lengths from the start. With several free motions one may be missed.

    With `coordinates`, the steps of every method are taken in reference_point, natural, mixed or relative coordinates:
    Newton's on J^T lam = Q and Phi = 0 in these. Where there are several equilibria, it may end in another one.
    `results.in_coordinates` has the answer in these.
    """
    if isinstance(model, EquationSystem):
        if coordinates is not None:
            raise UnsupportedError(
                "a system of formulas has the coordinates that it is written in; leave out coordinates."
            )
        return model.equilibrium(method=method, start=start, t=t, all=all, region=region)
    if not isinstance(model, Model):
        raise ModelError(f"equilibrium needs a Model, not {model!r}; read a file with load(path).")
    if method not in METHODS:
        raise ModelError(f"method = {method!r} must be one of {listed(METHODS)}.")
    if region is not None and not all:
        raise ModelError("a region says where to look for all equilibria; give all=True too.")
    if all and method != "newton":
        raise ModelError(f"all=True uses Newton's method from many starts; leave out method={method!r}.")
    system = System(model)
    begin = beginning(system, t, start)
    begin = begin if coordinates is None else in_family(begin, coordinates)
    way: list[Floats] = []
    solutions = (
        search(begin, region) if all else [METHODS[method](begin, lambda here: way.append(here.q.copy()))]
    )
    _refuse_motion(solutions, method)
    if not solutions:
        raise ConvergenceError(f"no equilibrium of '{model.name}' was found in the region; widen it.")
    answer = equilibria(solutions, method, held_at(system, t))
    if not all:
        motion = solutions[0].motion or _search(system, [begin.q, *way, *answer.q], method)
        motion.q[-1] = answer.q[0]  # to the last digit
        answer = replace(answer, search=motion)
    if any(each.verdict == NEUTRAL for each in answer.stability):
        answer.results.notes.append(
            "a neutral equilibrium may be one of many: nothing holds the mechanism there"
        )
    return answer


def _search(system: System, poses: list[Floats], method: str) -> Results:
    """The poses of a search as a motion."""
    q = np.array([pose for i, pose in enumerate(poses) if i == 0 or not np.array_equal(pose, poses[i - 1])])
    return pose_sequence(system, q, f"the search for an equilibrium by {method}, {len(q)} poses")


def beginning(system: System, t: float, start: Pose = None) -> Balance:
    """The closed pose in which a search begins."""
    check_static(system)
    begin = Balance(system, t, tangent_space(system, t, closed_pose(system, t, start)[0]))
    finite_QA(system, t, begin.q, np.zeros(system.n))
    return begin


def _refuse_motion(solutions: list[FoundEquilibrium], method: str) -> None:
    """Refuse a pose in which a body would begin to move, even if the method has converged there."""
    for each in solutions:
        for body, force, acting in each.balance.unbalanced:
            raise ConvergenceError(
                f"method '{method}' ended in a pose of '{each.balance.system.model.name}' that is not an equilibrium: "
                f"on body '{body}' {force:.3g} N of {acting:.3g} N are not balanced. Start from another pose, look for "
                "a body that nothing holds, or try another method."
            )


def equilibria(solutions: list[FoundEquilibrium], method: str, notes: list[str]) -> Equilibria:
    """The equilibria with their stability, as results."""
    first, solutions = solutions[0].balance, [f._replace(balance=of_bodies(f.balance)) for f in solutions]
    q, lam = np.array([f.balance.q for f in solutions]), np.array([f.balance.lam for f in solutions])
    verdicts = [stability(f.balance) for f in solutions]
    count = "an equilibrium" if len(solutions) == 1 else f"{len(solutions)} equilibria"
    results = Results(
        first.system,
        np.full(len(solutions), float(first.t)),
        q,
        np.zeros_like(q),
        np.zeros_like(q),
        lam,
        analysis="equilibrium",
        status=f"{count} by {method}: {listed(v.verdict for v in verdicts)}",
        notes=notes,
        residuals={"force": max(f.balance.left_over for f in solutions)},
        statistics={"iterations": sum(f.iterations for f in solutions)},
        settings={} if first.coordinates is None else {"coordinates": first.coordinates},
    )
    return Equilibria(results, verdicts)
