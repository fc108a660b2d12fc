"""How far a reader walks who follows one call: load a mechanism, dynamics by default, a page of it.

The package runs as plain Python and every call is recorded. The first visit to a function is a hop; consecutive hops
in one file are a stay; a stay in a file that had been left before is a return.

    python tools/walk.py [--stays]
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections import Counter
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, NamedTuple

NAMELESS = ("<module>", "<lambda>", "<genexpr>", "<listcomp>", "<dictcomp>", "<setcomp>")


class Walk(NamedTuple):
    """The stays in order: a file and the functions that were new in it."""

    stays: list[tuple[str, list[str]]]

    @property
    def files(self) -> list[str]:
        return list(dict.fromkeys(file for file, _ in self.stays))

    @property
    def returns(self) -> int:
        return len(self.stays) - len(self.files)


def traced() -> Walk:
    """The walk of `load`, `dynamics` and `html`; imports and caches are warm."""
    os.environ["NUMBA_DISABLE_JIT"] = "1"
    import simengine2d as se

    root = Path(se.__file__).parent
    path = root / "model" / "library" / "four_bar.yaml"
    visited: set[CodeType] = set()
    stays: list[tuple[str, list[str]]] = []

    def note(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if event != "call" or code in visited or code.co_name in NAMELESS:
            return
        if not code.co_filename.startswith(str(root)):
            return
        visited.add(code)
        file = str(Path(code.co_filename).relative_to(root))
        if not stays or stays[-1][0] != file:
            stays.append((file, []))
        stays[-1][1].append(code.co_name)

    with tempfile.TemporaryDirectory() as folder:
        go = lambda: se.dynamics(se.load(path), t_end=0.3).html(Path(folder) / "page.html")
        go()
        sys.setprofile(note)
        try:
            go()
        finally:
            sys.setprofile(None)
    return Walk(stays)


def main() -> None:
    walk = traced()
    count = Counter(file for file, _ in walk.stays)
    print(f"{len(walk.files)} files, {len(walk.stays)} stays, {walk.returns} returns to a file already left")
    for file in walk.files:
        print(f"  {count[file]:3d} {file}")
    if "--stays" in sys.argv:
        for file, names in walk.stays:
            print(f"{file}: {' '.join(names)}")


if __name__ == "__main__":
    main()
