"""Locks: lengths, angles and points that dragging keeps. They are in the section `look` of the text."""

from __future__ import annotations

from typing import Any

KINDS = ("length", "angle", "point")


def locks_in(data: dict[str, Any]) -> list[dict[str, str]]:
    """The locks of a text, `look: {locks: [{length: crank}, {point: B}]}`, as kind and name."""
    look = data.get("look")
    given = look.get("locks") if isinstance(look, dict) else None
    entries = [entry for entry in given if isinstance(entry, dict)] if isinstance(given, list) else []
    return [{"kind": k, "of": str(of)} for entry in entries for k, of in entry.items() if k in KINDS]


def without_lock(data: dict[str, Any], names: set[str]) -> None:
    """Forget locks on what is gone."""
    look = data.get("look")
    if isinstance(look, dict) and isinstance(look.get("locks"), list):
        kept = [entry for entry in look["locks"] if not (set(map(str, entry.values())) & names)]
        set_locks(data, kept)


def set_locks(data: dict[str, Any], locks: list[dict[str, str]]) -> None:
    """Write the locks; an empty list leaves no trace."""
    look = data.setdefault("look", {})
    if locks:
        look["locks"] = locks
    else:
        look.pop("locks", None)
        if not look:
            del data["look"]
