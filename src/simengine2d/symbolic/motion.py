"""Motion of a symbolic system by the integrators of this package."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from ..analyses.times import output_times
from ..answer import Answer, Part, Rows, digits
from ..errors import (
    ConvergenceError,
    Interrupted,
    ModelError,
    SimEngineError,
    UnsupportedError,
    listed,
    unknown,
)
from ..formulations.index3 import Index3
from ..formulations.partition import MatrixR, Partitioning
from ..formulations.penalty import Penalty
from ..formulations.projection import Projection
from ..formulations.stage_iteration import StagedFormulation
from ..integrators import loop_state
from ..integrators.alpha_methods import Newmark
from ..integrators.dop853 import DOP853
from ..integrators.ode_method import OdeMethod
from ..methods import AlphaMethod, Formulation, Integrator
from ..numerics.arrays import Floats
from ..numerics.interrupts import Interrupts
from ..numerics.kernel_pointer import python_pointer
from ..results.results import Results
from .alpha_steps import alpha_integration
from .drawing import drawn, lines_of
from .independent import IndependentMotion
from .states import ConsistentState

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes

    from ..draw.animation import FilmOptions
    from ..draw.html import PlayerOptions
    from .system import SymbolicSystem

STEPS_A_CHUNK = 500
DEFAULTS = {"coordinates": None, "max_step": None, "keep": None, "second_opinion": False, "history": False}
ENDINGS = {
    loop_state.STEP_TOO_SMALL: "the step became too small; look for a singular pose, or a force that jumps",
    loop_state.TOO_STIFF: "the motion is stiff; choose an implicit integrator",
    loop_state.NO_CONVERGENCE: "the iteration of a step does not converge",
    loop_state.BLEW_UP: "the values have grown beyond all bounds; take a smaller step",
}


@dataclass(repr=False)
class SymbolicMotion(Answer):
    """t, q, qd, qdd and lam with one row per time; `r["theta"]`, `r["thetad"]`, `r["thetadd"]`, `r["lam1"]`."""

    system: SymbolicSystem
    t: Floats
    q: Floats
    qd: Floats
    qdd: Floats
    lam: Floats
    status: str = ""
    notes: list[str] = field(default_factory=list)
    residuals: dict[str, float] = field(default_factory=dict)
    """Largest errors of the constraints, of positions and of velocities."""
    statistics: dict[str, int] = field(default_factory=dict)

    @property
    def channels(self) -> list[str]:
        names = [name + order for order in ("", "d", "dd") for name in self.system.coordinate_names]
        return names + [f"lam{row}" for row in self.system.row_names]

    def __getitem__(self, channel: str) -> Floats:
        if channel == "t":
            return self.t
        if channel not in self.channels:
            raise ModelError(
                f"there is no channel {channel!r}. {unknown('channel', str(channel), self.channels)}"
            )
        columns: Floats = np.hstack([self.q, self.qd, self.qdd, self.lam])[:, self.channels.index(channel)]
        return columns

    def to_frame(self) -> pandas.DataFrame:
        """A pandas DataFrame indexed by time, one column per channel."""
        import pandas

        columns = np.hstack([self.q, self.qd, self.qdd, self.lam])
        return pandas.DataFrame(columns, index=pandas.Index(self.t, name="t"), columns=self.channels)

    _has_picture = True

    def _draw_on(self, ax: Axes) -> None:
        self.plot(ax=ax)

    def plot(self, *channels: str, ax: Axes | None = None) -> Axes:
        """Channels over time, by default the coordinates."""
        from ..draw.answer_plots import plot_channels

        return plot_channels(self, channels or self.system.coordinate_names, ax)

    # pictures

    def drawing(self, draw: Mapping[str, Sequence[Any]] | None = None) -> Results:
        """The lines of the system, or those given, as bars and springs of results, which can be drawn and played."""
        lines = self.system.lines if draw is None else lines_of(self.system.given, draw)
        return drawn(self, lines)

    def animate(self, path: str | Path, **options: Unpack[FilmOptions]) -> Path:
        """Write the motion of the lines as .gif or .mp4; the options are those of `Results.animate`."""
        return self.drawing().animate(path, **options)

    def html(self, path: str | Path, **options: Unpack[PlayerOptions]) -> Path:
        """Write a page that plays the motion of the lines; the options are those of `Results.html`."""
        return self.drawing().html(path, **options)

    def __str__(self) -> str:
        return "\n".join([f"{self.system.title}: {self.status}", *self.notes])

    def _parts(self) -> Iterator[Part]:
        yield from str(self).splitlines()
        if self.t.size:
            spans = [(q[0], q[-1], q.min(), q.max()) for q in self.q.T]
            rows = [
                [name, *map(digits, span)]
                for name, span in zip(self.system.coordinate_names, spans, strict=True)
            ]
            yield Rows(["coordinate", "first", "last", "lowest", "highest"], rows)


def move(
    state: ConsistentState,
    *,
    t_end: float | None = None,
    step: float | None = None,
    t_eval: Any = None,
    integrator: Any = None,
    formulation: Any = None,
    rtol: float = 1e-6,
    atol: Any = None,
    events: Any = (),
    progress: Any = None,
    **others: Any,
) -> SymbolicMotion:
    """The motion from a state on.

    Formulations: projection, by default, augmented with Baumgarte's terms, penalty, matrix_r and partitioning; index3,
    ggl and augmented_lagrangian with newmark, hht or generalized_alpha in fixed steps.
    """
    refused = [name for name, value in others.items() if value != DEFAULTS.get(name)] + (
        ["events"] if events else []
    )
    if refused:
        raise UnsupportedError(
            f"dynamics of a symbolic system does not know {listed(refused)}; leave it out."
        )
    method, posed = _methods(integrator, formulation)
    times = output_times(t_end, step, t_eval, "dynamics")
    if times[0] < state.t:
        raise ModelError(
            f"the first output is at t = {times[0]:g}, before the initial state at t = {state.t:g}."
        )
    if isinstance(method, AlphaMethod) and isinstance(posed, StagedFormulation):
        return _in_fixed_steps(state, times, step, method, posed)
    assert isinstance(method, OdeMethod)
    return _Run(state, times, step, method, posed, rtol, atol).to_the_end(progress)


def _in_fixed_steps(
    state: ConsistentState, times: Floats, step: Any, method: AlphaMethod, posed: StagedFormulation
) -> SymbolicMotion:
    """Step by step; multipliers are those of the steps."""
    if step is None:
        raise ModelError(f"{method.name} takes fixed steps; give step=..., in seconds.")
    numeric = state.system.numeric
    rows: list[tuple[Floats, Floats, Floats, Floats]] = []
    numeric.examine(state.t, state.q, state.qd)
    integration = alpha_integration(state, method, posed, float(step))
    so_far = lambda status: _recorded(state.system, times, rows, status, integration.counts())
    try:
        for t in times:
            integration.advance(float(t))
            rows.append((integration.q, integration.qd, integration.qdd, integration.lam))
    except SimEngineError as error:
        error.results = so_far(f"ended at t = {integration.t:g}")
        raise
    return so_far(f"dynamics finished at t = {times[-1]:g} s, {times.size} points")


def _recorded(
    system: SymbolicSystem, times: Floats, rows: list[Any], status: str, counts: dict[str, int]
) -> SymbolicMotion:
    t, numeric = times[: len(rows)], system.numeric
    sizes = (system.n, system.n, system.n, system.m)
    q, qd, qdd, lam = (
        np.array([row[k] for row in rows]).reshape(len(rows), size) for k, size in enumerate(sizes)
    )
    states = list(zip(t, q, qd, strict=True))
    largest = lambda values: max((float(np.abs(v).max(initial=0.0)) for v in values), default=0.0)
    residuals = {
        "position": largest(numeric.Phi(*s) for s in states),
        "velocity": largest(numeric.slip(*s) for s in states),
    }
    return SymbolicMotion(system, t.copy(), q, qd, qdd, lam, status, [], residuals, counts)


def _methods(integrator: Any, formulation: Any) -> tuple[OdeMethod | AlphaMethod, Formulation]:
    """What matches: index 3 and its relatives with those of Newmark, the others with methods for ordinary equations."""
    posed = Formulation.registry.made(formulation)
    method = Integrator.registry.made(integrator)
    if posed is None:
        posed = Index3() if isinstance(method, AlphaMethod) else Projection()
    if method is None:
        method = Newmark() if isinstance(posed, StagedFormulation) else DOP853()
    wanted = AlphaMethod if isinstance(posed, StagedFormulation) else OdeMethod
    if not isinstance(method, wanted):
        fitting = (
            "newmark, hht or generalized_alpha"
            if wanted is AlphaMethod
            else "dop853, rk4 or another of these"
        )
        kind = (
            "in fixed steps by Newmark's method or a relative"
            if wanted is AlphaMethod
            else ("as ordinary differential equations")
        )
        raise UnsupportedError(
            f"a symbolic system in the formulation {posed.name} is integrated {kind}, which {method!r} does not do; "
            f"choose {fitting}."
        )
    return method, posed


class _Run:
    """y = (q, qd), outputs in chunks."""

    def __init__(
        self,
        state: ConsistentState,
        times: Floats,
        step: Any,
        method: OdeMethod,
        posed: Formulation,
        rtol: float,
        atol: Any,
    ) -> None:
        self.state, self.system, self.times, self.posed = state, state.system, times, posed
        self.numeric, self.n = state.system.numeric, state.system.n
        self.dependent = self.numeric.examine(state.t, state.q, state.qd)
        self.compliances = None
        if isinstance(posed, Penalty):
            self.compliances = posed.compliances(self.numeric.mobilities(state.t, state.q, state.qd))
        self.independent = None
        if isinstance(posed, MatrixR | Partitioning):
            self.independent = IndependentMotion(state, posed)
        self.f = python_pointer(self.slope)
        self.finish = python_pointer(self.corrected) if posed.projects and self.system.m else None
        adaptive = method.adaptive
        self.integration = method.integration(
            self.f,
            state.t,
            np.concatenate([state.q, state.qd]),
            step=None if adaptive else step,
            rtol=rtol if adaptive else None,
            atol=atol,
            finish=self.finish,
            span=(state.t, float(times[-1])),
        )
        self.Y = np.empty((times.size, 2 * self.n))
        self.done = 0

    def slope(self, t: float, y: Floats, out: Floats) -> None:
        q, qd = y[: self.n].copy(), y[self.n :].copy()
        if self.independent is not None:
            out[: self.n], out[self.n :] = self.independent.rates(t, q, qd)
            return
        out[: self.n] = qd
        out[self.n :] = self.numeric.accelerations(t, q, qd, self.posed.stabilization, self.compliances)[0]

    def corrected(self, t: float, y: Floats, out: Floats) -> None:
        correct = self.numeric.project if self.independent is None else self.independent.corrected
        y[: self.n], y[self.n :] = correct(t, y[: self.n].copy(), y[self.n :].copy())

    def to_the_end(self, progress: Any) -> SymbolicMotion:
        while self.done < self.times.size:
            with Interrupts() as interrupts:
                self.done, why = self.integration.integrate(self.times, self.done, self.Y, STEPS_A_CHUNK)
            self._raise_what_waits()
            if interrupts.came:
                raise Interrupted(
                    f"interrupted at t = {self.integration.t:g} s.", self.results("interrupted")
                )
            if progress is not None:
                progress(self.integration.t)
            if why in ENDINGS:
                sentence = (
                    f"dynamics of '{self.system.title}' ended at t = {self.integration.t:g}: {ENDINGS[why]}."
                )
                raise ConvergenceError(sentence, self.results(f"ended at t = {self.integration.t:g}"))
        return self.results(f"dynamics finished at t = {self.times[-1]:g} s, {self.times.size} points")

    def _raise_what_waits(self) -> None:
        for pointer in (self.f, self.finish):
            for error in pointer.kept[1] if pointer is not None else ():
                self.done = int(np.isfinite(self.Y[: self.done]).all(axis=1).cumprod().sum())
                so_far = self.results(f"ended at t = {self.integration.t:g}")
                if isinstance(error, KeyboardInterrupt):
                    raise Interrupted(f"interrupted at t = {self.integration.t:g} s.", so_far) from None
                if isinstance(error, SimEngineError):
                    error.results = so_far
                raise error

    def results(self, status: str) -> SymbolicMotion:
        """What is finished, with accelerations and multipliers."""
        t, n, numeric = self.times[: self.done], self.n, self.numeric
        states = [(s, row[:n].copy(), row[n:].copy()) for s, row in zip(t, self.Y, strict=False)]
        if self.finish is not None:
            states = [(s, *numeric.project(s, q, qd)) for s, q, qd in states]
        accelerations = [
            numeric.accelerations(*state, self.posed.stabilization, self.compliances) for state in states
        ]
        stacked = lambda parts, columns: np.array(list(parts)).reshape(len(states), columns)
        largest = lambda values: max((float(np.abs(v).max(initial=0.0)) for v in values), default=0.0)
        free = f"the multipliers of {listed(self.dependent)} are not unique; the smallest are given"
        notes = [free] if self.dependent else []
        return SymbolicMotion(
            self.system,
            t.copy(),
            stacked((q for _, q, _ in states), n),
            stacked((qd for _, _, qd in states), n),
            stacked((qdd for qdd, _ in accelerations), n),
            stacked((lam for _, lam in accelerations), self.system.m),
            status,
            notes,
            {
                "position": largest(numeric.Phi(*s) for s in states),
                "velocity": largest(numeric.slip(*s) for s in states),
            },
            self.integration.counts(),
        )
