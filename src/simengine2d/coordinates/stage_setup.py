"""Sparse stages, from the map of a family and the rows and forces of its system."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..numerics.arrays import Floats
from ..numerics.front_analysis import fronts
from ..numerics.kernel_pointer import words_of
from ..system.derivatives import Tangent, add_blocks
from ..system.row_compliance import compliance_of_redundant_rows, filled
from ..system.workspace import Workspace, new_workspace
from .body_map import BodyMap, MapLayout, MapPointers, MapShape, integers, starts
from .mapped_stages import MappedStages, evaluate, solve
from .row_scales import felt_by_bodies, felt_by_own_rows
from .stage_pattern import FACTORS, RATIO, StagePattern
from .stages import StageEquations, StageTask

if TYPE_CHECKING:
    from .base import Family


def mapped_stages(
    family: Family, shape: MapShape, pointers: Callable[[BodyMap], MapPointers], task: StageTask
) -> StageEquations:
    """The stages of an implicit method in a family whose map has a shape, and is filled by pointers."""
    st, (S, L), n, m, s = task.st, family.reduced(), family.n, family.m, task.st.t.size
    twice, ghosts = task.twice and m > 0, len(shape.columns) - S.mass.size
    layout = MapLayout(shape, S, L)
    V, X = layout.body_map(n)
    velocity_rows = np.isin(family.remaining_rows, family.system.velocity_rows)
    holds_rate = np.append(np.zeros(layout.own), velocity_rows).astype(np.int64)
    share, eps, slack = softness(family, task)
    V[layout.one :] = np.concatenate(
        [np.ones(1 + n), np.stack([task.compliance, eps, -eps, share], axis=1).ravel()]
    )
    pattern = StagePattern(n, m, ghosts, twice)
    fill_pattern(pattern, layout, holds_rate)
    terms, rows, columns = pattern.arrays()
    K, (place, bend), (w, below) = (
        fronts(rows, columns, pattern.size, s),
        pointers(X),
        tangent_workspaces(layout),
    )
    masses = sorted((shape.masses or {}).items())
    context = MappedStages(
        place_f=place.f,
        place_c=place.c,
        bend_f=bend.f,
        bend_c=bend.c,
        S=S,
        w=w,
        below=below,
        st=st,
        X=X,
        upper=layout.slots[0],
        lower=layout.slots[1],
        couple=integers(b for couple in layout.couples for b in couple).reshape(-1, 2),
        couple_start=starts(map(len, layout.of_couple)),
        couple_pair=integers(k for part in layout.of_couple for k in part),
        slope_start=starts(map(len, layout.slopes)),
        slope=integers(k for part in layout.slopes for k in part),
        target=layout.target,
        distances=layout.distances(),
        mass_pair=integers(layout.pairs[pair] for pair, _ in masses),
        mass_row=integers(p for (p, _), _ in masses),
        mass_column=integers(u for (_, u), _ in masses),
        mass=np.array([mass for _, mass in masses], dtype=float),
        weights=V[layout.one + 1 : layout.one + 1 + n],
        share=share,
        slack=slack,
        holds_rate=holds_rate,
        terms=terms,
        V=V,
        K=K,
        inertial=int(shape.masses is None),
        twice=int(twice),
        loads=int(L.forces.shape[0] > 0 or L.wrench_frame.size > 0),
        **new_scratch(layout, n, m, pattern.size, s),
    )
    evaluating = evaluate.bind(context)
    kept = {name: getattr(K, name) for name in ("lu", "exchanged", "row_scale", "column_scale")}
    factors = kept | {"weights": context.weights}
    return StageEquations(evaluating, solve.bind_like(evaluating), factors, context.errors)


def new_scratch(layout: MapLayout, n: int, m: int, size: int, s: int) -> dict[str, Floats]:
    """What the kernels write, of s stages with `size` equations each."""
    right, x = np.zeros((2, size, s))
    all_bodies = len(layout.shape.columns)
    return {
        "stiffness": np.zeros(9 * len(layout.couples)),
        "stretch": np.ones(m - layout.own),
        "errors": np.zeros((m, 3)),
        "lam": np.zeros(m - layout.own),
        "slopes": np.zeros(layout.S.jac_column.size),
        "y": np.zeros(3 * n),
        "pull": np.zeros(n + 3 * (all_bodies - layout.bodies)),
        "factors": np.zeros((FACTORS, s, s)),
        "right": right,
        "x": x,
        "outboard": np.zeros((all_bodies, 3, 3)),
    }


def softness(family: Family, task: StageTask) -> tuple[Floats, Floats, Floats]:
    """What each row feels of the masses, roughly; eps where rows may depend on each other; eps as an acceleration."""
    system, masses = family.system, family.system.masses
    remaining = felt_by_bodies(system, 0.0, system.drawn_q)[family.remaining_rows]
    z = family.positions(system.drawn_q)
    own = felt_by_own_rows(family, 0.0, z) if family.own_rows else np.zeros(0)
    share = filled(np.append(own, remaining))
    eps = compliance_of_redundant_rows(share) if task.redundant else np.zeros(family.m)
    eps = np.where(task.compliance > 0.0, 0.0, eps)
    heaviest = float(np.max(masses * system.sizes**2, initial=0.0)) or 1.0
    return share, eps, eps / np.sqrt(share * heaviest)


def tangent_workspaces(layout: MapLayout) -> tuple[Workspace, Workspace]:
    """Workspaces that write second derivatives above the diagonal of couples of bodies, and below it."""
    S, L, block = layout.S, layout.L, max(map(len, layout.groups), default=0)
    w = new_workspace(S, L)._replace(
        v=np.zeros(9 * len(layout.couples) + 1), G=np.empty((3, block)), B=np.zeros((block, block))
    )
    if not layout.groups:
        return w, w
    pointers = (add_blocks.bind(Tangent(S, L, each.couplings, w)) for each in layout.slots)
    upper, lower = (
        w._replace(blocks_f=f, blocks_c=c, rare_kept=kept) for f, c, kept in map(words_of, pointers)
    )
    return upper, lower


def fill_pattern(P: StagePattern, at: MapLayout, holds_rate: Any) -> None:
    """Everything that is in Newton's matrix."""
    for (p, u), k in at.pairs.items():
        for level in at.levels[k]:
            P.vary(P.balance(p), u, level, at.tangent + 3 * k + level)
    for k, row in enumerate(at.entry):
        P.soften(k, at.one + 1 + P.n + 4 * k, bool(holds_rate[k]))
        for u, p in row.items():
            P.constraint(k, u, at.J + p, at.G + p, bool(holds_rate[k]))
    for g, columns in enumerate(at.shape.columns[at.bodies :]):
        for r in range(3):
            P.hold(3 * g + r, at.one)
            for p, u in enumerate(columns, int(at.start[at.bodies + g])):
                P.ghost(3 * g + r, u, at.R + 3 * p + r, at.Rd + 3 * p + r, at.Rdd + 3 * p + r)
    for j in range(P.n if P.twice else 0):
        P.add(P.e + j, P.e + j, at.one + 1 + j, RATIO)
