"""How derivatives jump where the accelerations of a motion do.

Where the switch g(t, q, qd; p) = 0 is passed at the time tau(p), the motion itself has no jump: q and qd are
continuous. Of their derivatives, those of the velocities jump by what the other accelerations do in the time between,

    qd_p(+) = qd_p(-) - (qdd(+) - qdd(-)) tau_p,      tau_p = -(g_p + g_q q_p + g_qd qd_p) / g'

E. Hairer, S. P. Norsett, G. Wanner, Solving Ordinary Differential Equations I (1993), section II.6.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from ...errors import UnsupportedError
from ...numerics.arrays import Floats
from ...system.system import System
from .differences import CENTRAL
from .switches import Cut, Switches
from .varied import VariedNumber

JUMP = 1e-8
"""Of the accelerations beside it: what is a jump, and no kink."""
ALIKE = 1e-6
"""Of the largest derivative of the time: those of several switches at once."""


class BesideCut(NamedTuple):
    """The state just before a cut, or just after it."""

    q: Floats
    qd: Floats
    qdd: Floats


class Jump(NamedTuple):
    """A time at which accelerations jump, with the states on both sides."""

    t: float
    cuts: list[Cut]
    before: BesideCut
    after: BesideCut
    step: float
    """A short time, in which switches change by enough to see their rates."""

    @property
    def change(self) -> Floats:
        return self.after.qdd - self.before.qdd

    def is_kink(self, sizes: Floats) -> bool:
        """Whether the accelerations are the same on both sides."""
        size = max(np.abs(side.qdd / sizes).max(initial=0.0) for side in (self.before, self.after))
        return bool(np.abs(self.change / sizes).max(initial=0.0) <= JUMP * size)


def time_slopes(
    jump: Jump, switches: Switches, numbers: Sequence[VariedNumber], q_p: Floats, qd_p: Floats
) -> Floats:
    """tau_p, which must be the same for all switches that are passed at once."""
    found = np.array([_time_slope(jump, cut, switches, numbers, q_p, qd_p) for cut in jump.cuts])
    if np.abs(found - found[0]).max() > ALIKE * np.abs(found).max():
        raise UnsupportedError(
            f"at t = {jump.t:.6g} s forces switch for several reasons at once, whose times depend on the parameters in "
            "different ways, so there are no derivatives. Move one of them a little."
        )
    return np.asarray(found[0])


def _time_slope(
    jump: Jump, cut: Cut, switches: Switches, numbers: Sequence[VariedNumber], q_p: Floats, qd_p: Floats
) -> Floats:
    rates = [_rate(jump, cut, switches, side) for side in (jump.before, jump.after)]
    if not rates[0] * rates[1] > 0.0:
        raise UnsupportedError(
            f"the motion has no derivatives: at t = {jump.t:.6g} s a force switches where the motion does not pass on "
            "to the other side, such as friction where something comes to rest. Use a smooth law, or end the run "
            "before."
        )
    before = jump.before

    def gap(k: int, system: System, change: float) -> float:
        other = Switches(system)
        if len(other.all) != len(switches.all):
            return np.nan  # switches that are the same here are apart
        return other.gap(cut, jump.t, before.q + change * q_p[:, k], before.qd + change * qd_p[:, k])

    slopes = [number.slope(partial(gap, k)) for k, number in enumerate(numbers)]
    return -np.array(slopes) / rates[0]


def _rate(jump: Jump, cut: Cut, switches: Switches, side: BesideCut) -> float:
    """g' along the motion, with the accelerations of one side."""
    h = jump.step
    around = [
        switches.value(cut.switch, jump.t + x * h, side.q + x * h * side.qd, side.qd + x * h * side.qdd)
        for x in CENTRAL.offsets
    ]
    return float(CENTRAL.slope(around, h))
