"""The analyses that a model file or a command can ask for, each with its options.

One entry here is all that an analysis needs besides its own file: model files, the schema, the command line and the
reference page read this list. The analysis itself is imported when it runs, so that commands begin quickly.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

if TYPE_CHECKING:
    from ..model.model import Model
    from ..results.results import Results

EquilibriumMethod: TypeAlias = Literal["newton", "relaxation", "energy"]

NUMBER = "a number or an expression such as 30*deg"
METHOD = "the name of a method such as newmark, or a mapping such as {type: newmark, beta: 0.25}"


@dataclass(frozen=True)
class Option:
    """What may be said of an analysis: the types that a file may hold, and what is expected in words."""

    accepts: Any
    words: str

    @property
    def is_number(self) -> bool:
        return self.words == NUMBER


OPTIONS = {
    "t_end": Option(float | str, NUMBER),
    "step": Option(float | str, NUMBER),
    "output_steps": Option(int, "a whole number, of a file only; functions take the times t_eval instead"),
    "rtol": Option(float | str, NUMBER),
    "atol": Option(float | str, NUMBER),
    "max_step": Option(float | str, NUMBER),
    "integrator": Option(str | dict[str, Any], METHOD),
    "formulation": Option(str | dict[str, Any], METHOD),
    "coordinates": Option(
        str | dict[str, Any],
        "reference_point, natural(points=rod.P), mixed(angles=crank) or relative(cut=B), with or without choices",
    ),
    "on_singular": Option(str, "pass, stop or raise"),
    "actuators": Option(
        str | list[str] | dict[str, str],
        "what produces the motion: drivers such as [motor], or measures such as {motor: angle(ground, crank)}",
    ),
    "method": Option(str, "newton, relaxation or energy"),
}
OUTPUTS = ("t_end", "step", "output_steps")


@dataclass(frozen=True)
class Analysis:
    """One analysis: a function of its name in `module`, which takes a model and the options.

    Those in time also take `t_eval`, an array of times, and `progress`; those that can be resumed take `keep`.
    """

    name: str
    module: str
    options: tuple[str, ...]
    words: str
    """What it does, in a sentence."""
    command: str = ""
    """What it is called on the command line, where that is not its name."""
    resumes: bool = False

    @property
    def in_time(self) -> bool:
        return "t_end" in self.options

    def run(self, model: Model, options: Mapping[str, Any]) -> Results:
        """The results of the function of that name."""
        function = getattr(import_module(self.module, __package__), self.name)
        answer = function(model, **{name: value for name, value in options.items() if value is not None})
        return getattr(answer, "results", answer)  # an equilibrium holds its results


CATALOG: dict[str, Analysis] = {}


def register(analysis: Analysis) -> Analysis:
    """Offer an analysis to model files and to the command line."""
    CATALOG[analysis.name] = analysis
    return analysis


METHODS = ("integrator", "formulation", "coordinates", "rtol", "atol", "max_step")

register(
    Analysis(
        "kinematics",
        ".kinematics.kinematics",
        (*OUTPUTS, "on_singular", "coordinates"),
        "Move a driven mechanism from t = 0 to t_end.",
    )
)
register(
    Analysis(
        "dynamics",
        ".dynamics.dynamics",
        (*OUTPUTS, *METHODS),
        "Let a mechanism move under its forces from t = 0 to t_end.",
        resumes=True,
    )
)
register(
    Analysis(
        "inverse_dynamics",
        ".inverse.inverse_dynamics",
        (*OUTPUTS, "actuators", "coordinates"),
        "Find the forces and torques that make a prescribed motion.",
        command="inverse",
    )
)
register(
    Analysis(
        "equilibrium",
        ".statics.equilibrium",
        ("method", "coordinates"),
        "Find where a mechanism stays at rest, and whether that is stable.",
    )
)
