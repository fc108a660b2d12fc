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
from simengine2d.lab.analysis_options import AnalysisOptions, MotionOptions
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
    "se.sweep",
}  # fmt: skip
"""Calls whose keywords are names of the user's own, or go on to an analysis, which checks them."""


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
    """What public calls return, and what can be made by name, without elements and methods of integration."""
    own = [cls for cls in reached() if not issubclass(cls, se.Element | Formulation | Integrator)]
    ours = [cls for cls in own if cls.__module__.startswith("simengine2d.") and cls.__name__ not in PARTS]
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
    calls = [call for call in public_calls() if call not in OF_ANY_NAME]
    assert len(calls) > 400
    return program() + [f"    {call}(wrong_keyword=1)" for call in calls]


def test_studies_know_the_keywords_of_their_analyses():
    """`outputs` of linearize and `noise` of inverse_dynamics are left out where the study has its own."""
    analyses = (se.kinematics, se.dynamics, se.inverse_dynamics, se.equilibrium, se.modes, se.linearize)
    options = {name for each in analyses for name in inspect.signature(each).parameters} - {
        "model",
        "outputs",
    }
    assert set(AnalysisOptions.__annotations__) == options
    own = {name for each in analyses[:3] for name in inspect.signature(each).parameters} - set(
        inspect.signature(se.fit).parameters
    )
    assert set(MotionOptions.__annotations__) == own


@pytest.mark.slow
def test_pyright_finds_a_wrong_keyword_in_every_public_call(tmp_path):
    """By basedpyright, which is the same checker with its own engine; the package pyright fetches one when it runs."""
    pytest.importorskip("basedpyright")
    lines = wrong_calls()
    (tmp_path / "program.py").write_text("\n".join(lines) + "\n", encoding="utf-8")
    config = {"include": ["program.py"], "extraPaths": [str(ROOT / "src")], "typeCheckingMode": "basic"}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(config), encoding="utf-8")
    command = [sys.executable, "-m", "basedpyright", "--outputjson", "-p", str(tmp_path)]
    answer = json.loads(subprocess.run(command, capture_output=True, text=True, cwd=tmp_path).stdout)
    errors = answer["generalDiagnostics"]
    found = {
        e["range"]["start"]["line"] for e in errors if 'No parameter named "wrong_keyword"' in e["message"]
    }
    assert [line for i, line in enumerate(lines) if "wrong_keyword" in line and i not in found] == []


@pytest.mark.slow
def test_mypy_finds_a_wrong_keyword_in_every_public_call(tmp_path):
    pytest.importorskip("mypy")
    lines = wrong_calls()
    errors = checked(tmp_path, "\n".join(lines))
    found = {int(n) for n in re.findall(r":(\d+): error: Unexpected keyword argument", errors)}
    missed = [line for i, line in enumerate(lines, 1) if "wrong_keyword" in line and i not in found]
    assert missed == []


@pytest.mark.slow
def test_mypy_finds_a_wrong_word_and_takes_right_ones(tmp_path):
    pytest.importorskip("mypy")
    right = [
        's = se.dynamics(m, t_end=1, coordinates="natural", formulation="ggl", integrator="newmark(beta=1/4)")',
        's = se.dynamics(m, t_end=1, integrator=se.Newmark(newton="modified"), formulation=se.Penalty(alpha=1e9))',
        'e = se.equilibrium(m, method="energy")',
        'k = se.kinematics(m, t_end=1, on_singular="stop")',
        'x = se.Event("b.x", "rising")',
        'm.bar("b", (0, 0), (1, 0), mass=1, angular_velocity=2)',
        'r.html("x.html", theme="dark", trace=["b.end"])',
        'c = se.lab.compare(m, ["natural"], ["ggl", None], ["rk4", se.RK4()], t_end=1)',
        'r.to_csv("x.csv", ["b.x"], units=False)',
    ]
    wrong = [
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
    ]
    head = [
        "import simengine2d as se",
        "from simengine2d import builders",
        "",
        "def f(m: se.Model, r: se.Results) -> None:",
    ]
    lines = head + [f"    {line}" for line in right + wrong]
    found = {int(n) for n in re.findall(r":(\d+): error:", checked(tmp_path, "\n".join(lines)))}
    first = len(head) + len(right) + 1
    assert found == set(range(first, first + len(wrong))), sorted(found)


def checked(folder: Path, program: str) -> str:
    """What mypy says of a user's program."""
    file = folder / "program.py"
    file.write_text(program + "\n", encoding="utf-8")
    command = [
        sys.executable,
        "-m",
        "mypy",
        "--config-file=",
        "--ignore-missing-imports",
        "--follow-imports=silent",
    ]
    command += ["--cache-dir", str(folder / "cache"), str(file)]
    source = {"MYPYPATH": str(ROOT / "src")}
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, env=os.environ | source)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    return done.stdout
