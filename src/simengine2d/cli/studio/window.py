"""A window: one open page, its socket, and what it may ask for."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from ...errors import ModelError, SimEngineError
from .desk import Conflict, Desk
from .drag import DragLoop
from .frames import dumps
from .looks import Looks

if TYPE_CHECKING:
    from starlette.websockets import WebSocket

    from .studio import Studio

LIMITS = {"look": 60.0, "edit": 30.0, "export": 180.0}
"""Seconds of work."""
MOST_AT_ONCE = 16
"""Requests of a window that are at work; the next message is read when one of them is done."""
SLOW = 10.0
"""Seconds after which a page that does not take its messages is given up."""

Request = dict[str, Any]


class Window:
    """One open page. Files are dealt with in order; what workers do is answered when it is done."""

    def __init__(self, studio: Studio, socket: WebSocket) -> None:
        self.studio = studio
        self.socket = socket
        self.desk: Desk | None = None
        self.tasks: dict[Any, asyncio.Task[None]] = {}
        self.room = asyncio.Semaphore(MOST_AT_ONCE)
        self.sending = asyncio.Lock()
        self.serving: asyncio.Task[None] | None = None
        self.looks = Looks(self)
        self.drag = DragLoop(self)

    async def serve(self) -> None:
        """Until the page is closed."""
        await self.socket.accept()
        self.serving = asyncio.current_task()
        try:
            while (message := await self.socket.receive())["type"] != "websocket.disconnect":
                await self.take(message.get("text") or "")
        finally:
            self.serving = None
            self.looks.end()
            self.drag.end()
            for task in list(self.tasks.values()):
                task.cancel()
            self.leave()

    async def take(self, text: str) -> None:
        """One message; whatever is wrong with it, there is an answer."""
        number: Any = None
        try:
            request = _parsed(text)
            number = request.get("id")
            await self.begin(request, number)
        except Conflict as conflict:
            disk = conflict.disk
            both = {"conflict": disk.text if disk else None, "hash": disk.hash if disk else None}
            await self.refuse(number, str(conflict), **both)
        except SimEngineError as error:
            await self.refuse(number, str(error))
        except Exception as error:
            sentence = (
                f"the studio failed with {type(error).__name__}: {error}. This is a defect; please report it."
            )
            await self.refuse(number, sentence)

    async def begin(self, request: Request, number: Any) -> None:
        verb = request.get("do")
        if verb in DESK_WORK:
            await self.reply(number, await DESK_WORK[verb](self, request))
        elif verb == "look":
            self.looks.newest(request)
        elif verb in LIMITS:
            await self.room.acquire()
            self._start(number, self._work(request, verb))
        else:
            known = ", ".join([*DESK_WORK, *LIMITS])
            raise ModelError(f"the studio does not know '{str(verb)[:40]}'. It knows {known}.")

    # work

    async def _work(self, request: Request, verb: str) -> None:
        number = request.get("id")
        try:
            await self.answer(number, request, LIMITS[verb])
        except asyncio.CancelledError:
            await self.refuse(number, "the run was stopped.", cancelled=True)
        finally:
            self.room.release()

    async def answer(self, number: Any, request: Request, limit: float) -> None:
        """Have a worker do it, and send what it says."""

        async def hear(part: float) -> None:
            await self.push({"push": "progress", "id": number, "part": part})

        given = {**request, "folder": str(self.studio.folder.root)}
        try:
            body = await self.studio.workers.run(given, limit, hear)
        except SimEngineError as error:
            await self.refuse(number, str(error))
        else:
            await self.reply_json(number, body)

    def _start(self, number: Any, work: Any) -> None:
        task = asyncio.ensure_future(work)
        self.tasks[number] = task
        task.add_done_callback(
            lambda done: self.tasks.pop(number) if self.tasks.get(number) is done else None
        )

    async def cancel(self, request: Request) -> Request:
        number = request.get("of")
        if self.looks.cancel(number):
            return {}
        task = self.tasks.get(number)
        if task is not None:
            task.cancel()
        return {}

    # files

    async def hello(self, request: Request) -> Request:
        """All that a page needs to begin; one that comes back names its file and its draft."""
        opened = await self._again(request) if "name" in request else await self._first()
        return {**self.studio.about(), **opened, "windows": self.count, "engine": self.studio.workers.ready}

    async def _again(self, request: Request) -> Request:
        """A page that was reloaded, or one that is back with its text, after the server or the file was gone."""
        desk = self.studio.desk(_name_or_none(request["name"]))
        await desk.do(desk.drafts.claim, self, request.get("number"))
        return await self.sit(desk, may_be_missing=bool(request.get("back")))

    async def _first(self) -> Request:
        """The model with which the studio was started; where it is gone, an empty page that says so."""
        name, text = self.studio.first
        try:
            opened = await self.sit(self.studio.desk(name))
        except ModelError as error:
            return {**await self.sit(self.studio.desk(None)), "problem": str(error)}
        return opened if text is None else {**opened, "text": text}

    async def files(self, request: Request) -> Request:
        return {"files": await asyncio.to_thread(self.studio.folder.names)}

    async def open(self, request: Request) -> Request:
        if "name" in request:
            return await self.sit(self.studio.desk(_name_or_none(request["name"])))
        text = self.studio.text_from(request)
        self.leave()
        self.join(self.studio.desk(None))
        return {"file": None, "text": text, "hash": None, "draft": None}

    async def save(self, request: Request) -> Request:
        name, text = _text(request, "name"), _text(request, "text")
        before, desk = self.desk, self.studio.desk(name)
        saved = await desk.do(desk.save, text, request.get("seen"), self)
        news = {"push": "disk", "file": name, "text": text, "hash": saved["hash"]}
        self.studio.tell(desk.windows - {self}, news)
        if before is not desk:
            if before is not None:
                await before.do(before.drafts.forget, self)
            self.leave()
            self.join(desk)
        return saved

    async def draft(self, request: Request) -> Request:
        """Keep unsaved work, and tell its number; `offered`: it goes on with the draft that the page was offered."""
        desk = self._desk_of(request)
        keep = desk.drafts.accept if request.get("offered") else desk.drafts.keep
        return {"number": await desk.do(keep, self, _text(request, "text"))}

    async def forget(self, request: Request) -> Request:
        """Delete the draft of this window; `offered`: the one that it was offered."""
        desk = self._desk_of(request)
        await desk.do(desk.drafts.decline if request.get("offered") else desk.drafts.forget, self)
        return {}

    # desks

    @property
    def count(self) -> int:
        """Windows on the same file."""
        return len(self.desk.windows) if self.desk is not None else 1

    def _desk_of(self, request: Request) -> Desk:
        """The present desk, which is that of the file that the page names."""
        name = _name_or_none(request.get("name"))
        if self.desk is None or self.desk.name != name:
            raise ModelError(f"{name or 'the model without a name'} is not open in this window.")
        return self.desk

    async def sit(self, desk: Desk, may_be_missing: bool = False) -> Request:
        """Leave the present file and open another one."""
        opened = await desk.do(desk.opened, self)
        missing = desk.name is not None and opened["hash"] is None and opened["draft"] is None
        if missing and not may_be_missing:
            desk.drafts.release(self)
            raise ModelError(f"there is no file {desk.name} in {self.studio.folder.root.name}.")
        if self.desk is not desk:
            self.leave()
            self.join(desk)
        return opened

    def join(self, desk: Desk) -> None:
        self.desk = desk
        desk.windows.add(self)
        self._tell_count(desk)

    def leave(self) -> None:
        desk, self.desk = self.desk, None
        if desk is not None:
            desk.windows.discard(self)
            desk.drafts.release(self)
            self._tell_count(desk)

    def _tell_count(self, desk: Desk) -> None:
        self.studio.tell(desk.windows, {"push": "windows", "count": len(desk.windows)})

    # drags

    async def drag_begin(self, request: Request) -> Request:
        await self.drag.begin(request)
        return {}

    async def drag_to(self, request: Request) -> Request:
        self.drag.point = request.get("point")
        return {}

    async def drag_end(self, request: Request) -> Request:
        self.drag.end()
        return {}

    # sending

    async def reply(self, number: Any, data: Request) -> None:
        await self.send(dumps({"id": number, "ok": True, **data}).decode())

    async def reply_json(self, number: Any, body: bytes) -> None:
        """An answer that is JSON already."""
        head = dumps({"id": number, "ok": True}).decode()
        inside = body.decode()[1:]
        await self.send(f"{head[:-1]}{'' if inside == '}' else ','}{inside}")

    async def refuse(self, number: Any, sentence: str, **more: Any) -> None:
        await self.send(dumps({"id": number, "ok": False, "error": sentence, **more}).decode())

    async def push(self, data: Request) -> None:
        await self.send(dumps(data).decode())

    async def send(self, text: str) -> None:
        """To a page that may be gone. One that does not take its messages for a while is given up."""
        if self.serving is None:
            return
        try:
            async with asyncio.timeout(SLOW), self.sending:
                await self.socket.send({"type": "websocket.send", "text": text})
        except TimeoutError:
            self.serving.cancel()
        except (OSError, RuntimeError):  # gone
            pass


DESK_WORK: dict[Any, Callable[[Window, Request], Awaitable[Request]]] = {
    "hello": Window.hello,
    "files": Window.files,
    "open": Window.open,
    "save": Window.save,
    "draft": Window.draft,
    "forget": Window.forget,
    "cancel": Window.cancel,
    "drag_begin": Window.drag_begin,
    "drag_to": Window.drag_to,
    "drag_end": Window.drag_end,
}
"""What the server does itself, in the order in which it is asked."""


def _parsed(text: str) -> Request:
    try:
        request = json.loads(text)
    except (ValueError, RecursionError):
        raise ModelError("the message is not JSON.") from None
    if not isinstance(request, dict) or not isinstance(request.get("id"), int | str | None):
        raise ModelError("a message is a mapping with an id and a verb, such as {'id': 1, 'do': 'hello'}.")
    return request


def _text(request: Request, field: str) -> str:
    given = request.get(field)
    if not isinstance(given, str):
        raise ModelError(f"{request.get('do')} needs a {field}, which is a text.")
    return given


def _name_or_none(name: Any) -> str | None:
    if name is not None and not isinstance(name, str):
        raise ModelError(f"a file name is a text, not {str(name)[:40]}.")
    return name
