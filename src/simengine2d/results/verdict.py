"""The verdict: whether results can be trusted, in one word and with reasons.

It examines the results themselves: whether they satisfy the equations (`audit`), whether velocities lead from one
position to the next, whether energy is conserved where it must be, whether the forces between two outputs agree
with the motion shown there. It also takes from the run what it could not detect, what it passed, what it changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..answer import Answer, Part
from ..errors import Caution
from ..model.elements import MeasureForce
from ..numerics.arrays import Floats
from ..numerics.rank import row_space
from ..system.system import System
from .audit import Audit
from .energy import energy_drift, energy_gain
from .switching import Switching

if TYPE_CHECKING:
    from .results import Results


TRUST, CHECK, DO_NOT_TRUST = "trust", "check", "do not trust"
WORDS = (TRUST, CHECK, DO_NOT_TRUST)

# relative errors above which results should be checked, and above which they should not be trusted
LIMITS = {
    "position": (1e-6, 1e-3),
    "velocity": (1e-5, 1e-2),
    "acceleration": (1e-4, 1e-2),
    "force": (1e-4, 1e-2),
    "energy": (1e-3, 1e-2),
}
SENTENCES = {
    "position": "the joint {where} is open by {size:.1e} of the size of its body",
    "velocity": "the velocities break {where} by {size:.1e} of their size",
    "acceleration": "the accelerations break {where} by {size:.1e} of their size",
    "force": "{size:.1e} of the forces on body '{where}' are not balanced",
}
SENSELESS = 1e6  # lengths or radians between two outputs
SHORTER = "steps may be too long for the method to be stable"
# of a step between outputs: how well they follow from each other where nothing happens in between
RESOLVED = 1e-2
JUMP = 0.3  # of the largest velocity, in one interval of a motion that is smooth elsewhere
UNSEEN = 0.05  # of the largest force: a force between two outputs that the motion shown there does not feel
FINE = 65  # times in one interval
LOOKS = 400  # times between outputs at which forces are looked at
MANY, COARSE = 20, 0.1  # outputs of which one expects to see peaks, and part of them between which one cannot
AFTER = 1e-6  # of an interval: how long after a switch
MOST_SWITCHES = 10  # in one interval
MOST_ROUGH = 40  # intervals whose impulses are compared
SHORT = 0.2  # lengths or radians: an interval in which the mechanism hardly moves


@dataclass(frozen=True, repr=False)
class Verdict(Answer):
    """`word` is "trust", "check" or "do not trust"; `reasons` say why, the most serious first."""

    word: str
    reasons: tuple[str, ...]

    @property
    def is_good(self) -> bool:
        return self.word == TRUST

    def __str__(self) -> str:
        return f"{self.word}: {'; '.join(self.reasons)}" if self.reasons else self.word

    def _parts(self) -> tuple[Part, ...]:
        return self.word, *self.reasons


def verdict(results: Results) -> Verdict:
    """The verdict on any results that belong to a model."""
    if results.columns_only:
        return Verdict(
            CHECK, ("these results come from a CSV file, which holds no model to check them with",)
        )
    if results.analysis == "modes":
        return Verdict(
            CHECK, ("the picture of a mode: a small motion, whose joints close to first order only",)
        )
    reasons = _of_values(results)
    if not reasons:
        reasons = [*_of_equations(results), *_of_energy(results), *_of_steps(results), *_of_forces(results)]
        reasons += _of_outputs(results)
    reasons += [(CHECK, str(note)) for note in results.notes if isinstance(note, Caution)]
    reasons += _of_opinion(results)
    reasons.sort(key=lambda reason: -WORDS.index(reason[0]))
    return Verdict(reasons[0][0] if reasons else TRUST, tuple(sentence for _, sentence in reasons))


Reasons = list[tuple[str, str]]


def _of_values(results: Results) -> Reasons:
    arrays = {"positions": results.q, "velocities": results.qd, "accelerations": results.qdd}
    if results.lam is not None:
        arrays["reactions"] = results.lam
    broken = [name for name, array in arrays.items() if not np.all(np.isfinite(array))]
    return [(DO_NOT_TRUST, f"some {name} are not finite") for name in broken]


def _of_equations(results: Results) -> Reasons:
    reasons = []
    sharper = _sharper(results)
    for level, worst in Audit(results).worst.items():
        word = _judged(level, worst.size * sharper)
        if word != TRUST:
            what = SENTENCES[level].format(where=worst.where, size=worst.size)
            reasons.append((word, f"at t = {worst.t:.6g} s {what}"))
    return reasons


def _sharper(results: Results) -> float:
    """A run with a tighter tolerance than the default is held to tighter limits."""
    rtol, controlled = results.settings.get("rtol"), results.settings.get("step") is None
    return min(1e3, max(1.0, 1e-6 / rtol)) if controlled and rtol else 1.0


def _judged(level: str, error: float) -> str:
    look, leave = LIMITS[level]
    return TRUST if error <= look else CHECK if error <= leave else DO_NOT_TRUST


def _of_energy(results: Results) -> Reasons:
    if results.analysis != "dynamics" or results.lam is None or results.system.missing_law is not None:
        return []
    drift = energy_drift(results)
    if drift is None:
        return _of_gain(results)
    if _judged("energy", drift * _sharper(results)) == TRUST:
        return []
    word = CHECK if _judged("energy", drift) == TRUST else _judged("energy", drift)
    return [(word, f"the energy changes by {drift:.1e} of what is exchanged")]


def _of_gain(results: Results) -> Reasons:
    """Energy that rises where nothing supplies it, and motions beyond all sense."""
    gain, word = energy_gain(results), TRUST
    if gain is not None:
        word = _judged("energy", gain)
    if word != TRUST:
        return [
            (
                word,
                f"the energy rises by {gain:.1e} of what is exchanged, though nothing supplies it; {SHORTER}",
            )
        ]
    if results.t.size < 2:
        return []
    farthest = np.abs(results.qd / results.system.sizes).max(initial=0.0) * np.diff(results.t).min()
    if np.isfinite(farthest) and farthest > SENSELESS:
        return [
            (
                DO_NOT_TRUST,
                f"the motion has grown to {farthest:.1e} of its lengths in one interval; {SHORTER}",
            )
        ]
    return []


# Between the outputs ----------------------------------------------------------------------------------


def _of_steps(results: Results) -> Reasons:
    """Positions that jump, and velocities that jump where the drivers do not."""
    if results.t.size < 3 or results.analysis not in ("dynamics", "kinematics"):
        return []
    h, sizes = np.diff(results.t)[:, None], results.system.sizes
    q, qd, qdd = results.q / sizes, results.qd / sizes, results.qdd / sizes
    fastest = np.maximum(np.abs(qd[1:]), np.abs(qd[:-1]))
    bent = h * np.maximum(np.abs(qdd[1:]), np.abs(qdd[:-1]))
    gone = np.abs(np.diff(q, axis=0))
    jumped = gone > 10.0 * h * (fastest + bent) + 10.0 * np.median(gone, axis=0) + 1e-3
    reasons = [_at_jump(results, jumped, "the position of", DO_NOT_TRUST)] if jumped.any() else []
    if results.analysis == "kinematics":
        turned = np.abs(np.diff(qd, axis=0)) > JUMP * np.abs(qd).max() + 3.0 * bent
        turned &= ~_noted(results)[:, None]
        reasons += [_at_jump(results, turned, "the velocity of", DO_NOT_TRUST)] if turned.any() else []
    return reasons


def _at_jump(results: Results, jumped: NDArray[np.bool_], what: str, word: str) -> tuple[str, str]:
    k, j = np.argwhere(jumped)[0]
    name = results.system.coordinate_names[j]
    return word, f"between t = {results.t[k]:.6g} and {results.t[k + 1]:.6g} s {what} {name} jumps"


def _noted(results: Results) -> NDArray[np.bool_]:
    """Intervals in which the drivers' own velocities jump."""
    nu = np.array([results.system.functions_at(float(t))[:, 1] for t in results.t])
    size = np.abs(nu).max(initial=0.0)
    return (
        np.asarray((np.abs(np.diff(nu, axis=0)) > JUMP * size).any(axis=1)) if nu.size else np.zeros(0, bool)
    )


def _of_outputs(results: Results) -> Reasons:
    """Outputs that were asked for too far apart to show what happens between them."""
    if results.analysis != "dynamics" or results.t.size < MANY or results.settings.get("follows_steps"):
        return []
    if np.mean(~_smooth(results)) < COARSE:
        return []
    sentence = "the outputs are too far apart to show every peak; leave out step and t_eval, or ask for more"
    return [(CHECK, sentence)]


def _of_forces(results: Results) -> Reasons:
    """Forces between outputs that the motion shown there does not feel: a pulse that was stepped over."""
    system = results.system
    if results.analysis != "dynamics" or results.t.size < 3 or not _may_jump(system):
        return []
    force = cache(lambda k: system.QA(float(results.t[k]), results.q[k], results.qd[k]))
    smooth = _smooth(results)
    for t, k in _looks(results):
        reason = _unfelt(results, t, k, force) if smooth[k] else None
        if reason:
            return [reason]
    return _of_impulses(results, np.flatnonzero(~smooth))


def _looks(results: Results) -> Iterator[tuple[float, int]]:
    """Times between outputs, each with its interval: evenly spread ones, and those just after a switch of a force."""
    times = np.linspace(results.t[0], results.t[-1], LOOKS + 2)[1:-1]
    within = np.clip(np.searchsorted(results.t, times, side="right") - 1, 0, results.t.size - 2)
    yield from zip(times.tolist(), map(int, within), strict=True)
    switching = Switching(results.system)
    for k in range(results.t.size - 1 if switching.placed else 0):
        first, last = float(results.t[k]), float(results.t[k + 1])
        yield first + AFTER * (last - first), k
        at = switching.first_crossing(first, last, lambda t, k=k: _between(results, k, t)[1:])  # type: ignore[misc]
        if at is not None:
            yield min(last, at + AFTER * (last - first)), k


def _unfelt(results: Results, t: float, k: int, force: Callable[[int], Floats]) -> tuple[str, str] | None:
    """A force at t that differs from those at the ends of a smooth interval."""
    x, q, qd = _between(results, k, t)
    here, first, last = results.system.QA(t, q, qd), force(k), force(k + 1)
    off = np.abs(here - (1.0 - x) * first - x * last)
    allowed = UNSEEN * max(np.abs(first).max(), np.abs(last).max(), np.abs(here).max())
    if np.all(off <= allowed + 2.0 * np.abs(last - first)) or _is_felt(results, k):
        return None
    j = int(np.argmax(off))
    what = f"a force of {here[j]:.3g} on {results.system.coordinate_names[j]}"
    return DO_NOT_TRUST, f"at t = {t:.6g} s {what} acts, of which the motion shows nothing"


def _is_felt(results: Results, k: int) -> bool:
    """Whether a smooth interval shows what the force does beyond a straight line between its values at the ends.

    With motions w(t) that the joints leave free, the integral of w^T (M qdd - QA) dt vanishes, where

        integral of w^T M qdd dt = [w^T M qd] - integral of wd^T M qd dt
    """
    system, t = results.system, np.linspace(results.t[k], results.t[k + 1], FINE)
    x, h = (t - t[0]) / (t[-1] - t[0]), float(t[-1] - t[0])
    states = [
        (_cubic(results.q, results.qd, k, h, float(part)), _cubic(results.qd, results.qdd, k, h, float(part)))
        for part in x
    ]
    momentum = np.array([system.masses * qd for _, qd in states])
    QA = np.array([system.QA(float(each), *state) for each, state in zip(t, states, strict=True)])
    w = _free_motions(system, t, [q for q, _ in states])
    power = np.einsum("tnf,tn->tf", w, QA)
    change = np.einsum("tnf,tn->tf", w[[0, -1]], momentum[[0, -1]])
    carried = np.einsum("tnf,tn->tf", np.gradient(w, t, axis=0), momentum)
    total = lambda rates: (t[1] - t[0]) * (rates.sum(axis=0) - 0.5 * (rates[0] + rates[-1]))
    moved, pushed = change[1] - change[0] - total(carried), total(power)
    beyond = np.abs(pushed - 0.5 * (t[-1] - t[0]) * (power[0] + power[-1]))
    return bool(np.all(np.abs(moved - pushed) <= 0.5 * beyond.max(initial=0.0)))


def _free_motions(system: System, t: Floats, poses: list[Floats]) -> Floats:
    """Motions with Phi_q w = 0 at each pose, those of the first carried on: [time, coordinate, motion]."""
    scale = system.sizes / system.length
    first, motions = None, []
    for at, q in zip(t, poses, strict=True):
        null = row_space(system.Phi_q(float(at), q) * scale).null
        first = null if first is None else first
        motions.append(scale[:, None] * (null @ (null.T @ first)))
    return np.array(motions)


def _of_impulses(results: Results, rough: NDArray[np.int64]) -> Reasons:
    """Where outputs do not follow from each other smoothly, velocities must change as the forces in between ask for.

    Z^T M (qd1 - qd0) = Z^T integral of QA dt, with the motions Z that the joints leave free
    """
    system = results.system
    for k in rough[:MOST_ROUGH]:
        h, change = float(results.t[k + 1] - results.t[k]), results.qd[k + 1] - results.qd[k]
        if h * np.abs(results.qd[k : k + 2] / system.sizes).max() > SHORT:
            continue
        (Z,) = _free_motions(system, results.t[k : k + 1], [results.q[k]])
        pushed, moved = Z.T @ _impulse(results, int(k), _between), Z.T @ (system.masses * change)
        j = int(np.argmax(np.abs(pushed))) if pushed.size else 0
        if pushed.size and np.abs(moved[j]) < 0.3 * np.abs(pushed[j]):
            where = f"between t = {results.t[k]:.6g} and {results.t[k + 1]:.6g} s"
            # a force of the motion, which is not known between these outputs
            other = Z.T @ _impulse(results, int(k), _at_once)
            if np.abs(other - pushed)[j] > 0.3 * np.abs(pushed[j]):
                return [
                    (CHECK, f"{where} the outputs are too far apart to tell whether all forces were felt")
                ]
            return [(DO_NOT_TRUST, f"{where} forces act that leave the velocities as they are")]
    return []


def _impulse(results: Results, k: int, between: Callable[..., tuple[float, Floats, Floats]]) -> Floats:
    """The integral of QA dt over an interval, piece by piece between the switches of forces."""
    system, look = results.system, lambda t: between(results, k, t)[1:]
    ends, last = [float(results.t[k])], float(results.t[k + 1])
    switching = Switching(system)
    while switching.placed and len(ends) < MOST_SWITCHES:
        at = switching.first_crossing(ends[-1], last, look)
        if at is None or at >= last:
            break
        ends.append(min(last, at + 1e-12 * (last - ends[0])))
    pieces = np.unique(np.concatenate([ends, np.linspace(ends[0], last, 33)]))
    middles, widths = 0.5 * (pieces[1:] + pieces[:-1]), np.diff(pieces)
    return np.asarray(sum(w * system.QA(t, *look(float(t))) for t, w in zip(middles, widths, strict=True)))


def _may_jump(system: System) -> bool:
    """Whether some force is more than a linear law."""
    return system.missing_law is None and any(
        not isinstance(load, MeasureForce) or not (load.law.is_linear or load.law.is_constant)
        for _, load in system.loads
    )


def _smooth(results: Results) -> NDArray[np.bool_]:
    """Intervals whose ends follow from each other by their velocities and accelerations alone.

    q1 - q0 = h (qd0 + qd1) / 2 + h^2 (qdd0 - qdd1) / 12,      qd1 - qd0 = h (qdd0 + qdd1) / 2
    """
    h, sizes = np.diff(results.t)[:, None], results.system.sizes
    q, qd, qdd = results.q / sizes, results.qd / sizes, results.qdd / sizes
    off = np.diff(q, axis=0) - h * (qd[1:] + qd[:-1]) / 2 - h**2 * (qdd[:-1] - qdd[1:]) / 12
    off_rate = h * (np.diff(qd, axis=0) - h * (qdd[1:] + qdd[:-1]) / 2)
    travel = h * (np.abs(qd[1:]) + np.abs(qd[:-1])) + h**2 * (np.abs(qdd[1:]) + np.abs(qdd[:-1])) + 1e-12
    worst = np.maximum(np.abs(off), np.abs(off_rate)).max(axis=1)
    return np.asarray(worst <= RESOLVED * travel.max(axis=1))


def _between(results: Results, k: int, t: float) -> tuple[float, Floats, Floats]:
    """Which part of interval k is over at t; Hermite's cubic of the positions there, and a line of velocities."""
    h = float(results.t[k + 1] - results.t[k])
    x = (t - float(results.t[k])) / h
    return x, _cubic(results.q, results.qd, k, h, x), (1 - x) * results.qd[k] + x * results.qd[k + 1]


def _cubic(values: Floats, rates: Floats, k: int, h: float, x: float) -> Floats:
    """Hermite's cubic in interval k, of the length h, at the part x of it."""
    d, v0, v1 = values[k + 1] - values[k], h * rates[k], h * rates[k + 1]
    return np.asarray(values[k] + x * (d + (1 - x) * ((1 - x) * (v0 - d) - x * (v1 - d))))


def _at_once(results: Results, k: int, t: float) -> tuple[float, Floats, Floats]:
    """The same if the motion changes at the beginning of the interval."""
    return 1.0, results.q[k + 1], results.qd[k + 1]


# A second opinion -------------------------------------------------------------------------------------


def _of_opinion(results: Results) -> Reasons:
    """What a second run with a sharper tolerance, or half the step, found."""
    opinion = results.settings.get("second_opinion")
    if opinion is None:
        return []
    differs, allowed = float(opinion["differs"]), float(opinion["allowed"])
    if differs <= allowed:
        return []
    word = CHECK if differs <= 100.0 * allowed else DO_NOT_TRUST
    return [(word, f"a second run {opinion['how']} differs by {differs:.1e} of the motion")]
