"""A worker process: it answers one request at a time until the server that started it is gone.

The main thread computes. A second one listens: a stop becomes a KeyboardInterrupt of the main thread, and the end of
the input, which is the end of the server, ends the process.
"""

from __future__ import annotations

import _thread
import json
import os
import sys
import threading
import time
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any, BinaryIO

from numpy.linalg import LinAlgError

from ...errors import Interrupted, SimEngineError
from . import frames
from .warm_up import warm_up
from .work import work

MOST_DATA = 4_000_000_000
"""Bytes that a worker may allocate."""
TOO_LARGE = 1_000_000_000
"""Bytes in memory above which a worker is replaced when it has answered."""

STOPPED = "the run was stopped."


class Turn:
    """The request at work, so that a stop strikes no other."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.number: int | None = None

    def begin(self, number: int) -> None:
        with self.lock:
            self.number = number

    def end(self) -> None:
        with self.lock:
            self.number = None

    def stop(self, number: int) -> None:
        with self.lock:
            if self.number == number:
                _thread.interrupt_main()


def main() -> None:
    """Answer requests from standard input on what was standard output."""
    output = _own_output()
    limit_memory()
    turn, requests = Turn(), SimpleQueue[dict[str, Any]]()
    threading.Thread(target=_listen, args=(sys.stdin.buffer, requests, turn), daemon=True).start()
    say = _speaker(output)
    warm_up()
    say(frames.READY, b"{}")
    while True:
        request = requests.get()
        mark, body = _answer_in_turn(request, turn, lambda part: say(frames.PART, frames.dumps(part)))
        too_large = mark == frames.DONE and memory() > TOO_LARGE
        say(frames.LAST if too_large else mark, body)


def _answer_in_turn(
    request: dict[str, Any], turn: Turn, progress: Callable[[float], None]
) -> tuple[bytes, bytes]:
    try:
        try:
            turn.begin(request["number"])
            answer = answered(request, progress)
        finally:
            turn.end()
        time.sleep(0)  # a stop that came at the last moment strikes here
        return answer
    except KeyboardInterrupt:
        return frames.REFUSED, STOPPED.encode()


def answered(request: dict[str, Any], progress: Callable[[float], None]) -> tuple[bytes, bytes]:
    """The answer as JSON, or a sentence that says why there is none."""
    try:
        body = frames.dumps(work(request, progress))
        if len(body) <= frames.LARGEST:
            return frames.DONE, body
        size = f"{len(body) / 1e6:.0f} MB"
        sentence = f"the answer has {size}, too much for a page. Ask for fewer outputs, or a shorter time."
    except Interrupted:
        sentence = STOPPED
    except SimEngineError as error:
        sentence = str(error)
    except MemoryError:
        sentence = "there is not enough memory for this. Ask for fewer outputs or a shorter time, or draw fewer bodies."
    except RecursionError:
        sentence = "the model is nested too deeply."
    except LinAlgError:
        sentence = (
            "the numbers of the model are too large or too unequal to compute with. Look for wrong units."
        )
    except Exception as error:
        sentence = (
            f"simengine2d failed with {type(error).__name__}: {error}. This is a defect; please report it."
        )
    return frames.REFUSED, sentence.encode("utf-8", "replace")


# The pipes --------------------------------------------------------------------------------------------


def _own_output() -> BinaryIO:
    """The pipe to the server; whatever is printed goes to standard error instead."""
    sys.stdout.flush()
    own = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return own


def _speaker(output: BinaryIO) -> Callable[[bytes, bytes], None]:
    def say(mark: bytes, body: bytes) -> None:
        try:
            output.write(frames.frame(mark, body))
            output.flush()
        except OSError:  # the server is gone
            os._exit(0)

    return say


def _listen(source: BinaryIO, requests: SimpleQueue[dict[str, Any]], turn: Turn) -> None:
    """Requests go to the main thread, stops interrupt it, the end of the input ends the process."""
    while (message := frames.read_frame(source)) is not None:
        data = json.loads(message[1])
        if "stop" in data:
            turn.stop(data["stop"])
        else:
            requests.put(data)
    os._exit(0)


# Memory -----------------------------------------------------------------------------------------------


def limit_memory() -> None:
    """A run that asks for too much gets a MemoryError; the machine stays usable."""
    try:
        import resource
    except ImportError:  # Windows
        return
    for limit, most in ((resource.RLIMIT_DATA, MOST_DATA), (resource.RLIMIT_CORE, 0)):
        hard = resource.getrlimit(limit)[1]
        soft = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(limit, (soft, hard))


def memory() -> int:
    """Bytes of this process in memory; 0 where the system does not tell."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


if __name__ == "__main__":
    main()
