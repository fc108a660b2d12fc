"""The application that a server runs: the page, the scripts of the player, and the socket."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.staticfiles import StaticFiles
from starlette.websockets import WebSocket

from ...draw.html import script
from ...draw.html import style as player_style
from ...errors import SimEngineError
from .guard import Guard
from .studio import Studio

PAGE = Path(__file__).parent / "page"


def application(studio: Studio, token: str) -> Guard:
    """Everything lies below the token, so that each relative address of the page carries it."""

    @asynccontextmanager
    async def life(app: Starlette) -> AsyncIterator[None]:
        await studio.begin()
        try:
            yield
        finally:
            await studio.end()

    async def live(socket: WebSocket) -> None:
        await studio.serve(socket)

    async def picture(request: Request) -> Response:
        try:
            data = studio.folder.picture(request.path_params["name"])
        except SimEngineError as error:
            return Response(f"{error}\n", 404, media_type="text/plain")
        # that there is none is no error: the browser may keep the picture itself
        return (
            Response(data, media_type="application/octet-stream")
            if data is not None
            else Response(status_code=204)
        )

    inside = [
        WebSocketRoute("/live", live),
        Route("/pictures/{name}", picture),
        Route("/player.js", _player_script),
        Route("/player.css", _player_style),
        Mount("/", StaticFiles(directory=PAGE, html=True)),
    ]
    return Guard(Starlette(routes=[Mount(f"/{token}", routes=inside)], lifespan=life), token)


async def _player_script(request: Request) -> Response:
    return Response(f'"use strict";\n{script()}', media_type="text/javascript")


async def _player_style(request: Request) -> Response:
    nothing: dict[str, Any] = {"results": []}
    return Response(player_style(nothing), media_type="text/css")
