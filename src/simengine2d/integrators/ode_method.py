"""The initial value problem y' = f(t, y), its integration, and the base of the methods for it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..errors import ModelError, UnsupportedError, listed
from ..methods import Integrator
from ..numerics.arrays import Floats
from ..numerics.kernel_pointer import BoundKernel
from .break_crossing import Broken

Stability = NDArray[np.complex128]

NEWTON = ("exact", "modified", "fixed_point")
LEAST = 1e-13  # smallest tolerance of a step, close to rounding errors


@dataclass(frozen=True)
class OdeTask:
    """y' = f(t, y), y(t0) = y0, and the accuracy asked for."""

    f: BoundKernel
    t0: float
    y0: Floats
    step: float | None
    rtol: float | None
    atol: float | Floats | None
    finish: BoundKernel | None
    notes: Floats
    newton: str
    jac: BoundKernel | None
    limit: float
    watch: bool
    collapses: bool
    broken: Broken | None = None
    alarm: Floats | None = None

    def __post_init__(self) -> None:
        if self.newton not in NEWTON:
            raise ModelError(f"newton = {self.newton!r} must be one of {listed(NEWTON)}.")
        if self.step is not None and not 0.0 < self.step < np.inf:
            raise ModelError(f"step = {self.step!r} must be a positive number.")

    def tolerances(self, rtol: float) -> tuple[float, Floats]:
        """rtol and atol; the default atol follows from the size of the first state."""
        rtol = rtol if self.rtol is None else float(self.rtol)
        size = float(np.abs(self.y0).max(initial=0.0)) or 1.0
        atol = rtol * size if self.atol is None else self.atol
        return rtol, np.broadcast_to(np.asarray(atol, dtype=float), self.y0.shape).copy()


class Integration(ABC):
    """One integration. It fills rows [y(t), notes] at the times asked for, and can be paused and resumed."""

    @abstractmethod
    def integrate(self, times: Floats, first: int, Y: Floats, most_steps: int) -> tuple[int, int]:
        """Fill the rows of Y from `first` on in at most `most_steps` steps: (next row, why it ended)."""

    @abstractmethod
    def space_outputs(self, spacing: float, finer: bool) -> None:
        """Let times after the first be written too, filled with the end before: multiples of the spacing, and with
        `finer` more where steps are shorter. With 0, times are given.
        """

    @property
    @abstractmethod
    def t(self) -> float:
        """Beginning of the last step, inside which states can still be interpolated."""

    @property
    @abstractmethod
    def y(self) -> Floats:
        """The state there."""

    @property
    @abstractmethod
    def step_end(self) -> float:
        """End of the last step."""

    @abstractmethod
    def between(self, t: float) -> Floats:
        """The state at a time inside the last step."""

    @property
    @abstractmethod
    def step_ahead(self) -> float:
        """Size of the step that comes next."""

    @property
    def attempts(self) -> int:
        """Steps tried so far."""
        counts = self.counts()
        return counts["steps"] + counts["rejected steps"]

    @abstractmethod
    def counts(self) -> dict[str, int]:
        """Steps, rejected steps, evaluations, Jacobians and factorizations so far."""

    @abstractmethod
    def kept(self) -> dict[str, Floats]:
        """The arrays that are its entire state: with their contents another integration continues, bit for bit."""


@dataclass(frozen=True)
class OdeMethod(Integrator, abstract=True):
    """An integrator of y' = f(t, y)."""

    solves: ClassVar[tuple[str, ...]] = ("ode",)
    accepts_finish: ClassVar[bool] = True
    """Whether a state may be changed after each step, as by projection."""
    keeps: ClassVar[bool] = True
    """Whether an integration can be saved and resumed."""
    variable_order: ClassVar[bool] = False
    """Whether `order` is only the highest order used."""
    share: ClassVar[float] = 0.1
    """Error allowed in one step, relative to that of the whole motion: errors of many steps add up."""
    power: ClassVar[float] = 1.0
    """Factor on the tolerance; above 1 if steps are only as accurate as their error estimate."""

    def local(self, rtol: float) -> float:
        """The tolerance of one step that leads to errors of about `rtol` in the end."""
        if not (isinstance(rtol, int | float) and 1e-14 <= rtol <= 0.1):
            raise ModelError(f"rtol = {rtol!r} must lie between 1e-14 and 0.1.")
        local = float(self.share * rtol**self.power)
        if local < LEAST and self.power > 1.0:
            least = (LEAST / self.share) ** (1.0 / self.power)
            raise ModelError(
                f"rtol = {rtol:g} asks too much of '{self.name}', a method of order {self.order}; its least is "
                f"{least:.1g}. Methods of higher order are dop853 and radau_adaptive."
            )
        return max(local, LEAST)

    @abstractmethod
    def stability(self, z: Any) -> Stability:
        """R(z): the factor by which a step of size h multiplies y in y' = lambda y, with z = h lambda.

        For multistep methods, the largest root of the characteristic polynomial.
        """

    @abstractmethod
    def started(self, problem: OdeTask) -> Integration:
        """An integration of a problem, at its start."""

    def integration(
        self,
        f: BoundKernel,
        t0: float,
        y0: Floats,
        *,
        step: float | None = None,
        rtol: float | None = None,
        atol: float | Floats | None = None,
        finish: BoundKernel | None = None,
        notes: Floats | None = None,
        newton: str = "exact",
        jac: BoundKernel | None = None,
        span: tuple[float, float] | None = None,
        watch: bool = False,
        collapses: bool = False,
        broken: Broken | None = None,
        alarm: Floats | None = None,
    ) -> Integration:
        """An integration of y' = f(t, y) from (t0, y0) on.

        Methods without error control need a `step`; those with it take fixed steps if one is given without `rtol`, and
        none that is longer if both are given.
        `finish` is called with (t, y, notes) after each step and may change y slightly, as projections do; `notes`, an
        array that it may write, is appended to y in each row. `jac` gives df/dy row by row; otherwise it is computed by
        finite differences. Nothing is evaluated after the end of `span`. With `watch`, an explicit method returns when
        the problem proves stiff or its steps collapse; with `collapses`, only in the latter case. Steps end where the
        equations are `broken`. The integration returns after a step in which `finish` has set `alarm` to 1.
        """
        if finish is not None and not self.accepts_finish:
            raise UnsupportedError(f"the integrator '{self.name}' cannot correct states after its steps.")
        if step is None and not self.adaptive:
            raise ModelError(f"the integrator '{self.name}' takes fixed steps; give a step.")
        y0 = np.array(y0, dtype=float)
        notes = np.zeros(0) if notes is None else notes
        limit = np.inf if span is None else float(span[1])
        given = (step, rtol, atol, finish, notes, newton, jac, limit, watch, collapses, broken, alarm)
        return self.started(OdeTask(f, float(t0), y0, *given))


def largest_roots(coefficients: list[Any]) -> Stability:
    """The root of largest modulus of each polynomial; the arrays of coefficients begin with the highest power."""
    shape, rows = coefficients[0].shape, np.stack([c.ravel() for c in coefficients], axis=-1)
    roots = [np.roots(row) for row in rows]
    largest = [r[np.argmax(np.abs(r))] if r.size else 0.0 for r in roots]
    return np.array(largest, dtype=complex).reshape(shape)
