"""Strict YAML: the part of the language that means the same to everybody.

PyYAML finds the structure; what a word means is decided here, by the core schema of YAML 1.2: `yes`, `no`,
`on` and `12:30` are words, not truths and times. Anchors, aliases and tags are refused, so a file is what it
looks like. A table of 20,000 points takes 0.3 s with PyYAML's parser in C, 2 s with the one in Python.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Any

import yaml
from yaml.error import MarkedYAMLError
from yaml.events import (
    AliasEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    StreamEndEvent,
)
from yaml.reader import ReaderError

from ..errors import ModelError, Path, Problem
from .files import DEEPEST, Document, syntax_error

WORDS = {"null": None, "Null": None, "NULL": None, "~": None, "": None} | {
    word: value for value in (True, False) for word in (str(value), str(value).lower(), str(value).upper())
}
INTEGER = re.compile(r"[-+]?[0-9]+")
OCTAL_OR_HEX = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+")
FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
NOT_FINITE = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
LONGEST_INTEGER = 300
"""Digits; beyond them no float holds the number."""


PLAIN_LOADER: Any = yaml.SafeLoader
FAST_LOADER: Any = getattr(yaml, "CSafeLoader", None)
"""The parser in C, where PyYAML was built with it."""
READ_DIFFERENTLY = re.compile(r"[\t\ufeff?]|[|>][-+0-9]*#")
"""Tabs, byte order marks, `[a? ]` and `|#`: where the fast parser accepts more than the plain one."""


def read_yaml(text: str, name: str) -> Document:
    """The data of a YAML text, with lines. What the fast parser refuses, the plain one explains."""
    if FAST_LOADER is not None and not READ_DIFFERENTLY.search(text):
        try:
            return _YamlReader(text, name, FAST_LOADER).whole()
        except (yaml.YAMLError, ModelError, ValueError):
            pass
    try:
        return _YamlReader(text, name, PLAIN_LOADER).whole()
    except MarkedYAMLError as error:
        mark: Any = error.problem_mark or error.context_mark
        raise syntax_error(name, mark.line + 1, mark.column + 1, _sentence(error)) from None
    except ReaderError as error:
        before = text[: error.position]
        line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
        sentence = f"the character {chr(error.character)!r} is not allowed in a text file. Delete it."
        raise syntax_error(name, line, column, sentence) from None
    except ValueError as error:  # e.g. the escape "\UFFFFFFFF", which is not a character
        raise syntax_error(name, 1, 1, f"the YAML cannot be read: {error}.") from None


def _sentence(error: MarkedYAMLError) -> str:
    problem = str(error.problem)
    if "'\\t'" in problem:
        return "a tab is where YAML needs spaces. Replace it with spaces."
    if "mapping values are not allowed" in problem:
        return "a ':' is where none is allowed. Put text with a colon in quotes, and check the indentation."
    context = f" ({error.context})" if error.context else ""
    return f"the YAML cannot be read: {problem}{context}. Check brackets, quotes and indentation."


class _YamlReader:
    """Builds the data from the parser's events, without anchors, aliases, tags and bottomless nesting."""

    def __init__(self, text: str, name: str, loader: Any) -> None:
        self.events: Iterator[Any] = yaml.parse(text, Loader=loader)
        self.document = Document(name)

    def fail(self, event: Any, sentence: str) -> ModelError:
        mark = event.start_mark
        return syntax_error(self.document.name, mark.line + 1, mark.column + 1, sentence)

    def whole(self) -> Document:
        next(self.events)  # the stream begins
        if isinstance(next(self.events), StreamEndEvent):
            return self.document
        self.document.data = self.value(next(self.events), ())
        next(self.events)  # the document ends
        after = next(self.events)
        if not isinstance(after, StreamEndEvent):
            raise self.fail(after, "a second document begins with ---. Write one model to a file.")
        return self.document

    def value(self, event: Any, path: Path) -> Any:
        self.refuse(event, path)
        if isinstance(event, ScalarEvent):
            return self.scalar(event, path)
        return self.mapping(path) if isinstance(event, MappingStartEvent) else self.list(path)

    def refuse(self, event: Any, path: Path) -> None:
        """Raise where legal YAML is not allowed in a model file."""
        if isinstance(event, AliasEvent) or event.anchor is not None:
            mark = "*" if isinstance(event, AliasEvent) else "&"
            raise self.fail(
                event,
                f"{mark}{event.anchor} is a YAML alias or anchor. Write the value out where it is used.",
            )
        if event.tag is not None:
            raise self.fail(
                event, f"{event.tag} is a YAML tag. Write plain numbers and words, or put the text in quotes."
            )
        if len(path) > DEEPEST:
            raise self.fail(
                event, f"the brackets are nested more than {DEEPEST} levels deep. A model file needs six."
            )

    def mapping(self, path: Path) -> dict[str, Any]:
        """Keys are names: `1:` and `yes:` name a thing '1' and 'yes'."""
        mapping: dict[str, Any] = {}
        while not isinstance(key := next(self.events), MappingEndEvent):
            self.refuse(key, path)
            if not isinstance(key, ScalarEvent):
                raise self.fail(key, "a list or mapping cannot be a name. Write a word.")
            mark: Any = key.start_mark
            here = (*path, key.value)
            if self.document.add(mapping, here, mark.line + 1):
                mapping[key.value] = self.value(next(self.events), here)
            else:
                self.skip(next(self.events), here)
        return mapping

    def skip(self, event: Any, path: Path) -> None:
        """Read a value and forget it, with its lines and problems."""
        outer, self.document = self.document, Document(self.document.name)
        self.value(event, path)
        self.document = outer

    def list(self, path: Path) -> list[Any]:
        items: list[Any] = []
        while not isinstance(event := next(self.events), SequenceEndEvent):
            here = (*path, len(items))
            if not isinstance(event, ScalarEvent):  # a table of numbers would fill the memory with lines
                self.document.lines[here] = event.start_mark.line + 1
            items.append(self.value(event, here))
        return items

    def scalar(self, event: Any, path: Path) -> Any:
        if event.style:  # in quotes, or a block of text
            return event.value
        try:
            return plain_value(event.value)
        except ValueError as error:
            self.document.collected.append(Problem(str(error), path, event.start_mark.line + 1))
            return event.value


def plain_value(text: str) -> Any:
    """What an unquoted word means; a ValueError for numbers that are none."""
    if text in WORDS:
        return WORDS[text]
    if INTEGER.fullmatch(text):
        return integer(text)
    if OCTAL_OR_HEX.fullmatch(text) and len(text) <= LONGEST_INTEGER:
        return int(text, 0)
    if FLOAT.fullmatch(text):
        return finite(text)
    if NOT_FINITE.fullmatch(text):
        raise ValueError(f"{text} is not a finite number. Write the number that is meant.")
    return text


def integer(text: str) -> int:
    """A whole number that a float can hold."""
    if len(text) > LONGEST_INTEGER:
        raise ValueError(f"a number has {len(text)} digits; the largest is about 1.8e308.")
    return int(text)


def finite(text: str) -> float:
    """A float, refused where it overflows."""
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"the number {text[:40]} is too large; the largest is about 1.8e308.")
    return value
