"""Who is let in: pages of this machine that know the token. Anyone else gets a sentence and nothing more."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

HOSTS = ("127.0.0.1", "localhost", "::1")
"""Names by which a browser on this machine calls it. Another name leads here only if someone bent its address."""

POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self' 'unsafe-inline'",
        "img-src 'self' data: blob:",
        "font-src 'self'",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    )
)
"""The browser fetches nothing for the page except from the studio itself."""

HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}

STRANGE_HOST = "The studio answers only to 127.0.0.1 and localhost."
STRANGE_ORIGIN = "Another page asked for this; the studio answers only its own page."
STRANGE_TOKEN = (
    "The studio opens with the whole address that `simengine2d studio` printed, token included.\n"
    "A link that carries a model opens with `simengine2d studio LINK`."
)
STRANGE_METHOD = "The studio is only read by GET; all else goes through its socket."


def new_token() -> str:
    """Nobody guesses it: 192 random bits."""
    return secrets.token_urlsafe(24)


class Guard:
    """Checks each request before the application sees it, and tells the browser what the page may do."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self.app = app
        self.token = token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        refusal = self.refusal(scope)
        if not refusal:
            await self.app(scope, receive, _with_headers(send))
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})  # before it is accepted: status 403
        else:
            await _refuse(refusal, _with_headers(send))

    def refusal(self, scope: Scope) -> str:
        """Why the request is refused; empty where it is not."""
        headers = [(name.lower(), value.decode("latin-1")) for name, value in scope["headers"]]
        hosts = [value for name, value in headers if name == b"host"]
        origins = [value for name, value in headers if name == b"origin"]
        if len(hosts) != 1 or not _is_here(hosts[0]):
            return STRANGE_HOST
        # a browser names the page that asks; a socket has no other protection against foreign pages
        if any(origin != f"http://{hosts[0]}" for origin in origins):
            return STRANGE_ORIGIN
        if not self.knows_token(scope["path"]):
            return STRANGE_TOKEN
        if scope["type"] == "http" and scope["method"] not in ("GET", "HEAD"):
            return STRANGE_METHOD
        return ""

    def knows_token(self, path: str) -> bool:
        """The address begins with the token; how long the comparison takes says nothing about it."""
        given = path.lstrip("/").partition("/")[0]
        return secrets.compare_digest(given.encode("utf-8", "replace"), self.token.encode())


def _is_here(host: str) -> bool:
    try:
        parts = urlsplit(f"//{host}")
        return parts.hostname in HOSTS and parts.username is None and parts.netloc == host and parts.port != 0
    except ValueError:  # an impossible port
        return False


def _with_headers(send: Send) -> Send:
    """Every answer carries the policy."""

    async def sent(message: Any) -> None:
        if message["type"] == "http.response.start":
            more = [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]
            message = {**message, "headers": [*message.get("headers", ()), *more]}
        await send(message)

    return sent


async def _refuse(sentence: str, send: Send) -> None:
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"connection", b"close")]
    await send({"type": "http.response.start", "status": 403, "headers": headers})
    await send({"type": "http.response.body", "body": f"{sentence}\n".encode()})
