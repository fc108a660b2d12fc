"""Runs on the lane of differential-algebraic equations, and the pendulum they are measured by."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ellipj

import simengine2d as se
from simengine2d import builders
from simengine2d.analyses.dynamics.initial_state import start
from simengine2d.coordinates.base import Family
from simengine2d.integrators.dae_integration import DaeIntegration, dae_integration

Floats = NDArray[np.float64]


class Motion(NamedTuple):
    """One row per output; in the coordinates of the family."""

    z: Floats
    zd: Floats
    zdd: Floats
    lam: Floats
    why: int
    done: int
    integration: DaeIntegration
    family: Family


def new_family(model: se.Model, name: str = "reference_point") -> tuple[Family, Floats, Floats]:
    """The coordinates of a model, and its state at t = 0."""
    system = se.System(model)
    assembly = start(system, 0.0).assembly
    family = Family.registry.named(name)(system, assembly.q)
    return family, family.positions(assembly.q), family.velocities(assembly.q, assembly.qd)


def new_rows(integration: DaeIntegration, count: int) -> Floats:
    return np.zeros((count, integration.path.y.size + integration.path.notes.size))


def motion(model: se.Model, formulation: Any, method: Any, times: Any, **options: Any) -> Motion:
    """`options` are those of `dae_marcher`, and the name of the `coordinates`."""
    family, z, zd = new_family(model, options.pop("coordinates", "reference_point"))
    integration = dae_integration(formulation, method, family, 0.0, z, zd, **options)
    times = np.asarray(times, dtype=float)
    Y = new_rows(integration, times.size)
    done, why = integration.integrate(times, 0, Y, 1_000_000)
    zdd, lam = integration.accelerations(times[:done], Y[:done])
    n = family.n
    return Motion(Y[:done, :n], Y[:done, n : 2 * n], zdd, lam, why, done, integration, family)


def violations(run: Motion, times: Any) -> tuple[float, float]:
    """Largest errors of positions and velocities in the constraints at the outputs."""
    position, velocity = 0.0, 0.0
    for t, z, zd in zip(times, run.z, run.zd, strict=True):
        e = run.family.at(t, z, zd)
        position = max(position, np.abs(e.Phi).max(initial=0.0))
        velocity = max(velocity, np.abs(e.J @ zd - e.nu).max(initial=0.0))
    return position, velocity


def pendulum() -> se.Model:
    """A bar of 1 m and 1 kg that is let go 0.3 rad above the horizontal."""
    return builders.chain(1, angle=0.3)


def exact_pendulum(t: float) -> tuple[Floats, Floats, Floats, Floats]:
    """q, qd, qdd and lam in elliptic functions.

    With theta from the vertical, theta'' = -w^2 sin theta, w^2 = 3 g / 2 L, and k = sin(theta_0 / 2):
    sin(theta / 2) = k cd(w t), theta' = -2 k k' w sd(w t). The pin carries m a - m g.
    """
    g, half = 9.81, 0.5
    w, k = np.sqrt(1.5 * g), np.sin((np.pi / 2 + 0.3) / 2)
    sn, cn, dn, _ = ellipj(w * t, k * k)
    theta = 2.0 * np.arcsin(k * cn / dn)
    rate = -2.0 * k * np.sqrt(1.0 - k * k) * w * sn / dn
    bend = -w * w * np.sin(theta)
    phi = theta - np.pi / 2
    u, v = np.array([np.cos(phi), np.sin(phi)]), np.array([-np.sin(phi), np.cos(phi)])
    q, qd = np.append(half * u, phi), np.append(half * rate * v, rate)
    qdd = np.append(half * (bend * v - rate**2 * u), bend)
    pull = np.array([0.0, -g]) - qdd[:2]  # Phi_q^T lam = QA - M qdd, and Phi_q = d(center) up to a sign
    return q, qd, qdd, pull
