"""Animations: frames at the right times, of the right number and length, from poses between the outputs."""

from __future__ import annotations

import io
import shutil
import subprocess

import numpy as np
import pytest
from PIL import Image

import simengine2d as se
from simengine2d.draw import animation
from simengine2d.draw.figure import LEVEL, closed_figure
from simengine2d.draw.marks import Layer
from simengine2d.draw.scene import resampled, scene_of


@pytest.fixture(scope="module")
def pendulum():
    """The one-bar linkage of the lecture: 0.5 m, 0.3 kg, pinned at the origin, let go from the horizontal."""
    model = se.Model("one-bar linkage")
    bar = model.bar("bar", (0, 0), (0.5, 0), mass=0.3)
    model.add(se.Revolute("pin", model.ground, bar["start"]))
    return se.dynamics(model, t_end=0.6, step=0.05)


def frames(path):
    with Image.open(path) as picture:
        for i in range(picture.n_frames):
            picture.seek(i)
            yield picture.info["duration"], np.asarray(picture.convert("RGB")).astype(int)


def test_a_gif_lasts_as_long_as_the_motion(pendulum, tmp_path):
    path = pendulum.animate(tmp_path / "pendulum.gif", fps=15, size=200)
    durations, pictures = zip(*frames(path), strict=True)
    assert len(pictures) == 10  # 0.6 s at 15 frames per second, both ends
    assert sum(durations) == round(1000 * 10 / 15, -1)  # hundredths of a second, and no rounding is lost
    assert max(pictures[0].shape[:2]) == 200
    assert not np.array_equal(pictures[0], pictures[-1])


def test_a_slower_speed_makes_more_frames(pendulum, tmp_path):
    path = pendulum.animate(tmp_path / "slow.gif", fps=10, speed=0.5, size=100)
    assert len(list(frames(path))) == 13


def red(picture):
    """Pixels of the color of reactions."""
    r, g, b = picture[..., 0], picture[..., 1], picture[..., 2]
    return np.argwhere((r > 150) & (g < 90) & (b < 100))


def blue(picture):
    """Pixels of the bar's edge, and of its path."""
    r, g, b = picture[..., 0], picture[..., 1], picture[..., 2]
    return (r < 60) & (g < 150) & (b > 140)


def test_the_lecture_s_animation_is_one_call(pendulum, tmp_path):
    """Bar, path of its center, and a red arrow at the pin that grows from a quarter of the weight as the bar falls."""
    path = pendulum.animate(tmp_path / "lecture.gif", trace=["bar"], fps=10, size=400)
    pictures = [picture for _, picture in frames(path)]
    lengths = [np.ptp(red(picture), axis=0).max(initial=0) for picture in pictures]
    assert lengths[0] > 0
    size = np.hypot(pendulum["pin.fx"], pendulum["pin.fy"])
    at_frames = np.interp(np.arange(len(pictures)) / 10, pendulum.t, size)
    assert np.argmax(lengths) == np.argmax(at_frames)
    without = [p for _, p in frames(pendulum.animate(tmp_path / "bare.gif", forces=False, fps=10, size=400))]
    assert all(len(red(picture)) == 0 for picture in without)
    # the path grows
    assert blue(pictures[-1]).sum() > blue(pictures[0]).sum()


@pytest.mark.skipif(shutil.which("ffmpeg") is None, reason="ffmpeg is not installed")
def test_an_mp4_has_the_frames_too(pendulum, tmp_path):
    path = pendulum.animate(tmp_path / "pendulum.mp4", fps=20, size=160)
    command = ["ffmpeg", "-v", "error", "-i", str(path), "-f", "image2pipe", "-c:v", "ppm", "-"]
    data = subprocess.run(command, capture_output=True, check=True).stdout
    first = Image.open(io.BytesIO(data))
    assert max(first.size) == 160
    assert data.count(b"P6\n") == 13


def test_without_ffmpeg_an_mp4_is_refused_before_drawing(pendulum, tmp_path, monkeypatch):
    monkeypatch.setattr(animation.shutil, "which", lambda _: None)
    monkeypatch.setattr(animation, "scene_of", lambda *_: pytest.fail("it was drawn"))
    with pytest.raises(se.UnsupportedError, match=r"MP4 files need the program ffmpeg.*\.gif"):
        pendulum.animate(tmp_path / "pendulum.mp4")


def test_progress_is_told(pendulum, tmp_path):
    told: list[float] = []
    pendulum.animate(tmp_path / "pendulum.gif", fps=5, size=100, progress=told.append)
    assert told == sorted(told) and told[-1] == 1.0 and len(told) == 4


@pytest.mark.parametrize(
    ("name", "options", "sentence"),
    [
        ("a.avi", {}, r"the ending '\.avi' is unknown\. Use \.gif or \.mp4"),
        ("a.png", {}, r"results\.poster"),
        ("a.gif", {"fps": 0}, "fps = 0 must be a positive"),
        ("a.gif", {"fps": 100}, "a GIF holds 50 frames per second"),
        ("a.gif", {"speed": -1}, "speed = -1 must be positive"),
        ("a.gif", {"speed": 1e-6}, "at most 3000 are drawn"),
        ("a.gif", {"theme": "blue"}, "theme = 'blue' must be one of light, dark"),
        ("a.gif", {"size": 10}, "size = 10 must lie between"),
        ("a.gif", {"trace": ["bar.nowhere"]}, "no point 'nowhere'"),
    ],
)
def test_wrong_requests_are_said_in_words(pendulum, tmp_path, name, options, sentence):
    with pytest.raises(se.ModelError, match=sentence):
        pendulum.animate(tmp_path / name, **options)
    assert list(tmp_path.iterdir()) == []


def test_poses_between_outputs_are_cubics(pendulum):
    """A cubic through values and rates is exact to h^4 / 384 times the fourth derivative: 1e-4 for steps of 0.05 s."""
    fine = se.dynamics(pendulum.model, t_end=0.6, step=0.01)
    between = resampled(pendulum, fine.t)
    np.testing.assert_allclose(between["bar.phi"], fine["bar.phi"], atol=1e-4)
    np.testing.assert_allclose(between["bar.end.x"], fine["bar.end.x"], atol=1e-3)
    np.testing.assert_array_equal(resampled(pendulum, pendulum.t).q, pendulum.q)


def test_a_poster_shows_the_first_and_the_last_pose(pendulum):
    ax = pendulum.poster(poses=3)
    bars = [patch for patch in ax.patches if patch.get_zorder() % LEVEL == Layer.LINK]
    slopes = [patch.get_transform().get_matrix()[:2, 0] for patch in bars]
    angles = {round(float(np.degrees(np.arctan2(dy, dx)))) for dx, dy in slopes}
    assert len(bars) == 3
    first, last = (round(float(np.degrees(pendulum["bar.phi"][i]))) for i in (0, -1))
    assert {first % 360, last % 360} <= {angle % 360 for angle in angles}
    with pytest.raises(se.ModelError, match="a poster needs two"):
        pendulum.poster(poses=1)


def test_the_legend_is_inside_however_narrow_the_picture(monkeypatch):
    """A valve train has four kinds of forces and is about twice as high as it is wide."""
    scene = scene_of(se.inverse_dynamics(se.load("valve_train"), t_end=0.02, step=0.01))
    shown = {"forces": True, "labels": False, "centers": False, "arrows": ()}
    figures = []
    monkeypatch.setattr(
        animation, "closed_figure", lambda *inches: figures.append(closed_figure(*inches)) or figures[-1]
    )
    for size in range(600, 760, 8):
        next(animation._pictures(scene, size, "light", lambda done: None, **shown))
        (ax,) = figures[-1].axes
        assert ax.get_legend().get_window_extent().y0 >= 0.0, size
