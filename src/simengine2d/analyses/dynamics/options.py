"""The options of dynamics: what is asked for, checked before the run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...errors import ModelError, UnsupportedError, listed
from ...formulations.augmented import Augmented
from ...formulations.index3 import Index3
from ...formulations.projection import Projection
from ...integrators.dop853 import DOP853
from ...integrators.implicit_runge_kutta import RadauIIA
from ...methods import AlphaMethod, Formulation, Integrator
from ...numerics.arrays import Floats
from ...results.events import Event
from ...system.system import System
from .outputs import NOTICED

_KINDS = {"ode": "ordinary differential equations", "dae": "differential-algebraic equations"}
ITERATIONS = ("exact", "modified", "course", "fixed_point")


@dataclass(frozen=True)
class DynamicsOptions:
    """What a run is asked for. `integrator` is None where the run chooses for itself."""

    system: System
    times: Floats
    step: float | None
    integrator: Integrator | None
    formulation: Formulation
    rtol: float = 1e-6
    atol: float | Sequence[float] | Floats | None = None
    events: Sequence[Event] = field(default_factory=tuple)
    max_step: float | None = None
    begin: float | None = None
    """Time of the drawn pose; that of the first output where it is not given."""

    spacing: float | None = None
    """Of the outputs at least; more of them follow the steps. None where the user has chosen the times."""

    coordinates: str = "reference_point"
    why: str = ""
    """Why these coordinates, in words."""

    def __post_init__(self) -> None:
        if not 1e-14 <= self.rtol <= 0.1:
            raise ModelError(f"rtol = {self.rtol!r} must lie between 1e-14 and 0.1.")
        if self.newton not in ITERATIONS:
            raise ModelError(f"newton = {self.newton!r} must be one of {listed(ITERATIONS)}.")
        kind = {"fixed_point": "ode", "course": "dae"}.get(self.newton, self.formulation.poses)
        if kind != self.formulation.poses:
            given = f"newton = {self.newton!r} is for formulations that pose {_KINDS[kind]}"
            raise UnsupportedError(f"{given}, not for '{self.formulation.name}'. Take exact or modified.")
        if self.tolerance is not None and not 0.0 < self.tolerance < np.inf:
            raise ModelError(f"tolerance = {self.tolerance!r} must be a positive number.")
        if self.tolerance is not None and self.formulation.poses == "ode":
            raise UnsupportedError(
                f"the formulation '{self.formulation.name}' poses {_KINDS['ode']}, whose steps are solved as far as "
                "rounding allows; it has no tolerance of accelerations."
            )
        if self.projection and not self.sparse:
            raise UnsupportedError(
                "index3 brings velocities back onto the constraints in reference-point coordinates with newmark, hht "
                "or generalized_alpha. The formulation 'ggl' holds them in all coordinates, with every implicit method."
            )
        if self.max_step is not None and not 0.0 < self.max_step < np.inf:
            raise ModelError(f"max_step = {self.max_step!r} must be a positive number of seconds.")
        if self.fixed and self.max_step is not None:
            assert self.integrator is not None
            raise ModelError(
                f"the integrator '{self.integrator.name}' takes steps of `step`; it has no max_step."
            )
        if self.fixed and self.step is None:
            assert self.integrator is not None
            raise ModelError(
                f"the integrator '{self.integrator.name}' takes fixed steps; give step=..., in seconds."
            )

        if not (self.sparse or self.formulation.nonholonomic):
            way = f"the formulation '{self.formulation.name}'"
            if isinstance(self.formulation, Index3):
                way += (
                    f" with these coordinates and the integrator '{self.integrator and self.integrator.name}'"
                )
            self.system.refuse_velocity_rows(way)

    @property
    def newton(self) -> str:
        """How the steps of implicit methods are solved."""
        return getattr(self.integrator, "newton", "exact")

    @property
    def tolerance(self) -> float | None:
        return getattr(self.integrator, "tolerance", None)

    @property
    def projection(self) -> bool:
        return isinstance(self.formulation, Index3) and self.formulation.projection

    @property
    def t0(self) -> float:
        return float(self.times[0]) if self.begin is None else self.begin

    @property
    def fixed(self) -> bool:
        return self.integrator is not None and not self.integrator.adaptive

    @property
    def sparse(self) -> bool:
        """Whether this is for the implicit methods on the sparse index-3 equations."""
        plain = self.coordinates == "reference_point" and isinstance(self.formulation, Index3)
        return plain and (self.integrator is None or isinstance(self.integrator, AlphaMethod))

    @property
    def method(self) -> str:
        """The methods in words, and why these coordinates."""
        return self._methods + (f" ({self.why})" if self.why else "")

    @property
    def in_words(self) -> str:
        """A note on the methods."""
        how = f"in steps of {self.step:g} s at most" if self.fixed else f"with rtol = {self.rtol:g}"
        return f"integrated by {self._methods}, {how}"

    @property
    def _methods(self) -> str:
        name = (self.integrator or RadauIIA()).name
        return f"{name} on the formulation {self.formulation.name} in {self.coordinates} coordinates"

    def absolute(self, share: float, sizes: Floats) -> Floats:
        """The absolute tolerances of every coordinate; by default `share` of its size."""
        n = sizes.size
        if self.atol is None:
            return share * sizes
        try:
            given = np.array(np.broadcast_to(np.asarray(self.atol, dtype=float), (n,)))
        except (TypeError, ValueError):
            raise ModelError(
                f"atol = {self.atol!r} must be a positive number or an array of {n}, one for each coordinate."
            ) from None
        if not np.all((given > 0.0) & np.isfinite(given)):
            raise ModelError(f"atol = {self.atol!r} must be positive.")
        return given * share / self.rtol

    @property
    def noticed(self) -> float:
        """Peaks are looked for that may exceed so many times the largest value so far: not less than the tolerance."""
        return 1.0 + max(NOTICED, 0.0 if self.fixed else self.rtol)

    # as plain data, for `resume`

    def settings(self, times: Floats) -> dict[str, Any]:
        """These options; a run may have chosen other times."""
        return {
            "begin": self.t0,
            "t_end": float(times[-1]),
            "step": self.step,
            "spacing": self.spacing or (float(times[1] - times[0]) if times.size > 1 else None),
            "follows_steps": self.spacing is not None,
            "integrator": plain(self.integrator),
            "formulation": plain(self.formulation),
            "coordinates": self.coordinates,
            "why": self.why,
            "rtol": self.rtol,
            "atol": None if self.atol is None else np.asarray(self.atol).tolist(),
            "max_step": self.max_step,
            "events": [plain(event) for event in self.events],
        }

    @classmethod
    def again(
        cls, system: System, settings: dict[str, Any], times: Floats, spacing: float | None
    ) -> DynamicsOptions:
        """The options of an earlier run, for other times."""
        return cls(
            system,
            times,
            settings["step"],
            Integrator.registry.made(settings["integrator"]),
            Formulation.registry.made(settings["formulation"]),
            settings["rtol"],
            settings["atol"],
            tuple(Event(**event) for event in settings["events"]),
            settings.get("max_step"),
            settings.get("begin"),
            spacing,
            settings["coordinates"],
            settings.get("why", ""),
        )


def plain(thing: Any) -> dict[str, Any] | None:
    """A method or an event: its name and its options."""
    return None if thing is None else {"name": thing.name, **thing.__dict__}


def methods(integrator: Any, formulation: Any) -> tuple[Integrator | None, Formulation]:
    """The integrator and the formulation, by name or as objects; a pair that does not match is refused."""
    if integrator is None and formulation is None:
        return DOP853(), Projection()
    method = Integrator.registry.made(integrator)
    if method is not None and not isinstance(method, Integrator):
        known = listed(sorted(Integrator.registry))
        raise UnsupportedError(f"dynamics cannot use {method!r}; it knows the integrators {known}.")
    posed = Formulation.registry.made(formulation)
    if posed is None:
        posed = default_formulation(method)
    if not isinstance(posed, Formulation):
        known = listed(sorted(Formulation.registry))
        raise UnsupportedError(f"dynamics cannot use {posed!r}; it knows the formulations {known}.")
    if method is None and posed.poses == "ode":
        method = DOP853()
    if method is not None and not matches(type(method), posed):
        matching = listed(sorted(name for name, each in Integrator.registry.items() if matches(each, posed)))
        raise UnsupportedError(
            f"the formulation '{posed.name}' poses {_kind(posed)}, which the integrator '{method.name}' does "
            f"not solve. Integrators for '{posed.name}': {matching}."
        )
    return method, posed


def default_formulation(method: Integrator | None) -> Formulation:
    if method is None or matches(type(method), Projection()):
        return Projection()
    return Augmented() if "ode" in method.solves else Index3()


def matches(method: type[Integrator], posed: Formulation) -> bool:
    """Whether an integrator solves what a formulation poses."""
    if posed.projects and not getattr(method, "accepts_finish", True):
        return False
    return posed.poses in method.solves


def _kind(posed: Formulation) -> str:
    return _KINDS[posed.poses] + (" whose states are corrected after each step" if posed.projects else "")
