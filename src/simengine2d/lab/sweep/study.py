"""A study: what is computed for each sample. It can be pickled, so that other processes and machines compute it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from importlib import import_module
from inspect import Parameter, signature
from typing import Any, NamedTuple

import numpy as np

from ...analyses.catalog import CATALOG
from ...errors import ModelError, OptionError, SimEngineError, UnsupportedError, unknown
from ...model.model import Model
from ...numerics.arrays import Floats
from ...results.results import Results
from ...system.system import System
from .batches import Batches
from .outputs import Expression, Output
from .reading import Reading
from .variants import variant

PACKAGE = __name__.partition(".")[0]
MORE = {
    "inverse": "analyses.inverse.inverse_dynamics:inverse_dynamics",
    "modes": "analyses.linear.modes:modes",
    "linearize": "analyses.linear.linearize:linearize",
    "floquet": "analyses.linear.floquet:floquet",
}
"""Analyses beside those of the catalog."""


FORCES = "In a driven mechanism inverse_dynamics finds the forces."


class SampleRow(NamedTuple):
    """The outputs of one sample; or why there are none."""

    values: tuple[Any, ...]
    reason: str = ""


@dataclass(frozen=True)
class Study:
    """A model, the numbers that vary, an analysis with its options, and what is kept of it."""

    model: Model
    names: tuple[str, ...]
    analysis: str | Callable[..., Any]
    options: Mapping[str, Any] = field(default_factory=dict)
    outputs: Mapping[str, Output] = field(default_factory=dict)

    def variant(self, values: Sequence[Any]) -> Model:
        return variant(self.model, dict(zip(self.names, values, strict=True)))

    def run(self, values: Floats) -> Any:
        """The answer of the analysis for one sample."""
        return function_of(self.analysis)(self.variant(values.tolist()), **self.options)

    def row(self, values: Floats, known: Any = None) -> SampleRow:
        """Its outputs, of an answer that may be known; a failure is a row with its reason."""
        try:
            answer = self.run(values) if known is None else known
            return SampleRow(tuple(self._output(name, answer) for name in self.outputs))
        except Exception as error:
            return self.failed(error)

    def _output(self, name: str, answer: Any) -> Any:
        try:
            return self.outputs[name](answer)
        except SimEngineError as error:
            raise type(error)(f"output '{name}': {error}") from None

    def failed(self, error: Exception) -> SampleRow:
        ours = isinstance(error, SimEngineError)
        sentence = " ".join(str(error).split())
        reason = sentence if ours else f"{type(error).__name__}: {sentence}"
        return SampleRow((np.nan,) * len(self.outputs), reason or type(error).__name__)

    def rows(self, samples: Floats, go_on: Callable[[], bool] = lambda: True) -> Iterator[SampleRow]:
        """SampleRow after row, until they are no longer wanted."""
        for values, known in zip(samples, self.batches.answers(samples), strict=True):
            if not go_on():
                return
            yield self.row(values, known)

    @cached_property
    def batches(self) -> Batches:
        """What the samples share, in this process."""
        return Batches(self)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "batches"}

    # before anything runs

    def check(self) -> None:
        """Refuse what would fail for every sample: an unknown analysis, option or channel."""
        function = function_of(self.analysis)
        refuse_options(function, str(self.analysis), self.options)
        expressions = {name: each for name, each in self.outputs.items() if isinstance(each, Expression)}
        if self.analysis not in CATALOG or not expressions:
            return
        try:
            at_rest = results_at_rest(self.model, str(self.analysis))
        except SimEngineError:  # some variants may be better than the model itself
            return
        for name, expression in expressions.items():
            try:
                Reading(at_rest).look_up(expression.tree)
            except UnsupportedError as error:
                raise UnsupportedError(f"output '{name}': {error} {FORCES}") from None
            except SimEngineError as error:
                raise type(error)(f"output '{name}': {error}") from None


def function_of(analysis: str | Callable[..., Any]) -> Callable[..., Any]:
    """The function of an analysis; a user's own is one already."""
    if callable(analysis):
        return analysis
    if analysis in CATALOG:
        return partial(_run, CATALOG[analysis].run)
    if analysis in MORE:
        module, _, name = MORE[analysis].partition(":")
        function: Callable[..., Any] = getattr(import_module(f"{PACKAGE}.{module}"), name)
        return function
    known = list(dict.fromkeys([*CATALOG, *MORE]))
    raise ModelError(
        f"there is no analysis '{analysis}'. {unknown('analysis', str(analysis), known, plural='analyses')}"
    )


def _run(run: Callable[..., Any], model: Model, **options: Any) -> Any:
    return run(model, options)


def refuse_options(function: Callable[..., Any], name: str, options: Mapping[str, Any]) -> None:
    """An option that the analysis does not have."""
    if isinstance(function, partial):
        analysis = CATALOG[name]
        function = getattr(import_module(analysis.module, f"{PACKAGE}.analyses"), analysis.name)
    given = list(signature(function).parameters.values())
    if any(p.kind is Parameter.VAR_KEYWORD for p in given):
        return
    known = [p.name for p in given[1:]]
    for option in options:
        if option not in known:
            raise OptionError(f"{name} has no option '{option}'. {unknown('option', option, known)}")


def results_at_rest(model: Model, analysis: str) -> Results:
    """Results of one instant, to look channels up."""
    system = System(model)
    still, lam = np.zeros((1, system.n)), None if analysis == "kinematics" else np.zeros((1, system.m))
    return Results(system, np.zeros(1), system.drawn_q[None], still, still, lam, analysis)
