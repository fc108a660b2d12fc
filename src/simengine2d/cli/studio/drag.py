"""The drag of a window: a worker pulls the mechanism, and the page gets a picture of it many times a second."""

from __future__ import annotations

import asyncio
import json
import time
from typing import TYPE_CHECKING, Any

from ...errors import SimEngineError

if TYPE_CHECKING:
    from .window import Window
    from .workers import Worker

RATE = 40.0
"""Frames a second."""
LONGEST_STEP = 0.1
"""Seconds of motion in a frame; a slow machine moves the mechanism slowly rather than far."""
LIMIT = 5.0
"""Seconds in which a frame must be done."""
LONGEST_DRAG = 600.0
"""Seconds."""


class DragLoop:
    """At most one drag of a window."""

    def __init__(self, window: Window) -> None:
        self.window = window
        self.point: Any = None
        self.task: asyncio.Task[None] | None = None

    async def begin(self, request: dict[str, Any]) -> None:
        """Take a worker and start; an older drag ends."""
        self.end()
        self.point = request.get("point")
        workers = self.window.studio.workers
        worker = await workers.take()
        try:
            async with asyncio.timeout(LIMIT * 4):
                await worker.ask({**request, "do": "drag_begin"})
        except BaseException as error:
            await workers.settle(worker)
            if isinstance(error, TimeoutError):
                raise SimEngineError("the mechanism could not be taken in hand in time.") from None
            raise
        self.task = asyncio.ensure_future(self._run(worker))

    def end(self) -> None:
        if self.task is not None:
            self.task.cancel()
            self.task = None

    async def _run(self, worker: Worker) -> None:
        try:
            await self._frames(worker)
        except (SimEngineError, TimeoutError) as error:
            sentence = str(error) or "a frame of the drag took too long."
            await self.window.push({"push": "frame", "error": sentence})
        finally:
            await asyncio.shield(self.window.studio.workers.settle(worker))

    async def _frames(self, worker: Worker) -> None:
        began = before = time.perf_counter()
        while time.perf_counter() - began < LONGEST_DRAG:
            await asyncio.sleep(max(0.0, before + 1.0 / RATE - time.perf_counter()))
            now = time.perf_counter()
            seconds, before = min(now - before, LONGEST_STEP), now
            async with asyncio.timeout(LIMIT):
                body = await worker.ask({"do": "drag_frame", "point": self.point, "seconds": seconds})
            await self.window.push({"push": "frame", **json.loads(body)})
