"""The answer to every edit: what is wrong, what is drawn, how it moves, and what the joints bear."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from ...draw.html import player_data
from ...draw.scene import pose_of_model
from ...errors import SimEngineError
from ...model.elements import Joint
from ...results.peaks import peak_of
from ...results.results import Results
from .draft import TextDraft, problem_data, read_draft
from .drawing import drawing_of
from .pins import pins_of
from .runs import Shown, shown_motion
from .sliders import parameters_of
from .words import words_of


class Stopwatch:
    """Milliseconds of each part."""

    def __init__(self) -> None:
        self.parts: dict[str, float] = {}
        self.last = time.perf_counter()

    def note(self, part: str) -> None:
        now = time.perf_counter()
        self.parts[part], self.last = round(now - self.last, 5), now


def look(request: dict[str, Any]) -> dict[str, Any]:
    """Problems, drawing, words, parameters, motion and peaks of a text; never an exception for what is written."""
    watch = Stopwatch()
    draft = read_draft(request["text"], request.get("folder") or ".", request.get("values"))
    watch.note("read")
    answer: dict[str, Any] = {
        "problems": [problem_data(problem) for problem in draft.problems],
        "drawing": None,
        "words": [],
        "parameters": parameters_of(draft),
        "player": None,
        "peaks": [],
        "channels": [],
        "analysis_used": None,
    }
    if draft.model is not None:
        answer |= _of_model(draft, request.get("analysis"), watch)
    return answer | {"seconds": watch.parts}


def _of_model(draft: TextDraft, asked: dict[str, Any] | None, watch: Stopwatch) -> dict[str, Any]:
    model = draft.model
    assert model is not None
    pins = pins_of(draft.resolved)
    drawing = drawing_of(draft, pins)
    watch.note("drawing")
    shown = shown_motion(model, asked) if model.bodies else Shown(None)
    watch.note("motion")
    words = words_of(draft, shown, pins)
    watch.note("words")
    player = _player(draft, shown)
    watch.note("player")
    peaks = [] if shown.results is None else peaks_of(shown.results)
    watch.note("peaks")
    channels = player["results"][0]["channels"] if player else []
    return {
        "drawing": drawing,
        "words": words,
        "player": player,
        "peaks": peaks,
        "channels": [channel["name"] for channel in channels],
        "analysis_used": shown.used or None,
    }


def _player(draft: TextDraft, shown: Shown) -> dict[str, Any] | None:
    """What the player draws: the motion, or the pose where there is none."""
    model = draft.model
    if model is None or not model.bodies:
        return None
    try:
        results = shown.results if shown.results is not None else pose_of_model(model)
        return player_data(results)
    except SimEngineError:
        return None


def peaks_of(results: Results) -> list[dict[str, Any]]:
    """The largest force and torque of every joint, and when."""
    if results.lam is None or not results.t.size:
        return []
    return [
        _peak(results, name) for name, joint in results.model.elements.items() if isinstance(joint, Joint)
    ]


def _peak(results: Results, name: str) -> dict[str, Any]:
    bodies = [frame.body for frame in results.model.elements[name].frames() if frame.body in results.bodies]
    on = results.reaction(name, on=bodies[-1])
    force, torque = peak_of(results.t, np.hypot(on.fx, on.fy)), peak_of(results.t, np.abs(on.torque))
    largest = force if force.value > 0.0 else torque
    return {"joint": name, "body": bodies[-1], "force": force.value, "torque": torque.value, "at": largest.t}
