"""A real Chromium without a window, driven over its DevTools protocol."""

from __future__ import annotations

import base64
import json
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.request import urlopen

PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
SWITCHES = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--remote-allow-origins=*",
    "--remote-debugging-port=0",
)


def program() -> str | None:
    """Where a Chromium is installed."""
    return next((found for name in PROGRAMS if (found := shutil.which(name))), None)


@contextmanager
def browser() -> Iterator[int]:
    """A running Chromium; its debugging port."""
    found = program()
    assert found is not None
    folder = Path(tempfile.mkdtemp(prefix="chromium"))
    command = [found, *SWITCHES, f"--user-data-dir={folder}", "about:blank"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield _port(folder / "DevToolsActivePort", process)
    finally:
        process.terminate()
        process.wait(20)
        shutil.rmtree(folder, ignore_errors=True)


def _port(file: Path, process: subprocess.Popen[bytes]) -> int:
    """Chromium writes the port it has chosen into a file."""
    for _ in range(600):
        if file.exists() and file.read_text().strip():
            return int(file.read_text().split()[0])
        if process.poll() is not None:
            raise RuntimeError(f"Chromium ended with the code {process.returncode}")
        time.sleep(0.05)
    raise RuntimeError("Chromium opened no debugging port within 30 s")


class Page:
    """One page; what it asked from the network and what it complained about."""

    def __init__(self, port: int, width: int = 1200, height: int = 760, dark: bool = False) -> None:
        import websocket

        with urlopen(f"http://127.0.0.1:{port}/json/list") as answer:
            targets = [target for target in json.load(answer) if target["type"] == "page"]
        self.socket = websocket.create_connection(targets[0]["webSocketDebuggerUrl"], timeout=60)
        self.number = 0
        self.requests: list[str] = []
        self.complaints: list[str] = []
        for domain in ("Page", "Network", "Runtime", "Log"):
            self.send(f"{domain}.enable")
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        self.send("Emulation.setDeviceMetricsOverride", **size)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.send("Emulation.setEmulatedMedia", features=[scheme])

    def send(self, method: str, **parameters: Any) -> dict[str, Any]:
        """A command and its answer; events on the way are kept."""
        self.number += 1
        self.socket.send(json.dumps({"id": self.number, "method": method, "params": parameters}))
        while True:
            message = json.loads(self.socket.recv())
            if message.get("id") == self.number:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']}")
                return message["result"]
            self._hear(message)

    def _hear(self, message: dict[str, Any]) -> None:
        data = message.get("params", {})
        match message.get("method"):
            case "Network.requestWillBeSent":
                self.requests.append(data["request"]["url"])
            case "Runtime.exceptionThrown":
                self.complaints.append(str(data["exceptionDetails"]))
            case "Runtime.consoleAPICalled" if data["type"] in ("error", "warning", "assert"):
                self.complaints.append(str(data["args"]))
            case "Log.entryAdded" if data["entry"]["level"] in ("error", "warning"):
                self.complaints.append(data["entry"]["text"])

    def open(self, path: Path) -> None:
        self.send("Page.navigate", url=path.resolve().as_uri())
        for _ in range(400):
            if self.run("document.readyState === 'complete' && location.protocol === 'file:'"):
                return
            time.sleep(0.02)
        raise RuntimeError(f"{path} was not loaded within 8 s")

    def run(self, script: str) -> Any:
        """The value of a JavaScript expression; promises are waited for."""
        answer = self.send("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{script}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def mouse(self, kind: str, x: float, y: float, **more: Any) -> None:
        self.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def press(self, key: str, **more: Any) -> None:
        text = {"text": key} if len(key) == 1 else {}
        self.send("Input.dispatchKeyEvent", type="keyDown", key=key, **text, **more)
        self.send("Input.dispatchKeyEvent", type="keyUp", key=key)

    def picture(self, path: Path) -> Path:
        path.write_bytes(base64.b64decode(self.send("Page.captureScreenshot", format="png")["data"]))
        return path

    def close(self) -> None:
        self.socket.close()
