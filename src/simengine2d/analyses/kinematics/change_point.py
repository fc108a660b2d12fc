"""Change points: poses in which branches of the motion meet, passed along the smooth one.

The run stops at a regular state shortly before the singular pose. The motion is written as a function of a clock: the
value of the driver if there is one driver (which may then stop, reverse or jerk while passing), else the time. From
three regular states on this side a polynomial of degree 8 leads to the other side. If Newton finds a closed pose there,
with the velocity that the polynomial has, and if the polynomial of degree 11 through regular states on both sides
closes all joints in between, then that polynomial is the smooth continuation, for poses, velocities and accelerations.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...expressions.function import as_function
from ...expressions.function_table import FunctionTable, pack, values_at
from ...numerics.arrays import Floats
from ...numerics.rank import unit_rows
from ...system.constraints import SystemArrays as Arrays
from ...system.constraints import evaluate
from ...system.system import System
from ...system.workspace import new_workspace
from .solver import whole_solver
from .stepper import NEARBY

if TYPE_CHECKING:
    from .run import KinematicsRun


LARGEST_MISS = 1e-3  # of the pose after the change point from the predicted one, relative to the displacement
LARGEST_TURN = 2e-2  # change of the velocity across the change point, relative to the velocity
OPEN = 1e-11  # largest gap of the poses in between, relative to the length of the mechanism
SINGULAR = 1e-6  # smallest singular value at a change point, relative to that of a regular state
LARGEST_DENSE = 600  # coordinates up to which singular values are computed
CLEAN = 5e-3  # rad or lengths from a singular pose at which accelerations have lost few digits
# nodes in units of the distance from the singular pose
BEFORE, ACROSS = (-3.0, -2.0, -1.0), (-2.0, -1.0, 1.0, 2.0)


class ClockState(NamedTuple):
    """A pose, and its first and second derivatives with respect to the clock."""

    s: float
    q: Floats
    qd: Floats
    qdd: Floats


class Clock(NamedTuple):
    """The constraints as functions of s = sign f(t), the value of a driver, or of time if `driver` is None."""

    system: System
    arrays: Arrays
    driver: FunctionTable | None
    sign: float

    def at(self, t: float) -> tuple[float, float, float]:
        """s and its time derivatives; nan if the driver has no value."""
        if self.driver is None:
            return t, 1.0, 0.0
        s, sd, sdd = (self.sign * values_at(self.driver, t)[0]).tolist()
        return s, sd, sdd

    def right_sides(self, s: float, q: Floats, qd: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """Phi, Phi_q, nu and gamma at a state, with respect to this clock."""
        system, S = self.system, self.arrays
        m = system.m
        w, Phi, J = new_workspace(S), np.empty(m), np.zeros((m, system.n))
        evaluate(S, s, q, qd, w, Phi, w.row)
        J[np.repeat(np.arange(m), np.diff(S.jac_start)), S.jac_column] = w.data
        return Phi, J, w.f[:, 1], w.row


def clocks(run: KinematicsRun) -> list[Clock]:
    """The clocks in which the motion may be smooth: the driver, then time."""
    system = run.system
    by_time = Clock(system, system.arrays, None, 1.0)
    moving = system.moving_rows.tolist()
    if len(moving) != 1 or system.rows[moving[0]][1].formula is not None:
        return [by_time]
    return [_by_driver(system, moving[0], sign) for sign in _ways(run, moving[0])] + [by_time]


def _ways(run: KinematicsRun, row: int) -> list[float]:
    """The direction in which the driver moves; both if it is at rest."""
    rate = run.system.functions_at(run.t)[row, 1]
    return [1.0, -1.0] if rate >= 0.0 else [-1.0, 1.0]


def _by_driver(system: System, row: int, sign: float) -> Clock:
    functions = [as_function(function(0.0)) if i != row else as_function("t" if sign > 0.0 else "-t")
                 for i, function in enumerate(system.functions)]  # fmt: skip
    arrays = system.arrays._replace(functions=pack(functions))
    return Clock(system, arrays, pack([system.functions[row]]), sign)


class SmoothPassage(NamedTuple):
    """The smooth motion around a singular pose, as a polynomial in x = (s - center) / reach, valid for |x| <= 2."""

    clock: Clock
    center: float
    reach: float
    base: ClockState
    coefficients: Floats
    singular: list[float]
    """Values of the clock at which branches meet."""

    def by_clock(self, s: float) -> ClockState:
        """The state at a value of the clock."""
        x, h, base = (s - self.center) / self.reach, s - self.base.s, self.base
        rest, rest_d, rest_dd = monomials(x, self.coefficients.shape[0]) @ self.coefficients
        return ClockState(
            s,
            base.q + h * base.qd + 0.5 * h * h * base.qdd + rest,
            base.qd + h * base.qdd + rest_d / self.reach,
            base.qdd + rest_dd / self.reach**2,
        )

    def at(self, t: float) -> tuple[Floats, Floats, Floats]:
        """q, qd and qdd at a time, by the chain rule."""
        s, sd, sdd = self.clock.at(t)
        state = self.by_clock(s)
        return state.q, state.qd * sd, state.qdd * sd * sd + state.qd * sdd

    def place(self, t: float) -> float:
        """x at a time: -1 where the run stopped, 1 at the same distance after the singular pose."""
        return (self.clock.at(t)[0] - self.center) / self.reach


def monomials(x: float, count: int) -> Floats:
    """1, x, x^2, ... and their first and second derivatives, one row each."""
    k = np.arange(count)
    powers = x**k
    first = k * np.concatenate([[0.0], powers[:-1]])
    second = k * (k - 1) * np.concatenate([[0.0, 0.0], powers[:-2]])
    return np.array([powers, first, second])


def polynomial_through(states: list[ClockState], base: ClockState, center: float, reach: float) -> Floats:
    """Hermite's polynomial through q, qd and qdd of the states, minus the parabola of the base; one column each."""
    rows, values = [], []
    for state in states:
        h = state.s - base.s
        rows.append(monomials((state.s - center) / reach, 3 * len(states)))
        values += [
            state.q - base.q - h * base.qd - 0.5 * h * h * base.qdd,
            reach * (state.qd - base.qd - h * base.qdd),
            reach**2 * (state.qdd - base.qdd),
        ]
    return np.linalg.solve(np.concatenate(rows), np.array(values))


def cross(run: KinematicsRun) -> SmoothPassage | None:
    """The smooth continuation through the nearby singular pose, or None."""
    for clock in clocks(run):
        crossing = _through(run, clock)
        if crossing is not None:
            return crossing
    return None


def _through(run: KinematicsRun, clock: Clock) -> SmoothPassage | None:
    here = _closed(run, clock, clock.at(run.t)[0], run.stepper.q)
    if here is None:
        return None
    reach = _distance(run, clock, here)
    if reach is None:
        return None
    center = here.s + reach
    # if the run began near the singular pose, go back to where states are regular
    for wide in (max(reach, CLEAN / (size_of(run, here.qd) / run.system.length)), reach):
        passage = _around(run, clock, here, center, wide)
        if passage is not None:
            return passage
    return None


def _around(
    run: KinematicsRun, clock: Clock, here: ClockState, center: float, reach: float
) -> SmoothPassage | None:
    """The smooth motion from two reaches before the center to two after it."""
    nodes: list[ClockState] = []
    for x in reversed(BEFORE):
        at = center + x * reach
        state = here if at == here.s else _hop(run, clock, here, at)
        if state is None:
            return None
        here, nodes = state, [state, *nodes]
    here = nodes[-1]
    for x in ACROSS[2:]:
        guess = SmoothPassage(
            clock, center, reach, here, polynomial_through(nodes, here, center, reach), []
        ).by_clock(center + x * reach)
        after = _closed(run, clock, guess.s, guess.q)
        if after is None or not _goes_on(run, here, guess, after):
            return None
        nodes = [*nodes[-2:], after] if x == 1.0 else [*nodes, after]
    passage = SmoothPassage(clock, center, reach, here, polynomial_through(nodes, here, center, reach), [])
    if not _closes(run, passage):
        return None
    return passage._replace(singular=_singular_poses(run, passage))


def _closed(run: KinematicsRun, clock: Clock, s: float, q: Floats) -> ClockState | None:
    """The closed pose near q, and its derivatives with respect to the clock."""
    if not np.all(np.isfinite(values_at(clock.arrays.functions, s))):
        return None
    solver = whole_solver(run.system, clock.arrays, s, q, run.rows)
    if solver is None or not np.all(np.isfinite(solver.stepper.qdd)):
        return None
    w = solver.stepper
    return ClockState(s, w.q, w.qd, w.qdd)


def _hop(run: KinematicsRun, clock: Clock, here: ClockState, s: float) -> ClockState | None:
    """A regular state nearby on this side."""
    h = s - here.s
    guess = here.q + h * (here.qd + 0.5 * h * here.qdd)
    state = _closed(run, clock, s, guess)
    if state is None or size_of(run, state.q - guess) > 0.1 * size_of(run, guess - here.q):
        return None
    return state


def size_of(run: KinematicsRun, change: Floats) -> float:
    return float(np.max(np.abs(change) / run.scale))


def _distance(run: KinematicsRun, clock: Clock, here: ClockState) -> float | None:
    """The clock's distance to the singular pose, from the smallest singular value shortly before; None if far."""
    speed = size_of(run, here.qd) / run.system.length
    if not speed > 0.0:
        return None
    h = min(run.distance, NEARBY) / speed
    if run.system.n > LARGEST_DENSE:
        return h
    near, far = smallest_singular_value(run, clock, here), 0.0
    before = _hop(run, clock, here, here.s - 0.25 * h)
    if before is not None:
        far = smallest_singular_value(run, clock, before)
    if far <= near * (1.0 + 1e-6):
        return None
    reach = 0.25 * h * near / (far - near)
    return reach if reach * speed < 4 * NEARBY else None


def smallest_singular_value(run: KinematicsRun, clock: Clock, state: ClockState) -> float:
    """Of the rows that determine the motion, each of norm one."""
    J = clock.right_sides(state.s, state.q, state.qd)[1][run.rows] * run.scale
    return float(np.linalg.svd(J / np.linalg.norm(J, axis=1, keepdims=True), compute_uv=False)[-1])


def _goes_on(run: KinematicsRun, here: ClockState, guess: ClockState, after: ClockState) -> bool:
    miss, moved = size_of(run, after.q - guess.q), size_of(run, after.q - here.q)
    turn, speed = size_of(run, after.qd - guess.qd), size_of(run, guess.qd)
    return miss <= LARGEST_MISS * moved and turn <= LARGEST_TURN * speed


def _closes(run: KinematicsRun, crossing: SmoothPassage) -> bool:
    """Whether all joints are closed in between: an avoided crossing is not a crossing."""
    allowed = OPEN * run.system.length + 1e-14 * float(np.max(np.abs(crossing.base.q) / run.scale))
    for x in np.linspace(-0.9, 0.9, 7):
        state = crossing.by_clock(crossing.center + x * crossing.reach)
        Phi, J, _, _ = crossing.clock.right_sides(*state[:3])
        gaps = np.abs(Phi) / np.linalg.norm(J * run.scale, axis=1)
        if not np.max(gaps) <= allowed:
            return False
    return True


# The singular pose itself --------------------------------------------------------------------------------


def _singular_poses(run: KinematicsRun, crossing: SmoothPassage) -> list[float]:
    """Where all rows together lose rank, within the range of the polynomial."""
    if run.system.n > LARGEST_DENSE:
        return [crossing.center]
    value = lambda x: _rank_value(run, crossing, float(x))
    clean = max(value(-1.0), value(1.0))
    candidates = _zeros_of_determinant(run, crossing)
    poses = []
    for i, x in enumerate(candidates):
        others = np.delete(candidates, i)
        width = min(1e-3, 0.3 * float(np.min(np.abs(others - x), initial=1.0)))
        lowest = _lowest(value, x - width, x + width)
        if value(lowest) <= SINGULAR * clean:
            poses.append(crossing.center + lowest * crossing.reach)
    return poses


def _zeros_of_determinant(run: KinematicsRun, crossing: SmoothPassage) -> Floats:
    """Zeros, in x, of the determinant of the rows that determine the motion, by interpolation."""
    from numpy.polynomial import chebyshev

    xs = chebyshev.chebpts1(13) * 2.0
    signs, logs = zip(*(np.linalg.slogdet(_determining(run, crossing, x)) for x in xs), strict=True)
    values = np.array(signs) * np.exp(np.array(logs) - max(logs))
    roots = chebyshev.chebroots(chebyshev.chebfit(xs / 2.0, values, xs.size - 1)) * 2.0
    real = np.sort(roots[(np.abs(roots.imag) < 1e-3) & (np.abs(roots.real) <= 2.0)].real)
    return real[np.diff(real, prepend=-np.inf) > 1e-7]


def _determining(run: KinematicsRun, crossing: SmoothPassage, x: float) -> Floats:
    state = crossing.by_clock(crossing.center + x * crossing.reach)
    return _unit_jacobian(run, crossing.clock, state)[run.rows]


def _rank_value(run: KinematicsRun, crossing: SmoothPassage, x: float) -> float:
    J = _unit_jacobian(run, crossing.clock, crossing.by_clock(crossing.center + x * crossing.reach))
    return float(np.linalg.svd(J, compute_uv=False)[-1])


def _unit_jacobian(run: KinematicsRun, clock: Clock, state: ClockState) -> Floats:
    """Phi_q in scaled coordinates, each row of norm one."""
    return unit_rows(clock.right_sides(*state[:3])[1] * run.scale)[0]


def _lowest(value: Callable[[float], float], a: float, b: float) -> float:
    """Where a value that falls to zero and rises again almost linearly is lowest."""
    for _ in range(5):
        fa, fb = value(a), value(b)
        if fa + fb == 0.0:
            break
        x = (a * fb + b * fa) / (fa + fb)  # where lines of equal slope from both ends meet
        width = 4.0 * value(x) / (fa + fb) * (b - a) + 1e-12
        if width > 0.5 * (b - a):
            return x
        a, b = x - width, x + width
    return 0.5 * (a + b)
