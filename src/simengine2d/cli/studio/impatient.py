"""Connections that say nothing are closed, so that they do not take the places of others."""

from __future__ import annotations

import asyncio

from uvicorn.protocols.http.h11_impl import H11Protocol

PATIENCE = 5.0
"""Seconds from the connection to its first whole request; a page on the same machine needs none."""


class ImpatientProtocol(H11Protocol):
    """The usual protocol, which by itself waits for a first request without an end."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.loop.call_later(PATIENCE, self._close_if_silent)

    def _close_if_silent(self) -> None:
        if self.scope is None:
            self.transport.close()
