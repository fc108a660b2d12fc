"""What is compared: coordinates, a formulation and an integrator that go together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import fields, is_dataclass
from itertools import product
from typing import Any, NamedTuple, TypeAlias

from ..analyses.dynamics.options import matches, methods
from ..coordinates.base import Family
from ..errors import ModelError, UnsupportedError
from ..methods import CoordinatesName, Formulation, FormulationName, Integrator, IntegratorName

Coordinates: TypeAlias = Sequence[CoordinatesName] | CoordinatesName | None
Formulations: TypeAlias = Sequence[FormulationName | str | Formulation | None] | FormulationName | str | None
Integrators: TypeAlias = Sequence[IntegratorName | str | Integrator | None] | IntegratorName | str | None
"""Names or objects; one alone, or None for all that there are."""


class Combination(NamedTuple):
    """A combination of methods. `refusal` says why they do not go together, where they do not."""

    coordinates: CoordinatesName
    formulation: Formulation | None
    integrator: Integrator | None
    refusal: str = ""

    @property
    def names(self) -> tuple[str, str, str]:
        return self.coordinates, label(self.formulation), label(self.integrator)


def label(method: Formulation | Integrator | None) -> str:
    """`augmented(alpha=0)`: the name, and the options that are not the default ones."""
    if method is None:
        return "default"
    if not is_dataclass(method):
        return method.name
    changed = [
        f"{field.name}={getattr(method, field.name)}"
        for field in fields(method)
        if getattr(method, field.name) != field.default
    ]
    return f"{method.name}({', '.join(changed)})" if changed else method.name


def pairs() -> dict[str, list[str]]:
    """For each formulation, the integrators that solve what it poses."""
    return {
        name: sorted(other for other, each in Integrator.registry.items() if matches(each, posed()))
        for name, posed in sorted(Formulation.registry.items())
    }


def combinations(
    coordinates: Coordinates, formulations: Formulations, integrators: Integrators
) -> list[Combination]:
    """All of the methods asked for with each other.

    Pairs that do not match are left out where all formulations or all integrators were asked for. Where both were
    named they stay, refused; where nothing else was asked for, that is an error.
    """
    families: list[Any] = [
        Family.registry.named(name).name for name in _chosen(coordinates, _families(), "coordinates")
    ]
    posed = [
        Formulation.registry.made(each)
        for each in _chosen(formulations, sorted(Formulation.registry), "formulations")
    ]
    solvers = [
        Integrator.registry.made(each)
        for each in _chosen(integrators, sorted(Integrator.registry), "integrators")
    ]
    both_named = formulations is not None and integrators is not None
    all_combinations = [_combined(*parts) for parts in product(families, posed, solvers)]
    fitting = [each for each in all_combinations if not each.refusal]
    if not fitting:
        raise UnsupportedError(all_combinations[0].refusal)
    return all_combinations if both_named else fitting


def _families() -> list[str]:
    """Reference-point coordinates first."""
    return sorted(Family.registry, key=lambda name: (name != "reference_point", name))


def _chosen(asked: Coordinates | Formulations | Integrators, known: Iterable[str], what: str) -> list[Any]:
    chosen = list(known) if asked is None else [asked] if isinstance(asked, str) else list(asked)
    if not chosen:
        raise ModelError(f"{what} = {asked!r} names nothing to compare; give names, or None for all.")
    return chosen


def _combined(coordinates: CoordinatesName, formulation: Any, integrator: Any) -> Combination:
    try:
        method, posed = methods(integrator, formulation)
    except UnsupportedError as error:
        return Combination(coordinates, formulation, integrator, str(error))
    return Combination(coordinates, posed, method)
