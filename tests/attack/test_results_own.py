"""Results after their model was changed at random: what they show and save stays what it was."""

from __future__ import annotations

import copy
import pickle
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

import simengine2d as se

T_EVAL = np.linspace(0.0, 0.2, 5)


def mechanism(rng: np.random.Generator) -> se.Model:
    """A pendulum with parameters in its mass, its points and its spring, perhaps with a second bar."""
    m = se.Model("edited", parameters={"L": float(rng.uniform(0.5, 2)), "k": float(rng.uniform(1, 50))})
    bar = m.body(
        "bar", mass="2*L", inertia="L^2/6", at=("L/2", 0), points={"O": ("-L/2", 0), "P": ("L/2", 0)}
    )
    m.add(se.Revolute("O", m.ground.at(0, 0), bar["O"]))
    m.add(se.Spring("s", se.distance(m.ground.at(0, 2), bar["P"]), stiffness="k", free="L"))
    if rng.random() < 0.5:
        other = m.bar("other", ("L", 0), ("L + 0.5", 0.2), mass=1)
        m.add(se.Revolute("P", bar["P"], other["start"]))
    return m


def _parameter(m: se.Model, rng: np.random.Generator) -> None:
    m.parameters["k" if rng.random() < 0.5 else "L"] = float(rng.uniform(0.1, 9))


def _removed(m: se.Model, rng: np.random.Generator) -> None:
    name = str(rng.choice(sorted(m.elements)))
    del m.elements[name]


def _replaced(m: se.Model, rng: np.random.Generator) -> None:
    m.parameters = {"L": 3.0, "k": 1.0}
    m.bodies = dict(reversed(m.bodies.items()))


EDITS: list[Callable[[se.Model, np.random.Generator], object]] = [
    _parameter,
    _removed,
    _replaced,
    lambda m, rng: m.bar("later", (2, 0), (3, 0), mass=1),
    lambda m, rng: m.bodies["bar"].points.update(P=(float(rng.normal()), 0.1)),
    lambda m, rng: m.bodies["bar"].look.update(color="red"),
    lambda m, rng: setattr(m.bodies["bar"], "mass", 77.0),
    lambda m, rng: setattr(m, "gravity", (1.0, 2.0)),
    lambda m, rng: setattr(m, "name", "another"),
    lambda m, rng: m.elements.clear(),
    lambda m, rng: m.bodies.pop("bar"),
]


def seen(r: se.Results, folder: Path, pages: bool) -> dict[str, bytes]:
    """What results tell, and the files that they write."""
    told = {
        name: r[name].tobytes()
        for name in ("bar.P.y", "bar.phi", "O.fx", "s.force", "distance(ground, bar.P)")
    }
    told["energy"] = r.energy().total.tobytes()
    told["summary"] = r.summary().encode()
    for name in ("a.npz", "a.csv", *(("a.html", "r.html") if pages else ())):
        path = folder / name
        (r.report if name == "r.html" else r.html if name == "a.html" else r.save)(path)
        told[name] = path.read_bytes()
    return told


def attack(rng: np.random.Generator, count: int) -> Iterator[str]:
    """Run, edit the model in several ways, and compare what the results and their copies tell."""
    folder = Path(tempfile.mkdtemp())
    for case in range(count):
        m = mechanism(rng)
        r = se.dynamics(m, t_eval=T_EVAL)
        fresh = bool(rng.random() < 0.5)  # what is asked for the first time only after the edits
        wanted = seen(se.dynamics(m.copy(), t_eval=T_EVAL) if fresh else r, folder, True)
        done = [int(rng.integers(len(EDITS))) for _ in range(int(rng.integers(1, 4)))]
        for edit in done:
            try:
                EDITS[edit](m, rng)
            except (KeyError, ValueError, se.SimEngineError):
                continue  # an earlier edit took away what this one changes
        loaded = se.Results.load(r.save(folder / "b.npz"))
        kinds = {
            "itself": r,
            "pickled": pickle.loads(pickle.dumps(r)),
            "copied": copy.deepcopy(r),
            "loaded": loaded,
        }
        for kind, each in kinds.items():
            found = seen(each, folder, kind == "itself")
            other = [name for name in found if found[name] != wanted[name]]
            if other:
                yield f"case {case}, edits {done}, fresh {fresh}, {kind}: {', '.join(other)} changed"


def test_results_own_what_they_need():
    assert list(attack(np.random.default_rng(3), 2)) == []
