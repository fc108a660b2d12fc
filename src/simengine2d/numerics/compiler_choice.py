"""Which compiler turns kernels into machine code. Each needs less of numba than the one before.

    short    a pipeline of few passes, machine code cached on disk        names inside numba, `inside_numba.py`
    stock    numba's usual pipeline, machine code cached on disk          fewer of them
    bare     numba's usual pipeline, nothing cached                       documented names only
    python   none: kernels run as plain Python                            nothing

The first one that passes its check is used (`compiler_verdicts.py`). If it is not the first of the list, one line of
logging says so.
"""

from __future__ import annotations

import logging
import os
import sys

from ..errors import UnsupportedError
from . import compiler_verdicts
from .inside_numba import KEEPING, Unfamiliar, check_layout, inside

LOG = logging.getLogger("simengine2d")

SHORT, STOCK, BARE, PYTHON = LADDER = "short", "stock", "bare", "python"
VARIABLE = "SIMENGINE2D_COMPILER"


def chosen() -> str:
    """The compiler of this process."""
    first = asked()
    if not wanted():
        return PYTHON
    if compiler_verdicts.on_trial:
        return compiler_verdicts.on_trial
    why = ""
    for rung in LADDER[LADDER.index(first) :]:
        problem = refused(rung)
        if not problem:
            break
        why = why or problem
    if why:
        say(f"{why}; {INSTEAD[rung]}.")
    return rung


def asked() -> str:
    """What the user's environment asks for."""
    value = os.environ.get(VARIABLE) or SHORT
    if value not in (SHORT, STOCK):
        raise UnsupportedError(
            f"the environment variable {VARIABLE} is '{value}', which is not a compiler: write '{STOCK}' for numba's "
            f"usual pipeline, or '{SHORT}', which is the default."
        )
    return value


# Is there numba? ------------------------------------------------------------------------------------------


def wanted() -> bool:
    """Whether kernels are compiled at all. Where numba is expected and missing, one line on stderr says so."""
    try:
        import numba
    except Exception as error:  # whatever a broken installation raises
        if sys.platform != "emscripten" and os.environ.get("NUMBA_DISABLE_JIT", "0") in ("", "0"):
            say(f"{absence(error)}; {INSTEAD[PYTHON]}.")
        return False
    return not numba.config.DISABLE_JIT


def absence(error: Exception) -> str:
    if isinstance(error, ModuleNotFoundError) and error.name == "numba":
        return "numba is not installed (`pip install numba` brings it)"
    return f"numba cannot be imported ({type(error).__name__}: {error})"


# Does it provide what a compiler needs? -----------------------------------------------------------------------


def refused(rung: str) -> str:
    """Why a compiler is not used; empty if it is."""
    if rung == PYTHON:
        return ""
    try:
        look_up(rung)
    except Unfamiliar as error:
        return f"{named()} is not what the {rung} pipeline expects: {error}"
    problem = compiler_verdicts.verdict(rung)
    if problem is None:  # it could not be checked: numba's own pipeline is trusted, ours is not
        return f"the short pipeline could not be checked with {named()}" if rung == SHORT else ""
    return f"{named()} fails the check of the {rung} pipeline: {problem}" if problem else ""


def look_up(rung: str) -> None:
    """Check, before anything is compiled, that the names exist and that arrays have the expected layout."""
    if rung != BARE:
        inside(KEEPING)
    if rung == SHORT:
        check_layout()


def named() -> str:
    import numba

    return f"numba {numba.__version__}"


INSTEAD = {
    STOCK: "kernels are compiled by numba's usual pipeline, which takes two to four times as long "
    f"({VARIABLE}={STOCK} asks for it)",
    BARE: "kernels are compiled by numba's usual pipeline at each start, because machine code cannot be cached",
    PYTHON: "kernels run as plain Python, some hundred times slower (NUMBA_DISABLE_JIT=1 asks for it)",
}


def say(sentence: str) -> None:
    LOG.warning("simengine2d: %s", sentence)


RUNG = chosen()
