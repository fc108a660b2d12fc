"""SUNDIALS through scikit-sundae, the equations in vectorized NumPy as a user would write them.

CVODE (Adams) integrates the index-1 equations, IDA the stabilized index-2 equations of Gear, Gupta and Leimkuhler,

    q' = qd - Phi_q^T mu,    M qd' = Q - Phi_q^T lam,    Phi_q qd = 0,    Phi = 0
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp
import sksundae as sun
from cases import Case
from measuring import SAMPLES, Simulation, State, Sweep, main, tolerances

from peers.stiff_equations import StiffEquations, stiff_equations

Floats = np.ndarray


class Equations:
    """Pins as complex gaps r_b - r_a, a guided body as two linear rows; the last body is the ground."""

    def __init__(self, case: Case) -> None:
        self.case, self.pins = case, len(case.pins)
        self.n, self.m = 3 * case.n, 2 * self.pins + 2 * len(case.guided)
        self.sides = [np.array([pin[side] for pin in case.pins]) % (case.n + 1) for side in (0, 1)]
        self.local = [
            np.array([complex(*case.local(pin[side], pin.at)) for pin in case.pins]) for side in (0, 1)
        ]
        ones, k = np.ones(self.pins), np.arange(self.pins)
        self.onto = [sp.csr_matrix((ones, (side, k)), shape=(case.n + 1, self.pins)) for side in self.sides]
        self.fixed = np.array([3 * body + i for body in case.guided for i in (1, 2)], dtype=int)
        self.M = np.column_stack([case.mass, case.mass, case.inertia]).ravel()
        self.q0, self.qd0 = case.q0.ravel(), case.qd0.ravel()
        self.weight = self.M * np.tile([*case.gravity, 0.0], case.n)
        for body, torque in case.torques:
            self.weight[3 * body + 2] += torque

    def arms(self, q: Floats) -> list[Floats]:
        """From the mass centers to the pins, on both sides."""
        turn = np.append(np.exp(1j * q[2::3]), 1.0)
        return [turn[side] * local for side, local in zip(self.sides, self.local, strict=True)]

    def gaps(self, q: Floats, arms: list[Floats]) -> Floats:
        """Phi."""
        center = np.append(q[0::3] + 1j * q[1::3], 0.0)
        a, b = (center[side] + arm for side, arm in zip(self.sides, arms, strict=True))
        return self.rows(b - a, q[self.fixed] - self.q0[self.fixed])

    def gap_rates(self, qd: Floats, arms: list[Floats]) -> Floats:
        """Phi_q qd."""
        speed, spin = np.append(qd[0::3] + 1j * qd[1::3], 0.0), np.append(qd[2::3], 0.0)
        a, b = (speed[side] + 1j * spin[side] * arm for side, arm in zip(self.sides, arms, strict=True))
        return self.rows(b - a, qd[self.fixed])

    def rows(self, z: Floats, linear: Floats) -> Floats:
        return np.concatenate([z.real, z.imag, linear])

    def reactions(self, lam: Floats, arms: list[Floats]) -> Floats:
        """Phi_q^T lam."""
        out = np.zeros((self.case.n + 1, 3))
        force = lam[: self.pins] + 1j * lam[self.pins : 2 * self.pins]
        for sign, onto, arm in zip((-1.0, 1.0), self.onto, arms, strict=True):
            sums, torques = onto @ force, onto @ (np.conj(arm) * force).imag
            out += sign * np.column_stack([sums.real, sums.imag, torques])
        out = out[:-1].ravel()
        out[self.fixed] += lam[2 * self.pins :]
        return out

    def gamma(self, qd: Floats, arms: list[Floats]) -> Floats:
        spin = np.append(qd[2::3], 0.0) ** 2
        a, b = (spin[side] * arm for side, arm in zip(self.sides, arms, strict=True))
        return self.rows(b - a, np.zeros(self.fixed.size))

    def Q(self, q: Floats) -> Floats:
        if not self.case.springs:
            return self.weight
        Q = self.weight.copy()
        for body, at, anchor, stiffness, free, _ in self.case.springs:
            arm = complex(*self.case.local(body, at)) * np.exp(1j * q[3 * body + 2])
            d = complex(*q[3 * body : 3 * body + 2]) + arm - complex(*anchor)
            force = -stiffness * (abs(d) - free) * d / abs(d)
            Q[3 * body : 3 * body + 3] += force.real, force.imag, (np.conj(arm) * force).imag
        return Q

    def Phi_q(self, arms: list[Floats]) -> Floats:
        """The Jacobian as a full matrix."""
        J, k = np.zeros((self.m, self.n + 3)), np.arange(self.pins)
        for sign, side, arm in zip((-1.0, 1.0), self.sides, arms, strict=True):
            J[k, 3 * side] = J[self.pins + k, 3 * side + 1] = sign
            J[k, 3 * side + 2], J[self.pins + k, 3 * side + 2] = -sign * arm.imag, sign * arm.real
        J[2 * self.pins + np.arange(self.fixed.size), self.fixed] = 1.0
        return J[:, : self.n]

    def accelerations(self, q: Floats, qd: Floats) -> tuple[Floats, Floats]:
        arms, Q = self.arms(q), self.Q(q)
        J = self.Phi_q(arms)
        JM = J / self.M
        lam = np.linalg.solve(JM @ J.T, JM @ Q - self.gamma(qd, arms))
        return (Q - J.T @ lam) / self.M, lam


class Sundials(Simulation):
    def __init__(self, case: Case, rtol: float) -> None:
        self.case, self.rtol, self.e = case, rtol, Equations(case)
        self.start()

    def start(self) -> None:
        """Set up the solver."""
        raise NotImplementedError

    def solve(self, times: Floats) -> object:
        raise NotImplementedError

    def run(self) -> None:
        motion = self.solve(np.array([0.0, self.case.t_end]))
        if not motion.success:
            raise RuntimeError(motion.message)
        self.y, self.steps = motion.y[-1], len(motion.t) - 1  # with two times it gives every step

    def state(self) -> State:
        return self.split(self.y)

    def split(self, y: Floats) -> State:
        n = self.e.n
        return y[:n].reshape(-1, 3), y[n : 2 * n].reshape(-1, 3)

    def history(self) -> Iterator[State]:
        for y in self.solve(np.linspace(0.0, self.case.t_end, SAMPLES + 1)).y:
            yield self.split(y)


class CVODE(Sundials):
    def start(self) -> None:
        n, e = self.e.n, self.e

        def rates(t: float, y: Floats, yd: Floats) -> None:
            yd[:n], yd[n:] = y[n:], e.accelerations(y[:n], y[n:])[0]

        options = {"method": "Adams", "rtol": self.rtol, "atol": self.rtol, "max_num_steps": 10**7}
        y0 = np.concatenate([e.q0, e.qd0])
        self.solve = lambda times: sun.cvode.CVODE(rates, **options).solve(times, y0)


class IDA(Sundials):
    def start(self) -> None:
        e, n, m = self.e, self.e.n, self.e.m

        def residual(t: float, y: Floats, yd: Floats, out: Floats) -> None:
            q, qd, lam, mu = np.split(y, [n, 2 * n, 2 * n + m])
            arms = e.arms(q)
            out[:n] = yd[:n] - qd + e.reactions(mu, arms)
            out[n : 2 * n] = e.M * yd[n : 2 * n] - e.Q(q) + e.reactions(lam, arms)
            out[2 * n : 2 * n + m] = e.gap_rates(qd, arms)
            out[2 * n + m :] = e.gaps(q, arms)

        atol = np.full(2 * (n + m), self.rtol)
        atol[2 * n :] = 1e4  # the multipliers stay out of the error test
        options = {
            "rtol": self.rtol, "atol": atol, "algebraic_idx": np.arange(2 * n, 2 * (n + m)), "max_num_steps": 10**7,
            "linsolver": "sparse", "sparsity": self.pattern(),
        }  # fmt: skip
        qdd, lam = e.accelerations(e.q0, e.qd0)
        y0 = np.concatenate([e.q0, e.qd0, lam, np.zeros(m)])
        yd0 = np.concatenate([e.qd0, qdd, np.zeros(2 * m)])
        self.solve = lambda times: sun.ida.IDA(residual, **options).solve(times, y0, yd0)

    def pattern(self) -> sp.csc_matrix:
        """Where the Jacobian of the residual may be non-zero; SUNDIALS takes differences of colored columns."""
        J = sp.csr_matrix(
            self.e.Phi_q(self.e.arms(self.e.q0 + 0.3))
        )  # turned, so that no arm is along an axis
        one, none = sp.eye(self.e.n), sp.csr_matrix((self.e.m, self.e.m))
        blocks = [[one, one, None, J.T], [one, one, J.T, None], [J, J, none, None], [J, None, None, none]]
        return (abs(sp.bmat(blocks)) > 0).astype(float).tocsc()


class Stiff(Simulation):
    """Compiled equations with their Jacobian: y' = f(y) for CVODE's BDF, y' - f(y) = 0 for IDA."""

    def __init__(self, equations: StiffEquations, solver: str, rtol: float) -> None:
        self.e, size = equations, equations.y0.size
        rates, jacobian, one = equations.rates, equations.jacobian, np.eye(size)
        options = {"rtol": rtol, "atol": rtol, "max_num_steps": 10**7}
        options["linsolver"] = "dense" if size < 50 else "lapackdense"
        times, y0 = np.array([0.0, equations.case.t_end]), equations.y0

        def fill(t: float, y: Floats, yd: Floats) -> None:
            yd[:] = rates(t, y)

        def fill_jacobian(t: float, y: Floats, yd: Floats, J: Floats) -> None:
            J[:] = jacobian(t, y)

        def residual(t: float, y: Floats, yd: Floats, out: Floats) -> None:
            out[:] = yd - rates(t, y)

        def residual_jacobian(t: float, y: Floats, yd: Floats, out: Floats, c: float, J: Floats) -> None:
            J[:] = c * one - jacobian(t, y)

        cvode = lambda: sun.cvode.CVODE(fill, jacfn=fill_jacobian, **options).solve(times, y0)
        ida = lambda: sun.ida.IDA(residual, jacfn=residual_jacobian, **options).solve(
            times, y0, rates(0.0, y0)
        )
        self.solve = cvode if solver == "CVODE" else ida

    def run(self) -> None:
        motion = self.solve()
        if not motion.success:
            raise RuntimeError(motion.message)
        self.y, self.steps = motion.y[-1], len(motion.t) - 1

    def state(self) -> State:
        return self.e.state(self.y)


def sweeps(case: Case) -> Iterator[Sweep]:
    if case.n <= 10 and not case.name.startswith("ladder"):
        yield Sweep("CVODE", "rtol", tolerances(3, 12), lambda rtol: CVODE(case, rtol))
    else:
        yield Sweep("IDA", "rtol", tolerances(4, 8), lambda rtol: IDA(case, rtol))


def stiff_sweeps(case: Case) -> Iterator[Sweep]:
    equations = stiff_equations(case)
    for solver in "CVODE", "IDA":
        yield Sweep(
            f"{solver} BDF",
            "rtol",
            tolerances(3, 11),
            lambda rtol, solver=solver: Stiff(equations, solver, rtol),
        )


if __name__ == "__main__":
    main("SUNDIALS", sweeps, stiff_sweeps)
