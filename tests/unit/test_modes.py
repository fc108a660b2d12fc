"""Modes and Floquet multipliers against closed forms and other integrators."""

from __future__ import annotations

from math import pi, sqrt

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.special import ellipk

import simengine2d as se
from simengine2d import builders

G = 9.81


def train(damping=0.0, wall=True):
    """Two wagons of 2 kg and 1 kg on a rail, with springs of 50 N/m to the wall and 20 N/m between them."""
    model = se.Model("train")
    wagons = [
        model.body(name, mass=mass, inertia=1, at=(i + 1, 0))
        for i, (name, mass) in enumerate([("a", 2), ("b", 1)])
    ]
    for wagon in wagons:
        model.add(se.Translational(f"rail {wagon.name}", model.ground.at(0, 0), wagon))
    if wall:
        model.add(se.Spring("wall", "x(ground, a)", stiffness=50, damping=damping, free=1))
    model.add(se.Spring("coupling", "x(a, b)", stiffness=20, damping=2 * damping, free=1))
    return model


def test_two_wagons():
    K, M = np.array([[70.0, -20.0], [-20.0, 20.0]]), np.diag([2.0, 1.0])
    squares, vectors = np.linalg.eig(np.linalg.solve(M, K))
    order = np.argsort(squares)
    found = se.modes(train())
    np.testing.assert_allclose(found.omega, np.sqrt(squares[order]), rtol=1e-13)
    np.testing.assert_allclose(found.frequency, np.sqrt(squares[order]) / (2 * pi), rtol=1e-13)
    for i, column in enumerate(order):
        shape = found.shape(i)
        assert set(shape) == {"a.x", "b.x"}
        ratio = vectors[0, column] / vectors[1, column]
        assert shape["a.x"] / shape["b.x"] == pytest.approx(ratio)
        assert max(abs(value) for value in shape.values()) == pytest.approx(1.0)
    # modes do not feel each other through the masses
    cross = found.shapes[:, 0].conj() @ se.System(train()).M() @ found.shapes[:, 1]
    assert abs(cross) < 1e-14
    assert "2 modes" in str(found) and "damping ratio 0" in str(found)


def test_damping():
    """Damping in proportion to stiffness, C = K / 50 c: each mode has the ratio w c / 100."""
    c = 0.5
    model = train(c)
    model.elements["coupling"].damping = 20 / 50 * c
    plain, damped = se.modes(train()), se.modes(model)
    np.testing.assert_allclose(damped.omega, plain.omega, rtol=1e-12)
    np.testing.assert_allclose(damped.damping, plain.omega * c / 100, rtol=1e-11)
    assert np.all(damped.rates.imag > 0)


def test_creeping_modes_are_counted_one_by_one():
    """m s^2 + c s + k = 0 with a strong damper has two real rates."""
    model = se.Model("damper", gravity=(0, 0))
    block = model.body("block", mass=1, inertia=1, at=(1, 0))
    model.add(se.Translational("rail", model.ground, block))
    model.add(se.Spring("spring", "x(ground, block)", stiffness=10, damping=11, free=1))
    found = se.modes(model)
    np.testing.assert_allclose(found.rates, [-1, -10], atol=1e-12)
    np.testing.assert_allclose(found.damping, 1)


def test_a_train_without_a_wall_drifts():
    found = se.modes(train(wall=False))
    np.testing.assert_allclose(found.omega, [0, sqrt(20 * 1.5)], atol=1e-12)
    assert found.shape(0)["a.x"] == pytest.approx(found.shape(0)["b.x"])


def test_upright_it_grows():
    found = se.modes(builders.chain(1, angle="90*deg"))
    np.testing.assert_allclose(found.rates, [sqrt(1.5 * G)], rtol=1e-13)
    np.testing.assert_allclose(found.damping, [-1])


def test_a_closed_loop():
    """A parallelogram hangs on two cranks."""
    model = builders.four_bar(1, 2, 1, 2, crank_angle="-90*deg", branch="crossed")
    found = se.modes(model)
    # cranks of 1 kg swing, the coupler of 2 kg is carried: (2/3 + 2) phi'' = -(1 + 2) g phi
    assert found.omega[0] == pytest.approx(sqrt(3 * G / (2 / 3 + 2)), rel=1e-12)


def test_a_mode_as_a_motion():
    found = se.modes(builders.chain(2))
    motion = found.motion(1, amplitude=0.2)
    assert motion.verdict.word == "check" and "first order" in str(motion.verdict)
    assert motion.t[-1] == pytest.approx(1 / found.frequency[1])
    assert np.abs(motion.q - found.q).max() <= 0.2 * np.abs(found.shapes[:, 1]).max() + 1e-12
    np.testing.assert_allclose(motion.q[0], motion.q[-1], atol=1e-12)
    np.testing.assert_allclose(motion.qdd, -(found.omega[1] ** 2) * (motion.q - found.q), atol=1e-10)
    assert "mode 1: 1.14411 Hz" in motion.summary()
    with pytest.raises(se.ModelError, match="there is no mode 2"):
        found.motion(2)


def test_modes_need_rest():
    model = builders.chain(1)
    with pytest.raises(se.ModelError, match="pose at rest"):
        se.modes(model, at=se.dynamics(model, t_end=0.1))


# Floquet ----------------------------------------------------------------------------------------------


def shaken(amplitude, omega, sign):
    """A damped uniform rod, hanging (-1) or standing (1) on a support that is shaken up and down."""
    model = se.Model("shaken")
    support = model.body("support", mass=1, inertia=1, at=(0, amplitude))
    rod = model.body(
        "rod",
        mass=2,
        inertia=2 / 12,
        at=(0, amplitude + sign / 2),
        angle=sign * pi / 2,
        points={"O": (-0.5, 0)},
    )
    model.add(se.AbsoluteX("rail", support))
    model.add(se.AbsoluteAngle("guide", support))
    model.add(se.Driver("shaker", "y(ground, support)", f"{amplitude}*cos({omega}*t)"))
    model.add(se.Revolute("O", support, rod["O"]))
    model.add(se.Spring("damper", "angle(ground, rod)", damping=0.1))
    return model


@pytest.mark.slow
@pytest.mark.parametrize(
    ("amplitude", "omega", "sign", "verdict"),
    [
        (0.05, 60.0, 1, "unstable"),  # a w < sqrt(2 g 2/3 L): too slow to hold the rod up
        (0.05, 100.0, 1, "stable"),  # Kapitza: fast enough
        (0.1, 4.0, -1, "stable"),
        (0.3, 2 * sqrt(1.5 * G), -1, "unstable"),  # parametric resonance
    ],
)
def test_a_shaken_pendulum(amplitude, omega, sign, verdict):
    """Mathieu's equation, J p'' + c p' - s m l (g + a'') p = 0, by another integrator."""
    found = se.floquet(shaken(amplitude, omega, sign), 2 * pi / omega, steps=60)

    def mathieu(t, p):
        pull = sign * (G - amplitude * omega**2 * np.cos(omega * t))
        return [p[1], (pull * p[0] - 0.1 * p[1]) / (2 / 3)]

    period, options = (0, 2 * pi / omega), {"rtol": 1e-12, "atol": 1e-14, "method": "DOP853"}
    columns = [solve_ivp(mathieu, period, unit, **options).y[:, -1] for unit in np.eye(2)]
    exact = np.linalg.eigvals(np.column_stack(columns))
    np.testing.assert_allclose(np.sort_complex(found.multipliers), np.sort_complex(exact), atol=1e-8)
    # Liouville: the product of the multipliers is the decay of volume
    assert np.prod(found.multipliers).real == pytest.approx(np.exp(-0.1 / (2 / 3) * 2 * pi / omega), rel=1e-9)
    assert (found.verdict, found.stable) == (verdict, verdict == "stable")
    assert verdict in str(found)


@pytest.mark.slow
def test_at_rest_the_multipliers_are_those_of_the_modes():
    """exp(r T) for every rate r, through two closed loops' worth of constraints."""
    model = train(0.5)
    rates = se.modes(model).rates
    found = se.floquet(model, 0.3, steps=20)
    expected = np.exp(0.3 * np.concatenate([rates, rates.conj()]))
    np.testing.assert_allclose(np.sort_complex(found.multipliers), np.sort_complex(expected), atol=1e-10)
    np.testing.assert_allclose(
        np.sort(found.exponents.real), np.sort(np.concatenate([rates, rates]).real), atol=1e-9
    )


@pytest.mark.slow
def test_a_free_swing_has_two_multipliers_of_one():
    """A shift in time, and a change of amplitude that changes the period; a pair is found to the root of rounding."""
    period = 4 * sqrt(2 / 3 / G) * ellipk(0.5)
    found = se.floquet(builders.chain(1), period)
    np.testing.assert_allclose(found.multipliers, 1.0, atol=1e-5)
    assert found.verdict == "neutral"


@pytest.mark.slow
def test_a_turning_crank_repeats_but_for_its_turns():
    """A driven crank carries a damped pendulum; the crank's whole turn does not count."""
    model = se.Model("wheel", gravity=(0, 0))
    crank = model.bar("crank", (0, 0), (1, 0), mass=1)
    rod = model.bar("rod", (1, 0), (2, 0), mass=1, velocity=(0, 1.5 * 2 * pi), angular_velocity=2 * pi)
    model.add(se.Revolute("O", model.ground, crank["start"]))
    model.add(se.Revolute("A", crank["end"], rod["start"]))
    model.add(se.Driver("motor", "angle(ground, crank)", "2*pi*t"))
    model.add(se.Spring("damper", "angle(crank, rod)", damping=0.5))
    found = se.floquet(model, 1.0)
    # in the turning frame the rod hangs outwards: J p'' + c p' + m (L/2) L w^2 p = 0
    rates = np.roots([1 / 3, 0.5, 0.5 * (2 * pi) ** 2])
    np.testing.assert_allclose(np.sort_complex(found.multipliers), np.sort_complex(np.exp(rates)), atol=1e-9)
    assert found.stable


def test_what_is_wrong_is_told():
    with pytest.raises(se.ModelError, match=r"does not repeat after 0\.5 s: link1"):
        se.floquet(builders.chain(1), 0.5)
    with pytest.raises(se.ModelError, match="period = -1"):
        se.floquet(builders.chain(1), -1)
    with pytest.raises(se.ModelError, match="needs a Model"):
        se.floquet("chain", 1)
    with pytest.raises(se.UnsupportedError, match="every motion of 'four-bar' is prescribed"):
        se.floquet(builders.four_bar(1, 2, 3, 3, speed="2*pi"), 1.0, steps=1)
