"""Channels by name: which there are, and the array of each.

rod.x  rod.phid  rod.B.ydd      a coordinate, its rate, its acceleration; of a body or of a point of it
B.fx  B.fy  B.torque            what the joint or force B does to its last body; B.crank.fx, to another one
motor.effort  motor.power       what an actuator gives; spring.force, what a spring pulls with
lam.B.x                         the multiplier of the row x of the joint B
energy.total                    of all bodies together
step.iterations                 of the step that led there, where the history is kept
distance(a.P, b.Q)              a measure
hypot(B.fx, B.fy)               an expression of channels
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..errors import ModelError, Subject, listed, nearest, unknown
from ..expressions.evaluate import names_in, number, substitute
from ..expressions.function import tree_function
from ..expressions.function_table import ALONG, new_scratch, pack
from ..expressions.syntax import Call, Name, Node, Number, to_text
from ..model.elements import Joint
from ..model.frame import AT, GROUND, Frame
from ..model.measure import KINDS, angle, x, y
from ..model.measure_text import RATE
from ..numerics.arrays import Floats
from .actuator_effort import EFFORTS, effort_channels, has_effort
from .channels import formula_along, is_expression, values_along
from .energy import ENERGIES
from .reactions import Reaction, channels_of, force_on, pull, reaction, refuse_without_forces
from .step_history import STEPS
from .work import WORKS

if TYPE_CHECKING:
    from .results import Results

COORDINATES = ("x", "y", "phi")
ORDERS = ("", "d", "dd")
QUANTITIES = {c + d: (c, order) for c in COORDINATES for order, d in enumerate(ORDERS)}
FORCE = Reaction._fields[:2]
POINT_MEASURES = {"x": x, "y": y, "phi": angle}
MULTIPLIER = "lam"
OTHER_WORDS = {"angle": "phi", "theta": "phi", "omega": "phid", "alpha": "phidd"} | {
    f"{letter}{axis}": axis + dots for letter, dots in (("v", "d"), ("a", "dd")) for axis in "xy"
}
"""Words that people bring for the quantities of a body."""


# Which there are --------------------------------------------------------------------------------------


def motion_channels(results: Results) -> list[str]:
    """Coordinates, rates and accelerations of all bodies."""
    return [f"{body}.{c}{order}" for order in ORDERS for body in results.bodies for c in COORDINATES]


def element_channels(results: Results, name: str) -> list[str]:
    """All that is known of a joint or a force; nothing, where its forces are not known."""
    is_joint = isinstance(results.model.elements[name], Joint)
    if results.lam is None if is_joint else results.system.missing_law is not None:
        return []
    works = not is_joint or has_effort(results, name)  # a pin does no work
    return [*channels_of(results, name), *(effort_channels(results, name) if works else ())]


def multiplier_channels(results: Results) -> list[str]:
    """The multipliers by joint and row; a body of the name `lam` takes precedence."""
    if results.lam is None or MULTIPLIER in results.bodies:
        return []
    return [f"{MULTIPLIER}.{row}" for row in results.system.row_names]


def energy_channels(results: Results) -> list[str]:
    """Energies, and work where reactions are known."""
    if results.columns_only or results.system.missing_law is not None or "energy" in results.bodies:
        return []
    return [*ENERGIES, *(WORKS if results.lam is not None else ())]


def step_channels(results: Results) -> list[str]:
    """What each step was like, where that is kept."""
    return [] if results.history is None or "step" in results.bodies else list(STEPS)


def names_of(results: Results) -> list[str]:
    """Every channel that has a name of its own."""
    elements = [name for element in results.model.elements for name in element_channels(results, element)]
    multipliers, energies = multiplier_channels(results), energy_channels(results)
    steps = step_channels(results)
    return [*motion_channels(results), *elements, *multipliers, *energies, *steps, *results.model.formulas]


# The array of each ------------------------------------------------------------------------------------


def array_of(results: Results, channel: str) -> Floats:
    """One array by name."""
    if not isinstance(channel, str):
        raise ModelError(
            f"a channel is a name such as 'crank.phi', not {channel!r}; the arrays are q, qd and qdd."
        )
    if channel == "t":
        return results.t
    if channel in results.system.formula_names:
        return formula_along(results, results.resolved.formula(channel, Subject(f"formula '{channel}'")))
    if "(" in channel and any(f"{kind}(" in channel for kind in KINDS):
        return _measure_or_expression(results, channel)
    if is_expression(results, channel):
        return _expression(results, channel)
    return _named(results, channel)


def _named(results: Results, channel: str) -> Floats:
    """What belongs to a body, a point, a joint, a force, or to all of them."""
    *path, quantity = channel.split(".")
    owner = path[0] if path else ""
    if (
        owner in results.system.element_names
        and len(path) <= 2
        and (len(path) == 1 or quantity in Reaction._fields)
    ):
        return _of_element(results, owner, quantity, *path[1:])
    if owner == MULTIPLIER and owner not in results.bodies:
        return _multiplier(results, channel)
    if channel in ENERGIES and owner not in results.bodies:
        return np.asarray(getattr(results.energy(), quantity))
    if channel in WORKS and owner not in results.bodies:
        return WORKS[channel](results)
    if channel in STEPS and owner not in results.bodies:
        return _of_steps(results, channel)
    if quantity not in QUANTITIES or len(path) not in (1, 2):
        raise ModelError(_unknown(results, channel))
    return _of_body(results, channel, *path)


def _of_body(results: Results, channel: str, body: str, point: str = "") -> Floats:
    coordinate, order = QUANTITIES[channel.rpartition(".")[2]]
    if body not in results.bodies:
        hint = unknown("body", body, results.bodies, plural="bodies")
        raise ModelError(f"channel '{channel}' names body '{body}', which is not in the results. {hint}")
    if not point:
        column = 3 * results.bodies.index(body) + COORDINATES.index(coordinate)
        return (results.q, results.qd, results.qdd)[order][:, column]
    return results.measure(POINT_MEASURES[coordinate](Frame(GROUND), Frame(body, point)))[order]


def _of_element(results: Results, name: str, quantity: str, on: str | None = None) -> Floats:
    """A channel of a joint or force, by default on its last body."""
    if on is None and quantity == "force":
        return pull(results, name)
    if on is None and quantity in EFFORTS:
        return EFFORTS[quantity](results, name)
    if quantity in FORCE:
        return force_on(results, name, on)[FORCE.index(quantity)]
    if quantity not in Reaction._fields:
        names = [*channels_of(results, name), *effort_channels(results, name)]
        title, known = results.model.elements[name].title, listed(names)
        raise ModelError(f"there is no channel '{name}.{quantity}'. The channels of {title} are {known}.")
    array: Floats = getattr(reaction(results, name, on), quantity)
    return array


def _multiplier(results: Results, channel: str) -> Floats:
    """lam of a row, which resists its measure: the reaction on a body is -Phi_q^T lam."""
    rows, row = results.system.row_names, channel.partition(".")[2]
    if row not in rows:
        names = [f"{MULTIPLIER}.{each}" for each in rows]
        raise ModelError(f"there is no multiplier '{channel}'. {unknown('multiplier', channel, names)}")
    refuse_without_forces(results, results.model.elements[row.partition(".")[0]].title)
    return np.asarray(results.motion.lam[:, rows.index(row)])


def _of_steps(results: Results, channel: str) -> Floats:
    if results.history is None:
        raise ModelError(f"'{channel}' is not kept; ask for it by dynamics(..., history=True).")
    return results.history.along(channel, results.t)


def _unknown(results: Results, channel: str) -> str:
    examples, measures = motion_channels(results)[:3], f"a measure such as distance(a, b): {listed(KINDS)}"
    more, known = "joint.fx, lam.joint.row, energy.total", names_of(results)
    owner, dot, quantity = channel.rpartition(".")
    same = owner + dot + OTHER_WORDS.get(quantity, quantity)
    meant = [name for name in known if f".{name}".endswith(f".{same}") or name.startswith(f"{channel}.")]
    similar = nearest(channel, tuple(known))
    meant = meant or ([similar] if similar else [])
    hint = f" Did you mean {listed(meant, 6)}?" if meant else ""
    return (
        f"there is no channel '{channel}'.{hint} Channels are {listed(examples)} ..., body.point.x, {more}, "
        f"or {measures}; results.channels lists them."
    )


# Expressions ------------------------------------------------------------------------------------------


def _measure_or_expression(results: Results, text: str) -> Floats:
    """A weighted sum of measures, or any other expression."""
    try:
        return results.measure(text)[0]
    except ModelError:
        tree = _parsed(results, text)
        if isinstance(tree, Name) and not tree.name.startswith(
            RATE
        ):  # the error says what is wrong with the measure
            raise
    return _expression(results, text)


def _expression(results: Results, text: str) -> Floats:
    """An expression of channels, measures, parameters of the model and t, at every time."""
    try:
        tree = _parsed(results, text)
    except ModelError as error:
        raise ModelError(f"{_unknown(results, text)} As an expression: {error}") from None
    parameters = results.resolved.parameters
    tree = substitute(tree, {name: Number(number(value)) for name, value in parameters.items()})
    names = sorted(names_in(tree))
    strange = [name for name in names if "." not in name and "(" not in name and name != "t"]
    if strange:
        raise ModelError(f"in '{text}', {_unknown(results, strange[0])}")
    columns = [
        _rate(results, name) if name.startswith(f"{RATE}(") else array_of(results, name) for name in names
    ]
    table, out = pack([tree_function(tree, f"'{text}'")], [tuple(names)], ALONG), np.empty(results.t.size)
    Z = np.column_stack(columns) if columns else np.zeros((out.size, 0))
    values_along(table, new_scratch(table), Z, out)
    return out


def _parsed(results: Results, text: str) -> Node:
    """The expression; its measures are names, such as `distance(a.P, b.Q)`."""
    return _with_names(results.resolved.words.parse(text, (*KINDS, AT, RATE)))


def _with_names(node: Node) -> Node:
    if isinstance(node, Call) and node.name in (*KINDS, RATE):
        return Name(to_text(node))
    return node.with_parts([_with_names(part) for part in node.parts])


def _rate(results: Results, name: str) -> Floats:
    return results.measure(name.removeprefix(f"{RATE}(").removesuffix(")"))[1]
