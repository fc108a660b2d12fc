"""SciPy on the stiff cases: Radau IIA with the Jacobian given, equations compiled by numba."""

from __future__ import annotations

from collections.abc import Iterator

from cases import Case
from measuring import Simulation, State, Sweep, main, none, tolerances
from scipy.integrate import solve_ivp

from peers.stiff_equations import StiffEquations, stiff_equations


class SciPy(Simulation):
    def __init__(self, equations: StiffEquations, method: str, rtol: float) -> None:
        self.equations = equations
        self.options = {"method": method, "rtol": rtol, "atol": rtol, "jac": equations.jacobian}

    def run(self) -> None:
        e = self.equations
        motion = solve_ivp(e.rates, (0.0, e.case.t_end), e.y0, t_eval=[e.case.t_end], **self.options)
        if not motion.success:
            raise RuntimeError(motion.message)
        self.y, self.steps = motion.y[:, -1], motion.nfev

    def state(self) -> State:
        return self.equations.state(self.y)


def stiff_sweeps(case: Case) -> Iterator[Sweep]:
    equations = stiff_equations(case)
    for method in "Radau", "BDF":
        yield Sweep(
            method, "rtol", tolerances(2, 11), lambda rtol, method=method: SciPy(equations, method, rtol)
        )


if __name__ == "__main__":
    main("SciPy", none, stiff_sweeps)  # its explicit methods are measured with SymPy's equations
