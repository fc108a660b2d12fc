"""Output of the commands to a terminal, a pipe or a file; errors end in a sentence and an exit code."""

from __future__ import annotations

import io
import json
import os
import sys
import time
import traceback
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from math import isfinite
from numbers import Integral
from types import TracebackType
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

import typer
from rich import box
from rich.console import Console, RenderableType
from rich.table import Table

from ..errors import AssemblyError, Interrupted, MissingFileError, ModelError, ModelWarning, SimEngineError

if TYPE_CHECKING:
    from rich.progress import Progress

WRONG, MISSING, FAILED, DOUBTFUL, STOPPED = 1, 2, 3, 4, 130
"""Exit codes: a wrong model or file; no such file, or a usage error; an analysis failed; results in doubt; Ctrl-C."""

PATIENCE = 1.0  # seconds without a progress bar
WIDE = 100  # columns in which a range of three numbers beside two others fits in one line
LONGEST = 60  # rows of a table; a model of a thousand bodies is not read line by line


class Settings:
    """Options that hold for every command."""

    debug = False
    strict = False
    json = False
    """The answer is one JSON document on standard output, and nothing else is there."""
    quiet = False
    """No tables, no progress and no warnings."""
    laws: ClassVar[dict[str, str]] = {}
    """Force laws that files only name."""
    degrees = False
    """Angles of tables and plots in degrees."""


def read_by_people() -> bool:
    """Whether tables and sentences are wanted."""
    return not (Settings.json or Settings.quiet)


# Saying -----------------------------------------------------------------------------------------------


class Output(Console):
    """A console that stops printing when its reader is gone: `simengine2d check four_bar | head -1`."""

    def on_broken_pipe(self) -> None:
        self.quiet = True
        _discard(self.file)


def _discard(file: Any) -> None:
    """Discard buffered output, so that Python does not fail on it at exit."""
    with suppress(OSError, ValueError):  # no real file, as in tests
        os.dup2(os.open(os.devnull, os.O_WRONLY), file.fileno())


def prepare() -> None:
    """Characters that a terminal cannot show are written as their codes."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def show(*parts: RenderableType) -> None:
    """Tables and sentences for people; a terminal gets them wrapped between words, a file or a pipe in one piece."""
    if read_by_people():
        with _standard_output() as output:
            for part in parts:
                output.print(part, soft_wrap=isinstance(part, str) and not output.is_terminal)


def say(sentence: str) -> None:
    """What was done, such as `wrote FILE`, unwrapped so that the path can be copied."""
    if read_by_people():
        _write(sentence)


def show_text(text: str) -> None:
    """A text that was asked for, unwrapped; with --json it is part of the answer instead."""
    if not Settings.json:
        _write(text.rstrip("\n"))


def answer(data: Mapping[str, Any], wanted: bool = False) -> None:
    """The answer as plain data, with --json."""
    if Settings.json or wanted:
        _write(json.dumps(plain(data), indent=2, ensure_ascii=False, allow_nan=False))


def plain(value: Any) -> Any:
    """Arrays, numbers and paths as JSON has them; what is not finite is null."""
    if isinstance(value, Mapping):
        return {str(key): plain(part) for key, part in value.items()}
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, float):
        return value if isfinite(value) else None
    return [plain(part) for part in value] if isinstance(value, Iterable) else str(value)


def _write(text: str) -> None:
    with _standard_output() as output:
        output.out(text, highlight=False)


@contextmanager
def _standard_output() -> Iterator[Output]:
    try:
        yield Output(highlight=False, markup=False, emoji=False)
    except OSError as error:  # a full disk
        _discard(sys.stdout)
        raise OSError(error.errno, error.strerror, "standard output") from None


def table(
    first: str, others: Sequence[str], rows: Iterable[list[str]], *, words: Sequence[str] = ()
) -> Table:
    """A table whose first column holds names; those of `words` too. Narrow terminals fold cells; nothing is cut off."""
    result = Table(box=box.SIMPLE, pad_edge=False, show_edge=False)
    result.add_column(first, overflow="fold")
    for head in others:
        result.add_column(head, overflow="fold", justify="left" if head in words else "right")
    shown = list(rows)
    for row in shown[:LONGEST]:
        result.add_row(*row)
    if len(shown) > LONGEST:
        result.caption = f"and {len(shown) - LONGEST} more"
        result.caption_justify = "left"
    return result


def is_wide() -> bool:
    return Console().width >= WIDE


def warn(sentence: str) -> None:
    if not Settings.quiet:
        _tell("warning", "yellow", sentence)


def complain(sentence: str) -> None:
    _tell("error", "bold red", sentence)


def _tell(word: str, style: str, sentence: str) -> None:
    """`error: ...` on standard error; except on a terminal in one piece, so that it can be searched."""
    from rich.text import Text

    errors = Output(stderr=True, highlight=False)
    errors.print(Text.assemble((f"{word}: ", style), sentence), soft_wrap=not errors.is_terminal)


# Errors -----------------------------------------------------------------------------------------------


@contextmanager
def sentences() -> Iterator[None]:
    """Let a command end with a sentence and an exit code, whatever happens inside it."""
    try:
        with _warnings_as_lines():
            yield
    except (typer.Exit, typer.BadParameter):
        raise
    except (SimEngineError, Interrupted) as error:
        end(str(error), exit_code(error))
    except KeyboardInterrupt:
        end("interrupted.", STOPPED)
    except MemoryError as error:
        end(f"there is not enough memory. {error}".strip(), FAILED)
    except OSError as error:
        end(_file_sentence(error), WRONG)
    except Exception as error:
        more = "" if Settings.debug else " `simengine2d --debug ...` shows where it happened."
        end(f"simengine2d failed with {_named(error)}. This is a defect; please report it.{more}", FAILED)


def end(sentence: str, code: int) -> NoReturn:
    """Print the sentence and exit with the code."""
    if Settings.debug:
        traceback.print_exc()
    complain(sentence)
    answer({"error": sentence, "exit_code": code})
    raise typer.Exit(code) from None


def exit_code(error: SimEngineError | Interrupted) -> int:
    """One code for errors of the model, another for failures of the analysis."""
    if isinstance(error, Interrupted):
        return STOPPED
    if isinstance(error, MissingFileError):
        return MISSING
    return WRONG if isinstance(error, ModelError | AssemblyError) else FAILED


def _file_sentence(error: OSError) -> str:
    where = f"{error.filename}: " if error.filename else "a file cannot be read or written: "
    return f"{where}{(error.strerror or str(error)).lower()}."


def _named(error: Exception) -> str:
    """`ValueError: what it says`."""
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


@contextmanager
def _warnings_as_lines() -> Iterator[None]:
    """Print each warning once, as one line."""
    said: set[str] = set()

    def line(message: Warning | str, *_: Any, **__: Any) -> None:
        if str(message) not in said:
            said.add(str(message))
            warn(str(message))

    with warnings.catch_warnings():
        warnings.simplefilter("always", ModelWarning)
        warnings.showwarning = line
        yield


# Progress ---------------------------------------------------------------------------------------------


class ProgressBar:
    """A progress bar on standard error; only on a terminal, and only for runs that take long."""

    def __init__(self, t_end: float) -> None:
        self.t_end = t_end
        self.began = time.perf_counter()
        self.first: tuple[float, float] | None = None
        self.bar: Progress | None = None

    def __enter__(self) -> ProgressBar:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.bar is not None:
            self.bar.stop()

    def __call__(self, t: float) -> None:
        """The simulated time so far."""
        now = time.perf_counter()
        if self.first is None:
            self.first = now, t
        patient = Settings.quiet or now - self.began <= PATIENCE
        if self.bar is None and not patient and sys.stderr.isatty():
            self._start()
        if self.bar is not None:
            self.bar.update(self.bar.task_ids[0], completed=t, description=self.words(t, now))

    def words(self, t: float, now: float) -> str:
        """`t = 1.2 of 5 s, 0.4 s per second, 10 s left`; the rate is that since the first call, after compiling."""
        began, start = self.first or (now, t)
        words = f"t = {t:.4g} of {self.t_end:.4g} s"
        if now <= began or t <= start:
            return words
        rate = (t - start) / (now - began)
        return f"{words}, {rate:.3g} s per second, {duration((self.t_end - t) / rate)} left"

    def _start(self) -> None:
        from rich.progress import BarColumn, Progress, TextColumn

        columns = TextColumn("{task.description}"), BarColumn()
        self.bar = Progress(*columns, console=Output(stderr=True), transient=True)
        self.bar.add_task("", total=self.t_end)
        self.bar.start()


class CountBar(ProgressBar):
    """Progress in things that are counted, such as samples."""

    def __init__(self, of: str) -> None:
        super().__init__(0.0)
        self.of = of

    def __enter__(self) -> CountBar:
        return self

    def count(self, done: int, total: int) -> None:
        self.t_end = float(total)
        self(float(done))

    def words(self, t: float, now: float) -> str:
        """`400 of 10000 samples, 812 per second, 12 s left`."""
        began, start = self.first or (now, t)
        words = f"{t:.0f} of {self.t_end:.0f} {self.of}"
        if now <= began or t <= start:
            return words
        rate = (t - start) / (now - began)
        return f"{words}, {rate:.3g} per second, {duration((self.t_end - t) / rate)} left"


def duration(seconds: float) -> str:
    """`40 s`, `3 min`, `2 h 5 min`."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"
