"""Systems of models that differ in numbers, from one recording: what they hold is what others hold, to the bit."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

import numpy as np
import pytest

import simengine2d as se
from marking import slow_among
from simengine2d.errors import SimEngineError
from simengine2d.expressions.recorded import NotRecorded
from simengine2d.lab.sensitivity.parameters import value_of
from simengine2d.lab.sweep.study import Study
from simengine2d.lab.sweep.variants import numbers_of, variant
from simengine2d.model import library
from simengine2d.system.recorded_system import ALIKE, RecordedSystem, SystemNumbers
from simengine2d.system.system import System

WITH_FORMULAS = {"geneva_drive", "tautochrone", "valve_train"}
SAMPLES = 3
FIELDS = (
    "t",
    "q",
    "qd",
    "qdd",
    "analysis",
    "status",
    "notes",
    "residuals",
    "statistics",
    "settings",
    "bodies",
)


def numbers_given(model: se.Model) -> dict[str, float]:
    """The numbers of a model that are written in it, with their values."""
    system, given = System(model), {}
    for name in numbers_of(model):
        owner, _, field = name.rpartition(".")
        if owner not in model.bodies or getattr(model.bodies[owner], field):
            with suppress(SimEngineError):  # some are functions
                given[name] = value_of(model, system, name)
    return given


def around(values: list[float], seed: int) -> np.ndarray:
    """Random samples, the first of them the values themselves."""
    deviations = np.random.default_rng(seed).normal(0.0, 0.03, (SAMPLES + 1, len(values)))
    deviations[0] = 0.0
    return np.array(values) * (1.0 + deviations) + (np.array(values) == 0.0) * deviations


def groups(model: se.Model, seed: int) -> Iterator[tuple[list[str], np.ndarray]]:
    """All numbers, a few at a time, with their samples."""
    given = numbers_given(model)
    order = np.random.default_rng(seed).permutation(list(given)).tolist()
    for first in range(0, len(order), 4):
        names = order[first : first + 4]
        yield names, around([given[name] for name in names], seed)


def same(a: Any, b: Any) -> bool:
    if isinstance(a, Mapping):
        return {*a} == {*b} and all(same(a[name], b[name]) for name in a)
    return a.tobytes() == b.tobytes() if isinstance(a, np.ndarray) else bool(a == b)


def integers(arrays: Any) -> list[bytes]:
    """What is not a number; addresses are left out."""
    parts = arrays[:5] if hasattr(arrays, "at_f") else arrays
    found: list[bytes] = []
    for part in parts:
        if isinstance(part, tuple):
            found += integers(part)
        elif isinstance(part, np.ndarray) and part.dtype != np.float64:
            found.append(part.tobytes())
    return found


@pytest.mark.parametrize("name", library.names())
def test_the_numbers_are_those_of_a_system_of_its_own(name):
    """For every number of every shipped mechanism."""
    model, right_ones = se.load(name), 0
    for names, samples in groups(model, len(name)):
        model_of = lambda values, names=names: variant(model, dict(zip(names, values, strict=True)))
        try:
            recorded = RecordedSystem(model_of, samples[:1])
        except NotRecorded:
            assert name in WITH_FORMULAS
            return
        except SimEngineError:  # a parameter that is written with its unit
            assert model.units is not None
            continue
        numbers, right = recorded.numbers(samples)
        for k in np.flatnonzero(right).tolist():
            system, own = System(model_of(samples[k].tolist())), numbers.sample(k)
            for field, a, b in zip(SystemNumbers._fields, own, SystemNumbers.of(system), strict=True):
                assert a.tobytes() == b.tobytes(), (names, field)
            for attribute in ALIKE:
                assert same(getattr(recorded.system, attribute), getattr(system, attribute)), (
                    names,
                    attribute,
                )
            assert integers(recorded.system.arrays) == integers(system.arrays)
            assert integers(recorded.system.load_arrays) == integers(system.load_arrays)
            right_ones += 1
    assert right_ones > 0.5 * SAMPLES * len(numbers_given(model)) / 4


QUICK = ("four_bar", "windshield_wiper", "scotch_yoke")


@pytest.mark.parametrize("name", slow_among(library.names(), *{*library.names()}.difference(QUICK)))
def test_a_batch_gives_the_results_of_kinematics(name):
    model, computed = se.load(name), 0
    times = np.linspace(0.0, 0.2, 6) + 0.1 * (len(name) % 2)
    for names, samples in groups(model, 2 * len(name)):
        study = Study(model, tuple(names), "kinematics", {"t_eval": times})
        for values, answer in zip(samples.tolist(), study.batches.answers(samples), strict=True):
            if answer is not None:
                expected = se.kinematics(variant(model, dict(zip(names, values, strict=True))), t_eval=times)
                assert [f for f in FIELDS if not same(getattr(answer, f), getattr(expected, f))] == []
                computed += 1
        if not study.batches.possible and name not in QUICK:
            return  # neither is it for other numbers
    assert computed or name not in QUICK


FREE = ("slider_crank", "double_pendulum", "cart_pole")


@pytest.mark.parametrize("name", slow_among(library.names(), *{*library.names()}.difference(FREE[:2])))
def test_a_batch_gives_the_results_of_dynamics(name):
    """To the last bit, with outputs that follow the steps or with given ones; and the state to go on from."""
    model, compared = se.load(name), []
    options = {"t_end": 0.3, "rtol": 1e-7} if len(name) % 2 else {"t_eval": [0.1, 0.15, 0.2]}
    for number, value in numbers_given(model).items():
        study, samples = Study(model, (number,), "dynamics", options), around([value], len(number))
        for values, answer in zip(samples.tolist(), study.batches.answers(samples), strict=True):
            if answer is not None:
                expected = se.dynamics(variant(model, {number: values[0]}), **options)
                fields = (*FIELDS, "lam", "events", *(("checkpoint",) if not compared else ()))
                assert [f for f in fields if not same(getattr(answer, f), getattr(expected, f))] == []
                compared.append(number)
    assert compared or name not in FREE


def test_a_batch_starts_with_other_velocities():
    """Those of the crank are given, the others follow from the joints; a velocity that these do not allow is told."""
    model = se.Model("slider-crank", parameters={"spin": 1.0, "lift": 0.0})
    crank = model.body("crank", mass=1, inertia=0.1, at=(0.5, 0), angular_velocity="spin")
    rod = model.body("rod", mass=1, inertia=0.2, at=(2, 0))
    slider = model.body("slider", mass=2, inertia=0.1, at=(3, 0))
    model.add(se.Revolute("O", model.ground, crank.at(-0.5, 0)))
    model.add(se.Revolute("A", crank.at(0.5, 0), rod.at(-1, 0)))
    model.add(se.Revolute("B", rod.at(1, 0), slider))
    model.add(se.Translational("guide", model.ground, slider, direction=(1, 0)))
    study = Study(model, ("spin",), "dynamics", {"t_end": 0.2})
    samples = np.array([[1.0], [-2.5], [0.0]])
    for spin, answer in zip(samples[:, 0].tolist(), study.batches.answers(samples), strict=True):
        expected = se.dynamics(variant(model, {"spin": spin}), t_end=0.2)
        assert answer is not None and answer["crank.phid"][0] == pytest.approx(spin, abs=1e-14)
        fields = (*FIELDS, "lam")
        assert [f for f in fields if not same(getattr(answer, f), getattr(expected, f))] == []
    slider.velocity = (0.0, "lift")
    study = Study(model, ("lift",), "dynamics", {"t_end": 0.2})
    assert [answer is None for answer in study.batches.answers(np.array([[0.0], [0.5]]))] == [False, True]


def test_what_is_more_than_other_numbers_is_left_to_the_analysis():
    """A rocker that is too short, or brings a dead point; a mass below zero: no answer, but a row with a reason."""
    four_bar = se.load("four_bar")
    study = Study(four_bar, ("rocker", "crank.mass"), "kinematics", {"t_end": 1.0})
    samples = np.array([[3.6, 1.0], [0.5, 1.0], [2.5, 1.0], [3.5, -1.0], [3.4, 2.0]])
    answers = list(study.batches.answers(samples))
    assert [answer is None for answer in answers] == [False, True, True, True, False]
    rows = list(study.rows(samples))
    assert [bool(row.reason) for row in rows] == [False, True, True, True, False]


def test_frames_that_meet_or_part_are_another_structure():
    """Two points of a body that a System counts as one, or no longer does."""
    m = se.Model("points", parameters={"a": 1.0, "b": 2.0})
    body = m.body("body", mass=1, inertia=1, points={"A": ("a", 0), "B": ("b", 0)})
    m.add(se.Spring("first", se.distance(m.ground, body["A"]), stiffness=1))
    m.add(se.Spring("second", se.distance(m.ground, body["B"]), stiffness=1))
    model_of = lambda values: variant(m, dict(zip(("a", "b"), values, strict=True)))
    apart = RecordedSystem(model_of, np.array([[1.0, 2.0]]))
    assert apart.numbers(np.array([[1.0, 3.0], [2.0, 2.0]]))[1].tolist() == [True, False]
    together = RecordedSystem(model_of, np.array([[1.5, 1.5]]))
    assert together.numbers(np.array([[2.0, 2.0], [1.0, 3.0]]))[1].tolist() == [True, False]


def test_the_system_of_a_sample_has_its_names_and_can_be_copied():
    model = se.load("four_bar")
    model_of = lambda values: variant(model, {"rocker": values[0]})
    recorded = RecordedSystem(model_of, np.array([[3.5]]))
    numbers, _ = recorded.numbers(np.array([[3.7]]))
    system = recorded.system_of(numbers, 0, lambda: model_of([3.7]))
    whole = System(model_of([3.7]))
    assert system.parameters == whole.parameters and system.body_names == whole.body_names
    assert "resolved" not in vars(system)  # nobody has asked for it
    assert all(hasattr(system, name) for name in vars(whole))
    assert system.model.parameters["rocker"] == 3.7 and str(system) == str(whole)
    for other in (copy.copy(system), copy.deepcopy(system), pickle.loads(pickle.dumps(system))):
        assert other.Phi(0.1, system.drawn_q).tobytes() == whole.Phi(0.1, whole.drawn_q).tobytes()
    moved = system.drawn_at(system.drawn_q + 1.0)
    assert moved.bodies[0].pose[0] == system.drawn_q[0] + 1.0
