"""Samples: which values of the parameters are computed, one row each.

A grid is the product of lists. Other designs are points u of the unit cube, one axis a parameter: u becomes
low + u (high - low) in a range, and the quantile F^-1(u) of a distribution.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np

from ...answer import Answer
from ...errors import ModelError, counted, listed
from ...expressions.evaluate import number
from ...numerics.arrays import Floats

MOST = 100_000_000  # samples of a study


@runtime_checkable
class Distribution(Protocol):
    """What SciPy's frozen distributions are: `scipy.stats.norm(2, 0.01)`."""

    def ppf(self, q: Any) -> Any: ...


class Sampler(Answer):
    """A design of experiments in the unit cube."""

    n: int
    seed: int

    @abstractmethod
    def points(self, dimensions: int) -> Floats:
        """n points of the unit cube."""


@dataclass(frozen=True, repr=False)
class LatinHypercube(Sampler):
    """n samples; of each parameter, every n-th part of its range holds exactly one."""

    n: int
    seed: int = 0

    def points(self, dimensions: int) -> Floats:
        from scipy.stats import qmc

        return np.asarray(qmc.LatinHypercube(dimensions, rng=self.seed).random(_counted(self)))


@dataclass(frozen=True, repr=False)
class Sobol(Sampler):
    """n samples that fill the ranges evenly; best where n is a power of two."""

    n: int
    seed: int = 0

    def points(self, dimensions: int) -> Floats:
        from scipy.stats import qmc

        levels = max(0, _counted(self) - 1).bit_length()
        return np.asarray(qmc.Sobol(dimensions, rng=self.seed).random_base2(levels)[: self.n])


@dataclass(frozen=True, repr=False)
class MonteCarlo(Sampler):
    """n independent samples."""

    n: int
    seed: int = 0

    def points(self, dimensions: int) -> Floats:
        return np.random.default_rng(self.seed).random((_counted(self), dimensions))


def _counted(sampler: Sampler) -> int:
    if isinstance(sampler.n, bool) or not isinstance(sampler.n, int | np.integer) or sampler.n < 1:
        raise ModelError(
            f"{type(sampler).__name__} needs a number of samples of at least 1, not {sampler.n!r}."
        )
    return int(sampler.n)


class Samples(dict[str, Floats]):
    """The values of each parameter, one array of equal length for each."""

    @property
    def count(self) -> int:
        return next((values.size for values in self.values()), 0)

    def matrix(self) -> Floats:
        """One row a sample."""
        return np.column_stack(list(self.values()))


Parameters: TypeAlias = Mapping[str, Any] | Sequence[Mapping[str, Any]]
"""Values by name; or a list of samples, each with all its values by name; or a DataFrame of them."""


def samples_of(parameters: Any, sampler: Sampler | int | None = None) -> Samples:
    """The samples that a study asks for."""
    if isinstance(sampler, int) and not isinstance(sampler, bool):
        sampler = MonteCarlo(sampler)
    if sampler is not None and not isinstance(sampler, Sampler):
        raise ModelError(
            f"samples = {sampler!r} must be a number, or se.LatinHypercube(n), se.Sobol(n), se.MonteCarlo(n)."
        )
    if hasattr(parameters, "to_dict") and hasattr(parameters, "columns"):  # a DataFrame
        return _of_columns({str(name): np.asarray(parameters[name]) for name in parameters.columns}, sampler)
    if isinstance(parameters, Mapping):
        _refuse_nothing(parameters)
        return _grid(parameters) if sampler is None else _design(parameters, sampler)
    return _of_columns(_columns(parameters), sampler)


def _refuse_nothing(parameters: Any) -> None:
    if not parameters:
        raise ModelError("there is nothing to vary: give values by name, such as {'L': [1, 2, 3]}.")


def _columns(rows: Any) -> dict[str, Any]:
    if (
        isinstance(rows, str)
        or not isinstance(rows, Sequence)
        or not all(isinstance(r, Mapping) for r in rows)
    ):
        raise ModelError(
            f"parameters are values by name, {{'L': [1, 2]}}, or a list of such samples, not {rows!r}."
        )
    _refuse_nothing(rows)
    names = list(rows[0])
    for i, row in enumerate(rows):
        if set(row) != set(names):
            raise ModelError(
                f"sample {i} gives {listed(row)}, but the first one {listed(names)}; give all in each."
            )
    return {name: [row[name] for row in rows] for name in names}


def _of_columns(columns: Mapping[str, Any], sampler: Sampler | None) -> Samples:
    if sampler is not None:
        raise ModelError("the samples are given one by one, and a sampler too; give ranges with a sampler.")
    samples = Samples({name: _values(name, values) for name, values in columns.items()})
    _refuse_nothing(samples)
    return samples


def _grid(parameters: Mapping[str, Any]) -> Samples:
    """All combinations; the last parameter changes fastest."""
    for name, values in parameters.items():
        if isinstance(values, Distribution):
            raise ModelError(
                f"parameter '{name}' is a distribution; say how many samples to draw: samples=1000."
            )
    axes = {name: _values(name, values) for name, values in parameters.items()}
    count = prod(values.size for values in axes.values())
    if count > MOST:
        raise ModelError(
            f"the grid has {count:.3g} samples; at most {MOST:.0e} are possible. Take fewer values."
        )
    grid = np.meshgrid(*axes.values(), indexing="ij")
    return Samples({name: values.reshape(-1) for name, values in zip(axes, grid, strict=True)})


def _design(parameters: Mapping[str, Any], sampler: Sampler) -> Samples:
    """Points of the unit cube, in the ranges and by the distributions."""
    varied = [name for name, given in parameters.items() if np.ndim(given) or isinstance(given, Distribution)]
    points = sampler.points(max(1, len(varied)))
    columns = {name: np.full(points.shape[0], np.nan) for name in parameters}
    for name, given in parameters.items():
        if name not in varied:
            columns[name] = np.full(points.shape[0], _number(name, given))
        elif isinstance(given, Distribution):
            columns[name] = _values(name, np.asarray(given.ppf(points[:, varied.index(name)]), dtype=float))
        else:
            low, high = _range(name, given)
            columns[name] = low + points[:, varied.index(name)] * (high - low)
    return Samples(columns)


def _range(name: str, given: Any) -> tuple[float, float]:
    ends = _values(name, given)
    if ends.size != 2 or not ends[0] < ends[1]:
        raise ModelError(
            f"parameter '{name}': with a sampler give its range (low, high) with low < high, a distribution, or one "
            f"number, not {counted(ends.size, 'value')}."
        )
    return float(ends[0]), float(ends[1])


def _values(name: str, given: Any) -> Floats:
    """Finite numbers, from numbers and expressions."""
    if isinstance(given, np.ndarray) and given.dtype.kind in "fiu":
        values = given.astype(float).reshape(-1)
    else:
        single = isinstance(given, str) or np.ndim(given) == 0
        values = np.array([_number(name, value) for value in ([given] if single else given)])
    if values.size == 0:
        raise ModelError(f"parameter '{name}' has an empty range; give at least one value.")
    if not np.isfinite(values).all():
        raise ModelError(f"parameter '{name}' has a value that is not a finite number.")
    return values


def _number(name: str, value: Any) -> float:
    try:
        return number(value)
    except ModelError as error:
        raise ModelError(f"parameter '{name}': {error}") from None
