"""The work of a whole class: points for each student, and a sentence for every mistake."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path
from typing import Any

from ...answer import Answer, Rows
from ...errors import ModelError, SimEngineError, answers_misspellings, counted, listed, unknown
from ...io.files import write_text
from ...model.model import Model
from ...system.system import System
from .check import QUANTITIES, check, quantity_named
from .checked import CheckedWork
from .handed_in import REACTIONS, SETTINGS, SOLUTION, read_work, students_in

TASK = ("points", "off", "rtol", "atol", *SETTINGS)


@dataclass(frozen=True)
class Task:
    """What was asked for: points for each array, and what a mistake costs."""

    points: Mapping[str, float] = field(default_factory=dict)
    """The arrays, "reactions" and "solution"; without it each that was handed in is one point."""
    off: float | None = None
    """Points that each mistake in an array takes off, never below zero; by default all of them."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """at, q, qd, coordinates, rtol, atol of `check`; they go before what students write."""

    @classmethod
    def of(cls, data: Mapping[str, Any] | None) -> Task:
        """From plain data: {points: {Phi_q: 4, M: 2}, off: 1, at: 0.1}; or the points alone."""
        data = dict(data or {})
        if "points" not in data and data and not set(data) & set(TASK):
            data = {"points": data}
        for name in data:
            if name not in TASK:
                raise ModelError(
                    f"points: there is no '{name}'. {unknown('entry', name, TASK, plural='entries')}"
                )
        points = {
            _named(str(name)): _number(f"points of {name}", p)
            for name, p in dict(data.pop("points", {})).items()
        }
        off = data.pop("off", None)
        return cls(points, None if off is None else _number("off", off), data)


def _named(name: str) -> str:
    return name if name in (REACTIONS, SOLUTION) else quantity_named(name)


def _number(what: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value) or value < 0:
        raise ModelError(f"{what}: {value!r} is not a positive number.")
    return float(value)


@dataclass(frozen=True, repr=False)
class MarkedWork(Answer):
    """The work of one student with its points."""

    student: str
    points: dict[str, float]
    most: dict[str, float]
    """The points of each array if it is right."""
    work: CheckedWork | None = None
    problem: str = ""
    """Why the files could not be read or checked."""

    @property
    def total(self) -> float:
        return sum(self.points.values())

    def __str__(self) -> str:
        lines = [f"{self.student}: {_points(self.total)} of {_points(sum(self.most.values()))} points", ""]
        lines += [f"  {name}: {_points(p)} of {_points(self.most[name])}" for name, p in self.points.items()]
        if self.problem:
            lines += ["", f"This could not be checked: {self.problem}"]
        if self.work is not None:
            lines += ["", str(self.work)]
            missing = [name for name in self.most if name not in self.handed_in]
            lines += [f"not handed in: {listed(missing)}"] if missing else []
        return "\n".join(lines)

    @property
    def handed_in(self) -> set[str]:
        checked = set(self.work.checked) if self.work else set()
        return checked | ({SOLUTION} if checked - {*QUANTITIES, REACTIONS} else set())

    def record(self) -> dict[str, Any]:
        data = {"student": self.student, "points": self.points, "total": self.total, "problem": self.problem}
        return {**data, **({"work": self.work.record()} if self.work else {})}


@dataclass(frozen=True, repr=False)
class ClassMarks(Answer):
    """All students, with their points."""

    model: str
    students: list[MarkedWork]

    @property
    def heads(self) -> list[str]:
        arrays = dict.fromkeys(name for each in self.students for name in each.most)
        return ["student", *arrays, "total", "mistakes"]

    def rows(self) -> list[list[str]]:
        """One for each student, in the order of the heads."""
        return [
            [
                each.student,
                *(_points(each.points[name]) if name in each.points else "-" for name in self.heads[1:-2]),
                _points(each.total),
                str(len(each.work.mistakes)) if each.work else "not read",
            ]
            for each in self.students
        ]

    def __str__(self) -> str:
        title, table = self._parts()
        return "\n".join([title, *table.lines()])

    def _parts(self) -> tuple[str, Rows]:
        return f"{self.model}: {counted(len(self.students), 'student')}", Rows(self.heads, self.rows())

    def to_csv(self, path: str | Path) -> Path:
        """The table for a spreadsheet."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerows([self.heads, *self.rows()])
        return write_text(Path(path), out.getvalue())

    def save_feedback(self, folder: str | Path) -> list[Path]:
        """A text file for each student, and class.csv with the points of all."""
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        names = [_file_name(each.student) for each in self.students]
        unique = [n if names.count(n) == 1 else f"{n}-{k}" for k, n in enumerate(names, 1)]
        saved = [
            write_text(folder / f"{name}.txt", f"{each}\n")
            for name, each in zip(unique, self.students, strict=True)
        ]
        return [*saved, self.to_csv(folder / "class.csv")]


def _points(value: float) -> str:
    return f"{value:g}"


def _file_name(student: str) -> str:
    return "".join(c if c.isalnum() or c in "-_ ." else "_" for c in student).strip(" .") or "student"


@answers_misspellings
def mark(
    model: Model | System,
    paths: Sequence[str | Path] | str | Path,
    points: Mapping[str, Any] | None = None,
) -> ClassMarks:
    """Check the work of a class: files or folders of students, or a folder of such.

    `points` are {"Phi_q": 4, "M": 2}, or {"points": {...}, "off": 1, "at": 0.1, "coordinates": "natural"}. A file that
    cannot be read costs its student the points, and is answered by a sentence; the others are not affected.
    """
    task = Task.of(points)
    system = model if isinstance(model, System) else System(model)
    given = [Path(paths)] if isinstance(paths, str | Path) else [Path(path) for path in paths]
    students = [_marked(system, path, task) for path in students_in(given)]
    if not students:
        raise ModelError(f"there is no work in {listed(given)}; files end in .csv or .txt.")
    return ClassMarks(system.model.name, students)


def _marked(system: System, path: Path, task: Task) -> MarkedWork:
    name = path.name if path.is_dir() else path.stem
    try:
        handed_in = read_work(path)
        work = check(system, **{**handed_in.options, **task.options})
    except (SimEngineError, OSError) as error:
        return MarkedWork(name, dict.fromkeys(task.points, 0.0), dict(task.points), problem=str(error))
    most = dict(task.points) or dict.fromkeys(handed_in.quantities, 1.0)
    earned = {each: _earned(each, most[each], work, handed_in.quantities, task.off) for each in most}
    return MarkedWork(name, earned, most, work)


def _earned(name: str, most: float, work: CheckedWork, handed_in: Sequence[str], off: float | None) -> float:
    if name not in handed_in:
        return 0.0
    others = {*QUANTITIES, REACTIONS}
    mine = [m for m in work.mistakes if m.quantity == name or (name == SOLUTION and m.quantity not in others)]
    return max(0.0, most - len(mine) * (most if off is None else off))
