"""Random event functions along motions of closed form: every crossing is found, to 1e-9 s, and none is invented."""

from __future__ import annotations

import copy
from collections.abc import Iterator

import numpy as np
import pytest
from scipy.optimize import brentq

import simengine2d as se

G = 9.81
T_END = 3.0
TOGETHER = 8  # events of one run
SAMPLES = 60_001
EXACT = {
    "abs": np.abs,
    "max": np.maximum,
    "min": np.minimum,
    "sin": np.sin,
    "cos": np.cos,
    "exp": np.exp,
    "sqrt": np.sqrt,
}


class Motion:
    """An oscillator a, a body b that flies, and a wheel c that turns: each known for all times."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng
        self.w, self.A = rng.uniform(2.0, 12.0), rng.uniform(0.3, 2.0)
        self.v, self.u, self.spin = rng.uniform(5, 14), rng.uniform(-2, 2), rng.uniform(-8, 8)
        m = self.model = se.Model("three", gravity=(0, -G))
        m.body("a", mass=1, inertia=1, at=(self.A, 0))
        m.body("b", mass=2, inertia=1, at=(0, 0), velocity=(self.u, self.v), angular_velocity=0)
        m.body("c", mass=1, inertia=1, at=(0, 3), velocity=(0, 0), angular_velocity=self.spin)
        m.add(se.Translational("rail", m.ground, "a"))
        m.add(se.Revolute("axle", m.ground, "c"))
        m.add(se.Spring("k", "x(ground, a)", stiffness=self.w**2))

    def broken_at(self, times: np.ndarray) -> se.Model:
        """The same motion, with steps that end at some of these times or just beside them."""
        model = copy.deepcopy(self.model)
        chosen = self.rng.choice(times, min(3, times.size), replace=False)
        for k, t in enumerate(
            chosen + self.rng.choice([0.0, 0.0, 1e-15, -1e-14, 1e-12, -1e-9, 1e-6], chosen.size)
        ):
            model.add(se.PointForce(f"nothing{k}", "b", fx="0", fy=f"1e-30*(t > {max(t, 0.0):.17g})"))
        return model

    def at(self, t: np.ndarray) -> dict[str, np.ndarray]:
        w, A = self.w, self.A
        return {
            "a_x": A * np.cos(w * t), "a_xd": -A * w * np.sin(w * t), "b_x": self.u * t,
            "b_y": self.v * t - 0.5 * G * t**2, "b_yd": self.v - G * t, "c_phi": self.spin * t, "t": t,
        }  # fmt: skip

    def value(self, text: str, t: np.ndarray | float) -> np.ndarray:
        t = np.asarray(t, dtype=float)
        for name in ("a.xd", "b.yd", "a.x", "b.x", "b.y", "c.phi"):
            text = text.replace(name, name.replace(".", "_"))
        with np.errstate(all="ignore"):
            found = eval(text.replace("^", "**"), {"__builtins__": {}}, EXACT | self.at(t))
        return np.broadcast_to(found, t.shape)


def expression(motion: Motion, rng: np.random.Generator) -> str:
    """A function of the state or of time, of a kind that is easily missed."""
    A, w = motion.A, motion.w
    near = rng.choice([0.3, 0.9, 0.99, 0.999, 0.9999]) * rng.choice([-1, 1]) * A
    r, s = (float(x) for x in rng.uniform(0.5, 3.0, 2))
    kinds = [
        f"a.x - ({near:.17g})",
        f"a.xd - ({near * w:.17g})",
        f"b.y - {rng.choice([0.5, 0.99, 0.9999]) * motion.v**2 / (2 * G):.17g}",
        f"sin({r:.17g}*c.phi) - {rng.uniform(-0.99, 0.99):.17g}",
        f"a.x*b.yd - {r:.17g}",
        f"abs(a.x) - {abs(near):.17g}",
        f"max(a.x, {s:.17g}*b.x) - {rng.uniform(0.1, 0.9) * A:.17g}",
        f"min(abs(a.x), abs(a.xd)/{w:.17g}) - {rng.uniform(0.1, 0.6) * A:.17g}",
        f"a.x^2 + 0.3*b.x*a.x - {rng.uniform(0.05, 0.8) * A**2:.17g}",
        f"exp(-a.x) - {rng.uniform(0.5, 2.0):.17g}",
        f"sin({rng.uniform(3, 60):.17g}*t + {r:.17g}) - {rng.choice([0.2, 0.9, 0.999]):.17g}",
        f"cos({r:.17g}*t)*t - {s:.17g}*a.x",
        f"abs(sin({5 * r:.17g}*t) - 0.5) - {rng.choice([1e-3, 0.1, 0.4]):.17g}",
        f"sqrt(1.1 + sin({4 * r:.17g}*c.phi)) - {rng.uniform(0.5, 1.4):.17g}",
    ]
    return str(rng.choice(kinds))


def crossings(motion: Motion, text: str) -> list[tuple[float, bool]] | None:
    """The exact ones, and whether they rise; None where the function comes too near to zero to tell."""
    t = np.linspace(0.0, T_END, SAMPLES)
    g = motion.value(text, t)
    size = np.abs(g).max()
    if not np.isfinite(size) or abs(g[0]) < 1e-6 * size or abs(g[-1]) < 1e-6 * size:
        return None
    inner = g[1:-1]
    turns = ((g[:-2] - inner) * (inner - g[2:]) <= 0.0) & (np.abs(inner) < 1e-5 * size)
    if turns.any():
        return None
    at = np.flatnonzero(g[:-1] * g[1:] < 0.0)
    value = lambda s: float(motion.value(text, s))
    return [(brentq(value, t[k], t[k + 1], xtol=1e-15), bool(g[k + 1] > 0.0)) for k in at]


def attack(rng: np.random.Generator, count: int) -> Iterator[str]:
    """Crossings of random functions, by direction; and touches, starts at zero and stops."""
    looked = 0
    while looked < count:
        motion = Motion(rng)
        texts = [expression(motion, rng) for _ in range(TOGETHER)]
        known = {text: found for text in texts if (found := crossings(motion, text)) is not None}
        directions = {text: str(rng.choice(["both", "rising", "falling"])) for text in known}
        events = [se.Event(text, directions[text], stop=False) for text in known]
        exactly = np.array([c[0] for crossings_of in known.values() for c in crossings_of])
        model = motion.broken_at(exactly) if exactly.size else motion.model
        results = se.dynamics(model, t_end=T_END, rtol=1e-12, events=events)
        for text, exact in known.items():
            looked += 1
            wanted = [c for c in exact if directions[text] in ("both", "rising" if c[1] else "falling")]
            got = [(e.t, e.rising) for e in results.events if e.name == text]
            if [c[1] for c in got] != [c[1] for c in wanted]:
                yield f"{text}, {directions[text]}: {len(got)} events instead of {len(wanted)}"
            elif any(abs(a[0] - b[0]) > 1e-9 for a, b in zip(got, wanted, strict=True)):
                off = max(abs(a[0] - b[0]) for a, b in zip(got, wanted, strict=True))
                yield f"{text}: off by {off:.1e} s"
        yield from touches(motion, rng)
        yield from stops(motion, known)


def touches(motion: Motion, rng: np.random.Generator) -> Iterator[str]:
    """The oscillator comes back to where it started from rest: it leaves zero once, then touches it."""
    period = 2 * np.pi / motion.w
    w = float(rng.uniform(2, 20))
    cases = {
        f"a.x - {motion.A:.17g}": (period, 0.0),
        f"a.x + {motion.A:.17g}": (period, 0.5 * period),
        f"1 - sin({w:.17g}*t)": (2 * np.pi / w, 0.5 * np.pi / w),
        f"abs(sin({0.5 * w:.17g}*t))": (2 * np.pi / w, 0.0),
    }
    known = {text: np.arange(first, T_END, every) for text, (every, first) in cases.items()}
    model = motion.broken_at(np.concatenate([*known.values()]))
    results = se.dynamics(
        model, t_end=T_END, rtol=1e-10, events=[se.Event(text, stop=False) for text in cases]
    )
    for text, exact in known.items():
        got = np.array([event.t for event in results.events if event.name == text])
        if got.size != exact.size or np.abs(got - exact).max() > 1e-4:
            yield f"touches of {text}: {got} instead of {exact}"
        elif not all(event.touch for event in results.events if event.name == text and event.t > 1e-3):
            yield f"{text} crosses where it touches"


def stops(motion: Motion, known: dict[str, list[tuple[float, bool]]]) -> Iterator[str]:
    """A run that stops ends at the first crossing, with the default tolerance."""
    for text in list(known)[:1]:
        results = se.dynamics(motion.model, t_end=T_END, events=se.Event(text))
        end = known[text][0][0] if known[text] else T_END
        if abs(results.t[-1] - end) > 1e-3:
            yield f"stop at {text}: {results.t[-1]} instead of {end}"


@pytest.mark.slow
def test_events():
    assert list(attack(np.random.default_rng(1), 16)) == []


def test_events_of_other_methods():
    """Every kind of run looks into its steps, also into the last one."""
    motion = Motion(np.random.default_rng(3))
    level = 0.95 * motion.A  # Newmark's method damps the swing by more than a hundredth
    exact = [c[0] for c in crossings(motion, f"a.x - {level:.17g}") or []]
    kinds = [
        (5e-3, {"integrator": "newmark", "step": 0.002}),  # its damping and its period are that far off
        (1e-3, {"integrator": "rk4", "step": 0.01}),
        (1e-3, {"formulation": "index3", "rtol": 1e-8}),
        (1e-3, {"coordinates": "natural", "rtol": 1e-8}),
    ]
    for late, options in kinds:
        end = exact[1] + late  # the last steps of fixed ones hold the second crossing
        r = se.dynamics(
            motion.model, t_end=end, events=se.Event(f"a.x - {level:.17g}", stop=False), **options
        )
        np.testing.assert_allclose([e.t for e in r.events], exact[:2], atol=late)
