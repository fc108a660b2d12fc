"""The words that calls and commands accept, as types, so that editors and shells complete them.

Tests hold each of them equal to what is registered or accepted. A method of your own has a name of its own: calls that
take the name of an integrator or a formulation take any text too, also with options, "newmark(beta=1/4)".
"""

from __future__ import annotations

from typing import Literal, TypeAlias

IntegratorName: TypeAlias = Literal[
    "adams_bashforth",
    "adams_bashforth_moulton",
    "adams_variable",
    "backward_euler",
    "bdf",
    "bdf_variable",
    "bogacki_shampine",
    "dop853",
    "dormand_prince",
    "forward_euler",
    "generalized_alpha",
    "heun",
    "hht",
    "implicit_midpoint",
    "newmark",
    "radau_adaptive",
    "radau_iia",
    "rk4",
    "rosenbrock",
    "tr_bdf2",
    "trapezoidal",
    "trapezoidal_adaptive",
    "tsitouras5",
]
FormulationName: TypeAlias = Literal[
    "augmented",
    "augmented_lagrangian",
    "ggl",
    "index3",
    "matrix_r",
    "partitioning",
    "penalty",
    "projection",
]
CoordinatesName: TypeAlias = Literal["mixed", "natural", "reference_point", "relative"]
EquilibriumMethod: TypeAlias = Literal["newton", "relaxation", "energy"]
NotationName: TypeAlias = Literal["haug", "nikravesh", "garcia_de_jalon", "shabana"]
OnSingular: TypeAlias = Literal["pass", "stop", "raise"]
"""What kinematics does at a change point."""
