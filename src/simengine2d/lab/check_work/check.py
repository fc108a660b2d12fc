"""`check`: arrays that were computed by hand or by one's own program, against those of the engine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import ModelError, answers_misspellings, unknown
from ...methods import ChosenCoordinates
from ...model.model import Model
from ...numerics.arrays import Floats
from ...results.results import Results
from ...system.system import System
from .alternatives import alternatives
from .checked import CheckedWork, Mistake
from .comparison import Tolerance, mistakes_in, wrong_entries
from .conventions import Convention, conventions, other_forces, other_multipliers
from .expected import ExpectedArray, Situation
from .motions import check_motion
from .reactions import check_reactions
from .shapes import shaped

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from ..motion_columns import SolutionLike

QUANTITIES = ("M", "QA", "Phi", "Phi_q", "nu", "gamma", "qdd", "lam")
OTHER_NAMES = {
    "C": "Phi",
    "C_q": "Phi_q",
    "Cq": "Phi_q",
    "J": "Phi_q",
    "Jacobian": "Phi_q",
    "Q": "QA",
    "Qe": "QA",
    "Q_e": "QA",
    "Qd": "gamma",
    "Q_d": "gamma",
    "a": "qdd",
    "lambda": "lam",
}
"""Letters of other books."""


@answers_misspellings
def check(
    model: Model | System,
    coordinates: ChosenCoordinates = "reference_point",
    *,
    M: ArrayLike | None = None,
    QA: ArrayLike | None = None,
    Phi: ArrayLike | None = None,
    Phi_q: ArrayLike | None = None,
    nu: ArrayLike | None = None,
    gamma: ArrayLike | None = None,
    qdd: ArrayLike | None = None,
    lam: ArrayLike | None = None,
    reactions: Mapping[str, Any] | None = None,
    solution: SolutionLike | None = None,
    reference: Results | None = None,
    at: float = 0.0,
    q: ArrayLike | None = None,
    qd: ArrayLike | None = None,
    rtol: float = 1e-3,
    atol: float | None = None,
) -> CheckedWork:
    """Check arrays of the equations of motion, reactions, or a whole motion: what is wrong, where, and of which kind.

    work = se.check(model, Phi_q=my_jacobian, M=my_masses)
    work.right, work.mistakes

    The state is that of the assembled mechanism at the time `at`, or `q` and `qd` in the coordinates named. `reactions`
    are {"A": (fx, fy, torque)} or {"A.fx": 3.2}. A `solution` is a CSV file, a DataFrame, Results or a mapping with a
    column t and channels such as crank.phi; it is compared with `reference`, by default the motion that the engine
    computes. An entry is right within `rtol` of it, plus `atol`.
    """
    arrays = {"M": M, "QA": QA, "Phi": Phi, "Phi_q": Phi_q, "nu": nu, "gamma": gamma, "qdd": qdd, "lam": lam}
    given = {name: array for name, array in arrays.items() if array is not None}
    tolerance = Tolerance(rtol, atol)
    system = model if isinstance(model, System) else System(model)
    works = []
    if given or reactions:
        situation = Situation(system, coordinates, float(at), q, qd)
        works += [check_arrays(situation, given, tolerance)] if given else []
        works += [check_reactions(situation, reactions, tolerance)] if reactions else []
    if solution is not None:
        works.append(check_motion(system, solution, reference, tolerance))
    if not works:
        raise ModelError(
            f"there is nothing to check. Give at least one of {', '.join(QUANTITIES)}, reactions, solution."
        )
    return joined(works)


def joined(works: list[CheckedWork]) -> CheckedWork:
    """Several checks as one."""
    first, *others = works
    for work in others:
        first = CheckedWork(
            first.title,
            first.checked + work.checked,
            first.mistakes + work.mistakes,
            first.notes + work.notes,
            {**first.given, **work.given},
            {**first.expected, **work.expected},
            {**first.names, **work.names},
        )
    return first


def quantity_named(name: str) -> str:
    """The name here of an array that other books call otherwise."""
    known = OTHER_NAMES.get(name, name)
    if known not in QUANTITIES:
        raise ModelError(f"there is no array '{name}'. {unknown('array', name, (*QUANTITIES, *OTHER_NAMES))}")
    return known


def check_arrays(s: Situation, given: Mapping[str, Any], tolerance: Tolerance) -> CheckedWork:
    """All arrays together: what is a convention in one must be one in all."""
    expected = {name: s.array(name) for name in given}
    mistakes: dict[str, list[Mistake]] = {name: [] for name in given}
    notes: list[str] = []
    arrays: dict[str, Floats] = {}
    for name, each in given.items():
        form = shaped(expected[name], each)
        mistakes[name] += form.mistakes
        notes += form.notes
        if form.array is not None:
            arrays[name] = form.array
    own = Convention(expected, [])
    tried = [own, *conventions(expected, arrays)] if _any_wrong(own, arrays, tolerance) else [own]
    results = [_compared(s, each, arrays, tolerance, tried[0] is each) for each in tried]
    best = min(range(len(results)), key=lambda k: sum(map(len, results[k][0].values())))
    for name, more in results[best][0].items():
        mistakes[name] += more
    chosen = tried[best].expected
    return CheckedWork(
        f"{s.system.model.name} at t = {s.t:g} s, {s.formulated.coordinates} coordinates",
        tuple(given),
        [mistake for name in given for mistake in mistakes[name]],
        notes + tried[best].notes + results[best][1],
        {name: G if chosen[name].columns.kind else G[:, 0] for name, G in arrays.items()},
        {name: chosen[name].value.reshape(chosen[name].shape) for name in arrays},
        {name: (chosen[name].rows.names, chosen[name].columns.names) for name in arrays},
    )


def _any_wrong(convention: Convention, arrays: Mapping[str, Floats], tolerance: Tolerance) -> bool:
    return any(wrong_entries(convention.expected[name], G, tolerance).any() for name, G in arrays.items())


def _compared(
    s: Situation, convention: Convention, arrays: Mapping[str, Floats], tolerance: Tolerance, own: bool
) -> tuple[dict[str, list[Mistake]], list[str]]:
    """The mistakes of each array in a convention, and notes on those that are right in their own way."""
    mistakes, notes = {}, []
    for name, G in arrays.items():
        E = convention.expected[name]
        wrong = wrong_entries(E, G, tolerance).any()
        note = _excuse(s, E, G) if wrong and own else None
        others = _consequences(s, E) if wrong and own else iter(())
        notes += [note] if note else []
        mistakes[name] = [] if note or not wrong else mistakes_in(E, G, tolerance, others)
    return mistakes, notes


def _excuse(s: Situation, E: ExpectedArray, G: Floats) -> str | None:
    if E.name == "lam":
        return other_multipliers(E, G)
    return other_forces(E, G, s.terms.Phi_q[: s.own_rows]) if E.name == "QA" else None


def _consequences(s: Situation, E: ExpectedArray) -> Iterator[tuple[str, str, Floats, str]]:
    """What mistakes in the physics make of an array."""
    for each in alternatives(s, E.name):
        with np.errstate(all="ignore"):
            array = s.array(E.name, each.terms).value
        if array.shape == E.value.shape and np.isfinite(array).all():
            yield each.kind, each.remark, array, each.force
