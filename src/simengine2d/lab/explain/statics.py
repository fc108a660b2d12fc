"""The search for an equilibrium, line by line: by Newton's method, by the lowest energy, or by relaxation."""

from __future__ import annotations

from ...analyses.statics.equilibrium import METHODS
from ...analyses.statics.equilibrium_energy import energy_change
from ...analyses.statics.statics import Balance
from ...errors import ModelError, listed
from ...system.system import System
from .explanation import Equation, Explanation, Value
from .iteration import lines_of, norm

EQUATIONS = {
    "newton": (
        Equation("Phi_q^T lam = QA,   Phi = 0", r"\Phi_q^T\lambda = Q^A, \qquad \Phi = 0"),
        Equation(
            "Z^T K Z y = Z^T QA,   dq = Z y,   Phi_q Z = 0",
            r"Z^T K Z\,y = Z^T Q^A, \qquad \Delta q = Zy, \qquad \Phi_q Z = 0",
        ),
    ),
    "energy": (
        Equation("V(q) = min with Phi = 0", r"V(q) \to \min, \qquad \Phi = 0"),
        Equation("(Z^T K Z)+ y = Z^T QA, every curvature positive", r"(Z^T K Z)_+\,y = Z^T Q^A"),
    ),
    "relaxation": (
        Equation(
            "M qdd + Phi_q^T lam = QA - 2 w M qd, from rest",
            r"M\ddot q + \Phi_q^T\lambda = Q^A - 2\omega M\dot q",
        ),
    ),
}


def explain_equilibrium(system: System, start: Balance, method: str) -> Explanation:
    if method not in METHODS:
        raise ModelError(f"method = {method!r} must be one of {listed(METHODS)}.")
    poses: list[Balance] = []
    found = METHODS[method](start, poses.append)
    values = [_line(start, pose, method) for pose in poses]
    names = tuple(system.coordinate_names)
    return Explanation(
        f"equilibrium of '{system.model.name}' by {'the lowest energy' if method == 'energy' else method}",
        EQUATIONS[method],
        lines_of(values, [float(pose.left_over) for pose in poses]),
        {"q": found.balance.q.copy()},
        {"q": names, "QA": names, "change": names},
    )


def _line(start: Balance, here: Balance, method: str) -> dict[str, Value]:
    line: dict[str, Value] = {"norm": float(here.left_over), "change": norm(here.q - start.q)}
    if method == "energy":
        line["V - V0"] = energy_change(start, here)
    return line | {"q": here.q.copy(), "Z^T QA": here.force.copy(), "Z^T K Z": here.stiffness.copy()}
