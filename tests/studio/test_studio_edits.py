"""Drawing as edits of the text."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import simengine2d as se
from simengine2d.cli.studio.draft import read_draft
from simengine2d.cli.studio.edits import edited
from simengine2d.cli.studio.pins import DrawnPin, find_pin, pins_of

LIBRARY = Path(se.__file__).parent / "model" / "library"


def text_of(name: str) -> str:
    return (LIBRARY / f"{name}.yaml").read_text(encoding="utf-8")


def drawn(*edits: dict) -> str:
    text = ""
    for edit in edits:
        text = edited(text, edit)["text"]
    return text


def point(text: str, name: str) -> DrawnPin:
    return find_pin(pins_of(read_draft(text).resolved), name)


FOUR_BAR = (
    {"do": "add_ground", "point": [0, 0]},
    {"do": "add_ground", "point": [4, 0]},
    {"do": "add_link", "points": ["ground.A", [0.5, 1]]},
    {"do": "add_link", "points": ["link1.end", [3.5, 2.2]]},
    {"do": "add_link", "points": ["ground.B", "link2.end"]},
    {"do": "add_driver", "body": "link1"},
)


def test_a_four_bar_is_drawn_from_nothing():
    model = read_draft(drawn(*FOUR_BAR)).model
    assert list(model.bodies) == ["link1", "link2", "link3"]
    assert [type(joint).__name__ for joint in model.joints.values()] == ["Revolute"] * 4 + ["Driver"]
    assert se.diagnose(model).mobility == 0


def test_a_dragged_pin_moves_all_bodies_that_share_it():
    text = edited(drawn(*FOUR_BAR), {"do": "move_point", "point": "link1.end", "to": [0.6, 1.1]})["text"]
    assert "end: [0.6, 1.1]" in text and "start: [0.6, 1.1]" in text


def test_a_locked_length_turns_with_its_free_end():
    arm = ({"do": "add_link", "points": [[0, 0], [0.6, 0.8]]}, {"do": "add_ground", "point": "link1.start"})
    locked = drawn(*arm, {"do": "lock", "kind": "length", "of": "link1"})
    there = point(
        edited(locked, {"do": "move_point", "point": "link1.end", "to": [1, 0.2]})["text"], "link1.end"
    )
    assert (there.x, there.y) == pytest.approx((0.9806, 0.1961), abs=2e-3)  # the nearest place on the circle
    assert np.hypot(there.x, there.y) == pytest.approx(1.0, abs=1e-6)


def test_gears_go_on_touching_when_a_center_is_dragged():
    teeth = {"do": "add_gears", "a": [0.2, 0.3], "b": [0.8, 0.3], "radii": [0.2, 0.4]}
    text = edited(drawn(teeth), {"do": "move_point", "point": "gear2", "to": [0.95, 0.3]})["text"]
    assert "radii: [0.25, 0.5]" in text
    assert "gear1: {shape: disk, radius: 0.25" in text and "gear2: {shape: disk, radius: 0.5" in text


def test_parameters_follow_a_dragged_pin():
    text = edited(text_of("four_bar"), {"do": "move_point", "point": "B", "to": [1.1, 0.2]})["text"]
    assert "end: [Bx, By]" in text and "# C by two circles" in text
    there = point(text, "B")
    assert (there.x, there.y) == pytest.approx((1.1, 0.2), abs=4e-3)


def test_a_deleted_body_takes_along_what_hangs_on_it():
    answer = edited(text_of("four_bar"), {"do": "delete", "elements": ["coupler"]})
    assert (
        "coupler:" not in answer["text"].split("bodies:")[1]
        and "B:" not in answer["text"].split("joints:")[1]
    )
    assert answer["notes"] == ["Deleted with coupler: B, C."]


def test_all_is_deleted_and_drawn_anew():
    link = {"do": "add_link", "points": [[0, 0], [1, 1]]}
    first = drawn(link)
    empty = edited(f"# mine\n{first}", {"do": "delete", "elements": ["link1"]})["text"]
    assert empty == "# mine\n"
    assert edited(empty, link)["text"] == f"# mine\n{first}"
    assert edited("{}  # nothing yet", link)["text"] == first


def test_a_copy_moves_as_the_original_does_and_a_mirror_image_the_other_way():
    """A free four-bar and its copies fall alike: y agrees, x is moved or reflected."""
    text = drawn(*FOUR_BAR[:-1])
    text = edited(text, {"do": "copy", "elements": ["link1", "link2", "link3"], "by": [5, 0]})["text"]
    text = edited(text, {"do": "mirror", "elements": ["link1", "link2", "link3"], "at": [0, 0]})["text"]
    model = read_draft(text).model
    assert list(model.bodies) == [f"link{i}" for i in range(1, 10)]
    assert se.diagnose(model).mobility == 3
    r = se.dynamics(model, t_end=0.5, rtol=1e-9)
    for i in (1, 2, 3):
        x, y = r[f"link{i}.x"], r[f"link{i}.y"]
        for other, image in ((i + 3, x + 5), (i + 6, -x)):
            np.testing.assert_allclose(r[f"link{other}.x"], image, atol=1e-6)
            np.testing.assert_allclose(r[f"link{other}.y"], y, atol=1e-6)


def test_a_mirrored_body_keeps_its_points_guides_and_forces():
    text = drawn(
        {"do": "add_slider", "point": [1, 0], "direction": [2, 1]},
        {"do": "add_point", "bodies": ["slider"], "at": [1.25, 0.25]},
        {"do": "add_force", "point": "slider.A", "force": [3, 4]},
    )
    model = read_draft(edited(text, {"do": "mirror", "elements": ["slider"], "at": [2, 0]})["text"]).model
    assert point(
        edited(text, {"do": "mirror", "elements": "slider", "at": [2, 0]})["text"], "slider1.A"
    ).x == pytest.approx(2.75)
    force = model.elements["force2"]
    assert (force.fx, force.fy, force.frame.body) == (-3, 4, "slider1")
    assert model.elements["guide1"].direction == pytest.approx((-0.894427, 0.447214))


def test_a_force_drawn_along_an_axis_has_one_component():
    text = drawn(*FOUR_BAR, {"do": "add_force", "point": "link2.end", "force": [2e-16, -3]})
    assert "force1: {type: PointForce, frame: link3.end, fy: -3}" in text


def test_a_point_where_two_links_cross_pins_them_there():
    text = drawn(
        {"do": "add_link", "points": [[0, 0], [1, 0.4]]},
        {"do": "add_link", "points": [[1, 0], [0, 0.3]]},
        {"do": "add_point", "bodies": ["link1", "link2"], "at": [0.43, 0.17]},
    )
    there = point(text, "C")
    assert there.bodies == ["link1", "link2"]
    # 0.4 x = 0.3 - 0.3 x
    assert (there.x, there.y) == pytest.approx((3 / 7, 1.2 / 7), abs=1e-8)
    assert se.diagnose(read_draft(text).model).mobility == 4
