"""The processes that compute: warm, stopped when they take too long, replaced when they end.

A request takes a worker that is free. While it works another one is kept warm, so that a run that takes long, or that
takes its process down, does not make the page wait.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from pathlib import Path
from typing import Any

from ...errors import SimEngineError, UnsupportedError
from ..terminal import Settings
from . import frames

MOST = 3
"""Workers at a time."""
GRACE = 0.5
"""Seconds in which a worker that was told to stop must answer."""
PATIENCE = 180.0
"""Seconds in which a worker must be warm; after an installation it compiles for a while."""
TRIES = 3
"""Workers that may end one after another before they were warm."""

PROGRAM = (sys.executable, "-P", "-m", "simengine2d.cli.studio.worker")
"""`-P`: a file numpy.py in the folder of the models is not imported."""

LOST = "the process of this run ended unexpectedly (code {code}); the studio started another one."
LATE = "the run was stopped after {limit:g} s. Ask for a shorter time or fewer outputs."
BROKEN = "the workers of the studio do not start. `simengine2d --debug studio` shows why."

Hears = Callable[[float], Awaitable[None]]


class Refusal(SimEngineError):
    """The worker answered with a sentence."""


class WorkerLost(SimEngineError):
    """The worker ended before it answered."""


class Worker:
    """One process, and the pipe to it."""

    def __init__(self, process: Process) -> None:
        self.process = process
        self.number = 0
        self.is_busy = False
        self.ended = False
        """It will not answer again, or must not be asked."""

    @classmethod
    async def started(cls, folder: Path) -> Worker:
        """A new process in a group of its own, which Ctrl-C does not reach: the end of its input ends it."""
        alone: dict[str, Any] = {"start_new_session": True}
        if sys.platform == "win32":
            alone = {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}
        errors = None if Settings.debug else subprocess.DEVNULL
        home = folder if folder.is_dir() else None  # it may be gone since
        process = await asyncio.create_subprocess_exec(
            *PROGRAM, stdin=PIPE, stdout=PIPE, stderr=errors, cwd=home, env=_environment(), **alone
        )
        return cls(process)

    @property
    def is_alive(self) -> bool:
        return not self.ended and self.process.returncode is None

    async def ready(self) -> None:
        """Wait until it is warm."""
        async with asyncio.timeout(PATIENCE):
            await self._next()

    async def ask(self, request: dict[str, Any], hear: Hears | None = None) -> bytes:
        """The answer as JSON."""
        self.number += 1
        self.is_busy = True
        await self._send({**request, "number": self.number})
        while True:
            mark, body = await self._next()
            if mark != frames.PART:
                return self._answer(mark, body)
            if hear is not None:
                await hear(float(body))

    def _answer(self, mark: bytes, body: bytes) -> bytes:
        self.is_busy = False
        self.ended = mark == frames.LAST
        if mark == frames.REFUSED:
            raise Refusal(body.decode())
        return body

    async def stop(self) -> None:
        """Let go of the present request: politely, then by force."""
        try:
            async with asyncio.timeout(GRACE):
                await self._send({"stop": self.number})
                while (await self._next())[0] == frames.PART:
                    pass
            self.is_busy = False
        except (TimeoutError, WorkerLost):
            self.kill()

    def kill(self) -> None:
        self.ended, self.is_busy = True, False
        if self.process.returncode is None:
            self.process.kill()

    async def gone(self) -> int:
        """Wait until the process has ended, and close the pipe to it."""
        code = await self.process.wait()
        self.ended, self.is_busy = True, False
        if self.process.stdin is not None:
            self.process.stdin.close()
            with suppress(OSError):
                await self.process.stdin.wait_closed()
        return code

    async def _send(self, data: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(frames.frame(frames.DONE, frames.dumps(data)))
            await self.process.stdin.drain()
        except (OSError, RuntimeError):
            await self._lost()

    async def _next(self) -> tuple[bytes, bytes]:
        assert self.process.stdout is not None
        try:
            size, mark = frames.HEAD.unpack(await self.process.stdout.readexactly(frames.HEAD.size))
            if size > frames.LARGEST:
                await self._lost()
            return mark, await self.process.stdout.readexactly(size)
        except (asyncio.IncompleteReadError, OSError):
            await self._lost()
            raise AssertionError from None

    async def _lost(self) -> None:
        self.kill()
        raise WorkerLost(LOST.format(code=await self.gone()))


class Workers:
    """All workers of a studio."""

    def __init__(self, folder: Path, heard: Callable[[], None] = lambda: None) -> None:
        self.folder = folder
        self.heard = heard
        """Called when a first worker is warm, or none is any more."""
        self.free: list[Worker] = []
        self.all: set[Worker] = set()
        self.starting = 0
        self.failures = 0
        self.freed = asyncio.Condition()
        self.tasks: set[asyncio.Task[None]] = set()
        self.closed = False

    @property
    def ready(self) -> bool:
        return any(worker.is_alive for worker in self.all)

    def begin(self) -> None:
        """Start the first worker; when it is warm, it starts the next."""
        self._in_background(self._grow())

    async def close(self) -> None:
        self.closed = True
        tasks = list(self.tasks)
        for task in tasks:
            task.cancel()
        for worker in self.all:
            worker.kill()
        await asyncio.gather(*tasks, *(worker.gone() for worker in self.all), return_exceptions=True)

    async def run(self, request: dict[str, Any], limit: float, hear: Hears | None = None) -> bytes:
        """The answer of a free worker; after `limit` seconds, or where this is cancelled, the worker is stopped."""
        worker = await self.take()
        try:
            async with asyncio.timeout(limit):
                return await worker.ask(request, hear)
        except TimeoutError:
            raise UnsupportedError(LATE.format(limit=limit)) from None
        finally:
            self._in_background(self.settle(worker))

    async def take(self) -> Worker:
        """A free worker; the one that worked last, whose memory is warm."""
        async with self.freed:
            while not (alive := [worker for worker in self.free if worker.is_alive]):
                if self.failures >= TRIES:
                    self.failures = 0  # the next request tries again
                    raise UnsupportedError(BROKEN)
                self._in_background(self._grow())
                await self.freed.wait()
            worker, self.free = alive[-1], alive[:-1]
        if not self.free:
            self._in_background(self._grow())
        return worker

    async def give(self, worker: Worker) -> None:
        """A worker has nothing to do; one that ended is replaced."""
        async with self.freed:
            if worker.is_alive:
                self.free.append(worker)
                self.freed.notify()
                return
            self._remove(worker)
        if not self.free:
            await self._grow()

    async def settle(self, worker: Worker) -> None:
        """A worker is no longer needed: what it does is stopped."""
        if worker.is_busy:
            await worker.stop()
        await self.give(worker)

    async def _grow(self) -> None:
        """Start a worker and make it free when it is warm."""
        if self.closed or self.starting or len(self.all) >= MOST:
            return
        self.starting += 1
        worker = None
        try:
            worker = await Worker.started(self.folder)
            await worker.ready()
        except (OSError, TimeoutError, WorkerLost):
            await self._failed(worker)
            return
        except asyncio.CancelledError:
            if worker is not None:
                worker.kill()
                await worker.gone()
            raise
        finally:
            self.starting -= 1
        await self._welcome(worker)

    async def _welcome(self, worker: Worker) -> None:
        self.failures = 0
        async with self.freed:
            self.all.add(worker)
            self.free.append(worker)
            self.freed.notify()
        self.heard()
        self._in_background(self._watch(worker))
        if len(self.free) < 2:  # a spare
            self._in_background(self._grow())

    async def _failed(self, worker: Worker | None) -> None:
        if worker is not None:
            worker.kill()
            await worker.gone()
        self.failures += 1
        async with self.freed:
            self.freed.notify_all()
        if self.failures < TRIES:
            self._in_background(self._grow())

    async def _watch(self, worker: Worker) -> None:
        """Replace a worker that ended while it was free."""
        await worker.gone()
        async with self.freed:
            was_free = worker in self.free
            self._remove(worker)
        if was_free:
            await self._grow()

    def _remove(self, worker: Worker) -> None:
        worker.kill()
        self.all.discard(worker)
        if worker in self.free:
            self.free.remove(worker)
        if not self.ready:
            self.heard()

    def _in_background(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.ensure_future(work)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)


def _environment() -> dict[str, str]:
    """One thread of linear algebra for each worker; small systems are slower with more."""
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    return {**threads, **os.environ}
