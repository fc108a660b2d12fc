"""Initial value problems: your own y' = f(t, y), with every integrator of this package.

`solve` works like SciPy's `solve_ivp`; `advice` says when to use a method; `newmark` solves
M qdd + C qd + K q = F(t).
"""

from .choosing import advice, method_of
from .integration import Interpolant, Solution, solve
from .second_order import SecondOrderSolution, newmark

__all__ = ["Interpolant", "SecondOrderSolution", "Solution", "advice", "method_of", "newmark", "solve"]
