"""The parameters of a text with ranges in which a slider moves them."""

from __future__ import annotations

from math import floor, log10, pi
from typing import Any

from .draft import TextDraft, number_in

ANGLES = ("angle", "phi", "theta", "alpha", "beta", "phase")


def parameters_of(draft: TextDraft) -> list[dict[str, Any]]:
    """Every parameter as it is written; those that are plain numbers have a range, others follow from them."""
    values = draft.resolved.parameters if draft.model is not None else {}
    return [_parameter(name, text, values.get(name)) for name, text in draft.section("parameters").items()]


def _parameter(name: str, text: Any, value: float | None) -> dict[str, Any]:
    data = {"name": name, "value": value, "low": None, "high": None, "unit": "", "text": str(text)}
    plain = number_in(text)
    if plain is None:
        return data
    number, unit = plain[0], plain[1].strip(" *")
    low, high = range_of(name, number, unit)
    return data | {"value": number, "low": low, "high": high, "unit": unit}


def range_of(name: str, value: float, unit: str) -> tuple[float, float]:
    """A turn for angles; else from a quarter of the value to twice it, in round numbers."""
    turn = (
        180.0
        if unit == "deg"
        else pi
        if unit == "rad" or any(word in name.lower() for word in ANGLES)
        else 0.0
    )
    if turn:
        return min(-turn, value), max(turn, value)
    if value == 0.0:
        return -1.0, 1.0
    near, far = rounded(0.25 * value), rounded(2.0 * value)
    return min(near, far), max(near, far)


def rounded(value: float, digits: int = 2) -> float:
    """So many significant digits."""
    return round(value, digits - 1 - floor(log10(abs(value)))) if value else 0.0
