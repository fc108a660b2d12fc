"""Shorter forms of expressions, by steps that are quick and change no value."""

from __future__ import annotations

import sympy as sp
from sympy.simplify.fu import TR8

LONGEST = 1000  # operations up to which a shorter form is looked for
HIGHEST = 4  # power of a sum up to which it is multiplied out


def simplify(matrix: sp.Matrix) -> sp.Matrix:
    """Each entry multiplied out, where that is shorter."""
    return matrix.applyfunc(_expanded)


def simplify_angles(matrix: sp.Matrix) -> sp.Matrix:
    """Each entry with cos(a - b) for cos(a) cos(b) + sin(a) sin(b), where that is shorter."""
    return matrix.applyfunc(_with_differences)


def _expanded(entry: sp.Expr) -> sp.Expr:
    return min(entry, sp.expand(entry), key=sp.count_ops) if _is_short(entry) else entry


def _is_short(entry: sp.Expr) -> bool:
    """Whether multiplying out ends soon."""
    sums = (p for p in entry.atoms(sp.Pow) if p.base.is_Add)
    return sp.count_ops(entry) <= LONGEST and all(p.exp.is_number and abs(p.exp) <= HIGHEST for p in sums)


def _with_differences(entry: sp.Expr) -> sp.Expr:
    if not entry.has(sp.sin, sp.cos) or not _is_short(entry):
        return entry
    expanded = sp.expand(entry)
    products = sp.expand(TR8(expanded))
    return min(entry, expanded, products, key=sp.count_ops)
