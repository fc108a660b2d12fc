"""The order of the house: few rooms with names, imports one way, no class name twice."""

from __future__ import annotations

import ast
import re
import tomllib
from collections import defaultdict
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "simengine2d"
MOST_ENTRIES, MOST_LAYERS, MOST_LINES = 20, 12, 1500


class Text(NamedTuple):
    """What the text of a module defines and imports."""

    classes: list[ast.ClassDef]
    names: set[str]
    imports: list[ast.ImportFrom]


@cache
def text_of(path: Path) -> Text:
    classes, names, imports = [], set(), []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        match node:
            case ast.ClassDef():
                classes.append(node)
                names.add(node.name)
            case ast.FunctionDef():
                names.add(node.name)
            case ast.Name(ctx=ast.Store()):
                names.add(node.id)
            case ast.ImportFrom():
                imports.append(node)
    return Text(classes, names, imports)


def entries() -> list[str]:
    return [path.name for path in PACKAGE.iterdir() if path.name not in ("__pycache__", "py.typed")]


def test_the_package_fits_on_one_screen():
    assert len(entries()) <= MOST_ENTRIES, sorted(entries())


def test_imports_have_few_layers():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    layers = settings["tool"]["importlinter"]["contracts"][0]["layers"]
    assert len(layers) <= MOST_LAYERS


def test_no_class_name_stands_for_two_things():
    homes = defaultdict(list)
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in text_of(path).classes:
            homes[node.name].append(f"{path.relative_to(PACKAGE)}:{node.lineno}")
    assert homes
    assert {name: places for name, places in homes.items() if len(places) > 1} == {}


def test_every_room_has_its_line_in_the_architecture():
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    table = "\n".join(line for line in text.splitlines() if line.startswith("|"))
    rooms = {Path(name).stem for name in entries() if not name.startswith("__")}
    assert rooms
    assert [room for room in sorted(rooms) if f"`{room}`" not in table] == []


def test_the_reading_list_is_short_and_its_files_exist():
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    part = text[text.index("## Ten minutes") : text.index("From there:")]
    files = [PACKAGE / name for name in re.findall(r"`([\w/]+\.(?:py|yaml))`", part)]
    assert len(files) > 5
    lines = sum(len(path.read_text(encoding="utf-8").splitlines()) for path in files)
    assert lines < MOST_LINES


@cache
def defined_in(path: Path) -> set[str]:
    """The names that a module binds itself, and the modules beside it."""
    return text_of(path).names | (
        {each.stem for each in path.parent.iterdir()} if path.name == "__init__.py" else set()
    )


def test_a_name_is_imported_from_where_it_is_defined():
    """One import path for each name; `io` and `lab` hand out what their packages are for."""
    wrong = []
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in text_of(path).imports:
            if not node.level:
                continue
            room = path.parents[node.level - 1].joinpath(*(node.module or "").split("."))
            home = room / "__init__.py" if room.is_dir() else room.with_suffix(".py")
            if home.parent in (PACKAGE / "io", PACKAGE / "lab") and home.name == "__init__.py":
                continue
            strange = [each.name for each in node.names if each.name not in defined_in(home)]
            wrong += [f"{path.relative_to(PACKAGE)}:{node.lineno} {name}" for name in strange]
    assert wrong == []
