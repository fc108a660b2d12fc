"""Messages between the server and its workers: a length, a mark, and a body in JSON."""

from __future__ import annotations

import json
import struct
from math import isfinite
from typing import Any, BinaryIO

LARGEST = 64_000_000
"""Bytes of a message; a longer one is refused by who would send it."""

DONE, REFUSED, READY, PART, LAST = b"+", b"-", b"r", b"%", b"*"
"""An answer; a sentence that says why there is none; a worker is warm; part of the work is done; an answer after which
the worker ends."""

HEAD = struct.Struct("!Ic")


def frame(mark: bytes, body: bytes) -> bytes:
    return HEAD.pack(len(body), mark) + body


def read_frame(file: BinaryIO) -> tuple[bytes, bytes] | None:
    """The next message; None at the end."""
    head = file.read(HEAD.size)
    if len(head) < HEAD.size:
        return None
    size, mark = HEAD.unpack(head)
    return mark, file.read(size)


def dumps(data: Any) -> bytes:
    """JSON as browsers read it: numbers that are not finite are null."""
    try:
        text = json.dumps(data, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    except ValueError:
        text = json.dumps(_finite(data), separators=(",", ":"), ensure_ascii=False)
    return text.encode("utf-8", "replace")


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(part) for part in value]
    return None if isinstance(value, float) and not isfinite(value) else value
