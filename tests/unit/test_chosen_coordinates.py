"""What the slides show by name: R, M_bar, Q_bar, C_P, C_t; angles, cut joints and independent coordinates by choice."""

from __future__ import annotations

import numpy as np
import pytest

import simengine2d as se
from marking import slow_among
from simengine2d import builders


@pytest.fixture(scope="module")
def four_bar():
    """The workshop's: a spring from the ground to the point that coupler and rocker share."""
    m = builders.four_bar(1, 2, 2.5, 3)
    m.add(se.Spring("spring", "distance(ground, coupler.end)", stiffness=50, free=0.5))
    return m


EVERYWHERE = ["reference_point", "mixed(angles=crank)", "relative(cut=C)", "relative(cut=B)"]


# R, M_bar and Q_bar -----------------------------------------------------------------------------------


def crank_of(p):
    return "A.angle" if p.coordinates.startswith("relative") else "crank.phi"


@pytest.mark.parametrize("coordinates", EVERYWHERE)
def test_the_reduced_equations_are_the_same_in_all_coordinates(four_bar, coordinates):
    """M_bar and Q_bar of the crank's angle are the mechanism's own, whatever coordinates describe it."""
    reference = se.formulate(four_bar).at(independent="crank.phi")
    p = se.formulate(four_bar, coordinates)
    e = p.at(independent=crank_of(p))
    assert e.independent == [crank_of(p)]
    assert e.M_bar == pytest.approx(reference.M_bar) and e.Q_bar == pytest.approx(reference.Q_bar)
    assert np.abs(e.Phi_q @ e.R).max() < 1e-12
    assert e.R[p.names.index(crank_of(p))] == pytest.approx([1.0])
    # and they give the accelerations of the whole
    zdd = np.linalg.solve(e.M_bar, e.Q_bar)
    n, m = e.QA.size, e.Phi.size
    A = np.block([[e.M, e.Phi_q.T], [e.Phi_q, np.zeros((m, m))]])
    qdd = np.linalg.solve(A, np.concatenate([e.QA, e.gamma]))[:n]
    assert e.R @ zdd == pytest.approx(qdd, abs=1e-9)


def test_velocities_count_in_q_bar(four_bar):
    p = se.formulate(four_bar, "mixed(angles=crank)")
    R = p.at(independent="crank.phi").R[:, 0]
    e = p.at(qd=3.0 * R, independent="crank.phi")
    n, m = e.QA.size, e.Phi.size
    A = np.block([[e.M, e.Phi_q.T], [e.Phi_q, np.zeros((m, m))]])
    qdd = np.linalg.solve(A, np.concatenate([e.QA, e.gamma]))[:n]
    assert np.linalg.solve(e.M_bar, e.Q_bar) == pytest.approx(qdd[p.names.index("crank.phi")])


def test_redundant_constraints_and_free_bodies_have_an_r_too():
    e = se.formulate(se.load("parallelogram")).at()
    assert e.R.shape[1] == len(e.independent) and np.abs(e.Phi_q @ e.R).max(initial=0.0) < 1e-10
    m = se.Model("stone")
    m.body("stone", mass=2, inertia=1, at=(0, 0))
    e = se.formulate(m).at()
    assert pytest.approx(np.eye(3)) == e.R and e.Q_bar == pytest.approx([0, -19.62, 0])


def test_what_cannot_be_independent_is_said(four_bar):
    e = se.formulate(four_bar).at(independent=["crank.phi", "rocker.phi"])
    with pytest.raises(se.ModelError, match=r"crank\.phi, rocker\.phi cannot be independent here"):
        _ = e.R
    with pytest.raises(se.ModelError, match=r"Did you mean 'crank\.phi'"):
        se.formulate(four_bar).at(independent="crank.ph")


def test_other_letters_name_the_same():
    m = se.load("slider_crank")
    e = se.formulate(m, t=0.1).at()
    assert e.C is e.Phi and e.C_q is e.Phi_q and np.array_equal(e.C_t, -e.nu)
    # Phi_t and Phi_tt by differences of time alone
    p, h = se.formulate(m, t=0.1), 1e-4
    Phi = [p.at(0.1 + k * h, p.q).Phi for k in (-1, 0, 1)]
    assert e.C_t == pytest.approx((Phi[2] - Phi[0]) / (2 * h), abs=1e-6)
    assert e.C_tt == pytest.approx((Phi[2] - 2 * Phi[1] + Phi[0]) / h**2, abs=1e-5)


# C_P and forces at points -----------------------------------------------------------------------------


def test_c_p_is_that_of_the_slide():
    """[L - x, y, x, -y; -y, L - x, y, x] / L of a point (x, y) in axes along the bar."""
    m = se.Model("bar")
    bar = m.body("bar", mass=1, inertia=1, at=(1, 1), points={"1": (-1, 0), "2": (1, 0), "P": (-0.4, 0.3)})
    for name in ("1", "2"):
        other = m.body(f"end {name}", mass=1, inertia=1, at=(3 if name == "2" else -1, 1))
        m.add(se.Revolute(f"pin {name}", bar[name], other))
    p = se.formulate(m, "natural")
    C = p.C_P("bar.P")
    L, x, y = 2.0, 0.6, 0.3
    used = [p.names.index(f"pin {k}.{c}") for k in "12" for c in "xy"]
    assert C[:, used] == pytest.approx(np.array([[L - x, y, x, -y], [-y, L - x, y, x]]) / L)
    assert np.count_nonzero(C) == 8
    assert C @ p.q == pytest.approx([0.6, 1.3])  # r_P = C_P q


@pytest.mark.parametrize("coordinates", ["reference_point", "natural", *EVERYWHERE[1:]])
def test_c_p_gives_the_velocity_of_a_point(four_bar, coordinates):
    p = se.formulate(four_bar, coordinates)
    rates = p.at().R[:, 0]
    bodies = p.bodies(p.q, rates, 0 * rates)
    r = se.Results(four_bar, np.zeros(1), bodies.q[None], bodies.qd[None], bodies.qdd[None])
    expected = [r["coupler.end.xd"][0], r["coupler.end.yd"][0]]
    assert p.C_P("coupler.end") @ rates == pytest.approx(expected)


def test_the_spring_vector_of_the_workshop_acts_at_its_point_only(four_bar):
    p = se.formulate(four_bar, "mixed(angles=crank)")
    Q = p.force_vector("spring")
    assert np.flatnonzero(np.abs(Q) > 1e-12).tolist() == [p.names.index("C.x"), p.names.index("C.y")]
    length = np.hypot(*p.q[2:4])
    assert Q[2:4] == pytest.approx(-50 * (length - 0.5) * p.q[2:4] / length)


@pytest.mark.parametrize("coordinates", ["reference_point", "natural", *EVERYWHERE[1:]])
def test_both_spring_vectors_have_the_same_effect(four_bar, coordinates):
    """They differ by J^T mu of the rigid bodies: equal power in every motion, equal qdd, equal reactions of joints."""
    without = four_bar.copy()
    del without.elements["spring"]
    p, free = se.formulate(four_bar, coordinates), se.formulate(without, coordinates)
    e, by_points = p.at(), free.at().QA + p.force_vector("spring")
    own = len(p.family.own_rows)
    rigid = e.Phi_q[:own]
    mu = np.linalg.lstsq(rigid.T, by_points - e.QA, rcond=None)[0]
    assert rigid.T @ mu == pytest.approx(by_points - e.QA, abs=1e-9)
    n, m = e.QA.size, e.Phi.size
    A = np.block([[e.M, e.Phi_q.T], [e.Phi_q, np.zeros((m, m))]])
    one, other = (np.linalg.solve(A, np.concatenate([Q, e.gamma])) for Q in (e.QA, by_points))
    assert one[:n] == pytest.approx(other[:n], abs=1e-9)
    assert one[n + own :] == pytest.approx(other[n + own :], abs=1e-9)
    assert se.check(four_bar, coordinates, QA=by_points).right


# Choices ----------------------------------------------------------------------------------------------


def test_the_angle_alpha_needs_no_spring():
    m = builders.four_bar(1, 2, 2.5, 3)
    assert se.formulate(m, "mixed").names == ["B.x", "B.y", "C.x", "C.y"]
    p = se.formulate(m, {"type": "mixed", "angles": ["crank"]})
    assert p.names == ["B.x", "B.y", "C.x", "C.y", "crank.phi"]
    assert p.row_names == ["crank.length", "coupler.length", "rocker.length", "crank.angle"]
    assert p.coordinates == "mixed(angles=crank)"


@pytest.fixture(scope="module")
def with_coupler_point():
    m = builders.four_bar(1, 2, 2.5, 3)
    m.bodies["coupler"].points["P"] = (0.2, 0.7)
    return m


def test_the_points_of_natural_coordinates_are_chosen(with_coupler_point):
    p = se.formulate(with_coupler_point, "natural(points=coupler.P crank)")
    assert p.names == ["B.x", "B.y", "C.x", "C.y", "coupler.P.x", "coupler.P.y", "crank.x", "crank.y"]
    assert {"coupler.P.x", "coupler.P.y", "crank.center.x", "crank.center.y"} < set(p.row_names)
    P = p.C_P("coupler.P")
    assert P @ p.q == pytest.approx(p.q[4:6])  # where the coordinates say that it is
    # a pin is there already
    assert se.formulate(with_coupler_point, "natural(points=coupler.end)").names == p.names[:4]


def test_a_second_point_takes_the_place_of_the_vector():
    """The pendulum of the notes by its two ends, L^2 = x^2 + y^2."""
    m = se.Model("pendulum")
    m.bar("bar", (0, 0), (2, 0), mass=3)
    m.add(se.Revolute("O", m.ground, "bar.start"))
    assert se.formulate(m, "natural").names == ["bar.ux", "bar.uy"]
    p = se.formulate(m, "natural(points=bar.end)")
    assert p.names == ["bar.end.x", "bar.end.y"] and p.row_names == ["bar.length"]
    e = p.at()
    assert pytest.approx(np.eye(2)) == e.M and pytest.approx([0, -3 * 9.81 / 2]) == e.QA  # m/3 and m g/2
    assert e.Phi_q == pytest.approx(np.array([[4.0, 0.0]]))
    both = se.formulate(m, "natural(points=bar.end, vectors=bar)")
    assert both.names == ["bar.end.x", "bar.end.y", "bar.ux", "bar.uy"]


@pytest.mark.parametrize(
    "coordinates",
    [
        "natural(points=coupler.P)",
        "natural(points=coupler.P crank, vectors=rocker)",
        "mixed(angles=crank)",
        "relative(cut=A)",
    ],
)
def test_formulas_are_those_of_the_numbers_by_any_choice(with_coupler_point, coordinates):
    p, formulas = se.formulate(with_coupler_point, coordinates), with_coupler_point.equations(coordinates)
    assert formulas.coordinate_names == p.names and formulas.row_names == p.row_names
    rates = np.linspace(-1.0, 2.0, len(p.names))
    e = p.at(qd=rates)
    for name in ("M", "QA", "Phi", "Phi_q", "gamma"):
        assert formulas.lambdify(name)(0.0, p.q, rates) == pytest.approx(getattr(e, name), abs=1e-10), name


def test_the_joints_of_the_tree_are_chosen():
    m = builders.four_bar(1, 2, 2.5, 3)
    assert se.formulate(m, "relative(cut=C)").row_names == ["C.x", "C.y"]
    p = se.formulate(m, "relative(cut=A)")
    assert p.names == ["D.angle", "C.angle", "B.angle"] and p.row_names == ["A.x", "A.y"]


@pytest.mark.parametrize(
    "coordinates",
    [
        "mixed(angles=crank rocker)",
        "relative(cut=B)",
        "relative(cut=A)",
        "natural(points=coupler crank.start, vectors=rocker)",
    ],
)
@pytest.mark.parametrize("formulation", slow_among(["projection", "index3"], "index3"))
def test_motions_are_the_same_by_any_choice(coordinates, formulation):
    m = builders.four_bar(1, 2, 2.5, 3)
    run = lambda **o: se.dynamics(m, t_end=0.3, step=0.005, rtol=1e-9, formulation=formulation, **o)
    r, same = run(coordinates=coordinates), run(coordinates="reference_point")
    assert r["rocker.phi"] == pytest.approx(same["rocker.phi"], abs=2e-7)
    assert r["C.fx"] == pytest.approx(same["C.fx"], rel=1e-5)
    assert coordinates in r.method
    assert r.resume(t_end=0.31).t[-1] == 0.31


def test_independent_coordinates_are_chosen():
    m = builders.four_bar(1, 2, 2.5, 3)
    given = "matrix_r(independent=crank.phi)"
    r = se.dynamics(m, t_end=0.3, rtol=1e-9, coordinates="mixed(angles=crank)", formulation=given)
    same = se.dynamics(m, t_end=0.3, rtol=1e-9)
    assert r["rocker.phi"][-1] == pytest.approx(same["rocker.phi"][-1], abs=1e-7)
    with pytest.raises(se.ModelError, match="independent: there is no coordinate 'x'"):
        se.dynamics(m, t_end=0.1, formulation=se.MatrixR(independent="x"))


def test_misspellings_are_answered():
    m = builders.four_bar(1, 2, 2.5, 3)
    for given, answer in (
        ("mixed(angle=crank)", "Did you mean 'angles'"),
        ("mixed(angles=crnk)", "Did you mean 'crank'"),
        ("relative(cut=Z)", "there is no joint 'Z'"),
        ("natural(points=crnk.end)", "Did you mean 'crank'"),
        ("natural(points=coupler.Q)", "has no point 'Q'"),
        ("natural(points=ground)", "on the ground, which does not move"),
        ("natural(vectors=crnk)", "The bodies are crank"),
        ("natural(angles=crank)", "no option 'angles'"),
        ("reference_point(points=A)", "It has none"),
    ):
        with pytest.raises(se.ModelError, match=answer):
            se.formulate(m, given)


def test_files_and_the_command_line_have_the_same_words(tmp_path):
    from typer.testing import CliRunner

    from simengine2d import cli

    path = tmp_path / "two.yaml"
    m = builders.chain(2)
    m.save(path)
    path.write_text(
        path.read_text()
        + "analysis: {kind: dynamics, t_end: 0.05, coordinates: {type: mixed, angles: [link1]}}\n"
    )
    shown = CliRunner().invoke(cli.app, ["run", str(path)])
    assert shown.exit_code == 0, shown.output
    words = ["dynamics", str(path), "--t-end", "0.05", "--coordinates", "mixed(angles=link1)", "--json"]
    shown = CliRunner().invoke(cli.app, words)
    assert shown.exit_code == 0 and "mixed(angles=link1)" in shown.output
