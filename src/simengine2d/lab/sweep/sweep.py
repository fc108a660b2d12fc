"""`sweep`: one analysis for many values of the parameters."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, Literal, Unpack, overload

from ...errors import Interrupted, ModelError, SimEngineError, ended
from ...model.model import Model
from ..analysis_options import AnalysisName, SweptOptions
from .executors import Chunk, Executor, executor_of
from .outputs import Wanted, outputs_of
from .samples import Parameters, Sampler, Samples, samples_of
from .study import SampleRow, Study
from .table import REASON, SAMPLE, SweepTable, table_of
from .variants import refuse_unknown

CHUNKS, LARGEST = 100, 1000
"""About how many chunks a study has, and how many samples one has at most: both follow from the study alone."""

Progress = Callable[[int, int], None]
"""Is called with the samples that are finished, and with all."""


@overload
def sweep(
    model: Model,
    parameters: Parameters,
    analysis: AnalysisName | Literal["floquet"] = "kinematics",
    outputs: Wanted = None,
    *,
    samples: Sampler | int | None = None,
    executor: Any = "threads",
    workers: int | None = None,
    out: str | Path | None = None,
    progress: Progress | None = None,
    **options: Unpack[SweptOptions],
) -> SweepTable: ...


@overload
def sweep(
    model: Model,
    parameters: Parameters,
    analysis: Callable[..., Any],
    outputs: Wanted = None,
    *,
    samples: Sampler | int | None = None,
    executor: Any = "threads",
    workers: int | None = None,
    out: str | Path | None = None,
    progress: Progress | None = None,
    **options: Any,
) -> SweepTable: ...


def sweep(
    model: Model,
    parameters: Parameters,
    analysis: str | Callable[..., Any] = "kinematics",
    outputs: Wanted = None,
    *,
    samples: Sampler | int | None = None,
    executor: Any = "threads",
    workers: int | None = None,
    out: str | Path | None = None,
    progress: Progress | None = None,
    **options: Any,
) -> SweepTable:
    """Run an analysis for many values of the parameters of a model, and keep some numbers of each.

    `parameters` are lists of values by name, of which all combinations are computed: {"L": [1, 2], "k": range(5)}; or
    a list of samples, or a DataFrame. With `samples`, a number or a design such as `se.LatinHypercube(100)`, they are
    ranges (low, high) and distributions of scipy.stats. A number of a part is called `spring.stiffness`.

    `analysis` is one of the catalog (kinematics, dynamics, inverse_dynamics, equilibrium), modes, linearize, floquet,
    or a function of a model; `options` go to it. `outputs` are expressions such as {"top": "max(coupler.y)"} or
    functions of the results; without them, whole results are kept.

    `executor` is "threads", "serial", "processes", the address of a Dask scheduler, or a Dask Client. With `out`,
    finished rows are kept in a folder of Parquet files, and the same call goes on where an earlier one ended.

    A sample that fails is a row with its reason. Raises with the rows so far (`error.results`) where Ctrl-C, a full
    disk or a lost cluster ends the study.
    """
    if not isinstance(model, Model):
        raise ModelError(f"sweep needs a Model, not {model!r}; read a file with load(path).")
    chosen = samples_of(parameters, samples)
    refuse_unknown(model, chosen)
    study = Study(model, tuple(chosen), analysis, options, outputs_of(outputs))
    refuse_same_names(study)
    study.check()
    return Sweep(study, chosen, out, progress).run(executor_of(executor, workers))


def refuse_same_names(study: Study) -> None:
    """A column has one meaning."""
    taken = {SAMPLE: "the number of a sample", REASON: "the reason of a failure"}
    taken |= dict.fromkeys(study.names, "a parameter")
    for name in study.outputs:
        if name in taken:
            raise ModelError(f"the output '{name}' has the name of {taken[name]}; give it another.")


class Sweep:
    """One sweep: the rows so far, and where they are kept."""

    def __init__(
        self, study: Study, samples: Samples, out: str | Path | None, progress: Progress | None
    ) -> None:
        self.study, self.samples, self.progress = study, samples, progress
        self.rows: dict[int, SampleRow] = {}
        self.folder = None
        if out is not None:
            from .folder import SweepFolder

            self.folder = SweepFolder(Path(out), study, samples, chunk_size(samples.count))
            self.rows = self.folder.read()

    def run(self, executor: Executor) -> SweepTable:
        try:
            self._tell()
            with closing(executor(self.study, self._chunks())) as finished:  # type: ignore[type-var]
                for chunk, rows in finished:
                    self._take(chunk, rows)
        except KeyboardInterrupt:
            raise Interrupted(f"interrupted after {self._state()}.", self.table()) from None
        except SimEngineError as error:
            raise type(error)(f"{ended(error)} There are {self._state()}.", self.table()) from None
        return self.table()

    def table(self) -> SweepTable:
        name = self.study.analysis if isinstance(self.study.analysis, str) else self.study.analysis.__name__
        return table_of(f"{self.study.model.name}, {name}", self.samples, list(self.study.outputs), self.rows)

    def _chunks(self) -> list[Chunk]:
        """Those that are not finished."""
        return [chunk for chunk in chunks_of(self.samples) if chunk.first not in self.rows]

    def _take(self, chunk: Chunk, rows: list[SampleRow]) -> None:
        if self.folder is not None:
            self.folder.write(chunk.first, rows)
        self.rows.update(enumerate(rows, chunk.first))
        self._tell()

    def _tell(self) -> None:
        if self.progress is not None:
            self.progress(len(self.rows), self.samples.count)

    def _state(self) -> str:
        kept = (
            f", kept in {self.folder.path}: the same call goes on from there"
            if self.folder is not None
            else ""
        )
        return f"{len(self.rows)} of {self.samples.count} samples{kept}"


def chunk_size(count: int) -> int:
    return min(LARGEST, -(-count // CHUNKS))


def chunks_of(samples: Samples) -> Iterator[Chunk]:
    """The samples in chunks; always the same ones, so that a folder can say which are finished."""
    matrix, size = samples.matrix(), chunk_size(samples.count)
    for first in range(0, samples.count, size):
        yield Chunk(first, matrix[first : first + size])
