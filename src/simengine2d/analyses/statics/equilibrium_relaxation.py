"""Equilibrium by relaxation: the mechanism is released with added damping until it comes to rest.

A drag -2 w m v on every body damps the slowest vibration (of frequency w, from the stiffness at the present pose)
critically. It runs in stages of a few periods, each from rest with a new w.
"""

from __future__ import annotations

from math import pi
from typing import cast

import numpy as np

from ...errors import ConvergenceError, UnsupportedError, counted, listed
from ...methods import CoordinatesName
from ...model.forces.point_force import PointForce
from ...model.forces.torque import Torque
from ...model.model import Model
from ...results.results import Results
from ...system.system import System
from ..assembly.redrawn import with_initial_pose
from ..dynamics.dynamics import dynamics
from .equilibrium_newton import FoundEquilibrium, Note, newton, no_equilibrium, unnoted
from .statics import Balance, moving_in_time

RESTS = 1e-6  # residual forces, relative to all forces
PERIODS = 2.0  # of the slowest vibration in a stage
MOST_STAGES = 40
SHOWN = 80  # times of a stage at which its motion is kept
RTOL = 1e-6


def relax(start: Balance, note: Note = unnoted) -> FoundEquilibrium:
    """Where the mechanism comes to rest from the start; the last digits are Newton's."""
    system = start.system
    moving = moving_in_time(system)
    if moving:
        raise UnsupportedError(
            f"relaxation simulates a motion in time, but the model depends on time: {listed(moving)}. "
            "Use method='newton', which holds time constant."
        )
    here, steps, runs = start, 0, list[Results]()
    for _ in range(MOST_STAGES):
        # close to rest, Newton's method finishes
        if here.left_over <= RESTS * here.size:
            solution = newton(here, note)
            if solution is not None and here.is_near(solution.balance):
                motion = _joined(system, runs) if runs else None
                return FoundEquilibrium(solution.balance, steps + solution.iterations, motion)
        note(here)
        # one stage: released from rest with critical damping of the slowest vibration
        frequency = _slowest(here)
        free = with_initial_pose(system.model, here.q, np.zeros(system.n))
        try:
            run = dynamics(
                _damped(free, system, 2.0 * frequency),
                t_eval=np.linspace(0.0, PERIODS * 2.0 * pi / frequency, SHOWN + 1),
                rtol=RTOL,
                coordinates=cast(CoordinatesName | None, here.coordinates),
            )
        except ConvergenceError as error:
            raise ConvergenceError(f"relaxation of '{system.model.name}' failed: {error}") from None
        runs.append(run)
        steps += run.statistics.get("steps", 0)
        here = here.near(run.q[-1]) or here
    raise ConvergenceError(no_equilibrium(start, f"relaxation, after {MOST_STAGES} stages,"))


def _joined(system: System, runs: list[Results]) -> Results:
    """The stages as one motion; each after the first begins where the one before it ended, at rest."""
    begins = np.cumsum([0.0, *(run.t[-1] for run in runs[:-1])])
    rows = lambda arrays: np.concatenate([array[min(i, 1) :] for i, array in enumerate(arrays)])
    t = rows([begin + run.t for begin, run in zip(begins, runs, strict=True)])
    q, qd, qdd = (rows([getattr(run, name) for run in runs]) for name in ("q", "qd", "qdd"))
    status = f"the damped motion to an equilibrium, {counted(len(runs), 'stage')}"
    return Results(system, t, q, qd, qdd, analysis="search", status=status)


def _slowest(here: Balance) -> float:
    """The lowest frequency, rad/s; unstable and neutral motions count by the magnitude of their stiffness."""
    from scipy.linalg import eigh

    M = here.Z.T @ here.system.M() @ here.Z
    K = 0.5 * (here.stiffness + here.stiffness.T)
    squares = np.abs(eigh(K, M, eigvals_only=True))
    # a motion without stiffness is damped as fast as its force would move it by a typical length
    floor = here.left_over / (here.system.length * float(np.diag(M).max()))
    squares = np.maximum(squares, 1e-3 * squares.max(initial=0.0))
    return float(np.sqrt(max(squares.min(initial=np.inf), floor, 1e-12)))


def _damped(model: Model, system: System, rate: float) -> Model:
    """The model with a drag on every body, proportional to its mass."""
    for body in system.bodies:
        fx, fy = (f"{-rate * body.mass!r}*{speed}" for speed in ("xd", "yd"))
        model.add(PointForce(f"drag on {body.name}", body.name, fx=fx, fy=fy))
        model.add(Torque(f"turning drag on {body.name}", body.name, f"{-rate * body.inertia!r}*phid"))
    return model
