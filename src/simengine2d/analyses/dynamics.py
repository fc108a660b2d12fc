"""Forward dynamics: forces in, motion and multipliers out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..equations import D, Work, accelerations, build, new_work
from ..errors import ConvergenceError, Interrupted, ModelError, SimEngineError, UnsupportedError, listed
from ..formulations import index3
from ..integrators import dop853, integrator_named
from ..integrators.dop853 import DOP853
from ..methods import AlphaMethod, Integrator
from ..model import Model
from ..results import Results
from ..system import System
from .assemble import Assembly, assemble
from .closure import coordinate_scale
from .diagnose import in_words, names_of_rows
from .kinematics import Progress
from .rank import free_motions, rank_of_rows
from .times import check_domains, output_times

Floats = NDArray[np.float64]

NEWTON = {"exact": index3.EXACT, "course": index3.COURSE}
FIRST_CHUNK = 64  # output points between two calls of `progress`; doubled while the run goes on
LOCAL = 0.1  # error allowed in one step, against `rtol` for the whole motion: errors of many steps add up
STEPS_A_CHUNK = 2_000  # of the adaptive integrator between two calls of `progress`
DENSE_RANK = 900  # coordinates up to which the rank of the constraints is examined


def dynamics(
    model: Model,
    *,
    t_end: float | None = None,
    step: float | None = None,
    t_eval: Sequence[float] | Floats | None = None,
    integrator: str | Integrator | None = None,
    rtol: float = 1e-6,
    newton: str = "exact",
    tolerance: float | None = None,
    progress: Progress | None = None,
) -> Results:
    """The motion of a model under its forces from t = 0 to `t_end`.

    With no integrator named, an adaptive one keeps the error of a step below `rtol`, and `step` is the spacing of the
    outputs. The index-3 integrators (newmark, hht, generalized_alpha) take steps of `step`; their Newton iteration
    ends when the accelerations change by less than 1e-10 of their size, or by less than `tolerance` where given.
    Raises with the results so far (`error.results`) where the integration ends early.
    """
    if not isinstance(model, Model):
        raise ModelError(f"dynamics needs a Model, not {model!r}; read a file with load(path).")
    method = _method(integrator, step)
    if not 1e-14 <= rtol <= 0.1:
        raise ModelError(f"rtol = {rtol!r} must lie between 1e-14 and 0.1.")
    if newton not in NEWTON:
        raise ModelError(f"newton = {newton!r} must be one of {listed(NEWTON)}.")
    times = output_times(t_end, step, t_eval, "dynamics")
    system = System(model)
    if system.n == 0:
        raise UnsupportedError(f"model '{model.name}' has no bodies; add one with model.body(...).")
    if system.missing_law is not None:
        raise UnsupportedError(system.missing_law)
    check_domains(system, times)
    assembly = assemble(system, float(times[0]))
    redundant = _examine(system, assembly)
    run: _Run
    if isinstance(method, AlphaMethod):
        run = _Index3Run(system, assembly, times, redundant, method, step, NEWTON[newton], tolerance)
    else:
        run = _AdaptiveRun(system, assembly, times, redundant, rtol)
    return run.to_the_end(progress)


def _method(integrator: str | Integrator | None, step: float | None) -> Integrator:
    if integrator is None:
        return DOP853()
    method = integrator_named(integrator)() if isinstance(integrator, str) else integrator
    if not method.adaptive and step is None:
        raise ModelError(f"the integrator '{method.name}' takes fixed steps; give step=..., in seconds.")
    return method


def _examine(system: System, assembly: Assembly) -> list[str]:
    """Names of redundant constraints; an error where a free motion has no mass."""
    if system.n > DENSE_RANK:
        return []
    scale = coordinate_scale(system)
    J = system.Phi_q(assembly.t, assembly.q) * scale
    rank = rank_of_rows(J)
    masses = np.diag(system.M()) * scale**2
    for motion in free_motions(J, rank.rank).T:
        if motion @ (masses * motion) <= 1e-14 * masses.max(initial=0.0) * (motion @ motion):
            words = in_words(system, assembly.q, scale * motion)
            raise ModelError(
                f"a free motion has no mass, so forces cannot decide it: {words}. "
                "Give these bodies a mass and an inertia, or drive the motion."
            )
    rows = sorted({i for row, partners in rank.dependent.items() for i in (row, *partners)})
    return names_of_rows(system, rows)


@dataclass
class _Run:
    """What all runs share: outputs in chunks, progress, keeping what was finished."""

    system: System
    assembly: Assembly
    times: Floats
    redundant: list[str]

    def prepare(self, tangent: bool) -> None:
        system = self.system
        self.d: D = build(system, bool(self.redundant), tangent)
        self.w: Work = new_work(system, self.d)
        count = self.times.size
        Q, Qd, Qdd = (np.zeros((count, system.n)) for _ in range(3))
        self.history = index3.History(Q, Qd, Qdd, np.zeros((count, system.m)))
        self.done = 0
        self.notes = list(self.assembly.notes)
        if self.redundant:
            self.notes.append(
                f"the reactions of {listed(self.redundant)} are not unique, since these constraints are redundant; "
                "the smallest ones are given"
            )

    @property
    def t(self) -> float:
        raise TypeError("a run knows its time")

    def to_the_end(self, progress: Progress | None) -> Results:
        chunk = FIRST_CHUNK
        try:
            while self.done < self.times.size:
                self.advance(min(self.done + chunk, self.times.size))
                if progress is not None:
                    progress(self.t)
                chunk = min(2 * chunk, 1 << 16)
        except KeyboardInterrupt:
            status = f"interrupted at t = {self.t:g} s"
            kept = f"{self.done} of {self.times.size} points are kept"
            raise Interrupted(f"{status}; {kept}.", self.results(status)) from None
        return self.results(f"dynamics finished at t = {self.times[-1]:g} s, {self.times.size} points")

    def advance(self, stop: int) -> None:
        raise TypeError("a run advances")

    def failure(self, what: str) -> SimEngineError:
        """The error for a step that cannot be taken; a force that has no value is named first."""
        t = self.t
        results = self.results(f"stopped at t = {t:g} s")
        kept = f"The {self.done} points before it are kept."
        broken = self.system.broken_function(t) or self.system.broken_force(t, *self.present_state())
        if broken:
            return ConvergenceError(f"{broken} {kept}", results)
        return ConvergenceError(f"at t = {t:.9g} s {what} {kept}", results)

    def present_state(self) -> tuple[Floats, Floats]:
        raise TypeError("a run has a state")

    def results(self, status: str) -> Results:
        k, h = self.done, self.history
        return Results(
            self.system.model,
            self.times[:k].copy(),
            h.Q[:k],
            h.Qd[:k],
            h.Qdd[:k],
            h.Lam[:k],
            analysis="dynamics",
            status=status,
            notes=self.notes,
            residuals=self.largest_residuals(),
            statistics=self.statistics(),
        )

    def largest_residuals(self) -> dict[str, float]:
        raise TypeError("a run watches its residuals")

    def statistics(self) -> dict[str, int]:
        raise TypeError("a run counts")


class _Index3Run(_Run):
    """Fixed steps on the index-3 equations."""

    def __init__(
        self,
        system: System,
        assembly: Assembly,
        times: Floats,
        redundant: list[str],
        method: AlphaMethod,
        step: float | None,
        kind: int,
        tolerance: float | None,
    ) -> None:
        super().__init__(system, assembly, times, redundant)
        self.prepare(tangent=True)
        self.step, self.kind = float(step or 1.0), kind
        n = system.n
        accelerations(
            system.arrays, system.load_arrays, self.d, float(times[0]), assembly.q, assembly.qd, self.w
        )
        qdd, lam = self.w.x[:n].copy(), self.w.x[n:].copy()
        state = np.zeros(7)
        state[index3.TIME] = times[0]
        limits = (1e-10, 1e-12) if tolerance is None else (0.0, tolerance)
        self.p = index3.Stepper(
            assembly.q.copy(), assembly.qd.copy(), qdd, lam, qdd.copy(), np.zeros((4, n)), np.zeros(system.m),
            state, coordinate_scale(system), np.array(method.coefficients), np.array(limits),
        )  # fmt: skip
        self.notes.append(f"integrated by {method.name}, as asked, in steps of {self.step:g} s at most")

    @property
    def t(self) -> float:
        return float(self.p.state[index3.TIME])

    def present_state(self) -> tuple[Floats, Floats]:
        return self.p.q, self.p.qd

    def advance(self, stop: int) -> None:
        system = self.system
        self.done, why = index3.integrate(
            system.arrays, system.load_arrays, self.d, self.p, self.times, self.done, stop, self.step, self.kind,
            self.history, self.w,
        )  # fmt: skip
        if why != index3.DONE:
            raise self.failure(
                f"the step does not converge, even when it is halved {index3.MOST_HALVINGS} times. "
                "Take a smaller step, or look for a dead point or a force that jumps."
            )

    def largest_residuals(self) -> dict[str, float]:
        return {
            "position": float(self.p.state[index3.WORST_PHI]),
            "velocity": float(self.p.state[index3.WORST_PHID]),
        }

    def statistics(self) -> dict[str, int]:
        state = self.p.state
        return {
            "steps": int(state[index3.STEPS]),
            "Newton iterations": int(state[index3.ITERATIONS]),
            "factorizations": int(state[index3.FACTORIZATIONS]),
            "halved steps": int(state[index3.HALVINGS]),
        }


class _AdaptiveRun(_Run):
    """Error-controlled steps on the index-1 equations, projected on the constraints."""

    def __init__(
        self, system: System, assembly: Assembly, times: Floats, redundant: list[str], rtol: float
    ) -> None:
        super().__init__(system, assembly, times, redundant)
        self.prepare(tangent=False)
        length, local = system.length, LOCAL * rtol
        atol = local * np.tile([length, length, 1.0], 2 * len(system.bodies))
        state = np.concatenate([assembly.q, assembly.qd])
        self.r = dop853.new_runner(float(times[0]), state, local, atol, (1e-2 * local * length, 1e-14 * length))
        self.notes.append(f"integrated by {DOP853.name}, the choice for smooth motions, with rtol = {rtol:g}")

    @property
    def t(self) -> float:
        return float(self.r.state[dop853.TIME])

    def present_state(self) -> tuple[Floats, Floats]:
        n = self.system.n
        return self.r.y[:n], self.r.y[n:]

    def advance(self, stop: int) -> None:
        system = self.system
        self.done, why = dop853.integrate(
            system.arrays,
            system.load_arrays,
            self.d,
            self.r,
            self.times,
            self.done,
            self.history,
            STEPS_A_CHUNK,
            self.w,
        )
        if why == dop853.TOO_STIFF:
            raise self.failure(
                "the equations are too stiff for an explicit method: its steps are held up by stability, not by the "
                "motion. Use integrator='generalized_alpha' with a step."
            )
        if why != dop853.DONE:
            raise self.failure(
                "the step became too small. Look for a singular pose, or a force that jumps or grows without bound."
            )

    def largest_residuals(self) -> dict[str, float]:
        """Before projection; the outputs themselves are on the constraints to rounding."""
        return {
            "position": float(self.r.state[dop853.WORST_PHI]),
            "velocity": float(self.r.state[dop853.WORST_PHID]),
        }

    def statistics(self) -> dict[str, int]:
        state = self.r.state
        return {
            "steps": int(state[dop853.STEPS]),
            "rejected steps": int(state[dop853.REJECTED]),
            "evaluations": int(state[dop853.EVALUATIONS]),
        }
