"""A task of dynamics: what is asked for, checked before the run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import ModelError, UnsupportedError, listed
from ..events import Event
from ..formulations import formulation_named, index3
from ..formulations.index3 import Index3
from ..formulations.projection import Projection
from ..integrators import integrator_named
from ..integrators.dop853 import DOP853
from ..integrators.runge_kutta import RungeKutta
from ..methods import AlphaMethod, Formulation, Integrator
from ..system import System

Floats = NDArray[np.float64]

NEWTON = {"exact": index3.EXACT, "modified": index3.MODIFIED, "course": index3.COURSE}
COORDINATES = ("reference_point",)


@dataclass(frozen=True)
class Task:
    """The options of a run. `integrator` is None where the run chooses for itself."""

    system: System
    times: Floats
    step: float | None
    integrator: Integrator | None
    formulation: Formulation
    rtol: float = 1e-6
    atol: float | Floats | None = None
    newton: str = "exact"
    tolerance: float | None = None
    projection: bool = False
    events: Sequence[Event] = field(default_factory=tuple)

    def __post_init__(self) -> None:
        if not 1e-14 <= self.rtol <= 0.1:
            raise ModelError(f"rtol = {self.rtol!r} must lie between 1e-14 and 0.1.")
        if self.newton not in NEWTON:
            raise ModelError(f"newton = {self.newton!r} must be one of {listed(NEWTON)}.")
        if self.tolerance is not None and not 0.0 < self.tolerance < np.inf:
            raise ModelError(f"tolerance = {self.tolerance!r} must be a positive number.")
        if self.fixed and self.step is None:
            assert self.integrator is not None
            raise ModelError(
                f"the integrator '{self.integrator.name}' takes fixed steps; give step=..., in seconds."
            )

    @property
    def fixed(self) -> bool:
        return self.integrator is not None and not self.integrator.adaptive

    def absolute(self, share: float) -> Floats:
        """The absolute tolerances of x, y and phi of every body; by default `share` of a length of the mechanism."""
        n = self.system.n
        if self.atol is None:
            return share * self.system.sizes
        try:
            given = np.array(np.broadcast_to(np.asarray(self.atol, dtype=float), (n,)))
        except (TypeError, ValueError):
            raise ModelError(
                f"atol = {self.atol!r} must be a positive number or an array of {n}, one for each coordinate."
            ) from None
        if not np.all((given > 0.0) & np.isfinite(given)):
            raise ModelError(f"atol = {self.atol!r} must be positive.")
        return given * share / self.rtol


def methods(integrator: Any, formulation: Any) -> tuple[Integrator | None, Formulation]:
    """The integrator and the formulation, by name or as objects; a pair that does not match is refused."""
    method = integrator_named(integrator)() if isinstance(integrator, str) else integrator
    if method is not None and not isinstance(method, AlphaMethod | RungeKutta):
        known = listed(sorted(Integrator.registry))
        raise UnsupportedError(f"dynamics cannot use {method!r}; it knows the integrators {known}.")
    posed = formulation_named(formulation)() if isinstance(formulation, str) else formulation
    if posed is None:
        posed = Index3() if isinstance(method, AlphaMethod) else Projection()
    if not isinstance(posed, Formulation):
        known = listed(sorted(Formulation.registry))
        raise UnsupportedError(f"dynamics cannot use {posed!r}; it knows the formulations {known}.")
    if method is None and posed.poses == "ode":
        method = DOP853()
    if method is not None and posed.poses not in method.solves:
        matching = sorted(name for name, each in Integrator.registry.items() if posed.poses in each.solves)
        raise UnsupportedError(
            f"the formulation '{posed.name}' poses {_kind(posed.poses)}, which the integrator '{method.name}' does "
            f"not solve. Integrators for '{posed.name}': {listed(matching)}."
        )
    return method, posed


def _kind(poses: str) -> str:
    return {"ode": "ordinary differential equations", "dae": "differential-algebraic equations"}[poses]


def check_coordinates(coordinates: str) -> None:
    if coordinates not in COORDINATES:
        raise UnsupportedError(
            f"coordinates = {coordinates!r} are not available; known: {listed(COORDINATES)}."
        )
