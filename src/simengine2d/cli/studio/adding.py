"""What can be drawn: links, plates, ground, sliders, gears, springs, drivers, forces and torques."""

from __future__ import annotations

from math import atan2, cos, hypot, sin
from typing import Any

from ...errors import ModelError
from ...model.elements import Pair
from ...model.frame import GROUND, as_frame, quoted
from .pins import DrawnPin
from .sheet import Place, Sheet, finite_pair, tidy

DEFAULT_SIZE = 1.0  # meters: the size of a drawing in which there is nothing yet
POINTS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
ALONG = 1e-9  # of a force: a component that is not meant


def add_link(sheet: Sheet, points: list[Any], name: str = "", mass: Any = None, **_: Any) -> str:
    """A bar between two points, a plate through more; a point that is there is joined by a pin."""
    if not isinstance(points, list) or len(points) < 2:
        raise ModelError("A link needs two points or more.")
    if len(points) > len(POINTS):
        raise ModelError(f"A link has at most {len(POINTS)} points.")
    _refuse_no_length([sheet.place(point) for point in points])
    body = sheet.checked_name(name, "a body") if name else sheet.fresh("link")
    places = [sheet.written(point) for point in points]
    if len(points) == 2:
        ends = ["start", "end"]
        record: dict[str, Any] = {"shape": "bar", "start": places[0], "end": places[1]}
    else:
        ends = list(POINTS[: len(points)])
        record = {"shape": "link", "through": dict(zip(ends, places, strict=True))}
    record |= _mass(sheet, mass, slender=len(points) == 2)
    joins = [
        (sheet.ref(point), end)
        for point, end in zip(points, ends, strict=True)
        if isinstance(point, str | dict)
    ]
    sheet.section("bodies")[body] = record
    for ref, end in joins:
        pin(sheet, ref, f"{body}.{end}")
    return body


def _refuse_no_length(places: list[Place]) -> None:
    for i, one in enumerate(places):
        if any(hypot(one[0] - other[0], one[1] - other[1]) == 0.0 for other in places[:i]):
            raise ModelError("Two points of the link are the same. Draw them apart.")


def _mass(sheet: Sheet, mass: Any, slender: bool) -> dict[str, Any]:
    """A kilogram for each meter or square meter, where nothing else is said."""
    if mass is not None:
        return {"mass": mass}
    if "units" not in sheet.data:
        return {"density": 1}
    return {"density": "1 kg/m" if slender else "1 kg/m^2"}


def pin(sheet: Sheet, a: str, b: str) -> str:
    """A revolute joint between two references."""
    name = sheet.letter()
    sheet.section("joints")[name] = {"type": "Revolute", "a": a, "b": b}
    return name


def add_point(sheet: Sheet, bodies: Any, at: Any, **_: Any) -> str:
    """A point of a body; where two or more are given, a pin that holds them together there."""
    names = [sheet.body(body) for body in (bodies if isinstance(bodies, list) else [bodies])]
    if not names:
        raise ModelError("A point belongs to a body. Click a link.")
    place = sheet.crossing(names, finite_pair(at))
    refs = [sheet.ref({"body": name, "at": place}) for name in names]
    joints = [pin(sheet, refs[0], ref) for ref in refs[1:]]
    return joints[-1] if joints else refs[0]


def add_ground(sheet: Sheet, point: Any, name: str = "", **_: Any) -> str:
    """A support: the ground holds a point by a pin; a place of its own is a point of the ground."""
    if not isinstance(point, str):
        return sheet.ground_point(sheet.written(point), name)
    there = sheet.pin(point)
    if there.grounded:
        raise ModelError(f"The ground holds '{there.id}' already.")
    ref = sheet.ref(point)
    ground = sheet.ground_point(sheet.written(point), name)
    return pin(sheet, ground, ref)


def add_slider(
    sheet: Sheet,
    point: Any,
    direction: Any = (1, 0),
    name: str = "",
    mass: Any = 1,
    roller: bool = False,
    on: Any = GROUND,
    **_: Any,
) -> str:
    """A block that slides along a line through a point, with a pin if there is one; or only a roller in a slot.

    The slot of a roller is in the ground, or in the body that it rolls `on`: along that, where it is a bar.
    """
    along = direction_of(direction)
    if roller:
        return _add_roller(sheet, point, along, sheet.body(on))
    block = sheet.checked_name(name, "a body") if name else sheet.free("slider")
    size = sheet.size or DEFAULT_SIZE
    width, height = (
        tidy(sheet.rounded(part * size * sheet.meter, size * sheet.meter, 2)) for part in (0.12, 0.08)
    )
    ref = sheet.ref(point) if isinstance(point, str) else None
    record = {"shape": "block", "width": width, "height": height, "mass": mass, "at": sheet.written(point)}
    angle = atan2(along[1], along[0])
    if angle:
        record["angle"] = float(f"{angle:.9g}")
    sheet.section("bodies")[block] = record
    if ref is not None:
        pin(sheet, ref, block)
    guide = sheet.free("guide")
    sheet.section("joints")[guide] = {"type": "Translational", "a": GROUND, "b": block, "direction": along}
    return block


def _add_roller(sheet: Sheet, point: Any, along: list[Any], carrier: str) -> str:
    name = sheet.free("roller")
    record: dict[str, Any] = {"type": "PinSlot", "a": carrier, "b": sheet.ref(point)}
    if carrier == GROUND:
        record["direction"] = along
    sheet.section("joints")[name] = record
    return name


def direction_of(given: Any) -> list[Any]:
    """A vector [1, 0], given as such or as an angle in radians."""
    x, y = (cos(given), sin(given)) if isinstance(given, int | float) else finite_pair(given)
    size = hypot(x, y)
    if size == 0.0:
        raise ModelError("A direction needs a length: draw it from one place to another.")
    return [tidy(round(part / size, 6) + 0.0) for part in (x, y)]


def add_gears(sheet: Sheet, a: Any, b: Any, radii: Any = None, teeth: Any = None, **options: Any) -> str:
    """Two gears in mesh about two centers; a place becomes a disk on a pin in the ground."""
    centers = [_center(sheet, each) for each in (a, b)]
    apart = hypot(centers[0][0] - centers[1][0], centers[0][1] - centers[1][1])
    if apart == 0.0:
        raise ModelError("The centers of the gears are the same. Draw them apart.")
    internal = bool(options.get("internal", False))
    if radii is None and teeth is None:
        radii = [tidy(sheet.rounded(0.5 * apart * sheet.meter, apart * sheet.meter))] * 2
    sizes = radii or _pitch_radii(teeth, apart * sheet.meter, internal)
    frames = [_gear_frame(sheet, each, size) for each, size in zip((a, b), sizes, strict=True)]
    name = sheet.free("gears")
    record = {"type": "Gear", "a": frames[0], "b": frames[1]}
    record |= {"radii": radii} if radii else {"teeth": teeth}
    sheet.section("joints")[name] = record | ({"internal": True} if internal else {})
    return name


def _center(sheet: Sheet, given: Any) -> Place:
    if isinstance(given, str) and given in sheet.section_or_empty("bodies"):
        there = _hub(sheet, given)
        return (there.x, there.y) if there else sheet.resolved.bodies[given].pose[:2]
    return sheet.place(given)


def _hub(sheet: Sheet, body: str) -> DrawnPin | None:
    """The pin about which a body turns: that in the ground, if there is one."""
    mine = [each for each in sheet.pins if body in each.bodies and len(each.bodies) > 1]
    return next((each for each in mine if each.grounded), mine[0] if mine else None)


def _pitch_radii(teeth: Any, apart: float, internal: bool) -> list[float]:
    total = teeth[1] - teeth[0] if internal else teeth[0] + teeth[1]
    return [float(f"{apart * z / total:.6g}") for z in teeth]


def _gear_frame(sheet: Sheet, given: Any, radius: Any) -> str:
    """The reference to the center of a gear: a body that is there, or a new disk."""
    if isinstance(given, str) and given in sheet.section_or_empty("bodies"):
        there = _hub(sheet, given)
        return (there.ref_of(given) if there else None) or given
    if isinstance(given, str):
        there = sheet.pin(given)
        moving = [body for body in there.bodies if body != GROUND]
        if moving:
            return there.ref_of(moving[-1]) or moving[-1]
    ground = sheet.ref(given)
    gear = sheet.fresh("gear")
    place = sheet.written(given) if isinstance(given, str) else sheet.numbers(sheet.place(given))
    sheet.section("bodies")[gear] = {"shape": "disk", "radius": radius, "mass": 1, "at": place}
    pin(sheet, ground, gear)
    return gear


# Springs and forces -----------------------------------------------------------------------------------


def add_spring(sheet: Sheet, a: Any, b: Any, k: Any = 100, c: Any = 0, free: Any = None, **_: Any) -> str:
    """A spring between two points, without force as drawn; or about a joint, where a and b are bodies."""
    return _spring(sheet, a, b, k, c, free, "spring")


def add_damper(sheet: Sheet, a: Any, b: Any, c: Any = 10, **_: Any) -> str:
    """A damper between two points."""
    return _spring(sheet, a, b, 0, c, None, "damper")


def _spring(sheet: Sheet, a: Any, b: Any, k: Any, c: Any, free: Any, word: str) -> str:
    bodies = {GROUND, *sheet.section_or_empty("bodies")}
    turning = all(isinstance(each, str) and each in bodies for each in (a, b))
    if turning:
        measure = f"angle({quoted(a)}, {quoted(b)})"
        poses = [sheet.resolved.bodies[each].pose[2] for each in (a, b)]
        length = float(f"{poses[1] - poses[0]:.6g}")
    else:
        ends, (p, q) = [measured(sheet.ref(each)) for each in (a, b)], (sheet.place(a), sheet.place(b))
        measure = f"distance({ends[0]}, {ends[1]})"
        apart = hypot(q[0] - p[0], q[1] - p[1])
        if apart == 0.0:
            raise ModelError("The ends of the spring are the same point. Draw them apart.")
        length = sheet.rounded(apart * sheet.meter, sheet.size * sheet.meter)
    name = sheet.fresh(word)
    record = {"type": "Spring", "measure": measure, "stiffness": k, "damping": c}
    record = {key: value for key, value in record.items() if value != 0}
    if k:
        record["free"] = tidy(length) if free is None else free
    sheet.section("forces")[name] = record
    return name


def measured(ref: str) -> str:
    """A reference inside the text of a measure."""
    return as_frame(ref).text


def add_driver(sheet: Sheet, joint: Any = None, body: Any = None, law: Any = None, **_: Any) -> str:
    """A motor on a joint or on a body; it begins as drawn and makes a turn each second, where nothing else is said."""
    a, b, turns, direction = _driven(sheet, joint, body)
    name = sheet.free("motor")
    reach = tidy(sheet.rounded(0.1 * (sheet.size or DEFAULT_SIZE) * sheet.meter, 1.0, 2))
    if turns:
        measure, usual = f"angle({quoted(a)}, {quoted(b)})", "drawn + 2*pi*t"
    else:
        measure, usual = _along(a, b, direction), f"drawn + {reach}*sin(2*pi*t)"
    if "units" in sheet.data:
        usual = "drawn + 360 deg/s*t" if turns else f"drawn + {reach}*sin(360 deg/s*t)"
    sheet.section("joints")[name] = {
        "type": "Driver",
        "measure": measure,
        "value": usual if law is None else law,
    }
    return name


def _driven(sheet: Sheet, joint: Any, body: Any) -> tuple[str, str, bool, float]:
    """The two sides of a motor, whether it turns them, and else the direction in which it moves them."""
    elements = sheet.resolved.elements
    if joint is None:
        moved = sheet.body(body)
        if moved == GROUND:
            raise ModelError("The ground does not move. Drive a body.")
        guides = [
            name for name, e in elements.items() if isinstance(e, Pair) and e.b.body == moved and _slides(e)
        ]
        hinged = any(moved in each.bodies and each.grounded for each in sheet.pins)
        if hinged or not guides:
            return GROUND, moved, True, 0.0
        joint = guides[0]
    if joint not in elements:
        joint = sheet.pin(joint).joints[0] if sheet.pin(joint).joints else joint
    pair = elements.get(joint)
    if not isinstance(pair, Pair):
        raise ModelError(f"'{joint}' is not a joint that can be driven. Choose a pin or a guide.")
    sides = [pair.a, pair.b] if pair.b.body != GROUND else [pair.b, pair.a]
    return sides[0].body, sides[1].body, not _slides(pair), float(pair.a.drawn_angle)


def _slides(pair: Pair) -> bool:
    return type(pair).__name__ in ("Translational", "PinSlot")


def _along(a: str, b: str, direction: float) -> str:
    """The distance by which b has moved along the direction of a guide in a."""
    turned = round(direction, 9)
    if a == GROUND:
        frame = "ground" if turned == 0.0 else f"ground.at(0, 0, {turned:.9g})"
    else:
        frame = quoted(a)
    return f"along({frame}, {quoted(b)})"


def add_force(sheet: Sheet, point: Any, force: Any = (0, -10), **_: Any) -> str:
    """A force at a point of a body."""
    ref = sheet.ref(point) if isinstance(point, dict) else _moving_ref(sheet, point)
    fx, fy = finite_pair(force)
    nothing = ALONG * hypot(fx, fy)  # a force along an axis was drawn by a mouse, with the digits of pixels
    parts = {key: tidy(part) for key, part in (("fx", fx), ("fy", fy)) if abs(part) > nothing}
    name = sheet.fresh("force")
    sheet.section("forces")[name] = {"type": "PointForce", "frame": ref} | parts
    return name


def _moving_ref(sheet: Sheet, point: Any) -> str:
    """The reference to a point that belongs to a body which moves."""
    there = sheet.pin(point)
    moving = [body for body in there.bodies if body != GROUND]
    if not moving:
        raise ModelError(
            f"'{there.id}' belongs to the ground, which does not move. Choose a point of a link."
        )
    return there.ref_of(moving[-1]) or sheet.place_in_body(moving[-1], (there.x, there.y))


def add_torque(sheet: Sheet, body: Any, torque: Any = 1, **_: Any) -> str:
    """A torque on a body."""
    if sheet.body(body) == GROUND:
        raise ModelError("A torque on the ground moves nothing. Choose a link.")
    name = sheet.fresh("torque")
    sheet.section("forces")[name] = {"type": "Torque", "frame": body, "value": torque}
    return name
