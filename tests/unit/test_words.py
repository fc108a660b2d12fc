"""Words that people bring: methods under other names, options in text, misspelled keywords, other names of elements."""

from __future__ import annotations

import pytest

import simengine2d as se
from loading import written
from simengine2d.io.job import job_for
from simengine2d.methods import Formulation, Integrator

FALLING = """
name: falling
bodies: {stone: {mass: 1, inertia: 1}}
analysis: {kind: dynamics, t_end: 0.1, step: 0.01, integrator: newmark}
"""


def pendulum() -> se.Model:
    m = se.Model("pendulum")
    bar = m.bar("bar", (0, 0), (1, 0), mass=1)
    m.add(se.Revolute("O", m.ground, bar["start"]))
    return m


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("ode45", se.DormandPrince()),
        ("Tsit5", se.Tsitouras5()),
        ("BE", se.BackwardEuler()),
        ("FE", se.ForwardEuler()),
        ("rk2", se.Heun()),
        ("RK45", se.DormandPrince()),
        ("BDF2", se.BDF(2)),
        ("BDF4", se.BDF(4)),
        ("generalized-alpha", se.GeneralizedAlpha()),
        ("newmark(beta=1/4, gamma=0.5)", se.Newmark(0.25, 0.5)),
        ("bdf(k=3, newton=modified)", se.BDF(3, newton="modified")),
        ({"type": "Newmark", "beta": 0.25, "tolerance": None}, se.Newmark(0.25)),
        (se.RK4(), se.RK4()),
    ],
)
def test_integrators_are_known_under_many_names(given, meant):
    assert Integrator.registry.made(given) == meant


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("baumgarte", se.Augmented()),
        ("baumgarte(alpha=10, beta=10)", se.Augmented(10, 10)),
        ("coordinate_partitioning", se.Partitioning()),
        ("index3(projection=yes)", se.Index3(projection=True)),
        ({"type": "GGL"}, se.GGL()),
        ("augmented_lagrangian(alpha=1e7)", se.AugmentedLagrangian(1e7)),
    ],
)
def test_formulations_are_known_under_many_names(given, meant):
    assert Formulation.registry.made(given) == meant


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("newmrak", "Did you mean 'newmark'"),
        ("newmark(bta=1)", "newmark has no option 'bta'. Did you mean 'beta'"),
        ("newmark(beta=x)", "newmark, beta is 'x'; it must be a number"),
        ("newmark(beta=nan)", "it must be a number"),
        ("bdf(k=2.5)", "it must be a whole number"),
        ("newmark(beta)", "Write option=value"),
        ("rk4(step=1)", "rk4 has no option 'step'. It has none"),
        ("new mark(", "Write a name, or name(option=value"),
        ({"beta": 1}, "does not name any integrator"),
    ],
)
def test_what_is_meant_is_said(given, words):
    with pytest.raises(se.ModelError) as caught:
        se.dynamics(pendulum(), t_end=0.1, step=0.1, integrator=given)
    assert words in str(caught.value)


def test_dynamics_takes_these_names():
    runs = [
        se.dynamics(pendulum(), t_end=0.2, step=0.01, integrator=name, formulation="baumgarte(alpha=3)")
        for name in ("BDF2", se.BDF(2))
    ]
    assert (runs[0].q == runs[1].q).all()
    assert se.dynamics(pendulum(), t_end=0.1, coordinates="joint").q.shape[1] == 3


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: se.dynamics(pendulum(), t_ned=1), "dynamics has no option 't_ned'. Did you mean 't_end'"),
        (lambda: se.kinematics(pendulum(), tend=1), "kinematics has no option 'tend'. Did you mean 't_end'"),
        (lambda: se.Model("m", gravty=(0, 0)), "Model has no option 'gravty'. Did you mean 'gravity'"),
        (lambda: pendulum().body("b", m=1), "body has no option 'm'. Write mass=..."),
        (lambda: pendulum().bar("b", (0, 0), (1, 0), J=1), "body has no option 'J'. Write inertia=..."),
        (lambda: se.Newmark(bta=1), "Newmark has no option 'bta'. Did you mean 'beta'"),
        (lambda: se.Spring("s", "distance(a, b)", k=1), "Spring has no option 'k'. Write stiffness=..."),
        (
            lambda: se.Force("f", "bar", fx=1),
            "Force has no option 'fx', but PointForce has it. The options are",
        ),
        (
            lambda: se.Spring("s", "a", "b", stiffness=1),
            "Spring: multiple values for argument 'stiffness'. It takes",
        ),
        (
            lambda: se.dynamics(),
            "missing a required argument: 'model'. It takes model in this order, and by name",
        ),
        (lambda: se.Spring("s", "distance(a, b)", l0=1), "Spring has no option 'l0'. Write free=..."),
        (lambda: se.builders.four_bar(1, 2, 2, 2, crank_angel=1), "Did you mean 'crank_angle'"),
        (lambda: se.ivp.solve(lambda t, y: -y, (0, 1), [1.0], rtoll=1), "Did you mean 'rtol'"),
        (lambda: se.lab.compare(pendulum(), t_edn=1), "Did you mean 't_end'"),
    ],
)
def test_misspelled_keywords_are_answered(call, words):
    with pytest.raises(se.OptionError) as caught:
        call()
    assert words in str(caught.value)
    assert isinstance(caught.value, TypeError) and isinstance(caught.value, se.ModelError)


def test_other_names_of_elements():
    assert se.RevoluteJoint is se.Revolute and se.Prismatic is se.Translational
    with pytest.raises(AttributeError, match=r"Spring on the measure distance\(a, b\)"):
        _ = se.TSDA
    with pytest.raises(AttributeError, match="Did you mean 'dynamics'"):
        _ = se.dynamcis
    assert not hasattr(se, "__path_of_nothing__")


def test_other_names_in_files(tmp_path):
    text = FALLING + "joints: {O: {type: RevoluteJoint, a: ground, b: stone}}\n"
    assert isinstance(se.load(written(tmp_path, text))["O"], se.Revolute)
    bad = FALLING + "forces: {s: {type: RSDA, k: 1}}\n"
    with pytest.raises(se.ModelError, match=r"Spring on the measure angle\(a, b\)"):
        se.load(written(tmp_path, bad))
    bad = FALLING + "forces: {s: {type: Spring, measure: 'distance(ground, stone)', k: 1}}\n"
    with pytest.raises(se.ModelError, match=r"line 5: .*has no field 'k'. Write 'stiffness'"):
        se.load(written(tmp_path, bad))


def test_methods_of_files_have_options(tmp_path):
    text = FALLING.replace("newmark", "{type: Newmark, beta: 0.25, gamma: 0.5}")
    job = job_for(se.load(written(tmp_path, text)))
    results = job.run(se.load(written(tmp_path, text)))
    assert results.settings["integrator"] == {
        "name": "newmark",
        "newton": "exact",
        "tolerance": None,
        "beta": 0.25,
        "gamma": 0.5,
    }
    outside = FALLING.replace("newmark", "newmark, beta: 0.25")
    with pytest.raises(se.ModelError, match=r"Write integrator: \{type: newmark, beta: 0.25\}"):
        job_for(se.load(written(tmp_path, outside)))


def test_options_of_another_kind_of_equations_are_refused():
    with pytest.raises(se.UnsupportedError, match="no tolerance of accelerations"):
        se.dynamics(pendulum(), t_end=0.1, step=0.1, integrator=se.BDF(2, tolerance=1e-8))
    with pytest.raises(se.UnsupportedError, match="'ggl' holds them in all coordinates"):
        se.dynamics(
            pendulum(), t_end=0.1, step=0.1, integrator="newmark", coordinates="relative",
            formulation=se.Index3(projection=True),
        )  # fmt: skip
