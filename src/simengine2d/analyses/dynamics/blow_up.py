"""Fixed steps on constrained motion that grow without bound: a caution before, an error when it happens.

Position constraints alone leave an error in the velocities. Methods with damping keep it small; with others it grows
until the motion consists of nothing else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...errors import Caution, SimEngineError
from ...formulations.stage_iteration import StagedFormulation
from ...methods import AlphaMethod
from ...numerics.arrays import Floats
from ...system.system import System
from .options import DynamicsOptions

if TYPE_CHECKING:
    from .outputs import Outputs
    from .run import Run


TORN = 0.9  # of the fastest velocities: they are almost entirely error
KEPT = 0.1  # the same up to which outputs are kept
GROWN = 2.0  # times as large as at the last check
SMALL = 1e-6  # of a length of the mechanism in the time of the run: slower errors are those of a mechanism at rest

REMEDY = (
    "take hht, generalized_alpha with rho < 1, or newmark with gamma > 1/2 and beta >= (gamma + 1/2)^2 / 4; "
    "or formulation='ggl'"
)


def cautions(options: DynamicsOptions, constraints: int) -> list[str]:
    """A caution if the method does not damp the oscillations that constraints excite."""
    method, formulation = options.integrator, options.formulation
    holds = isinstance(formulation, StagedFormulation) and formulation.holds_velocities
    if not isinstance(method, AlphaMethod) or method.damps or holds or options.projection or constraints == 0:
        return []
    how = f"{method.name} with these parameters does not damp the oscillations that constraints excite"
    grow = "accelerations and reactions oscillate from step to step, with growing amplitude"
    return [Caution(f"{how}: {grow}; {REMEDY}")]


class BlowUp:
    """Checks now and then whether the velocities of a run satisfy the constraints."""

    def __init__(self) -> None:
        self.seen = 0.0

    def check(self, run: Run) -> None:
        """Raise if the fastest velocities so far violate the constraints by most of their size."""
        outputs, largest = run.outputs, float(run.stepper.worst[1])
        nothing = SMALL * run.system.length / (run.span or 1.0)
        if outputs.done == 0 or not largest > max(GROWN * self.seen, nothing):
            return
        self.seen = largest
        fastest = int(np.argmax(np.abs(outputs.history.Qd[: outputs.done] / run.system.sizes).max(axis=1)))
        if self.torn(outputs, fastest)[0] > TORN:
            raise self.failure(run, fastest)

    def torn(self, outputs: Outputs, k: int) -> tuple[float, str]:
        return torn(outputs.system, float(outputs.times[k]), outputs.history.Q[k], outputs.history.Qd[k])

    def failure(self, run: Run, last: int) -> SimEngineError:
        """Outputs are kept up to the beginning of the growth."""
        first, outputs = 0, run.outputs
        while first < last:
            middle = (first + last) // 2
            first, last = (first, middle) if self.torn(outputs, middle)[0] > KEPT else (middle + 1, last)
        size, where = self.torn(outputs, first)
        outputs.done, t = first, float(outputs.times[first])
        method = run.options.integrator
        undamped = isinstance(method, AlphaMethod) and not method.damps
        remedy = (
            f"{REMEDY[0].upper()}{REMEDY[1:]}." if undamped else "Use a smaller step or formulation='ggl'."
        )
        what = (
            f"the velocities violate {where} by {size:.0%} of their size, and the motion grows without bound"
        )
        why = " since the method does not damp the oscillations that constraints excite" if undamped else ""
        return run.stopped(f"at t = {t:.9g} s {what}{why}. {remedy}", t)


def torn(system: System, t: float, q: Floats, qd: Floats) -> tuple[float, str]:
    """|Phi_q qd - nu| relative to its terms, the largest of both, and the name of the row."""
    f, _, _, data, _ = system.evaluated(t, q, qd)
    rows = np.repeat(np.arange(system.m), np.diff(system.arrays.jac_start))
    parts, nu = data * qd[system.arrays.jac_column], f[: system.m, 1]
    error = np.abs(np.bincount(rows, parts, minlength=system.m) - nu)
    size = np.bincount(rows, np.abs(parts), minlength=system.m) + np.abs(nu)
    if not system.m or size.max() == 0.0:
        return 0.0, ""
    worst = int(np.argmax(error))
    return float(error[worst] / size.max()), system.row_names[worst]
