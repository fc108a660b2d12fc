"""The arguments of `solve`, checked before the first step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...errors import ModelError
from ...numerics.arrays import Floats
from ...numerics.kernel_pointer import BoundKernel, python_pointer
from ..implicit_runge_kutta import ImplicitRungeKutta
from ..ode_method import OdeMethod

Function = Callable[..., Any]


def real_array(name: str, given: Any) -> Floats:
    """An array of finite real numbers."""
    try:
        array = np.asarray(given)
        if np.iscomplexobj(array):
            raise ModelError(f"{name} = {given!r} is complex; solve for real and imaginary parts.")
        array = array.astype(float)
    except (TypeError, ValueError):
        raise ModelError(f"{name} = {given!r} must consist of numbers.") from None
    if not np.all(np.isfinite(array)):
        raise ModelError(f"{name} = {given!r} must consist of finite numbers.")
    return array


def span_of(t_span: Any) -> tuple[float, float]:
    span = real_array("t_span", t_span)
    if span.shape != (2,) or span[0] == span[1]:
        raise ModelError(f"t_span = {t_span!r} must be two different times, from and to.")
    return float(span[0]), float(span[1])


def times_of(t_eval: Any, t0: float, t1: float) -> Floats | None:
    """Times in the direction of the integration."""
    if t_eval is None:
        return None
    times, sense = np.atleast_1d(real_array("t_eval", t_eval)), np.sign(t1 - t0)
    if times.ndim != 1 or times.size == 0 or np.any(sense * np.diff(times) <= 0.0):
        raise ModelError("t_eval must be a list of times that run from the beginning of t_span to its end.")
    if sense * (times[0] - t0) < 0.0 or sense * (t1 - times[-1]) < 0.0:
        raise ModelError(
            f"t_eval reaches from {times[0]:g} to {times[-1]:g}, outside t_span = ({t0:g}, {t1:g})."
        )
    return times


def start_of(y0: Any) -> Floats:
    y = np.atleast_1d(real_array("y0", y0))
    if y.ndim != 1 or y.size == 0:
        raise ModelError(f"y0 must be a number or a list of numbers; its shape is {y.shape}.")
    return y


class Asked:
    """A user's f or jac as a kernel pointer, and the time of its last call."""

    def __init__(
        self, name: str, function: Any, args: tuple[Any, ...], sense: float, shape: tuple[int, ...]
    ) -> None:
        self.name, self.function, self.args, self.sense, self.shape = name, function, args, sense, shape
        self.t = np.nan
        self.pointer: BoundKernel = python_pointer(self)

    def __call__(self, t: float, y: Floats, out: Floats) -> None:
        self.t = self.sense * t
        values = self.function(self.t, y.copy(), *self.args) if callable(self.function) else self.function
        values = np.asarray(values)
        if values.dtype.kind not in "fiub":
            raise TypeError(f"it returned {values.dtype} numbers, not real ones")
        if values.shape != self.shape and not (values.size == 1 and out.size == 1):
            raise ValueError(f"it returned an array of shape {values.shape}, not {self.shape}")
        out[:] = self.sense * values.reshape(-1)

    @property
    def raised(self) -> BaseException | None:
        return self.pointer.kept[1][0] if self.pointer.kept[1] else None


class NewtonStart:
    """Where the iteration of an implicit step starts: at a state in the first step, or at guess(t, y) in every step."""

    def __init__(self, guess: Any, method: OdeMethod, args: tuple[Any, ...], size: int) -> None:
        if not isinstance(method, ImplicitRungeKutta):
            raise ModelError(
                f"guess is where the iteration of an implicit method starts; '{method.name}' has none that starts from "
                "a state. Take backward_euler, implicit_midpoint, trapezoidal or radau_iia."
            )
        self.guess, self.args, self.size, self.given = guess, args, size, False

    def next(self, t: float, y: Floats) -> Floats | None:
        """The start of the step from (t, y); None: the method's own."""
        if not callable(self.guess) and self.given:
            return None
        self.given = True
        values = self.guess(t, y.copy(), *self.args) if callable(self.guess) else self.guess
        start = np.atleast_1d(real_array("guess", values))
        if start.shape != (self.size,):
            raise ModelError(f"guess has the shape {start.shape}; y0 has ({self.size},).")
        return start


def tolerances(method: OdeMethod, rtol: float, atol: Any, y0: Floats) -> tuple[float, Any]:
    """Relative and absolute tolerance of one step, for errors of `rtol` and `atol` at the end."""
    local = method.local(rtol)
    if atol is None:
        return local, None
    absolute = real_array("atol", atol)
    if absolute.shape not in ((), y0.shape) or not np.all(absolute > 0.0):
        raise ModelError(f"atol = {atol!r} must be a positive number, or one for each entry of y0.")
    return local, absolute * local / rtol
