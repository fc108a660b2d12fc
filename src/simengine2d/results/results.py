"""Results: arrays with names. Channels, reactions, energy, tables, saving and loading."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Unpack

import numpy as np

from ..errors import ModelError, counted
from ..model.frame import GROUND, Frame
from ..model.measure import Measure
from ..model.model import Model
from ..model.resolved import ResolvedModel
from ..model.si_values import text_in_si
from ..numerics.arrays import Floats, Ints
from ..system.system import System
from .channels import measure_rates
from .energy import Energy, energy, energy_drift, power_balance
from .events import Crossing
from .named_channels import array_of, motion_channels, names_of
from .pictures import PicturedResults
from .reactions import Reaction, non_unique, reaction
from .step_history import StepHistory
from .verdict import Verdict, verdict

if TYPE_CHECKING:
    from ..analyses.coordinate_motion import CoordinateMotion
    from ..analyses.dynamics.run import ResumeOptions
    from ..methods import ChosenCoordinates


class MotionArrays(NamedTuple):
    """The arrays of results; `lam` has no columns where there are no multipliers."""

    t: Floats
    q: Floats
    qd: Floats
    qdd: Floats
    lam: Floats


@dataclass
class Results(PicturedResults):
    """Motion of a model: `q`, `qd`, `qdd` have one row per time, three columns (x, y, phi) per body."""

    system: System
    """The equations of the model as it was when the results were made; given a Model, they are made here."""
    t: Floats
    q: Floats
    qd: Floats
    qdd: Floats
    lam: Floats | None = None
    """Multipliers, one column per constraint row; None where the analysis has no forces."""
    analysis: str = ""
    status: str = ""
    notes: list[str] = field(default_factory=list)
    residuals: dict[str, float] = field(default_factory=dict)
    """Largest errors of the constraint equations at the three levels."""
    statistics: dict[str, int] = field(default_factory=dict)
    events: list[Crossing] = field(default_factory=list)
    """Events that happened, in the order of time."""
    settings: dict[str, Any] = field(default_factory=dict)
    """The options of the run."""
    checkpoint: dict[str, Floats] = field(default_factory=dict, repr=False)
    """The state of the integrator, for `resume`."""
    history: StepHistory | None = field(default=None, repr=False)
    """Every step of the integrator, where that was asked for; not saved in files."""
    columns_only: bool = False
    """True where they come from a CSV file: the model is bodies with names, without points and joints."""

    def __post_init__(self) -> None:
        self.system = System(self.system) if isinstance(self.system, Model) else self.system

    @property
    def resolved(self) -> ResolvedModel:
        """The model in numbers."""
        return self.system.resolved

    @property
    def bodies(self) -> list[str]:
        return self.system.body_names

    @property
    def in_si(self) -> Results:
        return self

    @property
    def model(self) -> Model:
        """The model as it was when the results were made; later changes to your model do not affect it."""
        return self.system.model

    def __getstate__(self) -> dict[str, Any]:
        """What is copied and pickled: the fields, with the model instead of its equations, which are made again."""
        return {item.name: getattr(self, item.name) for item in fields(self)} | {"system": self.model}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.__post_init__()

    @property
    def method(self) -> str:
        """What computed them, and why that was chosen; empty where there was nothing to choose."""
        return str(self.settings.get("method", ""))

    @property
    def iterations(self) -> Ints:
        """Newton iterations of every step that was tried; `explain` shows those of one step, line by line."""
        if self.history is None:
            raise ModelError(
                f"the iterations of this {self.analysis} were not kept; run it with history=True."
            )
        return self.history.iterations

    # arrays that fit each other

    @property
    def motion(self) -> MotionArrays:
        """The arrays as kernels read them, which do not look where an array ends."""
        count, columns = np.size(self.t), self.system.n
        lam = np.zeros((count, 0)) if self.lam is None else self.lam
        arrays = (self.t, self.q, self.qd, self.qdd, lam)
        motion = MotionArrays(*(np.ascontiguousarray(array, dtype=float) for array in arrays))
        shapes = [(count,), *[(count, columns)] * 3, (count, motion.lam.shape[-1])]
        for name, array, shape in zip(MotionArrays._fields, motion, shapes, strict=True):
            if array.shape != shape:
                raise ModelError(
                    f"the results of '{self.model.name}' do not fit together: {name} has the shape {array.shape}, "
                    f"not {shape}, for {counted(count, 'time')} and {columns} coordinates."
                )
        if self.lam is not None and motion.lam.shape[1] != self.system.m:
            raise ModelError(
                f"the results of '{self.model.name}' hold {motion.lam.shape[1]} multipliers "
                f"for {counted(self.system.m, 'constraint')}."
            )
        return motion

    # channels

    def __getitem__(self, channel: str) -> Floats:
        """One array by name: "crank.phi", "rod.B.xd", "distance(crank.A, rod)", "B.fx", "lam.B.x", "energy.total"."""
        return array_of(self, channel)

    def measure(self, measure: Measure | str) -> tuple[Floats, Floats, Floats]:
        """A measure over time, with its first and second time derivative."""
        if isinstance(measure, str):
            measure = text_in_si(self.model, measure)
        try:
            return measure_rates(self, measure)
        except ModelError as error:
            if not self.columns_only:
                raise
            raise ModelError(
                f"{error} These results come from a CSV file, which holds columns only and no model; "
                "save them as .npz or .parquet to ask for points."
            ) from None

    @property
    def channels(self) -> list[str]:
        """Every channel: of bodies, joints and forces, multipliers (`lam.B.x`), energies, and formulas of the model.

        Points and measures can be asked for too, and expressions of them.
        """
        return names_of(self)

    @property
    def motion_channels(self) -> list[str]:
        """Coordinates, rates and accelerations of the bodies: the columns of q, qd and qdd."""
        return motion_channels(self)

    def at_rows(self, rows: slice | Ints) -> Results:
        """The same at some of its times."""
        lam = None if self.lam is None else self.lam[rows]
        return replace(self, t=self.t[rows], q=self.q[rows], qd=self.qd[rows], qdd=self.qdd[rows], lam=lam)

    # forces and energy

    def reaction(
        self, name: str, on: str | None = None, at: Frame | str | None = None, expressed_in: str = GROUND
    ) -> Reaction:
        """Force and torque of a joint, a driver or a force element on the body `on`.

        By default on its last body that is not the ground, and with the torque about the point where it is attached
        (about the mass center, where there is no such point). `at` names another point of the body, or any frame;
        `expressed_in` the body in whose axes the force is given. On the ground it is the opposite of all others.
        """
        return reaction(self, name, on, at, expressed_in)

    @cached_property
    def non_unique(self) -> list[str]:
        """Joints whose reactions are not unique, since constraints are redundant; the smallest ones are given."""
        return non_unique(self.system, float(self.t[0]), self.q[0]) if self.t.size else []

    def energy(self) -> Energy:
        """Kinetic and potential energy over time, and their sum."""
        return energy(self)

    def power_balance(self) -> float:
        """How far dT/dt is from the power of all forces and drivers, relative to the largest power."""
        return power_balance(self)

    def in_coordinates(self, coordinates: ChosenCoordinates) -> CoordinateMotion:
        """The motion in natural, mixed, relative or reference_point coordinates: z, multipliers, equations by name."""
        from ..analyses.coordinate_motion import in_coordinates

        return in_coordinates(self, coordinates)

    # continuing

    def resume(self, t_end: float | None = None, **options: Unpack[ResumeOptions]) -> Results:
        """Continue a run of dynamics up to `t_end`, bit for bit as if it had never ended."""
        from ..analyses.dynamics.resume import resume

        return resume(self, t_end=t_end, **options)

    # tables and files

    def save(self, path: str | Path) -> Path:
        """Write .csv (columns only), .npz or .parquet (with the model); the file is complete or not written at all."""
        from ..io.results_files import save_results

        return save_results(self, Path(path))

    @staticmethod
    def load(path: str | Path) -> Results:
        """Read what `save` wrote."""
        from ..io.results_files import load_results

        return load_results(Path(path))

    @cached_property
    def verdict(self) -> Verdict:
        """Whether to trust them: "trust", "check" or "do not trust", with reasons."""
        return verdict(self)

    def summary(self) -> str:
        """A few lines: what was done, how accurate it is, what the verdict says."""
        lines = [f"{self.model.name}: {self.status}"]
        if self.residuals:
            lines.append("largest residuals: " + ", ".join(f"{k} {v:.1e}" for k, v in self.residuals.items()))
        drift = energy_drift(self) if self.lam is not None and self.analysis != "equilibrium" else None
        if drift is not None:
            lines.append(f"energy: constant to {drift:.1e} of what is exchanged")
        lines.append(f"verdict: {self.verdict}")
        lines += [f"note: {note}" for note in self.notes]
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<Results of '{self.model.name}': {self.status}; {self.verdict.word}>"

    def __str__(self) -> str:
        return "\n".join([repr(self), *(f"note: {note}" for note in self.notes)])

    def _repr_html_(self) -> str:
        from ..draw.notebook import results_html

        return results_html(self)
