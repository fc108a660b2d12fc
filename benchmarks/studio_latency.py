"""The studio in a real Chromium: from an edit to moving again, and frames a second of a mechanism in the hand.

An edit is one of the form, as a pin that is dragged makes it, or a number that is typed into the text. The time is
taken in the page, from the edit until a frame of the new motion has been drawn after it. Times are of a quiet machine;
the processor time of an edit, over all processes of studio and browser, says what it would be on one.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from itertools import pairwise
from math import cos, pi, sin
from pathlib import Path
from statistics import median

TESTS = Path(__file__).parents[1] / "tests"
sys.path[:0] = [str(TESTS), str(TESTS / "studio")]

from pages import RunningStudio  # noqa: E402
from studio_page import StudioPage  # noqa: E402

from chromium import browser  # noqa: E402

EDITED = {"four_bar": ("coupler", 2.0, 100.0), "jansen_leg": ("bar_j", 0.5, 300.0)}
"""Mechanisms of the gallery: a parameter, its value, and the milliseconds that are asked for."""
LINKS = 10
FRAMES_ASKED = 30.0
PULLED = 4.0  # seconds

MOVING_AGAIN = """
window.movingAgain = async (edit) => {
  const began = performance.now();
  await edit();
  const { player } = studio.screen;
  const before = player.time;
  while (player.time === before) await new Promise((done) => requestAnimationFrame(done));
  return performance.now() - began;
};
window.typed = async (before, after) => {
  const at = studio.editor.text.indexOf(before);
  const { looks } = studio.canvas.dataset;
  studio.editor.view.dispatch({ changes: { from: at, to: at + before.length, insert: after } });
  while (studio.canvas.dataset.looks === looks) await new Promise((done) => setTimeout(done));
};
"""
COUNT_FRAMES = """
window.shownFrames = 0;
{
  const pull = studio.screen.pull.bind(studio.screen);
  let waiting = false;
  studio.screen.pull = (poses) => {
    pull(poses);
    if (waiting) return; // of several in one picture only the last is seen
    waiting = true;
    requestAnimationFrame(() => { waiting = false; window.shownFrames++; });
  };
}
"""


def processor_seconds() -> float:
    """Of this process, of its children and theirs, as Linux counts it."""
    ticks, parents = {}, {}
    for file in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = file.read_text().rpartition(")")[2].split()
        except OSError:  # it has just ended
            continue
        parents[int(file.parent.name)] = int(fields[1])
        ticks[int(file.parent.name)] = sum(map(int, fields[11:15]))

    def is_ours(pid: int) -> bool:
        while pid not in (0, os.getpid()):
            pid = parents.get(pid, 0)
        return pid != 0

    return sum(each for pid, each in ticks.items() if is_ours(pid)) / os.sysconf("SC_CLK_TCK")


def wait_for_spare_worker() -> None:
    """Until a second has passed in which hardly anything was computed."""
    before = processor_seconds()
    for _ in range(60):
        time.sleep(1.0)
        before, now = processor_seconds(), before
        if before - now < 0.1:
            return


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--edits", type=int, default=30, help="edits of each mechanism")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, RunningStudio(Path(folder)) as studio, browser() as port:
        page = StudioPage(port, 1440, 860)
        page.visit(studio.address)
        page.run(MOVING_AGAIN)
        wait_for_spare_worker()
        for name in EDITED:
            print_edits(page, name, given.edits)
        print_pull(page)
        page.close()


def show(page: StudioPage, opened: str) -> None:
    """A mechanism in place of what is there."""
    page.run(
        f"(async () => {{ studio.files.saved = studio.editor.text; {opened}; await studio.looked() }})()"
    )


def print_edits(page: StudioPage, name: str, count: int) -> None:
    parameter, value, asked = EDITED[name]
    show(page, f"await studio.files.open({{ gallery: {name!r} }})")
    page.run("studio.screen.play()")
    drawn, typed = [], []
    before = f"{parameter}: {value:g}"
    for i in range(count):
        edit = set_parameter(parameter, value, i)
        drawn.append(page.run(f"movingAgain(() => studio.edit({edit}))"))
        now = next(
            line.strip() for line in page.text.splitlines() if line.strip().startswith(f"{parameter}:")
        )
        typed.append(page.run(f"movingAgain(() => typed({now!r}, {before!r}))"))
    for what, times in (("drawn", drawn), ("typed", typed)):
        print(
            f"{name}, an edit that is {what}: moving again after {median(times):.0f} ms in the median "
            f"(below {asked:g} asked), of {count} the quickest {min(times):.0f}, the slowest {max(times):.0f} ms"
        )

    page.run("studio.screen.rest()")
    began = processor_seconds()
    for i in range(count):
        page.run(f"studio.edit({set_parameter(parameter, value, i)})")
    print(f"{name}: {1e3 * (processor_seconds() - began) / count:.0f} ms of processor time an edit")


def set_parameter(name: str, value: float, number: int) -> str:
    """An edit that changes a number a little."""
    return f"{{ do: 'set_parameter', name: {name!r}, value: {value * (1.0 + 0.001 * (number % 7 + 1))} }}"


def chain_text() -> str:
    """A chain of links that hangs from a nail, as the text of a model."""
    turns = [0.5 * pi - 0.25 * i for i in range(LINKS)]
    places = [(0.0, 0.0)]
    for turn in turns:
        x, y = places[-1]
        places.append((round(x + 0.2 * sin(turn), 6), round(y - 0.2 * cos(turn), 6)))
    bodies = [
        f"  link{i + 1}: {{shape: bar, start: {list(a)}, end: {list(b)}, density: 1}}"
        for i, (a, b) in enumerate(pairwise(places))
    ]
    pins = [
        f"  pin{i + 1}: {{type: Revolute, a: link{i}.end, b: link{i + 1}.start}}" for i in range(1, LINKS)
    ]
    nail = "  pin1: {type: Revolute, a: ground.O, b: link1.start}"
    return "\n".join(["ground: {points: {O: [0, 0]}}", "bodies:", *bodies, "joints:", nail, *pins, ""])


def print_pull(page: StudioPage) -> None:
    show(page, f"await studio.files.begin({chain_text()!r})")
    page.run(COUNT_FRAMES)
    bodies = page.run("studio.drawing.bodies.at(-1).outline")
    x, y = page.pixel(*(sum(place[c] for place in bodies) / len(bodies) for c in (0, 1)))
    held = {"button": "left", "buttons": 1, "clickCount": 1}
    page.mouse("mouseMoved", x, y)
    page.mouse("mousePressed", x, y, **held)
    page.mouse("mouseMoved", x + 8, y, **held)
    page.until("studio.screen.pulled")
    page.run("window.shownFrames = 0")
    began = time.perf_counter()
    while (gone := time.perf_counter() - began) < PULLED:
        page.mouse("mouseMoved", x + 120 * sin(3 * gone), y - 80 + 80 * cos(5 * gone), **held)
        time.sleep(0.01)
    rate = page.run("window.shownFrames") / gone
    page.mouse("mouseReleased", x, y, button="left", clickCount=1)
    print(f"a free chain of {LINKS} links in the hand: {rate:.0f} frames a second ({FRAMES_ASKED:g} asked)")


if __name__ == "__main__":
    main()
