"""Executors: who computes the chunks of a study. All give the same rows; only the order in which chunks finish differs.

A chunk is a range of samples. An executor is an iterator over chunks and their rows as they finish; closing it ends the
work. What a lost worker had begun is computed again.
"""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, ThreadPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from typing import Any, NamedTuple, Protocol

from ...errors import ConvergenceError, ModelError, UnsupportedError, counted, unknown
from ...numerics.arrays import Floats
from .study import SampleRow, Study

TRIES = 3  # of new processes, without a chunk that is finished in between
AHEAD = 4  # chunks for each worker that wait in line


class Chunk(NamedTuple):
    """Some samples in a row, the first of them at `first`."""

    first: int
    samples: Floats


class Executor(Protocol):
    """Computes chunks; yields each with its rows when it is finished."""

    def __call__(self, study: Study, chunks: Sequence[Chunk]) -> Iterator[tuple[Chunk, list[SampleRow]]]: ...


def executor_of(wanted: Any, workers: int | None = None) -> Executor:
    """The executor of a name, of the address of a Dask scheduler, or of a Dask client."""
    if workers is not None and (isinstance(workers, bool) or not isinstance(workers, int) or workers < 1):
        raise ModelError(f"workers = {workers!r} must be a number of at least 1.")
    count = workers or cores()
    if wanted == "serial":
        return serial
    if wanted == "threads":
        return Threads(count)
    if wanted == "processes":
        return Processes(count)
    is_client = callable(getattr(wanted, "submit", None)) and callable(getattr(wanted, "scatter", None))
    if is_client or (isinstance(wanted, str) and "://" in wanted):
        from .cluster import Cluster

        return Cluster(wanted)
    hint = unknown("executor", str(wanted), ("serial", "threads", "processes"))
    raise ModelError(
        f"executor = {wanted!r} is unknown. {hint} For a Dask cluster give its address, such as "
        "'tcp://scheduler:8786', or its Client."
    )


def cores() -> int:
    """The processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def serial(study: Study, chunks: Sequence[Chunk]) -> Iterator[tuple[Chunk, list[SampleRow]]]:
    """One after another, here."""
    for chunk in chunks:
        yield chunk, list(study.rows(chunk.samples))


class Threads:
    """Threads of this process: compiled code runs at the same time, Python code in turn."""

    def __init__(self, workers: int) -> None:
        self.workers = workers

    def __call__(self, study: Study, chunks: Sequence[Chunk]) -> Iterator[tuple[Chunk, list[SampleRow]]]:
        stopped = threading.Event()
        go_on = lambda: not stopped.is_set()
        pool = ThreadPoolExecutor(self.workers, thread_name_prefix="sweep")
        try:
            yield from finished(
                lambda chunk: pool.submit(_in_thread, study, chunk, go_on), chunks, AHEAD * self.workers
            )
        finally:
            stopped.set()
            pool.shutdown(cancel_futures=True)


def _in_thread(study: Study, chunk: Chunk, go_on: Callable[[], bool]) -> list[SampleRow]:
    return list(study.rows(chunk.samples, go_on))


def finished(
    submit: Callable[[Chunk], Future[list[SampleRow]]], chunks: Sequence[Chunk], ahead: int
) -> Iterator[tuple[Chunk, list[SampleRow]]]:
    """The chunks as they finish; no more than `ahead` of them wait in line."""
    waiting, left = {}, iter(chunks)
    while True:
        for chunk in left:
            waiting[submit(chunk)] = chunk
            if len(waiting) >= ahead:
                break
        if not waiting:
            return
        for future in wait(waiting, return_when=FIRST_COMPLETED).done:
            yield waiting.pop(future), future.result()


class Processes:
    """Processes of this machine. One that dies is replaced, and its chunk is computed again."""

    def __init__(self, workers: int) -> None:
        self.workers = workers

    def __call__(self, study: Study, chunks: Sequence[Chunk]) -> Iterator[tuple[Chunk, list[SampleRow]]]:
        left, tries = {chunk.first: chunk for chunk in chunks}, TRIES
        while left:
            try:
                for chunk, rows in self._pass(study, list(left.values())):
                    del left[chunk.first]
                    tries = TRIES
                    yield chunk, rows
            except BrokenProcessPool:
                tries -= 1
                if not tries:
                    raise ConvergenceError(
                        f"the worker processes end before they have finished anything, {TRIES} times in a row, with "
                        f"{counted(len(left), 'chunk')} left. In a script, call sweep below "
                        "`if __name__ == \"__main__\":`; or take executor='threads'."
                    ) from None

    def _pass(self, study: Study, chunks: Sequence[Chunk]) -> Iterator[tuple[Chunk, list[SampleRow]]]:
        """All chunks, until a process dies."""
        refuse_unpicklable_study(study)
        pool = ProcessPoolExecutor(
            min(self.workers, len(chunks)), multiprocessing.get_context("spawn"), _begin, (study,)
        )
        try:
            yield from finished(lambda chunk: pool.submit(_in_process, chunk), chunks, AHEAD * self.workers)
        finally:
            pool.shutdown(cancel_futures=True)


_study: list[Study] = []


def _begin(study: Study) -> None:
    """What a worker process is given once; Ctrl-C is left to the process that waits for it."""
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _study[:] = [study]


def _in_process(chunk: Chunk) -> list[SampleRow]:
    return list(_study[0].rows(chunk.samples))


def refuse_unpicklable_study(study: Study) -> None:
    """Other processes receive the study as bytes."""
    import pickle

    try:
        pickle.dumps(study)
    except Exception as error:
        raise UnsupportedError(
            f"the study cannot be sent to other processes: {error}. Define functions at the top of a module, or take "
            "executor='threads'."
        ) from None
