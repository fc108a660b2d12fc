"""`sensitivity`: exact derivatives of what an analysis computes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Unpack

import numpy as np

from ...errors import ModelError, OptionError, SimEngineError, UnsupportedError, listed
from ...model.model import Model
from ...model.si_values import text_in_si
from ...results.events import Event
from ..analysis_options import AnalysisName, WatchedOptions
from ..sweep.outputs import Expression, Wanted, outputs_of
from ..sweep.study import function_of, refuse_options
from .mode_slopes import READINGS
from .motions import ANALYSES, moved
from .parameters import varied_numbers
from .readings import SlopeReading, StudiedMotion
from .sensitivities import Sensitivity
from .sloped import Sloped, as_sloped
from .varied import VariedNumber

INVERSE = "inverse"


def sensitivity(
    model: Model,
    parameters: Sequence[str],
    analysis: AnalysisName = "kinematics",
    outputs: Wanted = None,
    **options: Unpack[WatchedOptions],
) -> Sensitivity:
    """Exact derivatives of outputs of an analysis with respect to numbers of a model, through closed loops.

    `parameters` are names: parameters of the model, or `spring.stiffness`, `crank.mass`. `analysis` is kinematics,
    inverse_dynamics, equilibrium, dynamics, modes or linearize; `options` go to it. `outputs` are expressions as in
    `sweep`, {"peak": "max(B.force)", "work": "rms(motor.torque)"}: channels and their reducers, `time(event)` and
    `at(channel, event)` for events of dynamics, `min(frequency)` of modes, `A` of linearize. Without a reducer the
    derivatives of the whole channel are given, at the outputs of the run.

    The largest value of a channel is that between the outputs too. Values and derivatives are in SI units. They are
    those of the motion itself, not of the steps of a method: a run under forces is repeated with a tight tolerance.

    Forces may jump or have kinks during a motion: the times of these are differentiated, too. Raises where there is no
    derivative: of a value at a kink or a jump, at peaks of equal height, of events that only touch zero, of reactions
    that redundant constraints share, and of laws that are Python functions.
    """
    if not isinstance(model, Model):
        raise ModelError(f"sensitivity needs a Model, not {model!r}; read a file with load(path).")
    analysis = "inverse_dynamics" if analysis == INVERSE else analysis
    wanted = _expressions(outputs)
    _check_analysis(analysis, options)
    events = _events(model, options)
    model = model.in_si()
    numbers = varied_numbers(model, parameters)
    notes: list[str] = []
    reading = _reading(model, numbers, analysis, options, events, notes)
    found = {name: _derived(name, each, reading, len(numbers)) for name, each in wanted.items()}
    return Sensitivity(
        f"{model.name}, {analysis}",
        {each.name: each.value for each in numbers},
        {name: each.value if each.value.ndim else float(each.value) for name, each in found.items()},
        {name: each.slope for name, each in found.items()},
        list(dict.fromkeys(notes)),
    )


def _expressions(outputs: Wanted) -> dict[str, Expression]:
    if outputs is None:
        raise ModelError("sensitivity needs outputs, such as {'top': 'max(coupler.y)'}.")
    found = {}
    for name, each in outputs_of(outputs).items():
        if not isinstance(each, Expression):
            raise UnsupportedError(
                f"output '{name}' is a Python function, which has no derivatives; write it as an expression such as "
                "'max(B.force)'."
            )
        found[name] = each
    return found


def _check_analysis(analysis: str, options: Mapping[str, Any]) -> None:
    known = [*ANALYSES, *READINGS]
    if analysis not in known:
        raise ModelError(
            f"there are no derivatives of the analysis '{analysis}'; there are of {listed(known)}."
        )
    refuse_options(function_of(analysis), analysis, options)
    if options.get("coordinates") is not None and analysis in ("equilibrium", "linearize"):
        raise OptionError(f"leave out coordinates: derivatives of {analysis} do not depend on them.")


def _events(model: Model, options: Mapping[str, Any]) -> list[Event]:
    """Events, which are written in the units of the model, as they are read from results, in SI units."""
    given = options.get("events", ())
    events = [given] if isinstance(given, Event) else list(given)
    return [replace(each, expression=text_in_si(model, str(each.expression))) for each in events]


def _reading(
    model: Model,
    numbers: Sequence[VariedNumber],
    analysis: str,
    options: Mapping[str, Any],
    events: Sequence[Event],
    notes: list[str],
) -> Any:
    if analysis in READINGS:
        return READINGS[analysis](model, numbers, options)
    motion = moved(model, numbers, analysis, options)
    return SlopeReading(StudiedMotion(motion, events, notes))


def _derived(name: str, output: Expression, reading: Any, count: int) -> Sloped:
    """An output with its derivatives; all must be finite."""
    try:
        found = as_sloped(reading.value(output.tree), count)
    except SimEngineError as error:
        raise type(error)(f"output '{name}': {error}") from None
    found = Sloped(found.value, np.broadcast_to(found.slope, (*found.value.shape, count)))
    if isinstance(reading, SlopeReading) and not reading.study.motion.in_time and found.value.shape == (1,):
        found = found[0]  # of one equilibrium
    if not np.isfinite(found.slope).all():
        where = "" if found.value.ndim == 0 else " at some of its places"
        raise UnsupportedError(
            f"output '{name}' = '{output.text}' has no derivatives{where}: it has a kink or a pole there, such as an "
            "absolute value or a force of zero."
        )
    return found
