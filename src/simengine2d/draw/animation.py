"""Animations: a motion as a GIF or MP4 file.

Frames lie evenly in time, whatever the output times are: between these, poses are cubics through values and rates.
"""

from __future__ import annotations

import io
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypedDict

import numpy as np

from ..errors import ModelError, UnsupportedError, listed
from ..io.files import write_bytes
from ..numerics.arrays import Floats
from ..results.in_units import ResultsInUnits
from ..results.results import Results
from .figure import SceneArtists, closed_figure, prepare
from .figure_legend import explain, height_below, with_strip
from .scene import Scene, resampled, scene_of
from .snapshot import check_arrows
from .style import PAPER, TEXT, Theme

Progress = Callable[[float], None]
"""Called now and then with the part that is done, from 0 to 1."""
Picture = Any
"""A picture of the library Pillow."""

PIXELS = 720  # the longer side
PATIENCE = 1.0  # seconds before the bar of progress appears
MOST_FRAMES = 3000
SMOOTH = 4  # points of a trace per frame


class FilmOptions(TypedDict, total=False):
    """How a motion is filmed; see `animate`."""

    fps: float
    speed: float
    trace: Sequence[str]
    forces: bool
    labels: bool
    arrows: Sequence[str]
    theme: Theme
    size: int
    progress: Progress | None


def animate(
    view: ResultsInUnits,
    path: str | Path,
    *,
    fps: float = 25.0,
    speed: float = 1.0,
    trace: Sequence[str] = (),
    forces: bool = True,
    labels: bool = False,
    arrows: Sequence[str] = (),
    theme: Theme = "light",
    size: int = PIXELS,
    progress: Progress | None = None,
) -> Path:
    """Write a moving picture; the ending of the path says how: .gif needs nothing more, .mp4 the program ffmpeg.

    `fps` are frames per second, a `speed` of 1 is real time, 0.1 ten times slower; `trace` are points such as "rod.B",
    whose paths are drawn; `arrows` may name "weight", "velocity" and "acceleration", beside the forces. `size` is the
    longer side in pixels, and `progress` is called with the part that is done.
    """
    path = Path(path)
    write = WRITERS.get(path.suffix.lower())
    if write is None:
        hint = (
            " A poster of several poses is written by results.poster(...)." if path.suffix == ".png" else ""
        )
        raise ModelError(
            f"{path} is not written: the ending '{path.suffix}' is unknown. Use .gif or .mp4.{hint}"
        )
    _check(path, fps, speed, theme, size)
    check_arrows(arrows)
    results = view.in_si
    times = _frame_times(results, fps, speed)
    scene = scene_of(resampled(results, _refined(times)), trace, view.units)
    with FrameProgress(progress) as bar:
        pictures = _pictures(scene, size, theme, bar, forces=forces, labels=labels, arrows=arrows)
        return write_bytes(path, write(pictures, fps))


def _check(path: Path, fps: float, speed: float, theme: str, size: int) -> None:
    """What would stop the writing is said before the drawing."""
    if not fps > 0.0:
        raise ModelError(f"fps = {fps!r} must be a positive number of frames per second.")
    if path.suffix.lower() == ".gif" and fps > 50.0:
        raise ModelError(
            f"fps = {fps:g}: a GIF holds 50 frames per second at most. Use .mp4, or a lower rate."
        )
    if not speed > 0.0:
        raise ModelError(f"speed = {speed!r} must be positive: 1 is real time, 0.1 ten times slower.")
    if theme not in PAPER:
        raise ModelError(f"theme = {theme!r} must be one of {listed(PAPER)}.")
    if not 64 <= size <= 4096:
        raise ModelError(f"size = {size!r} must lie between 64 and 4096 pixels.")
    check_film(path)


def check_film(path: Path) -> None:
    """Refuse what cannot be written here."""
    if path.suffix.lower() == ".mp4" and shutil.which("ffmpeg") is None:
        raise UnsupportedError(
            f"{path} is not written: MP4 files need the program ffmpeg, which is not installed. "
            "Write a .gif or, with results.html(path), a page."
        )


def _frame_times(results: Results, fps: float, speed: float) -> Floats:
    if results.t.size == 0:
        raise UnsupportedError(
            f"the results of '{results.model.name}' hold no times; there is nothing to draw."
        )
    first, last = float(results.t[0]), float(results.t[-1])
    count = int(np.floor((last - first) * fps / speed + 1e-9)) + 1
    if count > MOST_FRAMES:
        raise ModelError(
            f"{last - first:g} s at {fps:g} frames per second and the speed {speed:g} make {count} frames; "
            f"at most {MOST_FRAMES} are drawn. Take a higher speed, or fewer frames per second."
        )
    return np.array([first + i * speed / fps for i in range(count)])


def _refined(times: Floats) -> Floats:
    """Times between those of the frames too, so that traces are round."""
    fine = np.linspace(0.0, times.size - 1, (times.size - 1) * SMOOTH + 1)
    return np.interp(fine, np.arange(times.size), times)


# Pictures ---------------------------------------------------------------------------------------------


def _pictures(scene: Scene, size: int, theme: str, progress: Progress, **shown: Any) -> Iterator[Picture]:
    """Every frame, drawn when it is asked for."""
    from PIL import Image

    arrows = [*(scene.arrows if shown["forces"] else ()), *scene.requested(shown["arrows"])]
    explained = bool(arrows)
    x0, y0, x1, y1 = bounds = with_strip(scene.bounds_with_forces) if explained else scene.bounds
    below, needed = 0.0, -1.0
    while needed != below:  # a legend of more lines makes the picture narrower, and then itself higher
        needed = below
        scale = min(size / (x1 - x0), (size - below) / (y1 - y0))
        below = height_below(arrows, 0.72 * (scale * (x1 - x0) - 2.0)) / 0.72  # it loses up to 2 pixels below
    # even numbers of pixels, as video needs them
    width, height = (2 * max(32, round(side / 2)) for side in (scale * (x1 - x0), scale * (y1 - y0) + below))
    figure = closed_figure(width / 100, height / 100)
    figure.set_facecolor(PAPER[theme])
    ax = figure.add_axes((0, below / height, 1, 1 - below / height))
    prepare(ax, bounds)
    artists = SceneArtists(scene, ax, theme=theme, **shown)
    if explained:
        explain(ax, scene, arrows, theme)
    clock = ax.text(0.015, 0.985, "", transform=ax.transAxes, va="top", color=TEXT[theme], fontsize=9)
    canvas: Any = figure.canvas
    count = scene.motion.t.size
    for i in range(0, count, SMOOTH):
        artists.show(i)
        clock.set_text(_clock(scene.motion.t, i))
        canvas.draw()
        yield Image.fromarray(np.asarray(canvas.buffer_rgba())[..., :3])
        progress((i + 1) / count)


def _clock(times: Floats, i: int) -> str:
    """With so many digits that neighboring frames differ."""
    step = float(times[-1] - times[0]) / max(1, times.size - 1) * SMOOTH
    digits = max(0, int(np.ceil(-np.log10(step)))) if step > 0.0 else 3
    return f"t = {times[i]:.{digits}f} s"


def _gif(pictures: Iterator[Picture], fps: float) -> bytes:
    """A GIF counts hundredths of a second; the rounding of one frame is made up for by the next."""
    frames = [picture.quantize(128, method=2, dither=0) for picture in pictures]
    ends = np.round(100 * np.arange(1, len(frames) + 1) / fps) * 10
    durations = np.diff(ends, prepend=0.0).astype(int).tolist()
    buffer = io.BytesIO()
    frames[0].save(
        buffer, "GIF", save_all=True, append_images=frames[1:], duration=durations, loop=0, optimize=False
    )
    return buffer.getvalue()


def _mp4(pictures: Iterator[Picture], fps: float) -> bytes:
    """Raw frames through ffmpeg; H.264, which every player knows."""
    first = next(pictures)
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "motion.mp4"
        size = f"{first.width}x{first.height}"
        source = ["-f", "rawvideo", "-pix_fmt", "rgb24", "-s", size, "-r", f"{fps:g}", "-i", "-"]
        coding = ["-an", "-c:v", "libx264", "-pix_fmt", "yuv420p", "-crf", "20", "-movflags", "+faststart"]
        command = ["ffmpeg", "-y", "-loglevel", "error", *source, *coding, str(target)]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            assert process.stdin is not None and process.stderr is not None
            try:
                for picture in (first, *pictures):
                    process.stdin.write(picture.tobytes())
                process.stdin.close()
            except BrokenPipeError:  # ffmpeg says below why it has ended
                pass
            complaint = process.stderr.read().decode("utf-8", "replace").strip()
        if process.returncode != 0:
            raise UnsupportedError(f"ffmpeg could not make the video: {complaint or 'it gave no reason'}.")
        return target.read_bytes()


WRITERS: dict[str, Callable[[Iterator[Picture], float], bytes]] = {".gif": _gif, ".mp4": _mp4}


# Progress ---------------------------------------------------------------------------------------------


class FrameProgress:
    """A line on a terminal that says how far the drawing is; a `progress` of the caller's own instead."""

    def __init__(self, progress: Progress | None) -> None:
        self.progress = progress
        self.began = time.perf_counter()
        self.shown = False

    def __enter__(self) -> FrameProgress:
        return self

    def __exit__(self, *_: object) -> None:
        if self.shown:
            sys.stderr.write("\r" + 50 * " " + "\r")

    def __call__(self, part: float) -> None:
        if self.progress is not None:
            self.progress(part)
        elif time.perf_counter() - self.began > PATIENCE and sys.stderr.isatty():
            self.shown = True
            done = round(30 * part)
            sys.stderr.write(f"\rdrawing [{done * '#'}{(30 - done) * '.'}] {100 * part:3.0f} %")
            sys.stderr.flush()
