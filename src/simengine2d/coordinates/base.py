"""The base of all coordinate families."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ..errors import ModelError, unknown
from ..methods import Formulation, Registry
from ..model.elements import Row
from ..numerics.arrays import Floats
from ..numerics.kernel_pointer import BoundKernel, KernelPointer
from ..system.applied_forces import Loads, frames_of_loads, load_arrays
from ..system.constraints import SystemArrays, constant_arrays
from ..system.system import System
from ..system.workspace import Pool, new_workspace
from .equations import Configuration, EquationsOfMotion
from .stages import StageEquations, StageTask
from .transform import (
    BodiesContext,
    Context,
    TransformedEquations,
    evaluate_bodies,
    new_equations,
)

OTHER_NAMES = {
    "cartesian": "reference_point",
    "absolute": "reference_point",
    "fully_cartesian": "natural",
    "joint": "relative",
    "minimal": "relative",
}


class Rates(NamedTuple):
    """Positions, velocities and accelerations of the bodies."""

    q: Floats
    qd: Floats
    qdd: Floats


class Later:
    """An attribute of the dense equations, which are made when one is asked for: some runs do without them."""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, family: Any, owner: type | None = None) -> Any:
        family.prepare()
        return family.__dict__[self.name]


class Family(ABC):
    """Coordinates z of a system, defined at an assembled configuration.

    A subclass fills `names`, `sizes`, `own_rows`, `remaining_rows` and `own_arrays`, and has a kernel `evaluate`
    that fills the matrices from (z, zd). Accelerations, projections and implicit stages follow from a map of its bodies
    (`MappedFamily`); a family that can do better says so in `equations_of_motion`. Defining the class registers it.
    """

    registry: ClassVar[Registry[Family]] = Registry(
        "coordinate system", "simengine2d.coordinates", OTHER_NAMES
    )
    name: ClassVar[str]
    choices: ClassVar[tuple[str, ...]] = ()
    """What a user may choose, as in "mixed(angles=crank rocker)": lists of names."""
    evaluate: ClassVar[KernelPointer]
    """f(context, t, y, out) with y = (z, zd): fills `context.E`."""

    system: System
    chosen: Mapping[str, tuple[str, ...]] = {}
    """The names chosen by the user."""
    names: list[str]
    """Names of the coordinates."""
    sizes: Floats
    """What a large change of each coordinate is: a length of the mechanism, or a radian."""
    own_rows: list[str]
    """Names of the constraints that the family adds."""
    remaining_rows: list[int]
    """The rows of the system that remain constraints."""
    turns: Floats
    """What is known of the angles at the end of the last step, where z does not count whole turns; else empty."""
    own_arrays: Any
    """What the kernel pointer `evaluate` needs beyond the arrays that all families have."""
    matrices: TransformedEquations = Later()  # type: ignore[assignment]
    context: Context = Later()  # type: ignore[assignment]
    fill_matrices: BoundKernel = Later()  # type: ignore[assignment]
    to_bodies: BoundKernel
    """(z, zd, zdd) to (q, qd, qdd)."""
    remember: BoundKernel | None = None
    """Updates `turns` after a step."""

    def __init_subclass__(cls, abstract: bool = False) -> None:
        if not abstract:
            Family.registry[cls.name] = cls

    def __init__(
        self, system: System, q: Floats, chosen: Mapping[str, tuple[str, ...]] | None = None
    ) -> None:
        """The coordinates of a system whose bodies are at q, where it is assembled."""
        self.system, self.chosen = system, dict(chosen or {})
        self.turns = np.zeros(0)
        self.idle = Pool()
        """What runs in these coordinates have prepared, for the next ones."""

    @property
    def spelling(self) -> str:
        """The name with what was chosen, `mixed(angles=crank)`: the same coordinates have the same."""
        return spelled(self.name, self.chosen)

    def take_numbers(self, system: System, q: Floats) -> bool:
        """Become the coordinates of a System that differs in numbers, at q; if False, these cannot be used again."""
        return False

    def row_shares(self, masses: Floats) -> BoundKernel | None:
        """A kernel pointer (t, q) -> g by which `formulations/rank_watch` sees what rows keep of themselves.

        `masses` of the coordinates of the bodies are purely geometric. None: by elimination of all bodies and rows.
        """
        return None

    def prepare(self) -> None:
        """Arrays of the rows that are kept, and the kernel pointer `evaluate` bound to them."""
        reduced, loads = self.reduced()
        w = new_workspace(reduced, loads)
        e = new_equations(reduced, self.n, len(self.own_rows), w)
        bodies = evaluate_bodies.bind(BodiesContext(reduced, loads, e, w))
        self.matrices = e
        self.context = Context(reduced, e, bodies.f, bodies.c, self.own_arrays)
        self.fill_matrices = self.evaluate.bind(self.context)

    def reduced(self) -> tuple[SystemArrays, Loads]:
        """The arrays of the rows that remain, and of all forces."""
        return reduced_arrays(self.system, self.remaining_rows)

    @abstractmethod
    def equations_of_motion(self, formulation: Formulation, at: Configuration) -> EquationsOfMotion:
        """The equations that a formulation asks for, in the form that suits the family."""

    @abstractmethod
    def stage_equations(self, task: StageTask) -> StageEquations:
        """The stages of an implicit method: what is left of the equations, and Newton's corrections."""

    @property
    def n(self) -> int:
        return self.sizes.size

    @property
    def m(self) -> int:
        return len(self.own_rows) + len(self.remaining_rows)

    @property
    def row_names(self) -> list[str]:
        return self.own_rows + [self.system.row_names[i] for i in self.remaining_rows]

    def at(self, t: float, z: Floats, zd: Floats | None = None) -> TransformedEquations:
        """M, Q, Phi, J, nu, gamma at a state; the arrays change with the next call."""
        rates = np.zeros(self.n) if zd is None else zd
        y = np.concatenate([z, rates]).astype(float)
        self.fill_matrices(t, y, y)
        return self.matrices

    def bodies(self, t: float, z: Floats, zd: Floats, zdd: Floats) -> Rates:
        """q = f(z), qd = R zd, qdd = R zdd + Rd zd"""
        out = np.empty(3 * self.system.n)
        self.to_bodies(t, np.concatenate([z, zd, zdd]), out)
        return Rates(*out.reshape(3, -1))

    def motion_matrix(self, t: float, z: Floats) -> Floats:
        """R of qd = R zd, column by column."""
        still = np.zeros(self.n)
        rest = self.bodies(t, z, still, still).qd
        columns = [self.bodies(t, z, unit, still).qd - rest for unit in np.eye(self.n)]
        return np.array(columns).reshape(self.n, -1).T

    def point_matrix(self, z: Floats, body: str, s: complex) -> Floats:
        """C_P of the point s of a body: its velocity is C_P zd, with d(r_P)/dt = rd + B s phid; 2 x n."""
        none, k = np.zeros(self.n), 3 * [each.name for each in self.system.bodies].index(body)
        rest = self.bodies(0.0, z, none, none)
        arm = s * np.exp(1j * rest.q[k + 2])
        R = self.motion_matrix(0.0, z)
        return np.array([R[k] - arm.imag * R[k + 2], R[k + 1] + arm.real * R[k + 2]])

    def count_from(self, t: float, q: Floats, qd: Floats) -> None:
        """Whole turns count from this state on, where z does not hold them."""
        self.turns[:] = 0.0

    @property
    def miscounted(self) -> bool:
        """Whether steps were so long that whole turns may have been missed."""
        return False

    def state_of(self, q: Floats, qd: Floats) -> Floats:
        """(z, zd) of bodies at q that move with qd."""
        return np.concatenate([self.positions(q), self.velocities(q, qd)])

    @abstractmethod
    def positions(self, q: Floats) -> Floats:
        """z of bodies at q."""

    @abstractmethod
    def velocities(self, q: Floats, qd: Floats) -> Floats:
        """zd of bodies at q that move with qd: R zd = qd, and the rows of the family's own hold still."""


def spelled(name: str, chosen: Mapping[str, tuple[str, ...]]) -> str:
    """`relative(cut=B C)`"""
    words = ", ".join(f"{option}={' '.join(names)}" for option, names in sorted(chosen.items()) if names)
    return f"{name}({words})" if words else name


def asked_for(coordinates: Any) -> tuple[type[Family], dict[str, tuple[str, ...]]]:
    """The family and its choices, from a name, "mixed(angles=crank)", or {"type": "mixed", "angles": ["crank"]}."""
    if isinstance(coordinates, Mapping):
        options = dict(coordinates)
        name = str(options.pop("type", ""))
    else:
        name, options = Family.registry.spelled(str(coordinates))
    cls = Family.registry.named(name)
    for option in options:
        if option not in cls.choices:
            hint = unknown("option", option, cls.choices) if cls.choices else "It has none."
            raise ModelError(f"{cls.name} coordinates have no option '{option}'. {hint}")
    lists = {k: tuple(v.split()) if isinstance(v, str) else tuple(map(str, v)) for k, v in options.items()}
    return cls, lists


def refuse_unknown(family: Family, option: str, known: Collection[str], kind: str) -> tuple[str, ...]:
    """The names chosen, all of which must be known."""
    for name in family.chosen.get(option, ()):
        if name not in known:
            raise ModelError(
                f"{family.name} coordinates, {option}: there is no {kind} '{name}'. "
                f"{unknown(kind, name, known, plural='bodies' if kind == 'body' else None)}"
            )
    return family.chosen.get(option, ())


def canonical(coordinates: Any) -> str:
    """The spelling of what is asked for."""
    cls, chosen = asked_for(coordinates)
    return spelled(cls.name, chosen)


def family_of(coordinates: Any, system: System, q: Floats) -> Family:
    """The coordinates asked for, of a system whose bodies are at q."""
    cls, chosen = asked_for(coordinates)
    return cls(system, q, chosen) if chosen else cls(system, q)


def reduced_arrays(system: System, kept: Sequence[int]) -> tuple[SystemArrays, Loads]:
    """The arrays of a system with some of its rows, and with all its forces."""
    loads = [load for _, load in system.loads]
    rows: list[Row] = [system.rows[i][1] for i in kept]
    functions = [system.functions[i] for i in kept]
    frames, gravity = frames_of_loads(loads), system.resolved.gravity
    arrays, numbers = constant_arrays(system.bodies, gravity, rows, functions, frames)
    return arrays, load_arrays(loads, numbers)
