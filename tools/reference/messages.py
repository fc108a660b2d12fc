"""Every error that the sources raise, found by reading them."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import simengine2d
from simengine2d import errors

from .markdown import prose

PACKAGE = Path(simengine2d.__file__).parent
HEAD = """\
# All messages

What the package may answer, sorted by kind and by the room of the sources that says it; `…` stands for a name, a
value or a remedy that is known only then. [Errors](../errors.md) explains the kinds, with an example of each. This
page is written from the sources, so that every message can be found by the search.
"""
KINDS = [
    name for name, cls in vars(errors).items()
    if isinstance(cls, type) and issubclass(cls, (errors.SimEngineError, errors.Interrupted, Warning))
]  # fmt: skip


class Message(NamedTuple):
    """A sentence and the room that says it."""

    kind: str
    room: str
    text: str


def messages() -> Iterator[Message]:
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and node.args:
                name = getattr(node.func, "id", getattr(node.func, "attr", ""))
                kind = "ModelWarning" if name == "warn" else name
                text = _words(node.args[0])
                if kind in KINDS and len(text.replace("…", "").strip()) > 8:
                    yield Message(kind, str(path.relative_to(PACKAGE).parent.as_posix()).split("/")[0], text)


def _words(node: ast.expr) -> str:
    """The text of an expression, with … for what is known only at run time."""
    match node:
        case ast.Constant(str(text)):
            return text
        case ast.JoinedStr(parts):
            return "".join(_words(part) for part in parts)
        case ast.BinOp(left, ast.Add(), right):
            return _words(left) + _words(right)
        case ast.List(parts):
            return " ".join(_words(part) for part in parts)
        case ast.IfExp(_, one, other):
            return f"{_words(one)} / {_words(other)}"
        case ast.Call(ast.Attribute(_, "says"), [words]):
            return f"…: {_words(words)}"
    return "…"


def page_text() -> str:
    by_kind: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for message in messages():
        if message.text not in by_kind[message.kind][message.room]:
            by_kind[message.kind][message.room].append(message.text)
    parts = [HEAD]
    for kind in KINDS:
        if by_kind[kind]:
            parts.append(f"## {kind}\n\n{prose(getattr(errors, kind).__doc__)}")
            parts += [_room(room, texts) for room, texts in sorted(by_kind[kind].items())]
    return "\n\n".join(parts) + "\n"


def _room(room: str, texts: list[str]) -> str:
    lines = [f"{' '.join(text.split())}" for text in texts]
    head = "the package itself" if room == "." else room
    return f"*{head}*\n\n```text\n" + "\n".join(lines) + "\n```"
