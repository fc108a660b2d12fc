"""Builders: classic mechanisms as models, placed in closed form, with their dimensions as parameters.

    model = builders.four_bar(1, 2, 3, 3, speed="2*pi")
    longer = model.with_parameters(rocker=3.2)      # still assembled

Bars are uniform, with the mass `density` per length unless `masses` are given. `speed` turns the first crank
at constant speed from its initial angle; `driver` gives its angle as any function of time instead.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import cos, hypot, sin
from typing import Any, Literal

from ..errors import ModelError, answers_misspellings
from ..expressions.evaluate import number
from .body import Body
from .frame import Number
from .joints.driver import Driver
from .joints.pin_slot import PinSlot
from .joints.revolute import Revolute
from .joints.translational import Translational
from .model import GRAVITY, Model

Branch = Literal["open", "crossed"]
BRANCHES = {"open": 1, "crossed": -1}
ROUNDING = 1e-12


@answers_misspellings
def four_bar(
    crank: Number,
    coupler: Number,
    rocker: Number,
    ground: Number,
    *,
    crank_angle: Number = "60*deg",
    branch: Branch = "open",
    density: Number = 1.0,
    masses: Sequence[Number] | None = None,
    speed: Number | None = None,
    driver: Any = None,
    gravity: Sequence[Number] = GRAVITY,
) -> Model:
    """Crank from A = (0, 0) to B, coupler from B to C, rocker from D = (ground, 0) to C.

    In the open branch C lies to the left of the line from B to D, in the crossed branch to its right.
    """
    lengths = {"crank": crank, "coupler": coupler, "rocker": rocker, "ground": ground}
    a, b, c, d = _positive("four_bar", lengths)
    theta = number(crank_angle)
    _check_triangle("four_bar", theta, hypot(d - a * cos(theta), a * sin(theta)), coupler=b, rocker=c)
    # C by two circles: `foot` along the diagonal from B to D, `height` to its left
    parameters = lengths | {
        "crank_angle": crank_angle,
        "density": density,
        "Bx": "crank*cos(crank_angle)",
        "By": "crank*sin(crank_angle)",
        "diagonal": "hypot(ground - Bx, By)",
        "foot": "(diagonal^2 + coupler^2 - rocker^2)/(2*diagonal)",
        "height": f"{_sign('four_bar', branch)}*sqrt(max(coupler^2 - foot^2, 0))",
        "Cx": "Bx + (foot*(ground - Bx) + height*By)/diagonal",
        "Cy": "By + (height*(ground - Bx) - foot*By)/diagonal",
    }
    model = Model("four-bar", gravity=gravity, parameters=parameters)
    model.ground.points = {"A": (0.0, 0.0), "D": ("ground", 0.0)}
    mass = _masses("four_bar", masses, ["crank", "coupler", "rocker"])
    left = model.bar("crank", (0.0, 0.0), ("Bx", "By"), mass=mass[0])
    top = model.bar("coupler", ("Bx", "By"), ("Cx", "Cy"), mass=mass[1])
    right = model.bar("rocker", ("ground", 0.0), ("Cx", "Cy"), mass=mass[2])
    model.add(Revolute("A", model.ground["A"], left["start"]))
    model.add(Revolute("B", left["end"], top["start"]))
    model.add(Revolute("C", top["end"], right["end"]))
    model.add(Revolute("D", model.ground["D"], right["start"]))
    return _driven(model, speed, driver)


@answers_misspellings
def slider_crank(
    crank: Number,
    rod: Number,
    offset: Number = 0.0,
    *,
    crank_angle: Number = "60*deg",
    branch: Branch = "open",
    density: Number = 1.0,
    masses: Sequence[Number] | None = None,
    slider_mass: Number = 1.0,
    speed: Number | None = None,
    driver: Any = None,
    gravity: Sequence[Number] = GRAVITY,
) -> Model:
    """Crank from O = (0, 0) to A, rod from A to B, slider B on the line y = offset.

    In the open branch the slider is to the right of the crank's pin, in the crossed branch to its left.
    """
    lengths = {"crank": crank, "rod": rod}
    a, b = _positive("slider_crank", lengths)
    theta = number(crank_angle)
    drop = abs(number(offset) - a * sin(theta))
    if drop > b:
        raise ModelError(
            f"slider_crank does not close at crank_angle = {theta:g} rad: the crank's pin is {drop:g} m from "
            f"the guide, but the rod reaches {b:g} m; {drop - b:g} m are missing. "
            "Lengthen the rod or turn the crank."
        )
    parameters = lengths | {
        "offset": offset,
        "crank_angle": crank_angle,
        "density": density,
        "slider_mass": slider_mass,
        "Ax": "crank*cos(crank_angle)",
        "Ay": "crank*sin(crank_angle)",
        "Bx": f"Ax + {_sign('slider_crank', branch)}*sqrt(max(rod^2 - (offset - Ay)^2, 0))",
    }
    model = Model("slider-crank", gravity=gravity, parameters=parameters)
    mass = _masses("slider_crank", masses, ["crank", "rod"])
    turning = model.bar("crank", (0.0, 0.0), ("Ax", "Ay"), mass=mass[0])
    pushing = model.bar("rod", ("Ax", "Ay"), ("Bx", "offset"), mass=mass[1])
    slider = model.body("slider", mass="slider_mass", at=("Bx", "offset"))
    model.add(Revolute("O", model.ground, turning["start"]))
    model.add(Revolute("A", turning["end"], pushing["start"]))
    model.add(Revolute("B", pushing["end"], slider))
    model.add(Translational("guide", model.ground, slider, direction=(1.0, 0.0)))
    return _driven(model, speed, driver)


@answers_misspellings
def quick_return(
    crank: Number,
    distance: Number,
    arm: Number,
    link: Number,
    *,
    stroke_height: Number | None = None,
    crank_angle: Number = 0.0,
    block: bool = False,
    density: Number = 1.0,
    ram_mass: Number = 1.0,
    speed: Number | None = None,
    driver: Any = None,
    gravity: Sequence[Number] = GRAVITY,
) -> Model:
    """A crank about (0, distance) moves its pin P in a slot of the arm about (0, 0), and the arm moves a ram.

    A link leads from the arm's end E to the ram on the line y = stroke_height, by default the length of the arm.

    With crank < distance this is the slow forward and quick return stroke of a shaper; with crank > distance
    the arm makes full turns (Whitworth). `block` puts a massless slider block between pin and slot.
    """
    lengths = {"crank": crank, "distance": distance, "arm": arm, "link": link}
    r, d, s, b = _positive("quick_return", lengths)
    theta = number(crank_angle)
    parameters = lengths | {
        "crank_angle": crank_angle,
        "stroke_height": "arm" if stroke_height is None else stroke_height,
        "density": density,
        "ram_mass": ram_mass,
        "Px": "crank*cos(crank_angle)",
        "Py": "distance + crank*sin(crank_angle)",
        "reach": "hypot(Px, Py)",
        "Ex": "arm*Px/reach",
        "Ey": "arm*Py/reach",
        "Bx": "Ex + sqrt(max(link^2 - (stroke_height - Ey)^2, 0))",
    }
    # does it close?
    model = Model("quick-return", gravity=gravity, parameters=parameters)
    px, py = r * cos(theta), d + r * sin(theta)
    if hypot(px, py) <= ROUNDING * (r + d):
        raise ModelError("quick_return: the crank's pin is on the arm's pivot; turn the crank.")
    drop = abs((s if stroke_height is None else number(stroke_height)) - s * py / hypot(px, py))
    if drop > b:
        raise ModelError(
            f"quick_return does not close at crank_angle = {theta:g} rad: the arm's end is {drop:g} m from "
            f"the ram's guide, but the link reaches {b:g} m; {drop - b:g} m are missing. "
            "Lengthen the link or move the guide."
        )
    # bodies and joints
    turning = model.bar("crank", (0.0, "distance"), ("Px", "Py"), mass="density*crank")
    swinging = model.bar("arm", (0.0, 0.0), ("Ex", "Ey"), mass="density*arm")
    pushing = model.bar("link", ("Ex", "Ey"), ("Bx", "stroke_height"), mass="density*link")
    ram = model.body("ram", mass="ram_mass", at=("Bx", "stroke_height"))
    model.add(Revolute("Q", model.ground, turning["start"]))
    model.add(Revolute("O", model.ground, swinging["start"]))
    _slot(model, turning, swinging, block)
    model.add(Revolute("E", swinging["end"], pushing["start"]))
    model.add(Revolute("B", pushing["end"], ram))
    model.add(Translational("guide", model.ground, ram, direction=(1.0, 0.0)))
    return _driven(model, speed, driver)


def _slot(model: Model, crank: Body, arm: Body, block: bool) -> None:
    """The crank's pin slides along the arm, directly or in a block."""
    if not block:
        model.add(PinSlot("slot", arm, crank["end"]))
        return
    slider = model.body("block", at=("Px", "Py"), angle="atan2(Py, Px)")
    model.add(Revolute("P", crank["end"], slider))
    model.add(Translational("slot", arm, slider))


@answers_misspellings
def chain(
    n: int,
    length: Number = 1.0,
    mass: Number = 1.0,
    *,
    angle: Number = 0.0,
    speed: Number | None = None,
    driver: Any = None,
    gravity: Sequence[Number] = GRAVITY,
) -> Model:
    """A chain of n equal bars hanging from the point (0, 0), initially straight at `angle` from the x axis.

    The bars are link1, link2, ..., with pin1, pin2, ... before them; `driver` turns the first one.
    """
    _check_count("chain", "n", n)
    _positive("chain", {"length": length})
    model = Model("chain", gravity=gravity, parameters={"length": length, "mass": mass, "angle": angle})
    model.parameters |= {"dx": "length*cos(angle)", "dy": "length*sin(angle)"}
    before: Any = model.ground
    for i in range(1, n + 1):
        ends = [(f"{k}*dx", f"{k}*dy") for k in (i - 1, i)]
        link = model.bar(f"link{i}", *ends, mass="mass")
        model.add(Revolute(f"pin{i}", before, link["start"]))
        before = link["end"]
    return _driven(model, speed, driver, body="link1", angle="angle")


@answers_misspellings
def four_bar_ladder(windows: int, *, speed: Number | None = None, driver: Any = None) -> Model:
    """N four-bars side by side: 2N + 1 uniform links of 1 m and 1 kg, a benchmark of the IFToMM library.

    Posts stand at (i, 0) and carry beams; all tops move at 1 m/s in x. A driver turns the first post.
    M. Gonzalez, D. Dopico, U. Lugris, J. Cuadrado, Multibody System Dynamics 16 (2006), N-four-bar mechanism.
    """
    _check_count("four_bar_ladder", "windows", windows)
    model = Model("four-bar ladder")
    for i in range(windows + 1):
        ends = (float(i), 0.0), (float(i), 1.0)
        post = model.bar(f"post{i}", *ends, mass=1.0, velocity=(0.5, 0.0), angular_velocity=-1.0)
        model.add(Revolute(f"foot{i}", model.ground, post["start"]))
    for i in range(windows):
        ends = (float(i), 1.0), (float(i + 1), 1.0)
        beam = model.bar(f"beam{i}", *ends, mass=1.0, velocity=(1.0, 0.0), angular_velocity=0.0)
        model.add(Revolute(f"left{i}", model.bodies[f"post{i}"]["end"], beam["start"]))
        model.add(Revolute(f"right{i}", beam["end"], model.bodies[f"post{i + 1}"]["end"]))
    return _driven(model, speed, driver, body="post0", angle="pi/2")


# Parts of the builders --------------------------------------------------------------------------------


def _driven(
    model: Model, speed: Number | None, driver: Any, body: str = "crank", angle: str = "crank_angle"
) -> Model:
    """Add the motor, if one was asked for."""
    if speed is not None and driver is not None:
        raise ModelError(f"{model.name}: both speed = {speed} and a driver were given; give one of them.")
    if speed is not None:
        model.parameters["speed"] = speed
        driver = f"{angle} + speed*t"
    if driver is not None:
        model.add(Driver("motor", f"angle(ground, {body})", driver))
    return model


def _positive(builder: str, lengths: dict[str, Number]) -> list[float]:
    """The lengths as numbers; all that are not positive are reported."""
    values = {name: number(value) for name, value in lengths.items()}
    wrong = {name: value for name, value in values.items() if value <= 0.0}
    bad = [f"{builder}: {name} = {value:g} must be positive." for name, value in wrong.items()]
    if bad:
        raise ModelError(bad)
    return list(values.values())


def _check_count(builder: str, name: str, count: Any) -> None:
    if isinstance(count, bool) or not isinstance(count, int) or count < 1:
        raise ModelError(f"{builder}: {name} = {count!r} must be a whole number, at least 1.")


def _check_triangle(builder: str, theta: float, diagonal: float, **sides: float) -> None:
    """Two sides must span the diagonal; the message says how much is missing."""
    (first, b), (second, c) = sides.items()
    where = f"{builder} does not close at crank_angle = {theta:g} rad: "
    where += f"the crank's pin is {diagonal:g} m from the pivot of the {second}"
    if diagonal > b + c:
        raise ModelError(
            f"{where}, but {first} + {second} reach {b + c:g} m; {diagonal - b - c:g} m are missing. "
            f"Lengthen the {first} or the {second}, or turn the crank."
        )
    if diagonal < abs(b - c):
        raise ModelError(
            f"{where}, but {first} and {second} differ by {abs(b - c):g} m; "
            f"{abs(b - c) - diagonal:g} m are missing. Make them more equal, or turn the crank."
        )
    if diagonal <= ROUNDING * (b + c):
        raise ModelError(f"{where}: the {second} may then point anywhere. Turn the crank.")


def _sign(builder: str, branch: str) -> int:
    if branch not in BRANCHES:
        raise ModelError(f"{builder}: branch = {branch!r} must be one of {', '.join(BRANCHES)}.")
    return BRANCHES[branch]


def _masses(builder: str, masses: Sequence[Number] | None, lengths: list[str]) -> list[Number]:
    """The masses given, by default density times length."""
    if masses is None:
        return [f"density*{name}" for name in lengths]
    if len(masses) != len(lengths):
        wanted = f"{len(lengths)} numbers, for {', '.join(lengths)}"
        raise ModelError(f"{builder}: masses = {list(masses)} must be {wanted}.")
    return list(masses)
