"""Initial value problems: y' = f(t, y) of your own, with every integrator of this package.

`solve` works as SciPy's `solve_ivp` does; `advice` says when to take a method; `newmark` solves
M qdd + C qd + K q = F(t).
"""

from .choosing import advice, method_of
from .integration import solve
from .second_order import SecondOrderSolution, newmark
from .solution import Interpolant, Solution

__all__ = ["Interpolant", "SecondOrderSolution", "Solution", "advice", "method_of", "newmark", "solve"]
