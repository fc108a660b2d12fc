"""Audit: results put back into the equations at some of their times, independently of the methods that computed them.

    Phi = 0,      Phi_q qd = nu,      Phi_q qdd = gamma,      M qdd + Phi_q^T lam = QA

Each error is measured against the sizes it belongs to: a gap against the smaller body at the joint, a force against
those that act on the same body. So the errors of a light body beside a heavy one are seen, and those of a small
mechanism on a large machine.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..numerics.arrays import Floats, Ints

if TYPE_CHECKING:
    from .results import Results


SAMPLES = 24  # times at which results are put into the equations
NEGLIGIBLE = {"velocity": 1e-5, "acceleration": 1e-5}  # against the largest of its kind in the mechanism
UNFELT = 1e-9  # the same for gaps and forces: a light body is worth as much as a heavy one


class Worst(NamedTuple):
    """The largest relative error of one kind: how large, where, and when."""

    size: float
    where: str
    t: float


class Audit:
    """Errors of results at some times: gaps, rates and accelerations of the rows, forces on the bodies."""

    def __init__(self, results: Results) -> None:
        self.results, self.system = results, results.system
        results.motion  # noqa: B018  (refuses what does not fit)
        self.picked = samples(results)
        self.rows = np.repeat(np.arange(self.system.m), np.diff(self.system.arrays.jac_start))
        self.columns = self.system.arrays.jac_column
        self.scale = np.tile([1.0, 1.0, 1.0 / self.system.length], len(self.system.bodies))

    @cached_property
    def worst(self) -> dict[str, Worst]:
        """By level: position, velocity, acceleration, and force where the results have reactions."""
        if not self.picked.size:
            return {}
        errors, sizes = zip(*(self._at(k) for k in self.picked), strict=True)
        worst = {}
        for level in errors[0]:
            names = self.system.row_names if level != "force" else [body.name for body in self.system.bodies]
            wrong, whole = (np.array([each[level] for each in part]) for part in (errors, sizes))
            worst[level] = self._largest(wrong, whole, level, names)
        return worst

    def _usual(self, level: str) -> float:
        """A reference size for a uniform motion or a mechanism at rest: from its speed, its weight and its length."""
        r, system = self.results, self.system
        speed = float(np.abs(r.qd / system.sizes).max(initial=0.0)) * system.length
        fall = float(np.hypot(*system.resolved.gravity))
        acceleration = speed * speed / system.length + fall  # too large a speed is infinite, not an error
        floors = {
            "position": 0.0,
            "velocity": (acceleration * system.length) ** 0.5,
            "acceleration": acceleration,
        }
        return floors.get(level, acceleration * float(system.arrays.mass.max(initial=0.0)))

    def _largest(self, errors: Floats, sizes: Floats, level: str, names: list[str]) -> Worst:
        """The largest error against the largest size of the same row or body; nothing is smaller than negligible."""
        if not errors.size:
            return Worst(0.0, "", 0.0)
        share = NEGLIGIBLE.get(level, UNFELT)
        size = np.maximum(sizes.max(axis=0), share * (sizes.max() + self._usual(level)))
        with np.errstate(divide="ignore", invalid="ignore"):
            relative = np.where(errors > 0.0, errors / size, 0.0)
        relative = np.where(np.isfinite(errors), relative, np.inf)
        time, place = np.unravel_index(np.argmax(relative), relative.shape)
        t = float(self.results.t[self.picked[time]])
        return Worst(float(relative[time, place]), names[place], t)

    def _at(self, k: int) -> tuple[dict[str, Floats], dict[str, Floats]]:
        """Errors at output k, and the sizes of what they are made of."""
        r, system = self.results, self.system
        t, q, qd, qdd = float(r.t[k]), r.q[k], r.qd[k], r.qdd[k]
        f, _, Phi, data, gamma = system.evaluated(t, q, qd)
        nu = f[: system.m, 1]
        norms = np.sqrt(self._by_row((data * self.scale[self.columns]) ** 2))
        norms[norms == 0.0] = 1.0
        Phi = np.where(np.isin(np.arange(system.m), system.velocity_rows), 0.0, Phi)
        errors = {
            "position": np.abs(Phi) / norms,
            "velocity": np.abs(self._by_row(data * qd[self.columns]) - nu) / norms,
            "acceleration": np.abs(self._by_row(data * qdd[self.columns]) - gamma) / norms,
        }
        sizes = {
            "position": self._lengths,
            "velocity": (self._by_row(np.abs(data * qd[self.columns])) + np.abs(nu)) / norms,
            "acceleration": (self._by_row(np.abs(data * qdd[self.columns])) + np.abs(gamma)) / norms,
        }
        if r.lam is not None and system.missing_law is None:
            errors["force"], sizes["force"] = self._forces(t, q, qd, qdd, data, r.lam[k])
        return errors, sizes

    def _forces(
        self, t: float, q: Floats, qd: Floats, qdd: Floats, data: Floats, lam: Floats
    ) -> tuple[Floats, Floats]:
        """Newton-Euler residuals of each body, and what acts on it; torques as forces at a typical length."""
        system = self.system
        QA, inertia = system.QA(t, q, qd), system.masses * qdd
        joints = np.bincount(self.columns, data * lam[self.rows], minlength=system.n)
        acting = np.bincount(self.columns, np.abs(data * lam[self.rows]), minlength=system.n)
        rest = self.scale * np.abs(inertia + joints - QA)
        acting = self.scale * (np.abs(inertia) + acting + np.abs(QA))
        return rest.reshape(-1, 3).max(axis=1), acting.reshape(-1, 3).max(axis=1)

    def _by_row(self, entries: Floats) -> Floats:
        return np.bincount(self.rows, entries, minlength=self.system.m).astype(float)

    @cached_property
    def _lengths(self) -> Floats:
        """Of each row: the size of the smallest body it is attached to."""
        arms = self.system.own_arms
        arms = np.where(arms > 0.0, arms, self.system.length)
        lengths = np.full(self.system.m, np.inf)
        np.minimum.at(lengths, self.rows, arms[self.columns // 3])
        return np.where(np.isfinite(lengths), lengths, self.system.length)


def samples(results: Results) -> Ints:
    """Outputs to examine: evenly spread ones, and those with the largest velocities, accelerations and reactions."""
    count = results.t.size
    if count == 0 or results.system.n == 0:
        return np.zeros(0, dtype=np.int64)
    picked = np.linspace(0, count - 1, min(count, SAMPLES)).round().astype(np.int64)
    arrays = [results.qd, results.qdd] + ([results.lam] if results.lam is not None else [])
    peaks = [int(np.argmax(np.abs(array).max(axis=1))) for array in arrays if array.size]
    return np.unique(np.concatenate([picked, np.array(peaks, dtype=np.int64)]))
