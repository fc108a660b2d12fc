"""Strict YAML: the part of the language that means the same to everybody.

PyYAML finds the structure; what a word means is decided here, by the core schema of YAML 1.2: `yes`, `no`,
`on` and `12:30` are words, not truths and times. Anchors, aliases and tags are refused, so a file is what it
looks like.
"""

from __future__ import annotations

import math
import re
from typing import Any

from yaml.composer import Composer
from yaml.error import MarkedYAMLError
from yaml.events import AliasEvent, CollectionStartEvent, ScalarEvent
from yaml.nodes import MappingNode, Node, ScalarNode
from yaml.parser import Parser
from yaml.reader import Reader, ReaderError
from yaml.resolver import BaseResolver
from yaml.scanner import Scanner

from .document import DEEPEST, Document, Path, syntax_error

WORDS = {"null": None, "Null": None, "NULL": None, "~": None, "": None} | {
    word: value for value in (True, False) for word in (str(value), str(value).lower(), str(value).upper())
}
INTEGER = re.compile(r"[-+]?[0-9]+")
OCTAL_OR_HEX = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+")
FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
NOT_FINITE = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
LONGEST_INTEGER = 300
"""Digits; beyond them no float holds the number."""


class _Refused(MarkedYAMLError):
    """Legal YAML that a model file may not hold. `problem` is a whole sentence."""


class _Loader(Reader, Scanner, Parser, Composer, BaseResolver):  # type: ignore[misc]
    """PyYAML up to its nodes, without anchors, aliases, tags and bottomless nesting."""

    def __init__(self, text: str) -> None:
        Reader.__init__(self, text)
        Scanner.__init__(self)
        Parser.__init__(self)
        Composer.__init__(self)
        BaseResolver.__init__(self)
        self.depth = 0

    def compose_node(self, parent: Node | None, index: Any) -> Node:
        event: Any = self.peek_event()
        sentence = ""
        if isinstance(event, AliasEvent) or event.anchor is not None:
            mark = "*" if isinstance(event, AliasEvent) else "&"
            sentence = (
                f"{mark}{event.anchor} is a YAML alias or anchor. Write the value out where it is used."
            )
        elif isinstance(event, ScalarEvent | CollectionStartEvent) and event.tag is not None:
            sentence = f"{event.tag} is a YAML tag. Write plain numbers and words, or put the text in quotes."
        elif self.depth > DEEPEST:
            sentence = f"the brackets are nested more than {DEEPEST} levels deep. A model file needs six."
        if sentence:
            raise _Refused(problem=sentence, problem_mark=event.start_mark)  # type: ignore[arg-type]
        self.depth += 1
        node: Any = super().compose_node(parent, index)
        self.depth -= 1
        return node


def read_yaml(text: str, name: str) -> Document:
    """The data of a YAML text, with lines."""
    document = Document(name)
    root = _compose(text, name)
    document.data = None if root is None else _construct(root, (), document)
    return document


def _compose(text: str, name: str) -> Node | None:
    try:
        return _Loader(text).get_single_node()  # type: ignore[no-any-return]
    except MarkedYAMLError as error:
        mark: Any = error.problem_mark or error.context_mark
        raise syntax_error(name, mark.line + 1, mark.column + 1, _sentence(error)) from None
    except ReaderError as error:
        before = text[: error.position]
        line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
        sentence = f"the character {chr(error.character)!r} cannot stand in a text file. Delete it."
        raise syntax_error(name, line, column, sentence) from None
    except (ValueError, RecursionError) as error:  # e.g. the escape "\UFFFFFFFF", which is no character
        raise syntax_error(name, 1, 1, f"the YAML cannot be read: {error}.") from None


def _sentence(error: MarkedYAMLError) -> str:
    if isinstance(error, _Refused):
        return str(error.problem)
    problem = str(error.problem)
    if "'\\t'" in problem:
        return "a tab stands where YAML wants spaces. Replace it with spaces."
    if "another document" in problem:
        return "a second document begins with ---. Write one model to a file."
    if "mapping values are not allowed" in problem:
        return "a ':' stands where none can be. Put text with a colon in quotes, and check the indentation."
    context = f" ({error.context})" if error.context else ""
    return f"the YAML cannot be read: {problem}{context}. Check brackets, quotes and indentation."


def _construct(node: Node, path: Path, document: Document) -> Any:
    line = node.start_mark.line + 1
    if isinstance(node, ScalarNode):
        return _scalar(node, line, document)
    if isinstance(node, MappingNode):
        return _mapping(node, path, document)
    items = []
    for i, item in enumerate(node.value):
        if not isinstance(item, ScalarNode):  # a table of numbers would fill the memory with lines
            document.lines[(*path, i)] = item.start_mark.line + 1
        items.append(_construct(item, (*path, i), document))
    return items


def _mapping(node: MappingNode, path: Path, document: Document) -> dict[str, Any]:
    """Keys are names: `1:` and `yes:` name a thing '1' and 'yes'."""
    mapping: dict[str, Any] = {}
    for key, value in node.value:
        line, column = key.start_mark.line + 1, key.start_mark.column + 1
        if not isinstance(key, ScalarNode):
            raise syntax_error(
                document.name, line, column, "a list or mapping cannot be a name. Write a word."
            )
        here = (*path, key.value)
        if document.add(mapping, here, line):
            mapping[key.value] = _construct(value, here, document)
    return mapping


def _scalar(node: ScalarNode, line: int, document: Document) -> Any:
    if node.style is not None:  # in quotes, or a block of text
        return node.value
    try:
        return plain_value(node.value)
    except ValueError as error:
        document.found.append((line, str(error)))
        return node.value


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
