"""The motion that is shown: by the analysis asked for, the file's own, or a plausible one; never a long run."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ...analyses.catalog import CATALOG
from ...analyses.inverse.inverse_dynamics import inverse_dynamics
from ...analyses.linear.modes import modes
from ...errors import Interrupted, ModelError, SimEngineError, listed
from ...io.job import Job, job_for
from ...model.frame import GROUND
from ...model.model import Model
from ...numerics.arrays import Floats
from ...results.results import Results
from ...system.system import System

MOST_OUTPUTS = 400
OUTPUTS = 100
PATIENCE = 20.0  # seconds after which a run is ended and shown as far as it came
SIGHT = 1.5  # sizes of the mechanism: how far it is followed where nobody has said how long to look
SWING = 0.12  # of the size of the mechanism: the amplitude with which a mode is shown


class Patience:
    """Ends a run that takes longer than anybody watches an edit; kernels that are compiled before it do not count."""

    def __init__(self) -> None:
        self.began: float | None = None
        self.over = False

    def __call__(self, t: float) -> None:
        self.began = self.began or time.monotonic()
        if time.monotonic() > self.began + PATIENCE:
            self.over = True
            raise KeyboardInterrupt


@dataclass
class Shown:
    """The results that are shown, what was run, and why it did not succeed, if it did not."""

    results: Results | None
    used: dict[str, Any] = field(default_factory=dict)
    error: SimEngineError | None = None
    notes: list[str] = field(default_factory=list)


def shown_motion(model: Model, asked: dict[str, Any] | None) -> Shown:
    """Run what was asked for. What ends early is shown as far as it came."""
    used: dict[str, Any] = {}
    patience = Patience()
    try:
        if asked and asked.get("kind") == "modes":
            return _mode(model, asked)
        job = _job(model, asked)
        used = {"kind": job.kind} | {k: v for k, v in job.options.items() if v is not None}
        results = _run(model, job, patience, told=asked is not None)
        return Shown(results if asked or model.analysis else in_sight(results), used)
    except SimEngineError as error:
        return Shown(_moving(error.results), used, error)
    except Interrupted as error:
        if not patience.over:
            raise
        note = f"the run took longer than {PATIENCE:g} s and is shown as far as it came: {error}"
        return Shown(_moving(error.results), used, notes=[note])


def in_sight(results: Results) -> Results:
    """Until a body that nothing holds yet has left the picture, of which only its fall would be seen."""
    own = results.in_si
    loose = [own.bodies.index(name) for name in _loose(own.model)]
    if results.t.size < 3 or not loose:
        return results
    places = own.q.reshape(own.t.size, -1, 3)[:, loose, :2]
    far = np.linalg.norm(places - places[0], axis=2).max(axis=1, initial=0.0)
    gone = np.flatnonzero(far > SIGHT * own.system.length)
    return results if not gone.size else results.at_rows(np.arange(max(2, int(gone[0]))))


def _loose(model: Model) -> list[str]:
    """Bodies that no chain of joints leads to from the ground."""
    chains = [{frame.body for frame in joint.frames()} for joint in model.joints.values()]
    held, before = {GROUND}, 0
    while len(held) > before:
        before = len(held)
        held.update(*(chain for chain in chains if chain & held))
    return [name for name in model.bodies if name not in held]


def _moving(results: Any) -> Results | None:
    """Results of more than one time."""
    return results if isinstance(results, Results) and results.t.size > 1 else None


def _job(model: Model, asked: dict[str, Any] | None) -> Job:
    if asked is not None:
        model = model.snapshot()
        model.analysis = dict(asked)
        kind = str(asked.get("kind"))
        if "t_end" not in asked and kind in CATALOG and CATALOG[kind].in_time:
            model.analysis["t_end"] = 1.0 if kind != "dynamics" else 5.0
    if model.analysis and str(model.analysis.get("kind")) not in CATALOG:
        kinds = listed((*CATALOG, "modes"))
        raise ModelError(
            f"there is no analysis '{str(model.analysis.get('kind'))[:40]}'. Choose from {kinds}."
        )
    return _bounded(job_for(model))


def _bounded(job: Job) -> Job:
    """At most so many outputs as a screen shows."""
    if job.t_end is None:
        return job
    step = job.options.get("step")
    wanted = job.points or (round(job.t_end / step) + 1 if step else OUTPUTS + 1)
    method = job.options.get("integrator")
    options = {k: v for k, v in job.options.items() if k != "step" or method is not None}
    return replace(job, options=options, points=max(2, min(wanted, MOST_OUTPUTS + 1)))


def _run(model: Model, job: Job, patience: Patience, told: bool) -> Results:
    """A motion by kinematics also has its forces, unless kinematics was explicitly asked for."""
    if job.kind == "kinematics" and not told:
        times = np.linspace(0.0, job.t_end or 1.0, job.points or OUTPUTS + 1)
        try:
            return inverse_dynamics(model, t_eval=times, progress=patience)
        except SimEngineError:
            pass
    return job.run(model, patience)


def _mode(model: Model, asked: dict[str, Any]) -> Shown:
    """A mode swings about the equilibrium."""
    found = modes(model)
    number = asked.get("mode", 0)
    if not len(found):
        raise ModelError("the mechanism has no modes: every motion is driven or held.")
    if not isinstance(number, int):
        raise ModelError(f"a mode is a number from 0 to {len(found) - 1}, not {str(number)[:40]}.")
    results = found.motion(number, _swing(model, np.abs(found.shapes[:, found._checked(number)])))
    used = {
        "kind": "modes",
        "mode": number,
        "frequencies": found.frequency.tolist(),
        "damping": found.damping.tolist(),
    }
    return Shown(results, used, notes=list(found.notes))


def _swing(model: Model, sizes: Floats) -> float:
    """The amplitude with which the body that moves most goes a part of the mechanism's size; turns count, too."""
    size = System(model).length
    moved = sizes.reshape(-1, 3) * (1.0, 1.0, size)
    return SWING * size / (float(moved.max()) or 1.0)
