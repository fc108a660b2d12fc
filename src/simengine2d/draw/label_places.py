"""Places of labels: upright, beside their spots, clear of each other, of pins, and as far as possible of links.

Every label has candidates around its spot. The cheapest is taken, one label after the other, those of pins first,
since a body's name may slide along its bar. `viewer/labels.js` does the same with the pixels of a screen.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import atan2, pi
from typing import NamedTuple

import numpy as np

from ..numerics.arrays import Floats
from .layout import CarrierMotion
from .marks import Bounds, Label

ANGLES = np.arange(16) * pi / 8
UNITS = np.column_stack([np.cos(ANGLES), np.sin(ANGLES)])
EXTRAS = (0.0, 0.7, 1.5, 2.5)  # further off, in heights of a label
SLIDES = (0.0, -0.3, 0.3, -0.6, 0.6)  # along a bar, in halves of it
FORBIDDEN, PIN, LINE, ARROW = (
    1000.0,
    20.0,
    5.0,
    3.0,
)  # cost of another label or the edge, a pin, a line, an arrow
NARROW, FURTHER, SLID, INWARD, ASIDE = 4.0, 3.0, 1.0, 0.5, 8.0
CHARACTER, HEIGHT = 0.62, 1.35  # of letters, in font sizes


class LabelPlace(NamedTuple):
    """The middle of a label, its size, and whether there was room for it."""

    x: float
    y: float
    width: float
    height: float
    is_free: bool

    @property
    def box(self) -> Bounds:
        w, h = self.width / 2, self.height / 2
        return self.x - w, self.y - h, self.x + w, self.y + h


def usual_sizes(words: Sequence[Label], font: float) -> list[tuple[float, float]]:
    """About how large the words are in letters of a size."""
    return [(CHARACTER * font * len(label.text), HEIGHT * font) for label in words]


def places(
    words: Sequence[Label],
    motion: CarrierMotion,
    i: int,
    size: float,
    boxes: Sequence[tuple[float, float]],
    canvas: Bounds | None = None,
    also: Sequence[Sequence[float]] = (),
) -> list[LabelPlace]:
    """A place for every word at the i-th time; `boxes` are the widths and heights of the words in meters.

    `also` are segments (x, y, dx, dy) of what else is drawn.
    """
    crowd = _Crowd(words, motion, i, size, canvas)
    crowd.arrows = np.array(also).reshape(-1, 4)
    chosen: dict[int, LabelPlace] = {}
    for k in sorted(range(len(words)), key=lambda k: not words[k].is_pin):
        chosen[k] = crowd.place(k, *boxes[k])
    return [chosen[k] for k in range(len(words))]


class _Crowd:
    """The labels at one time, and what they must not cover."""

    def __init__(
        self, words: Sequence[Label], motion: CarrierMotion, i: int, size: float, canvas: Bounds | None
    ) -> None:
        self.words, self.size, self.canvas = words, size, canvas
        self.spots = [motion.place(label.spot)[i] for label in words]
        self.lines = [
            [motion.place(spot)[i] - at for spot in label.clear]
            for label, at in zip(words, self.spots, strict=True)
        ]
        self.middle = np.mean(self.spots, axis=0) if words else np.zeros(2)
        self.pins = np.array([b for a, w in zip(self.spots, words, strict=True) for b in _pin(a, w, size)])
        ends = [(*at, *line) for at, lines in zip(self.spots, self.lines, strict=True) for line in lines]
        self.segments = np.array(ends).reshape(-1, 4)
        self.arrows = np.empty((0, 4))
        self.taken: list[Bounds] = []

    def place(self, k: int, width: float, height: float) -> LabelPlace:
        """The cheapest candidate of the k-th label."""
        centers, cost = self._candidates(k, width, height)
        half = np.array([width, height]) / 2
        low, high = centers - half, centers + half
        cost = cost + FORBIDDEN * _overlaps(low, high, np.array(self.taken).reshape(-1, 4))
        cost += PIN * _overlaps(low, high, self.pins.reshape(-1, 4)) + LINE * _crossed(
            low, high, self.segments
        )
        cost += ARROW * _crossed(low, high, self.arrows)
        if self.canvas is not None:
            x0, y0, x1, y1 = self.canvas
            cost += FORBIDDEN * ((low < (x0, y0)) | (high > (x1, y1))).any(axis=1)
        best = int(cost.argmin())
        x, y = centers[best].tolist()
        place = LabelPlace(x, y, width, height, bool(cost[best] < FORBIDDEN))
        if place.is_free:
            self.taken.append(place.box)
        return place

    def _candidates(self, k: int, width: float, height: float) -> tuple[Floats, Floats]:
        """Middles around the spot, and what they cost before anything else is looked at."""
        label, at, lines = self.words[k], self.spots[k], self.lines[k]
        gap = label.gap or self.size
        corners = 0.5 * np.array([width, height]) * np.clip(1.6 * UNITS, -1.0, 1.0)
        around = _narrowness(label, lines) + INWARD * (1.0 - UNITS @ _unit(at - self.middle))
        centers, cost = [], []
        if label.gap == 0.0:  # on the spot itself
            centers, cost = [at[None]], [np.zeros(1)]
            around = around + ASIDE
        slides = SLIDES if not label.is_pin and lines else (0.0,)
        for slide in slides:
            foot = at + (abs(slide) * lines[0 if slide > 0.0 else -1] if slide else 0.0)
            for extra in EXTRAS:
                centers.append(foot + UNITS * (gap + extra * height) + corners)
                cost.append(around + FURTHER * extra + SLID * abs(slide))
        return np.vstack(centers), np.concatenate(cost)


def _pin(at: Floats, label: Label, size: float) -> list[Bounds]:
    """The room of a pin, of the support below it, and of the arrow of a motor around it."""
    if not label.is_pin:
        return []
    half = (2.6 if label.gap > 2 * size else 0.9) * size
    x, y = at
    return [(x - half, y - (2.6 * size if label.above else half), x + half, y + half)]


def _narrowness(label: Label, lines: Sequence[Floats]) -> Floats:
    """Cost of each direction: none right between lines far apart, most along a line."""
    taken = [atan2(dy, dx) for dx, dy in lines if abs(dx) + abs(dy) > 0.0] + [-pi / 2] * label.above
    if not taken:
        return np.zeros(ANGLES.size)
    apart = np.abs((ANGLES[:, None] - np.array(taken)[None] + pi) % (2 * pi) - pi).min(axis=1)
    return NARROW * (1.0 - apart / pi)


def _unit(d: Floats) -> Floats:
    return d / (np.hypot(*d) or 1.0)


def _overlaps(low: Floats, high: Floats, boxes: Floats) -> Floats:
    """How many of the boxes each candidate covers in part."""
    apart = (low[:, None] >= boxes[None, :, 2:]) | (high[:, None] <= boxes[None, :, :2])
    return (~apart.any(axis=2)).sum(axis=1).astype(float)


def _crossed(low: Floats, high: Floats, segments: Floats) -> Floats:
    """How many segments (x, y, dx, dy) go through each candidate: those with 0 <= s <= 1 within all four edges."""
    p, d = segments[None, :, :2], segments[None, :, 2:]
    d = np.where(np.abs(d) < 1e-300, 1e-300, d)
    with np.errstate(over="ignore"):
        first, second = (low[:, None] - p) / d, (high[:, None] - p) / d
    enter, leave = np.minimum(first, second).max(axis=2), np.maximum(first, second).min(axis=2)
    return (np.maximum(enter, 0.0) <= np.minimum(leave, 1.0)).sum(axis=1).astype(float)
