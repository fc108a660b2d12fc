"""Integrations of differential-algebraic equations in any coordinates: every formulation with every implicit method."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from ..coordinates import stages
from ..coordinates.base import Family
from ..coordinates.equations import TURNS, Configuration
from ..errors import ModelError
from ..formulations.ggl import GGL
from ..formulations.stage_iteration import StagedFormulation
from ..methods import AlphaMethod, Integrator
from ..numerics.arrays import Floats
from ..numerics.kernel_pointer import BoundKernel
from . import dae_step, loop_state
from .break_crossing import Broken
from .dae_equations import BROUGHT_BACK, DaeEquations, is_redundant
from .implicit_runge_kutta import RadauIIA
from .integration import NONE, CompiledIntegration, fixed_rules, new_path
from .loop_state import BoundEquations, Path, Rules
from .ode_method import OdeTask
from .second_order_tables import SecondOrderTable, table_of

SMALLEST = 1e-13  # error of a step that rounding leaves visible, in sizes
Bound = tuple[BoundKernel, Floats]
ALWAYS = 2**62  # steps that have to be known before the starter of fixed steps is not needed any more


class ConstrainedIntegration(CompiledIntegration):
    """Rows are (z, zd, zdd, lam, turns), with the method's own accelerations and multipliers.

    With error control outputs may lie inside steps; their accelerations are those of the equations of motion there.
    """

    settles_at_switches = True

    def __init__(
        self,
        problem: OdeTask,
        path: Path,
        rules: Rules,
        attempt: BoundKernel,
        equations: DaeEquations,
        ends: Floats,
        memory: Floats,
    ) -> None:
        self.dae, self.ends, self.memory = equations, ends, memory
        if problem.broken is not None:  # a step that is taken back was not halved
            kept = [*problem.broken.memory, memory[dae_step.HALVINGS :]]
            problem = replace(problem, broken=replace(problem.broken, memory=kept))
        super().__init__(problem, path, rules, attempt)
        if rules.kind == loop_state.ADAPTIVE:
            self.open_steps()

    @property
    def middle(self) -> Floats:
        """The state in the middle of a step, where it is known."""
        return np.zeros(0)

    def open_steps(self) -> None:
        """Bind the kernels that interpolate inside steps; fixed steps, whose ends are the outputs, do without them."""
        if self.look is NONE:
            project, middle = self.onto_constraints, self.middle
            look = dae_step.Look(
                self.path, middle, project.f, project.c, np.zeros(TURNS), int(middle.size > 0)
            )
            self.look = dae_step.look_into_dae_step.bind(look)
            self.problem = replace(self.problem, f=self.dae.of_motion.accelerate)
            self.equations = self.equations_with(self.attempt)

    @cached_property
    def onto_constraints(self) -> BoundKernel:
        return self.dae.onto_constraints()

    def between(self, t: float) -> Floats:
        if t == self.step_end:
            return (self.path.new if self.path.state[loop_state.TAKE] > 0.0 else self.path.y).copy()
        self.open_steps()
        return super().between(t)

    def looking_equations(self) -> BoundEquations:
        self.open_steps()
        return super().looking_equations()

    def slope(self) -> Floats:
        self.open_steps()
        return super().slope()

    def begin_anew(self, t: float) -> None:
        """The accelerations are those after the break, and no step is known before it.

        Steps of index 3 leave velocities that the constraints do not allow; in the short steps at a break these would
        make large accelerations.
        """
        super().begin_anew(t)
        self.onto_constraints(t, self.path.y, np.zeros(TURNS))
        self.ends[:] = np.concatenate(self.dae.accelerations(t, self.path.y))
        self.memory[dae_step.SEEN] = self.path.state[loop_state.STEPS]

    def accelerations(self, times: Floats, Y: Floats) -> tuple[Floats, Floats]:
        """zdd and lam of rows that were filled."""
        n, m = self.dae.family.n, self.dae.family.m
        if self.rules.kind != loop_state.ADAPTIVE:
            return Y[:, 2 * n : 3 * n].copy(), Y[:, 3 * n : 3 * n + m].copy()
        found = [self.dae.accelerations(t, row[: 2 * n]) for t, row in zip(times, Y, strict=True)]
        zdd, lam = zip(*found, strict=True)
        return np.array(zdd), np.array(lam)

    def counts(self) -> dict[str, int]:
        state = np.sum([solver.st.state for solver in self.dae.solvers], axis=0)
        return {
            "steps": self.steps,
            "rejected steps": int(self.path.state[loop_state.REJECTED]),
            "halved steps": int(self.memory[dae_step.HALVINGS]),
            "evaluations": int(state[stages.EVALUATIONS] + self.path.state[loop_state.EVALUATIONS]),
            "Newton iterations": int(state[stages.ITERATIONS]),
            "factorizations": int(state[stages.FACTORIZATIONS]),
        }

    @property
    def halved(self) -> tuple[int, list[float]]:
        """How many steps were halved, and the times at which the first of them began."""
        count = int(self.memory[dae_step.HALVED])
        return count, self.memory[dae_step.HALVED + 1 :][:count].tolist()

    def left_over(self) -> float:
        """The largest entry of Psi that the iterations have left at the end of the last step; nan without any there."""
        solvers = [each for each in self.dae.solvers if each.iteration is not None]
        close = 1e-9 * abs(self.step_end - self.t)
        return max(
            (_left(each) for each in solvers if abs(each.st.t[-1] - self.step_end) <= close), default=np.nan
        )

    def kept(self) -> dict[str, Floats]:
        kept = {"ends": self.ends, "memory": self.memory, "turns": self.dae.family.turns}
        for i, solver in enumerate(self.dae.solvers):
            kept[f"state_{i}"] = solver.st.state
            kept |= {f"{name}_{i}": array for name, array in solver.factors.items()}
        return super().kept() | kept


def _left(solver: stages.KeptStages) -> float:
    """|Psi| of stages as they are; evaluating once more is not counted."""
    c, st, before = solver.iteration, solver.st, solver.st.state.copy()
    BoundKernel(c.evaluate_f, c.evaluate_c, None)(float(st.t[-1]), st.state, st.state)
    st.state[:] = before
    parts = (st.balance, st.gap, st.slip, st.rate) if c.twice else (st.balance, st.gap)
    return max(float(np.abs(part).max(initial=0.0)) for part in parts)


class DaeIntegration(ConstrainedIntegration):
    """Every formulation with every implicit method. In fixed steps all outputs are ends of steps."""

    def __init__(
        self,
        problem: OdeTask,
        path: Path,
        rules: Rules,
        step: dae_step.DaeStep,
        closing: dae_step.DaeStep,
        equations: DaeEquations,
        level: Any,
    ) -> None:
        """Steps that end at a switch of the state are those of `closing`."""
        self.step, self.level = step, level
        attempt = dae_step.try_adaptive_step if rules.kind == loop_state.ADAPTIVE else dae_step.try_fixed_step
        super().__init__(problem, path, rules, attempt.bind(step), equations, step.ends, step.memory)
        self.closing = self.attempt if closing is step else attempt.bind(closing)
        self.closes: tuple[BoundEquations, BoundEquations] | None = None

    @property
    def middle(self) -> Floats:
        return self.step.middle if self.rules.kind == loop_state.ADAPTIVE else np.zeros(0)

    def integrate_on(self, times: Floats, first: int, Y: Floats, most_steps: int) -> tuple[int, int]:
        cutting = self.path.state[loop_state.CUTTING] == 1.0
        return self.march_with(
            self.closing_equations if cutting else self.equations, times, first, Y, most_steps
        )

    @property
    def closing_equations(self) -> BoundEquations:
        """The same kernel pointers as usual, but for the steps."""
        if self.closes is None or self.closes[0] is not self.equations:
            self.closes = self.equations, self.equations_with(self.closing)
        return self.closes[1]

    def begin_anew(self, t: float) -> None:
        super().begin_anew(t)
        step, y, n = self.step, self.path.y, self.dae.family.n
        levels = y[:n], y[n:], step.ends[0, :n]
        step.X[:] = [levels[level] for level in self.level]
        step.memory[dae_step.FILLED], step.memory[dae_step.SPACING] = 1.0, 0.0

    def kept(self) -> dict[str, Floats]:
        return super().kept() | {name: getattr(self.step, name) for name in ("X", "X1", "middle")}


def dae_integration(
    formulation: StagedFormulation,
    method: Integrator,
    family: Family,
    t0: float,
    z0: Floats,
    zd0: Floats,
    *,
    step: float | None = None,
    rtol: float | None = None,
    atol: float | Floats | None = None,
    newton: str = "exact",
    tolerance: float | None = None,
    span: tuple[float, float] | None = None,
    broken: Broken | None = None,
    watch: Callable[[BoundKernel], BoundKernel] | None = None,
    alarm: Floats | None = None,
    redundant: bool | None = None,
    implied: Sequence[int] = (),
) -> DaeIntegration:
    """An integration from (t0, z0, zd0) on: in steps of `step`, or with error control where `rtol` is given.

    The error of positions and velocities is kept near `rtol` of each plus `atol` of its coordinate, by default `rtol`
    of the size of that.

    Newton's iteration ("exact", "modified", or "course" without the tangent of the forces) ends when
    accelerations change by less than 1e-10 of their size, or by less than `tolerance`. Whether constraints are
    `redundant` is found where it is not given; some rows of the system are `implied` by others. `watch` makes of what
    follows each step something that looks at it too, and sets `alarm` to 1 where the integration is to return.
    """
    T = table_of(method)
    check_steps(method, T, step, rtol)
    adaptive, order = rtol is not None, error_order(formulation, method)
    y0 = np.concatenate([z0, zd0]).astype(float)
    if redundant is None:
        redundant = is_redundant(family, float(t0), y0[: family.n])
    equations = DaeEquations(family, Configuration(float(t0), y0[: family.n].copy(), redundant, implied))
    first = equations.accelerations(float(t0), y0)
    guess = first[0].copy(), first[1].copy()
    levels = y0[: family.n], y0[family.n :], first[0]
    X1 = np.array([levels[level] for level in T.level])

    def method_by(formulation: StagedFormulation, T: SecondOrderTable, past: Floats | None = None) -> Bound:
        past = np.zeros((T.level.size, family.n)) if past is None else past
        return equations.method(formulation, T, newton, tolerance, guess, past)

    main = method_by(formulation, T, None if adaptive else X1)
    half = method_by(formulation, T) if adaptive else main
    starter = main if T.steps == 1 else method_by(GGL(), table_of(RadauIIA()))
    ends = np.tile(np.concatenate(first), (2, 1))
    notes = np.concatenate([ends[0], family.turns])
    limit = np.inf if span is None else float(span[1])
    accumulates = order == method.order
    tolerances = step_tolerances(family, order, 1e-6 if rtol is None else rtol, atol, accumulates)
    correct = equations.onto_constraints(BROUGHT_BACK) if getattr(formulation, "projection", False) else NONE
    finish = watched(equations.ending(ends, correct), watch)
    problem = OdeTask(
        NONE, float(t0), y0, step, *tolerances, finish, notes, "exact", None, limit, False, False, broken
    )
    path = new_path(y0, 2, 0, *tolerances, notes, alarm=alarm)
    context = new_step(T, (main, half, starter), guess, X1, ends, path, 2.0**order)
    rules = fixed_rules(problem, adaptive, order + 1, False, 1)
    closing = context
    if broken is not None and broken.breaks.placed and not formulation.holds_velocities:
        whole, half = method_by(GGL(), T, main[1]), method_by(GGL(), T)
        closing = holding_velocities(context, whole, half, method_by(GGL(), table_of(RadauIIA())))
    return DaeIntegration(problem, path, rules, context, closing, equations, T.level)


def watched(finish: BoundKernel, watch: Callable[[BoundKernel], BoundKernel] | None) -> BoundKernel:
    return finish if watch is None else watch(finish)


def holding_velocities(
    step: dae_step.DaeStep,
    whole: tuple[BoundKernel, Floats],
    half: tuple[BoundKernel, Floats],
    fixed: tuple[BoundKernel, Floats],
) -> dae_step.DaeStep:
    """The same step by a formulation that holds velocities, for the short steps to a switch.

    Index 3 leaves velocities to the rounding of positions, eps / h: too much there to tell the side of the switch.
    """
    return step._replace(
        main_f=whole[0].f, main_c=whole[0].c, main=whole[1], half_f=half[0].f, half_c=half[0].c, half=half[1],
        starter_f=fixed[0].f, starter_c=fixed[0].c, starter=fixed[1], steps=ALWAYS,
    )  # fmt: skip


def new_step(
    T: SecondOrderTable,
    methods: tuple[tuple[BoundKernel, Floats], ...],
    guess: tuple[Floats, Floats],
    X1: Floats,
    ends: Floats,
    path: Path,
    gain: float,
) -> dae_step.DaeStep:
    """A step from the first state on."""
    n = guess[0].size
    addresses = [part for bound, _ in methods for part in (bound.f, bound.c)]
    pasts = [past for _, past in methods]
    trial = [np.zeros(2 * n) for _ in ("end", "whole", "middle")]
    given = (*addresses, *pasts, *guess, X1.copy(), X1, X1.copy(), T.S, T.N, ends, *trial)
    of_path = (path.y, path.state, path.rtol, path.atol)
    of_method = (T.rate, T.steps, gain)
    everything: tuple[Any, ...] = (*given, np.zeros(2), np.zeros(dae_step.MEMORY_SIZE), *of_path, *of_method)
    return dae_step.DaeStep(*everything)


def check_steps(method: Integrator, T: SecondOrderTable, step: float | None, rtol: float | None) -> None:
    if rtol is None and step is None:
        raise ModelError(f"the integrator '{method.name}' takes fixed steps; give a step.")
    if rtol is not None and T.steps > 1:
        raise ModelError(
            f"the integrator '{method.name}' looks back over {T.steps} equal steps and cannot control its error here; "
            "give a step without rtol, or take radau_iia."
        )


def error_order(formulation: StagedFormulation, method: Integrator) -> int:
    """Order of positions and velocities together; in index 3, velocities of Runge-Kutta methods lose some."""
    order = int(method.order)
    return order if formulation.holds_velocities or isinstance(method, AlphaMethod) else min(order, 2)


def step_tolerances(
    family: Family, order: int, rtol: float, atol: float | Floats | None, accumulates: bool
) -> tuple[float, Floats]:
    """Tolerances of one step, of positions and velocities.

    Of a method of order p, N steps with the error e make N e of the whole, and N grows as e^(-1/(p + 1)): an error of
    `rtol` asks for steps of rtol^((p + 1) / p). What constraints take away again does not accumulate.
    """
    share = 0.03 * rtol ** (1.0 / order) if accumulates else 1.0
    given = (
        rtol * family.sizes if atol is None else np.broadcast_to(np.asarray(atol, dtype=float), (family.n,))
    )
    return max(SMALLEST, share * rtol), np.maximum(
        SMALLEST * family.sizes, share * np.tile(given, (2, 1))
    ).ravel()
