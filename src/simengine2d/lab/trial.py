"""One combination of methods, tried: how far it is from the reference, and what it costs; tables of trials."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from math import isnan, nan
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..analyses.dynamics.dynamics import dynamics
from ..answer import Answer, Rows, folded
from ..errors import ModelError, SimEngineError, UnsupportedError
from ..model.model import Model
from ..numerics.arrays import Floats
from ..results.energy import energy_drift
from ..results.results import Results
from ..system.system import System
from .combinations import Combination

if TYPE_CHECKING:
    from .comparison import Comparison

Progress = Callable[[int, int], None]
"""Called with the number of trials that are done, and of all."""

RAN, REFUSED, FAILED = "ran", "refused", "failed"
TIGHT = 1e-12  # rtol of the reference


@dataclass(frozen=True, repr=False)
class Trial(Answer):
    """A run of one combination. Numbers are nan where there are none.

    `q`, `qd`, `qdd` and `reactions` are the largest differences to the reference, relative to the size of each;
    `position`, `velocity` and `acceleration` the largest errors of the constraints at the outputs; `energy` the largest
    change of the energy, relative to what is exchanged, where it should be constant.
    """

    coordinates: str
    formulation: str
    integrator: str
    status: str
    """ran, refused or failed"""
    reason: str = ""
    rtol: float = nan
    step: float = nan
    q: float = nan
    qd: float = nan
    qdd: float = nan
    reactions: float = nan
    position: float = nan
    velocity: float = nan
    acceleration: float = nan
    energy: float = nan
    seconds: float = nan
    """Of the quickest run; what is compiled, is compiled before."""
    steps: int = 0
    evaluations: int = 0
    results: Results | None = field(default=None, repr=False, compare=False)

    @property
    def name(self) -> str:
        return f"{self.coordinates}, {self.formulation}, {self.integrator}"

    def __str__(self) -> str:
        if self.status != RAN:
            return f"{self.name}: {self.status}. {self.reason}"
        errors = ", ".join(f"{name} {number(getattr(self, name))}" for name in QUANTITIES)
        return f"{self.name}: {1e3 * self.seconds:.3g} ms, {self.steps} steps; differences: {errors}"

    def record(self) -> dict[str, Any]:
        """Everything but the motion itself."""
        return {name: value for name, value in vars(self).items() if name != "results"}


class Bench:
    """The mechanism, the times and the reference that all trials share."""

    def __init__(
        self, model: Model | System, t_end: float | None, points: int, reference: Results | None, repeats: int
    ) -> None:
        self.system = model if isinstance(model, System) else System(model)
        self.reference = reference or tight(self.system, _times(t_end, points))
        self.times, self.repeats = self.reference.t, repeats
        _check_reference(self.reference, self.system)
        self.sizes: ComparedMotion = sizes_of(motion_of(self.reference))
        self.wanted = motion_of(self.reference, self.sizes)

    def try_out(self, combination: Combination, step: float, rtol: float) -> Trial:
        """Run a combination; where that is not possible, say why."""
        method = combination.integrator
        setting: dict[str, Any] = (
            {"step": step} if method is not None and not method.adaptive else {"rtol": rtol}
        )
        if combination.refusal:
            return Trial(*combination.names, REFUSED, combination.refusal)
        try:
            results, seconds = self.solve(combination, setting)
        except UnsupportedError as error:
            return Trial(*combination.names, REFUSED, str(error), **setting)
        except SimEngineError as error:
            return Trial(*combination.names, FAILED, str(error), **setting)
        values = {**setting, **self.judged(results), "seconds": seconds, "results": results}
        return replace(Trial(*combination.names, RAN), **values)

    def solve(self, combination: Combination, setting: dict[str, Any]) -> tuple[Results, float]:
        """The motion, and the seconds of the quickest of all runs."""
        coordinates, formulation, integrator, _ = combination
        quickest = np.inf
        for _ in range(1 + self.repeats):
            began = time.perf_counter()
            results = dynamics(
                self.system, t_eval=self.times, coordinates=coordinates, formulation=formulation,
                integrator=integrator, **setting,
            )  # fmt: skip
            quickest = min(quickest, time.perf_counter() - began)
        return results, quickest

    def judged(self, results: Results) -> dict[str, Any]:
        """Differences, drifts and counts of a motion."""
        energy = energy_drift(results)
        counts = counts_of(results)
        errors = differences(motion_of(results, self.sizes), self.wanted)
        return {**errors, **constraint_drift(results), "energy": nan if energy is None else energy, **counts}


def counts_of(results: Results) -> dict[str, int]:
    """Steps, and evaluations of the equations of motion: one for each iteration, where Newton's method counts these."""
    counts = results.statistics
    iterations = counts.get("Newton iterations", 0)
    return {"steps": counts.get("steps", 0), "evaluations": counts.get("evaluations", iterations)}


def tight(system: System, times: Floats) -> Results:
    """The reference: reference-point coordinates, projected, DOP853 with rtol = 1e-12."""
    return dynamics(system, t_eval=times, rtol=TIGHT, integrator="dop853", formulation="projection")


def _times(t_end: float | None, points: int) -> Floats:
    if t_end is None:
        raise ModelError("give t_end, the last time in seconds, or a reference.")
    if not (isinstance(t_end, int | float) and 0.0 < t_end < np.inf):
        raise ModelError(f"t_end = {t_end!r} must be a positive number of seconds.")
    if not (isinstance(points, int) and points >= 2):
        raise ModelError(f"points = {points!r} must be a whole number of at least 2.")
    times: Floats = np.linspace(0.0, t_end, points)
    return times


def _check_reference(reference: Results, system: System) -> None:
    if reference.lam is None or reference.t.size < 2:
        raise ModelError("the reference must be a run of dynamics with two outputs at least.")
    wanted, bodies = [body.name for body in system.bodies], reference.bodies
    if wanted != bodies:
        raise ModelError(
            f"the reference moves the bodies {', '.join(bodies)}, the model has {', '.join(wanted)}."
        )


# Differences ------------------------------------------------------------------------------------------


QUANTITIES = ("q", "qd", "qdd", "reactions")


class ComparedMotion(NamedTuple):
    """What is compared, without units: one row per time.

    Positions are compared in lengths of the mechanism and in radians; velocities, accelerations and reactions against
    the largest of their kind.
    """

    q: Floats
    qd: Floats
    qdd: Floats
    reactions: Floats


def motion_of(results: Results, sizes: ComparedMotion | None = None) -> ComparedMotion:
    """A motion in units of the mechanism; with `sizes`, in those of another motion."""
    L = results.system.sizes
    motion = ComparedMotion(results.q / L, results.qd / L, results.qdd / L, unique_reactions(results))
    return motion if sizes is None else ComparedMotion(*(a / b for a, b in zip(motion, sizes, strict=True)))


def sizes_of(motion: ComparedMotion) -> ComparedMotion:
    """The largest entry of each quantity; positions are lengths of the mechanism already."""
    largest = [np.abs(array).max(initial=0.0) or 1.0 for array in motion[1:]]
    return ComparedMotion(*(np.array(size) for size in (1.0, *largest)))


def unique_reactions(results: Results) -> Floats:
    """Forces, and torques by the length of the mechanism, of the joints whose reactions are unique."""
    joints = dict.fromkeys(owner for owner, _ in results.system.rows)
    columns = [np.zeros((0, results.t.size))]
    for name in joints:
        if name not in results.non_unique:
            fx, fy, torque = results.reaction(name)
            columns.append(np.array([fx, fy, torque / results.system.length]))
    return np.vstack(columns).T


def differences(motion: ComparedMotion, wanted: ComparedMotion) -> dict[str, float]:
    """The largest difference in each quantity."""
    pairs = zip(QUANTITIES, motion, wanted, strict=True)
    return {name: float(np.abs(a - b).max(initial=0.0)) for name, a, b in pairs}


def constraint_drift(results: Results) -> dict[str, float]:
    """Largest errors at the outputs: |Phi|, |Phi_q qd - nu| and |Phi_q qdd - gamma|."""
    system, largest = results.system, np.zeros(3)
    for t, q, qd, qdd in zip(results.t, results.q, results.qd, results.qdd, strict=True):
        Phi_q = system.Phi_q(t, q)
        errors = system.Phi(t, q), Phi_q @ qd - system.nu(t, q), Phi_q @ qdd - system.gamma(t, q, qd)
        largest = np.maximum(largest, [np.abs(error).max(initial=0.0) for error in errors])
    return dict(zip(("position", "velocity", "acceleration"), largest.tolist(), strict=True))


# Tables -----------------------------------------------------------------------------------------------


HEADS = (
    "coordinates", "formulation", "integrator", *QUANTITIES, "Phi", "Phi'", "Phi''", "energy", "ms", "steps",
    "evaluations",
)  # fmt: skip
NAMES = 3  # of the columns that hold words


def comparison_text(comparison: Comparison) -> str:
    """The trials that ran, the two that are farthest apart, and those that did not run, with the reason."""
    table = Rows(HEADS, [cells(trial) for trial in comparison.ran], NAMES).lines() if comparison.ran else []
    return "\n".join([*table, *folded("\n".join(remarks(comparison)))])


def remarks(comparison: Comparison) -> list[str]:
    """What is written below the table."""
    lines = ["", "farthest apart:"] if comparison.ran else []
    for name, apart in comparison.agreement.items() if comparison.ran else ():
        lines.append(f"  {name}: {apart.difference:.1e}, {apart.first} and {apart.second}")
    reasons: dict[tuple[str, str], list[str]] = {}
    for trial in comparison.trials:
        if trial.status != RAN:
            reasons.setdefault((trial.status, trial.reason), []).append(trial.name)
    for (status, reason), names in reasons.items():
        lines += ["", f"{status}: {'; '.join(names)}", f"  {reason}"]
    return lines


def cells(trial: Trial) -> list[str]:
    """A trial as a row of the table."""
    errors = (*QUANTITIES, "position", "velocity", "acceleration", "energy")
    numbers = [number(getattr(trial, name)) for name in errors]
    milliseconds = f"{1e3 * trial.seconds:.3g}"
    return [
        trial.coordinates, trial.formulation, trial.integrator, *numbers, milliseconds, str(trial.steps),
        str(trial.evaluations),
    ]  # fmt: skip


def number(value: float) -> str:
    return "-" if isnan(value) else f"{value:.1e}"
