"""The contacts of a system as arrays."""

from __future__ import annotations

from collections.abc import Sequence
from math import floor, isfinite, nan
from typing import NamedTuple

import numpy as np

from ...numerics.arrays import Floats, Ints
from ...numerics.kernel import kernel
from .piecewise import CLOSED, KNOTS_FIRST, START, Pieces, packed

POINT, FACE, GAP, ROLL = range(4)

# columns of `contacts`
KIND, CURVE, OTHER = range(3)
# columns of `constants`; see `Contact`
TARGET, SIDE, SENSE = range(3)

ITERATIONS = 40
NEARLY = 1e-9  # of the range of the parameter: after a step this small, the next one is exact
GRID = 2.0**-28  # of the range; see `snapped`
LONGEST = 0.02  # step, of the range of the parameter
NEAR = 1e-3  # of the curve's size: gap up to which the remembered contact is trusted
BEYOND = 1e-6  # of the range: how far beyond the end of an open curve a contact may be


class Contact(NamedTuple):
    """A contact as a formula of measures; `kind` says which one, `curves` are those that touch."""

    kind: int
    curves: tuple[Pieces, ...]
    target: float
    """Distance between the base curves, or sum of arc lengths, at contact."""
    side: float
    """1 if the normal n is on the right of the curve, -1 on the left. FACE: 1 if the curve is on its right."""
    sense: float = 1.0
    """GAP and ROLL: -1 if the curves run in opposite directions at the contact, 1 if in the same."""


class Contacts(NamedTuple):
    """The contacts of a system."""

    contacts: Ints  # (contacts, 3)
    constants: Floats  # (contacts, 3)
    curves: Ints
    numbers: Floats


class ContactContext(NamedTuple):
    """Context of the kernel pointer: the contacts, and what one run remembers of them."""

    contacts: Ints
    constants: Floats
    curves: Ints
    numbers: Floats
    memory: Floats  # (contacts, 2): the last contact parameters; nan if unknown


def pack_contacts(contacts: Sequence[Contact]) -> Contacts:
    curves: list[Pieces] = []
    rows = []
    for contact in contacts:
        numbers = [len(curves) + i for i in range(len(contact.curves))]
        curves += contact.curves
        rows.append((contact.kind, numbers[0], numbers[-1]))
    table, numbers_of_curves = packed(curves)
    return Contacts(
        np.array(rows, dtype=np.int64).reshape(-1, 3),
        np.array([(c.target, c.side, c.sense) for c in contacts]).reshape(-1, 3),
        table,
        numbers_of_curves,
    )


@kernel
def snapped(c, curve, sigma, period):
    """A nearly converged parameter, moved to a grid from which Newton's last step begins.

    So the last digits of the result do not depend on where the search began: the same state gives the same bits.
    """
    first, grid = c.numbers[c.curves[curve, START] + KNOTS_FIRST], GRID * period
    sigma = inside(c, curve, sigma, period)
    if not isfinite(sigma):
        return nan
    return first + grid * floor((sigma - first) / grid + 0.5)


@kernel
def shortened(step, period):
    """A step of the parameter, limited so that it stays in the neighborhood."""
    return min(max(step, -LONGEST * period), LONGEST * period)


@kernel
def inside(c, curve, sigma, period):
    """The parameter, wrapped into the range of a closed curve; nan if it is beyond the end of an open one."""
    first = c.numbers[c.curves[curve, START] + KNOTS_FIRST]
    if not isfinite(sigma):
        return nan
    if c.curves[curve, CLOSED] == 1:
        return first + (sigma - first) % period
    if sigma < first - BEYOND * period or sigma > first + (1.0 + BEYOND) * period:
        return nan
    return sigma
