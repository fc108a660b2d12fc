"""What the tests of coordinate families share: solved equations of motion, and a random motion of a mechanism."""

from __future__ import annotations

import numpy as np

from simengine2d.analyses.assembly.assemble import assemble
from simengine2d.coordinates.base import Family
from simengine2d.io import load
from simengine2d.model import library
from simengine2d.system.system import System


def shipped_model(name):
    with library.file(name) as path:
        return load(path)


def moving(model, seed=0):
    """A system, a closed pose, and velocities that the joints allow, with something random in every free motion."""
    system = System(model)
    start = assemble(system, 0.0)
    J = system.Phi_q(0.0, start.q) * system.sizes
    random = np.random.default_rng(seed).normal(size=system.n)
    free = random - np.linalg.pinv(J, rcond=1e-10) @ (J @ random)
    return system, start.q, start.qd + system.sizes * free


def solved(M, J, Q, gamma, sizes):
    """The accelerations of M x + J^T lam = Q, J x = gamma, also where rows of J are redundant."""
    M, J, Q = M * np.outer(sizes, sizes), J * sizes, Q * sizes
    rows = np.maximum(np.linalg.norm(J, axis=1), 1e-300)
    J, gamma = J / rows[:, None], gamma / rows
    M, Q = M / np.abs(M).max(), Q / np.abs(M).max()
    K = np.block([[M, J.T], [J, np.zeros((len(J), len(J)))]])
    return sizes * least_squares(K, np.concatenate([Q, gamma]), rcond=1e-13)[: len(Q)]


def least_squares(K, b, rcond):
    """The smallest x of K x = b. One refinement recovers the digits that unequal masses cost."""
    x = np.linalg.lstsq(K, b, rcond=rcond)[0]
    return x + np.linalg.lstsq(K, b - K @ x, rcond=rcond)[0]


def body_accelerations(system, q, qd, t=0.0):
    """qdd in reference-point coordinates."""
    return solved(system.M(), system.Phi_q(t, q), system.QA(t, q, qd), system.gamma(t, q, qd), system.sizes)


def check_against_bodies(name, system, q, qd, tolerance=1e-10):
    """Pose, velocities, accelerations and kinetic energy in a family are those of the bodies."""
    family = Family.registry.named(name)(system, q)
    z, zd = family.positions(q), family.velocities(q, qd)
    e = family.at(0.0, z, zd)
    T, T_bodies = zd @ e.M @ zd / 2, qd @ system.M() @ qd / 2
    size = 1.0 + np.abs(qd).max()
    assert np.abs(e.Phi).max(initial=0.0) <= 1e-9 * system.length**2
    assert np.abs(e.J @ zd - e.nu).max(initial=0.0) <= 1e-9 * size * max(1.0, system.length**2)
    assert abs(T - T_bodies) <= tolerance * T_bodies + 1e-20
    found = family.bodies(0.0, z, zd, solved(e.M, e.J, e.Q, e.gamma, family.sizes))
    wanted = body_accelerations(system, q, qd)
    np.testing.assert_allclose(found.q, q, atol=1e-9 * system.length)
    np.testing.assert_allclose(found.qd, qd, atol=1e-10 * size)
    np.testing.assert_allclose(found.qdd, wanted, atol=tolerance * (1.0 + np.abs(wanted).max()))
    return family
