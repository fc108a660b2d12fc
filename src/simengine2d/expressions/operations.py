"""Jets: a value with its first and second derivative, and every operation on them, written once.

With u, u', u'' the jet of the argument, h = g(u) has

    h' = g'(u) u'          h'' = g''(u) u'^2 + g'(u) u''

The kernels here serve expressions in compiled code (`programs.py`), plain evaluation (`evaluate.py`) and users'
Python functions (`dual.py`). Where an operation has no finite real value the jet is nan; the
domains are tested explicitly, so that compiled code and plain Python agree and neither raises.
"""

from __future__ import annotations

import math

import numpy as np

from ..numerics.kernel import kernel

# Operation codes. The order matters: `operate` tells the number of arguments by comparison.
NUMBER, VARIABLE = 0, 1
NEGATE, NOT, ABS, SIGN, SQRT, EXP, LOG, LOG10 = 2, 3, 4, 5, 6, 7, 8, 9
SIN, COS, TAN, ASIN, ACOS, ATAN, SINH, COSH, TANH = 10, 11, 12, 13, 14, 15, 16, 17, 18
ADD, SUBTRACT, MULTIPLY, DIVIDE, POWER, ATAN2, HYPOT, MOD, MIN, MAX = 20, 21, 22, 23, 24, 25, 26, 27, 28, 29
LESS, LESS_EQUAL, GREATER, GREATER_EQUAL, EQUAL, UNEQUAL, AND, OR = 30, 31, 32, 33, 34, 35, 36, 37
SELECT = 40
RAMP, STEP, STEP5, POLY4567, CYCLOIDAL, HARMONIC = 50, 51, 52, 53, 54, 55

ONE_ARGUMENT = {
    "sin": SIN, "cos": COS, "tan": TAN, "asin": ASIN, "acos": ACOS, "atan": ATAN,
    "sinh": SINH, "cosh": COSH, "tanh": TANH, "exp": EXP, "log": LOG, "log10": LOG10,
    "sqrt": SQRT, "abs": ABS, "sign": SIGN,
}  # fmt: skip
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
def multiply(a, a1, a2, b, b1, b2):
    """(a b)'' = a'' b + 2 a' b' + a b''"""
    return a * b, a1 * b + a * b1, a2 * b + 2.0 * a1 * b1 + a * b2


@kernel
def divide(a, a1, a2, b, b1, b2):
    """From h b = a: h' = (a' - h b') / b, h'' = (a'' - 2 h' b' - h b'') / b."""
    if b == 0.0:
        return NAN, NAN, NAN
    h = a / b
    h1 = (a1 - h * b1) / b
    return h, h1, (a2 - 2.0 * h1 * b1 - h * b2) / b


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
def power(a, a1, a2, b, b1, b2):
    """a^b by the chain rule where the exponent is constant, else as exp(w) with w = b log(a)."""
    if not (math.isfinite(a) and math.isfinite(b)):
        return NAN, NAN, NAN
    h = power_term(1.0, a, b)
    if b1 == 0.0 and b2 == 0.0:
        g1, g2 = power_term(b, a, b - 1.0), power_term(b * (b - 1.0), a, b - 2.0)
        return h, g1 * a1, g2 * a1 * a1 + g1 * a2
    if a <= 0.0:
        return h, NAN, NAN
    logarithm, rate = math.log(a), a1 / a
    w1 = b1 * logarithm + b * rate
    w2 = b2 * logarithm + 2.0 * b1 * rate + b * (a2 / a - rate * rate)
    return h, h * w1, h * (w2 + w1 * w1)


@kernel
def atan2(y, y1, y2, x, x1, x2):
    """With r^2 = x^2 + y^2: h' = (x y' - y x') / r^2."""
    rr = x * x + y * y
    if not math.isfinite(rr):
        return NAN, NAN, NAN
    if rr == 0.0:
        return 0.0, NAN, NAN
    h1 = (x * y1 - y * x1) / rr
    return math.atan2(y, x), h1, (x * y2 - y * x2 - 2.0 * h1 * (x * x1 + y * y1)) / rr


@kernel
def hypot(a, a1, a2, b, b1, b2):
    """From h^2 = a^2 + b^2: h h' = a a' + b b'."""
    h = math.hypot(a, b)
    if h == 0.0:
        return 0.0, NAN, NAN
    h1 = (a * a1 + b * b1) / h
    return h, h1, (a1 * a1 + a * a2 + b1 * b1 + b * b2 - h1 * h1) / h


@kernel
def mod(a, a1, a2, b, b1, b2):
    """a - n b with the sign of b, as in MATLAB and Python; n is constant between the jumps."""
    if b == 0.0 or not (math.isfinite(a) and math.isfinite(b)):
        return NAN, NAN, NAN
    h = a % b
    n = (a - h) / b
    return h, a1 - n * b1, a2 - n * b2


@kernel
def compare(code, a, b):
    """1 where the comparison or connective holds, 0 where not; nan where it cannot be told."""
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
def combine(code, a, a1, a2, b, b1, b2):
    """The jet of the operation `code` of two arguments."""
    if code == ADD:
        return a + b, a1 + b1, a2 + b2
    if code == SUBTRACT:
        return a - b, a1 - b1, a2 - b2
    if code == MULTIPLY:
        return multiply(a, a1, a2, b, b1, b2)
    if code == DIVIDE:
        return divide(a, a1, a2, b, b1, b2)
    if code == POWER:
        return power(a, a1, a2, b, b1, b2)
    if code == ATAN2:
        return atan2(a, a1, a2, b, b1, b2)
    if code == HYPOT:
        return hypot(a, a1, a2, b, b1, b2)
    if code == MOD:
        return mod(a, a1, a2, b, b1, b2)
    if code in (MIN, MAX):
        if math.isnan(a) or math.isnan(b):
            return NAN, NAN, NAN
        if a == b or (a < b) == (code == MIN):
            return a, a1, a2
        return b, b1, b2
    return compare(code, a, b), 0.0, 0.0


@kernel
def rise(code, z, i):
    """h + (k - h) g(s) with s = (x - a) / (b - a), of the jets x, a, h, b, k that begin at z[i]."""
    x, xd, xdd = z[i], z[i + 1], z[i + 2]
    a, ad, add = z[i + 3], z[i + 4], z[i + 5]
    h, hd, hdd = z[i + 6], z[i + 7], z[i + 8]
    b, bd, bdd = z[i + 9], z[i + 10], z[i + 11]
    k, kd, kdd = z[i + 12], z[i + 13], z[i + 14]
    if not a < b:
        return NAN, NAN, NAN
    s, sd, sdd = divide(x - a, xd - ad, xdd - add, b - a, bd - ad, bdd - add)
    g, g1, g2 = rise_derivatives(code, s)
    p, pd, pdd = multiply(k - h, kd - hd, kdd - hdd, g, g1 * sd, g2 * sd * sd + g1 * sdd)
    return h + p, hd + pd, hdd + pdd


@kernel
def operate(code, z, top):
    """Replace the arguments on top of the stack of jets by the result; return where it begins.

    `z` holds the jets one after the other, three numbers each; the topmost begins at z[top].
    """
    if code < ADD:
        i = top
        u1, u2 = z[i + 1], z[i + 2]
        h, g1, g2 = derivatives(code, z[i])
        h1, h2 = g1 * u1, g2 * u1 * u1 + g1 * u2
    elif code < SELECT:
        i = top - 3
        h, h1, h2 = combine(code, z[i], z[i + 1], z[i + 2], z[top], z[top + 1], z[top + 2])
    elif code == SELECT:  # otherwise, condition, value
        i, condition = top - 6, z[top - 3]
        chosen = top if condition != 0.0 else i
        h, h1, h2 = z[chosen], z[chosen + 1], z[chosen + 2]
        if math.isnan(condition):
            h, h1, h2 = NAN, NAN, NAN
    else:
        i = top - 12
        h, h1, h2 = rise(code, z, i)
    z[i], z[i + 1], z[i + 2] = h, h1, h2
    return i


def apply(code: int, *arguments: tuple[float, float, float]) -> tuple[float, float, float]:
    """The jet of one operation of jets, for use outside kernels."""
    stack = np.array(arguments, dtype=np.float64).ravel()
    with np.errstate(all="ignore"):  # without JIT NumPy would warn of what is nan or inf on purpose
        i = operate(code, stack, len(stack) - 3)
    value, first, second = stack[i : i + 3].tolist()
    return value, first, second
