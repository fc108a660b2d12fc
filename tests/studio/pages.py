"""A studio that runs beside the test, and a page that talks to it without a browser."""

from __future__ import annotations

import json
import threading
import time
from contextlib import contextmanager

import uvicorn
from websockets.sync.client import connect

from simengine2d.cli.studio.folder import ModelFolder
from simengine2d.cli.studio.guard import new_token
from simengine2d.cli.studio.serving import configured, listening
from simengine2d.cli.studio.studio import FirstModel, Studio


class Page:
    """One window."""

    def __init__(self, socket) -> None:
        self.socket = socket
        self.pushed = []
        self.answers = {}
        self.last = 0

    def send(self, do, **data) -> int:
        self.last += 1
        self.socket.send(json.dumps({"id": self.last, "do": do, **data}))
        return self.last

    def answer(self, number, timeout=20.0):
        """The answer of that number; what else arrives is kept."""
        end = time.monotonic() + timeout
        while number not in self.answers:
            self.hear(end - time.monotonic())
        return self.answers.pop(number)

    def ask(self, do, **data):
        return self.answer(self.send(do, **data))

    def push(self, kind, timeout=20.0):
        """The next pushed message of a kind."""
        end = time.monotonic() + timeout
        while not (known := [message for message in self.pushed if message["push"] == kind]):
            self.hear(end - time.monotonic())
        self.pushed.remove(known[0])
        return known[0]

    def hear(self, timeout) -> None:
        message = json.loads(self.socket.recv(timeout=timeout))
        if "push" in message:
            self.pushed.append(message)
        else:
            self.answers[message["id"]] = message


class RunningStudio:
    """A server in a thread of the test."""

    def __init__(self, folder, name=None, text=None, *, before=None) -> None:
        """`before`: a studio that is gone, at whose address this one is found."""
        self.token = new_token() if before is None else before.token
        self.listener = listening(0 if before is None else before.port)
        self.port = self.listener.getsockname()[1]
        self.studio = Studio(ModelFolder(folder), FirstModel(name, text))
        self.server = uvicorn.Server(configured(self.studio, self.token))
        self.thread = threading.Thread(target=self.server.run, args=([self.listener],), daemon=True)

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}/{self.token}/"

    @contextmanager
    def page(self, **options):
        with connect(self.address.replace("http", "ws") + "live", max_size=None, **options) as socket:
            yield Page(socket)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_) -> None:
        self.server.should_exit = True
        self.thread.join(20)
        self.listener.close()
