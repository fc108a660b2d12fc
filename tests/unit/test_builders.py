"""Builders: drawn closed, with parameters, and clear about lengths that cannot close."""

from __future__ import annotations

import numpy as np
import pytest

import simengine2d as se
from simengine2d import builders

BUILT = {
    "four_bar": lambda **o: builders.four_bar(1, 2, 13**0.5, 4, crank_angle=0, **o),
    "four_bar crossed": lambda **o: builders.four_bar(1, 2, 2.5, 3, branch="crossed", **o),
    "slider_crank": lambda **o: builders.slider_crank(1, 2, 0.3, **o),
    "slider_crank crossed": lambda **o: builders.slider_crank(1, 3, branch="crossed", **o),
    "quick_return": lambda **o: builders.quick_return(0.3, 0.6, 1.2, 0.5, **o),
    "quick_return block": lambda **o: builders.quick_return(0.3, 0.6, 1.2, 0.5, block=True, **o),
    "whitworth": lambda **o: builders.quick_return(0.6, 0.3, 1.0, 3.0, **o),
    "chain": lambda **o: builders.chain(1, 2.0, **o),
    "four_bar_ladder": lambda **o: builders.four_bar_ladder(3, **o),
}
# a driven ladder stands still when its posts lie down: a change point of every window at once
TURN = {"four_bar_ladder": 0.4}


@pytest.mark.parametrize("name", BUILT)
def test_drawn_closed(name):
    assembly = se.assemble(BUILT[name]())
    assert max(shift + abs(turn) for shift, turn in assembly.moved.values()) < 1e-14
    assert se.diagnose(assembly).mobility == 1


@pytest.mark.parametrize("name", BUILT)
def test_speed_turns_the_crank_from_its_drawn_angle(name):
    model = BUILT[name](speed=2)
    end = TURN.get(name, np.pi)
    results = se.kinematics(model, t_end=end, step=end / 40)
    first = results.bodies[0]
    assert results[f"{first}.phi"][-1] - results[f"{first}.phi"][0] == pytest.approx(2 * end, abs=1e-12)
    assert not results.notes


def test_a_driver_is_any_function_of_time():
    model = builders.slider_crank(1, 3, crank_angle="30*deg", driver="30*deg + sin(t)")
    phi = se.kinematics(model, t_end=2)["crank.phi"]
    np.testing.assert_allclose(phi, np.pi / 6 + np.sin(np.linspace(0, 2, 101)), atol=1e-14)


def test_other_parameters_are_drawn_closed_too():
    model = builders.four_bar(1, 2, 13**0.5, 4, speed=1).with_parameters(
        crank=1.1, rocker=3.3, crank_angle="1.2"
    )
    assert max(shift for shift, _ in se.assemble(model).moved.values()) < 1e-14


def test_masses_by_density_and_by_number():
    assert builders.four_bar(1, 2, 2.5, 3, density=2).check().bodies["coupler"].mass == 4.0
    assert builders.four_bar(1, 2, 2.5, 3, masses=(7, 8, 9)).check().bodies["rocker"].mass == 9.0


def test_branches_mirror_each_other_at_a_straight_crank():
    bodies = [
        builders.four_bar(1, 2, 2.5, 3, crank_angle=0, branch=b).check().bodies for b in ("open", "crossed")
    ]
    assert bodies[0]["coupler"].pose[1] == pytest.approx(-bodies[1]["coupler"].pose[1])
    assert bodies[0]["coupler"].pose[1] > 0.0


def test_slot_with_and_without_a_block_move_the_ram_alike():
    runs = [
        se.kinematics(BUILT[name](speed="2*pi"), t_end=1) for name in ("quick_return", "quick_return block")
    ]
    for channel in ("ram.x", "ram.xd", "ram.xdd", "arm.phi"):
        np.testing.assert_allclose(runs[0][channel], runs[1][channel], atol=1e-11)


def test_ladder_is_the_benchmark():
    model = builders.four_bar_ladder(5)
    assert len(model.bodies) == 11
    assembly = se.assemble(model)
    assert not assembly.notes  # the given velocities agree with the joints
    assert assembly.qd[2] == pytest.approx(-1.0)
    resolved = model.check()
    energy = sum(
        b.mass * (b.velocity[0] ** 2 + 2 * 9.81 * b.pose[1]) / 2 + b.inertia * b.angular_velocity**2 / 2
        for b in resolved.bodies.values()
        if b.mass
    )
    # 6 posts: 1/2 * 1/3 * 1; 5 beams: 1/2; weights at 0.5 and 1
    assert energy == pytest.approx(6 * (1 / 6 + 9.81 / 2) + 5 * (0.5 + 9.81))


def test_chain_has_n_freedoms():
    diagnosis = se.diagnose(builders.chain(4, 0.5, 2.0, angle="-pi/2"))
    assert (diagnosis.mobility, diagnosis.redundant) == (4, 0)


@pytest.mark.parametrize(
    ("build", "parts"),
    [
        (
            lambda: builders.four_bar(1, 1, 1, 4, crank_angle=0),
            ["four_bar does not close", "1 m are missing"],
        ),
        (lambda: builders.four_bar(1, 1, 5, 2, crank_angle=0), ["differ by 4 m", "3 m are missing"]),
        (lambda: builders.four_bar(2, 1, 1, 2, crank_angle=0), ["point anywhere"]),
        (lambda: builders.four_bar(-1, 0, 1, 2), ["crank = -1", "coupler = 0"]),
        (lambda: builders.four_bar(1, 2, 2.5, 3, branch="up"), ["branch = 'up'", "open, crossed"]),
        (lambda: builders.four_bar(1, 2, 2.5, 3, masses=(1, 2)), ["3 numbers", "crank, coupler, rocker"]),
        (lambda: builders.four_bar(1, 2, 2.5, 3, speed=1, driver="t"), ["both speed = 1 and a driver"]),
        (
            lambda: builders.slider_crank(3, 1, crank_angle="90*deg"),
            ["the rod reaches 1 m", "2 m are missing"],
        ),
        (lambda: builders.quick_return(1, 2, 1, 1, stroke_height=5, crank_angle="pi/2"), ["3 m are missing"]),
        (lambda: builders.quick_return(1, 1, 1, 1, crank_angle="-pi/2"), ["quick_return"]),
        (lambda: builders.chain(0), ["n = 0"]),
        (lambda: builders.chain(2.0), ["n = 2.0"]),
        (lambda: builders.chain(2, length="nix"), ["unknown name 'nix'"]),
        (lambda: builders.four_bar_ladder(True), ["windows = True"]),
    ],
)
def test_what_cannot_be_built_is_said_in_words(build, parts):
    with pytest.raises(se.ModelError) as caught:
        build()
    assert all(part in str(caught.value) for part in parts), str(caught.value)
