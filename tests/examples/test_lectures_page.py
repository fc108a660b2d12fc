"""The table of the lectures: what it names exists."""

from __future__ import annotations

import re
from functools import reduce
from pathlib import Path

import pytest

import simengine2d as se

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "reference" / "lectures.md"
ROWS = [
    line
    for line in PAGE.read_text(encoding="utf-8").splitlines()
    if re.match(r"\| (?!---|in the|where)", line)
]
TESTS = sorted(set(re.findall(r"`(tests/[^`]+)`", "\n".join(ROWS))))


def test_there_is_a_row_for_everything():
    assert len(ROWS) > 65
    assert all(row.count(" | ") == 3 for row in ROWS)


@pytest.mark.parametrize("named", TESTS)
def test_the_tests_exist(named):
    path, _, function = named.partition("::")
    text = (ROOT / path).read_text(encoding="utf-8")
    assert not function or f"def {function}(" in text


def test_the_pages_exist():
    for link in re.findall(r"\]\(([^)]+)\)", "\n".join(ROWS)):
        assert (PAGE.parent / link).resolve().is_file(), link


def test_the_public_names_exist():
    for name in set(re.findall(r"\bse\.([\w.]+)", "\n".join(ROWS))):
        reduce(getattr, name.rstrip(".").split("."), se)
