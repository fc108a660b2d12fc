"""A Dask cluster as executor: chunks go to its workers as they become free.

The scheduler gives the chunk of a lost worker to another one. The client hands out a few chunks for each worker at a
time, so that a study of a million samples does not fill the scheduler, and workers that join later take part.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

from ... import __version__
from ...errors import ConvergenceError, UnsupportedError, ended, needed
from .executors import AHEAD, Chunk, refuse_unpicklable_study
from .study import SampleRow, Study

PATIENCE = "5s"  # to reach the scheduler
RETRIES = 5  # of a chunk whose worker is lost


class Cluster:
    """The workers of a Dask scheduler."""

    def __init__(self, wanted: Any) -> None:
        self.distributed = needed(
            "distributed", "a Dask cluster needs", "cluster", ", or take executor='threads'"
        )
        self.own = isinstance(wanted, str)
        self.client = self._connected(wanted) if self.own else wanted

    def _connected(self, address: str) -> Any:
        try:
            return self.distributed.Client(address, timeout=PATIENCE, set_as_default=False)
        except (OSError, ValueError) as error:
            raise UnsupportedError(
                f"there is no Dask scheduler at {address} ({ended(error)[:-1]}). Start one with `dask scheduler` and "
                "workers with `dask worker ADDRESS`, or take executor='threads'."
            ) from None

    def __call__(self, study: Study, chunks: Sequence[Chunk]) -> Iterator[tuple[Chunk, list[SampleRow]]]:
        refuse_unpicklable_study(study)
        waiting: dict[Any, Chunk] = {}
        try:
            self._refuse_other_versions()
            yield from self._finished(study, list(chunks), waiting)
        except (OSError, *self._lost) as error:
            raise ConvergenceError(f"the Dask cluster is lost: {ended(error)}") from None
        finally:
            with suppress(Exception):
                self.client.cancel(list(waiting))
            if self.own:
                self.client.close()

    @property
    def _lost(self) -> Any:
        return self.distributed.KilledWorker, self.distributed.client.FutureCancelledError

    def _finished(
        self, study: Study, left: list[Chunk], waiting: dict[Any, Chunk]
    ) -> Iterator[tuple[Chunk, list[SampleRow]]]:
        """Chunks as they finish, each followed by the next one in line."""
        everywhere = self.client.scatter(study, hash=False)
        left.reverse()
        line = self.distributed.as_completed(loop=self.client.loop)
        while left or waiting:
            for chunk in self._next(left, len(waiting)):
                future = self.client.submit(rows_of, everywhere, chunk, pure=False, retries=RETRIES)
                waiting[future] = chunk
                line.add(future)
            future = next(line)
            rows = future.result()
            yield waiting.pop(future), rows

    def _next(self, left: list[Chunk], under_way: int) -> list[Chunk]:
        workers = sum(
            each["nthreads"] for each in self.client.scheduler_info(n_workers=-1)["workers"].values()
        )
        return [left.pop() for _ in range(min(len(left), AHEAD * max(1, workers) - under_way))]

    def _refuse_other_versions(self) -> None:
        """Rows of another version may differ."""
        versions = {
            address: each for address, each in self.client.run(version).items() if each != __version__
        }
        if versions:
            address, other = next(iter(versions.items()))
            raise UnsupportedError(
                f"the worker {address} has simengine2d {other}, and this program {__version__}. Install the same."
            )


def version() -> str:
    return __version__


def rows_of(study: Study, chunk: Chunk) -> list[SampleRow]:
    """What a worker computes."""
    return list(study.rows(chunk.samples))
