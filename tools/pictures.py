"""Draw the pictures that the documentation shows.

python tools/pictures.py [NAME ...]
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

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


if __name__ == "__main__":
    (FOLDER / "mechanisms").mkdir(parents=True, exist_ok=True)
    for name in sys.argv[1:] or MECHANISMS:
        print(mechanism(name))
    if len(sys.argv) == 1:
        print(lecture(), player() or "no browser for player.png", sep="\n")
