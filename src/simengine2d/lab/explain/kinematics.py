"""The three problems of kinematics: positions by Newton's method, velocities and accelerations by linear equations."""

from __future__ import annotations

import numpy as np

from ...errors import ModelError, UnsupportedError
from ...numerics.arrays import Floats
from ...system.system import System
from .explanation import Equation, Explanation, Line
from .iteration import IterationNames, newton, norm, solution

POSITION = (
    Equation("Phi(q, t) = 0", r"\Phi(q, t) = 0"),
    Equation("Phi_q dq = -Phi,   q <- q + dq", r"\Phi_q\,\Delta q = -\Phi, \qquad q \leftarrow q + \Delta q"),
)
VELOCITY = (Equation("Phi_q qd = nu = -Phi_t", r"\Phi_q\,\dot q = \nu = -\Phi_t"),)
ACCELERATION = (
    Equation(
        "Phi_q qdd = gamma = -(Phi_q qd)_q qd - 2 Phi_qt qd - Phi_tt",
        r"\Phi_q\,\ddot q = \gamma = -(\Phi_q\dot q)_q\,\dot q - 2\,\Phi_{qt}\,\dot q - \Phi_{tt}",
    ),
)
KINEMATICS = ("position", "velocity", "acceleration")


def explain_kinematics(system: System, t: float, guess: Floats, level: str) -> Explanation:
    """Everything up to a level, or all three where it is "kinematics"."""
    system.refuse_velocity_rows("the position problem")
    _refuse_free(system)
    position = _position(system, t, guess)
    q = np.asarray(position.found["q"])
    if level == "position":
        return position
    velocity = _linear(
        system, f"velocities at t = {t:g} s", VELOCITY, "qd", system.Phi_q(t, q), "nu", system.nu(t, q)
    )
    if level == "velocity":
        return velocity
    qd = np.asarray(velocity.found["qd"])
    right = system.gamma(t, q, qd)
    acceleration = _linear(
        system, f"accelerations at t = {t:g} s", ACCELERATION, "qdd", system.Phi_q(t, q), "gamma", right
    )
    if level == "acceleration":
        return acceleration
    title = f"kinematics of '{system.model.name}' at t = {t:g} s"
    return Explanation(title, (), parts=(position, velocity, acceleration))


def _position(system: System, t: float, guess: Floats) -> Explanation:
    try:
        solved = newton(
            lambda q: system.Phi(t, q),
            lambda q: system.Phi_q(t, q),
            guess,
            IterationNames("q", "Phi", "Phi_q"),
            what=f"the position problem at t = {t:g} s",
        )
    except ValueError as error:  # of NumPy, which wants finite numbers
        raise ModelError(f"the position problem at t = {t:g} s: {error}") from None
    names, rows = tuple(system.coordinate_names), tuple(system.row_names)
    return Explanation(
        f"positions at t = {t:g} s, by Newton's method",
        POSITION,
        solved.lines,
        {"q": solved.x},
        {"q": names, "correction": names, "Phi": rows, "Phi_q": rows},
        {"Phi_q": names},
        _redundancy(system),
    )


def _linear(
    system: System,
    title: str,
    equations: tuple[Equation, ...],
    unknown: str,
    J: Floats,
    name: str,
    right: Floats,
) -> Explanation:
    names, rows = tuple(system.coordinate_names), tuple(system.row_names)
    x = solution(J, right)
    left = norm(J @ x - right)
    line = Line("solution", {"norm": left, "Phi_q": J, name: right, unknown: x})
    of = {unknown: names, name: rows, "Phi_q": rows}
    return Explanation(title, equations, (line,), {unknown: x}, of, {"Phi_q": names}, _redundancy(system))


def _redundancy(system: System) -> tuple[str, ...]:
    if system.m == system.n:
        return ()
    return (
        f"{system.m} equations for {system.n} coordinates: the smallest solution in the least-squares sense.",
    )


def _refuse_free(system: System) -> None:
    if system.m < system.n:
        raise UnsupportedError(
            f"'{system.model.name}' has {system.n} coordinates and {system.m} constraint equations: the motion is not "
            "prescribed. Add a driver for each degree of freedom, or explain its dynamics."
        )
