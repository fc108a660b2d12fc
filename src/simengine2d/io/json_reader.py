"""Strict JSON with line numbers; on request, numbers may be arithmetic, as in one course file."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from json.decoder import scanstring  # type: ignore[attr-defined]
from typing import Any

from ..errors import ModelError, Path, Problem
from ..expressions.evaluate import number
from .files import DEEPEST, Document, syntax_error
from .yaml_reader import finite, integer

SPACE = re.compile(r"[ \t\n\r]*")
NUMBER = re.compile(r"(-?(?:0|[1-9][0-9]*))(\.[0-9]+)?([eE][-+]?[0-9]+)?(?=[\s,\]}]|\Z)")
WORD = re.compile(r"[-+\w.]+")
ARITHMETIC = re.compile(r"[-+0-9.(a-zA-Z][^\"\[\]{},:\n]*")
WORDS = {"true": True, "false": False, "null": None}


def read_json(text: str, name: str, *, arithmetic: bool = False) -> Document:
    """The data of a JSON text, with lines."""
    return _JsonReader(text, name, arithmetic).whole()


class _JsonReader:
    """Recursive descent; `position` is after what has been read."""

    def __init__(self, text: str, name: str, arithmetic: bool) -> None:
        self.text = text
        self.position = 0
        self.arithmetic = arithmetic
        self.document = Document(name)
        self.starts = [0] + [match.end() for match in re.finditer("\n", text)]

    @property
    def line(self) -> int:
        return bisect_right(self.starts, self.position)

    def fail(self, sentence: str) -> ModelError:
        column = self.position - self.starts[self.line - 1] + 1
        return syntax_error(self.document.name, self.line, column, sentence)

    def next(self) -> str:
        """The next character that is not a space; '' at the end."""
        self.position = SPACE.match(self.text, self.position).end()  # type: ignore[union-attr]
        return self.text[self.position : self.position + 1]

    def next_in_words(self) -> str:
        sign = self.next()
        return f"found {sign!r}" if sign else "the file ends"

    def whole(self) -> Document:
        self.document.data = self.value(())
        if self.next():
            raise self.fail(f"found {self.next()!r} after the end of the data. Check the brackets before it.")
        return self.document

    def value(self, path: Path) -> Any:
        sign = self.next()
        if len(path) > DEEPEST:
            raise self.fail(
                f"the brackets are nested more than {DEEPEST} levels deep. A model file needs six."
            )
        if sign == "{":
            return self.mapping(path)
        if sign == "[":
            return self.list(path)
        if sign == '"':
            return self.string()
        return self.plain(path)

    def mapping(self, path: Path) -> dict[str, Any]:
        data: dict[str, Any] = {}
        opening = self.line
        if self.empty("}"):
            return data
        while True:
            if self.next() != '"':
                raise self.fail(f"{self.next_in_words()} where a name in double quotes is expected.")
            line = self.line
            key = self.string()
            if self.next() != ":":
                raise self.fail(f'{self.next_in_words()} where a colon is expected after "{key}".')
            self.position += 1
            here = (*path, key)
            if self.document.add(data, here, line):
                data[key] = self.value(here)
            else:
                self.value(("skipped", *here))
            if self.closed("}", opening):
                return data

    def list(self, path: Path) -> list[Any]:
        items: list[Any] = []
        opening = self.line
        if self.empty("]"):
            return items
        while True:
            here = (*path, len(items))
            if self.next() in ("{", "["):  # a table of numbers would fill the memory with lines
                self.document.lines[here] = self.line
            items.append(self.value(here))
            if self.closed("]", opening):
                return items

    def empty(self, bracket: str) -> bool:
        """After an opening bracket: whether the closing one follows at once."""
        self.position += 1
        if self.next() != bracket:
            return False
        self.position += 1
        return True

    def closed(self, bracket: str, opening: int) -> bool:
        """After an item: a comma and more, or the closing bracket."""
        sign = self.next()
        if sign not in (",", bracket) or not sign:
            raise self.fail(
                f"{self.next_in_words()} where ',' or '{bracket}' is expected; line {opening} opens the bracket."
            )
        self.position += 1
        if sign == "," and self.next() == bracket:
            raise self.fail(f"found '{bracket}' after a comma. Delete the last comma.")
        return sign == bracket

    def string(self) -> str:
        try:
            text, self.position = scanstring(self.text, self.position + 1, True)
        except json.JSONDecodeError as error:
            self.position = error.pos
            raise self.fail(f"the text in quotes cannot be read: {error.msg.lower()}.") from None
        return text

    def plain(self, path: Path) -> Any:
        """A number, true, false, null."""
        strict = NUMBER.match(self.text, self.position)
        try:
            if strict:
                self.position = strict.end()
                whole = strict[2] is None and strict[3] is None
                return integer(strict[0]) if whole else finite(strict[0])
        except ValueError as error:
            self.document.collected.append(Problem(str(error), path, self.line))
            return strict[0] if strict else None
        word = WORD.match(self.text, self.position)
        if word and word[0] in WORDS:
            self.position = word.end()
            return WORDS[word[0]]
        if self.arithmetic and (match := ARITHMETIC.match(self.text, self.position)):
            return self.computed(match[0], path)
        if word and re.fullmatch(r"[-+]?(nan|inf(inity)?)", word[0], re.IGNORECASE):
            raise self.fail(f"{word[0]} is not a finite number. Write the number that is meant.")
        what = f"found '{word[0][:40]}'" if word else self.next_in_words()
        raise self.fail(f"{what} where a number, a text in double quotes, '[' or '{{' is expected.")

    def computed(self, text: str, path: Path) -> float:
        """`187/255`"""
        text = text.strip()
        try:
            value = number(text)
        except ModelError as error:
            raise self.fail(f"found '{text[:40]}' where a value is expected. {error}") from None
        self.document.arithmetic[path] = text
        self.position += len(text)
        return value
