"""The looks of a window: the newest edit is what counts.

One look is at work, the newest waits; those between are answered as superseded. A look that takes long gives way to a
newer one, but not before it had a fair time: a slider that moves all the time must not starve its own pictures.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .window import Window

FAIR = 0.7
"""Seconds."""

LIMIT = 60.0


class Looks:
    """One window's requests to look at a text."""

    def __init__(self, window: Window) -> None:
        self.window = window
        self.waiting: dict[str, Any] | None = None
        self.present: dict[str, Any] | None = None
        self.job: asyncio.Task[None] | None = None
        self.loop: asyncio.Task[None] | None = None
        self.arrived = asyncio.Event()
        self.dropped: set[asyncio.Task[None]] = set()

    def newest(self, request: dict[str, Any]) -> None:
        """Look at this next."""
        if self.waiting is not None:
            self._drop(self.waiting, "superseded")
        self.waiting = request
        self.arrived.set()
        if self.loop is None:
            self.loop = asyncio.ensure_future(self._run())

    def cancel(self, number: Any) -> bool:
        """Stop a look; False where there is none of that number."""
        if self.waiting is not None and self.waiting.get("id") == number:
            self._drop(self.waiting, "cancelled")
            self.waiting = None
            return True
        if self.present is not None and self.present.get("id") == number and self.job is not None:
            self._give_up("cancelled")
            return True
        return False

    def end(self) -> None:
        for task in (self.loop, self.job):
            if task is not None:
                task.cancel()

    async def _run(self) -> None:
        while True:
            await self.arrived.wait()
            self.arrived.clear()
            self.present, self.waiting = self.waiting, None
            if self.present is None:
                continue
            number = self.present.get("id")
            self.job = asyncio.ensure_future(self.window.answer(number, self.present, LIMIT))
            await asyncio.wait({self.job}, timeout=FAIR)
            await self._wait_for_job_or_newer(self.job)
            self.job = self.present = None

    async def _wait_for_job_or_newer(self, job: asyncio.Task[None]) -> None:
        newer = asyncio.ensure_future(self.arrived.wait())
        await asyncio.wait({job, newer}, return_when=asyncio.FIRST_COMPLETED)
        newer.cancel()
        if not job.done():
            self._give_up("superseded")

    def _give_up(self, why: str) -> None:
        if self.job is not None and self.present is not None and self.job.cancel():
            self._drop(self.present, why)

    def _drop(self, request: dict[str, Any], why: str) -> None:
        """Answer a look that is not done."""
        sentence = "a newer look took its place." if why == "superseded" else "the run was stopped."
        task = asyncio.ensure_future(self.window.refuse(request.get("id"), sentence, **{why: True}))
        self.dropped.add(task)
        task.add_done_callback(self.dropped.discard)
