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
from ..coordinates.base import Family, Rates, family_of
from ..errors import ModelError, SingularityError, UnsupportedError, counted, listed, needed, unknown
from ..methods import ChosenCoordinates
from ..numerics.arrays import Floats
from .formulate import EquationValues

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes

    from ..results.results import Results

SMALLEST = 1e-10  # singular value that counts, against the largest
DEPENDENT = 1e-7  # the same, below which velocities are not taken from Phi_z
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

    def plot(self, *channels: str, ax: Axes | None = None) -> Axes:
        """Channels over time, by default the coordinates."""
        from ..draw.answer_plots import plot_channels

        return plot_channels(self, channels or self.names, ax)

    _has_picture = True

    def _draw_on(self, ax: Axes) -> None:
        self.plot(ax=ax)

    def table(self, *channels: str) -> str:
        """Channels over time as text; without any, the coordinates and their rates."""
        names = channels or tuple(self.channels[: 2 * len(self.names)])
        columns = [self.t, *(self[name] for name in names)]
        rows = [[digits(value) for value in row] for row in zip(*columns, strict=True)]
        return "\n".join(Rows(["t", *names], rows, 0).lines())

    def to_frame(self) -> pandas.DataFrame:
        """A pandas DataFrame indexed by time, one column per channel."""
        pandas = needed("pandas", "a DataFrame needs", "tables", ", or use the arrays z, zd, zdd and lam")
        table = np.hstack([self.z, self.zd, self.zdd, self.lam])
        return pandas.DataFrame(table, index=pandas.Index(self.t, name="t"), columns=self.channels)

    def at(self, row: int) -> EquationValues:
        """M, QA, Phi, Phi_q, nu and gamma in these coordinates at one of the times."""
        e = self.family.at(float(self.t[row]), self.z[row], self.zd[row])
        return EquationValues(*(array.copy() for array in (e.M, e.Q, e.Phi, e.J, e.nu, e.gamma)))


def in_coordinates(results: Results, coordinates: ChosenCoordinates) -> CoordinateMotion:
    """The motion of results in reference_point, natural, mixed or relative coordinates."""
    system = results.system
    if results.columns_only or not results.t.size:
        raise UnsupportedError("there is no model or no time in these results, so no coordinates of it.")
    if system.missing_law is not None:
        raise UnsupportedError(system.missing_law)
    family = family_of(coordinates, system, results.q[0])
    rows = [_row(family, *state) for state in zip(results.t, results.q, results.qd, results.qdd, strict=True)]
    z, zd, zdd, lam = (np.array(level) for level in zip(*rows, strict=True))
    return CoordinateMotion(
        family.spelling, list(family.names), family.row_names, results.t, z, zd, zdd, lam, family
    )


def _row(family: Family, t: float, q: Floats, qd: Floats, qdd: Floats) -> tuple[Floats, ...]:
    z, zd = family.positions(q), family.velocities(q, qd)
    R, still = family.motion_matrix(t, z), np.zeros(family.n)
    e = family.at(t, z, zd)
    given = np.concatenate([qdd - family.bodies(t, z, zd, still).qdd, e.gamma])
    zdd = np.linalg.lstsq(np.vstack([R, e.J]), given, rcond=SMALLEST)[0]
    lam = np.linalg.lstsq(e.J.T, e.Q - e.M @ zdd, rcond=SMALLEST)[0]
    return z, zd, zdd, lam


# Kinematics in these coordinates ----------------------------------------------------------------------


def moved_in(coordinates: ChosenCoordinates, motion: Results) -> tuple[Floats, Floats, Floats]:
    """q, qd and qdd of a driven mechanism, solved for z at each time:

    Phi_z dz = -Phi,      Phi_z zd = nu,      Phi_z zdd = gamma

    Newton's method starts where the `motion` of the bodies says, so it follows their branch through change points; in
    one, where Phi_z lacks rank, velocities and accelerations are those of that motion.
    """
    family, rows = family_of(coordinates, motion.system, motion.q[0]), []
    for t, q, qd, qdd in zip(motion.t, motion.q, motion.qd, motion.qdd, strict=True):
        z = _closed(family, float(t), q)
        e = family.at(float(t), z)
        zd = _solved(family, e.J, e.nu)
        e = family.at(float(t), z, zd)
        zdd = None if zd is None else _solved(family, e.J, e.gamma)
        there = Rates(q, qd, qdd) if zd is None or zdd is None else family.bodies(float(t), z, zd, zdd)
        rows.append(there._replace(q=with_turns_of(q, there.q)))
    q, qd, qdd = (np.array(level) for level in zip(*rows, strict=True))
    return q, qd, qdd


def with_turns_of(q: Floats, there: Floats) -> Floats:
    """The pose `there` with the whole turns of q, which natural coordinates do not know."""
    turns = np.zeros_like(q)
    turns[2::3] = 2.0 * np.pi * np.round((q - there)[2::3] / (2.0 * np.pi))
    return there + turns


def closed_in(family: Family, t: float, z: Floats) -> Floats | None:
    """Phi(z, t) = 0 by Newton's method, with the smallest corrections; None if it does not get there."""
    for _ in range(MOST_ITERATIONS):
        e = family.at(t, z)
        if not (np.all(np.isfinite(e.J)) and np.all(np.isfinite(e.Phi))):
            return None
        change = np.linalg.lstsq(e.J * family.sizes, -e.Phi, rcond=SMALLEST)[0]
        z = z + change * family.sizes
        if np.abs(change).max(initial=0.0) <= CLOSED:
            return z
    return None


def _closed(family: Family, t: float, q: Floats) -> Floats:
    """z of bodies at q, closed."""
    z = closed_in(family, t, family.positions(q))
    if z is not None:
        return z
    raise SingularityError(
        f"at t = {t:g} s the mechanism does not close in {family.spelling} coordinates: Newton's method has not ended "
        f"after {MOST_ITERATIONS} iterations. Use other coordinates, or kinematics without them."
    )


def _solved(family: Family, J: Floats, right: Floats) -> Floats | None:
    """J x = right in equal scales; None where J does not determine every coordinate."""
    x, _, rank, _ = np.linalg.lstsq(J * family.sizes, right, rcond=DEPENDENT)
    return x * family.sizes if rank == family.n else None
