"""A small mechanism for every joint and every force, written as it would be in a model file."""

from __future__ import annotations

BAR = "  bar: {shape: bar, start: [0, 0], end: [1, 0.5], mass: 1}"
BARS = BAR + "\n  arm: {shape: bar, start: [1, 0.5], end: [1.8, 0.2], mass: 1}"
BLOCK = "  block: {shape: block, width: 0.4, height: 0.25, mass: 1, at: [0.8, 0.3]}"
WHEELS = (
    "  small: {shape: disk, radius: 0.2, mass: 1}\n  large: {shape: disk, radius: 0.4, mass: 2, at: [0.6, 0]}"
)
AXES = "  O: {type: Revolute, a: ground, b: small}\n  C: {type: Revolute, a: ground, b: large}\n"
PIN = "  O: {type: Revolute, a: ground, b: bar.start}\n"
ELLIPSE = '{x: "0.6*cos(s)", y: "0.35*sin(s)"}'

JOINTS: dict[str, tuple[str, str, str]] = {
    "Revolute": (BARS, PIN, "J: {type: Revolute, a: bar.end, b: arm.start}"),
    "Translational": (BLOCK, "", "J: {type: Translational, a: ground, b: block, direction: [1, 0.2]}"),
    "Fixed": (BARS, PIN, "J: {type: Fixed, a: bar.end, b: arm.start}"),
    "Link": (
        BAR + "\n  arm: {shape: bar, start: [1.8, 1], end: [2.2, 0.2], mass: 1}",
        PIN + "  C: {type: Revolute, a: ground, b: arm.end}\n",
        "J: {type: Link, a: bar.end, b: arm.start}",
    ),
    "PinSlot": (
        BAR + "\n  slotted: {shape: bar, start: [0.4, -0.4], end: [1.6, 1.4], mass: 1}",
        PIN + "  C: {type: Revolute, a: ground, b: slotted.start}\n",
        "J: {type: PinSlot, a: slotted, b: bar.end}",
    ),
    "RevoluteTranslational": (
        BAR + "\n  rail: {shape: bar, start: [0.2, 0.9], end: [1.8, 0.9], mass: 1}",
        PIN + "  C: {type: Revolute, a: ground, b: rail.start}\n",
        "J: {type: RevoluteTranslational, a: rail, b: bar.end, offset: 0.4}",
    ),
    "Gear": (WHEELS, AXES, "J: {type: Gear, a: small, b: large, radii: [0.2, 0.4]}"),
    "Belt": (
        WHEELS.replace("0.6, 0", "1.2, 0"),
        AXES,
        "J: {type: Belt, a: small, b: large, radii: [0.2, 0.4]}",
    ),
    "RackPinion": (
        "  pinion: {shape: disk, radius: 0.25, mass: 1, at: [0, 0.25]}\n"
        "  rack: {shape: block, width: 1.6, height: 0.15, mass: 2, at: [0.2, -0.075], points: {top: [0, 0.075]}}",
        "  O: {type: Revolute, a: ground, b: pinion}\n  guide: {type: Translational, a: ground, b: rack}\n",
        "J: {type: RackPinion, a: rack.top, b: pinion, radius: 0.25}",
    ),
    "Coupler": (
        WHEELS.replace("0.6, 0", "1.0, 0"),
        AXES,
        'J: {type: Coupler, measure: "angle(ground, small) + 2*angle(ground, large)"}',
    ),
    "Driver": (BAR, PIN, 'J: {type: Driver, measure: "angle(ground, bar)", value: drawn + 2*pi*t}'),
    "Constraint": (BAR, "", 'J: {type: Constraint, equations: "bar.end.y - 0.5*cos(bar.end.x - 1)"}'),
    "Cam": (
        "  cam: {mass: 1, inertia: 0.1}\n  rod: {shape: bar, start: [0, 0.45], end: [0, 1.1], mass: 1}",
        "  O: {type: Revolute, a: ground, b: cam}\n  guide: {type: Translational, a: ground, b: rod}\n",
        f"J: {{type: Cam, a: cam, b: rod.start, follower: roller, radius: 0.1, curve: {ELLIPSE}}}",
    ),
    "PointOnCurve": (
        "  disk: {shape: disk, radius: 0.12, mass: 1, at: [0.6, 0]}",
        "",
        f"J: {{type: PointOnCurve, a: ground, b: disk, curve: {ELLIPSE}}}",
    ),
    "RollingCurves": (
        "  first: {mass: 1, inertia: 0.1}\n  second: {mass: 1, inertia: 0.1, at: [1.2, 0]}",
        "  O: {type: Revolute, a: ground, b: first}\n",
        f"J: {{type: RollingCurves, a: first, b: second, curve_a: {ELLIPSE}, curve_b: {ELLIPSE}}}",
    ),
    "AbsoluteX": (BAR, "", "J: {type: AbsoluteX, frame: bar.end, value: drawn}"),
    "AbsoluteY": (BAR, "", "J: {type: AbsoluteY, frame: bar.end, value: drawn}"),
    "AbsoluteAngle": (BAR, "", "J: {type: AbsoluteAngle, frame: bar, value: drawn}"),
    "AbsoluteDistance": (
        BAR,
        "",
        "J: {type: AbsoluteDistance, frame: bar.end, center: [0, 1], value: drawn}",
    ),
    "RelativeX": (BARS, "", "J: {type: RelativeX, a: bar.start, b: arm.end, value: drawn}"),
    "RelativeY": (BARS, "", "J: {type: RelativeY, a: bar.start, b: arm.end, value: drawn}"),
    "RelativeAngle": (BARS, "", "J: {type: RelativeAngle, a: bar, b: arm, value: drawn}"),
    "RelativeDistance": (BARS, "", "J: {type: RelativeDistance, a: bar.start, b: arm.end, value: drawn}"),
}
"""Bodies, other joints, and the joint itself."""

FORCES: dict[str, tuple[str, str, str]] = {
    "Spring": (
        BLOCK,
        "  rail: {type: Translational, a: ground, b: block, direction: [1, 0]}\n",
        'F: {type: Spring, measure: "distance(ground.at(0, 0.3), block)", stiffness: 100, damping: 2, free: 0.5}',
    ),
    "PointForce": (BAR, PIN, "F: {type: PointForce, frame: bar.end, fx: 5, fy: 3*sin(10*t)}"),
    "Torque": (BAR, PIN, "F: {type: Torque, frame: bar, value: 2 - 0.5*phid}"),
    "Force": (BAR, PIN, 'F: {type: Force, along: {bar.end.y: "-20*max(bar.end.y - 0.4, 0)"}}'),
}


def text(kind: str) -> str:
    """The model file with this element."""
    bodies, others, element = (JOINTS | FORCES)[kind]
    joints = others + (f"  {element}\n" if kind in JOINTS else "")
    forces = "" if kind in JOINTS else f"forces:\n  {element}\n"
    return f"name: {kind}\nbodies:\n{bodies}\n" + (f"joints:\n{joints}" if joints else "") + forces
