"""Joints, forces and curves: docstring, fields, a line of a model file, the equations in symbols, a picture."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import matplotlib

matplotlib.use("agg")

import matplotlib.pyplot as plt
import sympy as sp

import simengine2d as se
from simengine2d.model.elements import Element, ForceElement, Joint

from . import samples
from .markdown import prose, table

WITHOUT_SYMBOLS = {"Cam", "PointOnCurve", "RollingCurves"}
"""The nearest point of a curve has no formula."""
KINDS = {
    "number": "a number", "numbers": "numbers", "function": "a function of time", "frame": "a body or a point of it",
    "measure": "a measure", "direction": "an angle or a vector", "plain": "a word, or true or false",
    "curve": "a curve",
    "push law": "a law of s, sd, t", "state law": "a law of the body's state and t", "formulas": "formulas",
    "formula": "a formula", "components": "formulas by channel",
}  # fmt: skip
JOINTS_HEAD = """\
# Joints

A joint holds measures between two frames at a value; a driver makes one follow a function of time. Each joint below
is shown in a small mechanism: the line of the model file, the constraint equations that it adds there, in
reference-point coordinates, and a picture. In Python, `se.Revolute("J", "bar.end", "arm.start")` is the line `J:
{type: Revolute, a: bar.end, b: arm.start}`. This page is written from the classes.
"""
FORCES_HEAD = """\
# Forces

A force pushes along a measure by a law g(s, sd, t), or on a point of a body. Weights act by themselves, by the
`gravity` of the model. Each force below is shown in a small mechanism: the line of the model file, the generalized
forces that it adds to the weights, and a picture. This page is written from the classes.
"""


@cache
def sample(kind: str) -> se.Model:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "sample.yaml"
        path.write_text(samples.text(kind), encoding="utf-8")
        return se.load(path)


def names(base: type) -> list[str]:
    """The elements of the package, in the order of the samples."""
    ours = {
        n
        for n, c in Element.registry.items()
        if issubclass(c, base) and c.__module__.startswith("simengine2d.")
    }
    known = [name for name in samples.JOINTS | samples.FORCES if name in ours]
    if missing := sorted(ours - set(known)):
        raise SystemExit(f"tools/reference/samples.py has no sample of {missing}.")
    return known


def joints() -> str:
    return "\n\n".join([JOINTS_HEAD, *map(_section, names(Joint))]) + "\n"


def forces() -> str:
    return "\n\n".join([FORCES_HEAD, *map(_section, names(ForceElement))]) + "\n"


def _section(kind: str) -> str:
    cls = Element.registry[kind]
    line = (samples.JOINTS | samples.FORCES)[kind][2]
    freedom = getattr(cls, "freedom", None)
    leaves = (
        f"It leaves {freedom} relative motion{'s' if freedom != 1 else ''} between two bodies."
        if freedom is not None
        else ""
    )
    parts = [
        f"## {kind}",
        prose(cls.__doc__),
        leaves,
        _fields(cls),
        f"```yaml\n{'joints' if issubclass(cls, Joint) else 'forces'}:\n  {line}\n```",
        _equations(kind),
        f"![{kind}: a small mechanism](pictures/{kind}.png)",
    ]
    return "\n\n".join(filter(None, parts))


def _fields(cls: type[Element]) -> str:
    required = cls.required()
    rows = [
        [f"`{name}`", KINDS.get(kind.name, kind.name), "required" if name in required else ""]
        for name, kind in cls.kinds().items()
    ]
    return table(["field", "holds", ""], rows)


def _equations(kind: str) -> str:
    """The rows of the joint, or what a force adds to QA, in symbols."""
    if kind in WITHOUT_SYMBOLS:
        return ""
    equations = sample(kind).equations()
    if kind in samples.FORCES:
        zero = [entry for entry in equations.QA if entry != 0]
        return _math("Q^A", sp.Matrix(zero)) if zero else ""
    own = [i for i, name in enumerate(equations.row_names) if name == "J" or name.startswith("J.")]
    return _math("\\Phi", sp.Matrix([equations.Phi[i] for i in own]))


def _math(letter: str, values: sp.Matrix) -> str:
    shown = values if len(values) > 1 else values[0]
    return f"```{{math}}\n{letter} = {sp.latex(shown)}\n```"


def curves() -> str:
    from simengine2d.model.curves import cam_design, curve

    names = {"Curve": curve.Curve, "cam_motion": cam_design.cam_motion, "cam_profile": cam_design.cam_profile}
    sections = [f"## {name}\n\n{prose(thing.__doc__)}" for name, thing in names.items()]
    head = f"# Curves\n\n{prose(curve.__doc__)}\n\n[Cam](joints.md#cam), [PointOnCurve](joints.md#pointoncurve) and "
    head += "[RollingCurves](joints.md#rollingcurves) take a curve."
    picture = "![an ellipse, a spline through points, and the profile of a cam](pictures/curves.png)"
    return "\n\n".join([head, picture, *sections]) + "\n"


def draw_all(folder: Path) -> None:
    """Pictures that are not there yet; remove the folder to draw all of them anew."""
    folder.mkdir(parents=True, exist_ok=True)
    for kind in (*names(Joint), *names(ForceElement)):
        if not (folder / f"{kind}.png").is_file():
            _save(sample(kind).draw().figure, folder / f"{kind}.png")
    if not (folder / "curves.png").is_file():
        _save(_curves(), folder / "curves.png")


def _save(figure: matplotlib.figure.Figure, target: Path) -> None:
    figure.set_size_inches(4.2, 2.8)
    figure.savefig(target, dpi=110, metadata={"Software": None})
    plt.close(figure)


def _curves() -> matplotlib.figure.Figure:
    figure, axes = plt.subplots(1, 3, layout="constrained")
    profile = se.cam_profile(
        "cycloidal(theta, 0, 0, pi, 0.3) - cycloidal(theta, pi, 0, 2*pi, 0.3)", 0.6, "knife"
    ).curve
    shown = [
        se.Curve(x="cos(s)", y="0.6*sin(s)"),
        se.Curve(points=[(0, 0), (1, 0.5), (2, -0.2), (3, 0.3)]),
        profile,
    ]
    for ax, curve, title in zip(axes, shown, ["by x(s), y(s)", "by points", "by a motion"], strict=True):
        first, last = curve.range
        points = [curve(first + (last - first) * i / 200) for i in range(201)]
        ax.plot(*zip(*points, strict=True))
        ax.set_aspect("equal")
        ax.set_title(title, fontsize=9)
        ax.set_axis_off()
    return figure
