"""One call for a file: the analysis that it asks for, or an .acf file beside it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ..analyses.dynamics.run import Progress
from ..model.model import Model
from ..results.results import Results
from . import load
from .job import job_for
from .named_laws import GivenLaw


def run(
    model: Model | str | Path,
    analysis: str | Path | None = None,
    *,
    laws: Mapping[str, GivenLaw] | None = None,
    progress: Progress | None = None,
) -> Results:
    """Run the analysis that an .acf file or the model asks for: `run("model.adm", "analysis.acf")`, `run("four_bar")`.

    Where neither does, a driven mechanism is moved for 1 s, another is left to its forces for 5 s; a note says so.
    `laws` gives the force laws that the file only names, as in `load`. The command `simengine2d run` does the same.
    """
    mechanism = model if isinstance(model, Model) else load(model, laws)
    job = job_for(mechanism, None if analysis is None else Path(analysis))
    results = job.run(mechanism, progress)
    if job.remark:
        results.notes.insert(0, job.remark)
    return results
