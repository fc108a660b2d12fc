"""SymPy and numba: Kane's equations in absolute angles by sympy.physics.mechanics, compiled, solved and integrated.

The usual recipe: KanesMethod, lambdify with common subexpressions, numba, a linear solve at run time, RK4 in numba or
SciPy's DOP853. The first angle of a loop is independent, the others follow.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numba
import numpy as np
import sympy as sm
import sympy.physics.mechanics as me
from cases import GROUND, Case
from measuring import Simulation, State, Sweep, main, step_sizes, tolerances
from scipy.integrate import solve_ivp

Place = tuple[float, float]


class Angles:
    """Bodies as they hang on each other; a guided body is a particle on its pin, and a row that keeps its height."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.turning = [i for i in range(case.n) if i not in case.guided]
        self.parent: dict[int, tuple[int, Place]] = {}
        self.loops: list[tuple[int, int, Place]] = []
        for a, b, at in case.pins:
            near, far = (a, b) if a == GROUND or a in self.parent else (b, a)
            if far in self.parent:
                self.loops.append((near, far, at))
            else:
                self.parent[far] = near, at

    def absolute(self, angles: np.ndarray, spins: np.ndarray) -> State:
        """q and qd of all bodies."""
        turn, spin = np.zeros(self.case.n), np.zeros(self.case.n)
        turn[self.turning], spin[self.turning] = angles, spins
        q, qd = np.zeros((self.case.n, 3)), np.zeros((self.case.n, 3))
        for body, (parent, at) in self.parent.items():
            z, zd = self.moved(parent, at, q, qd)
            out = -complex(*self.case.local(body, at)) * np.exp(1j * turn[body])
            z, zd = z + out, zd + 1j * spin[body] * out
            q[body], qd[body] = (z.real, z.imag, turn[body]), (zd.real, zd.imag, spin[body])
        return q, qd

    def moved(self, body: int, at: Place, q: np.ndarray, qd: np.ndarray) -> tuple[complex, complex]:
        """Place and velocity of a point."""
        if body == GROUND:
            return complex(*at), 0j
        arm = complex(*self.case.local(body, at)) * np.exp(1j * q[body, 2])
        return complex(*q[body, :2]) + arm, complex(*qd[body, :2]) + 1j * qd[body, 2] * arm


def kane(angles: Angles) -> tuple[sm.Matrix, sm.Matrix, list[sm.Symbol]]:
    """Full mass matrix, right-hand side and their arguments (angles, then speeds)."""
    case, n = angles.case, len(angles.turning)
    q, u = me.dynamicsymbols(f"q:{n}"), me.dynamicsymbols(f"u:{n}")
    N, origin = me.ReferenceFrame("N"), me.Point("O")
    origin.set_vel(N, 0)
    frames, centers, bodies, weights = {GROUND: N}, {GROUND: origin}, [], []
    for i, qi, ui in zip(angles.turning, q, u, strict=True):
        frames[i] = N.orientnew(f"A{i}", "Axis", (qi, N.z))
        frames[i].set_ang_vel(N, ui * N.z)

    def point(body: int, at: Place) -> me.Point:
        x, y = case.local(body, at)
        p = centers[body].locatenew(f"P{body}_{at}", x * frames[body].x + y * frames[body].y)
        p.v2pt_theory(centers[body], N, frames[body])
        return p

    for i, (parent, at) in angles.parent.items():
        pin, frame = point(parent, at), frames.get(i, N)
        x, y = case.local(i, at)
        centers[i] = pin.locatenew(f"C{i}", -x * frame.x - y * frame.y)
        centers[i].v2pt_theory(pin, N, frame)
        central = (me.inertia(frame, 0, 0, case.inertia[i]), centers[i])
        if i in frames:
            bodies.append(me.RigidBody(f"B{i}", centers[i], frame, case.mass[i], central))
        else:
            bodies.append(me.Particle(f"B{i}", centers[i], case.mass[i]))
        weights.append((centers[i], case.mass[i] * (case.gravity[0] * N.x + case.gravity[1] * N.y)))
    rows = []
    for a, b, at in angles.loops:
        gap = point(a, at).pos_from(point(b, at)).express(N)
        rows += [gap.dot(N.x), gap.dot(N.y)]
    rows += [centers[i].pos_from(origin).express(N).dot(N.y) - case.q0[i, 1] for i in case.guided]
    return equations_of(N, q, u, rows, bodies, weights)


def equations_of(
    N: me.ReferenceFrame, q: list, u: list, rows: list, bodies: list, weights: list
) -> tuple[sm.Matrix, sm.Matrix, list[sm.Symbol]]:
    t, free = me.dynamicsymbols._t, len(q) - len(rows)
    speeds = {qi.diff(t): ui for qi, ui in zip(q, u, strict=True)}
    dependent = {
        "q_dependent": q[free:],
        "u_dependent": u[free:],
        "configuration_constraints": rows,
        "velocity_constraints": [row.diff(t).subs(speeds) for row in rows],
    }
    definitions = [ui - qi.diff(t) for qi, ui in zip(q, u, strict=True)]
    method = me.KanesMethod(N, q[:free], u[:free], definitions, **(dependent if rows else {}))
    method.kanes_equations(bodies, weights)
    return method.mass_matrix_full, method.forcing_full, [*method.q, *method.u]


def compiled_rates(angles: Angles) -> Callable[[float, np.ndarray], np.ndarray]:
    """y' = A(y)^-1 b(y) in machine code."""
    A, b, arguments = kane(angles)
    y = sm.symbols(f"y:{len(arguments)}")
    known = dict(zip(arguments, y, strict=True))
    entries = numba.njit(sm.lambdify(y, tuple([*A.subs(known), *b.subs(known)]), "math", cse=True))
    k, names = len(y), ", ".join(f"y[{i}]" for i in range(len(y)))
    source = (
        f"def rates(t, y):\n    v = np.array(entries({names}))\n"
        f"    return np.linalg.solve(v[:{k * k}].reshape({k}, {k}), v[{k * k}:])"
    )
    scope = {"np": np, "entries": entries}
    exec(source, scope)
    return numba.njit(scope["rates"])


def compiled_march(rates: Callable) -> Callable[[np.ndarray, float, int], np.ndarray]:
    @numba.njit
    def march(y, h, steps):
        for _ in range(steps):
            k1 = rates(0.0, y)
            k2 = rates(0.0, y + h / 2 * k1)
            k3 = rates(0.0, y + h / 2 * k2)
            k4 = rates(0.0, y + h * k3)
            y = y + h / 6 * (k1 + 2 * (k2 + k3) + k4)
        return y

    return march


class SympyNumba(Simulation):
    def __init__(self, angles: Angles, rates: Callable) -> None:
        self.angles, self.rates, self.case = angles, rates, angles.case
        self.y0 = np.concatenate([self.case.q0[angles.turning, 2], self.case.qd0[angles.turning, 2]])

    def state(self) -> State:
        return self.angles.absolute(*np.split(self.y, 2))


class RK4(SympyNumba):
    def __init__(self, angles: Angles, rates: Callable, march: Callable, h: float) -> None:
        super().__init__(angles, rates)
        self.march, self.h, self.steps = march, h, round(self.case.t_end / h)

    def run(self) -> None:
        self.y = self.march(self.y0, self.h, self.steps)


class DOP853(SympyNumba):
    def __init__(self, angles: Angles, rates: Callable, rtol: float) -> None:
        super().__init__(angles, rates)
        self.options = {"method": "DOP853", "rtol": rtol, "atol": rtol}

    def run(self) -> None:
        motion = solve_ivp(self.rates, (0.0, self.case.t_end), self.y0, **self.options)
        self.y, self.steps = motion.y[:, -1], motion.t.size - 1


def sweeps(case: Case) -> Iterator[Sweep]:
    # longer chains take minutes to derive; ladders leave the branch in singular positions
    if case.n > 10 or case.springs or case.name.startswith("ladder"):
        return
    angles = Angles(case)
    rates = compiled_rates(angles)
    march = compiled_march(rates)
    RK4(angles, rates, march, case.t_end).run()  # compiles
    yield Sweep("Kane, RK4", "h", step_sizes(case), lambda h: RK4(angles, rates, march, h))
    yield Sweep("Kane, DOP853", "rtol", tolerances(3), lambda rtol: DOP853(angles, rates, rtol))


if __name__ == "__main__":
    main("SymPy+numba", sweeps)
