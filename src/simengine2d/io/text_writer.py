"""Plain data to YAML and JSON that is pleasant to read: what fits goes on one line, sections are blocks."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

from yaml.resolver import Resolver

from .yaml_reader import plain_value

WIDTH = 110
_PLAIN = re.compile(r"-?[A-Za-z0-9_(.][A-Za-z0-9_ .()*+/^<>=-]*")
_OTHER_READERS = Resolver.yaml_implicit_resolvers
_UNPRINTABLE = re.compile(
    "[^\\x20-\\x7e\\xa0-\\u2027\\u202a-\\ud7ff\\ue000-\\ufefe\\uff00-\\ufffd\\U00010000-\\U0010ffff]"
)


# YAML -------------------------------------------------------------------------------------------------


def to_yaml(data: dict[str, Any], sections: Iterable[str] = ()) -> str:
    """A mapping as YAML. `sections` are the keys whose value is a block even where a line would hold it."""
    lines: list[str] = []
    for key, value in data.items():
        lines += entry_lines(key, value, "", block=key in set(sections))
    return "\n".join(lines) + "\n"


def entry_lines(key: str, value: Any, indent: str, *, block: bool = False) -> list[str]:
    """`key: value` on one line, or over several where that would be too long."""
    head = f"{indent}{yaml_scalar(key)}:"
    if not (block and value):
        line = f"{head} {flow(value)}"
        if len(line) <= WIDTH or not isinstance(value, dict | list):
            return [line]
    deeper = indent + "  "
    if isinstance(value, dict):
        return [head, *(line for k, v in value.items() for line in entry_lines(k, v, deeper))]
    if any(isinstance(item, dict | list) for item in value):
        return [head, *(line for item in value for line in _item(item, deeper))]
    return _wrapped(f"{head} [", [yaml_scalar(item) for item in value], deeper)


def _item(value: Any, indent: str) -> list[str]:
    """An item of a block list; a long mapping begins beside its dash."""
    line = f"{indent}- {flow(value)}"
    if len(line) <= WIDTH or not value or not isinstance(value, dict | list):
        return [line]
    if isinstance(value, list):
        inner = [f"{indent}  {part}" for item in value for part in _item(item, "")]
    else:
        inner = [part for k, v in value.items() for part in entry_lines(k, v, indent + "  ")]
    return [f"{indent}- {inner[0].lstrip()}", *inner[1:]]


def _wrapped(line: str, words: list[str], indent: str) -> list[str]:
    """A long list of numbers over several lines."""
    lines = []
    for i, word in enumerate(words):
        word += "]" if i == len(words) - 1 else ","
        if len(line) + len(word) >= WIDTH:
            lines.append(line.rstrip())
            line = indent
        line += word + " "
    return [*lines, line.rstrip()]


def flow(value: Any) -> str:
    """A value on one line: `{type: Revolute, a: ground, b: crank.O}`."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{yaml_scalar(k)}: {flow(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(flow(item) for item in value) + "]"
    return yaml_scalar(value)


def yaml_scalar(value: Any) -> str:
    """A word or number that every YAML reader takes for what it is."""
    if isinstance(value, str):
        return value if _is_plain(value) else _in_quotes(value)
    if isinstance(value, float):
        text = repr(value)
        # 1e+22 is a word to YAML 1.1
        return text.replace("e", ".0e") if "e" in text and "." not in text else text
    return json.dumps(value)


def _is_plain(text: str) -> bool:
    """No signs that YAML uses, and neither we nor a YAML 1.1 reader take it for a number or a truth."""
    if not _PLAIN.fullmatch(text) or text.endswith(" ") or len(text) > WIDTH:
        return False
    if any(pattern.match(text) for _, pattern in _OTHER_READERS.get(text[0], [])):
        return False
    try:
        return isinstance(plain_value(text), str)
    except ValueError:
        return False


def _in_quotes(text: str) -> str:
    return _UNPRINTABLE.sub(lambda match: f"\\u{ord(match[0]):04x}", json.dumps(text, ensure_ascii=False))


def shown(value: Any, longest: int = 60) -> str:
    """A value in a sentence: as it is written in the file, cut where it is long."""
    text = flow(value)
    return text if len(text) <= longest else text[: longest - 4] + " ..."


# JSON -------------------------------------------------------------------------------------------------


def to_json(value: Any) -> str:
    """Data as JSON, strict: every reader takes it."""
    return _json(value, "") + "\n"


def json_line(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _json(value: Any, indent: str) -> str:
    line = json_line(value)
    is_section = indent == "" or (isinstance(value, dict | list) and _is_deep(value))
    if not isinstance(value, dict | list) or not value or (len(indent + line) <= WIDTH and not is_section):
        return line
    deeper = indent + "  "
    if isinstance(value, dict):
        parts = [f"{json_line(key)}: {_json(item, deeper)}" for key, item in value.items()]
        return "{\n" + ",\n".join(deeper + part for part in parts) + "\n" + indent + "}"
    if not any(isinstance(item, dict | list) for item in value):
        return "\n".join(_wrapped("[", [json_line(item) for item in value], deeper))
    return "[\n" + ",\n".join(deeper + _json(item, deeper) for item in value) + "\n" + indent + "]"


def _is_deep(value: dict[str, Any] | list[Any]) -> bool:
    """Holds what holds more: a section."""
    inner = value.values() if isinstance(value, dict) else value
    return any(isinstance(part, dict) and part for part in inner)
