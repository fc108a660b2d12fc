"""Reactions: the force and torque with which a joint, a driver or a force element acts on a body, over time.

A row of a joint resists its measure s with its multiplier, as a spring does with its law g:

    Q = -lam s_q      or      Q = -g s_q

Q is the force (F_x, F_y) on the body and the torque about its mass center r. About another point P it is

    T_P = T - (r_P - r) x F
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import ModelError, UnsupportedError, listed, unknown
from ..expressions.law import law_value
from ..expressions.time_function import as_function, functions_at
from ..model.elements import Action, Joint, Push, Row, Wrench
from ..model.frame import GROUND, Frame, PlacedFrame, as_frame
from ..model.measure import Measure, angle, x, y
from ..numerics.kernel import kernel
from ..numerics.kernel_pointer import invoke
from ..numerics.rank import row_space
from ..system.applied_forces import load_arrays, push_state, turned, wrench_values
from ..system.constraints import constant_arrays, place
from ..system.formulas.forces import frames_of
from ..system.frames import FRAME_STATE, move_frames, place_frames, term_gradient
from ..system.system import System
from ..system.workspace import new_workspace
from .channels import measure_rates, motion_of, multipliers_of

if TYPE_CHECKING:
    from .results import Results

Floats = NDArray[np.float64]

PRESSES = "gap"
"""Label of the rows of contacts that press only."""
DENSE_RANK = 900  # coordinates up to which redundant rows are looked for


class Reaction(NamedTuple):
    """Force and torque on a body, one entry per time."""

    fx: Floats
    fy: Floats
    torque: Floats


# Kernels ----------------------------------------------------------------------------------------------


@kernel(entry=True)
def pulls_along(S, w, T, Q, G, body, out):
    """-sum_i g_i s_q on one body at each row of Q; G holds g of every row of S."""
    for t in range(Q.shape[0]):
        place(S, T[t], Q[t], w)
        for i in range(S.row_start.size - 1):
            for k in range(S.row_start[i], S.row_start[i + 1]):
                a, b = S.term_a[k], S.term_b[k]
                d = term_gradient(S.term_kind[k], w.F, a, b)
                pull = -G[t, i] * w.weight[k]
                for side in range(2):
                    if S.frame_body[a if side == 0 else b] == body:
                        for c in range(3):
                            out[t, c] += pull * d[3 * side + c]


@kernel(entry=True)
def laws_along(S, L, T, Q, Qd, F, f, G, W, A):
    """g of every push, (F_x, F_y, torque) of every wrench in global axes, every force by a formula, at each time."""
    for t in range(T.size):
        functions_at(S.functions, T[t], f)
        place_frames(S, Q[t], F)
        move_frames(S, Qd[t], F)
        z = L.push_scratch[0]
        for i in range(G.shape[1]):
            z[0], z[1] = push_state(L, i, F)
            z[2] = T[t]
            G[t, i] = law_value(L.laws, i, f, z)
        for i in range(W.shape[1]):
            k = L.wrench_frame[i]
            own_x, own_y, torque = wrench_values(L, i, T[t], f, Q[t], Qd[t], 3 * S.frame_body[k])
            W[t, i, 0], W[t, i, 1] = turned(L.wrench_turning[i], F, k, own_x, own_y)
            W[t, i, 2] = torque
        if A.shape[1] > 0:
            invoke(L.formulas.at_f, L.formulas.at_c, T[t], F, A[t])


# Reactions --------------------------------------------------------------------------------------------


def reaction(
    results: Results,
    name: str,
    on: str | None = None,
    at: Frame | str | None = None,
    expressed_in: str = GROUND,
) -> Reaction:
    """What the joint or force `name` does to the body `on`; the torque is about `at`."""
    action = _action(results, name)
    body = _body(action, on)
    # force and torque about the mass center; on the ground, about the origin
    force_x, force_y, torque = action.on_the_ground(results) if body == GROUND else action.on(results, body)
    arm_x, arm_y = _arm(results, _point(results, action, body, at), body)
    torque = torque - (arm_x * force_y - arm_y * force_x)
    turn = measure_rates(results, angle(GROUND, as_frame(expressed_in)))[0]
    c, s = np.cos(turn), np.sin(turn)
    return Reaction(c * force_x + s * force_y, c * force_y - s * force_x, torque)


def pull(results: Results, name: str) -> Floats:
    """The law's g of a spring, positive where it resists the growth of its measure; what a contact presses with."""
    action = _action(results, name)
    if isinstance(action, _Constraint) and action.presses:
        return -action.pulls(results)[:, 0]
    if not isinstance(action, _Force) or not action.pushes:
        raise ModelError(
            f"{action.title} has no channel '{name}.force'; it has {listed(channels_of(results, name))}."
        )
    return action.laws(results)[0].sum(axis=1)


def channels_of(results: Results, name: str) -> list[str]:
    """The channels of a joint or a force."""
    action = _action(results, name)
    pushes = action.presses if isinstance(action, _Constraint) else bool(action.pushes)
    return [f"{name}.{part}" for part in (*Reaction._fields, *(["force"] if pushes else []))]


class _Action:
    """A joint or a force as rows that resist their measures; `frames` are those it acts on."""

    def __init__(self, title: str, rows: list[Row], frames: list[PlacedFrame]) -> None:
        self.title = title
        self.rows = rows
        self.frames = frames
        self.bodies = list(dict.fromkeys(frame.body for frame in frames))

    def on(self, results: Results, body: str) -> Floats:
        """F_x, F_y and the torque about the mass center."""
        system = results.system
        arrays, _ = constant_arrays(system.bodies, system.resolved.gravity, self.rows)
        index, out = [b.name for b in system.bodies].index(body), np.zeros((results.t.size, 3))
        w, motion = new_workspace(arrays), motion_of(results)
        pulls_along(arrays, w, motion.t, motion.q, self.pulls(results), index, out)
        return out.T

    def on_the_ground(self, results: Results) -> Floats:
        """The opposite of what it does to all bodies; the torque is about the origin."""
        total = np.zeros((3, results.t.size))
        for body in self.bodies:
            if body != GROUND:
                force_x, force_y, torque = self.on(results, body)
                r_x, r_y = results[f"{body}.x"], results[f"{body}.y"]
                total -= [force_x, force_y, torque + r_x * force_y - r_y * force_x]
        return total

    def pulls(self, results: Results) -> Floats:
        """With what each row resists, one row per time."""
        raise TypeError("an action has pulls")


class _Constraint(_Action):
    """A joint or driver, which resists with its multipliers."""

    def __init__(self, results: Results, name: str, title: str) -> None:
        rows = results.resolved.rows[name]
        super().__init__(title, rows, [f for row in rows for t in row.measure.terms for f in (t.a, t.b)])  # type: ignore[misc]
        self.columns = [i for i, (owner, _) in enumerate(results.system.rows) if owner == name]
        self.presses = bool(rows) and rows[0].label == PRESSES and rows[0].formula is not None

    def pulls(self, results: Results) -> Floats:
        if results.lam is None:
            what = f"a run of {results.analysis}" if results.analysis else "this file"
            raise UnsupportedError(
                f"{self.title}: {what} holds no reactions, for it knows no forces. Run dynamics(model, t_end=...)."
            )
        return np.ascontiguousarray(multipliers_of(results)[:, self.columns])


class _Force(_Action):
    """A force element: pushes on measures, wrenches at frames."""

    def __init__(self, results: Results, name: str, title: str) -> None:
        if results.system.missing_law is not None:
            raise UnsupportedError(results.system.missing_law)
        loads = [load for owner, load in results.system.loads if owner == name]
        self.pushes = [load for load in loads if isinstance(load, Push)]
        self.wrenches = [load for load in loads if isinstance(load, Wrench)]
        self.actions = [load for load in loads if isinstance(load, Action)]
        rows = [Row("", push.measure) for push in self.pushes]
        rows += [Row("", Measure((term,))) for action in self.actions for term in action.along.terms]
        frames = [f for row in rows for t in row.measure.terms for f in (t.a, t.b)]
        super().__init__(title, rows, [*frames, *(wrench.frame for wrench in self.wrenches)])  # type: ignore[list-item]
        self.read = [frame for action in self.actions for frame in frames_of(action)]
        self.bodies = list(dict.fromkeys([*self.bodies, *(frame.body for frame in self.read)]))

    def pulls(self, results: Results) -> Floats:
        g, _, forces = self.laws(results)
        return np.hstack([g, -forces])

    def laws(self, results: Results) -> tuple[Floats, Floats, Floats]:
        """g of each push, the components of each wrench, and the forces by formulas, at each time."""
        system = results.system
        laws = [push.law for push in self.pushes] + [law for w in self.wrenches for law in w[2:]]
        functions = [law.time or as_function(0.0) for law in laws]
        arrays, number = constant_arrays(
            system.bodies, system.resolved.gravity, [], functions, dict.fromkeys([*self.frames, *self.read])
        )
        loads = load_arrays(self.pushes, self.wrenches, number, 0, self.actions)
        G = np.zeros((results.t.size, len(self.pushes)))
        W = np.zeros((results.t.size, len(self.wrenches), 3))
        A = np.zeros((results.t.size, loads.formulas.force.size))
        F, f = np.zeros((len(number), FRAME_STATE)), np.zeros((len(functions), 3))
        t, q, qd, _, _ = motion_of(results)
        laws_along(arrays, loads, t, q, qd, F, f, G, W, A)
        return G, W, A

    def on(self, results: Results, body: str) -> Floats:
        total = super().on(results, body)
        W = self.laws(results)[1]
        for i, wrench in enumerate(self.wrenches):
            if wrench.frame.body == body:
                force_x, force_y, torque = W[:, i].T
                arm_x, arm_y = _arm(results, _as_written(wrench.frame), body)
                total += [force_x, force_y, torque + arm_x * force_y - arm_y * force_x]
        return total


def _action(results: Results, name: str) -> _Constraint | _Force:
    elements = results.model.elements
    if name not in elements:
        hint = (
            unknown("element", name, elements, plural="joints and forces")
            if elements
            else "The model has none."
        )
        if results.columns_only:
            hint = "These results come from a CSV file, which holds no model; save them as .npz or .parquet."
        raise ModelError(f"there is no joint or force '{name}' in the results. {hint}")
    element = elements[name]
    kind = _Constraint if isinstance(element, Joint) else _Force
    return kind(results, name, element.title)


def _body(action: _Action, on: str | None) -> str:
    """The body asked for; where none was, the last one that is not the ground."""
    if on is None:
        return next((frame.body for frame in reversed(action.frames) if frame.body != GROUND), GROUND)
    if on not in action.bodies and on != GROUND:
        raise ModelError(
            f"{action.title} does not act on '{on}'. {unknown('body', on, action.bodies, plural='bodies')}"
        )
    return on


def _point(results: Results, action: _Action, body: str, at: Frame | str | None) -> Frame:
    """The point asked for: a point of the body, or any frame; else where the action is attached to the body."""
    if isinstance(at, str):
        points = results.resolved.bodies[body].points
        if at in points:
            return Frame(body, at)
        if at != body and at in results.model.elements:
            return _attachment(_action(results, at), body)
        if "." not in at and at not in results.resolved.bodies:
            raise ModelError(f"body '{body}' has no point '{at}'. {unknown('point', at, points)}")
    return _attachment(action, body) if at is None else as_frame(at)


def _attachment(action: _Action, body: str) -> Frame:
    """The one point at which it is attached; where there is none or several, the mass center."""
    places = {frame[:3]: frame for frame in action.frames if frame.body == body}
    return _as_written(places.popitem()[1]) if len(places) == 1 else Frame(body)


def _as_written(frame: PlacedFrame) -> Frame:
    return Frame(frame.body, place=(frame.x, frame.y, frame.angle))


def _arm(results: Results, point: Frame, body: str) -> tuple[Floats, Floats]:
    """r_P - r over time; r is the mass center of the body, or the origin."""
    return measure_rates(results, x(Frame(body), point))[0], measure_rates(results, y(Frame(body), point))[0]


# Redundancy -------------------------------------------------------------------------------------------


def non_unique(system: System, t: float, q: Floats) -> list[str]:
    """Joints whose reactions the equations do not determine: their rows take part in Phi_q^T lam = 0.

    Models of more than 900 coordinates are not examined.
    """
    if system.m == 0 or system.n > DENSE_RANK:
        return []
    # angles as lengths
    J = system.Phi_q(t, q) * (system.sizes / np.repeat(system.arms, 3))
    free = row_space(J).takes_part()
    return list(dict.fromkeys(name for (name, _), is_free in zip(system.rows, free, strict=True) if is_free))
