"""Serving: a socket on this machine only, and a server on it until Ctrl-C."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

from ...errors import needed

if TYPE_CHECKING:
    import uvicorn

    from .studio import Studio

HOST = "127.0.0.1"
USUAL = 8451
"""The port; where it is taken and no other was asked for, any that is free."""

LARGEST_MESSAGE = 8_000_000
"""Bytes of a message of the page; the socket of a longer one is closed."""
MOST_CONNECTIONS = 100
PACKAGES = ("starlette", "uvicorn", "websockets")


def check_packages() -> None:
    """A sentence where the extra is not installed."""
    for package in PACKAGES:
        needed(package, "the studio needs", "studio")


def listening(port: int | None) -> socket.socket:
    """A socket that listens on the port; without one on the usual port, or on any. An OSError says that it is taken."""
    if port is not None:
        return _listening(port)
    try:
        return _listening(USUAL)
    except OSError:
        return _listening(0)


def _listening(port: int) -> socket.socket:
    # asyncio sends small messages at once only where the protocol is named
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        if hasattr(socket, "SO_EXCLUSIVEADDRUSE"):  # Windows lets others take a port over
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_EXCLUSIVEADDRUSE, 1)
        else:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((HOST, port))
        listener.listen()
    except OSError:
        listener.close()
        raise
    return listener


def serve(studio: Studio, token: str, listener: socket.socket) -> None:
    """Answer until Ctrl-C, which is a KeyboardInterrupt here."""
    import uvicorn

    uvicorn.Server(configured(studio, token)).run([listener])


def configured(studio: Studio, token: str) -> uvicorn.Config:
    """The server's limits; it says nothing by itself."""
    import uvicorn

    from .app import application
    from .impatient import ImpatientProtocol

    return uvicorn.Config(
        application(studio, token),
        loop="asyncio",
        http=ImpatientProtocol,
        ws="websockets-sansio",
        ws_max_size=LARGEST_MESSAGE,
        ws_per_message_deflate=False,  # nothing leaves this machine
        log_config=None,
        log_level="critical",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        limit_concurrency=MOST_CONNECTIONS,
        timeout_graceful_shutdown=2,
    )
