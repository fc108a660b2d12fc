"""The command `simengine2d`: a few times as installed, for the many cases inside this process."""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import subprocess
import sys
import textwrap
import warnings
from pathlib import Path
from typing import get_args

import numpy as np
import pytest
from typer.testing import CliRunner

import simengine2d as se
from loading import written
from simengine2d import cli
from simengine2d.cli import terminal
from simengine2d.errors import ModelWarning
from simengine2d.io import job
from simengine2d.methods import CoordinatesName, FormulationName, IntegratorName
from simengine2d.model import library
from simengine2d.numerics import kernel

ROOT = Path(__file__).parents[2]
COMMAND = Path(sys.executable).with_name("simengine2d")
ANSI = re.compile(r"\x1b\[")

SLIDER_CRANK = """\
name: slider-crank
bodies:
  crank: {mass: 2, inertia: 0.3, at: [2, 0], points: {O: [-2, 0], A: [2, 0]}}
  rod: {mass: 3, inertia: 0.2, at: [7, 0], points: {A: [-3, 0], B: [3, 0]}}
  slider: {mass: 5, inertia: 0.5, at: [10, 0]}
joints:
  O: {type: Revolute, a: ground, b: crank.O}
  A: {type: Revolute, a: crank.A, b: rod.A}
  B: {type: Revolute, a: rod.B, b: slider}
  guide: {type: Translational, a: ground, b: slider}
"""
MOTOR = '  motor: {type: Driver, measure: "angle(ground, crank)", value: 2*pi*t}\n'
# the crank and the rod are in line at x = 10, which is reached at t = 0.5
PUSH = '  push: {type: Driver, measure: "x(ground, slider)", value: 9.5 + t}\n'
SPRING = """\
forces:
  buffer: {type: Spring, measure: "distance(slider, ground)", stiffness: 100, free: 9}
"""
# the crank at 60 degrees
FREE = """\
name: slider-crank
bodies:
  crank: {mass: 2, inertia: 0.3, at: [1, sqrt(3)], angle: 60*deg, points: {O: [-2, 0], A: [2, 0]}}
  rod: {mass: 3, inertia: 0.2, at: [2 + sqrt(6), sqrt(3)], angle: -asin(1/sqrt(3)), points: {A: [-3, 0], B: [3, 0]}}
  slider: {mass: 5, inertia: 0.5, at: [2 + 2*sqrt(6), 0]}
""" + SLIDER_CRANK[SLIDER_CRANK.index("joints:") :]
ANALYSIS = "analysis: {kind: kinematics, t_end: 2*pi/10, step: pi/100}\n"
KINEMATICS_ACF = '{"simulation": "Kinematics", "tend": 0.5, "stepSize": 0.01, "outputSteps": 7}'
DYNAMICS_ACF = KINEMATICS_ACF.replace("Kinematics", "Dynamics")


def run(*words: object, columns: int = 100):
    """The command in this process; standard output and error apart."""
    return CliRunner().invoke(cli.app, [str(word) for word in words], env={"COLUMNS": str(columns)})


def installed(*words: object, **options):
    """The installed command in a process of its own."""
    return subprocess.run([COMMAND, *map(str, words)], capture_output=True, text=True, timeout=300, **options)


@pytest.fixture(scope="session", autouse=True)
def compiled():
    """No test sees the sentence that kernels are being compiled."""
    if kernel.JIT:
        cli.kernels._use_every_kernel()


@pytest.fixture
def write(tmp_path):
    """Writes a file and returns its path."""

    return lambda text, name="slider_crank.yaml": written(tmp_path, text, name)


@pytest.fixture
def driven(write) -> Path:
    return write(SLIDER_CRANK + MOTOR + ANALYSIS)


@pytest.fixture(autouse=True)
def quiet_settings():
    yield
    terminal.Settings.debug = False


# As installed -----------------------------------------------------------------------------------------


def test_version_and_help_are_quick_and_plain():
    version = installed("--version")
    assert (version.returncode, version.stdout) == (0, f"simengine2d {se.__version__}\n")
    shown = installed("--help", env={**os.environ, "PYTHONPROFILEIMPORTTIME": "1"})
    assert shown.returncode == 0
    assert "Exit codes: 0" in shown.stdout
    assert not ANSI.search(shown.stdout)
    assert not re.search(r"\| +(numpy|scipy|numba|pydantic)$", shown.stderr, re.MULTILINE)


def test_the_module_is_the_command(driven):
    done = subprocess.run(
        [sys.executable, "-m", "simengine2d", "check", driven], capture_output=True, text=True
    )
    assert done.returncode == 0
    assert "mobility 0" in done.stdout
    assert not ANSI.search(done.stdout + done.stderr)


def test_a_reader_who_leaves_is_no_error(driven):
    process = subprocess.Popen(
        [COMMAND, "check", driven], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    complaint = process.stderr.read()
    process.stderr.close()
    assert process.wait(60) == 0
    assert "Traceback" not in complaint
    assert "BrokenPipe" not in complaint


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full device here")
def test_a_full_disk_is_told(driven):
    with open("/dev/full", "w") as full:
        done = subprocess.run([COMMAND, "check", driven], stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 1
    assert done.stderr.strip().splitlines()[-1] == "error: standard output: no space left on device."


def test_importing_the_package_loads_nothing_heavy():
    program = "import sys, simengine2d; print(*sys.modules)"
    modules = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True).stdout.split()
    assert "simengine2d" in modules
    heavy = {"numba", "sympy", "matplotlib", "pandas", "scipy.integrate", "scipy", "numpy", "typer", "rich"}
    assert not heavy & set(modules)


def test_a_run_loads_no_optional_package(driven):
    program = textwrap.dedent(
        f"""
        import sys, simengine2d as se
        se.kinematics(se.load({str(driven)!r}), t_end=0.1)
        print(*sys.modules)
        """
    )
    modules = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True).stdout.split()
    assert "simengine2d.analyses.kinematics.kinematics" in modules
    assert not {"sympy", "matplotlib", "pandas", "scipy.integrate", "typer"} & set(modules)


ASKED_FOR = """
from simengine2d.cli.commands.kernels import _use_every_kernel
from simengine2d.numerics.kernel_files import KernelFiles
path, paths = KernelFiles.path, set()
KernelFiles.path = lambda self, key: paths.add(path(self, key)) or path(self, key)
_use_every_kernel()
print(*paths, sep="\\n")
"""
"""The files of the kernels that `warmup` uses."""


@pytest.mark.slow
def test_after_warmup_nothing_is_compiled(driven, write, tmp_path):
    """In a cache with those kernels only that `warmup` compiles; one of them is compiled here."""
    program = [sys.executable, "-c", ASKED_FOR]
    asked = [Path(line) for line in subprocess.check_output(program, text=True).splitlines()]
    folder = tmp_path / "cache" / "kernels" / asked[0].parent.name
    folder.mkdir(parents=True)
    for path in sorted(asked)[1:]:
        shutil.copy(path, folder)
    environment = {**os.environ, "SIMENGINE2D_CACHE": str(tmp_path / "cache")}
    first = installed("warmup", env=environment)
    assert first.returncode == 0
    assert "compiling" in first.stderr
    assert str(tmp_path / "cache") in first.stdout
    again = installed("warmup", "--json", "-q", env=environment)
    assert (again.returncode, again.stderr) == (0, "")
    assert json.loads(again.stdout)["folder"]
    newmark = ["dynamics", driven, "--t-end", 0.1, "--integrator", "newmark", "--step", 0.01]
    for words in (
        ["check", driven],
        ["run", driven, "--out", tmp_path / "out"],
        ["run", "sprung_slider"],
        [
            "dynamics",
            write(FREE + SPRING.replace("free", "damping: 1e7, free"), "stiff.yaml"),
            "--t-end",
            0.01,
        ],
        newmark,
    ):
        later = installed(*words, env=environment)
        assert (later.returncode, later.stderr) == (0, "")


# check ------------------------------------------------------------------------------------------------


def test_check_shows_the_model_and_its_mobility(driven):
    shown = run("check", driven)
    assert (shown.exit_code, shown.stderr) == (0, "")
    words = "crank", "kg m²", "Translational", "crank.A, rod.A", "2: across, turn", "mobility 0", "can run"
    assert all(word in shown.stdout for word in words)


def test_check_tells_along_what_a_slider_moves_and_where_the_ground_is(driven):
    shown = run("check", driven, columns=120)
    assert "slides along" in shown.stdout and "ground at (10, 0), slider (center)" in shown.stdout
    assert "(1, 0) as slider is drawn" in shown.stdout


def test_check_warns_of_mass_centers_by_mistake(write):
    shown = run("check", write(SLIDER_CRANK.replace("a: crank.A, b: rod.A", "a: crank, b: rod.A") + MOTOR))
    assert "joins the mass center of crank to rod.A, 2 m away as drawn" in shown.stderr


def test_check_warns_of_suspicious_numbers(write):
    shown = run(
        "check",
        write(
            "bodies:\n  a: {shape: bar, start: [0, 0], end: [300, 0], mass: 2}\n  b: {angle: 90, mass: 1}\n"
        ),
    )
    assert "body 'a' is 300 m long and weighs 2 kg. Were they given in other units?" in shown.stderr
    assert "angle = 90 is taken as radians" in shown.stderr and "write '90 deg'" in shown.stderr


IN_MM = """\
units: {length: mm, angle: deg, mass: g, force: kN}
bodies:
  arm: {shape: bar, start: [0, 0], end: [400, 0], mass: 2500}
joints:
  O: {type: Revolute, a: ground, b: arm.start}
  motor: {type: Driver, measure: "angle(ground, arm)", value: "90*step5(t, 0, 0, 1, 1)"}
analysis: {kind: inverse_dynamics, t_end: 1, step: 0.01}
"""


def test_tables_are_in_the_units_of_the_model(write):
    shown = run("run", write(IN_MM))
    assert shown.exit_code == 0
    motor, joint = (re.search(rf"^{name} +(\S+)", shown.stdout, re.MULTILINE)[1] for name in ("motor", "O"))
    assert all(unit in shown.stdout for unit in ("mm/s²", "deg", "kN mm", "kN mm/s"))
    fx, fy, _ = se.inverse_dynamics(se.load(write(IN_MM)), t_end=1, step=0.01).reaction("O")
    assert float(joint) == pytest.approx(np.hypot(fx, fy).max() / 1000, rel=1e-3)
    assert 4 < float(motor) < 8  # 2.5 kg at 0.2 m, and its acceleration
    checked = run("check", write(IN_MM))
    assert "g mm²" in checked.stdout and " 2500 " in checked.stdout
    still = run("equilibrium", write(IN_MM.split("  motor")[0]))
    assert "kN mm" in still.stdout and "-90" in still.stdout


def test_actuators_may_be_named_in_a_file(write):
    text = (
        SLIDER_CRANK + MOTOR + "analysis: {kind: inverse_dynamics, t_end: 0.3, step: 0.01, actuators: %s}\n"
    )
    start = text.replace("2*pi*t}", "1 + 2*pi*t}")
    for actuators, given in (('{push: "x(ground, slider)"}', {"push": "slider.x"}), ("[motor]", ["motor"])):
        model = se.load(write(start % actuators))
        results = job.job_for(model).run(model)
        want = se.inverse_dynamics(model, t_end=0.3, step=0.01, actuators=given)
        np.testing.assert_array_equal(results.lam, want.lam)
    shown = run("check", write(start % "{push: [1]}"))
    assert (
        "line 12: the analysis: actuators is {push: [1]}; it must be what produces the motion"
        in shown.stderr.replace("\n", " ")
    )


def test_assemblies_are_listed_with_their_ranges(driven):
    shown = run("assemblies", driven)
    assert (shown.exit_code, shown.stderr) == (0, "")
    assert "closes in 2 ways" in shown.stdout
    assert "rod and slider mirrored" in shown.stdout
    assert run("assemblies", driven, "--driver", "engine").exit_code == 1


def test_kinematics_may_stop_at_a_change_point():
    shown = run("kinematics", "parallelogram", "--t-end", "1", "--on-singular", "stop")
    assert shown.exit_code == 0
    assert "stopped at a change point at t = 0.25 s" in shown.stdout


def test_check_tells_free_motions_and_moves(write):
    shown = run("check", write(SLIDER_CRANK.replace("at: [7, 0]", "at: [7.1, 0.2]")))
    assert shown.exit_code == 0
    assert "mobility 1 (by count 1" in shown.stdout
    assert "crank turns about (0, 0)" in shown.stdout
    assert "body 'rod' was moved" in shown.stdout
    assert (
        "1 motion is left to the forces: dynamics can run. For kinematics a driver is missing" in shown.stdout
    )


def test_check_tells_velocities_that_the_joints_change(write):
    text = SLIDER_CRANK.replace("slider: {mass", "slider: {velocity: [0, 3], mass")
    assert "slider.yd = 3 was changed to" in run("check", write(text)).stdout


def test_redundancy_is_a_warning(write):
    shown = run("check", write(SLIDER_CRANK + "  again: {type: AbsoluteY, frame: slider}\n" + MOTOR))
    assert shown.exit_code == 0
    assert shown.stderr.startswith("warning: 1 equation is redundant: ")
    assert "guide.across, again restrict" in shown.stdout


def test_check_shows_what_does_not_close(write):
    far = """\
bodies:
  crank: {at: [2, 0], points: {O: [-2, 0], A: [2, 0]}}
joints:
  O: {type: Revolute, a: ground, b: crank.O}
  A: {type: Revolute, a: {body: ground, at: [30, 0]}, b: crank.A}
"""
    shown = run("check", write(far))
    assert shown.exit_code == 1
    assert "crank" in shown.stdout
    assert "does not close" in shown.stderr


def test_check_tells_every_problem_of_a_file(write):
    bad = SLIDER_CRANK.replace("crank.A", "crnk.A").replace("type: Translational", "type: Transational")
    shown = run("check", write(bad))
    assert (shown.exit_code, shown.stdout) == (1, "")
    assert shown.stderr.startswith("error: 2 problems were found:")
    assert "Did you mean 'crank'?" in shown.stderr
    assert "Did you mean 'Translational'?" in shown.stderr


def test_narrow_terminals_fold_and_lose_nothing(driven):
    wide, narrow = run("check", driven).stdout, run("check", driven, columns=32).stdout
    assert "…" not in narrow
    letters = [sorted(re.sub(r"[\s─]", "", text)) for text in (wide, narrow)]
    assert letters[0] == letters[1]


def test_check_shows_forces(write):
    shown = run("check", write(SLIDER_CRANK + MOTOR + SPRING))
    assert shown.exit_code == 0
    assert re.search(r"buffer +Spring +slider, ground", shown.stdout)


def test_model_warnings_are_lines(driven, monkeypatch):
    def read(name):
        for _ in range(2):
            warnings.warn("m.yaml: 'glow' is unknown and ignored.", ModelWarning, stacklevel=2)
        return se.load(driven)

    monkeypatch.setattr(cli.models, "read_model", read)
    assert run("check", driven).stderr == "warning: m.yaml: 'glow' is unknown and ignored.\n"


# run and kinematics -----------------------------------------------------------------------------------


def test_run_does_what_the_model_says(driven):
    shown = run("run", driven)
    assert (shown.exit_code, shown.stderr) == (0, "")
    assert "finished at t = 0.628319 s, 21 points" in shown.stdout
    assert "largest residuals: position" in shown.stdout
    assert re.search(r"^work: \d+ substeps", shown.stdout, re.MULTILINE)
    assert re.search(r"slider +[\d.]+ to 10 +0 +0 ", shown.stdout)


def test_an_analysis_file_wins(driven, write, tmp_path):
    shown = run("run", driven, write(KINEMATICS_ACF, "a.acf"), "--out", tmp_path / "out")
    assert shown.exit_code == 0
    assert "saved 8 points" in shown.stdout
    saved = np.genfromtxt(tmp_path / "out" / "slider_crank.csv", delimiter=",", names=True)
    assert np.allclose(saved["t"], np.linspace(0, 0.5, 8), rtol=0, atol=1e-15)


def test_without_a_word_a_driven_mechanism_is_moved_for_a_second(write):
    shown = run("run", write(SLIDER_CRANK + MOTOR))
    assert shown.exit_code == 0
    assert "Assumed: kinematics from 0 to 1 s with 101 outputs, since every motion is driven" in shown.stdout
    assert "t = 1 s, 101 points" in shown.stdout


def test_without_a_word_a_free_mechanism_falls_for_five_seconds(write):
    shown = run("run", write(FREE))
    assert (shown.exit_code, shown.stderr) == (0, "")
    assert "Assumed: dynamics from 0 to 5 s with 101 outputs or more, since 1 motion is free" in shown.stdout
    assert re.search(r"dynamics finished at t = 5 s, \d{3,} points", shown.stdout)


def test_a_change_point_leaves_a_driven_mechanism_driven(write):
    flat = library.text("parallelogram").replace("crank_angle: 90*deg", "crank_angle: 0")
    shown = run("run", write(re.sub("(?m)^analysis.*", "", flat)))
    assert "Assumed: kinematics" in shown.stdout


def test_tables_say_how_long(write):
    table = MOTOR.replace("2*pi*t", "{times: [0, 0.2, 0.4], values: [0, 0.1, 0.3]}")
    assert "from 0 to 0.4 s" in run("run", write(SLIDER_CRANK + table)).stdout


def test_other_analyses_are_not_available():
    model = se.Model("flying")
    model.analysis = {"kind": "aero_elastics", "t_end": 1}
    words = (
        "asks for aero elastics, which is not available in this version. Available are kinematics, dynamics"
    )
    with pytest.raises(se.UnsupportedError, match=words):
        job.job_for(model)


def test_a_missing_driver_is_told(write):
    shown = run("kinematics", write(SLIDER_CRANK), "--t-end", 1)
    assert shown.exit_code == 3
    assert "1 motion is free" in shown.stderr


@pytest.mark.parametrize(
    ("analysis", "words"),
    [
        ("{kind: kinematics}", "has no t_end"),
        ("{kind: kinematics, t_end: 0}", "has t_end = 0"),
        ("{kind: kinematics, t_end: 1, output_steps: 0}", "output_steps = 0"),
        ("{kind: kinematics, t_end: 1, step: 2}", "step = 2 must not be larger than t_end = 1"),
        ("{kind: kinematics, t_end: speed}", "speed"),
    ],
)
def test_a_wrong_analysis_is_an_error_of_the_model(write, analysis, words):
    shown = run("run", write(SLIDER_CRANK + MOTOR + f"analysis: {analysis}\n"))
    assert shown.exit_code == 1
    assert words in shown.stderr


def test_a_strange_option_is_told(write):
    shown = run("run", write(SLIDER_CRANK + MOTOR + "analysis: {kind: kinematics, t_end: 1, colour: 3}\n"))
    assert shown.exit_code == 0
    assert "warning: " in shown.stderr
    assert "colour" in shown.stderr


# dynamics ---------------------------------------------------------------------------------------------


def test_dynamics_says_what_it_did(write, tmp_path):
    path = write(FREE + SPRING)
    shown = run(
        "dynamics", path, "--t-end", 0.5, "--rtol", 1e-8, "--points", 6, "--out", tmp_path, "--format", "npz"
    )
    assert (shown.exit_code, shown.stderr) == (0, "")
    for words in ("dynamics finished at t = 0.5 s, 6 points", "dop853", "rtol = 1e-08", "largest residuals"):
        assert words in shown.stdout
    assert re.search(r"^work: \d+ steps, .*\d+ evaluations$", shown.stdout, re.MULTILINE)
    assert re.search(r"^slider +6\.\d+ to ", shown.stdout, re.MULTILINE)
    again = se.Results.load(tmp_path / "slider_crank.npz")
    direct = se.dynamics(se.load(path), t_eval=np.linspace(0, 0.5, 6), rtol=1e-8)
    assert np.array_equal(again["slider.xdd"], direct["slider.xdd"])


def test_fixed_steps_and_outputs_are_two_things(write, tmp_path):
    path = write(FREE)
    words = ["dynamics", path, "--t-end", 0.5, "--integrator", "newmark", "--step", 0.005, "--out", tmp_path]
    assert "saved 101 points" in run(*words).stdout
    shown = run(*words, "--points", 6)
    assert "saved 6 points" in shown.stdout
    assert "newmark" in shown.stdout
    assert "work: 100 steps, " in shown.stdout
    assert "Newton iterations" in shown.stdout


def test_without_spacing_there_are_101_outputs_at_least(write):
    shown = re.search(r"t = 0.2 s, (\d+) points", run("dynamics", write(FREE), "--t-end", 0.2).stdout)
    assert shown is not None and int(shown[1]) >= 101


def test_a_course_file_gets_the_method_of_the_course(write, tmp_path):
    model, analysis = write(FREE), write(DYNAMICS_ACF, "d.acf")
    shown = run("run", model, analysis, "--out", tmp_path / "out", "--format", "npz")
    assert (shown.exit_code, shown.stderr) == (0, "")
    said = "d.acf asks for dynamics. Used: newmark, the course's method, with beta = 0.3025 and gamma = 0.6, "
    assert said + "in steps of 0.01 s, 8 outputs." in shown.stdout
    saved = se.Results.load(tmp_path / "out" / "slider_crank.npz")
    assert np.array_equal(saved.t, np.linspace(0, 0.5, 8))
    direct = se.dynamics(
        se.load(model), t_eval=saved.t, step=0.01, integrator=se.Newmark(beta=0.3025, gamma=0.6)
    )
    assert np.array_equal(saved.q, direct.q)


def test_a_model_asks_for_dynamics(write):
    shown = run("run", write(FREE + "analysis: {kind: dynamics, t_end: 1/4, step: 0.01, rtol: 1e-8}\n"))
    assert (shown.exit_code, shown.stderr) == (0, "")
    assert "t = 0.25 s, 26 points" in shown.stdout
    assert "rtol = 1e-08" in shown.stdout
    fixed = "analysis: {kind: dynamics, t_end: 0.2, step: 0.01, integrator: hht, output_steps: 2}\n"
    shown = run("run", write(FREE + fixed))
    assert "t = 0.2 s, 3 points" in shown.stdout
    assert "integrated by hht" in shown.stdout
    assert "work: 20 steps" in shown.stdout


def test_a_fixed_step_keeps_no_tolerance(write):
    analysis = "analysis: {kind: dynamics, t_end: 0.1, step: 0.01, integrator: newmark, rtol: 1e-8}\n"
    shown = run("run", write(FREE + analysis))
    assert shown.exit_code == 0
    assert "rtol is not an option of dynamics by newmark and was ignored" in shown.stderr


@pytest.mark.parametrize(
    ("analysis", "words"),
    [
        ("{kind: dynamics}", "has no t_end"),
        ("{kind: dynamics, t_end: 1, integrator: newmrk, step: 0.1}", "Did you mean 'newmark'?"),
        ("{kind: dynamics, t_end: 1, integrator: newmark}", "takes fixed steps; give step"),
        ("{kind: dynamics, t_end: 1, integrator: 3}", "line 11: the analysis: integrator is 3"),
        ("{kind: dynamics, t_end: 1, rtol: 2}", "must lie between"),
    ],
)
def test_wrong_dynamics_is_an_error_of_the_model(write, analysis, words):
    shown = run("run", write(FREE + f"analysis: {analysis}\n"))
    assert shown.exit_code == 1
    assert words in shown.stderr


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ([], "--t-end"),
        (["--t-end", "1", "--integrator", "newmrk"], "Did you mean 'newmark'?"),
        (["--t-end", "1", "--integrator", "newmrk"], "generalized_alpha"),
        (["--t-end", "1", "--integrator", "hht"], "takes fixed steps; give --step"),
        (["--t-end", "1", "--integrator", "hht", "--step", "2"], "larger than --t-end"),
        (["--t-end", "1", "--integrator", "hht", "--step", "0.1", "--rtol", "1e-8"], "has no --rtol"),
        (["--t-end", "1", "--step", "0.1", "--points", "9"], "not both"),
        (["--t-end", "1", "--rtol", "0"], "--rtol"),
    ],
)
def test_wrong_usage_of_dynamics(write, words, sentence):
    shown = run("dynamics", write(FREE), *words, columns=300)
    assert shown.exit_code == 2
    assert sentence in shown.stderr


def test_a_force_that_ends_keeps_what_was_done(write, tmp_path):
    push = "forces:\n  push: {type: PointForce, frame: slider, fx: sqrt(0.25 - t)}\n"
    shown = run("dynamics", write(FREE + push), "--t-end", 0.5, "--step", 0.01, "--out", tmp_path / "out")
    assert shown.exit_code == 3
    assert "has no value at t = 0.25" in shown.stderr
    assert "stopped at t = 0.25 s" in shown.stdout
    saved = np.genfromtxt(tmp_path / "out" / "slider_crank.csv", delimiter=",", names=True)
    assert 0.2 < saved["t"][-1] <= 0.25


# runs -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("format", ["npz", "parquet"])
def test_saved_results_are_read_again(driven, tmp_path, format):
    shown = run(
        "kinematics", driven, "--t-end", 0.5, "--points", 6, "--out", tmp_path / "a" / "b", "--format", format
    )
    assert shown.exit_code == 0
    path = tmp_path / "a" / "b" / f"slider_crank.{format}"
    assert str(path) in shown.stdout
    again = se.Results.load(path)
    direct = se.kinematics(se.load(driven), t_eval=np.linspace(0, 0.5, 6))
    assert np.array_equal(again.t, direct.t)
    assert np.array_equal(again["slider.xdd"], direct["slider.xdd"])


def test_a_dead_point_keeps_what_was_done(write, tmp_path):
    path = write(SLIDER_CRANK.replace("at: [7, 0]", "at: [6.8, 0.5], angle: -10*deg") + PUSH)
    shown = run("kinematics", path, "--t-end", 1, "--step", 0.01, "--out", tmp_path / "out")
    assert shown.exit_code == 3
    assert "dead point" in shown.stderr
    assert "saved 50 points" in shown.stdout or "saved 51 points" in shown.stdout
    saved = np.genfromtxt(tmp_path / "out" / "slider_crank.csv", delimiter=",", names=True)
    assert 0.45 < saved["t"][-1] <= 0.5


@pytest.mark.parametrize(
    "words",
    [
        pytest.param(["kinematics", "--t-end", 10], id="kinematics"),
        pytest.param(["dynamics", "--t-end", 1000], id="adaptive", marks=pytest.mark.slow),
        pytest.param(
            ["dynamics", "--t-end", 1000, "--integrator", "newmark", "--step", 0.05],
            id="fixed",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_an_interrupted_run_keeps_what_was_done(driven, tmp_path, monkeypatch, words):
    def stop(self, t):
        raise KeyboardInterrupt

    monkeypatch.setattr(terminal.ProgressBar, "__call__", stop)
    shown = run(*words, driven, "--points", 1001, "--out", tmp_path, "--format", "npz")
    assert shown.exit_code == 130
    assert "interrupted at t = " in shown.stderr
    count = int(re.search(r"saved (\d+) points", shown.stdout)[1])
    assert 0 < count < 1001
    assert se.Results.load(tmp_path / "slider_crank.npz").t.size == count


class Screen(io.StringIO):
    """A terminal that remembers what it showed."""

    def isatty(self) -> bool:
        return True


def test_the_bar_tells_time_rate_and_what_is_left(monkeypatch):
    clock = iter([0.0, 2.0, 4.0])  # made, called first, called again
    monkeypatch.setattr(terminal.time, "perf_counter", lambda: next(clock))
    bar = terminal.ProgressBar(5.0)
    bar(1.0)
    bar(2.0)
    assert bar.words(2.0, 4.0) == "t = 2 of 5 s, 0.5 s per second, 6 s left"
    assert bar.words(1.0, 2.0) == "t = 1 of 5 s"
    assert [terminal.duration(s) for s in (7.4, 200, 7500)] == ["7 s", "3 min", "2 h 5 min"]


def test_the_bar_is_for_terminals_and_long_runs(monkeypatch):
    monkeypatch.setattr(sys, "stderr", screen := Screen())
    with terminal.ProgressBar(5.0) as bar:
        bar(1.0)
    assert screen.getvalue() == ""
    monkeypatch.setattr(terminal, "PATIENCE", -1.0)
    with terminal.ProgressBar(5.0) as bar:
        bar(1.0)
    assert "t = 1 of 5 s" in screen.getvalue()


def test_an_interrupt_elsewhere_is_quiet(driven, monkeypatch):
    def stop(name):
        raise KeyboardInterrupt

    monkeypatch.setattr(cli.models, "read_model", stop)
    shown = run("check", driven)
    assert (shown.exit_code, shown.stderr) == (130, "error: interrupted.\n")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--t-end", "0"], "not a positive number"),
        (["--t-end", "nan"], "not a positive number"),
        (["--t-end", "soon"], "--t-end"),
        ([], "--t-end"),
        (["--t-end", "1", "--step", "-1"], "not a positive number"),
        (["--t-end", "1", "--step", "2"], "larger than --t-end"),
        (["--t-end", "1", "--points", "1"], "--points"),
        (["--t-end", "1", "--points", "9", "--step", "0.1"], "not both"),
        (["--t-end", "1", "--format", "npz"], "--out"),
        (["--t-end", "1", "--format", "xls", "--out", "x"], "--format"),
        (["--t-ende", "1"], "--t-ende"),
    ],
)
def test_wrong_usage(driven, words, sentence):
    shown = run("kinematics", driven, *words)
    assert shown.exit_code == 2
    assert sentence in shown.stderr


def test_an_unknown_command_is_wrong_usage():
    assert run("dance").exit_code == 2


# bad inputs -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "command",
    [
        ["check"], ["run"], ["kinematics", "--t-end", "1"], ["dynamics", "--t-end", "1"], ["inverse", "--t-end", "1"],
        ["equilibrium"], ["modes"], ["assemblies"], ["linkage"], ["doctor"], ["equations"], ["show"],
        ["lab", "--t-end", "1"],
    ],
)  # fmt: skip
def test_a_missing_file_is_one_sentence(command, tmp_path):
    shown = run(*command, tmp_path / "nothing.yaml")
    assert (shown.exit_code, shown.stdout) == (2, "")
    assert shown.stderr.startswith("error: there is no file nothing.yaml")


@pytest.mark.parametrize("command", ["resume", "show"])
def test_missing_results_are_one_sentence(command, tmp_path):
    shown = run(command, tmp_path / "nothing.npz")
    assert (shown.exit_code, shown.stdout) == (2, "")
    assert "there is no file nothing.npz" in shown.stderr


def test_an_unknown_word_names_the_shipped_mechanisms():
    shown = run("check", "four_bra")
    assert shown.exit_code == 2
    assert "Did you mean 'four_bar'?" in shown.stderr


@pytest.mark.parametrize("text", ["", "name: [", "just words", "bodies: 3", "\x00"])
def test_what_is_no_model_is_one_sentence(write, text):
    shown = run("check", write(text))
    assert shown.exit_code == 1
    assert shown.stderr.startswith("error: ")
    assert "Traceback" not in shown.stderr


def test_a_folder_for_results_that_cannot_be(driven, write):
    blocked = write("", "file") / "folder"
    shown = run("run", driven, "--out", blocked)
    assert (shown.exit_code, shown.stdout) == (1, "")
    assert shown.stderr == f"error: {blocked}: not a directory.\n"


def test_a_defect_asks_for_a_report(driven, monkeypatch):
    def fail(name):
        raise ZeroDivisionError("zero")

    monkeypatch.setattr(cli.models, "read_model", fail)
    shown = run("check", driven)
    assert shown.exit_code == 3
    assert shown.stderr.startswith("error: simengine2d failed with ZeroDivisionError: zero.")
    assert "please report it" in shown.stderr
    assert "Traceback" not in shown.stderr
    assert "Traceback" in run("--debug", "check", driven).stderr


# models, schema, names --------------------------------------------------------------------------------


def test_shipped_mechanisms_are_listed_printed_and_run():
    listed = run("models")
    assert listed.exit_code == 0
    assert "four_bar" in listed.stdout
    assert all(library.description(name) for name in library.names())
    assert run("models", "four_bar").stdout == library.text("four_bar").rstrip("\n") + "\n"
    assert run("check", "four_bar").exit_code == 0
    assert run("run", "four_bar").exit_code == 0


def test_shipped_mechanisms_are_copied_once(tmp_path):
    one = run("models", "four_bar", "--copy", tmp_path / "one")
    assert (one.exit_code, one.stdout) == (0, f"wrote {tmp_path / 'one' / 'four_bar.yaml'}\n")
    assert run("check", tmp_path / "one" / "four_bar.yaml").exit_code == 0
    assert run("models", "four_bar", "--copy", tmp_path / "one").exit_code == 1
    assert run("models", "--copy", tmp_path / "all").exit_code == 0
    assert sorted(path.stem for path in (tmp_path / "all").glob("*.yaml")) == library.names()
    assert run("models", "five_bar_of_nobody").exit_code == 2


def test_a_file_wins_over_a_shipped_name(driven, monkeypatch):
    monkeypatch.chdir(driven.parent)
    driven.rename("four_bar")
    assert "slider-crank" in run("check", "four_bar").stdout
    Path("four_bar").unlink()
    Path("four_bar").mkdir()  # a folder of results, say
    shown = run("check", "four_bar")
    assert (shown.exit_code, "slider-crank" in shown.stdout) == (0, False)


def test_the_schema_is_json(tmp_path):
    printed = json.loads(run("schema").stdout)
    assert printed["$schema"].startswith("https://json-schema.org/")
    assert run("schema", "--out", tmp_path / "s.json").exit_code == 0
    assert json.loads((tmp_path / "s.json").read_text()) == printed
    assert run("schema", "--out", tmp_path / "no" / "s.json").exit_code == 1


@pytest.mark.slow
def test_the_readme_is_true(monkeypatch, tmp_path):
    """Its program and its commands work, its counts are right, its links lead to files."""
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    [program] = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert len([line for line in program.splitlines() if line.strip()]) == 10
    names: dict = {}
    exec(compile(program, "README.md", "exec"), names)
    assert (names["r"].verdict.word, Path("four_bar.html").exists()) == ("trust", True)
    lines = [line.split("#")[0].split() for line in text.splitlines() if line.startswith("simengine2d ")]
    assert [words[1] for words in lines] == ["new", "show", "run", "studio", "learn"]
    for words in lines:
        if words[1] != "studio":  # serves until it is stopped: tests/studio
            assert run(*words[1:]).exit_code == 0, words
    links = re.findall(r"\]\((?!http)([^)#]+)", text)
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_the_readme_is_short_and_counts_right():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) < 110
    counts = [len(get_args(names)) for names in (CoordinatesName, FormulationName, IntegratorName)]
    families, formulations, integrators = counts
    assert (
        f"{families} families of coordinates, {formulations} formulations, {integrators} integrators" in text
    )
    assert f"[{len(library.names())} mechanisms]" in text
    assert "Windows" in text and "benchmarks/dynamics.py" in text


def test_the_stub_lists_the_public_names(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    import public_names as tool

    assert tool.STUB.read_text(encoding="utf-8") == tool.stub_text(), "run: python tools/public_names.py"
    for name in tool.homes():
        assert getattr(se, name) is not None
