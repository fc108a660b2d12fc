"""Kinematics by Assur groups, against Newton for the whole mechanism, which remains for what has no groups.

Both are exact to rounding, which a chain of dyads amplifies by a factor of about 10 for each: with pivots above 0.15
poses agree to 1e-12 of the length of the mechanism, velocities and accelerations to 1e-10 of their own size.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, assume, given, settings
from hypothesis import strategies as st

import simengine2d as se
from marking import slow_among
from simengine2d import builders
from simengine2d.analyses.assembly.closure import coordinate_scale
from simengine2d.analyses.kinematics import solver
from simengine2d.analyses.kinematics.dependence import assigned_rows, in_order_of_dependence
from simengine2d.analyses.kinematics.group_search import find_groups, groups_of
from simengine2d.analyses.kinematics.groups import DRIVEN, DYAD, LARGER, NO_GROUPS
from simengine2d.model import library

GROUPS_OF = {
    "chebyshev_lambda": "crank; coupler, rocker (dyad)",
    "slider_crank": "crank; rod, slider (dyad)",
    "stephenson_six_bar": "crank; coupler, rocker (dyad); link, output (dyad)",
    "jansen_leg": "crank; j, hip (dyad); k, c (dyad); f, foot (dyad)",
    "peaucellier": "crank; OA, AP (dyad); OB, BP (dyad); AS, BS (dyad)",
    "quick_return": "crank; block, arm; link, ram (dyad)",
    "toggle_clamp": "arm, link, handle",
    "robot_arm": "upper; fore; hand",
    "five_bar_robot": "left, BP (dyad); right, CP (dyad)",
}


WHOLE = "kinematics of the whole mechanism at once, by Newton"


def loaded(name: str) -> se.Model:
    with library.file(name) as path:
        return se.load(path)


def is_driven(name: str) -> bool:
    system = se.System(loaded(name))
    return system.m >= system.n


DRIVEN_MODELS = [name for name in library.names() if is_driven(name)]


def as_a_whole(model: se.Model, **options) -> se.Results:
    """Newton for the whole mechanism."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(solver, "groups_of", lambda S, rows: NO_GROUPS)
        results = se.kinematics(model, **options)
    assert results.method == WHOLE
    return results


def check_agreement(a: se.Results, b: se.Results) -> None:
    scale, length = coordinate_scale(a.system), a.system.length
    reach = length + np.abs(b.q / scale).max()
    assert np.abs((a.q - b.q) / scale).max() <= 1e-12 * reach
    for one, other in ((a.qd, b.qd), (a.qdd, b.qdd)):
        fastest = np.abs(other / scale).max()
        assert np.abs((one - other) / scale).max() <= 1e-10 * fastest
    assert (a.status, a.notes) == (b.status, b.notes)


# Shipped mechanisms -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", slow_among(DRIVEN_MODELS, "v_twin", "valve_train"))
def test_every_driven_mechanism_moves_as_by_newton(name):
    times = np.linspace(0.0, 0.9, 60)
    model = loaded(name)
    check_agreement(se.kinematics(model, t_eval=times), as_a_whole(model, t_eval=times))


@pytest.mark.parametrize("name", GROUPS_OF)
def test_groups_by_name(name):
    assert se.kinematics(loaded(name), t_end=0.01).method.split(": ")[1] == GROUPS_OF[name]


def test_cams_are_solved_as_a_whole():
    assert se.kinematics(loaded("geneva_drive"), t_end=0.01).method == WHOLE


def test_the_same_structure_is_searched_once():
    models = [builders.four_bar(1, 2, 2.5, 3, crank_angle=angle, speed=1) for angle in (1.0, 1.3)]
    groups = [groups_of(se.System(model).arrays, np.arange(9)) for model in models]
    assert groups[0] is groups[1]
    assert find_groups.cache_info().hits > 0


def test_a_ladder_has_one_dyad_for_each_window():
    system = se.System(builders.four_bar_ladder(40, driver="pi/2 + 0.1*t"))
    groups = groups_of(system.arrays, np.arange(system.m))
    assert np.bincount(groups.form).tolist() == [1, 40]


def test_the_method_in_words():
    results = se.kinematics(builders.four_bar(1, 2, 2.5, 3, speed=1), t_end=1)
    assert results.method == "kinematics in 2 groups: crank; coupler, rocker (dyad)"
    long = se.kinematics(builders.four_bar_ladder(40, driver="pi/2 + 0.1*t"), t_end=0.1)
    assert long.method.startswith("kinematics in 41 groups: post0; ") and long.method.endswith("; 29 more")


def test_a_long_ladder_reports_no_change_points_that_it_does_not_have():
    """The product of 100 determinants falls fast though none of them comes near zero."""
    results = se.kinematics(
        builders.four_bar_ladder(100, driver="pi/2 + 0.6*sin(2*pi*t)"), t_end=0.3, step=0.01
    )
    assert results.notes == []
    assert results.statistics["substeps"] < 40


def driven_elsewhere(name: str, body: str, kind: str) -> se.Model:
    """A shipped mechanism whose driver is replaced by a small motion of another body."""
    model = loaded(name)
    [driver] = [name for name, joint in model.joints.items() if joint.drives]
    del model.elements[driver]
    system = se.System(model)
    x, y, phi = system.drawn_q.reshape(-1, 3)[[b.name for b in system.bodies].index(body)].tolist()
    drawn = {"x": x, "y": y, "angle": phi, "distance": float(np.hypot(x, y))}[kind]
    size = 0.02 if kind == "angle" else 0.02 * system.length
    model.add(se.Driver("elsewhere", f"{kind}(ground, {body})", f"{drawn!r} + {size}*sin(t)"))
    return model


@pytest.mark.parametrize(
    ("name", "body", "kind", "groups"),
    [
        ("chebyshev_lambda", "coupler", "x", "crank, rocker, coupler"),
        ("four_bar", "coupler", "angle", "crank, rocker, coupler"),
        ("stephenson_six_bar", "output", "angle", "output; crank, rocker, link, coupler"),
        ("stephenson_six_bar", "link", "y", "crank, rocker, output, coupler and 1 more"),
        ("geared_five_bar", "BP", "distance", "left, right, AP, BP"),
        ("hart_inversor", "BC", "distance", "AB, crank, AD, CD and 1 more"),
        ("umbrella", "left_stretcher", "y", "left, runner, left_stretcher; right, right_stretcher (dyad)"),
        ("oldham_coupling", "output", "angle", "output; input, middle"),
        ("klann_leg", "leg", "x", "crank, lower, upper, arm and 1 more"),
        ("peaucellier", "AP", "y", "crank, OA, AP; OB, BP (dyad); AS, BS (dyad)"),
    ],
)
def test_other_drivers_make_other_groups(name, body, kind, groups):
    """Triads and larger groups, by Newton in their own unknowns."""
    model, times = driven_elsewhere(name, body, kind), np.linspace(0.0, 0.8, 15)
    results = se.kinematics(model, t_eval=times)
    assert results.method.split(": ")[1] == groups
    check_agreement(results, as_a_whole(model, t_eval=times))


# The determinant --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["stephenson_six_bar", "jansen_leg", "quick_return", "v_twin", "geared_five_bar"]
)
def test_the_determinant_is_the_product_of_those_of_the_groups(name):
    """Its changes are what keeps a run on its branch."""
    model = loaded(name)
    system, ratios = se.System(model), []
    results = se.kinematics(model, t_eval=np.linspace(0.0, 0.7, 8))
    for t, q in zip(results.t, results.q, strict=True):
        made = solver.solver_at(system, float(t), q, np.arange(system.m))
        product = 1.0 / np.prod(made.stepper.pivots[: made.groups.form.size])
        ratios.append(np.linalg.det(system.Phi_q(float(t), q) * coordinate_scale(system)) / product)
    np.testing.assert_allclose(ratios, ratios[0], rtol=1e-9)


# Random chains of dyads -------------------------------------------------------------------------------

KINDS = ("RRR", "RRP", "PRP", "RPR", "RPP")
numbers = st.floats(-1.0, 1.0).map(lambda v: round(v, 3))


@st.composite
def points(draw, size):
    return size * draw(numbers), size * draw(numbers)


@st.composite
def chains(draw):
    """A crank and one to three dyads on it, joined as drawn, in small and large units of length."""
    size = 10.0 ** draw(st.integers(-4, 4))
    model = se.Model("chain")
    angle = draw(numbers)
    crank = model.body("crank", mass=1, inertia=1, at=draw(points(size)), angle=angle)
    model.add(se.Revolute("O", model.ground, crank, at=draw(points(size))))
    model.add(
        se.Driver("motor", se.angle(model.ground, crank), f"{angle} + {draw(numbers)}*t + 0.1*sin(3*t)")
    )
    known = [model.ground, crank]
    for i in range(draw(st.integers(1, 3))):
        kind = draw(st.sampled_from(KINDS))
        pair = [
            model.body(f"{c}{i}", mass=1, inertia=1, at=draw(points(size)), angle=draw(numbers)) for c in "ab"
        ]
        carriers = draw(st.sampled_from(known)), draw(st.sampled_from(known))
        between = [(carriers[0], pair[0]), (pair[0], pair[1]), (carriers[1], pair[1])]
        for k, (letter, sides) in enumerate(zip(kind, between, strict=True)):
            x, y = draw(points(size))
            if letter == "R":
                model.add(se.Revolute(f"joint{i}{k}", *sides, at=(x, y)))
            else:
                model.add(se.Translational(f"joint{i}{k}", *sides, at=(x, y, 3 * draw(numbers))))
        known += pair
    return model


@settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
)
@given(chains())
def test_random_chains_of_dyads_move_as_by_newton(model):
    times = np.linspace(0.0, 0.5, 20)
    system = se.System(model)
    start = solver.solver_at(system, 0.0, system.drawn_q, np.arange(system.m))
    assume(start is not None and start.smallest_pivot > 0.15)
    try:
        results = se.kinematics(model, t_eval=times)
    except se.SingularityError as error:  # a dead point: both must come to the same
        with pytest.raises(se.SingularityError) as other:
            as_a_whole(model, t_eval=times)
        assert other.value.results.t.size == error.results.t.size
        return
    end = solver.solver_at(system, 0.5, results.q[-1], np.arange(system.m))
    assume(end is not None and end.smallest_pivot > 0.15)
    forms = start.groups.form.tolist()
    assert forms.count(DRIVEN) == 1 and set(forms) <= {DRIVEN, DYAD, LARGER}
    check_agreement(results, as_a_whole(model, t_eval=times))


def test_a_link_without_length_has_no_pose():
    """Both pins of the rod are at one point: no angle of it follows from where they are."""
    m = se.Model("no length")
    crank = m.body("crank", mass=1, inertia=1, at=(0, 0))
    rod = m.body("rod", mass=1, inertia=1, at=(1, 0))
    slider = m.body("slider", mass=1, inertia=1, at=(1, 0))
    m.add(se.Revolute("O", m.ground, crank))
    m.add(se.Driver("motor", se.angle(m.ground, crank), "t"))
    m.add(se.Revolute("A", crank, rod, at=(1, 0)))
    m.add(se.Revolute("B", rod, slider, at=(1, 0)))
    m.add(se.Translational("guide", m.ground, slider, at=(1, 0, 0)))
    system = se.System(m)
    start = solver.solver_at(system, 0.0, system.drawn_q, np.arange(system.m))
    assert start is None or not start.smallest_pivot > 0.0


# The order of dependence ------------------------------------------------------------------------------


def test_rows_are_moved_to_make_room():
    """Row 2 takes the place of row 0, which moves to the other node."""
    assert assigned_rows({0: [0, 1], 1: [0], 2: [0]}, [2, 1]) == [[1, 2], [0]]
    assert assigned_rows({0: [0], 1: [0]}, [1, 1]) is None
    assert assigned_rows({0: [0]}, [1, 1]) is None


def test_nodes_that_need_each_other_come_together_after_what_they_need():
    needs = [[1], [0, 2], [3], [3], [0, 4]]
    assert [sorted(nodes) for nodes in in_order_of_dependence(needs)] == [[3], [2], [0, 1], [4]]
