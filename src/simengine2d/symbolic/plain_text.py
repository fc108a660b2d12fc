"""Equations as text for a terminal: one line per row."""

from __future__ import annotations

from typing import TYPE_CHECKING

import sympy as sp

if TYPE_CHECKING:
    from .equations import Equations


def text(equations: Equations) -> str:
    """By body, then by joint; then the numbers."""
    lines = [equations.title, *equations.remarks]
    for group, columns in equations.groups.items():
        lines += ["", equations.group_titles[group]]
        lines += _matrix_lines(equations, columns)
        lines += [
            f"  {_force_name(equations)}[{equations.coordinate_names[j]}] = {equations.QA[j]}"
            for j in columns
        ]
    for joint, rows in equations.joints.items():
        lines += ["", equations.joint_titles[joint]]
        for i in rows:
            lines += _row_lines(equations, i)
    if equations.legend:
        lines += ["", "Numbers"]
        lines += [f"  {entry.symbol} = {entry.value:.10g}  ({entry.meaning})" for entry in equations.legend]
    return "\n".join(lines)


def _force_name(equations: Equations) -> str:
    return equations.notation.letters["QA"][0]


def _matrix_lines(equations: Equations, columns: list[int]) -> list[str]:
    names = equations.coordinate_names
    return [
        f"  M[{names[i]}, {names[j]}] = {equations.M[i, j]}"
        if i != j
        else f"  M[{names[i]}] = {equations.M[i, j]}"
        for i in columns
        for j in range(i, equations.n)
        if equations.M[i, j] != 0
    ]


def _row_lines(equations: Equations, i: int) -> list[str]:
    letters = {ours: theirs for ours, (theirs, _) in equations.notation.letters.items()}
    row = equations.row_names[i]
    lines = [f"  {letters['Phi']}[{row}] = {equations.Phi[i]}"]
    lines += [
        f"  {letters['Phi_q']}[{row}, {name}] = {entry}"
        for name, entry in zip(equations.coordinate_names, _entries(equations.Phi_q, i), strict=True)
        if entry != 0
    ]
    if equations.nu[i] != 0:
        lines.append(f"  {letters['nu']}[{row}] = {equations.nu[i]}")
    return [*lines, f"  {letters['gamma']}[{row}] = {equations.gamma[i]}"]


def _entries(matrix: sp.Matrix, i: int) -> list[sp.Expr]:
    return [matrix[i, j] for j in range(matrix.cols)]
