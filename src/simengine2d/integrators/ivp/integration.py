"""`solve`: an initial value problem from its beginning to its end, and what is returned."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ...answer import Answer, Part, PlottedAnswer, Rows, digits
from ...errors import (
    ConvergenceError,
    Interrupted,
    ModelError,
    SimEngineError,
    answers_misspellings,
    counted,
    listed,
    needed,
)
from ...methods import Integrator, IntegratorName, NewtonName
from ...numerics.arrays import Floats
from ...numerics.interrupts import Interrupts
from .. import loop_state as loop
from ..ode_method import Integration, OdeMethod
from .choosing import method_of
from .crossings import CrossingWatch, FoundEvent
from .growth import has_grown, is_unstable
from .inputs import Asked, Function, NewtonStart, span_of, start_of, times_of, tolerances

if TYPE_CHECKING:
    import pandas

    from ..integration import CompiledIntegration

STEPS_AT_ONCE = 2_000  # steps per call when no step is inspected

_WHY = {
    loop.STEP_TOO_SMALL: "the step became too small, or f has no finite value. Look for a singularity there",
    loop.NO_CONVERGENCE: "the iteration of the step did not converge, or f has no finite value. Take a smaller h",
    loop.BLEW_UP: "the values have grown beyond all bounds, or f has no finite value. Take a smaller h",
}


@answers_misspellings
def solve(
    f: Function,
    t_span: tuple[float, float],
    y0: Any,
    method: IntegratorName | str | Integrator = "dormand_prince",
    *,
    h: float | None = None,
    rtol: float = 1e-6,
    atol: float | Floats | None = None,
    jac: Any = None,
    events: Any = (),
    t_eval: Any = None,
    args: tuple[Any, ...] = (),
    newton: NewtonName = "exact",
    guess: Any = None,
    dense_output: bool = False,
) -> Solution:
    """y' = f(t, y, *args), y(t0) = y0, over t_span = (t0, t1); t1 may be before t0.

    Adaptive methods choose their steps so that the error at the end is about `rtol` of y plus `atol` (by default `rtol`
    of the largest entry of y0); with `h` every method takes fixed steps. Implicit methods iterate by `newton`: "exact",
    "modified" (derivatives are reused while it converges) or "fixed_point"; `jac(t, y)` gives df/dy, by default
    computed by differences. `guess` is where the iteration starts: a state for the first step, or a function
    guess(t, y, *args) for each; it decides which solution is found where a step has several. Events are functions
    g(t, y, *args), with the attributes `terminal` and `direction` as in SciPy. Without `t_eval` the
    solution is given at the steps, with `dense_output` also as a function `sol(t)`.

    Raises with the solution so far (`error.results`) if the integration ends early.
    """
    solver = method_of(method)
    t0, t1 = span_of(t_span)
    if h is None and not solver.adaptive:
        raise ModelError(f"the method '{solver.name}' takes fixed steps; give h=...")
    if h is not None and not (isinstance(h, int | float) and 0.0 < h <= abs(t1 - t0)):
        raise ModelError(f"h = {h!r} must be positive and not longer than t_span.")
    run = IvpRun(solver, f, t0, t1, start_of(y0), tuple(args), jac)
    if guess is not None:
        run.start = NewtonStart(guess, solver, tuple(args), run.y0.size)
    steps = {"step": float(h)} if h is not None else {}
    if h is None:
        local, absolute = tolerances(solver, rtol, atol, run.y0)
        steps = {"rtol": local, "atol": absolute}
    return run.to_the_end(steps, newton, events, times_of(t_eval, t0, t1), dense_output)


class IvpRun:
    """One call of `solve`. Internally time runs forward: with `sense` = -1, it is the negative of the user's time."""

    def __init__(
        self, method: OdeMethod, f: Any, t0: float, t1: float, y0: Floats, args: Any, jac: Any
    ) -> None:
        if not callable(f):
            raise ModelError(f"f must be a function f(t, y), not {f!r}.")
        self.method, self.y0, self.args = method, y0, args
        self.sense = 1.0 if t1 > t0 else -1.0
        self.begin, self.end = self.sense * t0, self.sense * t1
        self.f = Asked("f", f, args, self.sense, y0.shape)
        self.jac = None if jac is None else Asked("jac", jac, args, self.sense, (y0.size, y0.size))
        self.t: list[float] = [self.begin]
        self.y: list[Floats] = [y0]
        self.ends, self.pieces = [self.begin], []  # type: ignore[var-annotated]
        self.watch: CrossingWatch | None = None
        self.integration: Integration | None = None
        self.start: NewtonStart | None = None
        self.interrupts = Interrupts()
        self.check_start()

    def check_start(self) -> None:
        out = np.zeros(self.y0.size)
        with self.interrupts:
            self.f.pointer(self.begin, self.y0, out)
        self.check_functions()
        self.interrupts.check()
        if not np.all(np.isfinite(out)):
            raise ModelError(f"f gives {self.sense * out} at the start, t = {self.sense * self.begin:g}.")

    def to_the_end(
        self, steps: dict[str, Any], newton: str, events: Any, t_eval: Floats | None, dense: bool
    ) -> Solution:
        self.integration = self.method.integration(
            self.f.pointer, self.begin, self.y0, newton=newton, jac=self.jac.pointer if self.jac else None,
            span=(self.begin, self.end), **steps,
        )  # fmt: skip
        self.watch = CrossingWatch(events, self.args, self.sense, self.begin, self.y0)
        times = np.array([self.end]) if t_eval is None else np.append(self.sense * t_eval, self.end)
        if times.size > 1 and times[-2] == self.end:
            times = times[:-1]
        with self.interrupts:
            ended = self.outputs(times, t_eval, dense)
        message = "the end of t_span was reached" if ended is None else "an event ended the integration"
        grown = self.growth_by(steps["step"]) if "step" in steps else None
        if grown is not None:
            return self.solution(UNSTABLE, f"{message}, but {grown}")
        return self.solution(FINISHED if ended is None else TERMINATED, message)

    def growth_by(self, h: float) -> str | None:
        """What is wrong where the steps, and not the problem, made the values grow."""
        if not self.y:
            return None
        t, y = self.end, self.y[-1]
        size = np.abs(self.y0) + abs(self.end - self.begin) * np.abs(self.slope(self.begin, self.y0))
        if not has_grown(size, y) or not is_unstable(self.method, self.slope, t, y, h):
            return None
        return (
            f"steps of h = {h:g} are not stable: the values have grown to {np.abs(y).max():.1e}, which those of the "
            "problem do not. Take a smaller h; lab.largest_step says how large it may be"
        )

    def slope(self, t: float, y: Floats) -> Floats:
        """f at a state."""
        out = np.zeros(self.y0.size)
        self.f.pointer(t, y, out)
        return out

    # outputs

    def outputs(self, times: Floats, t_eval: Floats | None, dense: bool) -> FoundEvent | None:
        """All outputs; returns the event that ended the integration."""
        if t_eval is None:
            return self.step_by_step(times, dense)
        self.t, self.y = [], []
        return self.row_by_row(times, t_eval.size, dense)

    def step_by_step(self, times: Floats, dense: bool) -> FoundEvent | None:
        """Outputs at the ends of steps."""
        Y, why, m = np.zeros((1, self.y0.size)), loop.PAUSED, self.integration
        assert m is not None
        while why != loop.DONE:
            why = self.advance(times, 0, Y, 1)[1]
            if m.step_end > self.ends[-1]:
                ended = self.look(dense)
                t = m.step_end if ended is None else ended.t
                self.t.append(t)
                self.y.append(m.between(t))
                if ended is not None:
                    return ended
        return None

    def row_by_row(self, times: Floats, wanted: int, dense: bool) -> FoundEvent | None:
        """Outputs at given times."""
        Y, why, row, m = np.zeros((times.size, self.y0.size)), loop.PAUSED, 0, self.integration
        assert m is not None and self.watch is not None
        watched = dense or bool(self.watch.events) or self.start is not None
        while why != loop.DONE:
            done = row
            row, why = self.advance(times, row, Y, 1 if watched else STEPS_AT_ONCE)
            self.t += times[done : min(row, wanted)].tolist()
            self.y += list(Y[done : min(row, wanted)])
            if watched and m.step_end > self.ends[-1]:
                ended = self.look(dense)
                if ended is not None:
                    late = times[row:wanted][times[row:wanted] <= ended.t]
                    self.t += late.tolist()
                    self.y += [m.between(t) for t in late]
                    return ended
        return None

    def look(self, dense: bool) -> FoundEvent | None:
        """Inspect a new step for events, and sample it."""
        assert self.integration is not None and self.watch is not None
        end, last = self.integration.step_end, self.integration.step_end >= self.end
        ended = self.watch.look(end, self.integration.between, last) if self.watch.events else None
        a, b = self.ends[-1], end if ended is None else ended.t
        self.ends.append(b)
        if dense:
            self.pieces.append([self.integration.between(t) for t in points_between(a, b)])
        self.check_functions()
        return ended

    def advance(self, times: Floats, row: int, Y: Floats, most_steps: int) -> tuple[int, int]:
        assert self.integration is not None
        if self.start is not None:
            m = cast("CompiledIntegration", self.integration)
            m.start_from(self.start.next(self.sense * m.step_end, m.between(m.step_end)))
        row, why = self.integration.integrate(times, row, Y, most_steps)
        self.check_functions()
        if self.interrupts.came:
            at = f"interrupted at t = {self.sense * self.integration.t:.9g}"
            raise Interrupted(f"{at}.", self.solution(FAILED, at))
        if why in _WHY:
            t = self.sense * self.integration.step_end
            raise ConvergenceError(f"at t = {t:.9g} {_WHY[why]}.", self.solution(FAILED, _WHY[why]))
        return row, why

    # what is reported

    def check_functions(self) -> None:
        """Report what a user's function has raised."""
        for asked in (self.f, self.jac):
            error = None if asked is None else asked.raised
            if asked is None or error is None:
                continue
            where = f"at t = {asked.t:.9g}"
            results = self.solution(FAILED, f"{asked.name} failed {where}") if self.integration else None
            if isinstance(error, KeyboardInterrupt):
                raise Interrupted(f"interrupted {where}.", results) from None
            if isinstance(error, SimEngineError | SystemExit):
                raise error
            raise ModelError(
                f"{asked.name} failed {where}: {type(error).__name__}: {error}", results
            ) from error

    def solution(self, status: int, message: str) -> Solution:
        assert self.integration is not None
        counts = self.integration.counts()
        t = self.sense * np.array(self.t)
        y = np.array(self.y).T.reshape(self.y0.size, t.size)
        events: tuple[Any, Any] = (
            self.watch.times_and_states() if self.watch and self.watch.events else (None, None)
        )
        sol = Interpolant(self.sense * np.array(self.ends), np.array(self.pieces)) if self.pieces else None
        return Solution(
            t, y, self.method.name, status >= 0, status, message, counts["evaluations"], counts["jacobians"],
            counts["factorizations"], counts["steps"], counts["rejected steps"], *events, sol,
        )  # fmt: skip


# What is returned -------------------------------------------------------------------------------------


FINISHED, TERMINATED, FAILED, UNSTABLE = 0, 1, -1, -2
# Chebyshev points in [0, 1], dense enough for every dense output, with their barycentric weights
_POINTS = 0.5 - 0.5 * np.cos(np.pi * np.arange(9) / 8)
_WEIGHTS = np.array([0.5, -1, 1, -1, 1, -1, 1, -1, 0.5])


class Interpolant(Answer):
    """y(t) between the ends of an integration: a polynomial for each step."""

    def __init__(self, ends: Floats, values: Floats) -> None:
        self.ends = ends  # (steps + 1,), rising or falling
        self.values = values  # (steps, points, n)

    def __str__(self) -> str:
        first, last = self.ends[[0, -1]]
        return f"y(t) from {first:g} to {last:g}, by polynomials over {counted(len(self.values), 'step')}"

    def __call__(self, t: float | Floats) -> Floats:
        """y at a time, (n,), or at several, (n, len(t)); outside the span the nearest polynomial is extrapolated."""
        times = np.atleast_1d(np.asarray(t, dtype=float))
        y = np.array([self._at(time) for time in times]).T
        return y[:, 0] if np.ndim(t) == 0 else y

    def _at(self, t: float) -> Floats:
        sense = 1.0 if self.ends[-1] >= self.ends[0] else -1.0
        step = int(np.searchsorted(sense * self.ends, sense * t, side="right")) - 1
        step = min(max(step, 0), len(self.values) - 1)
        a, b = self.ends[step], self.ends[step + 1]
        away = (t - a) / (b - a) - _POINTS
        hit = np.flatnonzero(away == 0.0)
        if hit.size:
            return np.array(self.values[step, hit[0]])
        shares = _WEIGHTS / away
        return np.asarray(shares @ self.values[step] / shares.sum())


def points_between(a: float, b: float) -> Floats:
    """Times at which a step is sampled."""
    points = a + (b - a) * _POINTS
    points[-1] = b
    return points


def frame_of(t: Floats, levels: Mapping[str, Floats], names: Sequence[str] | None = None) -> pandas.DataFrame:
    """Rows as columns over t: q[0], q[1], ..., qd[0], ..., or the names given."""
    pandas = needed("pandas", "a DataFrame needs", "tables", ", or use the arrays")
    columns = {f"{letter}[{i}]": row for letter, rows in levels.items() for i, row in enumerate(rows)}
    if names is not None and len(names) != len(columns):
        raise ModelError(
            f"{counted(len(names), 'name')} for {counted(len(columns), 'column')}: {listed(names)}."
        )
    table = dict(zip(names if names is not None else columns, columns.values(), strict=True))
    return pandas.DataFrame(table, index=pandas.Index(t, name="t"))


@dataclass(repr=False)
class Solution(PlottedAnswer):
    """As SciPy returns it: y has one column for each entry of t. It unpacks, `t, y = solve(...)`."""

    t: Floats
    y: Floats
    method: str
    success: bool
    status: int
    """0: the end was reached; 1: an event ended it; -1: it failed; -2: its steps were not stable."""
    message: str
    nfev: int
    njev: int
    nlu: int
    steps: int
    rejected: int
    t_events: list[Floats] | None = None
    y_events: list[Floats] | None = None
    sol: Interpolant | None = None

    def __iter__(self) -> Iterator[Floats]:
        """t, then y."""
        return iter((self.t, self.y))

    def to_frame(self, names: Sequence[str] | None = None) -> pandas.DataFrame:
        """A pandas DataFrame indexed by t, one column for each entry of y: y[0], y[1], ..., or the names given."""
        return frame_of(self.t, {"y": self.y}, names)

    def __str__(self) -> str:
        return "\n".join([self._work(), *self._events()])

    def _events(self) -> Iterator[str]:
        for i, times in enumerate(self.t_events or ()):
            when = ": " + listed((f"{t:.6g}" for t in times), 6) if times.size else ""
            yield f"event {i} happened {counted(times.size, 'time')}{when}"

    def _work(self) -> str:
        return (
            f"{self.method}: {self.message}\n{counted(self.t.size, 'time')}, {counted(len(self.y), 'component')}; "
            f"{counted(self.steps, 'step')}, {self.rejected} rejected, {counted(self.nfev, 'evaluation')} of f"
        )

    def _parts(self) -> Iterator[Part]:
        yield from str(self).splitlines()
        if self.t.size:
            heads = ["", f"at {self.t[0]:g}", f"at {self.t[-1]:g}", "lowest", "highest"]
            spread = [(row[0], row[-1], row.min(), row.max()) for row in self.y]
            yield Rows(heads, [[f"y[{i}]", *map(digits, values)] for i, values in enumerate(spread)])
