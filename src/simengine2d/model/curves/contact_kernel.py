"""The kernel pointer to contacts, and their values in Python."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...numerics.arrays import Floats
from ...numerics.kernel_pointer import kernel_pointer
from .contact_arrays import FACE, KIND, POINT, Contact, ContactContext, pack_contacts
from .contact_face import face
from .contact_pair import mesh
from .contact_point import point

RESULTS = 13
"""Size of the output of a contact."""


@kernel_pointer
def contact_at(c, i, u, out):
    """g of contact i, its p derivatives and p x p second derivatives, in this order, from u_1, ud_1, ..., u_p"""
    k = int(i)
    kind = c.contacts[k, KIND]
    if kind == POINT:
        point(c, k, u[0], u[2], out)
    elif kind == FACE:
        face(c, k, u[0], u[2], out)
    else:
        mesh(c, k, u[0], u[2], u[4], out)


END = 0.02
"""Fraction of the range within which a contact counts as being at the end of a curve."""


class ContactValues(NamedTuple):
    value: float
    gradient: Floats
    hessian: Floats


def contact_values(contact: Contact, u: Sequence[float]) -> ContactValues:
    """g of one contact, with its first and second derivatives with respect to u."""
    p, (out, _) = len(u), _searched(contact, u)
    return ContactValues(float(out[0]), out[1 : p + 1], out[p + 1 : p + 1 + p * p].reshape(p, p))


def _searched(contact: Contact, u: Sequence[float]) -> tuple[Floats, Floats]:
    """The output of a contact, and the parameters of the contact point."""
    out, memory = np.zeros(RESULTS), np.full((1, 2), np.nan)
    context = ContactContext(*pack_contacts([contact]), memory)
    contact_at(context, 0.0, np.repeat(np.asarray(u, dtype=float), 2), out)
    return out, memory[0]


def is_at_end(contact: Contact, u: Sequence[float]) -> bool:
    """Whether a contact has reached the end of an open curve, or is beyond it."""
    for curve, sigma in zip(contact.curves, _searched(contact, u)[1], strict=False):
        first, last = curve.knots[0], curve.knots[-1]
        inner = first + END * (last - first) < sigma < last - END * (last - first)
        if not curve.closed and not inner:
            return True
    return False
