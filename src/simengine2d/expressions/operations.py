"""Operations: every function and operator of expressions with its first and second derivatives, written once.

The kernels here serve expressions in compiled code (`tape_kernels.py`), plain evaluation (`evaluate.py`) and users'
Python functions (`dual.py`). If an operation has no finite real value, the result is nan; the domains are tested
explicitly, so that compiled code and plain Python agree and neither raises.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..numerics.kernel import kernel

# Operation codes. The order gives the number of operands: one below ADD and above SELECT, else two.
NUMBER = 0
NEGATE, NOT, ABS, SIGN, SQRT, EXP, LOG, LOG10 = 2, 3, 4, 5, 6, 7, 8, 9
SIN, COS, TAN, ASIN, ACOS, ATAN, SINH, COSH, TANH = 10, 11, 12, 13, 14, 15, 16, 17, 18
ADD, SUBTRACT, MULTIPLY, DIVIDE, POWER, ATAN2, HYPOT, MOD, MIN, MAX = 20, 21, 22, 23, 24, 25, 26, 27, 28, 29
LESS, LESS_EQUAL, GREATER, GREATER_EQUAL, EQUAL, UNEQUAL, AND, OR = 30, 31, 32, 33, 34, 35, 36, 37
FIXED_POWER = 38  # a^b with a number b
SELECT = 40
RAMP, STEP, STEP5, POLY4567, CYCLOIDAL, HARMONIC = 50, 51, 52, 53, 54, 55

ONE_ARGUMENT = {
    "sin": SIN, "cos": COS, "tan": TAN, "asin": ASIN, "acos": ACOS, "atan": ATAN,
    "sinh": SINH, "cosh": COSH, "tanh": TANH, "exp": EXP, "log": LOG, "log10": LOG10,
    "sqrt": SQRT, "abs": ABS, "sign": SIGN,
}  # fmt: skip
NUMPY_NAMES = {"asin": "arcsin", "acos": "arccos", "atan": "arctan"}
TWO_ARGUMENTS = {"atan2": ATAN2, "hypot": HYPOT, "mod": MOD}
MANY_ARGUMENTS = {"min": MIN, "max": MAX}
RISES = {
    "ramp": RAMP, "step": STEP, "step5": STEP5,
    "poly4567": POLY4567, "cycloidal": CYCLOIDAL, "harmonic": HARMONIC,
}  # fmt: skip
PREFIX = {"-": NEGATE, "not": NOT}
INFIX = {
    "+": ADD, "-": SUBTRACT, "*": MULTIPLY, "/": DIVIDE, "^": POWER, "<": LESS, "<=": LESS_EQUAL,
    ">": GREATER, ">=": GREATER_EQUAL, "==": EQUAL, "!=": UNEQUAL, "and": AND, "or": OR,
}  # fmt: skip

NAN = math.nan
LARGEST_EXPONENT = 709.78  # exp of more overflows
LN10 = math.log(10.0)
TAU = 2.0 * math.pi


@kernel
def derivatives(code, u):
    """g(u), g'(u), g''(u) of the operation `code` of one argument."""
    if not math.isfinite(u):
        return NAN, NAN, NAN
    if code == NEGATE:
        return -u, -1.0, 0.0
    if code == NOT:
        return (1.0 if u == 0.0 else 0.0), 0.0, 0.0
    if code == ABS:
        return abs(u), (1.0 if u >= 0.0 else -1.0), 0.0
    if code == SIGN:
        return (1.0 if u > 0.0 else -1.0 if u < 0.0 else 0.0), 0.0, 0.0
    if code <= LOG10:
        return growth_derivatives(code, u)
    if code <= TAN:
        return circular_derivatives(code, u)
    if code <= ATAN:
        return inverse_derivatives(code, u)
    return hyperbolic_derivatives(code, u)


@kernel
def growth_derivatives(code, u):
    """sqrt, exp, log, log10."""
    if code == EXP:
        g = math.exp(u) if u <= LARGEST_EXPONENT else NAN
        return g, g, g
    if u < 0.0 or (u == 0.0 and code != SQRT):
        return NAN, NAN, NAN
    if code == SQRT:
        g = math.sqrt(u)
        if g == 0.0:
            return 0.0, NAN, NAN
        return g, 0.5 / g, -0.25 / (u * g)
    if code == LOG:
        return math.log(u), 1.0 / u, -1.0 / u / u
    return math.log10(u), 1.0 / (u * LN10), -1.0 / u / (u * LN10)


@kernel
def circular_derivatives(code, u):
    """sin, cos, tan."""
    s, c = math.sin(u), math.cos(u)
    if code == SIN:
        return s, c, -s
    if code == COS:
        return c, -s, -c
    g = s / c  # no float is a pole of tan
    return g, 1.0 + g * g, 2.0 * g * (1.0 + g * g)


@kernel
def inverse_derivatives(code, u):
    """asin, acos, atan."""
    if code == ATAN:
        g1 = 1.0 / (1.0 + u * u)
        return math.atan(u), g1, -2.0 * u * g1 * g1
    w = (1.0 - u) * (1.0 + u)
    if w < 0.0:
        return NAN, NAN, NAN
    sign = 1.0 if code == ASIN else -1.0
    g = math.asin(u) if code == ASIN else math.acos(u)
    if w == 0.0:
        return g, NAN, NAN
    g1 = sign / math.sqrt(w)
    return g, g1, g1 * u / w


@kernel
def hyperbolic_derivatives(code, u):
    """sinh, cosh, tanh."""
    if abs(u) > LARGEST_EXPONENT:
        if code == TANH:
            return (1.0 if u > 0.0 else -1.0), 0.0, 0.0
        return NAN, NAN, NAN
    s, c = math.sinh(u), math.cosh(u)
    if code == SINH:
        return s, c, s
    if code == COSH:
        return c, s, c
    g, g1 = math.tanh(u), 1.0 / c / c
    return g, g1, -2.0 * g * g1


@kernel
def rise_derivatives(code, s):
    """The motion from 0 at s = 0 to 1 at s = 1 and its derivatives; at the ends those from the right."""
    if s < 0.0:
        return 0.0, 0.0, 0.0
    if s >= 1.0:
        return 1.0, 0.0, 0.0
    c = 1.0 - s
    if code == RAMP:
        return s, 1.0, 0.0
    if code == STEP:  # 3 s^2 - 2 s^3
        return s * s * (3.0 - 2.0 * s), 6.0 * s * c, 6.0 - 12.0 * s
    if code == STEP5:  # 10 s^3 - 15 s^4 + 6 s^5
        g = s * s * s * (10.0 + s * (-15.0 + s * 6.0))
        return g, 30.0 * s * s * c * c, 60.0 * s * c * (1.0 - 2.0 * s)
    if code == POLY4567:  # 35 s^4 - 84 s^5 + 70 s^6 - 20 s^7
        w = s * c
        g = s * s * s * s * (35.0 + s * (-84.0 + s * (70.0 - s * 20.0)))
        return g, 140.0 * w * w * w, 420.0 * w * w * (1.0 - 2.0 * s)
    if code == CYCLOIDAL:  # s - sin(2 pi s) / (2 pi)
        return s - math.sin(TAU * s) / TAU, 1.0 - math.cos(TAU * s), TAU * math.sin(TAU * s)
    if code == HARMONIC:  # (1 - cos(pi s)) / 2
        w = math.pi * s
        return 0.5 - 0.5 * math.cos(w), 0.25 * TAU * math.sin(w), 0.125 * TAU * TAU * math.cos(w)
    return NAN, NAN, NAN  # nan in s


@kernel
def power_term(c, a, p):
    """c a^p, where c = 0 wins over the pole at a = 0."""
    if c == 0.0:
        return 0.0
    if a == 0.0:
        return c if p == 0.0 else 0.0 if p > 0.0 else NAN
    if a < 0.0 and p % 1.0 != 0.0:
        return NAN
    if p * math.log(abs(a)) > LARGEST_EXPONENT:
        return NAN
    return c * a**p


@kernel
def power(code, a, b):
    """a^b: by the chain rule for a, and as exp(b log(a)) for b, which needs a > 0."""
    if not (math.isfinite(a) and math.isfinite(b)):
        return NAN, NAN, NAN, NAN, NAN, NAN
    h, h_a, h_aa = power_term(1.0, a, b), power_term(b, a, b - 1.0), power_term(b * (b - 1.0), a, b - 2.0)
    if code == FIXED_POWER:
        return h, h_a, 0.0, h_aa, 0.0, 0.0
    if a <= 0.0:
        return h, h_a, NAN, h_aa, NAN, NAN
    logarithm = math.log(a)
    return h, h_a, h * logarithm, h_aa, h / a * (1.0 + b * logarithm), h * logarithm * logarithm


@kernel
def atan2(y, x):
    """With r^2 = x^2 + y^2: h_y = x / r^2, h_x = -y / r^2."""
    rr = x * x + y * y
    if not math.isfinite(rr):
        return NAN, NAN, NAN, NAN, NAN, NAN
    if rr == 0.0:
        return 0.0, NAN, NAN, NAN, NAN, NAN
    h_y, h_x = x / rr, -y / rr
    return math.atan2(y, x), h_y, h_x, 2.0 * h_x * h_y, h_x * h_x - h_y * h_y, -2.0 * h_x * h_y


@kernel
def hypot(a, b):
    """From h^2 = a^2 + b^2: h h_a = a, h h_aa = 1 - h_a^2 = h_b^2."""
    h = math.hypot(a, b)
    if h == 0.0:
        return 0.0, NAN, NAN, NAN, NAN, NAN
    h_a, h_b = a / h, b / h
    return h, h_a, h_b, h_b * h_b / h, -h_a * h_b / h, h_a * h_a / h


@kernel
def mod(a, b):
    """a - n b with the sign of b, as in MATLAB and Python; n is constant between the jumps."""
    if b == 0.0 or not (math.isfinite(a) and math.isfinite(b)):
        return NAN, NAN, NAN, NAN, NAN, NAN
    h = a % b
    return h, 1.0, -(a - h) / b, 0.0, 0.0, 0.0


@kernel
def compare(code, a, b):
    """1 if the comparison or connective holds, 0 if not; nan if it is undecided."""
    if code == AND and a == 0.0:  # short cut: `t > 0 and log(t) > 1` is false, not nan, at t = 0
        return 0.0
    if code == OR and a != 0.0 and not math.isnan(a):
        return 1.0
    if math.isnan(a) or math.isnan(b):
        return NAN
    if code == LESS:
        holds = a < b
    elif code == LESS_EQUAL:
        holds = a <= b
    elif code == GREATER:
        holds = a > b
    elif code == GREATER_EQUAL:
        holds = a >= b
    elif code == EQUAL:
        holds = a == b
    elif code == UNEQUAL:
        holds = a != b
    else:  # after the short cuts, b alone decides
        holds = b != 0.0
    return 1.0 if holds else 0.0


@kernel
def partials(code, a, b):
    """h(a, b), h_a, h_b, h_aa, h_ab, h_bb of the operation `code` of two arguments."""
    if LESS <= code <= OR:
        return compare(code, a, b), 0.0, 0.0, 0.0, 0.0, 0.0
    if code == ADD:
        return a + b, 1.0, 1.0, 0.0, 0.0, 0.0
    if code == SUBTRACT:
        return a - b, 1.0, -1.0, 0.0, 0.0, 0.0
    if code == MULTIPLY:
        return a * b, b, a, 0.0, 1.0, 0.0
    if code == DIVIDE:
        if b == 0.0:
            return NAN, NAN, NAN, NAN, NAN, NAN
        h, h_a = a / b, 1.0 / b
        return h, h_a, -h / b, 0.0, -h_a / b, 2.0 * h / b / b
    if code in (POWER, FIXED_POWER):
        return power(code, a, b)
    if code == ATAN2:
        return atan2(a, b)
    if code == HYPOT:
        return hypot(a, b)
    if code == MOD:
        return mod(a, b)
    # MIN, MAX
    if math.isnan(a) or math.isnan(b):
        return NAN, NAN, NAN, NAN, NAN, NAN
    if a == b or (a < b) == (code == MIN):
        return a, 1.0, 0.0, 0.0, 0.0, 0.0
    return b, 0.0, 1.0, 0.0, 0.0, 0.0


# Outside kernels --------------------------------------------------------------------------------------

Jet = tuple[float, float, float]
"""A value with its first and second derivative along a direction."""


def value(code: int, *arguments: float) -> float:
    """One operation of numbers; nan or infinite where it has no value."""
    # these are the same for Python's numbers, and raise nothing
    if code in (ADD, SUBTRACT, MULTIPLY) or (code == DIVIDE and arguments[1] != 0.0):
        return float(partials(code, *arguments)[0])
    if code in (POWER, FIXED_POWER) and all(map(math.isfinite, arguments)):
        return float(power_term(1.0, *map(float, arguments)))
    if len(arguments) > 2:
        return apply(code, *((argument, 0.0, 0.0) for argument in arguments))[0]
    # NumPy's numbers do not raise if they have no value
    parts = [np.float64(argument) for argument in arguments]
    with np.errstate(all="ignore"):
        if len(parts) == 1:
            return float(derivatives(code, *parts)[0])
        return float(partials(FIXED_POWER if code == POWER else code, *parts)[0])


def apply(code: int, *arguments: Jet) -> Jet:
    """The jet of one operation of jets.

    h' = h_a a' + h_b b',      h'' = h_a a'' + h_b b'' + h_aa a'^2 + 2 h_ab a' b' + h_bb b'^2
    """
    # NumPy's numbers do not raise if they have no value; its warnings are suppressed
    parts = np.array(arguments, dtype=np.float64)
    with np.errstate(all="ignore"):
        if len(parts) == 5:
            jet = _rise(code, *parts)
        elif len(parts) == 1:
            jet = _chain(derivatives(code, parts[0, 0]), parts[0])
        else:
            jet = _combine(code, *parts)
    value, first, second = map(float, jet)
    return value, first, second


def _chain(g: Any, u: Any) -> Any:
    """g(u), with g and its derivatives known at u."""
    return g[0], g[1] * u[1], g[2] * u[1] * u[1] + g[1] * u[2]


def _combine(code: int, a: Any, b: Any) -> Any:
    if code == POWER and b[1] == b[2] == 0.0:
        code = FIXED_POWER
    h, h_a, h_b, h_aa, h_ab, h_bb = partials(code, a[0], b[0])
    curvature = h_aa * a[1] * a[1] + 2.0 * h_ab * a[1] * b[1] + h_bb * b[1] * b[1]
    return h, h_a * a[1] + h_b * b[1], h_a * a[2] + h_b * b[2] + curvature


def _rise(code: int, x: Any, a: Any, h: Any, b: Any, k: Any) -> Any:
    """h + (k - h) g(s) with s = (x - a) / (b - a)."""
    if not a[0] < b[0]:
        return NAN, NAN, NAN
    s = _combine(DIVIDE, x - a, b - a)
    return h + _combine(MULTIPLY, k - h, _chain(rise_derivatives(code, s[0]), s))
