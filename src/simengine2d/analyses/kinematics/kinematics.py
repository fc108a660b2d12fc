"""Kinematics: the motion of a mechanism whose drivers determine it completely."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, get_args

import numpy as np

from ...coordinates.base import canonical
from ...errors import AssemblyError, Interrupted, ModelError, SingularityError, UnsupportedError, listed
from ...methods import ChosenCoordinates
from ...model.model import Model
from ...numerics.arrays import Floats
from ...numerics.rank import rank_of_rows
from ...results.results import Results
from ...system.recorded_system import RecordedSystem
from ...system.system import System
from ..assembly.assemble import Assembly, assemble, with_turns_of_drivers
from ..assembly.closure import coordinate_scale
from ..assembly.diagnose import Diagnosis, diagnose, undriven_mobility
from ..coordinate_motion import moved_in
from ..dynamics.run import Progress
from ..earlier_models import EarlierModels, VariantRun
from ..times import begin_of, check_domains, output_times
from .run import KinematicsRun, OnSingular
from .solver import Solver, solver_at

REGULAR = 1e-7  # smallest pivot of a pose that need not be examined
AS_DRAWN = 1e-8  # lengths by which rounded numbers may displace a pose that closes as drawn


def kinematics(
    model: Model,
    *,
    t_end: float | None = None,
    step: float | None = None,
    t_eval: Sequence[float] | Floats | None = None,
    on_singular: OnSingular = "pass",
    coordinates: ChosenCoordinates | None = None,
    progress: Progress | None = None,
) -> Results:
    """Positions, velocities and accelerations of a driven mechanism from t = 0 to `t_end`, every `step`.

    Give `t_eval` for other times. Raises with the results so far (`error.results`) if the motion ends early: at a dead
    point, or where a driver leaves the range that the mechanism can reach.

    At a change point, such as a parallelogram with all links in line, branches of the motion meet. `on_singular` is
    what to do there:

    - "pass" (the default): the motion continues along the branch with continuous velocities and accelerations, as
      functions of the driver if there is one driver, else of time; a note gives the time and the other branches;
    - "stop": the results end there, and at a dead point too, with a note;
    - "raise": SingularityError, with the results up to it.

    With `coordinates`, the motion is solved in reference_point, natural, mixed or relative coordinates as textbooks do,
    which is slower: at each time Newton's method starts from the motion of the bodies, and follows it through change
    points. `results.in_coordinates` has it in these.
    """
    if not isinstance(model, Model):
        raise ModelError(f"kinematics needs a Model, not {model!r}; read a file with load(path).")
    if on_singular not in get_args(OnSingular):
        raise ModelError(
            f"on_singular = {on_singular!r} is unknown; choose from {listed(get_args(OnSingular))}."
        )
    if on_singular == "pass" and coordinates is None and progress is None:
        try:
            known = earlier.answer(model, {"t_end": t_end, "step": step, "t_eval": t_eval})
        except KeyboardInterrupt:
            raise Interrupted("interrupted; a run as short as this one keeps nothing.") from None
        if known is not None:
            return known
    times = output_times(t_end, step, t_eval, "kinematics")
    system = System(model)
    check_domains(system, times)
    motion = _of_bodies(system, times, on_singular, progress)
    return motion if coordinates is None else _in_coordinates(motion, coordinates)


def _prepared(recorded: RecordedSystem, asked: Mapping[str, Any]) -> VariantRun:
    from .many_variants import ManyVariants  # which needs the solvers of this module

    return ManyVariants(recorded, output_times(**asked, analysis="kinematics"))


earlier = EarlierModels(_prepared)


def _of_bodies(system: System, times: Floats, on_singular: OnSingular, progress: Progress | None) -> Results:
    # the initial pose belongs to t = 0, so the motion is followed from there to a later first output
    start = begin_of(system, times)
    solver, notes = closed_as_drawn(system, start), []
    if solver is None:
        system = with_turns_of_drivers(system, start)
        assembly = assemble_driven(system, start, "kinematics")
        solver, notes = driven_solver(system, assembly), assembly.moves  # drivers determine the velocities
    if start < times[0]:
        later = np.concatenate([[start], times])
        run = KinematicsRun(system, solver, later, progress, on_singular, notes)
        return run.run().at_rows(slice(1, None))
    return KinematicsRun(system, solver, times, progress, on_singular, notes).run()


def _in_coordinates(motion: Results, coordinates: ChosenCoordinates) -> Results:
    """The same motion, solved for the coordinates of a family."""
    name = canonical(coordinates)
    q, qd, qdd = moved_in(coordinates, motion)
    settings = {**motion.settings, "coordinates": name, "method": f"Newton's method in {name} coordinates"}
    return replace(motion, q=q, qd=qd, qdd=qdd, settings=settings)


def closed_as_drawn(system: System, t: float) -> Solver | None:
    """The solver in the initial pose; None if that does not close as drawn, or has to be examined first."""
    if system.m != system.n or system.n == 0 or system.has_formulas:
        return None
    solver = solver_at(system, t, system.drawn_q, np.arange(system.m))
    if solver is None or not solver.smallest_pivot > REGULAR:
        return None
    moved = np.abs(solver.stepper.q - system.drawn_q) / coordinate_scale(system)
    return solver if np.max(moved) <= AS_DRAWN * system.length and solver.groups.form.size else None


def assemble_driven(system: System, t: float, analysis: str) -> Assembly:
    """The pose that the drivers prescribe at t; an error if they contradict each other."""
    system.refuse_velocity_rows(analysis)
    try:
        return assemble(system, t)
    except AssemblyError as error:
        freedoms = undriven_mobility(system, t)
        if freedoms is not None and system.driver_rows.size > freedoms:
            drivers = listed(dict.fromkeys(system.rows[i][0] for i in system.driver_rows))
            raise ModelError(
                f"the mechanism is over-driven: it has {freedoms} free motion{'' if freedoms == 1 else 's'} and "
                f"the drivers {drivers}, whose values at t = {t:g} s contradict each other. Remove a driver."
            ) from error
        raise


def driven_solver(system: System, assembly: Assembly) -> Solver:
    """The solver for n independent rows that determine the motion; raises for free and for contradicting motions."""
    if system.n == 0:
        raise UnsupportedError(f"model '{system.model.name}' has no bodies; add one with model.body(...).")
    if system.m == system.n:
        solver = solver_at(system, assembly.t, assembly.q, np.arange(system.m))
        if solver is not None and solver.smallest_pivot > REGULAR:
            return solver
    diagnosis = diagnose(assembly)
    if diagnosis.mobility > 0 and not diagnosis.singular:
        raise UnsupportedError(_undriven(system, diagnosis))
    solver = None
    if diagnosis.rank == system.n:
        _refuse_contradiction(system, assembly, diagnosis)
        J = system.Phi_q(assembly.t, assembly.q) * coordinate_scale(system)
        rows = np.array(sorted(rank_of_rows(J, diagnosis.order).independent), dtype=np.int64)
        solver = solver_at(system, assembly.t, assembly.q, rows)
    if solver is None:
        raise SingularityError(
            f"at t = {assembly.t:g} s the mechanism is in a singular pose, from which its motion is not unique: "
            f"{diagnosis.singular_sentence} Start from another pose or drive another body."
        )
    return solver


def _undriven(system: System, diagnosis: Diagnosis) -> str:
    count = diagnosis.mobility
    what = "1 motion is" if count == 1 else f"{count} motions are"
    return (
        f"kinematics needs a driver for every free motion of '{system.model.name}', but {what} free: "
        f"{'; '.join(diagnosis.free)}. Add {count} driver{'s' if count > 1 else ''}, "
        "e.g. Driver('motor', 'angle(ground, body)', '2*pi*t')."
    )


def _refuse_contradiction(system: System, assembly: Assembly, diagnosis: Diagnosis) -> None:
    """A redundant row must prescribe the same velocity as the rows it depends on, at any time."""
    J = system.Phi_q(assembly.t, assembly.q)
    rate = max(1.0, float(np.abs(system.nu(assembly.t, assembly.q)).max(initial=0.0)))
    for group in diagnosis.dependent:
        row, partners = group.rows[-1], group.rows[:-1]
        weights = np.linalg.lstsq(J[partners].T, J[row], rcond=None)[0]
        nu = system.nu(assembly.t, assembly.q)
        if abs(nu[row] - weights @ nu[partners]) > 1e-9 * rate:
            names = listed(dict.fromkeys(system.rows[i][0] for i in group.rows))
            raise ModelError(
                f"the mechanism is over-driven: at t = {assembly.t:g} s the rows of {names} prescribe the same "
                "motion with different velocities. Remove a driver, or let them agree."
            )
