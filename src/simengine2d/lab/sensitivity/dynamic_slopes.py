"""How a motion under forces changes with the parameters: the variational equations, collocated panel by panel.

The motion itself is computed once more at the nodes of the panels. There, v''_i = a_i v_i + b_i v'_i + c_i with

    v'_i = v'_0 + h sum_j B_j(x_i) v''_j,      v_i = v_0 + h x_i v'_0 + h^2 sum_j C_j(x_i) v''_j

are linear equations for all v''_i of a panel. They give its map (v, v') -> (v, v') and what the parameters add to it;
these maps are then applied one after the other, from the start on.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from ...analyses.assembly.closure import coordinate_scale
from ...analyses.dynamics.dynamics import dynamics
from ...analyses.dynamics.initial_state import start
from ...analyses.dynamics.new_run import PLAIN
from ...analyses.earlier_models import kind_of
from ...analyses.statics.tangent_space import named_motions, tangent_space_of
from ...analyses.times import begin_of
from ...errors import UnsupportedError
from ...numerics.arrays import Floats, Ints
from ...results.results import Results
from ...system.residuals import States, jacobians, residuals_and_jacobians
from ...system.system import System
from ...system.workspace import once_per_system
from .foreseen_panels import FORESEEN, foreseen_ends
from .jumps import BesideCut, Jump, time_slopes
from .motion_slopes import MotionSlopes, states_of
from .node_equations import node_equations
from .panel_maps import Panel, march, panel_maps
from .panels import (
    FAINT,
    FEWEST,
    HIGHEST,
    MOST_CUTS,
    MOST_RUNS,
    NODES,
    STAGES,
    TOGETHER,
    WINDOW,
    ahead,
    between,
    cut_into,
    integrals,
    pieces_by,
    resolving_panels,
)
from .start_slopes import start_slopes
from .switches import Cut, Switches
from .variational import LinearEquations, ReducedEquations, full_slopes, inverses, linear_equations
from .varied import Varied, VariedNumber, VariedTime

RTOL = 1e-10
"""Of the motion at the nodes."""
AT_JUMP = 1e-9
"""Of the motion: what is at a jump."""
BESIDE = 1e-6
"""Of a panel: how far from a cut the accelerations of its sides are found."""
SHORT = 1e-4
"""Of a usual panel: along which the rates of switches are found."""
SEEN = 1e-5
"""Part of the derivatives of accelerations that the highest polynomial of a panel may have."""
MOST_PANELS = 2000
"""For derivatives that change fast, or four times as many as the motion needs."""
OPTIONS = ("coordinates", "max_step")
"""Options of the run that the motion at the nodes follows, too."""
MOST_MOTIONS = 8
"""Whose panels are known."""
BEYOND = 1e-4
"""Of a run that ends at an event: how far the motion is followed beyond it, since its time has an error."""
STEEP = 30.0
"""How much more than the independent coordinates others may move, all as lengths; beyond it, others are chosen."""


class KnownPanels(NamedTuple):
    """The panels that have resolved a motion and its derivatives, and the first and last output."""

    ends: tuple[float, float]
    panels: Floats


@once_per_system
def known_panels(system: System) -> dict[Hashable, KnownPanels]:
    """Of the motions of a System, by their options."""
    return {}


class Variational:
    """The variational equations of one motion, ready to be read at any of its times."""

    def __init__(
        self,
        system: System,
        numbers: Sequence[VariedNumber],
        results: Callable[[], Results],
        options: Mapping[str, Any],
    ) -> None:
        """The numbers vary around the System; `results` computes the motion."""
        self.system, self.numbers = system, numbers
        self.system.refuse_velocity_rows("sensitivity")
        self.asked = kind_of(options) if {*options} <= {*PLAIN, *OPTIONS} else None
        known = known_panels(self.system).get(self.asked)
        outputs = results().t if known is None else np.array(known.ends)
        self.ends = float(outputs[0]), float(outputs[-1])
        self.begin = begin_of(self.system, outputs)
        self.kept = np.setdiff1d(np.arange(self.system.m), start(self.system, self.begin).implied)
        others = {name: options[name] for name in OPTIONS if name in options}
        tolerance = min(RTOL, options.get("rtol", 1.0))
        self.run = lambda times: replace(
            dynamics(self.system, t_eval=times, rtol=tolerance, **others), system=self.system
        )
        self.switches, self.splines = Switches(self.system), has_splines(self.system)
        self.of_time: list[Cut] = []
        self.follow(self._foreseen(results()) if known is None else known.panels)

    def _foreseen(self, results: Results) -> Floats:
        """The ends of the first panels."""
        begin, end = self.begin, self.ends[1]
        if any(each.stop for each in results.events):
            end += BEYOND * (end - begin)
        self.of_time = self.switches.in_time(begin, end, MOST_CUTS)
        cuts, usual = np.array([cut.t for cut in self.of_time]), (end - begin) / panel_count(results)
        return foreseen_ends(results, begin, end, usual, cuts, splines=self.splines)

    def follow(self, grid: Floats) -> None:
        """Compute the motion at the nodes of panels that are at most as long as those of a grid."""
        for known in ("nodes", "jumps"):
            self.__dict__.pop(known, None)
        self.moving = list[tuple[Jump, Floats]]()
        self.panels, rough = resolving_panels(
            self.run, grid, self.of_time, self.switches, splines=self.splines
        )
        if rough.size:
            raise UnsupportedError(
                f"the motion has no derivatives that could be trusted: at about t = {rough[0]:.4g} s its velocities or "
                "accelerations jump where no law is known to switch, or change faster than can be resolved. Smooth "
                "the force that does it (step5 instead of step, a wider friction law), or end the run before."
            )

    def at(self, times: Floats) -> Results:
        """The motion at any of its times: polynomials between the nodes, forces by the equations."""
        nodes = self.panels.results
        rows = np.minimum(np.searchsorted(nodes.t, times), nodes.t.size - 1)
        others = np.flatnonzero(nodes.t[rows] != times)
        if not others.size:
            return nodes.at_rows(rows)
        between_nodes = self._states(*self.panels.place(times[others]), times[others])
        if others.size == times.size:
            return between_nodes
        whole = nodes.at_rows(rows)
        for name in ("t", "q", "qd", "qdd", "lam"):
            getattr(whole, name)[others] = getattr(between_nodes, name)
        return whole

    def _states(self, panel: Ints, x: Floats, times: Floats) -> Results:
        q, qd = between(self.panels, panel, x)
        qdd, lam = self._forced(times, q, qd, self.chosen[panel])
        return replace(self.panels.results, t=times, q=q, qd=qd, qdd=qdd, lam=lam)

    def _forced(self, t: Floats, q: Floats, qd: Floats, chosen: Ints) -> tuple[Floats, Floats]:
        """qdd and lam of B^T M B v'' = B^T (QA - M S gamma), qdd = S gamma + B v'', lam = S^T (QA - M qdd)."""
        still, m = np.zeros_like(q), self.system.m
        states = States(t, q, qd, still, np.zeros((t.size, m)))
        at_rest, J = residuals_and_jacobians(self.system, states)
        QA, gamma = -at_rest.force[..., None], -at_rest.second[:, self.kept, None]
        at = inverses(J[:, self.kept], chosen)
        masses, B_T, held = self.system.masses[:, None], np.swapaxes(at.B, 1, 2), at.S @ gamma
        second = np.linalg.solve(B_T @ (masses * at.B), B_T @ (QA - masses * held))
        qdd, lam = held + at.B @ second, np.zeros((t.size, m))
        lam[:, self.kept] = (np.swapaxes(at.S, 1, 2) @ (QA - masses * qdd))[..., 0]
        return qdd[..., 0], lam

    def slopes(self, results: Results) -> MotionSlopes:
        """q_p, qd_p, qdd_p and lam_p at the times of results."""
        begins, seconds = self.marched  # which may cut panels
        panel, x = self.panels.place(results.t)
        return self._without_jumps(results.t, self._read(results, panel, x, begins[panel], seconds[panel]))

    def _read(
        self, results: Results, panel: Ints, x: Floats, begins: Floats, seconds: Floats
    ) -> MotionSlopes:
        """At places x of panels, whose v_p and v'_p at the start, and v''_p at the nodes, are given for each."""
        h, f = self.panels.lengths[panel][:, None, None], self.chosen.shape[1]
        once, twice = (np.einsum("tj,tjfp->tfp", each, seconds) for each in integrals(x))
        rate = begins[:, f:] + h * once
        v = begins[:, :f] + h * x[:, None, None] * begins[:, f:] + h**2 * twice
        return self._full(self._along(results, self.chosen[panel], self.numbers), v, rate)

    def rates(self, results: Results, clock: VariedTime) -> MotionSlopes:
        """How q, qd, qdd and lam change with time: the same equations, for a shift of the clock."""
        chosen = self.chosen[self.panels.place(results.t)[0]]
        there = self._along(results, chosen, [clock])
        v, rate = (np.take_along_axis(part, chosen, axis=1)[..., None] for part in (results.qd, results.qdd))
        return self._full(there, v, rate)

    def _full(self, there: LinearEquations, v: Floats, rate: Floats) -> MotionSlopes:
        """All coordinates and multipliers; rows that others imply have none."""
        slopes = full_slopes(self.system, there.parts, there.at, there.reduced, v, rate)
        lam = np.zeros((v.shape[0], self.system.m, v.shape[2]))
        lam[:, self.kept] = slopes.lam
        return slopes._replace(lam=lam)

    def _without_jumps(self, t: Floats, slopes: MotionSlopes) -> MotionSlopes:
        """Where accelerations jump at a time that moves, they and the velocities have no derivatives."""
        for jump, times in self.moving:
            rows = np.flatnonzero(np.abs(t - jump.t) <= AT_JUMP * np.ptp(self.panels.ends))
            if rows.size:
                moving, jumping = times != 0.0, np.abs(jump.change) > 0.0
                for part in (slopes.qd, slopes.qdd):
                    part[np.ix_(rows, jumping, moving)] = np.nan
                slopes.lam[np.ix_(rows, np.arange(slopes.lam.shape[1]), moving)] = np.nan
        return slopes

    def _along(self, results: Results, chosen: Ints, numbers: Sequence[Varied]) -> LinearEquations:
        """The equations at the times of results, with the independent coordinates of each."""
        return linear_equations(self.system, states_of(results), self.kept, chosen, numbers)

    @property
    def chosen(self) -> Ints:
        """The independent coordinates of each panel."""
        return self.nodes[0]

    @cached_property
    def nodes(self) -> tuple[Ints, ReducedEquations]:
        """Independent coordinates for each panel, the same as long as they move enough, and their equations."""
        states, count = states_of(self.panels.results), self.panels.lengths.size
        scale, first, chosen, found = coordinate_scale(self.system), 0, [], []
        while first < count:
            own = self._independent(first * STAGES)
            rest = States(*(part[first * STAGES :] for part in states))
            equations = node_equations(
                self.system, rest, self.kept, np.tile(own, (rest.t.size, 1)), self.numbers
            )
            steep = np.abs(equations.B / scale[:, None] * scale[own]).reshape(count - first, -1)
            poor = np.flatnonzero(~(steep[1:].max(axis=1, initial=0.0) < STEEP))
            good = int(poor[0]) + 1 if poor.size else count - first
            chosen.append(np.tile(own, (good, 1)))
            found.append([part[: good * STAGES] for part in equations.reduced])
            first += good
        return np.concatenate(chosen), ReducedEquations(*map(np.concatenate, zip(*found, strict=True)))

    @cached_property
    def marched(self) -> tuple[Floats, Floats]:
        """v_p and v'_p at the start of each panel, and v''_p at its nodes; these may change faster than the motion."""
        most = max(MOST_PANELS, 4 * self.panels.lengths.size)
        for _ in range(MOST_RUNS):
            begins, seconds = self._march(self.chosen, panel_maps(self.nodes[1], self.panels.lengths))
            tails = self._tails(seconds)
            if tails.max(initial=0.0) <= SEEN:
                self._remember()
                return begins, seconds
            pieces = np.where(tails > SEEN, pieces_by(tails / (FORESEEN * SEEN)), 1)
            if pieces.sum() > most:
                break
            self.follow(cut_into(self.panels.ends, pieces))
        raise UnsupportedError(
            "the derivatives of the motion change too fast to be followed, at about t = "
            f"{self.panels.ends[int(tails.argmax())]:.4g} s. End the run earlier, or make stiff parts softer."
        )

    def _remember(self) -> None:
        """The panels, for other outputs of the same motion; cuts are found anew each time."""
        known = known_panels(self.system)
        if self.asked is not None and not self.panels.cuts:
            known[self.asked] = KnownPanels(self.ends, self.panels.ends)
            for oldest in list(known)[:-MOST_MOTIONS]:
                known.pop(oldest, None)

    def _tails(self, seconds: Floats) -> Floats:
        """Of each panel: the part of v''_p that its highest polynomial has; what is nothing but rounding has none."""
        chosen = np.repeat(self.chosen, STAGES, axis=0)
        fastest = np.abs(np.take_along_axis(self.panels.results.qdd, chosen, axis=1)).max(axis=0)
        with np.errstate(all="ignore"):
            changes = seconds * np.array([number.size for number in self.numbers])
            largest = np.abs(changes).max(axis=(0, 1), initial=0.0)
            rounding = FAINT * np.maximum(fastest, largest.max(axis=1, initial=0.0))
            usual = np.maximum(largest, rounding[:, None])
            highest = np.abs(HIGHEST @ changes.reshape(len(changes), STAGES, -1))
            tails = (highest / np.where(usual > 0.0, usual, 1.0).ravel()).max(axis=1, initial=0.0)
            return np.nan_to_num(tails, nan=1.0)

    @cached_property
    def jumps(self) -> list[Jump]:
        """Where accelerations jump."""
        ends, found = self.panels.ends, []
        step = SHORT * float(np.median(self.panels.lengths))
        cuts = sorted(self.panels.cuts)
        inner = [k for k in range(1, ends.size - 1) if any(cut.t == ends[k] for cut in cuts)]
        for k in inner:
            t = float(ends[k])
            jump = Jump(t, self._cuts_at(t), self._side(k - 1, 1.0), self._side(k, 0.0), step)
            if not jump.is_kink(self.system.sizes):
                found.append(jump)
        return found

    def _cuts_at(self, t: float) -> list[Cut]:
        together = TOGETHER * float(np.ptp(self.panels.ends))
        return [cut for cut in self.panels.cuts if abs(cut.t - t) <= together]

    def _side(self, panel: int, x: float) -> BesideCut:
        """The state at an end of a panel, by the smooth continuation of the motion inside."""
        inside = x + np.array([0.0, 1.0, 2.0]) * (BESIDE if x == 0.0 else -BESIDE)
        times = self.panels.ends[panel] + inside * self.panels.lengths[panel]
        there = self._states(np.full(3, panel), inside, times)
        return BesideCut(there.q[0], there.qd[0], 2.0 * there.qdd[1] - there.qdd[2])

    def _independent(self, i: int) -> Ints:
        motion = self.panels.results
        t, q = motion.t[i : i + 1], motion.q[i : i + 1]
        space = tangent_space_of(self.system, float(t[0]), q[0], jacobians(self.system, t, q)[0])
        return np.array(named_motions(self.system, space)[1], dtype=np.int64)

    def _march(self, chosen: Ints, maps: Panel) -> tuple[Floats, Floats]:
        """v and v' at the start of each panel, and v'' at its nodes."""
        count, f, P = chosen.shape[0], chosen.shape[1], len(self.numbers)
        begins = np.zeros((count, 2 * f, P))
        nodes = maps.nodes.reshape(count, STAGES, f, 2 * f + P)
        seconds_in = lambda k: nodes[k, ..., : 2 * f] @ begins[k, None] + nodes[k, ..., 2 * f :]
        jumps = {int(np.searchsorted(self.panels.ends, jump.t)): jump for jump in self.jumps}
        others = {*jumps, *(1 + np.flatnonzero((chosen[1:] != chosen[:-1]).any(axis=1))).tolist()}
        q, qd = start_slopes(self.system, self.begin, *self.numbers)
        state = np.concatenate([q[chosen[0]], qd[chosen[0]]])
        ends = sorted({0, count, *others})
        for k, end in pairwise(ends):
            if k in others:
                q, qd = self._at_end(k - 1, begins[k - 1], seconds_in(k - 1))
                q[chosen[k - 1]], qd[chosen[k - 1]] = state[:f], state[f:]
                if k in jumps:
                    times = time_slopes(jumps[k], self.switches, self.numbers, q, qd)
                    qd = qd - jumps[k].change[:, None] * times
                    self.moving.append((jumps[k], times))
                state = np.concatenate([q[chosen[k]], qd[chosen[k]]])
            march(maps.end, k, end, state, np.empty_like(state), begins)
        return begins, seconds_in(slice(None))

    def _at_end(self, k: int, begin: Floats, seconds: Floats) -> tuple[Floats, Floats]:
        """q_p and qd_p at the end of panel k, from nodes inside, since formulas may jump at the end."""
        last = slice(STAGES - WINDOW, STAGES)
        nodes = self.panels.results.at_rows(slice(STAGES * k + last.start, STAGES * k + last.stop))
        again = [np.broadcast_to(part, (WINDOW, *part.shape)) for part in (begin, seconds)]
        inside = self._read(nodes, np.full(WINDOW, k), NODES[last], *again)
        return ahead(inside.q, inside.qd, inside.qdd, float(self.panels.lengths[k]))


def has_splines(system: System) -> bool:
    """Whether a table or a curve has a part in the motion."""
    functions = [*system.functions, *(law for _, law in system.laws)]
    tables = bool(system.written.tables) or any(function.table is not None for function in functions)
    return tables or system.has_formulas


def panel_count(results: Results) -> int:
    """About as many as will be needed: as the steps that a method of order 8 takes with rtol = 1e-6, the half of it."""
    steps, rtol = results.statistics.get("steps", 0), results.settings.get("rtol", 1e-6)
    return max(FEWEST, int(min(0.4 * steps * (rtol / 1e-6) ** (1 / 8), 200)))
