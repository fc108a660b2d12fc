"""The equations of motion of a model, as numbers, in the coordinates of your choice."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ..answer import Answer, Part, PlottedAnswer, Rows, digits
from ..coordinates.base import Family, Rates
from ..errors import ModelError, UnsupportedError, counted, listed
from ..methods import CoordinatesName
from ..model.model import Model
from ..numerics.arrays import Floats
from ..system.system import System
from .assembly.assemble import assemble


class EquationTerms(NamedTuple):
    """M qdd + Phi_q^T lam = QA,   Phi = 0,   Phi_q qd = nu,   Phi_q qdd = gamma"""

    M: Floats
    QA: Floats
    Phi: Floats
    Phi_q: Floats
    nu: Floats
    gamma: Floats


class EquationValues(EquationTerms, PlottedAnswer):
    """The equations in numbers: M qdd + Phi_q^T lam = QA,   Phi = 0,   Phi_q qd = nu,   Phi_q qdd = gamma"""

    __repr__ = Answer.__repr__

    def __str__(self) -> str:
        n, m = self.M.shape[0], self.Phi.size
        gap = float(np.abs(self.Phi).max(initial=0.0))
        return f"equations of motion: {n} coordinates, {m} constraints, largest |Phi| {gap:.1e}"

    def _parts(self) -> Iterator[Part]:
        yield str(self)
        shapes = [[name, " x ".join(map(str, array.shape))] for name, array in self._asdict().items()]
        yield Rows(["array", "shape"], shapes)


@dataclass(frozen=True, repr=False)
class FormulatedModel(Answer):
    """A model in a coordinate family, with the state in which it starts."""

    coordinates: str
    names: list[str]
    """Names of the coordinates q."""
    row_names: list[str]
    """Names of the constraints that remain, and of those that the family adds."""
    t: float
    q: Floats
    qd: Floats
    family: Family = field(repr=False)
    closed: Floats = field(repr=False)
    """Coordinates of the bodies at which the family was set up."""

    def __str__(self) -> str:
        lines = [f"{self.family.system.model.name} in {self.coordinates} coordinates at t = {self.t:g} s"]
        lines.append(f"{counted(len(self.names), 'coordinate')}: {listed(self.names)}")
        lines.append(f"{counted(len(self.row_names), 'constraint')}: {listed(self.row_names)}")
        return "\n".join(lines)

    def _parts(self) -> Iterator[Part]:
        title, _, rows = str(self).splitlines()
        yield from (title, rows)
        values = zip(self.names, self.q, self.qd, strict=True)
        yield Rows(["coordinate", "q", "qd"], [[name, digits(q), digits(qd)] for name, q, qd in values])

    @cached_property
    def _idle(self) -> list[Family]:
        return [self.family]

    @contextmanager
    def _alone(self) -> Iterator[Family]:
        """The family, or where another thread or an outer call works with it one like it."""
        try:
            family = self._idle.pop()
        except IndexError:
            family = type(self.family)(self.family.system, self.closed)
        try:
            yield family
        finally:
            self._idle.append(family)

    def __reduce__(self) -> Any:
        return formulate, (self.family.system, self.coordinates, self.t)

    def at(self, t: float | None = None, q: Floats | None = None, qd: Floats | None = None) -> EquationValues:
        """The equations at a state, by default at the start."""
        state = self._state("q", q, self.q), self._state("qd", qd, self.qd)
        with self._alone() as family:
            e = family.at(self.t if t is None else t, *state)
            return EquationValues(*(array.copy() for array in (e.M, e.Q, e.Phi, e.J, e.nu, e.gamma)))

    def bodies(self, q: Floats, qd: Floats, qdd: Floats) -> Rates:
        """Positions (x, y, phi), velocities and accelerations of the bodies."""
        rates = [self._state(name, given, self.q) for name, given in (("q", q), ("qd", qd), ("qdd", qdd))]
        with self._alone() as family:
            return family.bodies(self.t, *rates)

    def _state(self, name: str, given: Floats | None, default: Floats) -> Floats:
        numbers = default if given is None else np.asarray(given, dtype=float)
        if numbers.shape != default.shape:
            raise ModelError(
                f"{name} has the shape {numbers.shape}; {self.coordinates} coordinates of this model are "
                f"{default.size} numbers: {', '.join(self.names)}."
            )
        return numbers


def formulate(
    model: Model | System, coordinates: CoordinatesName = "reference_point", t: float = 0.0
) -> FormulatedModel:
    """Formulate a model in reference_point, natural, mixed or relative coordinates: M, QA, Phi, Phi_q, nu, gamma.

    p = se.formulate(model, "natural")
    p.names, p.q                # the coordinates and their values at t = 0
    p.at().M, p.at(t, q, qd).gamma
    """
    system = model if isinstance(model, System) else System(model)
    if system.missing_law is not None:
        raise UnsupportedError(system.missing_law)
    closed = assemble(system, t)
    family = Family.registry.named(coordinates)(system, closed.q)
    q, qd = family.positions(closed.q), family.velocities(closed.q, closed.qd)
    return FormulatedModel(family.name, list(family.names), family.row_names, t, q, qd, family, closed.q)
