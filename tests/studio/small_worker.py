"""A worker without kernels, which starts at once: it does as its request says, good or bad."""

from __future__ import annotations

import os
import sys
import time

from simengine2d.cli.studio import work, worker

EMPTY_LOOK = {
    "problems": [],
    "drawing": {"points": [], "bodies": [], "elements": [], "locks": [], "picture": None},
    "words": [],
    "parameters": [],
    "player": None,
    "peaks": [],
    "channels": [],
    "analysis_used": None,
}
"""What a page can show, whatever the text says."""


def obey(request):
    text, progress = request.get("text", ""), request["progress"]
    if text == "crash":
        os.abort()
    if text == "forever":
        while True:
            time.sleep(0.01)
    if text == "deaf":
        while True:
            try:
                time.sleep(10)
            except KeyboardInterrupt:
                continue
    if text == "print":
        print("noise on standard output")
        os.write(1, b"more noise")
    if text == "memory":
        return {"size": len(bytearray(100_000_000_000))}
    if text == "steps":
        for part in (0.25, 0.5, 1.0):
            progress(part)
    if text == "slow":
        time.sleep(0.2)
    if not text or text.startswith("#"):
        return EMPTY_LOOK
    return {"text": text, "pid": os.getpid(), "folder": request.get("folder"), "nan": float("nan")}


if __name__ == "__main__":
    for verb in ("look", "edit", "export"):
        work.VERBS[verb] = obey
    worker.warm_up = lambda: None
    sys.exit(worker.main())
