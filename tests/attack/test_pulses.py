"""Random pulses, tables and switches: forces that act for a short time or in a narrow place, on masses and pendulums.

The oracle is SciPy's DOP853 on one equation of motion written here, from one switching time to the next. The times of
forces of t alone are worked out by hand; where a force switches with the state, its smooth pieces are integrated in
short steps up to the event, each in its own mode.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.interpolate import CubicSpline

import simengine2d as se

Guard = Callable[[float, float, float], float]

END = 4.0
RTOL = 1e-6


class Push(NamedTuple):
    """A force as text of t, X and V, and the same in Python: f(t, x, v, mode). A mode has a sign for each guard."""

    text: Any
    force: Callable[[float, float, float, tuple[bool, ...]], float]
    times: Sequence[float] = ()
    guards: Sequence[Guard] = ()
    fine: float = 0.02  # steps of the oracle


# Forces of time ------------------------------------------------------------------------------------------


def pulse(rng: np.random.Generator) -> Push:
    a, width, A = rng.uniform(0.1, 3.5), 10 ** rng.uniform(-3, -0.5), strength(rng)
    b = a + width
    A = A * 0.3 / max(width, 0.02)
    forms = (
        f"{A} if (t > {a} and t < {b}) else 0",
        f"piecewise(t < {a}, 0, t < {b}, {A}, 0)",
        f"{A}*(t > {a})*(t < {b})",
        f"{A}*(t >= {a} & {b} > t)",
        f"{A}*(sign(t - {a}) - sign(t - {b}))/2",
        f"{A} if abs(t - {0.5 * (a + b)}) < {0.5 * (b - a)} else 0",
        f"{A}*(3*t > {3 * a})*((t - {b})*(t + 1) < 0)",
        f"{A} if exp(t) > exp({a}) and sqrt(t) < sqrt({b}) else 0",
    )
    return Push(rng.choice(forms), lambda t, x, v, mode: A if a < t < b else 0.0, [a, b])


def train(rng: np.random.Generator) -> Push:
    """Pulses that come again."""
    period, share, A = rng.uniform(0.2, 1.5), rng.uniform(0.01, 0.5), strength(rng)
    on = share * period
    text = f"{A} if mod(t, {period}) < {on} else 0"
    times = [k * period + part for k in range(int(END / period) + 1) for part in (0.0, on)]
    return Push(text, lambda t, x, v, mode: A if t % period < on else 0.0, times)


def waves(rng: np.random.Generator) -> Push:
    """Parts of a sine."""
    w, level, A = rng.uniform(3, 20), rng.uniform(-0.99, 0.99), strength(rng)
    first = np.arcsin(level)
    turns = 2 * np.pi * np.arange(-1, int(END * w / 6) + 3)
    times = sorted([*((first + turns) / w), *((np.pi - first + turns) / w)])
    kind = rng.integers(4)
    if kind == 0:
        return Push(
            f"{A} if sin({w}*t) > {level} else 0", lambda t, x, v, m: A * (np.sin(w * t) > level), times
        )
    if kind == 1:
        return Push(f"{A}*max({level}, sin({w}*t))", lambda t, x, v, m: A * max(level, np.sin(w * t)), times)
    if kind == 2:
        return Push(
            f"{A}*abs(sin({w}*t) - {level})", lambda t, x, v, m: A * abs(np.sin(w * t) - level), times
        )
    return Push(
        f"{A}*sign(sin({w}*t) - {level})", lambda t, x, v, m: A * np.sign(np.sin(w * t) - level), times
    )


SHAPES: dict[str, Callable[[float], float]] = {
    "ramp": lambda s: s,
    "step": lambda s: s * s * (3 - 2 * s),
    "step5": lambda s: s**3 * (10 - 15 * s + 6 * s * s),
    "cycloidal": lambda s: s - np.sin(2 * np.pi * s) / (2 * np.pi),
    "harmonic": lambda s: (1 - np.cos(np.pi * s)) / 2,
}


def rises(rng: np.random.Generator) -> Push:
    """Up and down again by a smooth rise."""
    word = str(rng.choice(["ramp", "step", "step5", "cycloidal", "harmonic"]))
    a, d, hold = rng.uniform(0.1, 3.0), 10 ** rng.uniform(-2.5, -0.5), 10 ** rng.uniform(-2.5, -0.5)
    A = strength(rng) * 0.3 / max(d + hold, 0.02)
    b = a + d + hold
    shape = SHAPES[word]
    up = lambda t, start: shape(min(1.0, max(0.0, (t - start) / d)))
    text = f"{A}*({word}(t, {a}, 0, {a + d}, 1) - {word}(t, {b}, 0, {b + d}, 1))"
    return Push(text, lambda t, x, v, mode: A * (up(t, a) - up(t, b)), [a, a + d, b, b + d])


def table(rng: np.random.Generator) -> Push:
    """A spline with a narrow bump."""
    a, d, A = rng.uniform(0.3, 3.0), 10 ** rng.uniform(-2.5, -0.5), strength(rng)
    beside = d * np.array([-4.0, -2.0, -1.0, 0.0, 1.0, 2.0, 4.0])
    times = np.unique(
        [0.0, *np.arange(0.0, a - 5 * d, 0.3), *(a + beside), *np.arange(a + 5 * d, 5.0, 0.3), 5.0]
    )
    times = times[(times >= 0.0) & (times <= 5.0)]
    height = A * 0.3 / max(d, 0.05)
    values = np.where(np.abs(times - a) < 0.5 * d, height, 0.02 * height * rng.uniform(-1, 1, times.size))
    spline = CubicSpline(times, values)
    return Push(se.Table(times, values), lambda t, x, v, mode: float(spline(t)), times[times < END].tolist())


# Forces of the state ------------------------------------------------------------------------------------


def wall(rng: np.random.Generator) -> Push:
    """A narrow field that slows or reflects."""
    a, width = rng.uniform(-1.0, 1.0), 10 ** rng.uniform(-3, -0.7)
    A = rng.choice([-1.0, 1.0]) * rng.uniform(0.05, 1.0) / width
    text = f"{A} if X > {a} and X < {a + width} else 0"
    guards: list[Guard] = [lambda t, x, v: x - a, lambda t, x, v: x - a - width]
    return Push(text, lambda t, x, v, m: A if m[0] and not m[1] else 0.0, guards=guards)


def stop(rng: np.random.Generator) -> Push:
    """A spring on one side."""
    a, K = rng.uniform(-0.5, 1.0), 10 ** rng.uniform(1, 3.5)
    forms = (f"-{K}*max(0, X - {a})", f"-{K}*(X - {a}) if X > {a} else 0", f"-{K}*(X - {a} + abs(X - {a}))/2")
    return Push(
        rng.choice(forms), lambda t, x, v, m: -K * (x - a) if m[0] else 0.0, guards=[lambda t, x, v: x - a]
    )


def drag(rng: np.random.Generator) -> Push:
    c = rng.uniform(0.1, 2.0)
    return Push(
        f"-{c}*V*abs(V)", lambda t, x, v, m: -c * v * v * (1 if m[0] else -1), guards=[lambda t, x, v: v]
    )


def field_of_stripes(rng: np.random.Generator) -> Push:
    """Stripes of a force along the way."""
    period, share = rng.uniform(0.1, 0.5), rng.uniform(0.1, 0.6)
    A = strength(rng)
    text = f"{A} if mod(X, {period}) < {share * period} else 0"
    guards: list[Guard] = [
        lambda t, x, v: np.sin(np.pi * x / period),
        lambda t, x, v: np.sin(np.pi * (x / period - share)),
    ]
    # between its zeros the first sine has the sign of (-1)^k, the second one less
    return Push(text, lambda t, x, v, m: A if m[0] != m[1] else 0.0, guards=guards, fine=0.002)


def moving(rng: np.random.Generator) -> Push:
    """A switch of place and time."""
    a, b, A = rng.uniform(-0.5, 1.0), rng.uniform(-0.5, 0.5), strength(rng)
    text = f"{A} if X > {a} + {b}*t else 0"
    return Push(text, lambda t, x, v, m: A if m[0] else 0.0, guards=[lambda t, x, v: x - a - b * t])


def boost(rng: np.random.Generator) -> Push:
    """A force that drives away what is quick."""
    v0, A = rng.uniform(0.1, 1.5), rng.uniform(0.1, 3.0)
    return Push(
        f"{A} if V > {v0} else 0", lambda t, x, v, m: A if m[0] else 0.0, guards=[lambda t, x, v: v - v0]
    )


def bump(rng: np.random.Generator) -> Push:
    """A table of the place with a narrow bump."""
    a, d = rng.uniform(-1.0, 1.0), 10 ** rng.uniform(-2.5, -0.5)
    beside = d * np.array([0.0, 1.0, 2.0, 4.0, 8.0])
    far = np.geomspace(10.0 * d, 300.0, 20)
    places = np.unique(np.concatenate([a + beside, a - beside, a + far, a - far]))
    values = np.where(places == a, rng.choice([-1, 1]) * rng.uniform(0.1, 1.0) / d, 0.0)
    spline = CubicSpline(places, values)
    guards: list[Guard] = [lambda t, x, v, p=p: x - p for p in places[15:-15]]
    given = se.Table(of="X", points=places, values=values)
    return Push(given, lambda t, x, v, m: float(spline(x)), guards=guards)


KINDS = (pulse, pulse, train, waves, rises, table, wall, stop, drag, field_of_stripes, moving, boost, bump)


def strength(rng: np.random.Generator) -> float:
    return float(rng.choice([-1.0, 1.0]) * 10 ** rng.uniform(-0.5, 1.0))


# Mechanisms -------------------------------------------------------------------------------------------


class Case(NamedTuple):
    model: se.Model
    acceleration: Callable[[float, float, float, float], float]  # from the force, t, x and v
    channel: str
    start: tuple[float, float]


def named(text: Any, x: str, v: str) -> Any:
    if isinstance(text, se.Table):
        if not text.of:
            return text
        return se.Table(of=x, points=text.times, values=text.values)
    return str(text).replace("X", x).replace("V", v)


def guided_mass(rng: np.random.Generator, push: Push) -> Case:
    m, k, c = 10 ** rng.uniform(-0.5, 0.5), rng.choice([0.0, rng.uniform(0.5, 30.0)]), rng.choice([0.0, 0.3])
    # what switches with the state neither rests at the start nor stands where it switches
    moves = bool(push.guards) or rng.random() < 0.5
    start = (float(rng.uniform(-0.1, 0.1)), float(rng.uniform(-1.5, 1.5)) if moves else 0.0)
    model = se.Model("mass", gravity=(0, 0))
    model.body("b", mass=m, inertia=1, at=(start[0], 0), velocity=(start[1], 0), angular_velocity=0)
    model.add(se.Translational("rail", model.ground, "b"))
    if k or c:
        model.add(se.Spring("spring", "x(ground, b)", stiffness=k, damping=c))
    text = push.text
    way = rng.integers(3)
    if way == 1 and not isinstance(text, se.Table):
        model.add(se.Spring("push", "x(ground, b)", law=f"-({named(text, 's', 'sd')})"))
    elif way == 2 and not isinstance(text, se.Table):
        model.add(se.Force("push", along={"b.x": named(text, "b.x", "b.xd")}))
    else:
        model.add(se.PointForce("push", "b", fx=named(text, "x", "xd")))
    return Case(model, lambda F, t, x, v: (F - k * x - c * v) / m, "b.x", start)


def pendulum(rng: np.random.Generator, push: Push) -> Case:
    m, L, phi = rng.uniform(0.5, 2.0), rng.uniform(0.5, 1.5), rng.uniform(-2.5, -0.5)
    J = m * L * L / 3.0
    start = (float(phi), float(rng.uniform(-1.0, 1.0)))
    model = se.Model("pendulum")
    model.bar("bar", (0, 0), (L * np.cos(phi), L * np.sin(phi)), mass=m, angular_velocity=start[1])
    model.add(se.Revolute("O", model.ground, "bar.start"))
    model.add(se.Torque("push", "bar", named(push.text, "phi", "phid")))
    return Case(model, lambda F, t, x, v: (F - m * 9.81 * 0.5 * L * np.cos(x)) / J, "bar.phi", start)


# The oracle -------------------------------------------------------------------------------------------


def oracle(case: Case, push: Push, x: float, v: float) -> np.ndarray:
    """x and v at the end."""
    breaks = sorted({0.0, END, *(t for t in push.times if 0.0 < t < END)})
    y, t = np.array([x, v]), 0.0
    for until in breaks[1:]:
        middle = 0.5 * (t + until)
        while t < until:
            mode = mode_at(case, push, t, y, middle)
            rate = rate_of(case, push, mode, t + 1e-13, until - 1e-13)
            events = [event(guard, sign) for guard, sign in zip(push.guards, mode, strict=True)]
            step = push.fine if push.guards else np.inf
            found = solve_ivp(
                rate, (t, until), y, "DOP853", rtol=1e-10, atol=1e-12, events=events or None, max_step=step
            )
            y, t, before = found.y[:, -1], float(found.t[-1]), t
            if t == before:  # an event at the very start of a piece
                y, t = y + TINY * np.array(rate(t, y)), t + TINY
    return y


def rate_of(case: Case, push: Push, mode: tuple[bool, ...], first: float, last: float) -> Any:
    """The right-hand side; the force is that between the two times."""

    def rate(t: float, y: np.ndarray) -> list[float]:
        F = push.force(min(max(t, first), last), y[0], y[1], mode)
        return [y[1], case.acceleration(F, t, y[0], y[1])]

    return rate


def event(guard: Guard, positive: bool) -> Any:
    """The guard leaves its side."""
    function = lambda t, y: guard(t, *y)
    function.terminal = True  # type: ignore[attr-defined]
    function.direction = -1.0 if positive else 1.0  # type: ignore[attr-defined]
    return function


def mode_at(case: Case, push: Push, t: float, y: np.ndarray, middle: float) -> tuple[bool, ...]:
    """The sides of all guards a moment later."""
    mode = tuple(guard(t, *y) > 0.0 for guard in push.guards)
    a = case.acceleration(push.force(middle, y[0], y[1], mode), t, y[0], y[1])
    s = 1e-9
    later = (y[0] + s * y[1] + 0.5 * s * s * a, y[1] + s * a)
    return tuple(guard(t + s, *later) > 0.0 for guard in push.guards)


# The attack ----------------------------------------------------------------------------------------------

ADAPTIVE: tuple[dict[str, Any], ...] = (
    {}, {}, {"coordinates": "relative"}, {"formulation": "augmented"}, {"formulation": "index3"},
    {"formulation": "ggl"}, {"coordinates": "mixed"}, {"integrator": "tsitouras5"},
    {"integrator": "dormand_prince", "coordinates": "relative"}, {"integrator": "bdf_variable"},
    {"integrator": "adams_variable"}, {"integrator": "radau_adaptive"},
    {"formulation": "augmented_lagrangian"}, {"formulation": "index3", "coordinates": "mixed"},
)  # fmt: skip
FIXED: tuple[dict[str, Any], ...] = (
    {"integrator": "rk4"}, {"integrator": "adams_bashforth"}, {"integrator": "newmark"},
    {"integrator": "generalized_alpha"}, {"integrator": "bdf"}, {"integrator": "newmark", "coordinates": "relative"},
    {"integrator": "hht"}, {"integrator": "radau_iia", "formulation": "index3"},
    {"integrator": "generalized_alpha", "coordinates": "mixed"},
    {"integrator": "bdf", "formulation": "ggl"}, {"integrator": se.Newmark(beta=0.25, gamma=0.5)},
    {"integrator": se.Newmark(beta=0.25, gamma=0.5), "coordinates": "mixed"},
)  # fmt: skip
TINY = 1e-10
STEP = 2e-3  # fixed ones
COARSE = 1e-2  # what they may be off, in sizes: far less than a pulse that is missed


def attack(rng: np.random.Generator, count: int) -> Iterator[str]:
    for k in range(count):
        push = KINDS[rng.integers(len(KINDS))](rng)
        case = (guided_mass if rng.random() < 0.6 else pendulum)(rng, push)
        fixed = rng.random() < 0.25
        methods = FIXED if fixed else ADAPTIVE
        options = dict(methods[rng.integers(len(methods))])
        if fixed:
            options["step"] = STEP
        wrong = member(case, push, options)
        if wrong:
            yield f"{k}: {case.model.name} {push.text} {options}: {wrong}"


def member(case: Case, push: Push, options: dict[str, Any]) -> str:
    """What is wrong with one run; nothing where it ends where it should, or says that it may not."""
    undamped = isinstance(options.get("integrator"), se.Newmark)
    try:
        r = se.dynamics(case.model, t_end=END, rtol=RTOL, **options)
    except se.SimEngineError as error:
        return "" if undamped and "does not damp" in str(error) else f"{type(error).__name__} {error}"
    fixed = "step" in options
    right = oracle(case, push, *case.start)
    allowed = (COARSE if fixed else 10 * RTOL) * max(1.0, float(np.abs(right).max()))
    off = distance(case, r, right)
    if off <= allowed:
        return ""
    # small differences may grow, for instance where a switch is only just reached
    near = oracle(case, push, case.start[0], case.start[1] + 1e-6)
    growth = float(np.abs(near - right).max()) / 1e-6
    if off <= allowed * growth:
        return ""
    if undamped and not r.verdict.is_good and any("does not damp" in note for note in r.notes):
        return ""
    if fixed and converges(case, options, right, off):
        return ""
    return f"off by {off:.1e} from {right}, allowed {allowed:.1e} times {growth:.1f}"


def distance(case: Case, r: se.Results, right: np.ndarray) -> float:
    found = np.array([r[case.channel][-1], r[f"{case.channel}d"][-1]])
    return float(np.abs(found - right).max())


def converges(case: Case, options: dict[str, Any], right: np.ndarray, off: float) -> bool:
    """Whether steps of a quarter lead nearer, as first order promises: what is stepped over would stay as it is."""
    try:
        finer = se.dynamics(case.model, t_end=END, rtol=RTOL, **options | {"step": STEP / 4})
    except se.SimEngineError:
        return False
    return distance(case, finer, right) < 0.4 * off


@pytest.mark.slow
def test_pulses_tables_and_switches_are_seen():
    assert list(attack(np.random.default_rng(7), 25)) == []
