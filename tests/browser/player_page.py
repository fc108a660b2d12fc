"""The page of a player: moving it through time, and where it draws what."""

from __future__ import annotations

import numpy as np

from chromium import Page

PLAYER = "document.getElementById('player').player"
PIXEL = 0.5  # a point is where it belongs when it is drawn in the right pixel


def scrub(page: Page, t: float) -> None:
    page.run(
        f"{{const s = document.querySelector('.scrub'); s.value = {t!r};"
        " s.dispatchEvent(new Event('input', {bubbles: true}));}"
    )


def set_scale(page: Page, factor: float) -> None:
    page.run(
        f"{{const s = document.querySelector('.scale'); s.value = Math.log10({factor});"
        " s.dispatchEvent(new Event('input', {bubbles: true}));}"
    )


def on_screen(page: Page, carrier: str, points: list[tuple[float, float]]) -> np.ndarray:
    """Where points of a carrier, in its own axes, are drawn: as the browser itself says."""
    return mapped(page, f'[data-carrier="{carrier}"]', points)


def world_to_screen(page: Page, points: np.ndarray) -> np.ndarray:
    """Where global points are on the screen."""
    return mapped(page, ".world", [(float(x), float(y)) for x, y in points])


def mapped(page: Page, element: str, points: list[tuple[float, float]]) -> np.ndarray:
    script = f"""(() => {{
      const m = document.querySelector('{element}').getScreenCTM();
      return {[list(point) for point in points]}.map(([x, y]) => [m.a * x + m.c * y + m.e, m.b * x + m.d * y + m.f]);
    }})()"""
    return np.array(page.run(script))
