"""How a motion under forces changes with the parameters: the variational equations, collocated panel by panel.

The motion itself is computed once more at the nodes of the panels. There, v''_i = a_i v_i + b_i v'_i + c_i with

    v'_i = v'_0 + h sum_j B_j(x_i) v''_j,      v_i = v_0 + h x_i v'_0 + h^2 sum_j C_j(x_i) v''_j

are linear equations for all v''_i of a panel. They give its map (v, v') -> (v, v') and what the parameters add to it;
these maps are then applied one after the other, from the start on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...analyses.assembly.closure import coordinate_scale
from ...analyses.dynamics.dynamics import dynamics
from ...analyses.dynamics.initial_state import start
from ...analyses.statics.tangent_space import named_motions, tangent_space
from ...analyses.times import begin_of
from ...errors import UnsupportedError
from ...numerics.arrays import Floats, Ints
from ...results.results import Results
from .motion_slopes import MotionSlopes, all_parameter_slopes, states_of
from .panels import NODES, STAGES, once, resolving_panels, twice
from .parameters import VariedNumber
from .residuals import Residuals, StateSlopes, state_slopes
from .start_slopes import start_slopes
from .variational import (
    Inverses,
    ReducedEquations,
    Tangents,
    full_slopes,
    inverses,
    reduced_equations,
    tangents,
)

RTOL = 1e-10
"""Of the motion at the nodes."""
OPTIONS = ("coordinates", "max_step")
"""Options of the run that the motion at the nodes follows, too."""
STEEP = 30.0
"""How much more than the independent coordinates others may move, all as lengths; beyond it, others are chosen."""


class Along(NamedTuple):
    """The linear equations at some instants of a motion."""

    at: Inverses
    parts: Tangents
    reduced: ReducedEquations


class Panel(NamedTuple):
    """Maps of panels: (v, v') at the end, and v'' at the nodes, from v, v' at the start and the parameters."""

    end: Floats
    nodes: Floats


class Variational:
    """The variational equations of one motion, ready to be read at any of its times."""

    def __init__(self, numbers: Sequence[VariedNumber], results: Results, options: Mapping[str, Any]) -> None:
        self.system, self.numbers = results.system, numbers
        self.system.refuse_velocity_rows("sensitivity")
        self.begin = begin_of(self.system, results.t)
        self.kept = np.setdiff1d(np.arange(self.system.m), start(self.system, self.begin).implied)
        steps = results.statistics.get("steps", 0)
        others = {name: options[name] for name in OPTIONS if name in options}
        tolerance = min(RTOL, options.get("rtol", 1.0))
        run = lambda times: dynamics(self.system, t_eval=times, rtol=tolerance, **others)
        self.panels = resolving_panels(run, self.begin, float(results.t[-1]), min(steps // 3, 200))

    def slopes(self, results: Results) -> MotionSlopes:
        """q_p, qd_p, qdd_p and lam_p at the times of results."""
        chosen, along = self._along_nodes()
        maps = panel_maps(along.reduced, self.panels.lengths)
        begins, seconds = self._march(chosen, along, maps)
        panel, x = self.panels.place(results.t)
        h = self.panels.lengths[panel][:, None, None]
        f, own = chosen.shape[1], seconds[panel]
        rate = begins[panel, f:] + h * np.einsum("tj,tjfp->tfp", once(x), own)
        v = begins[panel, :f] + h * x[:, None, None] * begins[panel, f:]
        v = v + h**2 * np.einsum("tj,tjfp->tfp", twice(x), own)
        there = self._along(results, chosen[panel])
        slopes = full_slopes(self.system, there.parts, there.at, there.reduced, v, rate)
        lam = np.zeros((results.t.size, self.system.m, len(self.numbers)))
        lam[:, self.kept] = slopes.lam
        return slopes._replace(lam=lam)

    def _along(self, results: Results, chosen: Ints) -> Along:
        """The equations at the times of results, with the independent coordinates of each."""
        by_state, by_p = self._equations(results)
        at = inverses(by_state.J, chosen)
        parts = tangents(by_state, by_p, at)
        return Along(at, parts, reduced_equations(self.system, parts, at))

    def _equations(self, results: Results) -> tuple[StateSlopes, Residuals]:
        states = states_of(results)
        by_state = state_slopes(self.system, states)
        by_p = all_parameter_slopes(self.numbers, states)
        rows = lambda part: part[:, self.kept]
        by_state = by_state._replace(
            J=rows(by_state.J), rate=rows(by_state.rate), second=rows(by_state.second)
        )
        return by_state, by_p._replace(Phi=rows(by_p.Phi), rate=rows(by_p.rate), second=rows(by_p.second))

    def _along_nodes(self) -> tuple[Ints, Along]:
        """The independent coordinates of each panel, and the equations at all nodes."""
        by_state, by_p = self._equations(self.panels.results)
        chosen = self._chosen(by_state.J)
        at = inverses(by_state.J, np.repeat(chosen, STAGES, axis=0))
        parts = tangents(by_state, by_p, at)
        return chosen, Along(at, parts, reduced_equations(self.system, parts, at))

    def _chosen(self, J: Floats) -> Ints:
        """Independent coordinates for each panel: the same as before, as long as they move enough."""
        count, scale = self.panels.lengths.size, coordinate_scale(self.system)
        chosen = np.zeros((count, self.system.n - self.kept.size), dtype=np.int64)
        if chosen.shape[1] == 0:
            return chosen
        first = 0
        while first < count:
            own = self._independent(first * STAGES)
            chosen[first:] = own
            rest = J[first * STAGES :]
            with np.errstate(all="ignore"):
                B = inverses(rest, np.broadcast_to(own, (rest.shape[0], own.size))).B
            steep = np.abs(B / scale[:, None] * scale[own]).max(axis=(1, 2)).reshape(-1, STAGES).max(axis=1)
            poor = np.flatnonzero(~(steep[1:] < STEEP))
            first += int(poor[0]) + 1 if poor.size else count
        return chosen

    def _independent(self, i: int) -> Ints:
        motion = self.panels.results
        space = tangent_space(self.system, float(motion.t[i]), motion.q[i])
        return np.array(named_motions(self.system, space)[1], dtype=np.int64)

    def _march(self, chosen: Ints, along: Along, maps: Panel) -> tuple[Floats, Floats]:
        """v and v' at the start of each panel, and v'' at its nodes."""
        count, f, P = chosen.shape[0], chosen.shape[1], len(self.numbers)
        begins, seconds = np.zeros((count, 2 * f, P)), np.zeros((count, STAGES, f, P))
        q, qd = start_slopes(self.system, self.begin, self.numbers)
        state = np.concatenate([q[chosen[0]], qd[chosen[0]]])
        for k in range(count):
            if k and not np.array_equal(chosen[k], chosen[k - 1]):
                q, qd = self._all_coordinates(along.parts, STAGES * k - 1, state)
                state = np.concatenate([q[chosen[k]], qd[chosen[k]]])
            columns = np.concatenate([state, np.eye(P)])
            begins[k], seconds[k] = state, (maps.nodes[k] @ columns).reshape(STAGES, f, P)
            state = maps.end[k] @ columns
        return begins, seconds

    @staticmethod
    def _all_coordinates(parts: Tangents, i: int, state: Floats) -> tuple[Floats, Floats]:
        """q_p and qd_p at a node from those of its independent coordinates."""
        columns = np.concatenate([state, np.eye(state.shape[1])])
        return parts.q[i] @ columns, parts.qd[i] @ columns


def panel_maps(reduced: ReducedEquations, lengths: Floats) -> Panel:
    """The linear map of each panel, by collocation."""
    count, f, P = lengths.size, reduced.by_v.shape[1], reduced.source.shape[2]
    a, b, c = (part.reshape(count, STAGES, f, part.shape[2]) for part in reduced)
    h = lengths[:, None, None, None]
    # v''_i - a_i h^2 sum_j C_j(x_i) v''_j - b_i h sum_j B_j(x_i) v''_j = a_i (v_0 + h x_i v'_0) + b_i v'_0 + c_i
    A, AA, x = once(NODES), twice(NODES), NODES[:, None, None]
    h2 = h[..., None]
    matrix = -(h2**2 * np.einsum("ij,kifg->kifjg", AA, a) + h2 * np.einsum("ij,kifg->kifjg", A, b))
    matrix = matrix.reshape(count, STAGES * f, STAGES * f) + np.eye(STAGES * f)
    right = np.concatenate([a, h * x * a + b, c], axis=3).reshape(count, STAGES * f, 2 * f + P)
    nodes = np.linalg.solve(matrix, right)
    # v and v' at the end
    parts, h = nodes.reshape(count, STAGES, f, 2 * f + P), lengths[:, None, None]
    end = np.zeros((count, 2 * f, 2 * f + P))
    end[:, :f] = h**2 * np.einsum("j,kjfc->kfc", AA[-1], parts)
    end[:, f:] = h * np.einsum("j,kjfc->kfc", A[-1], parts)
    end[:, : 2 * f, : 2 * f] += np.eye(2 * f)
    end[:, :f, f : 2 * f] += h * np.eye(f)
    return Panel(end, nodes)


def dynamic_slopes(
    results: Results, numbers: Sequence[VariedNumber], options: Mapping[str, Any]
) -> MotionSlopes:
    """Of a motion under forces, at the times of its results."""
    if results.t.size == 0:
        raise UnsupportedError("the run has no outputs, so there is nothing to differentiate.")
    return Variational(numbers, results, options).slopes(results)
