"""Take the pictures of the studio that the documentation shows, in a real Chromium.

python tools/studio_pictures.py
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from PIL import Image

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests" / "studio")]

from pages import RunningStudio  # noqa: E402
from studio_page import StudioPage  # noqa: E402

from chromium import browser  # noqa: E402
from simengine2d.model import library  # noqa: E402

FOLDER = ROOT / "docs" / "pictures" / "studio"
COLORS = 200
WIDE, PHONE = (1180, 720), (390, 760)


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, RunningStudio(Path(folder)) as studio, browser() as port:
        page = StudioPage(port, *WIDE)
        page.visit(studio.address)
        draw_first(page)
        read_forces(page)
        read_motion(page)
        use_a_phone(page)
        page.close()


def draw_first(page: StudioPage) -> None:
    """The guide of an empty drawing, after its first step."""
    page.key("g")
    page.click(0, 0)
    page.click(1, 0)
    page.key("l")
    take(page, "first_steps")
    page.drag([(0, 0), (0, 0.3)])
    page.drag([(0, 0.3), (0.8, 0.7)])
    page.drag([(0.8, 0.7), (1, 0)])
    page.key("m")
    page.click(0, 0)


def read_forces(page: StudioPage) -> None:
    """The four-bar just drawn, with a force, while it moves."""
    page.key("f")
    page.drag([(0.8, 0.7), (0.8, 0.4)])
    page.key("Escape")
    page.run("studio.guide.close(); studio.page.showPanel('forces'); studio.screen.player.seek(0.15)")
    page.run("studio.commands.trace(studio.drawing.points.find(({ id }) => id === 'E'))")
    take(page, "four_bar")
    page.select("link2")
    page.key("x")
    page.run("new Promise((done) => setTimeout(done, 100))")
    take(page, "menu")
    page.key("Escape")
    page.key("Escape")


def read_motion(page: StudioPage) -> None:
    """A mechanism of the gallery in the dark, with its plots, instant centers and marks of equal time."""
    page.show_text(library.text("jansen_leg"))
    page.run("studio.page.setTheme('dark'); studio.page.showPanel('plots'); studio.screen.player.seek(0.24)")
    page.run("for (const name of ['centers', 'marks']) studio.readings.turn(name, true)")
    take(page, "jansen_dark")
    page.run("for (const name of ['centers', 'marks']) studio.readings.turn(name, false)")
    page.run("studio.page.setTheme('light'); studio.page.showPanel('model')")


def use_a_phone(page: StudioPage) -> None:
    """Three views of a narrow page, side by side."""
    page.resize(*PHONE)
    page.show_text(library.text("slider_crank"))
    page.run("studio.screen.player.seek(0.15)")
    views = []
    for view, panel in (("draw", "model"), ("text", "model"), ("side", "forces")):
        page.run(f"studio.page.showView({view!r}); studio.page.showPanel({panel!r})")
        page.resize(*PHONE)
        views.append(Image.open(page.picture(FOLDER / f"{view}.png")).convert("RGB"))
        (FOLDER / f"{view}.png").unlink()
    width, height = PHONE
    together = Image.new("RGB", (3 * width + 40, height), "white")
    for i, view in enumerate(views):
        together.paste(view, (i * (width + 20), 0))
    save(together, "phone")


def take(page: StudioPage, name: str) -> None:
    page.settle()
    save(Image.open(page.picture(FOLDER / f"{name}.png")).convert("RGB"), name)


def save(picture: Image.Image, name: str) -> None:
    path = FOLDER / f"{name}.png"
    picture.quantize(COLORS, dither=Image.Dither.NONE).save(path, optimize=True)
    print(f"{path.relative_to(ROOT)}: {path.stat().st_size / 1e3:.0f} kB")


if __name__ == "__main__":
    main()
