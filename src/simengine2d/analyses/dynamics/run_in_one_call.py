"""A plain run that one compiled call computes, whatever its steps: its answer becomes results."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, cast

from ...coordinates.ode_problem import motion_in
from ...numerics.arrays import Floats
from ...numerics.kernel_pointer import BoundKernel
from ...results.results import MotionArrays, Results
from ...system.system import System
from .lift_off import lift_off_notes
from .motion_loop import COMPLETE, OUTPUTS
from .new_run import new_run, options_from
from .run import Run, finished

LEVELS = "position", "velocity", "acceleration"


class RunInOneCall:
    """A run at its start, and the loop that takes it to the end. It has one user at a time."""

    loop: BoundKernel
    each: int
    """Numbers in an answer, at most."""
    head: int
    """Numbers before its motion."""
    needs_room = False
    """Whether an answer has to be longer than what is in it."""

    def __init__(self, run: Run, asked: Mapping[str, Any]) -> None:
        self.run, self.asked, self.options, self.notes = run, asked, run.options, run.reported()
        self.settings = self.options.settings(self.options.times) | {"method": run.method}

    def filled(self, system: System, answer: Floats) -> int:
        """How many numbers of an answer are written."""
        complete = answer[COMPLETE] == 1.0
        return self.head + (int(answer[OUTPUTS]) * numbers_in_row(system) if complete else 0)

    def results_of(
        self,
        system: System,
        motion: Floats,
        outputs: int,
        notes: Sequence[str],
        worst: Sequence[float],
        counts: Mapping[str, int],
    ) -> Results:
        """`motion` is all times, then all q, all qd, all qdd and all lam; the results keep it."""
        rows = MotionArrays(motion[:outputs], *motion_in(motion[outputs:], outputs, system.n, system.m))
        lifted = lift_off_notes(system, rows.t, rows.lam) if system.has_formulas else []
        return Results(
            system,
            *rows,
            analysis="dynamics",
            status=finished(self.options.times[-1], outputs),
            notes=[*notes, *lifted],
            residuals=dict(zip(LEVELS, worst, strict=True)),
            statistics=dict(counts),
            settings=dict(self.settings),
            checkpoint=cast("dict[str, Floats]", LaterCheckpoint(system, self.asked)),
        )


def numbers_in_row(system: System) -> int:
    """An output and its time."""
    return 1 + 3 * system.n + system.m


class LaterCheckpoint(Mapping[str, Floats]):
    """The state of an integration at its end, which is computed again where somebody goes on from there."""

    def __init__(self, system: System, asked: Mapping[str, Any]) -> None:
        self.system, self.asked = system, asked

    @cached_property
    def arrays(self) -> dict[str, Floats]:
        run = new_run(options_from(System(self.system.written), self.asked))
        return run.to_the_end(None).checkpoint

    def __getitem__(self, name: str) -> Floats:
        return self.arrays[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.arrays)

    def __len__(self) -> int:
        return len(self.arrays)

    def __reduce__(self) -> Any:
        return dict, (self.arrays,)
