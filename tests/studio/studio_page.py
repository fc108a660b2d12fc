"""The page of the studio in a real Chromium, used as a person would, by mouse and keyboard."""

from __future__ import annotations

import json
import time
from itertools import pairwise

from chromium import Page

CONTROL, SHIFT = 2, 8  # of the DevTools protocol
CODES = {"Tab": 9, "Enter": 13, "Escape": 27, "Home": 36, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39}
CODES |= {"ArrowDown": 40, "Delete": 46}
PATIENCE = 60.0  # seconds; a machine that has other things to do


class StudioPage(Page):
    """One window of a studio."""

    def visit(self, address: str) -> None:
        """Open the page, and wait until its engine has answered once."""
        self.send("Page.navigate", url=address)
        self.until("window.studio?.canvas.dataset.looks")

    def until(self, script: str) -> None:
        end = time.monotonic() + PATIENCE
        while not self.run(f"Boolean({script})"):
            if time.monotonic() > end:
                raise TimeoutError(f"never true: {script}; {self.run('document.body.innerText')}")
            time.sleep(0.02)

    def settle(self) -> None:
        """Until nothing is being edited or looked at."""
        self.run(
            """(async () => {
              do {
                await new Promise((done) => setTimeout(done));
                await studio.edits;
                await studio.looked();
              } while (studio.dragging);
            })()"""
        )

    # places of the drawing, in meters

    def pixel(self, x: float, y: float) -> tuple[float, float]:
        script = f"""(() => {{
          const [[u, v], box] = [studio.screen.toScreen([{x}, {y}]), studio.screen.box];
          return [box.left + u, box.top + v];
        }})()"""
        u, v = self.run(script)
        return u, v

    def click(self, x: float, y: float, **more) -> None:
        self.drag([(x, y)], **more)

    def drag(self, places, steps: int = 4, **more) -> None:
        """Press at the first place, move through the others, let go at the last; one place is a click."""
        pixels = [self.pixel(*place) for place in places]
        self.mouse("mouseMoved", *pixels[0], **more)
        button = {"button": "left", "clickCount": 1, **more}
        self.mouse("mousePressed", *pixels[0], buttons=1, **button)
        for (x0, y0), (x1, y1) in pairwise(pixels):
            for i in range(1, steps + 1):
                x, y = x0 + (x1 - x0) * i / steps, y0 + (y1 - y0) * i / steps
                self.mouse("mouseMoved", x, y, buttons=1, **button)
        self.mouse("mouseReleased", *pixels[-1], **button)
        self.settle()

    def click_on(self, selector: str) -> None:
        """The middle of an element of the page."""
        box = self.run(
            f"""(() => {{
              const box = document.querySelector({selector!r}).getBoundingClientRect();
              return [box.left + box.width / 2, box.top + box.height / 2];
            }})()"""
        )
        button = {"button": "left", "clickCount": 1}
        self.mouse("mousePressed", *box, buttons=1, **button)
        self.mouse("mouseReleased", *box, **button)

    # fingers

    def touch(self, *moments: list[tuple[float, float]]) -> None:
        """Fingers at pixels, moment after moment; they are lifted after the last one."""
        for kind, places in zip(("touchStart", *("touchMove",) * len(moments)), moments, strict=False):
            points = [{"x": x, "y": y, "id": i} for i, (x, y) in enumerate(places)]
            self.send("Input.dispatchTouchEvent", type=kind, touchPoints=points)
        self.send("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])

    # keys

    def key(self, key: str, modifiers: int = 0) -> None:
        code = ord(key.upper()) if len(key) == 1 else CODES[key]
        text = (
            {"text": "\r" if key == "Enter" else key}
            if (len(key) == 1 or key == "Enter") and not modifiers & CONTROL
            else {}
        )
        common = {"key": key, "modifiers": modifiers, "windowsVirtualKeyCode": code}
        self.send("Input.dispatchKeyEvent", type="keyDown", **common, **text)
        self.send("Input.dispatchKeyEvent", type="keyUp", **common)

    def select(self, name: str) -> None:
        """A body or an element, one after the other by the keyboard."""
        self.key("Escape")
        for _ in range(self.run("studio.commands.things.length")):
            self.key("n")
            if self.run(f"studio.selection.one.kind !== 'point' && studio.selection.one.name === {name!r}"):
                return
        raise LookupError(f"{name} is not among {self.run('JSON.stringify(studio.commands.things)')}")

    def type_over(self, selector: str, text: str) -> None:
        """Replace what a field says, and press Enter."""
        self.run(
            f"(() => {{ const field = document.querySelector({selector!r}); field.focus(); field.select() }})()"
        )
        self.send("Input.insertText", text=text)
        self.key("Enter")
        self.settle()

    def choose(self, word: str) -> None:
        """A line of the menu that is open."""
        self.run(
            f"[...document.querySelectorAll('.popup button')].find((one) => one.innerText === {word!r}).focus()"
        )
        self.key("Enter")
        self.settle()

    def show_text(self, text: str) -> None:
        """Another model, as if it had been opened; what was there is not missed."""
        self.run("studio.files.saved = studio.editor.text")
        self.run(f"studio.files.begin({json.dumps(text)})")
        self.settle()
        self.run("studio.files.saved = studio.editor.text")

    def resize(self, width: int, height: int) -> None:
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        self.send("Emulation.setDeviceMetricsOverride", **size)
        self.run("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")

    # what the page says

    @property
    def text(self) -> str:
        return self.run("studio.editor.text")

    def words(self) -> str:
        return self.run("document.querySelector('.words').innerText")

    def toasts(self) -> str:
        return self.run("document.querySelector('.toasts').innerText")

    def peak(self, joint: str) -> float:
        return float(
            self.run(f"document.querySelector('[data-joint=\"{joint}\"] [data-force]').dataset.force")
        )

    def save_as(self, name: str) -> None:
        self.key("s", CONTROL)
        self.until("document.querySelector('dialog input')")
        self.type_over("dialog input", name)
        self.until(f"studio.files.name === {name!r}")
