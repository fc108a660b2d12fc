"""Links that carry a whole model: its text, deflated, in the letters that an address may hold."""

from __future__ import annotations

import base64
import binascii
import zlib

from ...errors import ModelError, UnsupportedError
from .folder import LARGEST_TEXT

MARK = "#model="
LONGEST_LINK = 60_000
"""Letters; browsers and mail programs cut longer addresses off."""


def link_of(text: str) -> str:
    """`#model=eJx...`, to be put after the address of any studio."""
    packed = zlib.compress(text.encode("utf-8", "replace"), 9)
    link = MARK + base64.urlsafe_b64encode(packed).decode("ascii").rstrip("=")
    if len(link) > LONGEST_LINK:
        raise UnsupportedError(
            f"the model is too large for a link: it would have {len(link):,} letters, and browsers and mail programs "
            f"cut links off above {LONGEST_LINK:,}. Send the file instead."
        )
    return link


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
