"""The equations of motion of a model, as numbers, in the coordinates of your choice."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ..answer import Answer, Part, PlottedAnswer, Rows, digits
from ..coordinates.base import Family, Rates, family_of
from ..errors import ModelError, UnsupportedError, counted, listed
from ..methods import ChosenCoordinates
from ..model.frame import GROUND, as_frame
from ..model.model import Model
from ..numerics.arrays import Floats
from ..system.system import System
from .assembly.assemble import assemble
from .point_forces import points_share
from .velocity_transformation import independent_columns, matrix_of_motions, particular_motion


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

    names: tuple[str, ...] = ()
    """Names of the coordinates."""
    chosen: tuple[str, ...] | None = None
    """The independent coordinates that were asked for."""
    Phi_tt: Floats = np.zeros(0)
    """Second derivative of the constraints by time alone."""
    __repr__ = Answer.__repr__

    # the letters of Shabana and others

    @property
    def C(self) -> Floats:
        """Phi"""
        return self.Phi

    @property
    def C_q(self) -> Floats:
        """Phi_q"""
        return self.Phi_q

    @property
    def C_t(self) -> Floats:
        """Phi_t = -nu"""
        return -self.nu

    @property
    def C_tt(self) -> Floats:
        return self.Phi_tt

    # independent coordinates

    @property
    def independent(self) -> list[str]:
        """Those that were asked for, else the best conditioned."""
        return [self.names[j] for j in self._independent]

    @property
    def _independent(self) -> list[int]:
        return independent_columns(self.Phi_q, self.names, self.chosen)

    @property
    def R(self) -> Floats:
        """qd = R zd + ...: the motions in which one independent velocity is 1 and the others are 0."""
        return matrix_of_motions(self.Phi_q, self._independent, self.names)

    @property
    def M_bar(self) -> Floats:
        """R^T M R"""
        R = self.R
        return np.asarray(R.T @ self.M @ R)

    @property
    def Q_bar(self) -> Floats:
        """R^T (QA - M c), with qdd = R zdd + c"""
        c = particular_motion(self.Phi_q, self.gamma, self._independent, self.names)
        return np.asarray(self.R.T @ (self.QA - self.M @ c))

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
            family = family_of(self.coordinates, self.family.system, self.closed)
        try:
            yield family
        finally:
            self._idle.append(family)

    def __reduce__(self) -> Any:
        return formulate, (self.family.system, self.coordinates, self.t)

    def at(
        self,
        t: float | None = None,
        q: Floats | None = None,
        qd: Floats | None = None,
        independent: Sequence[str] | str | None = None,
    ) -> EquationValues:
        """The equations at a state, by default at the start; `independent` coordinates are those of R and M_bar."""
        state, t = (self._state("q", q, self.q), self._state("qd", qd, self.qd)), self.t if t is None else t
        with self._alone() as family:
            e = family.at(t, *state)
            values = EquationValues(*(array.copy() for array in (e.M, e.Q, e.Phi, e.J, e.nu, e.gamma)))
            values.names = tuple(self.names)
            values.Phi_tt = -family.at(t, state[0]).gamma.copy()
        if independent is not None:
            values.chosen = (independent,) if isinstance(independent, str) else tuple(independent)
            independent_columns(values.Phi_q, self.names, values.chosen)
        return values

    def C_P(self, point: str, q: Floats | None = None) -> Floats:
        """The matrix of a point such as "crank.A": its velocity is C_P qd, and a force F on it adds C_P^T F to QA.

        In natural coordinates it is constant, and its columns are zero but for the points of the body.
        """
        place = self.family.system.resolved.frame(as_frame(point))
        if place.body == GROUND:
            return np.zeros((2, len(self.names)))
        with self._alone() as family:
            return family.point_matrix(self._state("q", q, self.q), place.body, complex(place.x, place.y))

    def force_vector(
        self, force: str, t: float | None = None, q: Floats | None = None, qd: Floats | None = None
    ) -> Floats:
        """What a force adds to QA where each point takes its own share: the sum of C_P^T F over its points.

        In natural coordinates it is zero but for the points on which the force acts. It differs from what is in QA by
        forces inside rigid bodies only, so motions and reactions are the same.
        """
        state = self._state("q", q, self.q), self._state("qd", qd, self.qd)
        with self._alone() as family:
            return points_share(family, force, self.t if t is None else t, *state)

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
    model: Model | System,
    coordinates: ChosenCoordinates = "reference_point",
    t: float = 0.0,
) -> FormulatedModel:
    """Formulate a model in reference_point, natural, mixed or relative coordinates: M, QA, Phi, Phi_q, nu, gamma.

    "mixed(angles=crank)" adds the angle of a body, "natural(points=rod.P)" a point, "natural(vectors=rod)" a unit
    vector; "relative(cut=B)" leaves a joint out of the tree.

    p = se.formulate(model, "natural")
    p.names, p.q                # the coordinates and their values at t = 0
    p.at().M, p.at(t, q, qd).gamma
    """
    system = model if isinstance(model, System) else System(model)
    if system.missing_law is not None:
        raise UnsupportedError(system.missing_law)
    closed = assemble(system, t)
    family = family_of(coordinates, system, closed.q)
    q, qd = family.positions(closed.q), family.velocities(closed.q, closed.qd)
    return FormulatedModel(family.spelling, list(family.names), family.row_names, t, q, qd, family, closed.q)
