"""Names for several results: what differs between them, in their models or in how they were run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ..io.model_writer import model_data
from ..results.results import Results

MOST = 3  # differences that a name holds
LONGEST = 24  # characters of a value
RUN = ("integrator", "formulation", "coordinates", "rtol", "step")
"""Settings that are worth a name."""


def names_of(results: Sequence[Results]) -> list[str]:
    """ "coupler = 2" and "coupler = 2.3"; the models' own names, or these with numbers, where nothing short differs."""
    own = [one.model.name for one in results]
    if len(set(own)) == len(own):
        return own
    for facts in ([dict(_of_model(one)) for one in results], [dict(_of_run(one)) for one in results]):
        keys = [key for key in dict.fromkeys(k for each in facts for k in each) if _differs(key, facts)]
        labels = [", ".join(f"{key} = {each.get(key, 'none')}" for key in keys) for each in facts]
        if 0 < len(keys) <= MOST and len(set(labels)) == len(labels):
            return labels
    return [f"{name} ({i})" for i, name in enumerate(own, 1)]


def _differs(key: str, facts: Sequence[dict[str, str]]) -> bool:
    return len({each.get(key) for each in facts}) > 1


def _of_model(results: Results) -> Iterator[tuple[str, str]]:
    """Everything that the model says, by short names."""
    for path, value in _leaves(model_data(results.model)):
        yield ".".join(path[1:] or path), value


def _of_run(results: Results) -> Iterator[tuple[str, str]]:
    yield "analysis", results.analysis.replace("_", " ")
    for key in RUN:
        value = results.settings.get(key)
        yield key, _short(value.get("name", value) if isinstance(value, dict) else value)


def _leaves(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], str]]:
    """Every number and word in nested mappings; lists are values."""
    if isinstance(value, dict):
        for key, part in value.items():
            yield from _leaves(part, (*path, str(key)))
    else:
        yield path, _short(value)


def _short(value: Any) -> str:
    text = f"{value:.6g}" if isinstance(value, float) else str(value)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
