"""What a run says about its rows: whether they are useless, and what double precision or compliance took from them."""

from __future__ import annotations

from math import isfinite

import numpy as np

from ...errors import Caution, listed
from ...numerics.arrays import Floats
from ...system.elimination import lengths_per_row
from ...system.failures import broken_contact, broken_force, broken_function
from ...system.system import System
from .outputs import Outputs
from .stepper import DynamicsStepper

EPS = float(np.finfo(float).eps)

REPORTED = 1e-8  # residual of an equation, relative to its terms, from which it is reported
WRONG = 1e-4  # the same from which accelerations and reactions are useless
# gap of a joint at an output, relative to the smallest length around it, from which it is reported
OPEN = 1e-6
APART = 1e-3  # the same from which the results are useless
GIVES = 1e-4  # share of the accelerations by which compliant joints may yield unreported
BROKEN = 0.1  # the same from which the results are useless

MISCOUNTED = (
    "some body turned so far in one step, or changed its speed so much, that its angle may be wrong by whole turns, "
    "which these coordinates do not hold; take a smaller rtol or step, or coordinates='reference_point'"
)

# What the monitors of a stepper mean -----------------------------------------------------------------------


def useless(stepper: DynamicsStepper) -> str | None:
    """A sentence if the last outputs are useless."""
    system, formulation = stepper.system, stepper.options.formulation
    (lost, gap), yielded = stepper.monitors.lost, stepper.monitors.changed[1]
    if formulation.gives_way and formulation == type(formulation)() and not yielded <= BROKEN:
        remedy = "Take a formulation that holds them, or stiffer joints: Penalty(factor=...)."
        return f"{soft_joints(yielded)}. {remedy}"
    if not lost <= WRONG:
        return (
            f"{lost_digits(system, lost)}. Leave out bodies that are too light to matter, "
            "or give them a mass that is nearer to that of their neighbors."
        )
    if formulation.projects and gap > APART * system.length:
        rounded = far_from_the_origin(system, stepper.start.assembly.q, 1e-6)
        why = f"; {rounded}." if rounded else ". Look for constraints that contradict each other."
        return f"{open_joints(system, gap)}{why}"
    return None


def cautions(stepper: DynamicsStepper) -> list[str]:
    """Notes on the outputs so far."""
    system, options, monitors = stepper.system, stepper.options, stepper.monitors
    singular, (lost, gap) = monitors.singular_at[0], monitors.lost
    # where joints are a little open, rows and bodies disagree by as much
    allowed = max(REPORTED, 0.1 * options.rtol) if stepper.follows_from_state else WRONG
    sentences = [
        f"at the output t = {singular:g} s the constraints lose rank; accelerations and reactions there mean little"
        if isfinite(singular) and stepper.start.regular
        else None,
        MISCOUNTED if stepper.doubtful or stepper.family.miscounted else None,
        lost_digits(system, lost),
        wrong_steps(system, monitors.changed[0], allowed) if options.formulation.poses == "ode" else None,
        soft_joints(monitors.changed[1]) if options.formulation.gives_way else None,
        # stabilized or compliant joints come apart slowly
        open_joints(system, gap) if options.formulation.projects or gap > APART * system.length else None,
        far_from_the_origin(system, stepper.start.assembly.q, options.rtol)
        if stepper.start.rounding > options.rtol
        else None,
    ]
    return [
        *stepper.switching.notes(),
        *(Caution(sentence) for sentence in sentences if sentence is not None),
    ]


def halved_notes(count: int, times: list[float]) -> list[str]:
    """A sentence if fixed steps were not fixed."""
    if not count:
        return []
    steps = f"{count} fixed steps were" if count > 1 else "one fixed step was"
    when = listed([f"{t:.9g} s" for t in times[:3]]) + (" ..." if count > 3 else "")
    why = "since the iteration did not converge there"
    return [Caution(f"{steps} halved, {why}: after t = {when}; take a smaller step")]


def undefined_at(system: System, t: float, q: Floats, qd: Floats) -> str | None:
    """A sentence on what has no value in a state."""
    if not np.all(np.isfinite(np.concatenate([q, qd]))):
        return broken_function(system, t)
    return broken_function(system, t) or broken_force(system, t, q, qd) or broken_contact(system, t, q)


# Rows of a run that ends early -------------------------------------------------------------------------------


def good_rows(stepper: DynamicsStepper, outputs: Outputs) -> int:
    """The number of rows before the first that is not finite, or in which joints are open."""
    done, widest = outputs.finite_rows(0), widest_gap(stepper)
    slip = stepper.monitors.errors[1] * float(lengths_per_row(stepper.system).max(initial=0.0))
    if max(stepper.monitors.lost[1], slip) <= widest:
        return done
    return next((k for k in range(done) if not is_closed(stepper, outputs, k)), done)


def widest_gap(stepper: DynamicsStepper) -> float:
    """Of a joint in a row that is an answer, as a length of the mechanism."""
    return (OPEN if stepper.options.formulation.projects else APART) * stepper.system.length


def is_closed(stepper: DynamicsStepper, outputs: Outputs, k: int) -> bool:
    """Whether row k satisfies the constraints, Phi = 0 and Phi_q qd = nu."""
    system, qd, widest = stepper.system, outputs.history.Qd[k], widest_gap(stepper)
    S, per_row = system.arrays, lengths_per_row(system)
    at = system.evaluated(float(outputs.times[k]), outputs.history.Q[k], qd)
    row = np.repeat(np.arange(system.m), np.diff(S.jac_start))
    rates = np.bincount(row, at.data * qd[S.jac_column], minlength=system.m)
    gap = float(np.max(np.abs(at.Phi) * per_row, initial=0.0))
    slip = float(np.max(np.abs(rates - at.f[: system.m, 1]) * per_row, initial=0.0))
    speed = max(1.0, float(np.abs(qd / system.sizes).max(initial=0.0)))
    return gap <= widest and (slip <= widest * speed or not stepper.holds_velocities)


# Sentences ---------------------------------------------------------------------------------------------------


def lost_digits(system: System, lost: float) -> str | None:
    """A sentence if the equations of motion hold to too few digits at an output."""
    if lost <= REPORTED:
        return None
    return f"double precision satisfies the equations of motion{_extremes(system)} only to {lost:.0e} of their terms"


def wrong_steps(system: System, moved: float, least: float) -> str | None:
    """A sentence if steps were made with accelerations that outputs had to correct by more than `least`."""
    if moved <= least:
        return None
    return (
        f"in double precision{_extremes(system)} the accelerations of the steps were wrong by {moved:.0e} of their "
        "size; those at the outputs are right, but the motion may not be. Use the default formulation and coordinates"
    )


def soft_joints(given: float) -> str | None:
    """A sentence if compliant constraints yield at an output."""
    if given <= GIVES:
        return None
    return f"the joints yield by {given:.0e} of the accelerations, since the forces on them are large for the bodies"


def _extremes(system: System) -> str:
    """The quantities that differ by many orders of magnitude in a mechanism, in words."""
    extremes = [
        f"{what} from {values.min():.2g} to {values.max():.2g} {unit}"
        for what, values, unit in (
            ("masses", _positive(system.arrays.mass), "kg"),
            ("inertias", _positive(system.arrays.inertia), "kg m^2"),
            ("arms", system.arms, "m"),
        )
        if values.size and values.max() > 100.0 * values.min()
    ]
    return f" with {listed(extremes)} in one mechanism" if extremes else ""


def open_joints(system: System, gap: float) -> str | None:
    """A sentence if joints stay open at an output; `gap` is scaled to a length of the mechanism."""
    if gap <= OPEN * system.length:
        return None
    return f"joints stay open by {gap / system.length:.0e} of the size of their bodies"


def far_from_the_origin(system: System, q: Floats, least: float) -> str | None:
    """A sentence if rounding moves a body by more than `least` of its size."""
    if EPS * np.abs(q).max(initial=0.0) <= least * system.arms.min(initial=np.inf):
        return None
    places = np.abs(q.reshape(-1, 3)[:, :2]).max(axis=1, initial=0.0)
    shares = EPS * places / system.arms
    b = int(np.argmax(shares)) if shares.size else 0
    if not shares.size or shares[b] <= least:
        return None
    return (
        f"body '{system.bodies[b].name}' is {places[b]:.2g} m from the origin, where double precision resolves "
        f"positions only to {shares[b]:.0e} of its size ({system.arms[b]:.2g} m); move the mechanism closer to it"
    )


def _positive(values: Floats) -> Floats:
    return values[values > 0.0]
