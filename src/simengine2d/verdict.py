"""The verdict: how far results can be trusted, in a word and with reasons.

It asks the results themselves: put back into the equations (`audit`), do they satisfy them; do velocities lead from one
position to the next; is energy kept where it must be; do the forces between two outputs agree with the motion shown
there. And it asks the run: what it could not look for, what it passed, what it had to change.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .audit import Audit
from .elements import Push
from .energy import energy_drift
from .laws import LINEAR
from .system import System

if TYPE_CHECKING:
    from .results import Results

Floats = NDArray[np.float64]

TRUST, CHECK, DO_NOT_TRUST = "trust", "check", "do not trust"
WORDS = (TRUST, CHECK, DO_NOT_TRUST)

# relative errors from which on to look twice, and from which on to look elsewhere
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
RESOLVED = (
    1e-2  # of a step between outputs: how well they follow from each other where nothing happens in between
)
JUMP = 0.3  # of the largest velocity, in one interval of a motion that is smooth elsewhere
UNSEEN = (
    0.05  # of the largest force: a force between two outputs of which the motion shown there knows nothing
)
LOOKS = 400  # times between outputs at which forces are looked at


class Caution(str):
    """A note of a run that asks for a second look."""

    __slots__ = ()


@dataclass(frozen=True)
class Verdict:
    """`word` is "trust", "check" or "do not trust"; `reasons` say why, the gravest first."""

    word: str
    reasons: tuple[str, ...]

    @property
    def is_good(self) -> bool:
        return self.word == TRUST

    def __str__(self) -> str:
        return (
            "; ".join([f"{self.word}: {self.reasons[0]}", *self.reasons[1:]]) if self.reasons else self.word
        )


def verdict(results: Results) -> Verdict:
    """The verdict on any results that belong to a model."""
    if results.columns_only:
        return Verdict(
            CHECK, ("these results come from a CSV file, which holds no model to check them with",)
        )
    found = _of_values(results)
    if not found:
        found = [*_of_equations(results), *_of_energy(results), *_of_steps(results), *_of_forces(results)]
    found += [(CHECK, str(note)) for note in results.notes if isinstance(note, Caution)]
    found += _of_opinion(results)
    found.sort(key=lambda reason: -WORDS.index(reason[0]))
    return Verdict(found[0][0] if found else TRUST, tuple(sentence for _, sentence in found))


Reasons = list[tuple[str, str]]


def _of_values(results: Results) -> Reasons:
    arrays = {"positions": results.q, "velocities": results.qd, "accelerations": results.qdd}
    if results.lam is not None:
        arrays["reactions"] = results.lam
    broken = [name for name, array in arrays.items() if not np.all(np.isfinite(array))]
    return [(DO_NOT_TRUST, f"some {name} are not finite") for name in broken]


def _of_equations(results: Results) -> Reasons:
    found = []
    for level, worst in Audit(results).worst.items():
        word = _judged(level, worst.size)
        if word != TRUST:
            what = SENTENCES[level].format(where=worst.where, size=worst.size)
            found.append((word, f"at t = {worst.t:.6g} s {what}"))
    return found


def _judged(level: str, error: float) -> str:
    look, leave = LIMITS[level]
    return TRUST if error <= look else CHECK if error <= leave else DO_NOT_TRUST


def _of_energy(results: Results) -> Reasons:
    if results.analysis != "dynamics" or results.lam is None or results.system.missing_law is not None:
        return []
    drift = energy_drift(results)
    if drift is None or _judged("energy", drift) == TRUST:
        return []
    return [(_judged("energy", drift), f"the energy changes by {drift:.1e} of what is exchanged")]


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
    found = [_at_jump(results, jumped, "the position of", DO_NOT_TRUST)] if jumped.any() else []
    if results.analysis == "kinematics":
        turned = np.abs(np.diff(qd, axis=0)) > JUMP * np.abs(qd).max() + 3.0 * bent
        turned &= ~_noted(results)[:, None]
        found += [_at_jump(results, turned, "the velocity of", DO_NOT_TRUST)] if turned.any() else []
    return found


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


def _of_forces(results: Results) -> Reasons:
    """Forces between outputs that the motion shown there does not feel: a pulse that was stepped over."""
    system = results.system
    if results.analysis != "dynamics" or results.t.size < 3 or not _may_jump(system):
        return []
    times = np.linspace(results.t[0], results.t[-1], LOOKS + 2)[1:-1]
    within = np.clip(np.searchsorted(results.t, times, side="right") - 1, 0, results.t.size - 2)
    smooth = _smooth(results)
    force = cache(lambda k: system.QA(float(results.t[k]), results.q[k], results.qd[k]))
    largest = max(np.abs(force(int(k))).max() for k in within)
    for t, k in zip(times, map(int, within), strict=True):
        if not smooth[k]:
            continue
        x, q, qd = _between(results, k, t)
        here, first, last = system.QA(t, q, qd), force(k), force(k + 1)
        off = np.abs(here - (1.0 - x) * first - x * last)
        if not np.all(off <= UNSEEN * max(largest, np.abs(here).max()) + 2.0 * np.abs(last - first)):
            j = int(np.argmax(off))
            what = f"a force of {here[j]:.3g} on {system.coordinate_names[j]}"
            return [(DO_NOT_TRUST, f"at t = {t:.6g} s {what} acts, of which the motion shows nothing")]
    return []


def _may_jump(system: System) -> bool:
    """Whether some force is more than a linear law."""
    return system.missing_law is None and any(
        not isinstance(load, Push)
        or load.law.kind != LINEAR
        or not (load.law.time is None or load.law.time.is_constant)
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
    q0, q1, v0, v1 = results.q[k], results.q[k + 1], h * results.qd[k], h * results.qd[k + 1]
    d = q1 - q0
    q = q0 + x * (d + (1 - x) * ((1 - x) * (v0 - d) - x * (v1 - d)))
    return x, q, (1 - x) * results.qd[k] + x * results.qd[k + 1]


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
