"""What holds for every command: --json, --quiet, 80 columns, completion in the shell."""

from __future__ import annotations

import inspect
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from typer.main import get_command
from typer.testing import CliRunner

import simengine2d as se
from simengine2d import cli
from simengine2d.cli import completion, terminal
from simengine2d.model import library

COMMAND = Path(sys.executable).with_name("simengine2d")


def run(*words: object):
    return CliRunner().invoke(cli.app, [str(word) for word in words], env={"COLUMNS": "80"})


@pytest.fixture(autouse=True)
def fresh_settings(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    yield
    terminal.Settings.json = terminal.Settings.quiet = terminal.Settings.strict = False
    terminal.Settings.degrees = False


EVERY = {
    "new": ["new"],
    "new NAME": ["new", "four-bar"],
    "new --python": ["new", "pendulum", "--python"],
    "learn": ["learn"],
    "learn NAME": ["learn", 1, "--no-open"],
    "check": ["check", "slider_crank"],
    "explain": ["explain", "four_bar", "position", "--at", "0.1", "--out", "step.html"],
    "check-work": ["check-work", "four_bar", "anna.csv"],
    "assemblies": ["assemblies", "four_bar"],
    "linkage": ["linkage", "four_bar"],
    "models": ["models"],
    "models NAME": ["models", "four_bar"],
    "models --copy": ["models", "four_bar", "--copy", "copies"],
    "schema": ["schema"],
    "schema --out": ["schema", "--out", "schema.json"],
    "doctor": ["doctor", "four_bar"],
    "run": ["run", "four_bar", "--out", "results"],
    "kinematics": ["kinematics", "slider_crank", "--t-end", 0.1],
    "dynamics": ["dynamics", "double_pendulum", "--t-end", 0.1],
    "inverse": ["inverse", "four_bar", "--t-end", 0.1],
    "resume": ["resume", "earlier.npz", "--t-end", 0.2],
    "equilibrium": ["equilibrium", "double_pendulum"],
    "modes": ["modes", "sprung_slider"],
    "equations": ["equations", "four_bar", "--html", "equations.html"],
    "demo": ["demo", "--no-open", "--out", "demo.html"],
    "show": ["show", "four_bar", "--no-open", "--out", "show.html"],
    "sweep": [
        *("sweep", "four_bar", "--param", "rocker=3:4:#3", "--param", "coupler=2,2.2"),
        *("--output", "top=max(coupler.end.y)", "--executor", "serial"),
    ],
    "sensitivity": [
        *("sensitivity", "four_bar", "--param", "crank", "--param", "density", "--analysis", "inverse"),
        *("--output", "peak=max(motor.torque)", "--t-end", 0.2),
    ],
    "lab": [
        *("lab", "double_pendulum", "--t-end", 0.05, "--coordinates", "relative"),
        *("--formulations", "projection", "--integrators", "heun"),
    ],
    "fit": ["fit", "four_bar", "rocker.csv", "--parameter", "rocker=3:4", "--parameter", "coupler"],
    "synthesize": ["synthesize", "line.csv", "--starts", 2, "--type", "four-bar"],
}
"""A call of every command; `warmup`, which compiles, and `studio`, which serves, have tests of their own."""


@pytest.fixture
def words(request):
    if request.param == "synthesize":
        Path("line.csv").write_text("x,y\n0,0\n0.5,0.05\n1,0\n", encoding="utf-8")
    if request.param == "fit":
        motion = se.kinematics(se.load("four_bar"), t_end=1, step=0.05)
        rows = [f"{t},{phi}" for t, phi in zip(motion.t, motion["rocker.phi"], strict=True)]
        Path("rocker.csv").write_text("\n".join(["t,rocker.phi", *rows]), encoding="utf-8")
    if request.param == "check-work":
        Path("anna.csv").write_text("QA\n" + ",".join(["0"] * 9) + "\n", encoding="utf-8")
    if request.param == "resume":
        se.dynamics(se.load("double_pendulum"), t_end=0.1).save("earlier.npz")
    return EVERY[request.param]


def test_every_command_is_here():
    shown = set(get_command(cli.app).list_commands(None))
    assert shown == {words[0] for words in EVERY.values()} | {"warmup", "studio"}


@pytest.mark.parametrize("words", EVERY, indirect=True)
def test_json_is_all_that_is_on_standard_output(words):
    shown = run(*words, "--json")
    assert shown.exit_code == 0, shown.output
    data = json.loads(shown.stdout)
    assert isinstance(data, dict)
    assert data
    assert "NaN" not in shown.stdout


@pytest.mark.parametrize("words", EVERY, indirect=True)
def test_quiet_commands_print_only_texts_that_were_asked_for(words):
    shown = run(*words, "-q")
    assert (shown.exit_code, shown.stderr) == (0, "")
    assert (shown.stdout == "") == (words not in (EVERY["schema"], EVERY["models NAME"]))


@pytest.mark.parametrize("words", EVERY, indirect=True)
def test_tables_fit_into_80_columns(words):
    shown = run(*words)
    tables = [line for line in shown.stdout.splitlines() if re.search(r"\S {3,}\S", line) or "──" in line]
    assert [line for line in tables if len(line.rstrip()) > 80 and words[0] != "schema"] == []
    assert "…" not in shown.stdout


def test_numbers_of_ranges_are_not_broken_between_lines():
    shown = run("run", "four_bar").stdout
    assert re.search(r"^coupler +-0\.2105 +-0\.04447 +0\.5994 ", shown, re.MULTILINE)
    assert re.search(r"^ +to 1\.107 +to 1\.764 +to 1\.647 *$", shown, re.MULTILINE)


def test_long_names_are_folded():
    m = se.Model("long")
    bar = m.bar("an_arm_with_a_name_that_nobody_wants_to_read_twice_but_that_is_allowed" * 2, (0, 0), (1, 0))
    m.add(
        se.Revolute(
            "bearing_of_the_arm_with_a_name_that_nobody_wants_to_read_twice" * 2, m.ground, bar["start"]
        )
    )
    m.save("long.yaml")
    shown = run("check", "long.yaml")
    assert shown.exit_code == 0
    assert max(map(len, shown.stdout.split("assembled")[0].splitlines())) <= 80


def test_the_short_help_of_commands_is_not_cut():
    assert "..." not in run("--help").stdout.split("Commands:")[1]


def test_the_shipped_mechanisms_fit_into_80_columns():
    assert max(map(len, repr(se.models()).splitlines())) <= 80


# What the answers say ---------------------------------------------------------------------------------


def answer(*words: object):
    return json.loads(run(*words, "--json").stdout)


def test_the_numbers_are_those_of_the_library():
    results = se.kinematics(se.load("four_bar"), t_end=0.1)
    data = answer("kinematics", "four_bar", "--t-end", 0.1)
    assert data["points"] == results.t.size
    assert data["verdict"] == {"word": "trust", "reasons": []}
    assert data["bodies"]["rocker"]["phi"] == [results["rocker.phi"].min(), results["rocker.phi"].max()]
    modes = se.modes(se.load("sprung_slider"))
    assert answer("modes", "sprung_slider")["modes"][0]["frequency"] == modes.frequency[0]
    found = se.equilibrium(se.load("double_pendulum"))
    data = answer("equilibrium", "double_pendulum")["equilibria"][0]
    assert data["stability"] == "unstable"
    assert data["bodies"]["upper"]["phi"] == found["upper.phi"][0]
    assert data["joints"]["O"]["fy"] == found.reaction("O").fy[0]


def test_diagnosis_and_warnings():
    data = answer("check", "parallelogram")
    assert data["diagnosis"]["redundant"] == 1
    assert "1 equation is redundant" in data["warnings"][0]
    assert data["joints"]["A"]["equations"] == ["x", "y"]


def test_what_the_motors_must_give():
    data = answer("inverse", "four_bar", "--t-end", 1)
    r = se.inverse_dynamics(se.load("four_bar"), t_end=1)
    np.testing.assert_allclose(data["actuators"]["motor"]["energy"], r["motor.energy"][-1])
    assert set(data["joints"]) == {"A", "B", "C", "D"}


def test_an_error_is_an_answer_too(tmp_path):
    shown = run("check", "nothing.yaml", "--json")
    data = json.loads(shown.stdout)
    assert shown.exit_code == data["exit_code"] == 2
    assert f"error: {data['error']}" == shown.stderr.strip()


def test_a_run_that_fails_answers_with_what_it_finished():
    text = library.text("slider_crank")
    driver = re.search(r"(?m)^  motor:.*$", text)
    assert driver is not None
    push = '  push: {type: Driver, measure: "x(ground, slider)", value: 3.9 + t}'
    Path("push.yaml").write_text(text.replace(driver[0], push))
    shown = run("kinematics", "push.yaml", "--t-end", 2, "--json", "--out", "out")
    data = json.loads(shown.stdout)
    assert shown.exit_code == data["exit_code"] == 3
    assert 0 < data["points"] < 101
    assert data["saved"] == ["out/push.csv"]


def test_warnings_are_left_out_of_quiet_runs_and_errors_are_not():
    assert "redundant" in run("check", "parallelogram").stderr
    assert run("check", "parallelogram", "--quiet").stderr == ""
    assert "there is no file" in run("check", "nothing.yaml", "--quiet").stderr


def test_numbers_that_are_not_finite_are_null():
    assert terminal.plain({"a": np.array([1.0, np.nan]), "b": np.int64(3), "c": np.inf}) == {
        "a": [1.0, None],
        "b": 3,
        "c": None,
    }


def test_the_library_does_not_print():
    """Only the command line writes to the terminal; an animation that takes long shows a bar on one."""
    package = Path(se.__file__).parent
    allowed = {"animation.py", "compiler_verdicts.py"}  # the latter is a program of its own
    printing = re.compile(r"^\s*(print\(|sys\.std(out|err)\.write)", re.MULTILINE)
    files = [path for path in package.rglob("*.py") if "cli" not in path.parts and path.name not in allowed]
    assert [path.name for path in files if printing.search(path.read_text(encoding="utf-8"))] == []


# Completion -------------------------------------------------------------------------------------------


def completed(line: str, shell: str = "bash") -> list[str]:
    """What the shell would offer at the end of the line."""
    words = line.split(" ")
    asked = {"COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1), "_TYPER_COMPLETE_ARGS": line}
    environment = {**os.environ, **asked, "_SIMENGINE2D_COMPLETE": f"complete_{shell}"}
    return subprocess.run([COMMAND], capture_output=True, text=True, env=environment).stdout.split("\n")


def test_commands_and_options_are_completed():
    assert "kinematics" in completed("simengine2d kin")
    assert "--json" in completed("simengine2d check four_bar --j")


def test_mechanisms_files_and_methods_are_completed():
    Path("fourth.yaml").write_text("")
    Path("folder").mkdir()
    Path("folder", "inside.yaml").write_text("")
    assert completed("simengine2d check fo")[:3] == ["fourth.yaml", "folder/", "four_bar"]
    assert completed("simengine2d check folder/")[0] == "folder/inside.yaml"
    assert completed("simengine2d dynamics four_bar --integrator do")[:2] == ["dop853", "dormand_prince"]
    assert completed("simengine2d dynamics four_bar --coordinates n")[0] == "natural"
    assert completed("simengine2d equilibrium four_bar --method r")[0] == "relaxation"
    assert completed("simengine2d lab four_bar --formulations ggl,in")[0] == "ggl,index3"
    assert "Four-bar linkage" in "".join(completed("simengine2d demo fo", "zsh"))


def test_every_completion_offers_words():
    for name in ("integrators", "formulations", "coordinates", "equilibrium_methods", "notations"):
        assert len(getattr(completion, name)("")) > 2


@pytest.mark.skipif(not Path("/bin/bash").exists(), reason="there is no bash")
def test_the_script_works_in_bash():
    program = f"""
    export PATH={COMMAND.parent}:$PATH _TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION=1
    source <(simengine2d --show-completion bash)
    COMP_WORDS=(simengine2d check four_b) COMP_CWORD=2
    _simengine2d_completion simengine2d
    echo "${{COMPREPLY[@]}}"
    """
    done = subprocess.run(["/bin/bash", "-c", program], capture_output=True, text=True)
    assert done.stdout == "four_bar\n", done.stderr


MISTAKES = {
    "no such command": ["chek", "four_bar"],
    "no such option": ["check", "four_bar", "--colour"],
    "not a number": ["kinematics", "four_bar", "--t-end", "soon"],
    "not positive": ["kinematics", "four_bar", "--t-end", -1],
    "a missing argument": ["check"],
    "two kinds of files": ["run", "four_bar", "--out", "a.csv", "--format", "npz"],
}


@pytest.mark.parametrize("words", MISTAKES.values(), ids=MISTAKES)
@pytest.mark.parametrize("first", [True, False])
def test_a_command_that_is_written_wrongly_answers_in_json_too(words, first):
    name, *others = words
    shown = run(name, "--json", *others) if first else run(*words, "--json")
    data = json.loads(shown.stdout)
    assert shown.exit_code == data["exit_code"] == 2 and len(data["error"]) > 10
    assert data["error"].splitlines()[0][:30] in shown.stderr.replace("\n", " ")
    assert run(*words).stdout == ""


WRITTEN = {"out", "plot_file", "report", "animate", "html", "latex", "picture", "plot", "copy"}
"""Parameters that say where to write."""

READ = {
    ("check-work", "work"): ["check-work", "four_bar", "missing.csv"],
    ("check-work", "points"): ["check-work", "four_bar", "missing.csv", "--points", "missing.yaml"],
    ("fit", "data"): ["fit", "four_bar", "missing.csv", "--parameter", "rocker"],
    ("inverse", "motion"): ["inverse", "four_bar", "--motion", "missing.csv"],
    ("resume", "result"): ["resume", "missing.npz", "--t-end", 1],
    ("run", "analysis"): ["run", "four_bar", "missing.acf"],
    ("show", "what"): ["show", "missing.npz"],
    ("synthesize", "target"): ["synthesize", "missing.csv"],
}
"""A call with a missing file for every parameter that reads one; those that read models are below."""


def test_every_file_that_a_command_reads_is_here():
    files = {
        (each.name or each.callback.__name__, parameter.name)
        for each in cli.app.registered_commands
        for parameter in inspect.signature(each.callback).parameters.values()
        if "Path" in str(parameter.annotation) and parameter.name not in WRITTEN
    }
    assert files == set(READ) - {("show", "what")}


MODELS = {
    " ".join(map(str, words)): ["missing.yaml" if word in library.names() else word for word in words]
    for words in EVERY.values()
    if words[0] not in ("models", "demo") and set(words) & set(library.names())
}
"""Every command that takes a model; the arguments of `models` and `demo` are names of shipped mechanisms."""


def test_every_command_with_a_model_is_here():
    commands = get_command(cli.app).commands
    takes = {name for name, each in commands.items() if any(p.name == "model" for p in each.params)}
    assert takes <= {words[0] for words in MODELS.values()}


@pytest.mark.parametrize("words", [*READ.values(), *MODELS.values()], ids=[*map("-".join, READ), *MODELS])
def test_a_missing_file_is_exit_code_2_for_every_command(words):
    shown = run(*words)
    assert (shown.exit_code, shown.stdout) == (2, "")
    assert re.match(r"error: .*missing\.\w+ .* Check the path\.$", shown.stderr.strip())


def test_all_missing_files_of_a_class_are_named():
    shown = run("check-work", "four_bar", "anna.csv", "ben.csv")
    assert shown.exit_code == 2
    assert "anna.csv" in shown.stderr and "ben.csv" in shown.stderr
