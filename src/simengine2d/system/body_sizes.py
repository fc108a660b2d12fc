"""How large the bodies of a mechanism are: the lengths that make angles comparable with displacements.

The functions work along the last axis, for one System or for many at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..numerics.arrays import Floats, Ints
from .constraints import SystemArrays
from .geometry import once_per_geometry

if TYPE_CHECKING:
    from .system import System

ALONE = 0.01  # of the length of the mechanism, below which a body has its own length


class BodySizes(NamedTuple):
    """Attributes of a System, which says what they are."""

    own_arms: Floats
    length: Floats
    arms: Floats
    sizes: Floats


@once_per_geometry
def body_sizes(system: System) -> BodySizes:
    S = system.arrays
    return sizes_in(S, system.drawn_q, S.frame_x, S.frame_y)


def sizes_in(S: SystemArrays, q: Floats, x: Floats, y: Floats) -> BodySizes:
    """The sizes of bodies that are drawn at q, with frames at x and y."""
    own = _own_arms(S.frame_body, x, y, q.shape[-1] // 3)
    length = _typical_length(S, own, q, x, y)
    arms = _arms(S, own, length)
    return BodySizes(own, length, arms, interleaved(arms, arms, np.ones_like(arms)))


def interleaved(x: Floats, y: Floats, phi: Floats) -> Floats:
    """A number for each coordinate from those of the bodies."""
    numbers = np.empty((*x.shape, 3))
    numbers[..., 0], numbers[..., 1], numbers[..., 2] = x, y, phi
    return numbers.reshape(*x.shape[:-1], -1)


def _own_arms(frame_body: Ints, x: Floats, y: Floats, bodies: int) -> Floats:
    """The largest distance of a frame from the frame of its body, for each body."""
    own = np.zeros((*x.shape[:-1], bodies + 1))
    np.maximum.at(own.T, frame_body, np.hypot(x, y).T)
    return own[..., :-1]


def _typical_length(S: SystemArrays, own_arms: Floats, q: Floats, x: Floats, y: Floats) -> Floats:
    """The largest distance of a joint from its body's frame; where all are zero, of bodies and places on the ground."""
    longest = own_arms.max(axis=-1, initial=0.0)
    if np.all(longest > 0.0):
        return longest
    grounded = S.frame_body == own_arms.shape[-1]
    spread = np.maximum(_spread(q[..., 0::3], x[..., grounded]), _spread(q[..., 1::3], y[..., grounded]))
    return np.where(longest > 0.0, longest, np.where(spread > 0.0, spread, 1.0))


def _spread(bodies: Floats, places: Floats) -> Floats:
    """From the least to the largest; what has no bodies begins at the origin."""
    first = bodies if bodies.shape[-1] else np.zeros((*places.shape[:-1], 1))
    return np.ptp(np.concatenate([first, places], axis=-1), axis=-1)


def _arms(S: SystemArrays, own_arms: Floats, length: Floats) -> Floats:
    """Own arms of small bodies, the length of the mechanism for the others.

    Bodies that are held in their frames only are as large as the largest body they are joined to.
    """
    own, ground = own_arms, own_arms.shape[-1]
    a, b = S.frame_body[S.term_a], S.frame_body[S.term_b]
    between = (a != ground) & (b != ground)
    for _ in range(0 if own.all() else ground):
        bare, near = own == 0.0, np.zeros_like(own)
        np.maximum.at(near.T, a[between], own.T[b[between]])
        np.maximum.at(near.T, b[between], own.T[a[between]])
        if not np.any(bare & (near > 0.0)):
            break
        own = np.where(bare, near, own)
    length = length[..., None]
    return np.where((own > 0.0) & (own < ALONE * length), own, length)
