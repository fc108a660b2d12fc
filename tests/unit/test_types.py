"""What type checkers and editors know: the words that calls accept, and a wrong keyword in every public call."""

from __future__ import annotations

import inspect
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest
from test_answers import PARTS, reached

import simengine2d as se
from simengine2d import builders
from simengine2d.analyses.catalog import EquilibriumMethod
from simengine2d.analyses.statics.equilibrium import METHODS
from simengine2d.coordinates.base import Family
from simengine2d.draw.style import PAPER, Theme
from simengine2d.formulations import stage_iteration
from simengine2d.integrators import ode_method
from simengine2d.lab.analysis_options import MotionOptions, SweptOptions, WatchedOptions
from simengine2d.methods import (
    CoordinatesName,
    Formulation,
    FormulationName,
    Integrator,
    IntegratorName,
    NewtonName,
    NotationName,
)
from simengine2d.model.curves.cam_design import FOLLOWERS
from simengine2d.model.curves.curve import FollowerName
from simengine2d.results.events import DIRECTIONS, Direction
from simengine2d.symbolic import NOTATIONS

ROOT = Path(__file__).parents[2]
OF_ANY_NAME = {
    "ofModel.with_parameters", "ofSymbolicSystem.initial", "ofSymbolicSystem.lambdify", "ofEquations.lambdify",
}  # fmt: skip
"""Calls whose keywords are names of the user's own."""
OVERLOADED = {"se.sweep"}
"""Calls of several forms, which checkers explain in their own ways; they are among the wrong words below."""


def shipped(registry) -> set[str]:
    """What is registered by this package, not by other tests."""
    return {name for name, cls in registry.loaded().items() if cls.__module__.startswith("simengine2d.")}


@pytest.mark.parametrize(
    ("words", "accepted"),
    [
        (IntegratorName, lambda: shipped(Integrator.registry)),
        (FormulationName, lambda: shipped(Formulation.registry)),
        (CoordinatesName, lambda: shipped(Family.registry)),
        (NewtonName, lambda: {*ode_method.NEWTON, *stage_iteration.NEWTON}),
        (EquilibriumMethod, lambda: set(METHODS)),
        (NotationName, lambda: set(NOTATIONS)),
        (Direction, lambda: set(DIRECTIONS)),
        (FollowerName, lambda: set(FOLLOWERS)),
        (Theme, lambda: set(PAPER)),
    ],
)
def test_the_words_are_those_that_are_accepted(words, accepted):
    assert set(get_args(words)) == accepted()


def test_options_with_words_are_read_from_texts():
    assert Integrator.registry.made("newmark(newton=modified)").newton == "modified"
    with pytest.raises(se.ModelError, match="it must be a word"):
        Integrator.registry.made({"type": "newmark", "newton": 3})


# Wrong keywords ---------------------------------------------------------------------------------------


def functions_of(prefix: str, home, names) -> list[str]:
    found = []
    for name in names:
        value = getattr(home, name)
        ours = getattr(value, "__module__", "").startswith("simengine2d")
        is_error = inspect.isclass(value) and issubclass(value, BaseException | Warning)
        if callable(value) and ours and not is_error and not name.startswith("_"):
            found.append(prefix + name)
    return found


def is_of(module, value) -> bool:
    return getattr(value, "__module__", "") == module.__name__


def methods_of(cls: type) -> list[str]:
    return [f"of{cls.__name__}.{name}" for name, _ in inspect.getmembers(cls, is_method) if name[0] != "_"]


def is_method(member) -> bool:
    """Functions in a class, bound to it or not; those of dataclasses and tuples are not ours."""
    return inspect.isroutine(member) and (getattr(member, "__module__", None) or "").startswith("simengine2d")


HOMES = {
    "se.": se, "builders.": builders, "se.lab.": se.lab, "se.ivp.": se.ivp, "se.symbolic.": se.symbolic,
    "se.synthesis.": se.synthesis,
}  # fmt: skip


def public_classes() -> dict[str, type]:
    """What public calls return, and what can be made by name."""
    ours = [
        cls for cls in reached() if cls.__module__.startswith("simengine2d.") and cls.__name__ not in PARTS
    ]
    return {cls.__name__: cls for cls in sorted(ours, key=lambda cls: cls.__name__)}


def public_calls() -> list[str]:
    calls = []
    for prefix, home in HOMES.items():
        names = getattr(home, "__all__", dir(home))
        own = [n for n in names if home is not builders or is_of(builders, getattr(home, n))]
        calls += functions_of(prefix, home, own)
    return calls + [call for cls in public_classes().values() for call in methods_of(cls)]


def program() -> list[str]:
    """The head of a program that has one object of each public class."""
    classes = public_classes()
    imports = [f"from {cls.__module__} import {name}" for name, cls in classes.items()]
    things = ", ".join(f"of{name}: {name}" for name in classes)
    head = ["import simengine2d as se", "from simengine2d import builders", *imports]
    return [*head, "", f"def f({things}) -> None:"]


def wrong_calls() -> list[str]:
    """The lines of a program with a wrong keyword in every public call."""
    calls = [call for call in public_calls() if call not in OF_ANY_NAME | OVERLOADED]
    assert len(calls) > 400
    return program() + [f"    {call}(wrong_keyword=1)" for call in calls]


def test_studies_know_the_keywords_of_their_analyses():
    """Left out is what the study itself has under the same name."""
    motions = (se.kinematics, se.dynamics, se.inverse_dynamics)
    others = (se.equilibrium, se.modes, se.linearize)
    assert set(MotionOptions.__annotations__) == keywords(*motions) - keywords(se.fit)
    assert set(WatchedOptions.__annotations__) == keywords(*motions, *others) - keywords(se.sensitivity)
    assert set(SweptOptions.__annotations__) == keywords(*motions, *others, se.floquet) - keywords(se.sweep)


def keywords(*calls) -> set[str]:
    return {name for call in calls for name in inspect.signature(call).parameters}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """For the programs of all tests: mypy reads the package once and keeps it beside them."""
    return tmp_path_factory.mktemp("types")


@pytest.mark.slow
@pytest.mark.parametrize("checker", ["mypy", "basedpyright"])
def test_a_wrong_keyword_is_found_in_every_public_call(checker, folder):
    lines = wrong_calls()
    found = CHECKERS[checker](folder, lines, ("wrong_keyword", "Unexpected keyword"))
    assert [line for i, line in enumerate(lines, 1) if "wrong_keyword" in line and i not in found] == []


RIGHT = [
    's = se.dynamics(m, t_end=1, coordinates="natural", formulation="ggl", integrator="newmark(beta=1/4)")',
    's = se.dynamics(m, t_end=1, integrator=se.Newmark(newton="modified"), formulation=se.Penalty(alpha=1e9))',
    'e = se.equilibrium(m, method="energy")',
    'k = se.kinematics(m, t_end=1, on_singular="stop")',
    'x = se.Event("b.x", "rising")',
    'm.bar("b", (0, 0), (1, 0), mass=1, angular_velocity=2)',
    'r.html("x.html", theme="dark", trace=["b.end"])',
    'c = se.lab.compare(m, ["natural"], ["ggl", None], ["rk4", se.RK4()], t_end=1)',
    'r.to_csv("x.csv", ["b.x"], units=False)',
    'v = se.sweep(m, {"L": [1, 2]}, outputs="max(b.x)", t_end=1, samples=3)',
    'v = se.sweep(m, {"L": [1, 2]}, "floquet", period=1.0)',
    'v = se.sweep(m, {"L": [1, 2]}, lambda model, mine: mine, mine=1)',
    'd = se.sensitivity(m, ["L"], "inverse_dynamics", outputs="max(b.x)", t_end=1)',
]
WRONG = [
    'se.dynamics(m, t_end=1, coordinates="natral")',
    'se.formulate(m, "absolute")',
    'se.equilibrium(m, method="newtons")',
    'se.kinematics(m, t_end=1, on_singular="go")',
    'se.Event("b.x", "up")',
    'se.Newmark(newton="fast")',
    'm.equations("natural", notation="hog")',
    'r.html("x.html", theme="blue")',
    'r.animate("x.gif", theme="blue")',
    'se.cam_profile("0.01*theta", 1, "ball")',
    'builders.four_bar(1, 2, 3, 3, branch="closed")',
    'se.sweep(m, {"L": [1, 2]}, "statics")',
    'se.sweep(m, {"L": [1, 2]}, outputs="max(b.x)", tend=1)',
    'se.sweep(m, {"L": [1, 2]}, "dynamics", tend=1)',
    'se.sensitivity(m, ["L"], "statics")',
]


@pytest.mark.slow
@pytest.mark.parametrize("checker", ["mypy", "basedpyright"])
def test_a_wrong_word_is_found_and_right_ones_are_taken(checker, folder):
    head = [
        "import simengine2d as se",
        "from simengine2d import builders",
        "",
        "def f(m: se.Model, r: se.Results) -> None:",
    ]
    lines = head + [f"    {line}" for line in RIGHT + WRONG]
    first = len(head) + len(RIGHT) + 1
    assert CHECKERS[checker](folder, lines) == set(range(first, first + len(WRONG)))


def found_by_mypy(folder: Path, lines: list[str], words: tuple[str, ...] = ("",)) -> set[int]:
    """The lines of a user's program with an error that has one of the words."""
    pytest.importorskip("mypy")
    (folder / "program.py").write_text("\n".join(lines) + "\n", encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "--config-file=", "--ignore-missing-imports"]
    command += ["--follow-imports=silent", "--cache-dir", "cache", "program.py"]
    source = {"MYPYPATH": str(ROOT / "src")}
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, env=os.environ | source)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    errors = re.findall(r":(\d+): error: (.*)", done.stdout)
    return {int(n) for n, text in errors if any(word in text for word in words)}


def found_by_pyright(folder: Path, lines: list[str], words: tuple[str, ...] = ("",)) -> set[int]:
    """By basedpyright, which is the same checker with its own engine; the package pyright fetches one when it runs."""
    pytest.importorskip("basedpyright")
    (folder / "program.py").write_text("\n".join(lines) + "\n", encoding="utf-8")
    config = {"include": ["program.py"], "extraPaths": [str(ROOT / "src")], "typeCheckingMode": "basic"}
    (folder / "pyrightconfig.json").write_text(json.dumps(config), encoding="utf-8")
    command = [sys.executable, "-m", "basedpyright", "--outputjson", "-p", str(folder)]
    answer = json.loads(subprocess.run(command, capture_output=True, text=True, cwd=folder).stdout)
    errors = [(e["range"]["start"]["line"] + 1, e["message"]) for e in answer["generalDiagnostics"]]
    return {n for n, text in errors if any(word in text for word in words)}


CHECKERS = {"mypy": found_by_mypy, "basedpyright": found_by_pyright}
