"""Links that carry a whole model: its text, deflated, in the letters that an address may hold."""

from __future__ import annotations

import base64
import binascii
import zlib

from ...errors import ModelError
from .folder import LARGEST_TEXT

MARK = "#model="


def link_of(text: str) -> str:
    """`#model=eJx...`, to be put after the address of any studio."""
    packed = zlib.compress(text.encode("utf-8"), 9)
    return MARK + base64.urlsafe_b64encode(packed).decode("ascii").rstrip("=")


def text_of(link: str) -> str:
    """The model that a link carries; the address before it does not matter."""
    word = link.rpartition(MARK)[2].strip()
    try:
        packed = base64.b64decode(word + "=" * (-len(word) % 4), altchars=b"-_", validate=True)
        unpacking = zlib.decompressobj()
        data = unpacking.decompress(packed, LARGEST_TEXT)
        if not unpacking.eof:  # cut off, or much larger than it seems
            raise ModelError("the link is not complete, or its model is too large. Copy the whole link.")
        return data.decode("utf-8")
    except (binascii.Error, zlib.error, ValueError):
        raise ModelError("the link does not carry a model. Copy the whole link.") from None
