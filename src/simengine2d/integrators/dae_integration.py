"""Integrations of differential-algebraic equations in any coordinates: every formulation with every implicit method."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..coordinates import row_scales
from ..coordinates.base import Family
from ..coordinates.dense import DenseEquations
from ..coordinates.equations import Configuration
from ..coordinates.projection import TURNS, projection
from ..errors import ModelError
from ..formulations import stages
from ..formulations.ggl import GGL
from ..formulations.stage_iteration import Solver, StagedFormulation, stage_solver
from ..methods import AlphaMethod, Integrator
from ..numerics.kernel_pointer import BoundKernel
from ..numerics.rank import implied_rows
from . import time_loop
from .dae_step import (
    FILLED,
    HALVED,
    HALVINGS,
    MEMORY_SIZE,
    OWN,
    SEEN,
    SPACING,
    DaeStep,
    Ending,
    Look,
    Method,
    finish_dae_step,
    look_into_dae_step,
    solve_step,
    try_dae_step,
)
from .integration import NONE, Broken, CompiledIntegration, OdeTask, fixed_rules
from .radau_iia import RadauIIA
from .second_order_tables import SecondOrderTable, table_of
from .time_loop import BoundEquations, Path, new_path

Floats = NDArray[np.float64]

HELD = 1e-14  # constraints of interpolated states, in sizes
HEAVIEST = 1e10  # penalty that rounding leaves exact
SMALLEST = 1e-13  # error of a step that rounding leaves visible, in sizes
ALWAYS = 2**62  # steps that have to be known before the starter of fixed steps is not needed any more


class DaeEquations:
    """The equations of a family, and what an integration needs of them."""

    def __init__(self, family: Family, t: float, y: Floats) -> None:
        self.family, n = family, family.n
        held = HELD * family.system.length
        self.equations = DenseEquations(family, GGL(), Configuration(t, y[:n], redundant(family, t, y[:n])))
        self.tolerance = np.array([held])
        self.begin = t, y[:n].copy()
        self.solvers: list[Solver] = []

    @cached_property
    def slopes(self) -> BoundKernel:
        """(zd, zdd) of the equations of motion; compiled only where somebody looks into a step."""
        return self.equations.accelerate

    @cached_property
    def project(self) -> BoundKernel:
        """Looking into a step leaves the count of turns alone."""
        return projection(self.equations, self.tolerance)

    @cached_property
    def shares(self) -> Floats:
        """What constraints give way at the start where the others hold, against what they give way by themselves."""
        if self.equations.refined:  # redundant ones leave each other nothing, whatever they carry
            return np.ones(self.family.m)
        return row_scales.given_in(self.family, *self.begin) / row_scales.felt(self.family, *self.begin)

    def accelerations(self, t: float, y: Floats) -> tuple[Floats, Floats]:
        """zdd of the equations of motion at a state, and a small lam.

        Masses of the coordinates and of what each row feels of them become 1: then what depends on others shows.
        """
        n, e = self.family.n, self.family.at(t, y[: self.family.n], y[self.family.n :])
        masses = np.zeros(n)
        stages.keep_masses(e.M, e.J, masses)
        unit = 1.0 / np.sqrt(masses)
        J = e.J * unit
        norms = np.linalg.norm(J, axis=1)
        row = 1.0 / np.where(norms > 0.0, norms, 1.0)
        J = J * row[:, None]
        K = np.block([[e.M * np.outer(unit, unit), J.T], [J, np.zeros((len(J), len(J)))]])
        right = np.concatenate([e.Q * unit, e.gamma * row])
        if not (np.all(np.isfinite(K)) and np.all(np.isfinite(right))):
            return np.full(n, np.nan), np.full(len(J), np.nan)
        x = np.linalg.lstsq(K, right, rcond=1e-11)[0]
        return x[:n] * unit, x[n:] * row

    def method(
        self,
        formulation: StagedFormulation,
        T: SecondOrderTable,
        newton: str,
        tolerance: float | None,
        guess: tuple[Floats, Floats],
    ) -> tuple[BoundKernel, Floats]:
        """The kernel pointer that makes steps of a method, and the array in which it is given the past."""
        solver = stage_solver(formulation, self.family, T.B, newton, tolerance)
        if formulation.penalty > 0.0:
            solver.eq.share[:] = np.maximum(self.shares, min(1.0, formulation.penalty / HEAVIEST))
        past = np.zeros((T.level.size, self.family.n))
        bound = solve_step.bind(Method(T, solver.st, solver.solve.f, solver.solve.c, past, *guess))
        self.solvers.append(solver)
        return bound, past

    def ending(self, ends: Floats) -> BoundKernel:
        """What follows each step."""
        pose, e, turns = self.family.bound, self.family.equations, self.family.remember or NONE
        return finish_dae_step.bind(
            Ending(pose.f, pose.c, turns.f, turns.c, self.family.turns, e.Phi, e.J, e.nu, ends)
        )


def redundant(family: Family, t: float, z: Floats) -> bool:
    """Whether constraints depend on each other."""
    return implied_rows(family.at(t, z).J * family.sizes).size > 0


class DaeIntegration(CompiledIntegration):
    """Rows are (z, zd, violations, zdd, lam, turns), with the method's own accelerations and multipliers.

    In fixed steps all outputs are ends of steps. With error control they lie between, and their accelerations are
    those of the equations of motion at the state.
    """

    def __init__(
        self,
        problem: OdeTask,
        path: Path,
        rules: time_loop.Rules,
        step: DaeStep,
        closing: DaeStep,
        lane: DaeEquations,
        level: Any,
    ) -> None:
        """Steps that end at a switch of the state are those of `closing`."""
        self.step, self.lane, self.level = step, lane, level
        if problem.broken is not None:  # a step that is taken back was not halved
            memory = [*problem.broken.memory, step.memory[HALVINGS:]]
            problem = replace(problem, broken=replace(problem.broken, memory=memory))
        super().__init__(problem, path, rules, try_dae_step.bind(step))
        self.closing = self.attempt if closing is step else try_dae_step.bind(closing)
        self.closes: tuple[BoundEquations, BoundEquations] | None = None
        if rules.kind == time_loop.ADAPTIVE:
            self.open_steps()

    def open_steps(self) -> None:
        """Bind what it takes to look into steps; in fixed steps, whose ends are the outputs, nobody else does."""
        if self.look is NONE:
            project = self.lane.project
            adaptive = int(self.rules.kind == time_loop.ADAPTIVE)
            look = Look(
                self.path,
                self.step.middle,
                project.f,
                project.c,
                np.zeros(TURNS + self.lane.family.turns.size),
                adaptive,
            )
            self.look = look_into_dae_step.bind(look)
            self.problem = replace(self.problem, f=self.lane.slopes)
            self.equations = self.equations_with(self.attempt)

    def between(self, t: float) -> Floats:
        self.open_steps()
        return super().between(t)

    def slope(self) -> Floats:
        self.open_steps()
        return super().slope()

    def integrate_on(self, times: Floats, first: int, Y: Floats, most_steps: int) -> tuple[int, int]:
        cutting = self.path.state[time_loop.CUTTING] == 1.0
        return self.march_with(
            self.closing_equations if cutting else self.equations, times, first, Y, most_steps
        )

    @property
    def closing_equations(self) -> BoundEquations:
        """The same kernel pointers as usual, but for the steps."""
        if self.closes is None or self.closes[0] is not self.equations:
            self.closes = self.equations, self.equations_with(self.closing)
        return self.closes[1]

    def hop(self, broken: Broken, surely: bool) -> int:
        self.begin_anew(
            self.t
        )  # what velocities the joints allow may decide on which side of the switch it is
        return super().hop(broken, surely)

    def begin_anew(self, t: float) -> None:
        """The accelerations are those behind the break, and no step is known before it.

        Steps of index 3 leave velocities that the constraints do not allow; in the short steps at a break these would
        make large accelerations.
        """
        super().begin_anew(t)
        self.lane.project(t, self.path.y, np.zeros(TURNS + self.lane.family.turns.size))
        step, y, n = self.step, self.path.y, self.lane.family.n
        a, lam = self.lane.accelerations(t, y)
        levels = y[:n], y[n:], a
        step.X[:] = [levels[level] for level in self.level]
        step.ends[:] = np.concatenate([a, lam])
        step.memory[SEEN], step.memory[FILLED], step.memory[SPACING] = (
            self.path.state[time_loop.STEPS],
            1.0,
            0.0,
        )

    def accelerations(self, times: Floats, Y: Floats) -> tuple[Floats, Floats]:
        """zdd and lam of rows that were filled."""
        n, m, start = self.lane.family.n, self.lane.family.m, self.path.y.size + OWN
        if self.rules.kind == time_loop.BETWEEN_OUTPUTS:
            return Y[:, start : start + n].copy(), Y[:, start + n : start + n + m].copy()
        found = [self.lane.accelerations(t, row[: 2 * n]) for t, row in zip(times, Y, strict=True)]
        zdd, lam = zip(*found, strict=True)
        return np.array(zdd), np.array(lam)

    def counts(self) -> dict[str, int]:
        state = np.sum([solver.st.state for solver in self.lane.solvers], axis=0)
        return {
            "steps": self.steps,
            "rejected steps": int(self.path.state[time_loop.REJECTED]),
            "halved steps": int(self.step.memory[HALVINGS]),
            "evaluations": int(state[stages.EVALUATIONS] + self.path.state[time_loop.EVALUATIONS]),
            "Newton iterations": int(state[stages.ITERATIONS]),
            "factorizations": int(state[stages.FACTORIZATIONS]),
        }

    @property
    def halved(self) -> tuple[int, list[float]]:
        """How many steps were halved, and the times at which the first of them began."""
        count = int(self.step.memory[HALVED])
        return count, self.step.memory[HALVED + 1 :][:count].tolist()

    def kept(self) -> dict[str, Floats]:
        kept = {name: getattr(self.step, name) for name in ("X", "X1", "ends", "middle", "memory")}
        kept["turns"] = self.lane.family.turns
        for i, solver in enumerate(self.lane.solvers):
            arrays = (solver.st.state, solver.eq.A, solver.eq.mass, solver.eq.felt, *solver.factors[:3])
            names = ("state", "A", "mass", "felt", "exchanged", "column", "unit")
            kept |= {f"{name}_{i}": array for name, array in zip(names, arrays, strict=True)}
        return super().kept() | kept


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
) -> DaeIntegration:
    """An integration from (t0, z0, zd0) on: in steps of `step`, or with error control where `rtol` is given.

    The error of positions and velocities is kept near `rtol` of each plus `atol` of its coordinate, by default `rtol`
    of the size of that.

    Newton's iteration ("exact", "modified", or "course" without the tangent of the forces) ends when
    accelerations change by less than 1e-10 of their size, or by less than `tolerance`.
    """
    T = table_of(method)
    check_steps(method, T, step, rtol)
    adaptive, order = rtol is not None, error_order(formulation, method)
    y0 = np.concatenate([z0, zd0]).astype(float)
    lane = DaeEquations(family, float(t0), y0)
    first = lane.accelerations(float(t0), y0)
    guess = first[0].copy(), first[1].copy()
    main = lane.method(formulation, T, newton, tolerance, guess)
    half = lane.method(formulation, T, newton, tolerance, guess) if adaptive else main
    starter = main if T.steps == 1 else lane.method(GGL(), table_of(RadauIIA()), newton, tolerance, guess)
    ends = np.tile(np.concatenate(first), (2, 1))
    notes = np.concatenate([np.zeros(OWN), ends[0], family.turns])
    limit = np.inf if span is None else float(span[1])
    accumulates = order == method.order
    tolerances = step_tolerances(family, order, 1e-6 if rtol is None else rtol, atol, accumulates)
    given = (step, *tolerances, lane.ending(ends), notes, "exact", None, limit, False, False, broken)
    problem = OdeTask(NONE, float(t0), y0, *given)
    path = new_path(y0, 2, 0, *tolerances, notes)
    context = new_step(T, (main, half, starter), guess, ends, path, adaptive, 2.0**order)
    rules = fixed_rules(problem, adaptive, order + 1, False, 1)
    closing = context
    if broken is not None and broken.breaks.placed and not formulation.holds_velocities:
        by = lambda method: lane.method(GGL(), method, newton, tolerance, guess)
        closing = holding_velocities(context, by(T), by(T), by(table_of(RadauIIA())))
    return DaeIntegration(problem, path, rules, context, closing, lane, T.level)


def holding_velocities(
    step: DaeStep,
    whole: tuple[BoundKernel, Floats],
    half: tuple[BoundKernel, Floats],
    fixed: tuple[BoundKernel, Floats],
) -> DaeStep:
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
    ends: Floats,
    path: Path,
    adaptive: bool,
    gain: float,
) -> DaeStep:
    """A step from the first state on."""
    n = guess[0].size
    levels = path.y[:n], path.y[n:], guess[0]
    X = np.array([levels[level] for level in T.level])
    addresses = [part for bound, _ in methods for part in (bound.f, bound.c)]
    pasts = [past for _, past in methods]
    trial = [np.zeros(2 * n) for _ in ("end", "whole", "middle")]
    given = (*addresses, *pasts, *guess, X, X.copy(), X.copy(), T.S, T.N, ends, *trial)
    of_path = (path.y, path.state, path.rtol, path.atol)
    of_method = (T.rate, T.steps, int(adaptive), gain)
    everything: tuple[Any, ...] = (*given, np.zeros(2), np.zeros(MEMORY_SIZE), *of_path, *of_method)
    return DaeStep(*everything)


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
