"""Bounds of an expression of t and of its derivative over an interval: what can be excluded need not be searched."""

from __future__ import annotations

import math
from itertools import pairwise

from .evaluate import evaluate
from .operations import RISES, rise_derivatives
from .syntax import CONSTANTS, Call, Chain, Constant, ExpressionError, Lookup, Name, Node, Number, Unary

Bounds = tuple[float, float]
Jet = tuple[float, float, float, float]
"""Lowest and highest value, lowest and highest slope."""

INF = math.inf
ANYTHING = (-INF, INF)
UNKNOWN = (*ANYTHING, *ANYTHING)
TRUTH = (0.0, 1.0, 0.0, 0.0)


def enclose(node: Node, a: float, b: float) -> Jet:
    """Bounds of value and slope for t from a to b. At jumps the slope is that on either side."""
    try:
        jet = _jet(node, a, b)
    except (OverflowError, ZeroDivisionError, ValueError):
        return UNKNOWN
    return UNKNOWN if any(math.isnan(part) for part in jet) else jet


def _jet(node: Node, a: float, b: float) -> Jet:
    match node:
        case Number(value):
            return value, value, 0.0, 0.0
        case Constant(name):
            return CONSTANTS[name], CONSTANTS[name], 0.0, 0.0
        case Name():
            return a, b, 1.0, 1.0
        case Unary("-", operand):
            low, high, slope_low, slope_high = _jet(operand, a, b)
            return -high, -low, -slope_high, -slope_low
        case Unary():
            return TRUTH
        case Chain(first, rest):
            jet = _jet(first, a, b)
            for operator, operand in rest:
                jet = _joined(operator, jet, _jet(operand, a, b), a == b)
            return jet
        case Call("piecewise", args):
            return _choice(args, a, b)
        case Call("min" | "max" as name, args):
            jets = [_jet(arg, a, b) for arg in args]
            pick = min if name == "min" else max
            ends = (pick(jet[0] for jet in jets), pick(jet[1] for jet in jets))
            return (*ends, min(jet[2] for jet in jets), max(jet[3] for jet in jets))
        case Call(name, args):
            return _called(name, [_jet(arg, a, b) for arg in args])
        case Lookup():
            return _looked_up(node, _jet(node.argument, a, b))
    return UNKNOWN


def _looked_up(node: Lookup, u: Jet) -> Jet:
    """Bounds of a table by those of its cubics, c0 + d (c1 + d (c2 + d c3)), over the part that is read."""
    low, high = u[:2]
    if low == high:
        at, steep, _ = node.table.jet(low)
        return (at, at, *_times((steep, steep), u[2:]))
    if node.table.periodic:
        first, length = node.table.times[0], node.table.times[-1] - node.table.times[0]
        shift = math.floor((low - first) / length) * length
        low, high = (low - shift, high - shift) if high - shift <= first + length else (first, first + length)
    if low < node.table.times[0] or high > node.table.times[-1]:
        return UNKNOWN
    pieces = []
    for i, (start, end) in enumerate(pairwise(node.table.times)):
        if start <= high and end >= low:
            c0, c1, c2, c3 = node.table.numbers[len(node.table.times) + 4 * i :][:4]
            d = max(low, start) - start, min(high, end) - start
            value = _plus(
                (c0, c0), _times(d, _plus((c1, c1), _times(d, _plus((c2, c2), _times(d, (c3, c3))))))
            )
            slope = _plus((c1, c1), _times(d, _plus((2 * c2, 2 * c2), _times(d, (3 * c3, 3 * c3)))))
            pieces.append((*value, *slope))
    *bounds, slope_low, slope_high = _hull(pieces)
    return (bounds[0], bounds[1], *_times((slope_low, slope_high), u[2:]))


def _choice(args: tuple[Node, ...], a: float, b: float) -> Jet:
    """All branches that may be taken."""
    possible: list[Jet] = []
    for condition, value in zip(args[:-1:2], args[1::2], strict=True):
        low, high, *_ = _jet(condition, a, b)
        if low == high == 0.0:
            continue
        possible.append(_jet(value, a, b))
        if low > 0.0 or high < 0.0:
            return _hull(possible)
    return _hull([*possible, _jet(args[-1], a, b)])


def _hull(jets: list[Jet]) -> Jet:
    return (
        min(jet[0] for jet in jets), max(jet[1] for jet in jets),
        min(jet[2] for jet in jets), max(jet[3] for jet in jets),
    )  # fmt: skip


# Sums, products, powers and comparisons ------------------------------------------------------------------


def _joined(operator: str, u: Jet, v: Jet, point: bool) -> Jet:
    if operator == "+":
        return u[0] + v[0], u[1] + v[1], u[2] + v[2], u[3] + v[3]
    if operator == "-":
        return u[0] - v[1], u[1] - v[0], u[2] - v[3], u[3] - v[2]
    if operator == "*":
        return _multiplied(u, v)
    if operator == "/":
        return _divided(u, v)
    if operator == "^":
        return _power(u, v)
    return _compared(operator, u, v)


def _multiplied(u: Jet, v: Jet) -> Jet:
    slope = _plus(_times(u[2:], v[:2]), _times(u[:2], v[2:]))
    return (*_times(u[:2], v[:2]), *slope)


def _times(u: Bounds, v: Bounds) -> Bounds:
    products = [_product(x, y) for x in u for y in v]
    return min(products), max(products)


def _product(x: float, y: float) -> float:
    return 0.0 if x == 0.0 or y == 0.0 else x * y


def _plus(u: Bounds, v: Bounds) -> Bounds:
    return u[0] + v[0], u[1] + v[1]


def _divided(u: Jet, v: Jet) -> Jet:
    """h = u / v, h' = (u' - h v') / v"""
    if v[0] <= 0.0 <= v[1]:
        return UNKNOWN
    inverse = (1.0 / v[1], 1.0 / v[0])
    h = _times(u[:2], inverse)
    down = _times(h, v[2:])
    return (*h, *_times((u[2] - down[1], u[3] - down[0]), inverse))


def _power(u: Jet, v: Jet) -> Jet:
    p = v[0]
    if v[0] == v[1] and v[2] == v[3] == 0.0 and p == int(p) and 0.0 <= p <= 1e6:
        ends = _whole_power(u[:2], int(p))
        slope = _times((p, p), _whole_power(u[:2], int(p) - 1)) if p > 0.0 else (0.0, 0.0)
        return (*ends, *_times(slope, u[2:]))
    if u[0] <= 0.0:
        return UNKNOWN
    # u^v = exp(v log u)
    return _called("exp", [_multiplied(v, _called("log", [u]))])


def _whole_power(u: Bounds, p: int) -> Bounds:
    ends = sorted((u[0] ** p, u[1] ** p))
    return (0.0 if p % 2 == 0 and p > 0 and u[0] < 0.0 < u[1] else ends[0]), ends[1]


def _compared(operator: str, u: Jet, v: Jet) -> Jet:
    """1 or 0 if it is decided on the whole interval."""
    low, high = u[0] - v[1], u[1] - v[0]
    surely, never = False, False
    if operator in ("<", "<="):
        surely, never = high < 0.0, low > 0.0
    elif operator in (">", ">="):
        surely, never = low > 0.0, high < 0.0
    elif operator == "and":
        surely = not (u[0] <= 0.0 <= u[1] or v[0] <= 0.0 <= v[1])
        never = u[0] == u[1] == 0.0 or v[0] == v[1] == 0.0
    elif operator == "or":
        surely = not (u[0] <= 0.0 <= u[1]) or not (v[0] <= 0.0 <= v[1])
        never = u[0] == u[1] == 0.0 and v[0] == v[1] == 0.0
    return (1.0, 1.0, 0.0, 0.0) if surely else (0.0, 0.0, 0.0, 0.0) if never else TRUTH


# Functions -----------------------------------------------------------------------------------------------


def _called(name: str, args: list[Jet]) -> Jet:
    u = args[0]
    low, high, slope = u[0], u[1], u[2:]
    if name in ("sin", "cos"):
        quarter = 0.5 * math.pi
        low, high = (low, high) if name == "sin" else (low + quarter, high + quarter)
        return (*_sine(low, high), *_times(_sine(low + quarter, high + quarter), slope))
    if name == "exp":
        ends = (math.exp(min(low, 709.0)), math.exp(high) if high < 709.0 else INF)
        return (*ends, *_times(ends, slope))
    if name in ("log", "log10"):
        scale = 1.0 if name == "log" else 1.0 / math.log(10.0)
        if low <= 0.0:
            return UNKNOWN
        return scale * math.log(low), scale * math.log(high), *_times((scale / high, scale / low), slope)
    if name == "sqrt":
        if low <= 0.0:
            return (0.0, math.sqrt(max(0.0, high)), *ANYTHING)
        return math.sqrt(low), math.sqrt(high), *_times((0.5 / math.sqrt(high), 0.5 / math.sqrt(low)), slope)
    if name == "abs":
        least = 0.0 if low <= 0.0 <= high else min(abs(low), abs(high))
        ways = (1.0 if low > 0.0 else -1.0, -1.0 if high < 0.0 else 1.0)
        return least, max(abs(low), abs(high)), *_times(ways, slope)
    if name == "sign":
        return float(low > 0.0) - float(low < 0.0), float(high > 0.0) - float(high < 0.0), 0.0, 0.0
    if name in ("atan", "tanh", "sinh"):
        g = {"atan": math.atan, "tanh": math.tanh, "sinh": math.sinh}[name]
        return g(low), g(high), *_times(_slopes(name, low, high), slope)
    if name == "cosh":
        least = 1.0 if low <= 0.0 <= high else min(math.cosh(low), math.cosh(high))
        return least, max(math.cosh(low), math.cosh(high)), *_times((math.sinh(low), math.sinh(high)), slope)
    if name in ("asin", "acos") and -1.0 < low <= high < 1.0:
        steep = [1.0 / math.sqrt(1.0 - x * x) for x in (low, high)]
        least = 1.0 if low <= 0.0 <= high else min(steep)
        if name == "asin":
            return math.asin(low), math.asin(high), *_times((least, max(steep)), slope)
        return math.acos(high), math.acos(low), *_times((-max(steep), -least), slope)
    if name == "hypot":
        sides = [_called("abs", [arg]) for arg in args]
        nearest, farthest = (math.hypot(sides[0][end], sides[1][end]) for end in (0, 1))
        return (nearest, farthest, *ANYTHING)
    if name == "atan2":
        return (
            (-math.pi, math.pi, *ANYTHING) if any(arg[0] != arg[1] for arg in args) else _as_point(name, args)
        )
    if name == "tan" and math.floor(low / math.pi + 0.5) == math.floor(high / math.pi + 0.5):
        return math.tan(low), math.tan(high), *_times((1.0, INF), slope)
    if name == "mod":
        return _remainder(u, args[1])
    if name in RISES:
        return _rise(RISES[name], args)
    return _as_point(name, args)


def _sine(low: float, high: float) -> Bounds:
    if not high - low < 2.0 * math.pi:
        return -1.0, 1.0
    tops = math.floor((high - 0.5 * math.pi) / (2.0 * math.pi)) > math.floor(
        (low - 0.5 * math.pi) / (2.0 * math.pi)
    )
    bottoms = math.floor((high + 0.5 * math.pi) / (2.0 * math.pi)) > math.floor(
        (low + 0.5 * math.pi) / (2.0 * math.pi)
    )
    ends = sorted((math.sin(low), math.sin(high)))
    return (-1.0 if bottoms else ends[0]), (1.0 if tops else ends[1])


def _slopes(name: str, low: float, high: float) -> Bounds:
    """Of atan, tanh and sinh, whose slopes are even and fall or rise on each side of zero."""
    g = {
        "atan": lambda x: 1.0 / (1.0 + x * x),
        "tanh": lambda x: 1.0 - math.tanh(x) ** 2,
        "sinh": lambda x: math.cosh(min(abs(x), 700.0)),
    }[name]
    values = [g(low), g(high), *([1.0] if low <= 0.0 <= high else [])]
    return min(values), max(values)


def _remainder(u: Jet, v: Jet) -> Jet:
    if v[0] != v[1] or v[0] <= 0.0:
        return UNKNOWN
    b = v[0]
    if math.floor(u[0] / b) == math.floor(u[1] / b):
        return u[0] % b, u[1] % b, u[2], u[3]
    return 0.0, b, u[2], u[3]


def _rise(code: int, args: list[Jet]) -> Jet:
    """h + (k - h) g(s) with s = (x - a) / (b - a); g rises from 0 to 1, nowhere steeper than 2.2."""
    x, a, h, b, k = args
    if any(arg[0] != arg[1] or arg[2] != arg[3] for arg in (a, h, b, k)) or not a[0] < b[0]:
        return UNKNOWN
    length, rise = b[0] - a[0], k[0] - h[0]
    g = [rise_derivatives(code, (end - a[0]) / length)[0] for end in x[:2]]
    ends = sorted(h[0] + rise * each for each in g)
    return (ends[0], ends[1], *_times(_times((0.0, 2.2), (rise / length, rise / length)), x[2:]))


def _as_point(name: str, args: list[Jet]) -> Jet:
    """The value if all arguments are numbers, no bounds otherwise."""
    if any(arg[0] != arg[1] for arg in args):
        return UNKNOWN
    try:
        value = evaluate(Call(name, tuple(Number(arg[0]) for arg in args)))
    except ExpressionError:
        return UNKNOWN
    return (value, value, *ANYTHING)
