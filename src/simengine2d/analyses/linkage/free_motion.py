"""The one motion that a mechanism has left at a pose, and the measures by which inputs and outputs are named.

    Phi_q dq = 0

without the row of the input. Velocities in proportion to it obey every joint, so ratios of velocities, and by virtual
power those of forces, follow from it also where a mechanism is at rest.
"""

from __future__ import annotations

import numpy as np

from ...errors import ModelError, UnsupportedError, counted, unknown
from ...expressions.unit_system import SI, UnitSystem
from ...model.elements import Joint, Pair
from ...model.frame import GROUND, Frame
from ...model.joints.revolute import Revolute
from ...model.joints.translational import Translational
from ...model.measure import KINDS, Measure, along, angle
from ...model.measure_text import parse_measure
from ...model.model import Model
from ...model.si_values import text_in_si
from ...numerics.arrays import Floats
from ...numerics.rank import row_space
from ...results.channels import MEASURES
from ...system.system import System
from ..assembly.closure import coordinate_scale
from ..assembly.redrawn import as_written
from ..inverse.gradients import Gradients
from ..inverse.motion_data import channel_measure


class FreeMotion:
    """The motion left by the joints of a system, with the rows of one element, the input, left out."""

    def __init__(self, system: System, released: str | None) -> None:
        self.system, self.scale = system, coordinate_scale(system)
        names = [name for name, _ in system.rows]
        self.kept = np.array([name != released for name in names], dtype=bool)

    def at(self, t: float, q: Floats) -> Floats:
        """dq, as large as its coordinates are in lengths of the mechanism; an error if there is not exactly one."""
        null = row_space(self.system.Phi_q(t, q)[self.kept] * self.scale).null
        if null.shape[1] != 1:
            raise UnsupportedError(
                f"'{self.system.model.name}' has {counted(null.shape[1], 'free motion')} at t = {t:g} s beside its "
                "input, where one is needed. Hold or drive the others, or look at a pose that is not singular."
            )
        return self.scale * null[:, 0]


class MeasureRates:
    """MeasureRates of measures per unit of a free motion."""

    def __init__(self, model: Model, measures: list[Measure | str]) -> None:
        self.gradients = Gradients(model, measures)

    def of(self, q: Floats, dq: Floats) -> Floats:
        """s_q dq of each measure."""
        return self.gradients.at(q) @ dq


def the_driver(system: System, name: str | None) -> str:
    """The driver of that name; without a name, the first."""
    drivers = list(dict.fromkeys(system.rows[i][0] for i in system.driver_rows))
    if not drivers:
        raise ModelError(
            f"model '{system.model.name}' has no driver, so nothing says what its input is; "
            "add e.g. Driver('motor', 'angle(ground, crank)', '2*pi*t')."
        )
    if name is None:
        return drivers[0]
    if name not in drivers:
        raise ModelError(f"there is no driver '{name}' in the model. {unknown('driver', name, drivers)}")
    return name


def measure_of(model: Model, named: Measure | str) -> Measure | str:
    """What an input or an output is: a measure, a channel such as "slider.x", a driver, a joint or a body by name."""
    found = _named_measure(model.in_si(), named)
    if isinstance(found, str) and model.in_si().written is not None:  # texts about it are in units of its own
        return parse_measure(found, model.check().parameters)
    return found


def _named_measure(model: Model, named: Measure | str) -> Measure | str:
    if isinstance(named, Measure):
        return named
    if any(f"{kind}(" in named for kind in KINDS):
        return text_in_si(model, named)
    if named in model.elements:
        return _of_element(model, named)
    if named in model.bodies:
        return _of_body(model, named)
    if "." in named:
        return channel_measure(named, model)
    hint = unknown("name", named, [*model.bodies, *model.joints])
    raise ModelError(f"'{named}' is neither a body, a joint nor a measure of model '{model.name}'. {hint}")


def _of_element(model: Model, name: str) -> Measure | str:
    element = model.elements[name]
    if isinstance(element, Revolute):
        return angle(element.a, element.b)
    if isinstance(element, Translational):
        placed = model.check().elements[name]
        return along(as_written(placed.a), as_written(placed.b))  # type: ignore[attr-defined]
    measure = getattr(element, "measure", None)
    if measure is None:
        raise ModelError(
            f"{element.title} has no measure of its own as a driver, a pin or a slider has; "
            "write one, such as angle(ground, crank)."
        )
    return measure  # type: ignore[no-any-return]


def _of_body(model: Model, name: str) -> Measure:
    """The angle of a body on a pin in the ground, the displacement of a body in a guide of the ground."""
    joint = ground_joint(model, name)
    if isinstance(joint, Translational):
        return _of_element(model, joint.name)  # type: ignore[return-value]
    return angle(Frame(GROUND), Frame(name))


def ground_joint(model: Model, body: str) -> Joint | None:
    """The pin or the guide between a body and the ground; None where there is none."""
    for joint in model.joints.values():
        if isinstance(joint, Revolute | Translational) and {joint.a.body, joint.b.body} == {GROUND, body}:
            return joint
    return None


def joints_of(model: Model, body: str) -> list[str]:
    """The joints between two bodies that hold this one."""
    pairs = [joint for joint in model.joints.values() if isinstance(joint, Pair)]
    return [joint.name for joint in pairs if body in (joint.a.body, joint.b.body)]


def unit_of_measure(model: Model, measure: Measure | str) -> str:
    """ "rad" or "m"; "" where it is neither."""
    units = {MEASURES.get(term.kind, "m") for term in model.check().measure(measure).terms}
    return units.pop() if len(units) == 1 else ""


def shown(value: float, unit: str, units: UnitSystem = SI) -> str:
    """Degrees for angles, four digits."""
    return f"{np.degrees(value):.4g}°" if unit == "rad" else units.shown(unit).text(value).strip()
