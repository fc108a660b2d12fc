"""Writes `docs/reference/validation.md`: what the validation tests compare, with the published values and ours.

The tests are run, and every comparison they make is noted down. It takes about a minute.

python tools/validation_page.py            run the tests and write the page
python tools/validation_page.py --check    say whether all sources and tests are on the page
"""

from __future__ import annotations

import ast
import re
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "reference" / "validation.md"
FOLDER = ROOT / "tests" / "validation"
MOST = 4  # comparisons shown of one test
HEAD = """\
# Validation

Each file of `tests/validation` compares the engine with one source: a textbook, a lecture, a benchmark, a closed
form. The table is written by `tools/validation_page.py`, which runs these tests and notes what they compare: the
value that the source gives, ours, and the difference. Where a source rounds, or measures on a drawing, the
difference is its own; the reason for each tolerance is written beside it in the test. Of arrays, the entry with the
largest difference is shown; tests that compare in another way, and those that must raise an error, are listed
without numbers.
"""


class Comparison(NamedTuple):
    """A published value and ours; of arrays, those that differ most."""

    published: float
    ours: float
    count: int

    @property
    def difference(self) -> float:
        return abs(self.ours - self.published)


def compared(ours: Any, published: Any) -> Comparison | None:
    try:
        a, b = (np.asarray(v, dtype=float) for v in (ours, published))
        a, b = np.broadcast_arrays(a, b)
    except (TypeError, ValueError):
        return None
    if a.size == 0 or not np.isfinite(a).all() or not np.isfinite(b).all():
        return None
    worst = int(np.argmax(np.abs(a - b)))
    return Comparison(float(b.flat[worst]), float(a.flat[worst]), a.size)


class Recorder:
    """A plugin of pytest: which test compares what."""

    def __init__(self) -> None:
        self.test = ""
        self.found: dict[str, list[Comparison]] = defaultdict(list)
        self.failed: list[str] = []

    def pytest_runtest_setup(self, item: Any) -> None:
        self.test = f"{item.path.name}::{item.originalname}"
        self.found.setdefault(self.test, [])

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.failed:
            self.failed.append(report.nodeid)

    def note(self, ours: Any, published: Any) -> None:
        comparison = compared(ours, published)
        if comparison is not None and self.test:
            self.found[self.test].append(comparison)


def recorded() -> Recorder:
    """Run the tests with the two comparisons of pytest and NumPy watched."""
    import pytest

    recorder = Recorder()
    allclose = np.testing.assert_allclose

    def watched(actual: Any, desired: Any, *args: Any, **options: Any) -> None:
        recorder.note(actual, desired)
        allclose(actual, desired, *args, **options)

    np.testing.assert_allclose = watched  # type: ignore[assignment]
    for cls in {type(pytest.approx(sample)) for sample in (1.0, [1.0], np.ones(1))}:
        cls.__eq__ = _watching(cls.__eq__, recorder)
    pytest.main([str(FOLDER), "-q", "-p", "no:xdist", "-p", "no:cacheprovider"], plugins=[recorder])
    if recorder.failed:
        raise SystemExit(f"these tests fail: {recorder.failed}")
    return recorder


def _watching(equal: Any, recorder: Recorder) -> Any:
    def compare(self: Any, actual: Any) -> bool:
        recorder.note(actual, self.expected)
        return bool(equal(self, actual))

    return compare


def tests(path: Path) -> list[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return [n.name for n in tree.body if isinstance(n, ast.FunctionDef) and n.name.startswith("test_")]


def files() -> list[Path]:
    return sorted(FOLDER.glob("test_*.py"))


def page_text(recorder: Recorder) -> str:
    return "\n\n".join([HEAD.strip(), *(_section(path, recorder) for path in files())]) + "\n"


def _section(path: Path, recorder: Recorder) -> str:
    doc = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    first, _, rest = doc.partition("\n\n")
    title = path.stem.removeprefix("test_").replace("_", " ")
    rows = [
        row for name in tests(path) for row in _rows(name, recorder.found.get(f"{path.name}::{name}", []))
    ]
    heads = "| what | published | ours | difference |\n| --- | --- | --- | --- |"
    source = "\n\n".join(_paragraph(part) for part in [first, *rest.split("\n\n")] if part.strip())
    return f"## {title}\n\n{source}\n\n{heads}\n" + "\n".join(rows)


def _paragraph(part: str) -> str:
    if part.startswith("    "):
        return f"```text\n{part}\n```"
    return re.sub(r"([*$<\[\]])", r"\\\1", part)


def _rows(name: str, comparisons: list[Comparison]) -> list[str]:
    words = name.removeprefix("test_").replace("_", " ")
    if not comparisons:
        return [f"| {words} | | | |"]
    shown = sorted(dict.fromkeys(comparisons), key=lambda c: -c.difference)[:MOST]
    return [
        f"| {words if i == 0 else ''}{_count(c)} | {c.published:.10g} | {c.ours:.10g} | {c.difference:.1e} |"
        for i, c in enumerate(shown)
    ]


def _count(comparison: Comparison) -> str:
    return f" ({comparison.count} values)" if comparison.count > 1 else ""


def missing() -> list[str]:
    """Sources and tests that are not on the page."""
    text = PAGE.read_text(encoding="utf-8") if PAGE.is_file() else ""
    names = [name for path in files() for name in tests(path)]
    return [name for name in names if f"| {name.removeprefix('test_').replace('_', ' ')}" not in text]


if __name__ == "__main__":
    if "--check" in sys.argv[1:]:
        absent = missing()
        if absent:
            print(f"{PAGE.name} lacks {absent}; run: python tools/validation_page.py", file=sys.stderr)
        sys.exit(bool(absent))
    sys.path.insert(0, str(ROOT / "tests"))
    PAGE.write_text(page_text(recorded()), encoding="utf-8")
