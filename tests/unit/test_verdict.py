"""The verdict: trust for what is right, and never for the kinds of wrong results that engines have produced."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import simengine2d as se
from simengine2d import builders
from simengine2d.errors import Caution
from simengine2d.model import library
from simengine2d.results.verdict import CHECK, DO_NOT_TRUST, TRUST

pytestmark = pytest.mark.slow


def block(**force: object) -> se.Model:
    m = se.Model("block", gravity=(0, 0))
    m.body("b", mass=1, inertia=1, velocity=(1, 0))
    m.add(se.Translational("guide", m.ground, "b"))
    if force:
        m.add(se.PointForce("F", "b", **force))
    return m


def pendulum(inertia: float = 0.0, heavy: float = 1e5) -> se.Model:
    """A point mass on a pin, beside a heavy body that stands still."""
    m = se.Model("point pendulum")
    b = m.body("b", mass=1, inertia=inertia, at=(0.1, 0))
    m.add(se.Revolute("O", m.ground.at(0, 0), b.at(-0.1, 0)))
    m.add(se.Fixed("F", m.ground, m.body("h", mass=heavy, inertia=heavy)))
    return m


@pytest.mark.parametrize("name", library.names())
def test_shipped_mechanisms_are_trusted(name: str) -> None:
    with library.file(name) as path:
        m = se.load(path)
    for analysis in (se.dynamics, se.kinematics, se.inverse_dynamics):
        try:
            r = analysis(m, t_end=0.2)
        except se.SimEngineError:
            continue
        assert r.verdict.word == TRUST, f"{analysis.__name__}: {r.verdict}"


@pytest.mark.parametrize(
    "law",
    [
        {"fx": "10 if (t>7 and t<7.1) else 0"},
        {"fx": "piecewise(t<7, 0, t<7.1, 10, 0)"},
        {"law": lambda t, q, qd: (10.0 if 7 < t < 7.1 else 0.0, 0.0)},
    ],
)
def test_a_pulse_that_was_stepped_over(law: dict[str, object]) -> None:
    stepped_over = se.dynamics(block(), t_end=10, step=0.1)
    assert stepped_over.verdict.word == TRUST
    wrong = replace(stepped_over, system=block(**law))
    assert wrong.verdict.word == DO_NOT_TRUST and "at t = 7" in str(wrong.verdict)


def test_a_small_inertia_that_stays_in_the_equations() -> None:
    wrong = replace(se.dynamics(pendulum(inertia=0.1), t_end=0.3), system=pendulum())
    assert wrong.verdict.word == DO_NOT_TRUST and "body 'b'" in str(wrong.verdict)


def test_a_joint_that_opens() -> None:
    m = builders.four_bar(1, 2, 3, 3)
    r = se.dynamics(m, t_end=1)
    q = r.q.copy()
    q[r.t > 0.5, 3] += 0.01
    assert "is open" in str(replace(r, q=q).verdict)
    assert replace(r, q=q).verdict.word == DO_NOT_TRUST


def test_energy_that_is_lost() -> None:
    m = builders.four_bar(1, 1, 1, 1, crank_angle=1.0)
    m.gravity = (0, 0)
    m.bodies["crank"].angular_velocity = 1.0
    fast, slow = se.dynamics(m, t_end=0.5), None
    m.bodies["crank"].angular_velocity = 0.5
    slow = se.dynamics(m, t_eval=fast.t)
    late = (fast.t > 0.3)[:, None]
    parts = {
        name: np.where(late, getattr(slow, name), getattr(fast, name)) for name in ("q", "qd", "qdd", "lam")
    }
    verdict = replace(fast, **parts).verdict
    assert verdict.word == DO_NOT_TRUST and "energy" in str(verdict)


def test_a_motion_that_flips_to_another_branch() -> None:
    both = {}
    for branch in ("open", "crossed"):
        m = builders.four_bar(1, 2, 1, 2, crank_angle=1.0, branch=branch)
        m.add(se.Driver("motor", se.angle(m.ground, "crank"), "1 + t"))
        both[branch] = se.kinematics(m, t_end=2, step=0.01)
    late = (both["open"].t > 1.0)[:, None]
    parts = {
        name: np.where(late, getattr(both["crossed"], name), getattr(both["open"], name))
        for name in ("q", "qd", "qdd")
    }
    verdict = replace(both["open"], **parts).verdict
    assert verdict.word == DO_NOT_TRUST and "jumps" in str(verdict)


def test_rows_of_garbage_and_of_nothing() -> None:
    r = se.dynamics(builders.four_bar(1, 2, 3, 3), t_end=1, step=0.001)
    for value, word in ((3e15, "jumps"), (np.nan, "not finite")):
        q = r.q.copy()
        q[417:423] = value
        verdict = replace(r, q=q).verdict
        assert verdict.word == DO_NOT_TRUST and word in str(verdict)


def test_accelerations_and_reactions_of_another_motion() -> None:
    r = se.dynamics(builders.four_bar(1, 2, 3, 3), t_end=1)
    assert r.lam is not None
    assert replace(r, qdd=1.14 * r.qdd).verdict.word == DO_NOT_TRUST
    assert replace(r, lam=0.85 * r.lam).verdict.word == DO_NOT_TRUST
    assert replace(r, lam=r.lam * (1 + 1e-3)).verdict.word == CHECK


def test_a_rest_that_is_no_rest() -> None:
    m = se.Model("block", gravity=(0, -9.81))
    m.body("b", mass=1, inertia=1)
    m.add(se.Translational("rail", m.ground, "b", direction="-30*deg"))
    r = se.Results(m, np.zeros(1), *np.zeros((3, 1, 3)), np.zeros((1, 2)), analysis="equilibrium")
    assert r.verdict.word == DO_NOT_TRUST


def test_a_penalty_that_is_too_soft() -> None:
    m = builders.four_bar(1, 2, 3, 3)
    for body in m.bodies.values():
        body.mass = 1e6
    soft = se.dynamics(m, t_end=1, formulation=se.Penalty(alpha=1e8))
    assert soft.verdict.word != TRUST


def test_cautions_of_a_run_ask_for_a_second_look() -> None:
    r = se.dynamics(builders.four_bar(1, 2, 3, 3), t_end=1)
    assert replace(r, notes=["a plain note"]).verdict.word == TRUST
    verdict = replace(r, notes=[Caution("jumps of the law f are not looked for")]).verdict
    assert verdict.word == CHECK and verdict.reasons == ("jumps of the law f are not looked for",)


def test_a_uniform_motion_and_a_mechanism_at_rest_are_trusted() -> None:
    m = builders.four_bar(1, 2, 3, 3)
    m.gravity = (0, 0)
    assert se.dynamics(m, t_end=1).verdict.word == TRUST
    wheel = se.Model("wheel", gravity=(0, 0))
    wheel.body("w", mass=1, inertia=1, angular_velocity=3)
    wheel.add(se.Revolute("O", wheel.ground, "w"))
    assert se.dynamics(wheel, t_end=1).verdict.word == TRUST


def test_it_stands_in_the_summary() -> None:
    r = se.dynamics(builders.four_bar(1, 2, 3, 3), t_end=1)
    assert "verdict: trust" in r.summary()


def test_a_second_opinion_tells_what_the_tolerance_is_worth() -> None:
    m = se.Model("double pendulum")
    a, b = m.bar("a", (0, 0), (1, 0), mass=1), m.bar("b", (1, 0), (2, 0), mass=1)
    m.add(se.Revolute("O", m.ground, a["start"]))
    m.add(se.Revolute("A", a["end"], b["start"]))
    assert se.dynamics(m, t_end=1, second_opinion=True).verdict.word == TRUST
    chaos = se.dynamics(m, t_end=60, rtol=1e-5, second_opinion=True)
    assert "second run" in str(chaos.verdict)
    coarse = se.dynamics(m, t_end=1, step=0.05, integrator="newmark", second_opinion=True)
    assert "half the step" in str(coarse.verdict)


def test_cautions_survive_a_file(tmp_path) -> None:
    r = se.dynamics(builders.four_bar(1, 2, 3, 3), t_end=1)
    doubtful = replace(r, notes=["plain", Caution("look twice")])
    loaded = se.Results.load(doubtful.save(tmp_path / "r.npz"))
    assert loaded.verdict.word == CHECK and loaded.notes == ["plain", "look twice"]


@pytest.mark.slow
def test_more_of_the_energy_is_asked_where_more_digits_are() -> None:
    """The penalties of the formulation itself cost 1e-6 to 1e-5 of the energy, which only rtol = 1e-9 minds."""
    model = se.builders.slider_crank(1, 2.5, crank_angle=0.7)
    model.bodies["crank"].angular_velocity = 8
    for rtol, told in ((1e-6, False), (1e-9, True)):
        r = se.dynamics(model, t_end=0.5, rtol=rtol, formulation="penalty")
        assert any("the energy changes" in reason for reason in r.verdict.reasons) == told
    trusted = se.dynamics(model, t_end=0.5, rtol=1e-9)
    assert not any("the energy changes" in reason for reason in trusted.verdict.reasons)


def test_a_peak_of_a_force_that_was_felt():
    """Gas pressure of an engine has corners between outputs; the run met them."""
    engine = se.load(Path(se.__file__).parent / "model" / "library" / "engine.yaml")
    assert se.dynamics(engine, t_end=0.2).verdict.word == "trust"


def test_outputs_too_coarse_for_stiff_forces_are_no_missed_pulse():
    walker = se.load(Path(se.__file__).parent / "model" / "library" / "walker.yaml")
    assert se.dynamics(walker, t_end=0.2, step=0.02).verdict.word == "check"


def test_a_mechanism_that_cannot_move_is_trusted():
    """Nothing is exchanged: the energy is constant but for rounding."""
    m = builders.four_bar(1, 2, 3, 3)
    m.add(se.Fixed("weld", "crank", "coupler"))
    assert str(se.dynamics(m, t_end=1).verdict) == "trust"
