"""Relative coordinates in symbols: each body hangs on its parent by one joint, from the ground outward.

    phi_b = phi_a + theta,    r_b + A_b s_b = r_a + A_a s_a + d

where the displacement d is constant at a point, and s u_a + across v_a on a line of frame a.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import sympy as sp

from ..coordinates.relative.relative import Relative
from ..coordinates.relative.tree import Branch, TreeJoint
from ..model.frame import GROUND, PlacedFrame
from .bodies import BodySymbols
from .calculus import MotionEquations
from .families import ZERO, Coordinates, PlaneVector, in_symbols, new_symbols, turned
from .frames import SymbolicFrames
from .letters import Letter


class SymbolicPose(NamedTuple):
    """Position and orientation of a body."""

    r: PlaneVector
    phi: sp.Expr


@in_symbols.register
def tree_coordinates(
    family: Relative, bodies: BodySymbols, frames: SymbolicFrames, core: MotionEquations
) -> Coordinates:
    """Joint by joint from the ground outward."""
    z, zd, zdd = (new_symbols(bodies, family.names, order) for order in range(3))
    poses = {GROUND: SymbolicPose(ZERO, sp.Integer(0))}
    coordinates = iter(z)
    for branch in family.branches:
        poses[branch.body] = _pose(bodies, frames, branch, poses[branch.parent], coordinates)
    q = [part for body in bodies.system.bodies for part in (*poses[body.name].r, poses[body.name].phi)]
    return Coordinates(z, zd, zdd, q, {}, [], {})


def _pose(
    bodies: BodySymbols, frames: SymbolicFrames, branch: Branch, parent: SymbolicPose, z: Iterator[sp.Symbol]
) -> SymbolicPose:
    """The pose of a body from that of its parent and the next coordinates."""
    joint = branch.joint
    if joint is None:
        return SymbolicPose(PlaneVector(next(z), next(z)), next(z))
    along = next(z) if joint.on_line else None
    theta = next(z) if joint.angle is None else _held_angle(bodies, frames, joint)
    forward = joint.a.body == branch.parent
    phi = parent.phi + theta if forward else parent.phi - theta
    phi_a, phi_b = (parent.phi, phi) if forward else (phi, parent.phi)
    step = _displacement(bodies, frames, joint, along, phi_a)
    # from the parent's center to its frame, along the displacement, and from the other frame to the body's center
    arm_a, arm_b = _arm(frames, joint.a, phi_a), _arm(frames, joint.b, phi_b)
    if forward:
        return SymbolicPose(parent.r.plus(arm_a).plus(step).minus(arm_b), phi)
    return SymbolicPose(parent.r.plus(arm_b).minus(step).minus(arm_a), phi)


def _arm(frames: SymbolicFrames, frame: PlacedFrame, phi: sp.Expr) -> PlaneVector:
    """A s"""
    x, y, _ = frames.local[frame]
    return turned(phi).times(PlaneVector(x, y))


def _displacement(
    bodies: BodySymbols, frames: SymbolicFrames, joint: TreeJoint, along: sp.Symbol | None, phi_a: sp.Expr
) -> PlaneVector:
    """r_b - r_a of the two frames."""
    across = PlaneVector(*(_value(bodies, joint, value) for value in joint.offset))
    if along is None:
        return across
    axis = turned(phi_a).times(turned(frames.local[joint.a][2]))
    return axis.times(PlaneVector(along, across.y))


def _value(bodies: BodySymbols, joint: TreeJoint, value: float) -> sp.Expr:
    return bodies.number(f"f_{joint.name}", Letter("f", joint.name), value, f"value of {joint.name}")


def _held_angle(bodies: BodySymbols, frames: SymbolicFrames, joint: TreeJoint) -> sp.Expr:
    """phi_b - phi_a, where the joint holds the angle between the frames."""
    assert joint.angle is not None
    letter, what = Letter("theta", joint.name), f"angle held by {joint.name}, rad"
    held = bodies.angle(f"theta_{joint.name}", letter, joint.angle, what)
    return held + frames.local[joint.a][2] - frames.local[joint.b][2]
