"""The commands inverse, equilibrium and modes, and `run` with these analyses."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from typer.testing import CliRunner

import simengine2d as se
from loading import written
from simengine2d import cli
from simengine2d.model import library
from simengine2d.numerics import kernel

DOOR = """\
name: door
gravity: [0, 0]
bodies:
  door: {mass: 30, inertia: 2.5, at: [0.5, 0], points: {H: [-0.5, 0]}}
joints:
  hinge: {type: Revolute, a: ground, b: door.H}
  motor: {type: Driver, measure: "angle(ground, door)", value: pi/2*sin(pi*t/4)}
forces:
  closer: {type: Spring, measure: "angle(ground, door)", stiffness: 8, damping: 1}
"""
PENDULUM = """\
name: pendulum
bodies:
  bar: {mass: 10, inertia: 10, at: [cos(135*deg), sin(135*deg)], angle: 135*deg, points: {O: [-1, 0]}}
joints:
  O: {type: Revolute, a: "ground.at(0, 0)", b: bar.O}
forces:
  rsda: {type: Spring, measure: "angle(ground, bar)", stiffness: 25, damping: 50, free: 1}
"""


def run(*words: object, columns: int = 100):
    return CliRunner().invoke(cli.app, [str(word) for word in words], env={"COLUMNS": str(columns)})


@pytest.fixture(scope="module", autouse=True)
def compiled():
    if kernel.JIT:
        cli.kernels._use_every_kernel()


@pytest.fixture
def door(tmp_path):
    return written(tmp_path, DOOR, "door.yaml")


@pytest.fixture
def pendulum(tmp_path):
    return written(tmp_path, PENDULUM, "pendulum.yaml")


# Inverse dynamics -------------------------------------------------------------------------------------


def test_inverse_shows_what_the_motor_gives_and_the_joints_carry(door):
    shown = run("inverse", door, "--t-end", 2)
    assert shown.exit_code == 0, shown.output
    assert "inverse dynamics finished at t = 2 s, 101 points" in shown.stdout
    [motor] = [line.split() for line in shown.stdout.splitlines() if line.startswith("motor")]
    assert motor[2:4] == ["N", "m"]
    t = np.linspace(0, 2, 101)
    phi, w, alpha = (
        np.pi / 2 * np.sin(np.pi / 4 * t),
        np.pi**2 / 8 * np.cos(np.pi / 4 * t),
        -(np.pi**3) / 32 * np.sin(np.pi / 4 * t),
    )
    torque = 10 * alpha + w + 8 * phi
    assert float(motor[1]) == pytest.approx(np.abs(torque).max(), rel=1e-3)
    assert float(motor[5]) == pytest.approx((torque * w).max(), rel=1e-3)
    [hinge] = [line.split() for line in shown.stdout.splitlines() if line.startswith("hinge")]
    assert float(hinge[1]) == pytest.approx(22.83, abs=0.01)


def test_inverse_saves(door, tmp_path):
    shown = run("inverse", door, "--t-end", 2, "--points", 5, "--out", tmp_path / "out", "--format", "npz")
    assert "saved 5 points" in shown.stdout
    results = se.Results.load(tmp_path / "out" / "door.npz")
    np.testing.assert_allclose(results["motor.torque"][1], 2.2407361563188744)


def test_another_actuator():
    shown = run("inverse", "four_bar", "--t-end", 0.2, "--actuator", "brake = angle(ground, rocker)")
    assert shown.exit_code == 0, shown.output
    assert re.search(r"^brake ", shown.stdout, re.MULTILINE)
    assert not re.search(r"^motor ", shown.stdout, re.MULTILINE)
    same = run("inverse", "four_bar", "--t-end", 0.2, "--actuator", "motor")
    assert re.search(r"^motor ", same.stdout, re.MULTILINE)


def test_a_measured_motion(tmp_path):
    free = DOOR.replace(
        '  motor: {type: Driver, measure: "angle(ground, door)", value: pi/2*sin(pi*t/4)}\n', ""
    )
    model = written(tmp_path, free, "free.yaml")
    t = np.linspace(0, 2, 41)
    lines = "\n".join(f"{a},{b}" for a, b in zip(t, np.pi / 2 * np.sin(np.pi / 4 * t), strict=True))
    path = written(tmp_path, f"t,door.phi\n{lines}\n", "measured.csv")
    shown = run("inverse", model, "--motion", path, "--noise", 0)
    assert shown.exit_code == 0, shown.output
    assert "'door.phi' was differentiated by a spline of degree 5" in shown.stdout
    assert re.search(r"^door phi +3\.1", shown.stdout, re.MULTILINE)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ((), "give --t-end, for the motion of the drivers, or a measured --motion"),
        (("--noise", 1, "--t-end", 1), "give it with --motion"),
        (("--motion", "x.csv", "--points", 5), "--step and --points need --t-end"),
        (("--t-end", 1, "--step", 2), "--step 2 is larger than --t-end 1"),
    ],
)
def test_inverse_written_wrongly(door, words, sentence):
    shown = run("inverse", door, *words)
    assert (shown.exit_code, sentence in shown.stderr) == (2, True), shown.output


def test_inverse_of_a_free_mechanism(pendulum):
    shown = run("inverse", pendulum, "--t-end", 1)
    assert (shown.exit_code, "1 motion is free" in shown.stderr) == (3, True)
    shown = run("inverse", pendulum, "--motion", "nowhere.csv")
    assert (shown.exit_code, "nowhere.csv does not exist" in shown.stderr) == (2, True)
    shown = run("inverse", pendulum, "--t-end", 1, "--actuator", "motr")
    assert (shown.exit_code, "'motr' is not a driver" in shown.stderr) == (1, True)


# Equilibrium ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "phi"), [("newton", "1.768"), ("relaxation", "3.886"), ("energy", "3.886")]
)
def test_equilibrium_by_every_method(pendulum, method, phi):
    shown = run("equilibrium", pendulum, "--method", method)
    assert shown.exit_code == 0, shown.output
    assert f"an equilibrium by {method}" in shown.stdout
    assert re.search(rf"^bar .* {phi}$", shown.stdout, re.MULTILINE)
    assert re.search(r"^O +0 +98\.1 +0$", shown.stdout, re.MULTILINE)


def test_all_equilibria(pendulum, tmp_path):
    shown = run("equilibrium", pendulum, "--all", "--out", tmp_path)
    assert "3 equilibria by newton: stable, unstable, stable" in shown.stdout
    assert len(re.findall(r"lowest stiffness", shown.stdout)) == 3
    assert se.Results.load(tmp_path / "pendulum.csv").t.size == 3


def test_a_start_by_values(pendulum):
    shown = run("equilibrium", pendulum, "--start", "bar.phi=-60*deg")
    assert re.search(r"^bar .* -1\.028$", shown.stdout, re.MULTILINE)


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (("--method", "guess"), 2, "choose newton, relaxation, energy"),
        (("--all", "--method", "energy"), 2, "leave out --method"),
        (("--start", "bar.phi"), 2, "write CHANNEL=VALUE"),
        (("--start", "bar.phi=high"), 2, "unknown name 'high'"),
        (("--start", "bra.phi=1"), 1, "Did you mean 'bar'"),
    ],
)
def test_equilibrium_written_wrongly(pendulum, words, code, sentence):
    shown = run("equilibrium", pendulum, *words)
    assert (shown.exit_code, sentence in shown.stderr) == (code, True), shown.output


def test_a_body_that_falls(tmp_path):
    path = written(tmp_path, "bodies:\n  stone: {mass: 1, inertia: 1}\n", "stone.yaml")
    shown = run("equilibrium", path)
    assert (shown.exit_code, "stone moves along (0, -1)" in shown.stderr) == (3, True)


def test_what_moves_in_time_is_noted(door):
    shown = run("equilibrium", door, "--time", 2)
    assert "note: motor changes with time and was held as it is at t = 2 s" in shown.stdout
    assert re.search(r"^door .* 1\.571$", shown.stdout, re.MULTILINE)


# Modes ------------------------------------------------------------------------------------------------


def test_modes():
    shown = run("modes", "double_pendulum")
    assert shown.exit_code == 0, shown.output
    assert "modes about the equilibrium" in shown.stdout
    rows = [line.split() for line in shown.stdout.splitlines() if re.match(r"[01] ", line)]
    with library.file("double_pendulum") as path:
        omega = se.modes(se.load(path)).omega
    assert [float(row[2]) for row in rows] == pytest.approx(omega, rel=1e-3)
    assert [row[3] for row in rows] == ["0", "0"]


def test_modes_about_the_drawn_pose(tmp_path):
    upright = PENDULUM.replace("135*deg", "90*deg").replace("damping: 50, free: 1", "free: 90*deg")
    path = written(tmp_path, upright, "upright.yaml")
    shown = run("modes", path, "--drawn")
    assert "modes about the drawn pose" in shown.stdout
    rate = np.sqrt((98.1 - 25) / 20)
    assert re.search(rf"^0 +{rate / 2 / np.pi:.4g} +{rate:.4g} +-1 ", shown.stdout, re.MULTILINE)


# As a model or a course file asks ---------------------------------------------------------------------


def test_a_model_asks_for_inverse_dynamics(tmp_path):
    text = DOOR + "analysis: {kind: inverse_dynamics, t_end: 2, output_steps: 4}\n"
    shown = run("run", written(tmp_path, text, "door.yaml"))
    assert shown.exit_code == 0, shown.output
    assert "inverse dynamics finished at t = 2 s, 5 points" in shown.stdout
    # five outputs show 3.13 N m; between them the torque is larger, which the sign tells
    assert re.search(r"^motor +> 3\.13 +N m", shown.stdout, re.MULTILINE)


def test_a_model_asks_for_an_equilibrium(tmp_path):
    text = PENDULUM + "analysis: {kind: equilibrium, method: energy}\n"
    shown = run("run", written(tmp_path, text, "pendulum.yaml"))
    assert shown.exit_code == 0, shown.output
    assert "an equilibrium by energy: stable" in shown.stdout
    assert "constant to" not in shown.stdout
    wrong = run("run", written(tmp_path, text.replace("energy", "guess"), "wrong.yaml"))
    assert (wrong.exit_code, "must be one of newton" in wrong.stderr) == (1, True)


@pytest.mark.parametrize(
    ("simulation", "words"),
    [
        ("InverseDynamics", "inverse dynamics finished at t = 2 s, 5 points"),
        ("Equilibrium", "an equilibrium by newton"),
    ],
)
def test_a_course_file_asks(door, tmp_path, simulation, words):
    data = {"simulation": simulation, "tend": 2, "stepSize": 0.01, "outputSteps": 4}
    path = written(tmp_path, json.dumps(data), "run.acf")
    shown = run("run", door, path)
    assert (shown.exit_code, words in shown.stdout) == (0, True), shown.output
