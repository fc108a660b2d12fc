"""A YAML text in which only what changed is written anew: comments, order, quotes and line breaks stay.

PyYAML says where each value begins and ends. The text between two entries of a mapping, the gap, belongs to the later
one; an entry of a block reaches to the end of its line, with the comment there.
"""

from __future__ import annotations

from collections.abc import Collection
from difflib import SequenceMatcher
from typing import Any, NamedTuple

import yaml
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from .text_writer import entry_lines, flow, yaml_scalar
from .yaml_reader import PLAIN_LOADER

BLOCKS = ("|", ">")
"""Styles of text over several lines."""


def edited(text: str, before: dict[str, Any], after: dict[str, Any]) -> str:
    """The text of a mapping that said `before`, saying `after`."""
    root: Any = yaml.compose(text, Loader=PLAIN_LOADER)
    editor = _Editor(text)
    start, end = editor.span(root)[0], editor.reach(root, before, after)
    return text[:start] + editor.value(root, before, after) + text[end:]


def same(a: Any, b: Any) -> bool:
    """Whether two values of a file are the same; 1 and 1.0 are, 0 and -0 are not, and neither are true and 1."""
    if isinstance(a, dict) and isinstance(b, dict):
        return list(a) == list(b) and all(map(same, a.values(), b.values()))
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same, a, b))
    if _is_number(a) and _is_number(b):
        return bool(a == b and str(float(a)) == str(float(b)))
    return type(a) is type(b) and bool(a == b)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


class _Entry(NamedTuple):
    """A key with its value; the text from `after` to `start` is the gap before it."""

    after: int
    start: int
    end: int
    value: Node


class _Editor:
    """Writes the values of a text, most of them by copying what is there."""

    def __init__(self, text: str) -> None:
        self.text = text

    def span(self, node: Any) -> tuple[int, int]:
        """Where a value begins and ends; to PyYAML, a block ends where the next one begins."""
        start, end = node.start_mark.index, node.end_mark.index
        if isinstance(node, ScalarNode):
            return start, start + len(self.text[start:end].rstrip()) if node.style in BLOCKS else end
        if node.flow_style or not node.value:
            return start, end
        last = node.value[-1]
        return start, self.span(last[1] if isinstance(node, MappingNode) else last)[1]

    def value(self, node: Node, before: Any, after: Any) -> str:
        """The text of a value that was `before` and is `after`."""
        start, end = self.span(node)
        if same(before, after):
            return self.text[start:end]
        if _is_mapping(node, before, after):
            return self.mapping(node, before, after)
        if _is_list(node, before, after):
            return self.list(node, before, after)
        return flow(after)

    def reach(self, node: Any, before: Any, after: Any) -> int:
        """Where in the old text the text of `value` ends: a block that is edited has the comment of its last line."""
        if not same(before, after) and not getattr(node, "flow_style", True):
            if _is_mapping(node, before, after):
                return max(entry.end for entry in self.entries(node).values())
            if _is_list(node, before, after):
                return self.reach(node.value[-1], before[-1], after[-1])
        return self.span(node)[1]

    def list(self, node: Any, before: list[Any], after: list[Any]) -> str:
        """A list of the same length: each item is changed in its place."""
        place = self.span(node)[0]
        out = ""
        for item, old, new in zip(node.value, before, after, strict=True):
            start = self.span(item)[0]
            out += self.text[place:start] + self.value(item, old, new)
            place = self.reach(item, old, new)
        return out + self.text[place : self.reach(node, before, after)]

    def mapping(self, node: Any, before: dict[str, Any], after: dict[str, Any]) -> str:
        """Entries that are gone leave the text; new ones come after the entry that precedes them in the model."""
        entries = self.entries(node)
        indent = None if node.flow_style else " " * node.start_mark.column
        new_gap = ", " if indent is None else f"\n{indent}"
        out: list[str] = []
        for key in _order(entries, before, after):
            entry = entries.get(key)
            gap = (entry and self.text[entry.after : entry.start]) or new_gap
            if not out:
                gap = "" if node.flow_style else gap.lstrip()
            if entry is None:
                text = _new(key, after[key], indent)
            elif key not in after or (key in before and same(before[key], after[key])):
                text = self.text[entry.start : entry.end]
            else:
                text = self.changed(key, entry, before.get(key), after[key], indent)
            out += gap, text
        if not node.flow_style:
            return "".join(out) or "{}"
        first, last = min(e.start for e in entries.values()), max(e.end for e in entries.values())
        start, end = self.span(node)
        return self.text[start:first] + "".join(out) + self.text[last:end]

    def entries(self, node: Any) -> dict[str, _Entry]:
        """The entries of a mapping by their keys."""
        entries: dict[str, _Entry] = {}
        place = node.value[0][0].start_mark.index
        for key, value in node.value:
            end = self.span(value)[1]
            if not node.flow_style:
                line_end = self.text.find("\n", end)
                end = len(self.text) if line_end < 0 else line_end
            entries[key.value] = _Entry(place, key.start_mark.index, end, value)
            place = end
        return entries

    def changed(self, key: str, entry: _Entry, before: Any, after: Any, indent: str | None) -> str:
        """`key: value` with another value, in a flow or, with an indent, in a block; a comment after it stays."""
        start, end = self.span(entry.value)
        if _in_place(entry.value, before, after):
            comment = self.text[self.reach(entry.value, before, after) : entry.end]
            return self.text[entry.start : start] + self.value(entry.value, before, after) + comment
        comment = self.text[end : entry.end]
        first, *more = _new(key, after, indent).split("\n")
        return "\n".join([first + comment, *more])


def _is_mapping(node: Node, before: Any, after: Any) -> bool:
    mappings = isinstance(node, MappingNode) and isinstance(before, dict) and isinstance(after, dict)
    return mappings and bool(node.value)


def _is_list(node: Node, before: Any, after: Any) -> bool:
    lists = isinstance(node, SequenceNode) and isinstance(before, list) and isinstance(after, list)
    return lists and len(before) == len(after) == len(node.value)


def _in_place(node: Node, before: Any, after: Any) -> bool:
    """Whether a value is changed where it is; others are written anew, with their keys."""
    if isinstance(node, ScalarNode):
        return node.style not in BLOCKS and node.value != "" and not isinstance(after, dict | list)
    return _is_mapping(node, before, after) or _is_list(node, before, after)


def _new(key: str, value: Any, indent: str | None) -> str:
    if indent is None:
        return f"{yaml_scalar(key)}: {flow(value)}"
    is_section = indent == "" and isinstance(value, dict) and any(isinstance(v, dict) for v in value.values())
    return "\n".join(entry_lines(key, value, indent, block=is_section)).lstrip()


def _order(entries: Collection[str], before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    """The keys of a mapping: those of the text that stay, each followed by the new ones that come after it."""
    stay = _staying([key for key in before if key in entries and key in after], after)
    stay |= {key for key in entries if key not in before}  # what a file may leave out
    following: dict[str | None, list[str]] = {}
    anchor = None
    for key, value in after.items():
        if key in stay:
            anchor = key
        elif key in entries or key not in before or not same(before[key], value):
            following.setdefault(anchor, []).append(key)
    keys = following.get(None, [])
    for key in entries:
        if key in stay:
            keys += [key, *following.get(key, [])]
    return keys


def _staying(common: list[str], after: dict[str, Any]) -> set[str]:
    """The keys that keep their place, where others have moved."""
    known = set(common)
    wanted = [key for key in after if key in known]
    if common == wanted:
        return known
    blocks = SequenceMatcher(None, common, wanted, autojunk=False).get_matching_blocks()
    return {key for block in blocks for key in common[block.a : block.a + block.size]}
