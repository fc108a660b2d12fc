"""Mutated files and expressions: seeds, and what can be done to them. Each member is made from one integer."""

from __future__ import annotations

import io
import json
import math
import random
import zipfile
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import yaml

import simengine2d as se
from simengine2d import builders
from simengine2d.io import archive
from simengine2d.model import library

COURSE = Path("/work/shared/models/course")  # files of a course, where they are at hand

NUMBERS: list[Any] = [
    0, -1, 1, 1e-300, 1e300, -1e300, 1e-9, 1e9, 1e20, 2**63, 10**299, -0.0, 5e-324, 1.7e308, 1e154, 1e-160, 3, 0.5,
]  # fmt: skip
WORDS: list[Any] = [
    "", " ", "nan", "inf", "1/0", "t", "x", "e", "pi", "sqrt(-1)", "log(0)", "1e400", "9^9^9", "0^-1", "a.b.c",
    "ground", "ground.at(1, 2)", "crank", "\u200b", "ä" * 40, "x" * 3000, "((((", "1,2", "if", "t > 1", "exp(1e3)",
    "step(t, 0, 1)", "tan(pi/2)", "asin(2)", "1e308*10", "0*log(0)", "mod(t, 0)", "true", "null", "2^1024",
    "abs(t)/t", "\x00", "\ud7ff", "-",
]  # fmt: skip
OTHERS: list[Any] = [
    None,
    True,
    False,
    [],
    {},
    [1],
    [1, 2],
    [1, 2, 3],
    [[1, 2]],
    {"a": 1},
    {"times": [0, 1], "values": [0, 1]},
]


def value(r: random.Random) -> Any:
    """A number, a word or something else that stands where it should not."""
    return r.choice(r.choice([NUMBERS, WORDS, OTHERS, [r.uniform(-10, 10), r.lognormvariate(0, 20)]]))


# Structure --------------------------------------------------------------------------------------------


def places(data: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths of all parts."""
    items = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, part in items:
        yield (*path, key)
        yield from places(part, (*path, key))


def changed(data: Any, r: random.Random) -> Any:
    """The data with one part replaced, removed, renamed, moved or doubled."""
    data = json.loads(json.dumps(data))
    path = r.choice([*places(data)] or [()])
    if not path:
        return value(r)
    parent = data
    for key in path[:-1]:
        parent = parent[key]
    key, kind = path[-1], r.random()
    old = parent[key]
    if kind < 0.45:
        parent[key] = scaled(old, r) if isinstance(old, int | float) and r.random() < 0.5 else value(r)
    elif kind < 0.6:
        del parent[key]
    elif kind < 0.7 and isinstance(parent, dict):
        parent[str(r.choice(["a", key * 2, key[:-1], key.upper(), "", "ground", 3, "a.b", "a, b"]))] = (
            parent.pop(key)
        )
    elif kind < 0.8:
        other = r.choice([*places(data)])
        found = data
        for step in other:
            found = found[step]
        parent[key] = json.loads(json.dumps(found))
    elif kind < 0.9 and isinstance(old, str):
        parent[key] = text_changed(old, r)
    elif isinstance(parent, list):
        parent.insert(r.randrange(len(parent) + 1), old)
    else:
        parent[f"{key} 2"] = old
    return data


def scaled(number: float, r: random.Random) -> Any:
    factor = r.choice([0.0, -1.0, 1e-12, 1e12, 1e150, 1e-150, 1e300, r.lognormvariate(0, 3), 1.0 + 1e-9])
    return number * factor if math.isfinite(number * factor) else 1.7e308


# Text -------------------------------------------------------------------------------------------------


def text_changed(text: str, r: random.Random) -> str:
    """Flips, cuts, doubled and swapped pieces, strange signs and numbers."""
    if not text:
        return str(value(r))
    i, j = sorted(r.randrange(len(text) + 1) for _ in range(2))
    j = min(j, i + 40)
    kinds: list[Callable[[], str]] = [
        lambda: text[:i] + text[j:],
        lambda: text[:i],
        lambda: text[:i] + text[i:j] * 2 + text[j:],
        lambda: text[:i] + r.choice("{}[]():,'\"#&*!|>%@`\t\n -+/^.0e\\\u2028\x85\u00e9") + text[i:],
        lambda: text[:i] + str(value(r)) + text[j:],
        lambda: text[:i] + r.choice(["(", "[", "{a: ", "- ", "-", "["]) * r.choice([5, 70, 400]) + text[i:],
        lambda: (
            text[:i]
            + r.choice(["&a ", "*a", "!!python/object:os.system ", "<<: *a\n", "---\n", "? "])
            + text[i:]
        ),
        lambda: (
            text[:i] + r.choice(["1" * 400, "9e999", "0x" + "f" * 300, "x" * 5000, "(" * 3000]) + text[j:]
        ),
    ]
    return r.choice(kinds)()


def bytes_changed(data: bytes, r: random.Random) -> bytes:
    """The same with bytes."""
    if not data:
        return b"\x00"
    i = r.randrange(len(data))
    j = min(len(data), i + r.choice([1, 4, 60, 1000]))
    kinds = [
        lambda: data[:i] + bytes([data[i] ^ (1 << r.randrange(8))]) + data[i + 1 :],
        lambda: data[:i],
        lambda: data[:i] + data[j:],
        lambda: data[:i] + data[i:j] + data[i:],
        lambda: data[:i] + bytes(r.randrange(256) for _ in range(j - i if j - i < 60 else 8)) + data[j:],
    ]
    return r.choice(kinds)()


# Seeds ------------------------------------------------------------------------------------------------


@cache
def model_data() -> list[dict[str, Any]]:
    """Models in our own format, as data."""
    return [yaml.safe_load(library.text(name)) for name in library.names()] + [_rich()]


def _rich() -> dict[str, Any]:
    """A model that has one of everything that files can hold."""
    return yaml.safe_load("""
name: rich
gravity: [0, -9.81]
parameters: {L: 1, k: 2*L, w: 3}
ground: {points: {G: [0, 0.5, 30*deg]}}
bodies:
  a: {shape: bar, start: [0, 0], end: [L, 0], mass: 1, angular_velocity: 1}
  b: {mass: 1, inertia: 0.1, at: [L + 0.3, 0], points: {P: [0.1, 0.2], Q: [-0.3, 0]}, velocity: [0, 0]}
  c: {shape: disk, radius: 0.2, mass: 0.5, at: [3, 0]}
  d: {shape: block, width: 1, height: 0.5, mass: 2, at: [5, 0]}
joints:
  O: {type: Revolute, a: ground, b: a.start}
  A: {type: Revolute, a: a.end, b: b.Q}
  guide: {type: Translational, a: ground, b: d, direction: 10*deg}
  roll: {type: RackPinion, a: d, b: c, radius: 0.2}
  hold: {type: AbsoluteY, frame: c, value: 0}
  own: {type: Constraint, equations: ["d.x - 5 - 0.1*sin(w*t)"]}
forces:
  s: {type: Spring, measure: "distance(ground.G, b.P)", stiffness: k, damping: 0.1, free: L, law: "3*s^3 - sd"}
  f: {type: PointForce, frame: b.P, fx: "sin(t)", fy: "-0.1*xd", axes: body}
  m: {type: Torque, frame: a, value: {times: [0, 1, 2], values: [0, 1, 0]}}
  v: {type: Force, potential: "a.phi^2"}
  u: {type: Force, along: {b.P.x: "-b.P.xd", "distance(a.end, d)": "0.1*t"}}
analysis: {kind: dynamics, t_end: 1, step: 0.01}
""")


@cache
def course_data() -> list[str]:
    """Texts of course models."""
    texts = [path.read_text(encoding="utf-8-sig") for path in sorted(COURSE.glob("*.adm"))]
    return texts or [_adm()]


def _adm() -> str:
    from simengine2d.io.adm_check import checked_adm

    return checked_adm(builders.slider_crank(1, 2, speed=2))


ACF = '{"simulation": "Dynamics", "tend": 0.5, "stepSize": 0.01, "outputSteps": 7}'


TABLE = "t,motor\n0,0\n0.1,0.2\n0.2,0.5\n0.35,0.9\n0.5,1.4\n"


@cache
def result_files() -> dict[str, bytes]:
    """Small results as .npz and .csv."""
    from simengine2d.io import results_files

    m = se.Model("p")
    bar = m.bar("bar", (0, 0), (1, 0), mass=1)
    m.add(se.Revolute("O", m.ground, bar["start"]))
    r = se.dynamics(m, t_eval=[0, 0.01, 0.02], events=se.Event("bar.phi + 0.001", stop=False))
    return {ending: results_files.CODECS[ending][0](r) for ending in (".npz", ".csv")}


def parts(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def packed(members: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, part in members.items():
            archive.writestr(name, part)
    return buffer.getvalue()


def npz_changed(data: bytes, r: random.Random) -> bytes:
    """An archive with one member damaged, removed, swapped, or made of other numbers; or damaged as bytes."""
    if r.random() < 0.3:
        return bytes_changed(data, r)
    members = parts(data)
    name = r.choice(sorted(members))
    kind = r.random()
    if kind < 0.2:
        del members[name]
    elif kind < 0.4:
        members[name] = members[r.choice(sorted(members))]
    elif kind < 0.6:
        members[name] = bytes_changed(members[name], r)
    else:
        members[name] = saved(array_changed(loaded(members[name]), r))
    return packed(disguised(members, r))


def loaded(member: bytes) -> Any:
    return np.load(io.BytesIO(member))


def saved(array: Any) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array)
    return buffer.getvalue()


def disguised(members: dict[str, bytes], r: random.Random) -> dict[str, bytes]:
    """Sometimes as a file from before there was a digest, sometimes with one that fits."""
    kind = r.random()
    try:
        arrays = {name.removesuffix(".npy"): loaded(member) for name, member in members.items()}
        text = str(arrays.pop("metadata"))
        arrays.pop("digest", None)
        if kind < 0.4:
            text = text.replace('"format": 3', '"format": 2')
            return {n: m for n, m in members.items() if n != "digest.npy"} | {
                "metadata.npy": saved(np.array(text))
            }
        if kind < 0.7:
            return members | {"digest.npy": saved(np.array(archive.digest(text, arrays)))}
    except Exception:  # too damaged for that
        return members
    return members


def array_changed(array: Any, r: random.Random) -> Any:
    if array.dtype.kind == "U":
        text = str(array)
        is_data = text.startswith("{") and r.random() < 0.8
        return np.array(json.dumps(changed(json.loads(text), r)) if is_data else text_changed(text, r))
    kinds: list[Callable[[], Any]] = [
        lambda: array * np.nan,
        lambda: array.ravel()[:-1],
        lambda: array[:0] if array.ndim else array,
        lambda: array.astype(complex),
        lambda: array.astype(str),
        lambda: np.zeros((3, 3)),
        lambda: array.T,
        lambda: -array,
        lambda: array.astype(np.float32),
        lambda: np.array(5.0),
    ]
    return r.choice(kinds)()


# Files ------------------------------------------------------------------------------------------------


def mutant(seed: int) -> tuple[str, bytes]:
    """A file: its ending and its bytes."""
    r = random.Random(seed)
    kind = r.choice(
        [".yaml", ".yaml", ".json", ".adm", ".adm", ".acf", ".npz", ".csv", "", ".table", ".motion"]
    )
    if kind in (".table", ".motion"):
        return kind, bytes_changed(text_changed(TABLE, r).encode("utf-8", errors="surrogatepass"), r)
    if kind in (".npz", ".csv"):
        data = result_files()[kind]
        return kind, npz_changed(data, r) if kind == ".npz" else bytes_changed(data, r)
    if kind == ".acf":
        text = json.dumps(changed(json.loads(ACF), r)) if r.random() < 0.5 else text_changed(ACF, r)
    elif kind == ".adm":
        text = _course_mutant(r)
    else:
        text = _model_mutant(kind, r)
    data = text.encode("utf-8", errors="surrogatepass")
    return kind, bytes_changed(data, r) if r.random() < 0.1 else data


def _model_mutant(kind: str, r: random.Random) -> str:
    data = r.choice(model_data())
    if r.random() < 0.75:
        for _ in range(r.choice([1, 1, 1, 2, 4])):
            data = changed(data, r)
        return json.dumps(data) if kind == ".json" else yaml.safe_dump(data, allow_unicode=True)
    text = (
        json.dumps(data, indent=1)
        if kind == ".json"
        else r.choice([yaml.safe_dump(data), library.text("four_bar")])
    )
    for _ in range(r.choice([1, 1, 3])):
        text = text_changed(text, r)
    return text


def _course_mutant(r: random.Random) -> str:
    text = r.choice(course_data())
    if r.random() < 0.75:
        try:
            data = json.loads(text)
        except ValueError:
            return text_changed(text, r)
        for _ in range(r.choice([1, 1, 1, 2, 4])):
            data = changed(data, r)
        return json.dumps(data)
    return text_changed(text, r)


# Expressions ------------------------------------------------------------------------------------------

ATOMS = [
    "t",
    "x",
    "s",
    "sd",
    "phi",
    "1",
    "0",
    "2",
    "0.5",
    "pi",
    "e",
    "deg",
    "1e300",
    "1e-300",
    "L",
    "bar.phi",
    "-1",
]
CALLS = [
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "sqrt",
    "exp",
    "log",
    "abs",
    "sign",
    "tanh",
    "floor",
    "sinh",
    "cosh",
]
PAIRS = ["atan2", "min", "max", "mod", "hypot"]
SIGNS = ["+", "-", "*", "/", "^", "**", "<", ">", "<=", "==", "!=", " and ", " or ", "&", "|"]


def expression(r: random.Random, depth: int = 4) -> str:
    """A random sentence of the grammar."""
    if depth == 0 or r.random() < 0.15:
        return r.choice(ATOMS)
    kind, deeper = r.random(), lambda: expression(r, depth - 1)
    if kind < 0.5:
        return f"({deeper()}{r.choice(SIGNS)}{deeper()})"
    if kind < 0.75:
        return f"{r.choice(CALLS)}({deeper()})"
    if kind < 0.85:
        return f"{r.choice(PAIRS)}({deeper()}, {deeper()})"
    if kind < 0.9:
        return f"if({deeper()}, {deeper()}, {deeper()})"
    if kind < 0.95:
        return f"step({deeper()}, 0, 0, 1, 1)"
    return f"-{deeper()}"


def mutated_expression(seed: int) -> str:
    r = random.Random(seed)
    text = expression(r, r.choice([1, 2, 4, 6]))
    return text_changed(text, r) if r.random() < 0.4 else text
