"""Proof of the calculus: value, gradient and second-order terms run on SymPy symbols and agree exactly."""

from __future__ import annotations

from types import FunctionType, SimpleNamespace

import numpy as np
import pytest
import sympy as sp

import simengine2d as se
from simengine2d.errors import ModelError
from simengine2d.model import measure as measures
from simengine2d.model.frame import Frame
from simengine2d.model.measure import KINDS
from simengine2d.model.measure_text import parse_measure
from simengine2d.system import frames as moving_frames

KIND_NAMES = list(KINDS)


def on_symbols(module, *names, **others):
    """The named kernels of a module as plain Python functions whose roots and angles are SymPy's."""
    namespace = {**vars(module), "sqrt": sp.sqrt, "atan2": sp.atan2, "cos": sp.cos, "sin": sp.sin, **others}
    for name in names:
        function = getattr(module, name)
        code = getattr(function, "py_func", function).__code__  # what numba compiled
        namespace[name] = FunctionType(code, namespace, name)
    return [namespace[name] for name in names]


value, gradient, hessian, second_order, third_order = on_symbols(
    measures, "value", "gradient", "hessian", "second_order", "third_order"
)
place_frames, move_frames, term_value, term_gradient, term_second_order, _, term_hessian = on_symbols(
    moving_frames,
    *("place_frames", "move_frames", "term_value", "term_gradient", "term_second_order"),
    *("term_curvature", "term_hessian"),
    value=value,
    gradient=gradient,
    hessian=hessian,
    second_order=second_order,
)

dx, dy, phi_a, phi_b = four = sp.symbols("dx dy phi_a phi_b", real=True)
axes = (sp.cos(phi_a), sp.sin(phi_a), sp.cos(phi_b), sp.sin(phi_b))
rates = sp.symbols("dxd dyd phid_a phid_b", real=True)


def is_zero(expression) -> bool:
    """Exactly zero; the 0.5 of the source is read as one half."""
    return sp.simplify(sp.nsimplify(expression, rational=True)) == 0


@pytest.mark.parametrize("kind", KIND_NAMES)
def test_gradient_is_the_derivative_of_the_value(kind):
    written = gradient(KINDS[kind], dx, dy, *axes)
    s = value(KINDS[kind], dx, dy, *axes, phi_a, phi_b)
    assert all(is_zero(sp.diff(s, v) - w) for v, w in zip(four, written, strict=True))


@pytest.mark.parametrize("kind", KIND_NAMES)
def test_hessian_is_the_derivative_of_the_gradient(kind):
    g = gradient(KINDS[kind], dx, dy, *axes)
    xx, xy, yy, xa, ya, aa, ab, bb = hessian(KINDS[kind], dx, dy, *axes)
    written = sp.Matrix([[xx, xy, xa, 0], [xy, yy, ya, 0], [xa, ya, aa, ab], [0, 0, ab, bb]])
    derived = sp.Matrix(4, 4, lambda i, j: sp.diff(g[i], four[j]))
    assert all(is_zero(entry) for entry in derived - written)


def test_second_order_is_the_quadratic_form_of_the_hessian():
    xx, xy, yy, xa, ya, aa, ab, bb = h = sp.symbols("xx xy yy xa ya aa ab bb")
    H = sp.Matrix([[xx, xy, xa, 0], [xy, yy, ya, 0], [xa, ya, aa, ab], [0, 0, ab, bb]])
    w = sp.Matrix(rates)
    assert is_zero(second_order(h, *rates) - (w.T * H * w)[0])


@pytest.mark.parametrize("kind", KIND_NAMES)
def test_third_order_is_the_derivative_of_that_form(kind):
    form = second_order(hessian(KINDS[kind], dx, dy, *axes), *rates)
    written = third_order(KINDS[kind], dx, dy, *axes, *rates)
    assert all(is_zero(sp.diff(form, v) - w) for v, w in zip(four, written, strict=True))


# Reference-point coordinates: two bodies that both move and turn --------------------------------------

q = sp.symbols("x_1 y_1 phi_1 x_2 y_2 phi_2", real=True)
qd = sp.symbols("xd_1 yd_1 phid_1 xd_2 yd_2 phid_2", real=True)
arms = sp.symbols("s_1 s_2 t_1 t_2 turn_1 turn_2", real=True)


def symbolic_frames():
    """One frame in each of two bodies, placed and moved by the kernels themselves."""
    s1, s2, t1, t2, turn1, turn2 = arms
    S = SimpleNamespace(
        mass=np.zeros(2),
        frame_body=np.array([0, 1]),
        frame_x=(s1, s2),
        frame_y=(t1, t2),
        frame_angle=(turn1, turn2),
        frame_cos=(sp.cos(turn1), sp.cos(turn2)),
        frame_sin=(sp.sin(turn1), sp.sin(turn2)),
    )
    F = np.zeros((2, moving_frames.FRAME_STATE), dtype=object)
    place_frames(S, q, F)
    move_frames(S, qd, F)
    return F


@pytest.fixture(scope="module")
def frames():
    return symbolic_frames()


def test_a_frame_stands_at_r_plus_A_s(frames):
    for i, (x, y, phi) in enumerate((q[:3], q[3:])):
        s, t, turn = arms[i], arms[i + 2], arms[i + 4]
        r_P = sp.Matrix([x, y]) + sp.rot_axis3(-phi)[:2, :2] * sp.Matrix([s, t])
        expected = [*r_P, sp.cos(phi + turn), sp.sin(phi + turn), phi + turn]
        assert all(is_zero(a - b) for a, b in zip(expected, frames[i, :5], strict=True))
        velocity = [sum(sp.diff(c, v) * r for v, r in zip(q, qd, strict=True)) for c in r_P]
        written = frames[i, [moving_frames.VX, moving_frames.VY]]
        assert all(is_zero(a - b) for a, b in zip(velocity, written, strict=True))


def is_zero_everywhere(expression, frames) -> bool:
    """Zero for all poses: d becomes two symbols, cosines and sines are bound by c^2 + s^2 = 1."""
    gap = {q[3 + k]: q[3 + k] + four[k] - (frames[1, k] - frames[0, k]) for k in range(2)}
    angles = [q[2], q[5], arms[4], arms[5]]
    c, s = sp.symbols("c0:4", real=True), sp.symbols("s0:4", real=True)
    names = {f(a): v for f, vs in ((sp.cos, c), (sp.sin, s)) for a, v in zip(angles, vs, strict=True)}
    expression = sp.nsimplify(expression, rational=True).xreplace(gap).xreplace(names)
    numerator = sp.fraction(sp.together(expression))[0]
    return sp.expand(numerator.xreplace({v: sp.sqrt(1 - w**2) for v, w in zip(c, s, strict=True)})) == 0


@pytest.mark.slow
@pytest.mark.parametrize("kind", KIND_NAMES)
def test_term_gradient_is_the_derivative_by_the_coordinates(kind, frames):
    s = term_value(KINDS[kind], frames, 0, 1)
    written = term_gradient(KINDS[kind], frames, 0, 1)
    assert all(is_zero_everywhere(sp.diff(s, v) - w, frames) for v, w in zip(q, written, strict=True))


@pytest.mark.slow
@pytest.mark.parametrize("kind", KIND_NAMES)
def test_term_hessian_is_the_derivative_of_the_term_gradient(kind, frames):
    H = np.zeros((6, 6), dtype=object)
    term_hessian(KINDS[kind], frames, 0, 1, H)
    derived = sp.Matrix(term_gradient(KINDS[kind], frames, 0, 1)).jacobian(q)
    pose = {symbol: sp.Rational(3 * k + 2, 7 + k) for k, symbol in enumerate((*q, *arms))}
    difference = np.array((derived - sp.Matrix(H)).subs(pose).evalf(), dtype=float)
    assert np.abs(difference).max() < 1e-12  # rounding of numbers of the size of one


@pytest.mark.slow
@pytest.mark.parametrize("kind", KIND_NAMES)
def test_term_second_order_is_the_derivative_of_the_rate(kind, frames):
    g = term_gradient(KINDS[kind], frames, 0, 1)
    rate = sum(w * r for w, r in zip(g, qd, strict=True))
    derived = sum(sp.diff(rate, v) * r for v, r in zip(q, qd, strict=True))
    assert is_zero_everywhere(derived - term_second_order(KINDS[kind], frames, 0, 1), frames)


# Measures as text -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "angle(ground, crank)",
        "2.0*along(ground.G, slider) + -0.5*angle(a, b.P)",
        "distance(crank.at(0.5, 0.0), 'Long Rod')",
        "x(at('Long Rod', 1.0, 2.0, 0.3), ground)",
    ],
)
def test_text_of_a_measure_reads_back_as_itself(text):
    measure = parse_measure(text, {})
    assert parse_measure(measure.text, {}) == measure


def test_measures_add_and_scale():
    a, b = Frame("a"), Frame("b")
    total = 2 * se.x(a, b) - se.y(a, b) / 4
    assert [(t.weight, t.kind) for t in total.terms] == [(2.0, "x"), (-0.25, "y")]
    assert parse_measure("2*x(a, b) - y(a, b)/4", {}) == total


def test_weights_may_be_expressions_of_parameters():
    measure = parse_measure("(R + 1)*angle(a, b)", {"R": 2.0})
    assert measure.terms[0].weight == 3.0


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("2*pi", "does not name a measure"),
        ("x(a, b)*y(a, b)", "not a weighted sum of measures"),
        ("sin(angle(a, b))", "not a weighted sum of measures"),
        ("angle(a, b) + 1", "not a weighted sum of measures"),
        ("angle(a, b)/0", "not a weighted sum of measures"),
        ("1/angle(a, b)", "not a weighted sum of measures"),
        ("angle(a)", "takes two frames, 1 were given"),
        ("angle(a, 3)", "a frame is written"),
        ("angle(a, b.at(1))", "two coordinates"),
        ("angle(a, b", "angle(a, b"),
    ],
)
def test_text_that_is_no_measure_is_refused_in_words(text, sentence):
    with pytest.raises(ModelError) as caught:
        parse_measure(text, {})
    assert sentence in str(caught.value)


def test_only_directions_have_a_period():
    assert parse_measure("angle(a, b)", {}).period == 0.0
    assert parse_measure("3*direction(a, b)", {}).period == pytest.approx(6 * np.pi)
