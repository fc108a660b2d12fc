"""Plain calls on models that differ in numbers from earlier ones: the same answers as on a System of their own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import simengine2d as se
from simengine2d.analyses.dynamics import dynamics, many_motions
from simengine2d.analyses.earlier_models import REPEATED
from simengine2d.analyses.kinematics import kinematics
from simengine2d.model.number_places import differing_numbers, with_numbers_at
from simengine2d.numerics.kernel import JIT

MOTION = ("t", "q", "qd", "qdd")
needs_jit = pytest.mark.skipif(not JIT, reason="without compiled kernels every call runs the analysis")


def pendulum(mass: float, stiffness: float, length: float = 1.0) -> se.Model:
    m = se.Model("pendulum")
    bob = m.body("bob", mass=mass, inertia=0.1, at=(length, 0.0))
    m.add(se.Revolute("O", m.ground, bob.at(-length, 0.0)))
    m.add(se.Spring("spring", se.angle(m.ground, bob), stiffness=stiffness, damping=0.2))
    return m


def count_answers(monkeypatch: pytest.MonkeyPatch, module: Any) -> list[bool]:
    """Whether each call was answered as a variant."""
    answered, answer = [], module.earlier.answer

    def noted(*given: Any) -> Any:
        known = answer(*given)
        answered.append(known is not None)
        return known

    module.earlier.known.clear()
    monkeypatch.setattr(module.earlier, "answer", noted)
    return answered


@needs_jit
@pytest.mark.slow
def test_dynamics_of_models_that_differ_in_masses_and_forces(monkeypatch):
    answered = count_answers(monkeypatch, dynamics)
    for k in range(8):
        model = pendulum(1.0 + 0.1 * k, 2.0 - 0.1 * k)
        r, whole = se.dynamics(model, t_end=1), se.dynamics(se.System(model), t_end=1)
        for name in (*MOTION, "lam"):
            assert getattr(r, name).tobytes() == getattr(whole, name).tobytes()
        assert (r.notes, r.status, r.statistics) == (whole.notes, whole.status, whole.statistics)
        assert r.settings == whole.settings and r.model.bodies["bob"].mass == model.bodies["bob"].mass
        model.bodies["bob"].mass = 99.0  # later changes do not affect it
        assert r.model.bodies["bob"].mass == 1.0 + 0.1 * k
        assert np.array_equal(r.resume(t_end=1.5).q[-1], whole.resume(t_end=1.5).q[-1])
    assert answered == [False] * (REPEATED + 1) + [True] * (7 - REPEATED)
    # another length is another geometry, and wrong numbers are refused as always
    assert se.dynamics(pendulum(1.0, 2.0, 1.2), t_end=1).q[0, 0] == 1.2
    with pytest.raises(se.ModelError, match="mass"):
        se.dynamics(pendulum(-1.0, 2.0), t_end=1)


def hanging(mass: float, gravity: float, turning: float = 0.0) -> se.Model:
    m = se.Model("hanging", gravity=(0.0, gravity))
    upper = m.bar("upper", (0, 0), (1, 0), mass=1.0, angular_velocity=turning, velocity=(0.0, 0.5 * turning))
    lower = m.bar("lower", (1, 0), (1.5, 0.2), mass=mass)
    m.add(se.Revolute("O", m.ground, upper["start"]))
    m.add(se.Revolute("A", upper["end"], lower["start"]))
    return m


@needs_jit
@pytest.mark.slow
@pytest.mark.parametrize(
    "numbers",
    [
        [
            (1.0, -9.0 + 0.1 * k) for k in range(8)
        ],  # gravity alone: masses and velocities are not looked at again
        [(1.0 + 0.1 * k, -9.0) for k in range(6)]
        + [(1e-7, -9.0), (1e7, -9.0), (2.0, -9.0)],  # very unequal masses
        [(1.0, -9.0, 0.1 * k) for k in range(8)],
        [(1.0 + 0.1 * k, -1e-9, 0.01 * k) for k in range(8)],  # a slow motion: tolerances follow its pace
    ],
)
def test_dynamics_whatever_varies(numbers, monkeypatch):
    answered = count_answers(monkeypatch, dynamics)
    for each in numbers:
        r = se.dynamics(hanging(*each), t_end=0.5)
        whole = se.dynamics(se.System(hanging(*each)), t_end=0.5)
        for name in (*MOTION, "lam"):
            assert getattr(r, name).tobytes() == getattr(whole, name).tobytes(), (name, each)
        assert (r.notes, r.status, r.statistics) == (whole.notes, whole.status, whole.statistics)
    assert any(answered)


@needs_jit
@pytest.mark.slow
def test_kinematics_of_models_that_differ_in_a_parameter(monkeypatch):
    answered, model = count_answers(monkeypatch, kinematics), se.load("four_bar")
    for k in range(8):
        model.parameters["rocker"] = 3.5 + 0.01 * k  # the same Model, changed
        r = se.kinematics(model, t_end=1, step=0.1)
        whole = se.kinematics(model, t_end=1, step=0.1, progress=lambda t: None)
        assert all(getattr(r, name).tobytes() == getattr(whole, name).tobytes() for name in MOTION)
        assert r.model.parameters["rocker"] == 3.5 + 0.01 * k
    assert answered == [False] * (REPEATED + 1) + [True] * (7 - REPEATED)
    model.parameters["rocker"] = 0.5
    with pytest.raises(se.ModelError, match="height"):
        se.kinematics(model, t_end=1, step=0.1)


def test_only_numbers_may_differ():
    first = pendulum(1.0, 2.0).snapshot()
    places = {("bodies", "bob", "mass"): 3.0, ("elements", "spring", "stiffness"): 5.0}
    assert differing_numbers(pendulum(3.0, 5.0), first) == places
    assert differing_numbers(with_numbers_at(first, places), first) == places
    moved = differing_numbers(pendulum(1.0, 2.0, 1.5), first)
    assert moved is not None and set(moved.values()) == {1.5, -1.5}
    assert differing_numbers(with_numbers_at(first, moved), first) == moved
    for change in (
        lambda m: m.body("other"),
        lambda m: m.parameters.update(k=1.0),
        lambda m: setattr(m.elements["spring"], "stiffness", "2*t"),
        lambda m: setattr(m.elements["spring"], "stiffness", lambda s, v, t: 2.0 * s),
    ):
        other = pendulum(1.0, 2.0)
        change(other)
        assert differing_numbers(other, first) is None


def test_places_in_weighted_sums_of_measures():
    def rack(radius: float, at: float) -> se.Model:
        m = se.Model("rack")
        wheel = m.body("wheel", mass=1, inertia=1, at=(0, 1))
        bar = m.body("bar", mass=1, inertia=1)
        measure = se.along(bar, wheel.at(at, 0.0)) + radius * se.angle(bar, wheel)
        m.add(se.Spring("mesh", measure, stiffness=5.0))
        return m

    first = rack(0.5, 0.1).snapshot()
    terms = ("elements", "mesh", "measure", "terms")
    places = {(*terms, 0, "b", "place", 0): 0.2, (*terms, 1, "weight"): 0.7}
    assert differing_numbers(rack(0.7, 0.2), first) == places
    assert differing_numbers(with_numbers_at(first, places), rack(0.7, 0.2)) == {}


@pytest.mark.parametrize(
    ("value", "found"),
    [(1, {}), (1.0, {}), (np.float64(1.0), {}), (2, 2.0), (-0.0, -0.0), (True, None), ("1", None)],
)
def test_numbers_are_compared_by_their_bits(value, found):
    first = pendulum(1.0, 2.0).snapshot()
    other = pendulum(1.0, 2.0)
    other.bodies["bob"].mass = value
    place = ("bodies", "bob", "mass")
    assert differing_numbers(other, first) == ({place: found} if isinstance(found, float) else found)
    first.bodies["bob"].mass = 0.0
    different = differing_numbers(other, first)
    # 0 and -0 differ, in bits and in what they lead to
    assert different is None or np.signbit(different[place]) == np.signbit(float(value))


@needs_jit
def test_ctrl_c_in_a_call_that_is_answered_as_a_variant_keeps_its_beginning(monkeypatch):
    """Its first chunk, with the rows of a run which was never interrupted."""
    ways: dict[str, Any] = {"t_eval": np.linspace(0.0, 0.5, 40), "rtol": 1e-12}
    for mass in (1.0, 1.1, 1.2, 1.3, 1.4):
        whole = se.dynamics(hanging(mass, -9.81), **ways)

    def stopped(self: Any, *given: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(many_motions.ManyMotions, "results", stopped)
    with pytest.raises(se.Interrupted) as raised:
        se.dynamics(hanging(1.4, -9.81), **ways)
    monkeypatch.undo()
    kept = raised.value.results
    assert 0 < kept.t.size <= whole.t.size
    for name in ("t", "q", "qd", "qdd", "lam"):
        assert getattr(kept, name).tobytes() == getattr(whole, name)[: kept.t.size].tobytes()
