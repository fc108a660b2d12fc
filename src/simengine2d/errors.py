"""The exceptions, and the small tools that make their sentences.

A message says what was asked, where, what was found, and what to do. It carries names and values.
"""

from __future__ import annotations

import difflib
import inspect
import warnings
from bisect import bisect
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache, wraps
from importlib import import_module
from typing import Any, NamedTuple, TypeVar

Called = TypeVar("Called", bound=Callable[..., Any])
WhoHas = Callable[[str], Sequence[str]]

PACKAGE = __name__.partition(".")[0]
LONGEST = 200  # characters of a name beyond which no similar name is searched for
REACH = 5  # names compared on each side of it in a long sorted list


Path = tuple[str | int, ...]
"""The keys that lead to a part of a model: ("joints", "A", "b"), ("parameters", "L"), ("gravity",)."""


class Subject(str):
    """The subject of a sentence, in words, and the path to the part of the model it denotes."""

    path: Path

    def __new__(cls, words: str, path: Path = ()) -> Subject:
        made = super().__new__(cls, words)
        made.path = path
        return made

    def part(self, field: str, words: str = "") -> Subject:
        """`Spring 's', stiffness`"""
        return Subject(f"{self}, {words or field}", (*self.path, field))

    def says(self, sentence: object) -> Problem:
        """`Spring 's', stiffness: ...`"""
        return Problem(f"{self}: {sentence}", self.path)


class Problem(Subject):
    """A sentence that says what is wrong with a model, with the path to that part and its line in the file."""

    line: int

    def __new__(cls, text: str, path: Path = (), line: int = 0) -> Problem:
        made = str.__new__(cls, text)
        made.path, made.line = path, line
        return made

    @property
    def element(self) -> str | None:
        """The name of the body, joint or force; None for any other part."""
        known = len(self.path) > 1 and self.path[0] in ("bodies", "joints", "forces")
        return str(self.path[1]) if known else None

    @property
    def field(self) -> str | None:
        return str(self.path[2]) if self.element is not None and len(self.path) > 2 else None

    def begun(self, words: str) -> Problem:
        """The same problem with words before it."""
        return Problem(words + self, self.path, self.line)

    def about(self, subject: Subject) -> Problem:
        """The same problem, attributed to a subject unless it already has a path of its own."""
        text = str(self) if self.startswith(subject) else f"{subject}: {self}"
        return Problem(text, self.path or subject.path, self.line)


class SimEngineError(Exception):
    """Base of every error of this package. `results` holds what was computed before a run failed."""

    def __init__(self, message: str, results: Any = None) -> None:
        super().__init__(message)
        self.results = results


class ModelError(SimEngineError):
    """The model is wrong. `problems` lists every problem, not only the first."""

    def __init__(self, problems: str | Sequence[str], results: Any = None) -> None:
        given = [problems] if isinstance(problems, str) else problems
        self.problems = [p if isinstance(p, Problem) else Problem(p) for p in given]
        super().__init__(numbered(self.problems), results)


class MissingFileError(ModelError, FileNotFoundError):
    """There is no such file, and no shipped mechanism of that name."""


class OptionError(ModelError, TypeError):
    """A call was given a keyword that it does not have."""


class AssemblyError(SimEngineError):
    """The mechanism does not close."""


class SingularityError(SimEngineError):
    """The constraints lose rank: a dead point, a change point."""


class ConvergenceError(SimEngineError):
    """An iteration did not reach its tolerance."""


class UnsupportedError(SimEngineError):
    """The request is not possible with this model or method."""


class Interrupted(KeyboardInterrupt):
    """The user stopped a run; `results` holds what was computed until then.

    A KeyboardInterrupt, as Ctrl-C is: `except SimEngineError` in a loop over many runs does not swallow it.
    """

    def __init__(self, message: str, results: Any = None) -> None:
        super().__init__(message)
        self.results = results


class Caution(str):
    """A note of a run that calls for a second look; it counts in the verdict on the results."""

    __slots__ = ()


class ModelWarning(UserWarning):
    """Something in a model file was ignored or changed; the model is usable."""


def warn(sentence: str) -> None:
    """Issue a ModelWarning that points to the caller's line outside this package."""
    level, frame = 1, inspect.currentframe()
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] == PACKAGE:
        level, frame = level + 1, frame.f_back
    warnings.warn(sentence, ModelWarning, stacklevel=level)


def numbered(problems: Sequence[str]) -> str:
    """One problem as it is; several as a numbered list."""
    if len(problems) == 1:
        return problems[0]
    lines = [f"{len(problems)} problems were found:"]
    lines += [f"  {i}. {problem}" for i, problem in enumerate(problems, 1)]
    return "\n".join(lines)


def ended(sentence: object) -> str:
    """The sentence with exactly one full stop."""
    return str(sentence).rstrip(". ") + "."


def counted(count: int, one: str, many: str | None = None) -> str:
    """`1 body`, `3 bodies`."""
    return f"{count} {one if count == 1 else many or one + 's'}"


def listed(names: Iterable[object], most: int = 12) -> str:
    """`a, b, c and 4 more`."""
    every = names if isinstance(names, Sequence) else list(names)
    words = [str(name) for name in every[:most]]
    if not words:
        return "none"
    more = len(every) - len(words)
    return f"{', '.join(words)} and {more} more" if more else ", ".join(words)


def unknown(kind: str, name: str, known: Iterable[str], *, plural: str | None = None) -> str:
    """`body 'crnk' ... Did you mean 'crank'? The bodies are crank, rod.`"""
    names = tuple(known)
    close = nearest(name, names)
    hint = f"Did you mean '{close}'? " if close is not None else ""
    return f"{hint}The {plural or kind + 's'} are {listed(names, 40)}."


def nearest(name: str, names: tuple[str, ...]) -> str | None:
    """The name that was probably meant; in long lists those with a similar beginning or end or the same letters."""
    if len(name) > LONGEST:
        return None
    word, (folded, forwards, backwards, by_letters, answers) = name.lower(), _sorted(names)
    if word in answers:  # what is wrong in a large model is often asked for twice
        return answers[word]
    candidates = forwards
    if len(forwards) > 2 * REACH:
        candidates = [*_around(forwards, word), *(other[::-1] for other in _around(backwards, word[::-1]))]
        candidates += by_letters.get("".join(sorted(word)), [])
    close = difflib.get_close_matches(word, candidates, n=1, cutoff=0.6)
    answers[word] = folded[close[0]] if close else None
    return answers[word]


class _Names(NamedTuple):
    """Names by their lower-case spelling, sorted forwards and backwards, and by their letters; earlier answers."""

    folded: dict[str, str]
    forwards: list[str]
    backwards: list[str]
    by_letters: dict[str, list[str]]
    answers: dict[str, str | None]


@lru_cache(maxsize=8)
def _sorted(names: tuple[str, ...]) -> _Names:
    folded = {name.lower(): name for name in names if len(name) <= LONGEST}
    by_letters: dict[str, list[str]] = {}
    for word in folded:
        by_letters.setdefault("".join(sorted(word)), []).append(word)
    return _Names(folded, sorted(folded), sorted(name[::-1] for name in folded), by_letters, {})


def _around(words: list[str], word: str) -> list[str]:
    place = bisect(words, word)
    return words[max(0, place - REACH) : place + REACH]


# Keywords ---------------------------------------------------------------------------------------------


def needed(module: str, who: str, extra: str = "", otherwise: str = "") -> Any:
    """An optional module; where it is missing, how to install it, and what works without it."""
    try:
        return import_module(module)
    except ImportError:
        package = module.partition(".")[0]
        source = f"'{PACKAGE}[{extra}]'" if extra else package
        raise UnsupportedError(
            f"{who} the package {package}, which is not installed. Install it with: pip install {source}{otherwise}."
        ) from None


def answers_misspellings(
    called: Called, synonyms: Mapping[str, str] | None = None, who_has: WhoHas = lambda option: ()
) -> Called:
    """A function or class that answers a misspelled keyword as a model answers a misspelled body.

    So it answers arguments that are too many or missing; `who_has` names others of its kind with that keyword. Errors
    of NumPy's linear algebra, raised when a value has grown without bound, become a sentence too.
    """
    if isinstance(called, type):
        called.__init__ = _checked(called.__init__, called.__name__, synonyms or {}, who_has)  # type: ignore[misc]
        return called
    return _checked(called, called.__name__, synonyms or {}, who_has)


def _misplaced(signature: inspect.Signature, args: Any, options: Any) -> str:
    """What is wrong with the arguments of a call, in Python's words; "" if they fit."""
    try:
        signature.bind(*args, **options)
    except TypeError as error:
        return str(error)
    return ""


def _places(parameters: Iterable[inspect.Parameter]) -> str:
    named = [p for p in parameters if p.name != "self"]
    in_order = listed([p.name for p in named if p.kind is p.POSITIONAL_OR_KEYWORD])
    by_name = [p.name for p in named if p.kind is p.KEYWORD_ONLY]
    return f"It takes {in_order} in this order{f', and by name {listed(by_name, 20)}' if by_name else ''}."


def _checked(function: Any, name: str, synonyms: Mapping[str, str], who_has: WhoHas) -> Any:
    signature = inspect.signature(function)
    parameters = signature.parameters.values()
    if any(p.kind is p.VAR_KEYWORD for p in parameters):
        return function
    named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    known = [p.name for p in parameters if p.kind in named and p.name != "self"]

    @wraps(function)
    def call(*args: Any, **options: Any) -> Any:
        if not options.keys() <= accepted:
            strange = next(option for option in options if option not in accepted)
            meant, others = synonyms.get(strange), who_has(strange)
            hint = f"Write {meant}=..." if meant else unknown("option", strange, known)
            elsewhere = (
                f", but {listed(others, 3)} {'has' if len(others) == 1 else 'have'} it" if others else ""
            )
            raise OptionError(f"{name} has no option '{strange}'{elsewhere}. {hint}")
        try:
            return function(*args, **options)
        except TypeError:
            if problem := _misplaced(signature, args, options):
                raise OptionError(f"{name}: {problem}. {_places(parameters)}") from None
            raise
        except ValueError as error:
            if type(error).__name__ != "LinAlgError":  # by name: importing the package does not load NumPy
                raise
            raise ConvergenceError(
                f"{name}: the linear algebra failed ({ended(error)[:-1]}): the numbers of the model, or of its state, "
                "are too large or too unequal for double precision. Look for wrong units, or a value that has grown "
                "without bound."
            ) from error

    accepted = frozenset(known)
    return call
