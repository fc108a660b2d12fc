"""Draw the pictures that the documentation shows.

python tools/pictures.py [NAME ...]
"""

from __future__ import annotations

import math
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import Arc, Polygon
from PIL import Image

import simengine2d as se
from simengine2d.draw.figure import closed_figure, draw_scene
from simengine2d.draw.scene import scene_of
from simengine2d.io.job import job_for
from simengine2d.model import library

FOLDER = Path(__file__).parents[1] / "docs" / "pictures"
COLORS = 48  # of a mechanism

WHEN = {
    "andrews_squeezer": 0.0, "cart_pole": 0.0, "coupled_pendulums": 0.0, "elliptic_trammel": 0.2, "excavator": 0.45,
    "four_bar": 0.12, "front_loader": 0.5, "gantry_crane": 0.25, "landing_gear": 0.4, "pantograph": 0.2,
    "peaucellier": 0.08, "planetary_gear": 0.07, "rack_pinion": 0.03, "robot_arm": 0.35, "scissor_lift": 0.35,
    "toggle_press": 0.85, "trebuchet": 0.6, "umbrella": 0.6, "valve_train": 0.45, "walker": 0.48, "watt_linkage": 0.15,
    "whitworth": 0.3,
}  # fmt: skip
"""When a mechanism is drawn, as a part of its motion; 0.1 unless given."""

TRACES = {
    "four_bar": ["coupler.at(0, 0.6)"],
    "planetary_gear": ["planet.at(0.09, 0)"],
}
"""Whose paths are shown with it; those that the model's own look names unless given."""


def loaded(name: str) -> se.Model:
    with library.file(name) as path:
        return se.load(path)


def mechanism(name: str) -> Path:
    """Run a mechanism and draw it."""
    model = loaded(name)
    results = job_for(model).run(model)
    at = round(WHEN.get(name, 0.1) * (results.t.size - 1))
    scene = scene_of(results, TRACES.get(name, model.look.get("trace", [])))
    x0, y0, x1, y1 = bounds = scene.bounds_of_picture(at)
    ratio = (y1 - y0) / (x1 - x0)
    width = 5.0 / ratio**0.5 if ratio > 0.35 else 7.0
    figure = closed_figure(width, width * ratio, dpi=110)
    axes = figure.add_axes((0, 0, 1, 1))
    draw_scene(scene, axes, at=at, bounds=bounds, forces=False)
    return save_small(figure, FOLDER / "mechanisms" / f"{name}.png")


def save_small(figure: Figure, target: Path) -> Path:
    """A picture of few colors, which takes a third of the space."""
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    picture = Image.fromarray(np.asarray(canvas.buffer_rgba())).convert("RGB")
    picture.quantize(COLORS, dither=Image.Dither.NONE).save(target, optimize=True)
    return target


def lecture() -> Path:
    """The animation of the lecture: a bar that falls, the path of its center, the force in its pin."""
    model = se.Model("one-bar linkage")
    bar = model.bar("bar", (0, 0), (0.5, 0), mass=0.3)
    model.add(se.Revolute("pin", model.ground, bar["start"]))
    results = se.dynamics(model, t_end=3, step=0.02)
    return results.animate(FOLDER / "one_bar.gif", trace=["bar"], size=420)


def moving() -> Path:
    """The picture of the README: a leg that walks, the path of its foot, and the forces that it takes."""
    results = se.inverse_dynamics(loaded("jansen_leg"), t_end=1, step=0.01)
    return results.animate(FOLDER / "walking_leg.gif", trace=["foot.S"], size=420, fps=20, speed=0.5)


def player() -> Path | None:
    """The player in a browser, where there is one."""
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        return None
    results = se.inverse_dynamics(loaded("slider_crank"), t_end=1, step=0.01)
    target = FOLDER / "player.png"
    with tempfile.TemporaryDirectory() as folder:
        page = results.html(Path(folder) / "player.html", play=False, at=0.31, theme="light")
        switches = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]
        picture = [
            f"--screenshot={target}",
            "--window-size=1200,700",
            "--virtual-time-budget=2000",
            page.as_uri(),
        ]
        subprocess.run([chromium, *switches, *picture], check=True, capture_output=True, timeout=60)
    return target


def notation() -> Path:
    """A body with a point P: the vectors r, s' and r_P, the angle phi, and the axes u, v of a frame at P."""
    figure = closed_figure(6.0, 4.2, dpi=110)
    axes = figure.add_axes((0, 0, 1, 1))
    phi, r, s = 0.45, (2.6, 1.5), (1.5, 0.5)
    c, sn = math.cos(phi), math.sin(phi)
    P = (r[0] + c * s[0] - sn * s[1], r[1] + sn * s[0] + c * s[1])
    outline = [(-1.2, -0.55), (1.9, -0.55), (2.1, 0.9), (-0.6, 0.8)]
    body = [(r[0] + c * x - sn * y, r[1] + sn * x + c * y) for x, y in outline]
    axes.add_patch(Polygon(body, joinstyle="round", facecolor="#e8eef7", edgecolor="#5b7db1", linewidth=1.5))

    def arrow(start, end, color, text, offset):
        axes.annotate("", end, start, arrowprops={"arrowstyle": "-|>", "color": color, "linewidth": 1.6})
        middle = (0.5 * (start[0] + end[0]) + offset[0], 0.5 * (start[1] + end[1]) + offset[1])
        axes.text(*middle, text, color=color, fontsize=13, ha="center", va="center")

    def along(start, angle, length):
        return start[0] + length * math.cos(angle), start[1] + length * math.sin(angle)

    arrow((0, 0), (0.9, 0), "black", "$x$", (0.6, 0.0))
    arrow((0, 0), (0, 0.9), "black", "$y$", (0.0, 0.6))
    arrow((0, 0), r, "#1f5fa8", "$r$", (0.15, -0.22))
    arrow(r, P, "#b3541e", "$A\\,s'$", (0.42, 0.0))
    arrow((0, 0), P, "#777777", "$r_P = r + A\\,s'$", (-0.85, 0.45))
    arrow(P, along(P, phi + 0.5, 0.75), "#2a7f3f", "$u$", (0.25, 0.3))
    arrow(P, along(P, phi + 0.5 + math.pi / 2, 0.75), "#2a7f3f", "$v$", (-0.25, 0.3))
    axes.plot([r[0], r[0] + 1.1], [r[1], r[1]], color="black", linewidth=0.8, linestyle="--")
    axes.plot([r[0], along(r, phi, 2.0)[0]], [r[1], along(r, phi, 2.0)[1]], color="black", linewidth=0.8)
    axes.add_patch(Arc(r, 1.6, 1.6, theta1=0, theta2=math.degrees(phi), color="black", linewidth=1.0))
    axes.text(*along(r, 0.5 * phi, 1.0), "$\\varphi$", fontsize=13, ha="center", va="center")
    axes.plot(*r, "o", color="#1f5fa8", markersize=5)
    axes.plot(*P, "o", color="#2a7f3f", markersize=5)
    axes.text(P[0] + 0.22, P[1] - 0.12, "$P$", fontsize=13)
    axes.set_xlim(-0.4, 5.4)
    axes.set_ylim(-0.4, 3.66)
    axes.set_axis_off()
    target = FOLDER / "notation.png"
    figure.savefig(target, metadata={"Software": None})
    return target


if __name__ == "__main__":
    (FOLDER / "mechanisms").mkdir(parents=True, exist_ok=True)
    for name in sys.argv[1:] or library.names():
        print(mechanism(name))
    if len(sys.argv) == 1:
        print(notation(), lecture(), moving(), player() or "no browser for player.png", sep="\n")
