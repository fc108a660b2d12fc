"""Files that a tool writes; with --check it says whether the file is up to date."""

from __future__ import annotations

import sys
from pathlib import Path


def write_or_check(path: Path, text: str) -> int:
    """0 where the file is written, or where it already says the same."""
    if "--check" not in sys.argv[1:]:
        path.write_text(text, encoding="utf-8")
        return 0
    if path.is_file() and path.read_text(encoding="utf-8") == text:
        return 0
    print(f"{path.name} is out of date; run: python tools/{Path(sys.argv[0]).name}", file=sys.stderr)
    return 1
