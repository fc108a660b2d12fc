"""Mechanisms from a thousandth of a millimeter to 1000 km, from micrograms to megatons, also in one model.

The oracle knows nothing of the engine: chains in absolute angles, loops of one freedom in the angle of their crank, all
sums of positive terms, and reactions by the balance of forces from the ends inwards.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import simengine2d as se

G = 9.81
FAMILIES = ("reference_point", "relative", "natural", "mixed")
FORMULATIONS = (
    "projection",
    "augmented",
    "penalty",
    "matrix_r",
    "partitioning",
    "index3",
    "ggl",
    "augmented_lagrangian",
)
RTOL = 1e-8
MOST_CALLS = 6_000  # of the right-hand side of the oracle
REFUSED: list[str] = []
"""Sentences that runs ended in, for whoever wants to look at them."""
SKIPPED: list[str] = []
TELLING = ("double precision", "stay open", "joints yield")
"""Words in which results say that they are less exact than was asked for."""


@dataclass
class Link:
    """A rigid body along its axis: pins at its ends, mass center a fraction `c` of its length from the first."""

    length: float
    mass: float
    c: float = 0.5
    inertia: float = 0.0

    @property
    def arm(self) -> float:
        return self.c * self.length


@dataclass
class Motion:
    """Angles of the links, their accelerations and the forces of the pins on the links behind them, by times."""

    t: np.ndarray
    phi: np.ndarray
    phidd: np.ndarray
    forces: dict[str, np.ndarray]
    near: Motion | None = None
    """The same from a start that is off by RTOL: how much may be asked."""


def u(phi):
    return np.array([np.cos(phi), np.sin(phi)])


def v(phi):
    return np.array([-np.sin(phi), np.cos(phi)])


def cross(a, b):
    return a[0] * b[1] - a[1] * b[0]


@dataclass
class Mechanism:
    """A model for the engine and an oracle for its motion; `y` is the state of the oracle, angles and their rates."""

    links: list[Link]
    y: np.ndarray
    t_end: float
    doubled: bool
    beside: float
    hard: bool
    """Whether masses or lengths differ: an error is then an answer too."""
    extra: dict = field(default_factory=dict)

    def states(self, y):
        """Angles and rates of all links."""
        raise NotImplementedError

    def accelerations(self, y) -> np.ndarray:
        """Second derivatives of the angles of the state."""
        raise NotImplementedError

    def told(self, y) -> tuple[np.ndarray, np.ndarray, dict[str, np.ndarray]]:
        """Angles and angular accelerations of all links, forces of the pins."""
        raise NotImplementedError

    def motion(self) -> Motion | None:
        """None where the oracle itself has lost its way: a light crank that a heavy rocker throws about."""
        n = self.y.size // 2
        exact, near = (self.motion_from(y) for y in (self.y, self.y + RTOL * (np.arange(2 * n) < n)))
        if exact is not None:
            exact.near = near
        return exact if near is not None else None

    def motion_from(self, y) -> Motion | None:
        times, n, calls = np.linspace(0.0, self.t_end, 5), y.size // 2, iter(range(MOST_CALLS))

        def slope(_, y):
            if next(calls, None) is None:
                raise StopIteration
            return np.concatenate([y[n:], self.accelerations(y)])

        try:
            Y = solve_ivp(slope, (0, times[-1]), y, "DOP853", times, rtol=1e-11, atol=1e-12).y.T
        except (StopIteration, RuntimeError):
            return None
        rows = [self.told(y) for y in Y]
        forces = {name: np.array([row[2][name] for row in rows]) for name in rows[0][2]}
        return Motion(times, np.array([r[0] for r in rows]), np.array([r[1] for r in rows]), forces)

    def model(self) -> se.Model:
        m = se.Model("scales", gravity=(0.0, -G))
        self.fill(m)
        if self.beside:
            m.add(se.Fixed("held", m.ground, m.body("beside", mass=self.beside, inertia=self.beside)))
        return m

    def fill(self, m: se.Model) -> None:
        raise NotImplementedError

    def add_link(self, m: se.Model, k: int, start, phi: float, rate: float | None) -> se.Body:
        link = self.links[k]
        at = np.asarray(start) + link.arm * u(phi)
        return m.body(
            f"b{k}", mass=link.mass, inertia=link.inertia, at=tuple(at), angle=float(phi), angular_velocity=rate,
            points={"start": (-link.arm, 0.0), "end": (link.length - link.arm, 0.0)},
        )  # fmt: skip

    def pin(self, m: se.Model, name: str, a, b) -> None:
        m.add(se.Revolute(name, a, b))
        if self.doubled:
            m.add(se.Revolute(f"{name} again", a, b))

    def force(self, results: se.Results, name: str, on: str) -> np.ndarray:
        names = [name, f"{name} again"] if self.doubled else [name]
        parts = [results.reaction(each, on=on) for each in names]
        return np.array([sum(p.fx for p in parts), sum(p.fy for p in parts)]).T


class Chain(Mechanism):
    """Links behind each other, the first on the ground.

    sum_j D_ij (cos(phi_i - phi_j) phidd_j + sin(phi_i - phi_j) phid_j^2) + J_i phidd_i = sum_k m_k d_ki g . v_i
    """

    def arms(self):
        n = len(self.links)
        d = np.zeros((n, n))
        for k, link in enumerate(self.links):
            d[k, :k] = [before.length for before in self.links[:k]]
            d[k, k] = link.arm
        return d

    def accelerations(self, y):
        n = len(self.links)
        phi, rate = y[:n], y[n:]
        m, J, d = (
            np.array([x.mass for x in self.links]),
            np.array([x.inertia for x in self.links]),
            self.arms(),
        )
        D, turn = d.T @ (m[:, None] * d), phi[:, None] - phi[None, :]
        A = D * np.cos(turn) + np.diag(J)
        b = -(D * np.sin(turn)) @ rate**2 - G * np.cos(phi) * (m @ d)
        size = np.sqrt(np.diag(A))
        return np.linalg.solve(A / np.outer(size, size), b / size) / size

    def told(self, y):
        n = len(self.links)
        phi, rate, second = y[:n], y[n:], self.accelerations(y)
        ends = [second[i] * v(phi[i]) - rate[i] ** 2 * u(phi[i]) for i in range(n)]
        centers = self.arms() @ np.array(ends)
        shares = [link.mass * (a + np.array([0.0, G])) for link, a in zip(self.links, centers, strict=True)]
        return phi, second, {f"J{k}": np.sum(shares[k:], axis=0) for k in range(n)}

    def fill(self, m):
        n, at, before = len(self.links), np.zeros(2), m.ground.at(0.0, 0.0)
        for k, link in enumerate(self.links):
            body = self.add_link(m, k, at, self.y[k], float(self.y[n + k]))
            self.pin(m, f"J{k}", before, body["start"])
            at, before = at + link.length * u(self.y[k]), body["end"]

    def stiff(self) -> bool:
        """Whether a joint between light links carries a heavy one, and vibrates like a string."""
        masses = [link.mass for link in self.links]
        return any(sum(masses[k + 2 :]) > 1e3 * (masses[k] + masses[k + 1]) for k in range(len(masses) - 2))


class Loop(Mechanism):
    """One freedom, the angle of the crank: its rate moves every link by k_i and every center by v_i.

    sum_i (m_i |v_i|^2 + J_i k_i^2) phidd = sum_i m_i v_i . (g - a_i) - J_i k_i alpha_i - S
    with the accelerations a_i, alpha_i at phidd = 0
    """

    def moved(self, y, second):
        """(angle, rate, acceleration of the angle; acceleration, velocity of the center) of each link."""
        raise NotImplementedError

    def push(self, moved) -> float:
        """Power of other forces at unit rate."""
        return 0.0

    def accelerations(self, y):
        unit, rest = self.moved(np.array([y[0], 1.0]), 0.0), self.moved(y, 0.0)
        inertia, force = 0.0, self.push(unit)
        for link, one, now in zip(self.links, unit, rest, strict=True):
            inertia += link.mass * one[4] @ one[4] + link.inertia * one[1] ** 2
            force += link.mass * one[4] @ (np.array([0.0, -G]) - now[3]) - link.inertia * one[1] * now[2]
        return np.array([force / inertia])


class FourBar(Loop):
    """Crank O-A, coupler A-B, rocker C-B."""

    def moved(self, y, second):
        a, b, c = self.links
        C, A = np.asarray(self.extra["C"]), a.length * u(y[0])
        way = C - A
        reach = np.hypot(*way)
        turn = np.arccos((b.length**2 + reach**2 - c.length**2) / (2 * b.length * reach))
        pb = np.arctan2(way[1], way[0]) + turn
        B = A + b.length * u(pb)
        pc = np.arctan2(*(B - C)[::-1])
        K = np.column_stack([b.length * v(pb), -c.length * v(pc)])
        wb, wc = np.linalg.solve(K, -a.length * y[1] * v(y[0]))
        ends = a.length * (second * v(y[0]) - y[1] ** 2 * u(y[0]))
        right = -ends + b.length * wb**2 * u(pb) - c.length * wc**2 * u(pc)
        ab, ac = np.linalg.solve(K, right)
        at = lambda link, p, w, s: link.arm * (s * v(p) - w**2 * u(p))
        vA = a.length * y[1] * v(y[0])
        return [
            (y[0], y[1], second, at(a, y[0], y[1], second), a.arm * y[1] * v(y[0])),
            (pb, wb, ab, ends + at(b, pb, wb, ab), vA + b.arm * wb * v(pb)),
            (pc, wc, ac, at(c, pc, wc, ac), c.arm * wc * v(pc)),
        ]

    def told(self, y):
        moved = self.moved(y, self.accelerations(y)[0])
        (pa, _, _, aa, _), (pb, _, db, ab, _), (pc, _, dc, ac, _) = moved
        a, b, c = self.links
        up = np.array([0.0, G])
        # moments of the coupler about A and of the rocker about C give the force at B on the rocker
        rows = np.array(
            [np.array([-u(pb)[1], u(pb)[0]]) * -b.length, np.array([-u(pc)[1], u(pc)[0]]) * c.length]
        )
        right = [
            b.inertia * db + cross(b.arm * u(pb), b.mass * (ab + up)),
            c.inertia * dc + cross(c.arm * u(pc), c.mass * (ac + up)),
        ]
        FB = np.linalg.solve(rows, right)
        FA = b.mass * (ab + up) + FB
        forces = {"B": FB, "A": FA, "O": a.mass * (aa + up) + FA, "C": c.mass * (ac + up) - FB}
        return np.array([pa, pb, pc]), np.array([m[2] for m in moved]), forces

    def fill(self, m):
        (pa, *_), (pb, *_), (pc, *_) = self.moved(self.y, 0.0)
        a = self.add_link(m, 0, (0.0, 0.0), pa, float(self.y[1]))
        b = self.add_link(m, 1, self.links[0].length * u(pa), pb, None)
        c = self.add_link(m, 2, self.extra["C"], pc, None)
        self.pin(m, "O", m.ground.at(0.0, 0.0), a["start"])
        self.pin(m, "A", a["end"], b["start"])
        self.pin(m, "C", m.ground.at(*self.extra["C"]), c["start"])
        self.pin(m, "B", b["end"], c["end"])


class SliderCrank(Loop):
    """Crank O-A, rod A-B, a slider B on the x-axis, pushed by a spring."""

    def moved(self, y, second):
        a, b, _ = self.links
        pb = -np.arcsin(a.length * np.sin(y[0]) / b.length)
        wb = -a.length * np.cos(y[0]) * y[1] / (b.length * np.cos(pb))
        bend = a.length * (np.cos(y[0]) * second - np.sin(y[0]) * y[1] ** 2) - b.length * np.sin(pb) * wb**2
        ab = -bend / (b.length * np.cos(pb))
        ends = a.length * (second * v(y[0]) - y[1] ** 2 * u(y[0]))
        aB = ends + b.length * (ab * v(pb) - wb**2 * u(pb))
        vA, vB = a.length * y[1] * v(y[0]), a.length * y[1] * v(y[0]) + b.length * wb * v(pb)
        return [
            (y[0], y[1], second, a.arm * (second * v(y[0]) - y[1] ** 2 * u(y[0])), a.arm * y[1] * v(y[0])),
            (pb, wb, ab, ends + b.arm * (ab * v(pb) - wb**2 * u(pb)), vA + b.arm * wb * v(pb)),
            (0.0, 0.0, 0.0, np.array([aB[0], 0.0]), np.array([vB[0], 0.0])),
        ]

    def spring(self, moved) -> float:
        a, b, _ = self.links
        x = a.length * np.cos(moved[0][0]) + b.length * np.cos(moved[1][0])
        return float(-self.extra["k"] * (x - self.extra["free"]))

    def push(self, moved):
        return self.spring(moved) * moved[2][4][0]

    def told(self, y):
        moved = self.moved(y, self.accelerations(y)[0])
        (pa, _, da, aa, _), (pb, _, db, ab, _), (_, _, _, aB, _) = moved
        a, b, s = self.links
        up = np.array([0.0, G])
        # on the slider in x; the moment of the rod about A gives the y of the force at B on the slider
        fx = s.mass * aB[0] - self.spring(moved)
        right = b.inertia * db + cross(b.arm * u(pb), b.mass * (ab + up)) - np.sin(pb) * b.length * fx
        FB = np.array([fx, -right / (b.length * np.cos(pb))])
        FA = b.mass * (ab + up) + FB
        forces = {"B": FB, "A": FA, "O": a.mass * (aa + up) + FA}
        return np.array([pa, pb, 0.0]), np.array([da, db, 0.0]), forces

    def fill(self, m):
        a, b, s = self.links
        (pa, *_), (pb, *_), _ = self.moved(self.y, 0.0)
        crank = self.add_link(m, 0, (0.0, 0.0), pa, float(self.y[1]))
        rod = self.add_link(m, 1, a.length * u(pa), pb, None)
        x = a.length * np.cos(pa) + b.length * np.cos(pb)
        slider = m.body("b2", mass=s.mass, inertia=s.inertia, at=(float(x), 0.0))
        self.pin(m, "O", m.ground.at(0.0, 0.0), crank["start"])
        self.pin(m, "A", crank["end"], rod["start"])
        self.pin(m, "B", rod["end"], slider)
        m.add(se.Translational("guide", m.ground, slider))
        far = 2.0 * (a.length + b.length)
        k, free = self.extra["k"], self.extra["free"]
        m.add(se.Spring("s", se.distance(m.ground.at(-far, 0.0), slider), stiffness=k, free=far + free))


class Parallelogram(Loop):
    """Three cranks carry a coupler: one equation is redundant, and reactions are not unique."""

    def moved(self, y, second):
        a = self.links[0]
        end = a.length * (second * v(y[0]) - y[1] ** 2 * u(y[0]))
        cranks = [(y[0], y[1], second, link.c * end, link.arm * y[1] * v(y[0])) for link in self.links[:3]]
        return [*cranks, (0.0, 0.0, 0.0, end, a.length * y[1] * v(y[0]))]

    def told(self, y):
        second = self.accelerations(y)[0]
        return np.array([y[0]] * 3 + [0.0]), np.array([second] * 3 + [0.0]), {}

    def fill(self, m):
        wide, length = self.extra["wide"], self.links[0].length
        beam = self.links[3]
        coupler = m.body(
            "b3", mass=beam.mass, inertia=beam.inertia, at=tuple(length * u(self.y[0]) + [wide, 0.0]), angle=0.0,
            points={f"P{k}": ((k - 1) * wide, 0.0) for k in range(3)},
        )  # fmt: skip
        for k in range(3):
            crank = self.add_link(m, k, (k * wide, 0.0), self.y[0], float(self.y[1]) if k == 0 else None)
            self.pin(m, f"O{k}", m.ground.at(k * wide, 0.0), crank["start"])
            self.pin(m, f"A{k}", crank["end"], coupler[f"P{k}"])


# Random members -----------------------------------------------------------------------------------------


def random_link(rng, length: float, mass: float) -> Link:
    c = float(rng.choice([0.5, 1.0, rng.uniform(0.1, 1.0)]))
    inertia = 0.0 if rng.random() < 0.3 else mass * length**2 * rng.uniform(0.01, 0.2)
    return Link(length, mass, c, inertia)


def random_mechanism(rng) -> Mechanism:
    spread = float(rng.choice([0.0, 0.0, 3.0, 6.0, 9.0]))
    size = 10.0 ** rng.uniform(-6, 6)
    base = rng.uniform(-9 + spread, 9 - spread) if spread < 9 else 0.0
    mass = lambda: float(10.0 ** (base + rng.uniform(-spread, spread) + rng.uniform(-0.3, 0.3)))
    doubled, beside = bool(rng.random() < 0.35), 0.0
    if rng.random() < 0.3:
        beside = float(10.0 ** rng.uniform(-9, 9))
    kind = rng.choice(["chain", "chain", "four_bar", "slider_crank", "parallelogram"])
    mixed = bool(rng.random() < 0.4)
    common = {"doubled": doubled, "beside": beside, "hard": spread > 0.0 or mixed}
    if kind == "chain":
        count = int(rng.integers(1, 4))
        decades = rng.uniform(-3, 3, count) if mixed else rng.uniform(-0.3, 0.3, count)
        size = 10.0 ** rng.uniform(-3, 3) if mixed else size
        links = [random_link(rng, float(size * 10.0**d), mass()) for d in decades]
        lengths = [link.length for link in links]
        y = np.concatenate(
            [rng.uniform(-2.5, -0.6, count), rng.uniform(-1, 1, count) * np.sqrt(G / max(lengths))]
        )
        return Chain(links, y, 3.0 * np.sqrt(min(lengths) / G), **common)
    short = 10.0 ** rng.uniform(-4, -0.5) if mixed else 1.0
    if kind == "four_bar":
        a, b, c, g = size * short, *(size * (np.array([3.0, 2.5, 3.0]) + rng.uniform(-0.2, 0.2, 3)))
        links = [random_link(rng, float(x), mass()) for x in (a, b, c)]
        if rng.random() < 0.15:
            links[1] = Link(links[1].length, 0.0)
        y = np.array([rng.uniform(-3, 3), rng.uniform(-1, 1) * np.sqrt(G / a)])
        return FourBar(links, y, 2.0 * np.sqrt(a / G), extra={"C": (float(g), 0.0)}, **common)
    if kind == "slider_crank":
        a, b = size * short, size * rng.uniform(2.0, 3.0)
        links = [random_link(rng, float(x), mass()) for x in (a, b)] + [Link(0.0, mass())]
        links[2].inertia = float(rng.choice([0.0, links[2].mass * size**2]))
        if rng.random() < 0.15:
            links[1] = Link(links[1].length, 0.0)
        stiffness = float(sum(link.mass for link in links) * G / a * rng.uniform(0.1, 1.0))
        y = np.array([rng.uniform(-3, 3), rng.uniform(-1, 1) * np.sqrt(G / a)])
        return SliderCrank(links, y, 2.0 * np.sqrt(a / G), extra={"k": stiffness, "free": float(b)}, **common)
    links = [random_link(rng, float(size), mass()) for _ in range(3)] + [Link(size, mass(), 0.5, 0.0)]
    links[3].inertia = links[3].mass * size**2 * rng.uniform(0.1, 1.0)
    y = np.array([rng.uniform(-2.2, -0.9), 0.0])
    return Parallelogram(links, y, 2.0 * np.sqrt(size / G), extra={"wide": float(size)}, **common)


# The attack ----------------------------------------------------------------------------------------------


def answer(mechanism: Mechanism, model: se.Model, times, **options) -> se.Results | str:
    """The results, or the sentence in which the run ended."""
    try:
        return se.dynamics(model, t_eval=times, rtol=RTOL, **options)
    except se.SimEngineError as error:
        return str(error)


def wrong(mechanism: Mechanism, exact: Motion, results: se.Results, loose: float) -> str | None:
    """What differs from the oracle by more than it may."""
    if not results.verdict.is_good and any(words in note for note in results.notes for words in TELLING):
        return None
    near = exact.near
    assert near is not None
    margin = lambda least, a, b: loose * max(least, 100.0 * float(np.abs(a - b).max()))
    allowed = margin(3e-7, exact.phi, near.phi)
    for k in range(exact.phi.shape[1]):
        off = np.abs(results[f"b{k}.phi"] - results[f"b{k}.phi"][0] - exact.phi[:, k] + exact.phi[0, k]).max()
        if not off <= allowed:
            return f"b{k}.phi off by {off:.1e} rad, {allowed:.0e} allowed"
        size = np.abs(exact.phidd[:, k]).max() + G / max(link.length for link in mechanism.links)
        off = np.abs(results[f"b{k}.phidd"] - exact.phidd[:, k]).max() / size
        if not off <= margin(3e-5, exact.phidd[:, k] / size, near.phidd[:, k] / size):
            return f"b{k}.phidd off by {off:.1e} of its size"
    for name, force in exact.forces.items():
        on = {"O": "b0", "A": "b1", "C": "b2", "B": "b2"}.get(name, f"b{name[1:]}")
        size = np.abs(force).max()
        off = np.abs(mechanism.force(results, name, on) - force).max() / size
        if not off <= margin(3e-5, force / size, near.forces[name] / size):
            return f"the force of {name} off by {off:.1e} of its size"
    return None


def in_words(mechanism: Mechanism) -> str:
    masses = [f"{link.mass:.0e}" for link in mechanism.links]
    lengths = [f"{link.length:.0e}" for link in mechanism.links]
    flags = ["doubled"] * mechanism.doubled + [f"beside {mechanism.beside:.0e}"] * (mechanism.beside > 0)
    flags += ["J = 0"] * any(link.inertia == 0.0 for link in mechanism.links)
    return (
        f"{type(mechanism).__name__} masses {' '.join(masses)} lengths {' '.join(lengths)} {', '.join(flags)}"
    )


def attack(
    rng: np.random.Generator,
    count: int,
    families: tuple[str, ...] = FAMILIES,
    formulations: tuple[str, ...] = FORMULATIONS,
) -> Iterator[str]:
    """Each member by the default, and in each family by one of the formulations."""
    for number, child in enumerate(rng.spawn(count)):
        yield from one_attack(number, child, families, formulations)


def one_attack(
    number: int, rng: np.random.Generator, families: tuple[str, ...], formulations: tuple[str, ...]
) -> Iterator[str]:
    """One random member in all ways asked for."""
    mechanism = random_mechanism(rng)
    if isinstance(mechanism, Chain) and mechanism.stiff():
        mechanism.links = mechanism.links[:1]
        mechanism.y = mechanism.y[[0, mechanism.y.size // 2]]
        mechanism.t_end = 3.0 * np.sqrt(mechanism.links[0].length / G)
    ways: list[dict] = [{}]
    ways += [{"coordinates": family, "formulation": str(rng.choice(formulations))} for family in families]
    exact, model = mechanism.motion(), mechanism.model()
    if exact is None:
        SKIPPED.append(in_words(mechanism))
        return
    for options in ways:
        found = answer(mechanism, model, exact.t, **options)
        where = f"{number}: {in_words(mechanism)} {options}"
        if isinstance(found, str):
            REFUSED.append(f"{where}: {found}")
            if not mechanism.hard:
                yield f"{where}: {found}"
            continue
        # penalty holds constraints by stiff springs, Baumgarte's drift by a pull
        loose = {"penalty": 1e4, "augmented": 10.0}.get(options.get("formulation"), 1.0)
        fault = wrong(mechanism, exact, found, loose)
        if fault is not None:
            yield f"{where}: {fault}"


@pytest.mark.parametrize("seed", range(2))
def test_mechanisms_of_all_sizes(seed):
    assert list(attack(np.random.default_rng(seed), 3, ("relative",), ("projection",))) == []


@pytest.mark.slow
def test_mechanisms_of_all_sizes_in_all_coordinates():
    assert list(attack(np.random.default_rng(2026), 8)) == []


def uneven_chain(masses: tuple[float, ...]) -> Chain:
    links = [Link(1.0, mass, 0.5, 0.1 * mass) for mass in masses]
    y = np.array([-1.0, -0.6, -2.0, 1.0, -0.5, 0.3])[[*range(len(masses)), *range(3, 3 + len(masses))]]
    return Chain(links, y, 0.1, doubled=True, beside=0.0, hard=True)


@pytest.mark.slow
@pytest.mark.parametrize("coordinates", FAMILIES)
@pytest.mark.parametrize("formulation", [name for name in FORMULATIONS if name != "penalty"])
def test_a_heavy_link_that_carries_light_ones_has_the_accelerations_of_all(coordinates, formulation):
    chain = uneven_chain((1e5, 1.0, 1e-5))
    exact = chain.motion()
    found = se.dynamics(
        chain.model(), t_eval=exact.t, rtol=1e-7, coordinates=coordinates, formulation=formulation
    )
    for k in range(3):
        assert np.allclose(found[f"b{k}.phidd"], exact.phidd[:, k], rtol=3e-5, atol=1e-5)


@pytest.mark.slow
def test_a_light_slider_that_a_strong_spring_pushes_is_not_lost_without_a_word():
    m = se.Model("soft guide", gravity=(0.0, 0.0))
    crank = m.bar("crank", (0.0, 0.0), (1.0, 1.0), mass=1e3)
    slider = m.body("slider", mass=1e-6, inertia=1e-6, at=(2.0, 0.0))
    rod = m.bar("rod", (1.0, 1.0), (2.0, 0.0), mass=0.0)
    m.add(se.Revolute("O", m.ground, crank["start"]))
    m.add(se.Revolute("A", crank["end"], rod["start"]))
    m.add(se.Revolute("B", rod["end"], slider))
    m.add(se.Translational("guide", m.ground, slider))
    m.add(se.PointForce("push", slider, -1e5, 0.0))
    with pytest.raises(se.ConvergenceError, match="joints yield"):
        se.dynamics(m, t_end=0.1, formulation="penalty", coordinates="natural")
