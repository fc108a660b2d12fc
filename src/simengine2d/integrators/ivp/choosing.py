"""The names by which a method is known, and when to use it."""

from __future__ import annotations

from ...errors import ModelError, UnsupportedError, listed, unknown
from ...methods import INTEGRATOR_NAMES, Integrator
from ..ode_method import OdeMethod

SCIPY_BDF = {"BDF": "bdf_variable"}  # spelled exactly as in SciPy; bdf is the method in fixed steps

ADVICE = {
    "dormand_prince": "Smooth problems that are not stiff, at moderate tolerances. Take it first.",
    "bogacki_shampine": "Problems that are not stiff, at loose tolerances, or with discontinuous slopes.",
    "adams_variable": "Smooth problems with an expensive f, at tight tolerances; it switches to BDF if they are stiff.",
    "bdf_variable": "Stiff problems, when an explicit method takes many tiny steps. Take it second.",
    "rosenbrock": "Stiff problems at loose tolerances; no iteration, so nonsmooth right-hand sides do less harm.",
    "trapezoidal_adaptive": "Moderately stiff problems that must not be damped, such as undamped oscillations.",
    "tr_bdf2": "Stiff problems at loose tolerances whose fast components should decay.",
    "tsitouras5": "Like dormand_prince, with slightly fewer steps at loose tolerances.",
    "dop853": "Smooth problems at tight tolerances: the fewest evaluations from rtol = 1e-7 down.",
    "radau_adaptive": "Stiff problems at tight tolerances, and those with fast oscillations, where BDF methods fail.",
    "forward_euler": "To see the error of a method of order 1, and how an explicit method becomes unstable.",
    "heun": "To see order 2 with two evaluations a step.",
    "rk4": "Smooth problems in fixed steps, such as real-time simulation.",
    "adams_bashforth": "Fixed steps with one evaluation each of an expensive f, of order k = 1 to 8.",
    "adams_bashforth_moulton": "Fixed steps with two evaluations; more stable than adams_bashforth; k = 1 to 8.",
    "backward_euler": "Fixed steps, stable for any stiffness; strongly damped, so only with short steps.",
    "trapezoidal": "Fixed steps without damping, moderately stiff problems.",
    "implicit_midpoint": "Long runs of conservative systems: it preserves quadratic invariants.",
    "radau_iia": "Fixed steps for stiff problems that need accuracy.",
    "bdf": "Fixed steps for stiff problems, of order k = 1 to 5; k above 2 is not stable for fast oscillations.",
}


def method_of(method: str | Integrator) -> OdeMethod:
    """The method of that name, or the object itself, if it solves y' = f(t, y)."""
    solver = method
    if isinstance(method, str):
        try:
            solver = Integrator.registry.made(SCIPY_BDF.get(method, method))
        except ModelError:
            known = [*INTEGRATOR_NAMES, *ode_methods()]
            raise ModelError(f"there is no method '{method}'. {unknown('method', method, known)}") from None
    if not isinstance(solver, OdeMethod):
        name = solver.name if isinstance(solver, Integrator) else repr(solver)
        raise UnsupportedError(
            f"the method '{name}' does not solve y' = f(t, y). The methods are {listed(ode_methods(), 30)}; "
            "for M qdd + C qd + K q = F(t) there is ivp.newmark."
        )
    return solver


def ode_methods() -> list[str]:
    return sorted(name for name, cls in Integrator.registry.items() if issubclass(cls, OdeMethod))


def advice(method: str | Integrator) -> str:
    """When to use a method, by any of its names: `advice("ode45")`."""
    solver = method_of(method)
    about = type(solver).__doc__ or ""
    return f"{solver.name}: {ADVICE.get(solver.name, about.split('.')[0] + '.')}"
