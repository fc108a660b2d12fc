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

from matplotlib.patches import Arc, Polygon

import simengine2d as se
from simengine2d.cli.job import job_for
from simengine2d.draw.figure import closed_figure, draw_scene
from simengine2d.draw.scene import scene_of
from simengine2d.model import library

FOLDER = Path(__file__).parents[1] / "docs" / "pictures"

MECHANISMS: dict[str, tuple[float, list[str]]] = {
    "andrews_squeezer": (0.0, ["K3.D"]),
    "four_bar": (0.12, ["coupler.at(0, 0.6)"]),
    "jansen_leg": (0.1, ["foot.S"]),
    "pantograph": (0.2, ["AP.end", "DQ.end"]),
    "peaucellier": (0.08, ["crank.end", "AS.end"]),
    "planetary_gear": (0.07, ["planet.at(0.09, 0)"]),
    "quick_return": (0.1, []),
    "rack_pinion": (0.03, []),
    "scotch_yoke": (0.1, []),
    "slider_crank": (0.1, ["rod"]),
}
"""When each is drawn, as a part of its motion, and whose paths are shown with it."""


def loaded(name: str) -> se.Model:
    with library.file(name) as path:
        return se.load(path)


def mechanism(name: str) -> Path:
    """Run a mechanism and draw it."""
    model = loaded(name)
    results = job_for(model).run(model)
    part, trace = MECHANISMS[name]
    at = round(part * (results.t.size - 1))
    scene = scene_of(results, trace)
    x0, y0, x1, y1 = bounds = scene.bounds_of_picture(at)
    ratio = (y1 - y0) / (x1 - x0)
    width = 5.0 / ratio**0.5 if ratio > 0.35 else 7.0
    figure = closed_figure(width, width * ratio, dpi=110)
    axes = figure.add_axes((0, 0, 1, 1))
    draw_scene(scene, axes, at=at, bounds=bounds, forces=False)
    target = FOLDER / "mechanisms" / f"{name}.png"
    figure.savefig(target, metadata={"Software": None})
    return target


def lecture() -> Path:
    """The animation of the lecture: a bar that falls, the path of its center, the force in its pin."""
    model = se.Model("one-bar linkage")
    bar = model.bar("bar", (0, 0), (0.5, 0), mass=0.3)
    model.add(se.Revolute("pin", model.ground, bar["start"]))
    results = se.dynamics(model, t_end=3, step=0.02)
    return results.animate(FOLDER / "one_bar.gif", trace=["bar"], size=420)


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
    for name in sys.argv[1:] or MECHANISMS:
        print(mechanism(name))
    if len(sys.argv) == 1:
        print(notation(), lecture(), player() or "no browser for player.png", sep="\n")
