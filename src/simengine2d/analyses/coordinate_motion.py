"""A motion in the coordinates of your choice: z, zd, zdd, the multipliers of the rows that remain, and the equations.

    [ R   ]       [ qdd - Rd zd ]
    [ J   ] zdd = [ gamma       ],      J^T lam = Q - M zdd      with  q = f(z),  qd = R zd,  J = Phi_z

R zdd = qdd - Rd zd is what the bodies do; the rows of J say how redundant coordinates follow.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from ..answer import Answer, Part, Rows, digits
from ..coordinates.base import Family
from ..errors import ModelError, SingularityError, UnsupportedError, counted, listed, needed, unknown
from ..methods import CoordinatesName
from ..numerics.arrays import Floats
from ..system.system import System
from .formulate import EquationValues

if TYPE_CHECKING:
    import pandas

    from ..results.results import Results

SMALLEST = 1e-10  # singular value that counts, against the largest
MOST_ITERATIONS = 30
CLOSED = 1e-13  # change of a coordinate, against its size, at which Newton's method ends


@dataclass(frozen=True, repr=False)
class CoordinateMotion(Answer):
    """z, zd and zdd with one row per time; `c["rod.phi"]`, `c["rod.phid"]`, `c["lam.loop.x"]` by name."""

    coordinates: str
    names: list[str]
    """Names of the coordinates z."""
    row_names: list[str]
    """Names of the constraints that remain, and of those that the family adds."""
    t: Floats
    z: Floats
    zd: Floats
    zdd: Floats
    lam: Floats
    """Multipliers of the rows, the smallest where rows are redundant; they hold the motion in these coordinates."""
    family: Family = field(repr=False)

    def __str__(self) -> str:
        title = f"{self.family.system.model.name} in {self.coordinates} coordinates at {counted(self.t.size, 'time')}"
        rows = f"{counted(len(self.row_names), 'constraint')}: {listed(self.row_names)}"
        return "\n".join([title, f"{counted(len(self.names), 'coordinate')}: {listed(self.names)}", rows])

    def _parts(self) -> Iterator[Part]:
        title, _, rows = str(self).splitlines()
        yield from (title, rows)
        spans = [(z[0], z[-1], z.min(), z.max()) for z in self.z.T] if self.t.size else []
        rows_of = [[name, *map(digits, span)] for name, span in zip(self.names, spans, strict=True)]
        yield Rows(["coordinate", "first", "last", "lowest", "highest"], rows_of)

    @property
    def channels(self) -> list[str]:
        names = [name + order for order in ("", "d", "dd") for name in self.names]
        return [*names, *(f"lam.{row}" for row in self.row_names)]

    def __getitem__(self, channel: str) -> Floats:
        if channel not in self.channels:
            hint = unknown("channel", str(channel), self.channels)
            raise ModelError(f"there is no channel {channel!r} in {self.coordinates} coordinates. {hint}")
        columns: Floats = np.hstack([self.z, self.zd, self.zdd, self.lam])[:, self.channels.index(channel)]
        return columns

    def to_frame(self) -> pandas.DataFrame:
        """A pandas DataFrame indexed by time, one column per channel."""
        pandas = needed("pandas", "a DataFrame needs", "tables", ", or use the arrays z, zd, zdd and lam")
        table = np.hstack([self.z, self.zd, self.zdd, self.lam])
        return pandas.DataFrame(table, index=pandas.Index(self.t, name="t"), columns=self.channels)

    def at(self, row: int) -> EquationValues:
        """M, QA, Phi, Phi_q, nu and gamma in these coordinates at one of the times."""
        e = self.family.at(float(self.t[row]), self.z[row], self.zd[row])
        return EquationValues(*(array.copy() for array in (e.M, e.Q, e.Phi, e.J, e.nu, e.gamma)))


def in_coordinates(results: Results, coordinates: CoordinatesName) -> CoordinateMotion:
    """The motion of results in reference_point, natural, mixed or relative coordinates."""
    system = results.system
    if results.columns_only or not results.t.size:
        raise UnsupportedError("there is no model or no time in these results, so no coordinates of it.")
    if system.missing_law is not None:
        raise UnsupportedError(system.missing_law)
    family = Family.registry.named(coordinates)(system, results.q[0])
    rows = [_row(family, *state) for state in zip(results.t, results.q, results.qd, results.qdd, strict=True)]
    z, zd, zdd, lam = (np.array(level) for level in zip(*rows, strict=True))
    return CoordinateMotion(
        family.name, list(family.names), family.row_names, results.t, z, zd, zdd, lam, family
    )


def _row(family: Family, t: float, q: Floats, qd: Floats, qdd: Floats) -> tuple[Floats, ...]:
    z, zd = family.positions(q), family.velocities(q, qd)
    still = np.zeros(family.n)
    R = np.column_stack([family.bodies(t, z, unit, still).qd for unit in np.eye(family.n)])
    e = family.at(t, z, zd)
    given = np.concatenate([qdd - family.bodies(t, z, zd, still).qdd, e.gamma])
    zdd = np.linalg.lstsq(np.vstack([R, e.J]), given, rcond=SMALLEST)[0]
    lam = np.linalg.lstsq(e.J.T, e.Q - e.M @ zdd, rcond=SMALLEST)[0]
    return z, zd, zdd, lam


# Kinematics in these coordinates ----------------------------------------------------------------------


def moved_in(
    system: System, coordinates: CoordinatesName, times: Floats, start: tuple[float, Floats, Floats]
) -> tuple[Floats, Floats, Floats]:
    """q, qd and qdd of a driven mechanism, solved for z at each time:

    Phi_z dz = -Phi,      Phi_z zd = nu,      Phi_z zdd = gamma
    """
    before, q0, qd0 = start
    family = Family.registry.named(coordinates)(system, q0)
    z, zd, rows = family.positions(q0), family.velocities(q0, qd0), []
    for t in times:
        z = _closed(family, float(t), z + (t - before) * zd)
        e = family.at(float(t), z)
        zd = _solved(family, float(t), e.J, e.nu)
        e = family.at(float(t), z, zd)
        zdd = _solved(family, float(t), e.J, e.gamma)
        rows.append(family.bodies(float(t), z, zd, zdd))
        before = t
    q, qd, qdd = (np.array(level) for level in zip(*rows, strict=True))
    return q, qd, qdd


def _closed(family: Family, t: float, z: Floats) -> Floats:
    """Phi(z, t) = 0 by Newton's method."""
    for _ in range(MOST_ITERATIONS):
        e = family.at(t, z)
        change = _solved(family, t, e.J, -e.Phi)
        z = z + change
        if np.abs(change / family.sizes).max(initial=0.0) <= CLOSED:
            return z
    raise SingularityError(
        f"at t = {t:g} s the mechanism does not close in {family.name} coordinates: it is at a dead point, or its "
        "drivers lead it beyond what it can reach. Use shorter steps, or kinematics without coordinates."
    )


def _solved(family: Family, t: float, J: Floats, right: Floats) -> Floats:
    """J x = right in equal scales; J must determine every coordinate."""
    x, _, rank, _ = np.linalg.lstsq(J * family.sizes, right, rcond=SMALLEST)
    if rank < family.n:
        raise SingularityError(
            f"at t = {t:g} s the motion is not unique in {family.name} coordinates: their Phi_z has the rank {rank}, "
            f"for {counted(family.n, 'coordinate')}. It is a change point, or a coordinate is not driven."
        )
    answer: Floats = x * family.sizes
    return answer
