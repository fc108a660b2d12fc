"""Check my work: planted mistakes are found at their entries, with their kind, and the joint, body or force named."""

from __future__ import annotations

from math import pi
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import simengine2d as se


def pendulum() -> se.Model:
    """The pendulum of the lecture: a torsion spring, a force at its tip, an offset angle so that nothing vanishes."""
    m = se.Model("pendulum", gravity=(0, -9.81))
    bar = m.body("bar", mass=20, inertia=6.7, at=(0.6, -0.8), angle=-0.9273, angular_velocity=1.5,
                 points={"O": (-1, 0), "tip": (1, 0.2)})  # fmt: skip
    m.add(se.Revolute("pin", m.ground, bar["O"]))
    m.add(se.Spring("spring", "angle(ground, bar)", stiffness=45, damping=10))
    m.add(se.PointForce("push", bar["tip"], fx=30, fy=4))
    return m


def pair() -> se.Model:
    """Two bars, a spring between them, and a cart on a rail with a welded mast."""
    m = se.Model("pair", gravity=(0, -9.81))
    a = m.body("a", mass=2, inertia=0.3, at=(0.5, 0.2), angle=0.4, points={"O": (-0.5, 0.1), "B": (0.6, 0.1)})
    b = m.body(
        "b", mass=3, inertia=0.4, at=(1.4, 0.1), angle=0.9, points={"B": (-0.4, 0.2), "C": (0.5, -0.1)}
    )
    c = m.body("c", mass=4, inertia=0.5, at=(1.9, 0.5), angle=0.2)
    mast = m.body("mast", mass=1, inertia=0.2, at=(2.0, 1.0), angle=0.7)
    m.add(se.Revolute("O", m.ground, a["O"]))
    m.add(se.Revolute("B", a["B"], b["B"]))
    m.add(se.Translational("rail", m.ground, c))
    m.add(se.Fixed("weld", c, mast))
    m.add(se.Spring("spring", "distance(b.C, c)", stiffness=200, damping=5, free=0.1))
    m.add(se.PointForce("pull", c, fx=12))
    return m


MODELS = {"pendulum": pendulum, "pair": pair, "slider_crank": lambda: se.load("slider_crank")}


class Situation(NamedTuple):
    """A model at a state in which nothing is zero by chance."""

    model: se.Model
    formulated: se.FormulatedModel
    q: np.ndarray
    qd: np.ndarray

    def check(self, **given):
        return se.check(self.model, self.formulated.coordinates, at=0.1, q=self.q, qd=self.qd, **given)

    def terms(self, q=None, qd=None):
        return self.formulated.at(0.1, self.q if q is None else q, self.qd if qd is None else qd)


@pytest.fixture(scope="module")
def situations():
    made = {}

    def situation(name: str, coordinates: str) -> Situation:
        key = name, coordinates
        if key not in made:
            model = MODELS[name]()
            p = se.formulate(model, coordinates, 0.1)
            rng = np.random.default_rng(7)
            made[key] = Situation(model, p, p.q.copy(), p.qd + rng.uniform(0.5, 1.5, p.qd.size))
        return made[key]

    return situation


# Planted mistakes -------------------------------------------------------------------------------------


class Planted(NamedTuple):
    """A mistake in an array: how it is made, and what should be said of it."""

    name: str
    model: str
    quantity: str
    make: object
    kind: str
    entry: tuple[int, ...]
    joint: str = ""
    body: str = ""
    force: str = ""
    words: str = ""
    coordinates: str = "reference_point"


def negated(*at):
    def make(s, array):
        array[np.ix_(*at)] *= -1

    return make


def times(factor, *at):
    def make(s, array):
        array[np.ix_(*at)] *= factor

    return make


def value(number, *at):
    def make(s, array):
        array[at] = number

    return make


def swapped(i, j, axis=0):
    def make(s, array):
        lines = np.moveaxis(array, axis, 0)
        lines[[i, j]] = lines[[j, i]]

    return make


def moved(rows, source, target):
    def make(s, array):
        array[np.ix_(rows, target)] += array[np.ix_(rows, source)]
        array[np.ix_(rows, source)] = 0.0

    return make


def transposed(rows, columns):
    def make(s, array):
        array[np.ix_(rows, columns)] = array[np.ix_(rows, columns)].T.copy()

    return make


def with_angle(change, *places, rows=None):
    """Evaluated at another angle; only in some rows, where these are named."""

    def make(s, array, name):
        q = s.q.copy()
        q[list(places)] = change(q[list(places)])
        other = getattr(s.terms(q=q), name)
        rows_ = slice(None) if rows is None else rows
        array[rows_] = other[rows_]

    make.named = True
    return make


def with_rate(change, *places):
    def make(s, array, name):
        qd = s.qd.copy()
        qd[list(places)] = change(qd[list(places)])
        array[:] = getattr(s.terms(qd=qd), name)

    make.named = True
    return make


def less(added):
    def make(s, array):
        array -= added(s)

    return make


def weight(mass, place, n, factor=1.0):
    force = np.zeros(n)
    force[place] = -9.81 * mass * factor
    return lambda s: force


def spring_of_pair(s):
    """On b at C and on c, from the law itself."""
    r = se.Results(s.model, np.zeros(1), s.q[None], s.qd[None], 0 * s.q[None])
    on_b, on_c = (r.reaction("spring", on=body, at=body) for body in ("b", "c"))
    out = np.zeros(12)
    out[3:6] = on_b.fx[0], on_b.fy[0], on_b.torque[0]
    out[6:9] = on_c.fx[0], on_c.fy[0], on_c.torque[0]
    return out


XB, XC, XM = [3, 4, 5], [6, 7, 8], [9, 10, 11]
FIRST, SECOND = [0, 1, 2], [3, 4, 5]

PLANTED = [
    # Phi_q: rows of pair are O.x O.y B.x B.y rail.across rail.turn weld.x weld.y weld.angle
    Planted("sign of an entry", "pair", "Phi_q", negated([2], [5]), "sign", (2, 5), "B", "b"),
    Planted("sign of another entry", "pair", "Phi_q", negated([1], [2]), "sign", (1, 2), "O", "a"),
    Planted("sign of a block", "pair", "Phi_q", negated([2, 3], XB), "sign", (2, 3), "B", "b"),
    Planted("sign of a row", "pair", "Phi_q", negated([4], range(12)), "sign", (4, 6), "rail", "c"),
    Planted("sign of the rows of a joint", "pair", "Phi_q", negated([2, 3], range(6)), "sign", (2, 0), "B", "a"),
    Planted("sign of all", "slider_crank", "Phi_q", negated(range(9), range(9)), "sign", (0, 0), "O", "crank"),
    Planted("transposed block", "pair", "Phi_q", transposed([6, 7, 8], XC), "transposed", (6, 8), "weld", "c"),
    Planted("block in another body's columns", "pair", "Phi_q", moved([2, 3], XB, XC), "wrong body", (2, 3), "B",
            "b", words="columns of c"),
    Planted("blocks exchanged", "slider_crank", "Phi_q", lambda s, J: swap_blocks(J, [2, 3], [0, 1, 2], [3, 4, 5]),
            "wrong body", (2, 0), "A", "crank", words="exchanged"),
    Planted("rows of a joint exchanged", "pair", "Phi_q", swapped(2, 3), "row order", (2, 0), "B", "a"),
    Planted("rows of two joints exchanged", "slider_crank", "Phi_q", swapped(1, 8), "row order", (1, 1), "O", "crank"),
    Planted("joints in another order", "slider_crank", "Phi_q", lambda s, J: reorder(J, [0, 1, 4, 5, 2, 3, 6, 7, 8]),
            "row order", (2, 0), "A", "crank"),
    Planted("columns exchanged", "pair", "Phi_q", swapped(3, 4, axis=1), "column order", (2, 3), "B", "b"),
    Planted("degrees for radians in one joint", "pair", "Phi_q",
            with_angle(np.rad2deg, 5, rows=[2, 3]), "angle unit", (2, 5), "B", "b", words="degrees"),
    Planted("degrees for radians everywhere", "slider_crank", "Phi_q", with_angle(np.rad2deg, 2, 5, 8), "angle unit",
            (0, 2), "O", "crank", words="every body"),
    Planted("sine and cosine exchanged", "pair", "Phi_q", with_angle(lambda p: pi / 2 - p, 2, rows=[0, 1]),
            "sine and cosine", (0, 2), "O", "a"),
    Planted("the vector is not turned", "pair", "Phi_q", with_angle(lambda p: 0 * p, 5), "missing", (2, 5), "B", "b",
            words="not turned"),
    Planted("angle with the opposite sign", "pair", "Phi_q", with_angle(lambda p: -p, 2, rows=[0, 1]),
            "angle sign", (0, 2), "O", "a"),
    Planted("column of an angle forgotten", "pair", "Phi_q", times(0, [0, 1], [2]), "missing", (0, 2), "O", "a"),
    Planted("block forgotten", "pair", "Phi_q", times(0, [2, 3], FIRST), "missing", (2, 0), "B", "a"),
    Planted("a block twice too large", "pair", "Phi_q", times(2, [2, 3], XB), "factor", (2, 3), "B", "b"),
    Planted("an entry that should be zero", "pair", "Phi_q", value(0.7, 0, 8), "should be zero", (0, 8), "O", "c"),
    # M
    Planted("no moment of inertia", "pair", "M", value(0.0, 5, 5), "missing", (5, 5), "", "b", words="inertia of b"),
    Planted("no moments of inertia", "pair", "M", lambda s, M: M.__setitem__((FIRST_PHI, FIRST_PHI), 0.0), "missing",
            (2, 2), "", "a", words="moments of inertia"),
    Planted("inertia about the pin", "pendulum", "M", value(6.7 + 20, 2, 2), "wrong point", (2, 2), "", "bar",
            words="point O"),
    Planted("mass in grams", "pair", "M", lambda s, M: times_diagonal(M, [3, 4], 1000), "factor", (3, 3), "", "b",
            words="in g"),
    Planted("bodies exchanged", "pair", "M", lambda s, M: exchange(M, FIRST, XB), "wrong body", (0, 0), "", "a"),
    # QA
    Planted("no weight", "pair", "QA", less(weight(3, 4, 12)), "missing", (4,), "", "b", words="weight of b"),
    Planted("weight upwards", "pair", "QA", less(weight(2, 1, 12, 2)), "sign", (1,), "", "a"),
    Planted("no force of the spring", "pair", "QA", less(spring_of_pair), "missing", (3,), "", "b", "spring"),
    Planted("spring with the wrong sign", "pair", "QA", less(lambda s: 2 * spring_of_pair(s)), "sign", (3,), "", "b",
            "spring"),
    Planted("no tip force", "pendulum", "QA", less(lambda s: tip_force(s)), "missing", (0,), "", "bar", "push"),
    Planted("force and weight forgotten", "pair", "QA",
            less(lambda s: np.eye(12)[6] * 12 + weight(4, 7, 12)(s)), "missing", (6,), "", "c", "pull"),
    # gamma
    Planted("no centripetal term of a body", "pair", "gamma", with_rate(lambda w: 0 * w, 3, 4, 5), "missing", (2,),
            "B", words="of b"),
    Planted("sign of gamma in a joint", "pair", "gamma", negated([0, 1]), "sign", (0,), "O"),
    Planted("rates in degrees", "slider_crank", "gamma", with_rate(np.rad2deg, 2, 5, 8), "angle unit", (0,), "O"),
    Planted("entries of gamma exchanged", "pair", "gamma", swapped(2, 3), "row order", (2,), "B"),
    # nu, Phi
    Planted("nu is +Phi_t", "slider_crank", "nu", negated([8]), "sign", (8,), "motor"),
    Planted("Phi with a wrong sign", "slider_crank", "Phi", value(0.25, 3), "should be zero", (3,), "A"),
    # solutions
    Planted("accelerations without a weight", "pair", "qdd", None, "missing", (0,), "", "a", words="weight of b"),
    Planted("one multiplier", "pair", "lam", times(1.4, [5]), "value", (5,), "rail"),
    # other coordinates
    Planted("sign in natural coordinates", "slider_crank", "Phi_q", negated([1], [2]), "sign", (1, 2), "rod", "B",
            coordinates="natural"),
    Planted("transposed mass matrix block", "pair", "M", transposed([0, 1], [4, 5]), "transposed", (0, 5), "", "b",
            coordinates="natural"),
    Planted("loop row twice", "slider_crank", "Phi_q", times(2, [0], range(3)), "factor", (0, 1), "B", "guide",
            coordinates="relative"),
    Planted("angle in degrees in mixed coordinates", "slider_crank", "Phi_q", with_angle(np.rad2deg, 6), "angle unit",
            (3, 0), "crank", "A", coordinates="mixed"),
]  # fmt: skip
FIRST_PHI = [2, 5, 8, 11]


def swap_blocks(J, rows, one, other):
    J[np.ix_(rows, one)], J[np.ix_(rows, other)] = J[np.ix_(rows, other)].copy(), J[np.ix_(rows, one)].copy()


def reorder(J, order):
    J[:] = J[order]


def times_diagonal(M, places, factor):
    M[places, places] *= factor


def exchange(M, one, other):
    order = list(range(len(M)))
    for i, j in zip(one, other, strict=True):
        order[i], order[j] = j, i
    M[:] = M[np.ix_(order, order)]


def tip_force(s):
    phi = s.q[2]
    arm = np.array([np.cos(phi) - 0.2 * np.sin(phi), np.sin(phi) + 0.2 * np.cos(phi)])
    return np.array([30.0, 4.0, arm[0] * 4 - arm[1] * 30])


def expected(s, name):
    terms = s.terms()
    if name in ("qdd", "lam"):
        return solution(terms)[("qdd", "lam").index(name)]
    return np.array(getattr(terms, name))


def solution(terms, QA=None):
    n, m = terms.QA.size, terms.Phi.size
    A = np.block([[terms.M, terms.Phi_q.T], [terms.Phi_q, np.zeros((m, m))]])
    x = np.linalg.solve(A, np.concatenate([terms.QA if QA is None else QA, terms.gamma]))
    return x[:n], x[n:]


def test_there_are_forty():
    assert len(PLANTED) >= 40
    assert {each.quantity for each in PLANTED} == {"M", "QA", "Phi", "Phi_q", "nu", "gamma", "qdd", "lam"}
    assert {each.coordinates for each in PLANTED} == {"reference_point", "natural", "mixed", "relative"}


@pytest.mark.parametrize("planted", PLANTED, ids=lambda each: each.name)
def test_a_planted_mistake_is_found(planted, situations):
    s = situations(planted.model, planted.coordinates)
    right = expected(s, planted.quantity)
    array = right.copy()
    plant(planted, s, array)
    work = s.check(**{planted.quantity: array})
    (mistake,) = work.mistakes
    assert (mistake.kind, mistake.entry) == (planted.kind, planted.entry), work
    assert (mistake.joint, mistake.body) == (planted.joint, planted.body), work
    assert mistake.force == planted.force
    assert planted.words in mistake.remark
    assert sorted(mistake.entries) == sorted(map(tuple, np.argwhere(np.abs(array - right) > 1e-9).tolist()))
    assert mistake.given == pytest.approx(array[planted.entry])
    assert mistake.expected == pytest.approx(right[planted.entry])
    assert max(map(len, str(work).splitlines())) <= 80


def plant(planted, s, array):
    if planted.quantity == "qdd":
        array[:] = solution(s.terms(), s.terms().QA - weight(3, 4, 12)(s))[0]
    elif getattr(planted.make, "named", False):
        planted.make(s, array, planted.quantity)
    else:
        planted.make(s, array)


# Right work -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("coordinates", ["reference_point", "natural", "mixed", "relative"])
@pytest.mark.parametrize("model", ["pair", "slider_crank"])
def test_right_work_is_right_in_all_coordinates(model, coordinates, situations):
    s = situations(model, coordinates)
    terms = {name: np.array(array) for name, array in s.terms()._asdict().items()}
    qdd, lam = solution(s.terms())
    work = s.check(**terms, qdd=qdd, lam=lam)
    assert work.right and not work.notes
    rounded = {
        name: np.array([float(f"{x:.5g}") for x in a.flat]).reshape(a.shape) for name, a in terms.items()
    }
    assert s.check(**rounded).right


def test_other_signs_and_factors_of_constraints_are_a_convention(situations):
    s = situations("pair", "reference_point")
    terms, (_, lam) = s.terms(), solution(s.terms())
    d = np.ones(terms.Phi.size)
    d[2], d[5] = -1, 2
    work = s.check(Phi_q=d[:, None] * terms.Phi_q, Phi=d * terms.Phi, gamma=d * terms.gamma, lam=lam / d)
    assert work.right and len(work.notes) == 2
    assert "B.x" in work.notes[0] and "rail.turn by 2" in work.notes[1]
    # gamma does not follow: then the row of Phi_q is wrong
    work = s.check(
        Phi_q=np.diag([1, 1, -1, 1, 1, 1, 1, 1, 1]) @ terms.Phi_q, Phi=terms.Phi, gamma=terms.gamma
    )
    assert [(m.quantity, m.kind, m.joint) for m in work.mistakes] == [("Phi_q", "sign", "B")]
    # and alone it is not confirmed by anything
    assert not s.check(Phi_q=np.diag([1, 1, -1, 1, 1, 1, 1, 1, 1]) @ terms.Phi_q).right


def test_orders_of_rows_and_of_coordinates_are_conventions_if_all_arrays_follow(situations):
    s = situations("pair", "reference_point")
    terms, order = s.terms(), [4, 5, 0, 1, 2, 3, 6, 7, 8]
    work = s.check(Phi_q=terms.Phi_q[order], gamma=terms.gamma[order])
    assert work.right and "another order" in work.notes[0]
    by_kind = [3 * b + k for k in range(3) for b in range(4)]
    work = s.check(Phi_q=terms.Phi_q[:, by_kind], M=terms.M[np.ix_(by_kind, by_kind)], QA=terms.QA[by_kind])
    assert work.right and "a.x, b.x, c.x" in work.notes[0]


def test_multipliers_of_the_other_sign_are_a_convention(situations):
    s = situations("pair", "reference_point")
    work = s.check(lam=-solution(s.terms())[1])
    assert work.right and "opposite sign" in work.notes[0]


def test_forces_that_differ_inside_rigid_bodies_are_the_same(situations):
    """C_P^T F of the workshop puts a force on two points; any J^T mu of the rigid bodies may be added."""
    s = situations("slider_crank", "natural")
    terms = s.terms()
    own = terms.Phi_q[: len(s.formulated.family.own_rows)]
    work = s.check(QA=terms.QA + own.T @ np.array([3.0, -2.0, 1.0]))
    assert work.right and "changes no motion" in work.notes[0]
    assert not s.check(QA=terms.QA + 1.0).right


def test_vectors_may_be_columns_and_masses_a_diagonal(situations):
    s = situations("pair", "reference_point")
    terms = s.terms()
    work = s.check(QA=terms.QA[:, None], gamma=terms.gamma[None], M=np.diag(terms.M))
    assert work.right and "diagonal" in work.notes[0]


# Shapes -----------------------------------------------------------------------------------------------


def test_a_wrong_shape_names_what_is_expected_and_what_is_missing(situations):
    s = situations("slider_crank", "reference_point")
    terms = s.terms()
    (mistake,) = s.check(Phi_q=terms.Phi_q[:-1]).mistakes
    assert (
        mistake.kind == "shape" and "9 x 9" in mistake.remark and "Missing: row motor.drive" in mistake.remark
    )
    (mistake,) = s.check(gamma=terms.gamma[2:]).mistakes
    assert mistake.kind == "shape" and "9; the entries are O.x" in mistake.remark
    (mistake,) = (
        situations("pair", "reference_point")
        .check(Phi_q=situations("pair", "reference_point").terms().Phi_q.T)
        .mistakes
    )
    assert mistake.kind == "transposed"
    (mistake,) = s.check(M=[["x"]]).mistakes
    assert "not an array of numbers" in mistake.remark
    wrong = terms.Phi_q.copy()
    wrong[0, 0] = np.nan
    (mistake,) = s.check(Phi_q=wrong).mistakes
    assert mistake.kind == "not a number" and mistake.entry == (0, 0)


def test_nothing_to_check_and_misspellings_are_answered(situations):
    s = situations("pair", "reference_point")
    with pytest.raises(se.ModelError, match="nothing to check"):
        se.check(s.model)
    with pytest.raises(se.OptionError, match="Did you mean 'Phi_q'"):
        se.check(s.model, Phi_Q=np.eye(3))
    with pytest.raises(se.ModelError, match="12 numbers"):
        se.check(s.model, M=np.eye(12), q=[1, 2])


# Entries ----------------------------------------------------------------------------------------------


@settings(max_examples=40, deadline=None)
@given(st.data())
@pytest.mark.slow
def test_one_changed_entry_is_found_at_its_place(situations, data):
    model = data.draw(st.sampled_from(["pair", "slider_crank"]))
    s = situations(model, data.draw(st.sampled_from(["reference_point", "natural", "mixed", "relative"])))
    name = data.draw(st.sampled_from(["M", "QA", "Phi", "Phi_q", "nu", "gamma"]))
    array = np.array(getattr(s.terms(), name))
    assume(array.size)
    place = tuple(data.draw(st.integers(0, size - 1)) for size in array.shape)
    size = max(abs(array[place]), 1.0)
    array[place] += data.draw(st.floats(0.01, 100)) * size * data.draw(st.sampled_from([-1, 1]))
    work = s.check(**{name: array})
    if work.notes:  # a force along the gradient of a rigid body's length
        assert name == "QA" and "changes no motion" in work.notes[0]
        return
    (mistake,) = work.mistakes
    assert mistake.entry == place and mistake.entries == (place,)
    names = s.formulated.row_names if name in ("Phi", "Phi_q", "nu", "gamma") else s.formulated.names
    assert mistake.where.startswith(f"{name}[{names[place[0]]}")
    owner = names[place[0]].rpartition(".")[0]
    assert (
        mistake.joint if name in ("Phi", "Phi_q", "nu", "gamma") else mistake.body or owner
    ) == owner or name == "M"


# Reactions and motions --------------------------------------------------------------------------------


def test_reactions_may_be_those_on_either_body():
    m = se.load("slider_crank")
    r = se.dynamics(m, t_end=0.01)
    at = {name: [r[f"{name}.fx"][0], r[f"{name}.fy"][0]] for name in "OAB"}
    assert se.check(m, reactions=at).right
    work = se.check(m, reactions={**at, "A": [-at["A"][0], -at["A"][1]]})
    assert work.right and "A is that on the other body" in work.notes[0]
    work = se.check(m, reactions={**at, "B.fy": -at["B"][1]})
    assert [(each.kind, each.joint, each.where) for each in work.mistakes] == [
        ("sign", "B", "reactions[B.fy]")
    ]
    other = se.check(m, reactions={"A on crank": r.reaction("A", on="crank")[0][0]})
    assert other.right
    with pytest.raises(se.ModelError, match="there is no joint or force 'Z'"):
        se.check(m, reactions={"Z": [1, 2]})


def test_reactions_without_a_weight_say_so(situations):
    s = situations("pendulum", "reference_point")
    rest = se.check(s.model, reactions={"pin": [0, 0]})
    assert not rest.right
    light = s.model.copy()
    del light.elements["push"]
    without = se.dynamics(light, t_end=0.001)
    work = se.check(s.model, reactions={"pin": [without["pin.fx"][0], without["pin.fy"][0]]})
    assert [(each.kind, each.force) for each in work.mistakes] == [("missing", "push")]


@pytest.fixture(scope="module")
def swing():
    m = pendulum()
    return m, se.dynamics(m, t_end=0.5, step=0.01, rtol=1e-9)


MOTIONS = [
    ("sign", lambda r: -r["bar.y"], "bar.y", 0),
    ("angle unit", lambda r: np.rad2deg(r["bar.phi"]), "bar.phi", 0),
    ("factor", lambda r: 1000 * r["bar.x"], "bar.x", 0),
    ("shifted", lambda r: np.concatenate([r["bar.x"][:1], r["bar.x"][:-1]]), "bar.x", None),
    ("offset", lambda r: r["bar.phi"] + pi / 2, "bar.phi", 0),
    ("column order", lambda r: r["bar.x"], "bar.y", 0),
    ("missing", lambda r: 0 * r["bar.phid"], "bar.phid", 0),
    ("value", lambda r: r["bar.phi"] + 0.5 * np.maximum(r.t - 0.205, 0) ** 2, "bar.phi", None),
    ("sign", lambda r: -r["pin.fy"], "pin.fy", 0),
]


@pytest.mark.parametrize(("kind", "change", "channel", "first"), MOTIONS)
def test_a_motion_says_when_and_how_it_departs(kind, change, channel, first, swing):
    m, r = swing
    work = se.check(m, solution={"t": r.t, channel: change(r), "bar.xd": r["bar.xd"]}, reference=r)
    (mistake,) = work.mistakes
    assert (mistake.quantity, mistake.kind) == (channel, kind)
    assert first is None or mistake.entry == (first,)
    if kind == "value":
        assert 0.21 < r.t[mistake.entry[0]] < 0.4 and f"t = {r.t[mistake.entry[0]]:.4g} s" in mistake.where


def test_motions_come_from_files_frames_and_results(swing, tmp_path):
    m, r = swing
    r.to_csv(tmp_path / "motion.csv", ["bar", "pin"])
    assert se.check(m, solution=tmp_path / "motion.csv").right
    assert se.check(m, solution=r.to_frame(["bar.x", "pin.fx"])).right
    assert se.check(m, solution=r, reference=r).right
    r.in_units(length="mm", angle="deg").to_csv(tmp_path / "other.csv", ["bar.x", "bar.phi"])
    assert se.check(m, solution=tmp_path / "other.csv", reference=r).right
    (tmp_path / "german.csv").write_text("t;bar.x\n0;0,6\n0,01;0,6\n")
    assert se.check(m, solution=tmp_path / "german.csv", reference=r, rtol=0.1).right
    for text, answer in (
        ("t,bar.z\n0,1\n1,2\n", "column bar.z"),
        ("x,y\n0,1\n1,2\n", "no column t"),
        ("t,bar.x\n0,1\n0,2\n", "each larger"),
        ("t,bar.x [furlong]\n0,1\n1,2\n", "furlong"),
        ("t,bar.x\n0,one\n", "line 2: 'one'"),
        ("1,2\n", "names the columns"),
    ):
        (tmp_path / "bad.csv").write_text(text)
        with pytest.raises(se.ModelError, match=answer):
            se.check(m, solution=tmp_path / "bad.csv", reference=r)


def test_the_picture_marks_wrong_entries(situations):
    s = situations("pair", "reference_point")
    terms = s.terms()
    wrong = terms.Phi_q.copy()
    wrong[2, 5] *= -1
    ax = s.check(Phi_q=wrong, M=terms.M).plot()
    assert ax.get_title() == "Phi_q: 1 of 108 entries wrong"
    assert any("[" in text.get_text() for text in ax.texts)
