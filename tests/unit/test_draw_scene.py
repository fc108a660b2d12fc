"""Scenes: every body is drawn and reaches its joints, gears mesh all the time, symbols are where they belong."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from test_draw_outlines import contains

import simengine2d as se
from simengine2d.draw.gears import wheel_key, wheels
from simengine2d.draw.marks import Layer, Outline, Spot, Stretched
from simengine2d.draw.scene import pose_of_model, scene_of, scene_of_model
from simengine2d.draw.symbols import symbol
from simengine2d.model import library
from simengine2d.model.elements import FrameField, Joint, Row
from simengine2d.model.measure import x, y


def model_named(name: str) -> se.Model:
    with library.file(name) as path:
        return se.load(path)


def moved(name: str, t_end: float = 0.5) -> se.Results:
    return se.kinematics(model_named(name), t_end=t_end, step=t_end / 10)


def marks_of(scene, name, kind=Outline) -> list:
    return [mark for mark in scene.marks if mark.name == name and isinstance(mark, kind)]


# Bodies -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", library.names())
def test_every_body_and_joint_of_every_shipped_mechanism_is_drawn(name):
    scene = scene_of_model(model_named(name))
    drawn = {mark.name for mark in scene.marks} | {arrow.name for arrow in scene.arrows}
    carriers = {mark.carrier for mark in scene.marks if isinstance(mark, Outline)}
    model = model_named(name)
    assert carriers >= set(model.bodies)
    # a formula may hold what is at no place
    anywhere = se.Constraint
    assert drawn >= {name for name, element in model.elements.items() if not isinstance(element, anywhere)}
    for mark in scene.marks:
        assert mark.paths and all(np.all(np.isfinite(path)) for path in mark.paths)
    x0, y0, x1, y1 = scene.bounds
    assert np.isfinite([x0, y0, x1, y1]).all() and x0 < x1 and y0 < y1


@pytest.mark.parametrize("name", ["four_bar", "jansen_leg", "peaucellier", "quick_return", "pantograph"])
def test_links_reach_their_pins(name):
    scene = scene_of_model(model_named(name))
    resolved = model_named(name).check()
    for joint in resolved.elements.values():
        if not isinstance(joint, se.Revolute):
            continue
        for frame in (joint.a, joint.b):
            outlines = [
                m for m in scene.marks if isinstance(m, Outline) and m.carrier == frame.body and m.area
            ]
            shapes = [m for m in outlines if m.layer in (Layer.LINK, Layer.BLOCK, Layer.ROUND)]
            if frame.body != "ground":
                assert any(contains(path, (frame.x, frame.y)) for mark in shapes for path in mark.paths)


def test_a_body_without_joints_is_a_dot_and_one_joint_makes_a_pendulum():
    model = se.Model("two")
    model.body("stone", mass=1, inertia=1, at=(3, 3))
    bob = model.body("bob", mass=1, at=(0, -1), points={"O": (0, 1)})
    model.add(se.Revolute("O", model.ground, bob["O"]))
    scene = scene_of_model(model)
    assert len(marks_of(scene, "stone")) == 1
    assert len(marks_of(scene, "bob")) == 2  # rod and bob
    assert any(contains(mark.paths[0], (0, 0)) for mark in marks_of(scene, "bob"))


def test_the_look_of_a_model_file():
    model = model_named("four_bar")
    model.bodies["crank"].look = {"color": "#336699"}
    model.bodies["coupler"].look = {"outline": [["-coupler/2", 0], [1, 0], [0, 0.5]]}
    model.bodies["rocker"].look = {"hidden": True}
    scene = scene_of_model(model)
    assert {mark.ink for mark in marks_of(scene, "crank")} == {"#336699"}
    (coupler,) = marks_of(scene, "coupler")
    np.testing.assert_allclose(coupler.paths[0], [(-1, 0), (1, 0), (0, 0.5)])
    assert marks_of(scene, "rocker") == []


@pytest.mark.parametrize(
    ("look", "sentence"),
    [
        ({"color": "blue"}, "write it as '#336699'"),
        ({"outline": "square"}, "write a list of corners"),
        ({"outline": [[1, 2, 3], [0, 0, 0]]}, "is not a corner"),
        ({"outline": [["lenth", 0], [1, 0]]}, "lenth"),
    ],
)
def test_wrong_looks_are_said_in_words(look, sentence):
    model = model_named("four_bar")
    model.bodies["crank"].look = look
    with pytest.raises(se.ModelError, match=sentence) as caught:
        scene_of_model(model)
    assert "crank" in str(caught.value)


def test_rectangles_of_course_files_are_drawn():
    model = se.Model("course")
    body = model.body("pend", mass=1, inertia=1, at=(2, 0))
    body.look = {"vis": {"RGB": [0.5, 0.5, 1.0], "shapes": [{"loc": [0, 0], "size": [4.4, 0.4]}]}}
    model.add(se.AbsoluteX("X", body.at(-2, 0)))
    model.add(se.AbsoluteY("Y", body.at(-2, 0)))
    scene = scene_of_model(model)
    (shape,) = marks_of(scene, "pend")
    assert shape.ink == "#8080ff"
    assert np.ptp(shape.paths[0], axis=0) == pytest.approx([4.4, 0.4])
    # both coordinates of one point are held: that is a pin on the ground
    assert {mark.ink for mark in marks_of(scene, "X")} == {"support", "ground", "pin"}
    assert marks_of(scene, "Y") == []


# Symbols ----------------------------------------------------------------------------------------------


def test_a_slider_gets_a_rail_along_its_whole_way():
    results = moved("slider_crank", 1.0)
    scene = scene_of(results)
    (rail,) = [mark for mark in marks_of(scene, "guide") if mark.ink == "ground"]
    (block,) = [mark for mark in scene.marks if isinstance(mark, Outline) and mark.layer == Layer.BLOCK]
    assert rail.carrier == "ground" and block.carrier == "slider"
    line = rail.paths[0]
    way = results["slider.x"]
    half = 0.25  # of the block's length
    assert line[:, 0].min() < way.min() - half and line[:, 0].max() > way.max() + half
    assert line[0, 1] == line[1, 1] == pytest.approx(block.paths[0][:, 1].min())  # under the block


def test_the_slot_of_a_yoke_holds_its_pin_at_all_times():
    results = moved("scotch_yoke", 1.0)
    scene = scene_of(results)
    slot = next(mark for mark in marks_of(scene, "slot") if mark.ink == "slot")
    pin = results["crank.end.x"], results["crank.end.y"]
    for i in range(results.t.size):
        inside = pin[0][i] - results["yoke.x"][i], pin[1][i] - results["yoke.y"][i]
        assert contains(slot.paths[0], inside)


@pytest.mark.parametrize(
    ("options", "shapes"),
    [({"stiffness": 1}, 1), ({"damping": 1}, 4), ({"stiffness": 1, "damping": 1}, 9), ({"actuator": 1}, 2)],
)
def test_springs_dampers_and_actuators_differ(options, shapes):
    model = se.Model("spring")
    body = model.body("body", mass=1, inertia=1, at=(1, 0))
    model.add(se.Spring("spring", se.distance(model.ground, body), **options))
    (mark,) = marks_of(scene_of_model(model), "spring", Stretched)
    assert len(mark.paths) == shapes
    wall = marks_of(scene_of_model(model), "spring")
    assert [mark.carrier for mark in wall] == ["ground"]


def test_a_joint_of_ones_own_is_shown_by_its_frames():
    class Halfway(Joint):
        """As in the guide for contributors."""

        a: FrameField
        b: FrameField
        middle: FrameField

        def rows(self) -> Iterator[Row]:
            yield Row("x", (x(self.a, self.middle) + x(self.b, self.middle)) / 2)
            yield Row("y", (y(self.a, self.middle) + y(self.b, self.middle)) / 2)

    try:
        model = se.Model("tongs")
        left, right = model.body("left", at=(-1, 0)), model.body("right", at=(2, 0))
        model.add(Halfway("tongs", left, right, model.body("table", at=(0.5, 0))))
        assert marks_of(scene_of_model(model), "tongs", Stretched)

        @symbol.register(Halfway)
        def _(joint, layout):
            yield Outline("table", [np.zeros((3, 2))], "weld", Layer.PIN, joint.name)

        (mark,) = [m for m in scene_of_model(model).marks if m.name == "tongs"]
        assert mark.ink == "weld"
    finally:
        se.Element.registry.pop("Halfway")


def test_arrows_of_motors_show_in_which_way_they_turn():
    heads = {}
    for speed in ("2*pi", "-2*pi"):
        model = model_named("four_bar").with_parameters(speed=speed)
        results = se.kinematics(model, t_end=0.2, step=0.1)
        line, _ = marks_of(scene_of(results), "motor")
        x, y = line.paths[0].T
        heads[speed] = float(np.sum(x[:-1] * y[1:] - x[1:] * y[:-1]))
    assert heads["2*pi"] > 0.0 > heads["-2*pi"]
    swinging = scene_of(moved("peaucellier", 1.0))
    assert len(marks_of(swinging, "motor")) == 4  # an arrow each way


# Gears ------------------------------------------------------------------------------------------------


def phase(wheel, results, i, angle):
    """Pitches past the middle of a tooth, at a global angle and the i-th time."""
    turned = 0.0 if wheel.center.body == "ground" else results[f"{wheel.center.body}.phi"][i]
    return (angle - turned - wheel.tooth) * wheel.teeth / (2 * np.pi)


@pytest.mark.parametrize("name", ["planetary_gear", "geared_five_bar"])
def test_teeth_meet_gaps_at_all_times(name):
    results = moved(name, 1.0)
    found = wheels(results.resolved)
    meshes = [e for e in results.resolved.elements.values() if isinstance(e, se.Gear)]
    assert meshes
    for mesh in meshes:
        a, b = found[wheel_key(mesh.a)], found[wheel_key(mesh.b)]
        assert a.radius / a.teeth == pytest.approx(b.radius / b.teeth)  # the same module
        for i in range(results.t.size):
            pa, pb = (_place(results, frame, i) for frame in (mesh.a, mesh.b))
            beta = np.arctan2(pb[1] - pa[1], pb[0] - pa[0])
            if mesh.internal:
                gap = phase(b, results, i, beta + np.pi) - phase(a, results, i, beta + np.pi)
            else:
                gap = phase(a, results, i, beta) + phase(b, results, i, beta + np.pi)
            assert (gap - 0.5 + 0.5) % 1.0 - 0.5 == pytest.approx(0.0, abs=1e-9)


def _place(results, frame, i):
    if frame.body == "ground":
        return frame.x, frame.y
    channels = (
        f"x(ground, {frame.body}.at({frame.x}, {frame.y}))",
        f"y(ground, {frame.body}.at({frame.x}, {frame.y}))",
    )
    return [results[channel][i] for channel in channels]


def test_the_teeth_of_a_rack_meet_gaps_of_its_pinion():
    results = moved("rack_pinion", 0.2)
    scene = scene_of(results)
    (rack,) = [mark for mark in marks_of(scene, "mesh") if mark.carrier == "rack"]
    tips = rack.paths[0][rack.paths[0][:, 1] > 0.005][:, 0]
    pitch = 2 * np.pi * 0.2 / 18  # radius 0.2, 18 teeth
    (pinion,) = [m for m in scene.marks if m.carrier == "pinion" and m.layer == Layer.ROUND]
    teeth = pinion.paths[0]
    first_tooth = np.angle(np.mean(np.exp(18j * np.arctan2(teeth[:, 1], teeth[:, 0])) * _is_tip(teeth))) / 18
    for i in range(results.t.size):
        below = -np.pi / 2 - results["pinion.phi"][i] - first_tooth  # of the tooth, at the point of contact
        tooth = results["pinion.x"][i] - below / (2 * np.pi) * 18 * pitch  # its place on the pitch line
        rack_tooth = tips.reshape(-1, 2).mean(axis=1)[0] + results["rack.x"][i]
        apart = (tooth - rack_tooth) / pitch
        assert (apart - 0.5 + 0.5) % 1.0 - 0.5 == pytest.approx(0.0, abs=1e-9)


def _is_tip(teeth):
    radii = np.hypot(*teeth.T)
    return np.isclose(radii, radii.max())


def test_gears_given_by_radii_get_whole_teeth():
    model = se.Model("gears")
    small, large = model.disk("small", radius=1, mass=1), model.disk("large", radius=2.5, mass=1, at=(3.5, 0))
    model.add(se.Revolute("O", model.ground, small))
    model.add(se.Revolute("Q", model.ground, large))
    model.add(se.Gear("mesh", small, large, radii=(1, 2.5)))
    teeth = sorted(wheel.teeth for wheel in wheels(model.check()).values())
    assert teeth == [12, 30]


# Forces, traces, words --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def pendulum():
    model = se.Model("pendulum")
    bar = model.bar("bar", (0, 0), (0.5, 0), mass=0.3)
    model.add(se.Revolute("pin", model.ground, bar["start"]))
    model.add(se.PointForce("push", bar["end"], fy=2))
    return se.dynamics(model, t_end=0.4, step=0.02)


def test_arrows_are_the_reactions_to_scale(pendulum):
    scene = scene_of(pendulum)
    pin, push = scene.arrows
    np.testing.assert_allclose(pin.fy, pendulum.reaction("pin", on="bar").fy, atol=1e-12)
    assert pin.ink == "reaction" and push.ink == "applied" and push.is_load
    assert pin.spot == Spot("bar", -0.25, 0.0)
    largest = np.max([np.hypot(a.fx, a.fy) for a in scene.arrows], axis=0)
    assert np.quantile(largest, 0.9) * scene.force_scale == pytest.approx(0.22 * scene.diagonal)
    assert scene.torque_scale == 0.0  # a pin bears no torque; rounding is not shown


def test_kinematics_has_no_reactions_to_show():
    assert scene_of(moved("four_bar")).arrows == []


def test_traces_follow_points(pendulum):
    (trace,) = scene_of(pendulum, ["bar.end"]).traces
    path = scene_of(pendulum).motion.place(trace.spot)
    np.testing.assert_allclose(
        path, np.column_stack([pendulum["bar.end.x"], pendulum["bar.end.y"]]), atol=1e-12
    )
    with pytest.raises(se.ModelError, match=r"trace 'bar\.tip': body 'bar' has no point 'tip'"):
        scene_of(pendulum, ["bar.tip"])


def test_paths_are_round_between_outputs():
    """A crank that turns 36 degrees between outputs: its end stays on its circle, and passes through the outputs."""
    model = se.Model("crank")
    bar = model.bar("bar", (0, 0), (1, 0), mass=1)
    model.add(se.Revolute("O", model.ground, bar["start"]))
    model.add(se.Driver("motor", se.angle(model.ground, bar), "2*pi*t"))
    motion = scene_of(se.kinematics(model, t_end=1, step=0.1)).motion
    end = Spot("bar", 0.5, 0.0)
    path = motion.path(end)
    assert len(path) == 10 * 16 + 1
    np.testing.assert_allclose(np.hypot(*path.T), 1.0, atol=5e-4)
    np.testing.assert_allclose(path[:: motion.per_output], motion.place(end), atol=1e-12)


@pytest.mark.parametrize("name", library.names())
def test_words_do_not_lie_on_each_other(name):
    scene = scene_of_model(model_named(name))
    places = scene.usual_places(0, scene.bounds)
    assert all(place.is_free for place in places)
    for i, a in enumerate(place.box for place in places):
        for b in (place.box for place in places[:i]):
            assert not (a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3])


def test_weights_velocities_and_accelerations_are_there_on_request(pendulum):
    """Those of the points whose paths are shown; against the channels of the results."""
    scene = scene_of(pendulum, ["bar.end"])
    (weight,) = scene.requested(["weight"])
    assert weight.on == "bar" and weight.fy[0] == pytest.approx(
        -9.81 * pendulum.model.check().bodies["bar"].mass
    )
    for kind, order in (("velocity", "d"), ("acceleration", "dd")):
        (arrow,) = scene.requested([kind])
        np.testing.assert_allclose(arrow.fx, pendulum[f"bar.end.x{order}"], atol=1e-9)
        np.testing.assert_allclose(arrow.fy, pendulum[f"bar.end.y{order}"], atol=1e-9)
    assert {arrow.name for arrow in scene_of(pendulum).requested(["velocity"])} == {"velocity of bar"}


def test_arrows_have_the_kind_and_the_body_of_what_acts():
    model = model_named("sprung_slider")
    kinds = {arrow.name: (arrow.ink, arrow.on) for arrow in scene_of(se.dynamics(model, t_end=0.1)).arrows}
    assert kinds["spring"] == ("elastic", "slider")
    assert {kinds[joint][0] for joint in model.joints} == {"reaction"}
    driven = scene_of(se.inverse_dynamics(model_named("valve_train"), t_end=0.01, step=0.005)).arrows
    assert {"reaction", "contact", "effort", "elastic"} == {arrow.ink for arrow in driven}


def test_held_angles_are_rings_with_both_axes():
    """About the pin of the two bodies, or the body's own center; the axes turn with the bodies."""
    model = se.Model("held")
    bar = model.bar("bar", (0, 0), (1, 0), mass=1)
    plate = model.body("plate", mass=1, inertia=1, at=(3, 0))
    model.add(se.Revolute("O", model.ground, bar["start"]))
    model.add(se.RelativeAngle("turn", model.ground, bar, value="0.3*t"))
    for joint in (
        se.AbsoluteX("x", plate, 3),
        se.AbsoluteY("y", plate),
        se.AbsoluteAngle("angle", plate, 0.2),
    ):
        model.add(joint)
    results = se.kinematics(model, t_end=1, step=0.5)
    scene = scene_of(results)
    for name, center, turn in (("turn", (0, 0), 0.3), ("angle", (3, 0), 0.2)):
        ring, of_ground, of_body = marks_of(scene, name)
        poses = [scene.motion.poses[mark.carrier][-1] for mark in (ring, of_ground, of_body)]
        np.testing.assert_allclose([pose[:2] for pose in poses], [center] * 3, atol=1e-9)
        np.testing.assert_allclose([pose[2] for pose in poses], [0, 0, turn], atol=1e-9)


def test_a_mechanism_that_does_not_close_is_drawn_as_it_is():
    model = se.Model("open")
    bar = model.bar("bar", (0, 0), (1, 0), mass=1)
    model.add(se.Revolute("O", model.ground, bar["start"]))
    model.add(se.Revolute("far", model.ground.at(5, 0), bar["end"]))
    pose = pose_of_model(model)
    assert pose.status == "as drawn"
    assert scene_of_model(model).notes == ["the mechanism does not close"]


def test_columns_of_a_csv_file_cannot_be_drawn(tmp_path):
    results = moved("four_bar")
    read = se.Results.load(results.save(tmp_path / "motion.csv"))
    with pytest.raises(se.UnsupportedError, match=r"\.npz"):
        scene_of(read)
