"""The laboratory: one mechanism in all coordinates, by all formulations and all integrators, side by side.

`compare` says how well they agree and what they cost, `work_precision` what accuracy costs, `order` how fast errors
fall with the step, `stability_region` for which steps a method is stable,
`largest_step` how long the steps of a model may be, `pairs` what goes together,
`mark` checks the work of a class.
"""

from .check_work.checked import CheckedWork, Mistake
from .check_work.marking import ClassMarks, MarkedWork, mark
from .combinations import pairs
from .comparison import Comparison, compare
from .convergence import KnownMotion, Order, order
from .stability import stability_region
from .step_limit import StepLimit, largest_step
from .trial import Trial
from .work import WorkPrecision, work_precision

__all__ = [
    "CheckedWork",
    "ClassMarks",
    "Comparison",
    "KnownMotion",
    "MarkedWork",
    "Mistake",
    "Order",
    "StepLimit",
    "Trial",
    "WorkPrecision",
    "compare",
    "largest_step",
    "mark",
    "order",
    "pairs",
    "stability_region",
    "work_precision",
]
