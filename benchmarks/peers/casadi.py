"""CasADi: the index-1 equations as one symbolic expression, integrated by the CVODES inside of it (Adams formulas).

    M qdd + Phi_q^T lam = Q,    Phi_q qdd = gamma    with the sparse L D L^T of Phi_q M^-1 Phi_q^T

"jit" is the same compiled by gcc; "compiled" too, but without derivatives, which would take gcc minutes.
"""

from __future__ import annotations

import functools
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import casadi as ca
import numpy as np
from cases import CASES, GROUND, Case
from measuring import SAMPLES, Simulation, State, Sweep, main, tolerances

OPTIONS = {
    "linear_multistep_method": "adams",
    "nonlinear_solver_iteration": "functional",
    "max_num_steps": 10**7,
}
JIT = {
    "jit": True,
    "compiler": "shell",
    "jit_options": {"flags": ["-O3", "-march=native"], "verbose": False},
}


@functools.cache
def equations(name: str) -> dict[str, ca.SX]:
    """The ordinary differential equation of a case, once for all tolerances."""
    case = CASES[name]()
    q, qd = ca.SX.sym("q", 3 * case.n), ca.SX.sym("qd", 3 * case.n)

    def place(body: int, at: tuple[float, float]) -> ca.SX:
        x, y = case.local(body, at)
        if body == GROUND:
            return ca.SX([x, y])
        c, s = ca.cos(q[3 * body + 2]), ca.sin(q[3 * body + 2])
        return ca.vertcat(q[3 * body] + c * x - s * y, q[3 * body + 1] + s * x + c * y)

    rows = [place(b, at) - place(a, at) for a, b, at in case.pins]
    rows += [q[3 * body + i] - case.q0[body, i] for body in case.guided for i in (1, 2)]
    Phi = ca.vertcat(*rows)
    V = potential(case, q, place)
    Phi_q = ca.jacobian(Phi, q)
    gamma = -ca.jtimes(ca.jtimes(Phi, q, qd), q, qd)
    M = np.column_stack([case.mass, case.mass, case.inertia]).ravel()
    Q = -ca.gradient(V, q)
    D, L, order = ca.ldl(ca.sparsify(Phi_q @ ca.diag(1 / M) @ Phi_q.T))
    lam = ca.ldl_solve(Phi_q @ (Q / M) - gamma, D, L, order)
    return {"x": ca.vertcat(q, qd), "ode": ca.vertcat(qd, (Q - Phi_q.T @ lam) / M)}


@functools.cache
def compiled(name: str) -> dict[str, ca.MX]:
    """The same equation in machine code."""
    plain, folder = equations(name), Path(tempfile.mkdtemp())
    source, library = folder / "rates.c", folder / "rates.so"
    generator = ca.CodeGenerator("rates.c")
    generator.add(ca.Function("rates", [plain["x"]], [plain["ode"]]))
    generator.generate(f"{folder}/")
    subprocess.run(["gcc", "-O2", "-march=native", "-shared", "-fPIC", source, "-o", library], check=True)
    rates = ca.external("rates", str(library), {"enable_fd": True})
    x = ca.MX.sym("x", plain["x"].numel())
    return {"x": x, "ode": rates(x)}


def potential(case: Case, q: ca.SX, place: object) -> ca.SX:
    V = -sum(
        m * (case.gravity[0] * q[3 * i] + case.gravity[1] * q[3 * i + 1]) for i, m in enumerate(case.mass)
    )
    for body, at, anchor, stiffness, free, _ in case.springs:
        V += stiffness * (ca.norm_2(place(body, at) - ca.DM(anchor)) - free) ** 2 / 2
    for body, torque in case.torques:
        V -= torque * q[3 * body + 2]
    return V


class CasADi(Simulation):
    def __init__(self, case: Case, rtol: float, *, machine_code: bool = False, **extra: object) -> None:
        self.case, self.options = case, OPTIONS | extra | {"reltol": rtol, "abstol": rtol}
        self.x0 = np.concatenate([case.q0.ravel(), case.qd0.ravel()])
        self.ode = compiled(case.name) if machine_code else equations(case.name)
        self.solve = ca.integrator("solve", "cvodes", self.ode, 0.0, case.t_end, self.options)

    def run(self) -> None:
        self.x = self.solve(x0=self.x0)["xf"]
        self.steps = int(self.solve.stats()["nsteps"])

    def state(self) -> State:
        return self.split(np.array(self.x).ravel())

    def split(self, x: np.ndarray) -> State:
        return x[: x.size // 2].reshape(-1, 3), x[x.size // 2 :].reshape(-1, 3)

    def history(self) -> Iterator[State]:
        times = list(np.linspace(0.0, self.case.t_end, SAMPLES + 1)[1:])
        solve = ca.integrator("sampled", "cvodes", self.ode, 0.0, times, self.options)
        for x in np.array(solve(x0=self.x0)["xf"]).T:
            yield self.split(x)


def sweeps(case: Case) -> Iterator[Sweep]:
    if case.n > 100:  # the symbolic set-up takes minutes
        return
    if case.name.startswith(
        "ladder"
    ):  # index 1 leaves the branch in singular positions, however small the tolerance
        if case.n <= 10:
            yield Sweep("CVODES", "rtol", tolerances(4, 8), lambda rtol: CasADi(case, rtol))
        return
    yield Sweep("CVODES", "rtol", tolerances(), lambda rtol: CasADi(case, rtol))
    if case.n <= 3:
        yield Sweep("CVODES jit", "rtol", tolerances(), lambda rtol: CasADi(case, rtol, **JIT))
    else:
        yield Sweep(
            "CVODES compiled", "rtol", tolerances(), lambda rtol: CasADi(case, rtol, machine_code=True)
        )


if __name__ == "__main__":
    main("CasADi", sweeps)
