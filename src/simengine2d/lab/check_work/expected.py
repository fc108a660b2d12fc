"""What is right: every array of the equations at a state, with the names and the owners of its rows and columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ...analyses.formulate import EquationTerms, FormulatedModel, formulate
from ...methods import ChosenCoordinates
from ...model.model import Model
from ...numerics.arrays import Floats
from ...results.results import Results
from ...system.system import System

SMALLEST = 1e-11  # of singular values that are not zero


class Labels(NamedTuple):
    """The rows or the columns of an array: their names, and the joint or body to which each belongs."""

    names: list[str]
    owners: list[str]
    kind: str
    """joint, body, or "" for the single column of a vector."""

    @property
    def groups(self) -> dict[str, list[int]]:
        """The places of each owner."""
        places: dict[str, list[int]] = {}
        for i, owner in enumerate(self.owners):
            places.setdefault(owner, []).append(i)
        return places

    def taken(self, order: Sequence[int]) -> Labels:
        return Labels([self.names[i] for i in order], [self.owners[i] for i in order], self.kind)


VECTOR = Labels([""], [""], "")


def labels(names: Sequence[str], kind: str) -> Labels:
    """`crank.phi` belongs to crank."""
    return Labels(list(names), [name.rpartition(".")[0] for name in names], kind)


class ExpectedArray(NamedTuple):
    """An array as it should be; a vector is a matrix of one column."""

    name: str
    value: Floats
    rows: Labels
    columns: Labels = VECTOR
    floor: float = 0.0
    """What counts as zero where all entries are."""

    @property
    def shape(self) -> tuple[int, ...]:
        """As a user has it."""
        return self.value.shape if self.columns.kind else self.value.shape[:1]

    def place(self, i: int, j: int) -> str:
        """Phi_q[A.x, crank.phi], QA[crank.phi]"""
        inside = f"{self.rows.names[i]}, {self.columns.names[j]}" if self.columns.kind else self.rows.names[i]
        return f"{self.name}[{inside}]"

    def owner(self, kind: str, i: int, j: int) -> str:
        """The joint or the body of an entry."""
        for labels_, place in ((self.columns, j), (self.rows, i)):
            if labels_.kind == kind:
                return labels_.owners[place]
        return ""


class MotionTerms(EquationTerms):
    """The equations, with their solution."""

    def solution(self) -> tuple[Floats, Floats]:
        """qdd and lam; of dependent constraints the smallest multipliers."""
        n, m = self.QA.size, self.gamma.size
        A = np.block([[self.M, self.Phi_q.T], [self.Phi_q, np.zeros((m, m))]])
        # rows and columns of one size
        size = np.sqrt(np.abs(A).max(axis=1, initial=0.0))
        scale = 1.0 / np.where(size > 0.0, size, 1.0)
        right = np.concatenate([self.QA, self.gamma]) * scale
        x = np.linalg.lstsq(A * scale[:, None] * scale, right, rcond=SMALLEST)[0] * scale
        return x[:n], x[n:]


class Situation:
    """A model in some coordinates at a state: the source of what is right, and of what would be wrong."""

    def __init__(
        self,
        model: Model | System,
        coordinates: ChosenCoordinates,
        at: float,
        q: Any = None,
        qd: Any = None,
    ) -> None:
        self.system = model if isinstance(model, System) else System(model)
        self.t = at
        self.formulated: FormulatedModel = formulate(self.system, coordinates, at)
        f = self.formulated
        self.coordinates = f.coordinates
        self.q = f.q if q is None else f._state("q", q, f.q)
        self.qd = f.qd if qd is None else f._state("qd", qd, f.qd)
        self.rows, self.columns = self._row_labels(), labels(f.names, "body")
        self.terms = self.at()

    def _row_labels(self) -> Labels:
        """A row of the family's own, such as crank.length, belongs to a body."""
        return labels(self.formulated.row_names, "joint")

    def at(self, q: Floats | None = None, qd: Floats | None = None) -> MotionTerms:
        """The terms at this state, or at another one."""
        e = self.formulated.at(self.t, self.q if q is None else q, self.qd if qd is None else qd)
        return MotionTerms(*e)

    @property
    def angles(self) -> list[int]:
        """Coordinates that are angles."""
        names = self.columns.names
        return [i for i, name in enumerate(names) if name.rpartition(".")[2] in ("phi", "angle")]

    @property
    def own_rows(self) -> int:
        """How many rows the family adds; they come first."""
        return len(self.formulated.family.own_rows)

    def array(self, name: str, terms: MotionTerms | None = None) -> ExpectedArray:
        """One of M, QA, Phi, Phi_q, nu, gamma, qdd, lam."""
        terms = self.terms if terms is None else terms
        if name in ("qdd", "lam"):
            value = terms.solution()[("qdd", "lam").index(name)]
        else:
            value = getattr(terms, name)
        by_rows, by_columns = self.rows, self.columns
        along = {"M": (by_columns, by_columns), "Phi_q": (by_rows, by_columns)}
        rows, columns = along.get(name, (by_columns if name in ("QA", "qdd") else by_rows, VECTOR))
        floor = 1e-6 * self.system.length if name in ("Phi", "nu", "gamma") else 1e-9
        return ExpectedArray(name, value.reshape(len(rows.names), len(columns.names)), rows, columns, floor)

    def R(self) -> Floats:
        """qd of the bodies = R zd + what driven frames add."""
        family, n = self.formulated.family, self.q.size
        none = np.zeros(n)
        rest = family.bodies(self.t, self.q, none, none).qd
        rates = [family.bodies(self.t, self.q, unit, none).qd - rest for unit in np.eye(n)]
        return np.array(rates).reshape(n, -1).T

    def bodies(self) -> Results:
        """The bodies at this state with their multipliers, as results of one time."""
        family = self.formulated.family
        qdd = self.terms.solution()[0]
        q, qd, qdd = (np.array(part) for part in family.bodies(self.t, self.q, self.qd, qdd))
        own = self.system
        terms = MotionTerms(
            own.M(), own.QA(self.t, q, qd), own.Phi(self.t, q), own.Phi_q(self.t, q),
            own.nu(self.t, q), own.gamma(self.t, q, qd),
        )  # fmt: skip
        qdd, lam = terms.solution()
        return Results(own, np.array([self.t]), q[None], qd[None], qdd[None], lam[None], analysis="dynamics")
