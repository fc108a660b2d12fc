"""Integrations of stiff motions by Radau IIA with error control: a run may go on from any state of the bodies."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..coordinates.base import Family
from ..coordinates.equations import Configuration
from ..coordinates.reference_point.transformed_stages import held_forces, transformed_stages
from ..coordinates.stages import ACCELERATION, MODIFIED, KeptStages, new_stages
from ..numerics.arrays import Floats
from ..numerics.kernel_pointer import BoundKernel
from . import loop_state
from .break_crossing import Broken
from .dae_equations import DaeEquations
from .dae_integration import ConstrainedIntegration, watched
from .dae_step import MEMORY_SIZE
from .integration import NONE, careful, new_path
from .loop_state import Rules
from .ode_method import OdeTask
from .radau_outputs import hold, look_into_radau_step
from .radau_start import RadauStart, begin_nodes, restart_radau
from .radau_step import RadauStep, try_radau_step
from .radau_table import radau_table

LOOSE = 5e-2  # tolerance down to which three stages are quickest
SHARE = 0.12  # of the tolerance of one step
SMALLEST = 1e-13  # error of a step that rounding leaves visible
KEEPS = 1.2  # by which a step must become longer to be worth a new matrix


def stages_for(rtol: float) -> int:
    """How many stages are quickest: three make cheaper steps, five make longer ones where little error is allowed."""
    return 3 if rtol > LOOSE else 5


def order_for(rtol: float) -> int:
    return 2 * stages_for(rtol) - 1


def local_tolerance(rtol: float) -> float:
    """Error allowed in one step.

    The estimate is of order s, the method of order 2 s - 1; but so are not the forces that a stiff damper transmits.
    """
    return max(SMALLEST, SHARE * rtol**0.9)


class RadauIntegration(ConstrainedIntegration):
    """Rows are (z, zd, zdd, lam, turns), also inside steps."""

    def __init__(
        self,
        problem: OdeTask,
        path: loop_state.Path,
        rules: Rules,
        attempt: BoundKernel,
        equations: DaeEquations,
        step: RadauStep,
    ) -> None:
        self.step = step
        super().__init__(problem, path, rules, attempt, equations, step.ends, step.memory)
        self.restarting = restart_radau.bind(self.start_context())
        self.beginning = begin_nodes.bind_like(self.restarting)
        self.begin_nodes(problem.t0)

    def start_context(self) -> RadauStart:
        family, of_motion = self.dae.family, self.dae.of_motion
        assert of_motion.multipliers is not None
        accelerate, lam = of_motion.accelerate, of_motion.multipliers.pointer
        room = np.zeros(3 * family.n), np.zeros(family.m)
        return RadauStart(self.step, self.path, *accelerate[:2], *lam[:2], *room, family.turns)

    def open_steps(self) -> None:
        if self.look is NONE:
            self.look = look_into_radau_step.bind_like(self.attempt)
            self.equations = self.equations_with(self.attempt)

    def begin_nodes(self, t: float) -> None:
        self.beginning(t, self.path.y, self.path.y)

    @property
    def restartable(self) -> bool:
        """Whether it can begin again as a new one would; times at which it is careful count from its first start."""
        return self.rules.careful == 0

    def restart(self, t0: float, y0: Floats, rtol: float, atol: Floats, limit: float | None = None) -> None:
        super().restart(t0, y0, rtol, atol, limit)
        state, limit = self.path.state, self.path.state[loop_state.LIMIT]
        self.restarting(t0, np.ascontiguousarray(y0), self.path.out)
        state[loop_state.LIMIT] = limit

    def begin_anew(self, t: float) -> None:
        super().begin_anew(t)
        self.begin_nodes(t)

    def accelerations(self, times: Floats, Y: Floats) -> tuple[Floats, Floats]:
        n, m = self.dae.family.n, self.dae.family.m
        return Y[:, 2 * n : 3 * n].copy(), Y[:, 3 * n : 3 * n + m].copy()

    def kept(self) -> dict[str, Floats]:
        k = self.step
        return super().kept() | {"nodes": k.nodes, "past": k.past, "rates": k.rates, "own": k.own}


def radau_integration(
    family: Family,
    t0: float,
    y0: Floats,
    rtol: float,
    atol: Floats,
    *,
    stages: int,
    longest: float | None,
    limit: float,
    broken: Broken | None,
    watch: Callable[[BoundKernel], BoundKernel] | None,
    alarm: Floats | None,
    redundant: bool,
    implied: Sequence[int],
) -> RadauIntegration:
    """An integration from (t0, y0) on, whose local errors are `rtol` and `atol`."""
    n, m = family.n, family.m
    equations = DaeEquations(family, Configuration(t0, y0[:n].copy(), redundant, implied))
    of_motion, T = equations.of_motion, radau_table(stages)
    ends = np.tile(np.concatenate(equations.accelerations(t0, y0)), (2, 1))
    notes = np.concatenate([ends[0], family.turns])
    path = new_path(y0, 2, 0, rtol, atol, notes, alarm=alarm, inside=notes.copy())
    unknowns = m + held_forces(family.system)
    options = np.array([0.0, 0.0, 0.0, MODIFIED, 0.0, 0.0, ACCELERATION])
    st, one = (new_stages(s, n, unknowns, options.copy()) for s in (stages, 1))
    of_stages, beside, onto = transformed_stages(family.system, T.A, st, one, redundant)
    equations.solvers += [KeptStages(st, of_stages.factors), KeptStages(one, {})]
    pointers = (pointer for each in (of_stages, beside, onto) for pointer in (each.evaluate, each.solve))
    addresses = (part for pointer in pointers for part in (pointer.f, pointer.c))
    nodes, past = np.zeros((2, stages + 1, n + unknowns))
    everything: tuple[Any, ...] = (
        *addresses, T, st, one, nodes, past, np.zeros((stages + 1, n)), of_motion.per_row, of_motion.per_coordinate,
        ends, np.zeros(MEMORY_SIZE), np.zeros(4), np.zeros(n), path.inside, float(family.system.length), path.y,
        path.state, path.rtol, path.atol,
    )  # fmt: skip
    step = RadauStep(*everything)
    attempt = try_radau_step.bind(step)
    finish = watched(equations.ending(ends, hold.bind_like(attempt)), watch)
    problem = OdeTask(
        of_motion.accelerate, t0, y0, longest, rtol, path.atol, finish, notes, "exact", None, limit, False, False,
        broken,
    )  # fmt: skip
    rules = Rules(
        loop_state.ADAPTIVE,
        stages + 1,
        0,
        1,
        np.inf,
        float(longest or 0.0),
        t0,
        limit,
        0.0,
        careful(problem),
        0,
        KEEPS,
    )
    return RadauIntegration(problem, path, rules, attempt, equations, step)
