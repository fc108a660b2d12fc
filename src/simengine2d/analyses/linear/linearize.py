"""Linearization: small motions about a state as dx/dt = A x + B u, y = C x + D u.

The states are deviations of independent coordinates v and of their rates: dq = Z dv with Phi_q Z = 0 and Z = 1 in the
rows of v. The model is minimal: two states for each free motion, whatever loops and redundant joints there are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ...answer import Part, PlottedAnswer, Rows, digits
from ...errors import ConvergenceError, ModelError, UnsupportedError, counted, listed, needed, unknown
from ...methods import ChosenCoordinates
from ...model.model import Model
from ...numerics.arrays import Floats
from ...results.results import Results
from ...system.system import System
from ..assembly.pose import Pose, closed_pose
from ..equation_system import EquationSystem
from ..statics.equilibrium import Equilibria
from ..statics.equilibrium_energy import lowest_energy
from ..statics.equilibrium_newton import BALANCED, newton_by_arc_length
from ..statics.statics import Balance, check_static, held_at
from ..statics.tangent_space import named_motions, tangent_space
from .coordinate_states import coordinate_states
from .descriptor import Descriptor, descriptor
from .inputs import InputDirection, Inputs, input_matrix, named_inputs
from .outputs import output_rows
from .variation import Variation

if TYPE_CHECKING:
    import control


SHOWN = 12  # rows or columns up to which a matrix is shown


@dataclass(frozen=True, repr=False)
class Linearization(PlottedAnswer):
    """A, B, C, D with names. States, inputs and outputs are deviations from the operating point."""

    A: Floats
    B: Floats
    C: Floats
    D: Floats
    states: list[str]
    inputs: list[str]
    outputs: list[str]
    variation: Variation = field(repr=False)
    pushes: dict[str, InputDirection] = field(repr=False)
    notes: list[str] = field(default_factory=list)

    @property
    def eigenvalues(self) -> NDArray[np.complex128]:
        return np.linalg.eigvals(self.A).astype(complex)

    def control(self) -> control.StateSpace:
        """The same as a StateSpace of python-control, with names."""
        control = needed("control", "a StateSpace needs", "control", ", or use the arrays A, B, C and D")
        plain = lambda names: [name.replace(".", "_") for name in names]  # the dot is reserved there
        names = {"states": plain(self.states), "inputs": plain(self.inputs), "outputs": plain(self.outputs)}
        return control.StateSpace(self.A, self.B, self.C, self.D, **names)

    def descriptor(self) -> Descriptor:
        """The equations before constrained coordinates are eliminated: states q, qd and lam."""
        return descriptor(self.variation, self.pushes, self.outputs)

    def __str__(self) -> str:
        rates = ", ".join(f"{value:.5g}" for value in np.sort_complex(self.eigenvalues))
        lines = [f"{len(self.states)} states: {listed(self.states)}"]
        lines += [
            f"inputs: {listed(self.inputs)}",
            f"outputs: {listed(self.outputs)}",
            f"eigenvalues: {rates}",
        ]
        return "\n".join([*lines, *self.notes])

    def _parts(self) -> Iterator[Part]:
        yield f"dx/dt = A x + B u, y = C x + D u with {counted(len(self.states), 'state')}"
        rates = [[digits(value)] for value in np.sort_complex(self.eigenvalues)]
        yield Rows(["eigenvalues 1/s"], rows=rates, words=0)
        for name, matrix, down, across in (
            ("A", self.A, self.states, self.states),
            ("B", self.B, self.states, self.inputs),
            ("C", self.C, self.outputs, self.states),
            ("D", self.D, self.outputs, self.inputs),
        ):
            if matrix.size and max(matrix.shape) <= SHOWN:
                yield Rows([name, *across], matrix_rows(down, matrix))
        yield from self.notes


def matrix_rows(names: Sequence[str], matrix: Floats) -> list[list[str]]:
    """A matrix as rows of a table, each with its name."""
    return [[name, *map(digits, row)] for name, row in zip(names, matrix, strict=True)]


def linearize(
    model: Model | EquationSystem,
    *,
    at: Pose = None,
    inputs: Inputs = (),
    outputs: Sequence[str] | str | None = None,
    states: Sequence[str] | None = None,
    coordinates: ChosenCoordinates | None = None,
    t: float = 0.0,
) -> Linearization:
    """A, B, C, D of small motions about a state.

    `at` is a pose at rest (see `equilibrium`), or the last time of Results, with its velocities; by default the
    equilibrium closest to the initial pose. `inputs` are forces: measures such as "angle(ground, crank)" or "cart.x",
    or force elements by name; {"motor": ...} names them. `outputs` are channels, by default the states. `states`
    chooses the independent coordinates, such as ["cart.x", "pole.phi"].

    With `coordinates`, the states are deviations of independent coordinates of that family and of their rates, two for
    each free motion: those of `states`, or those that move most. Dependent ones follow from them and are eliminated.
    A, B and C are the equations of motion of these coordinates, linearized, also about states that move; the outputs
    are by default the states of the bodies.
    """
    if isinstance(model, EquationSystem):
        if coordinates is not None:
            raise UnsupportedError(
                "a system of formulas has the coordinates that it is written in; leave out coordinates."
            )
        return model.linearize(at=at, inputs=inputs, outputs=outputs, states=states, t=t)
    variation, notes = operating_point(model, at, t, "linearize")
    system, q = variation.system, variation.q
    # inputs, states and outputs by name
    pushes = named_inputs(inputs, model)
    of_bodies = None if coordinates is not None else _coordinates(system, variation, states)
    Z, chosen = named_motions(system, variation.space, of_bodies)
    names = [system.coordinate_names[i] for i in chosen]
    names += [f"{name}d" for name in names]
    wanted = names if outputs is None else [outputs] if isinstance(outputs, str) else list(outputs)
    _refuse_own_reaction(wanted, pushes, model)
    # columns: states, then inputs
    d, k = len(chosen), len(pushes)
    with_q = variation.rates_with(Z)
    dq = np.hstack([Z, np.zeros((system.n, d + k))])
    dqd = np.hstack([with_q - Z @ with_q[chosen], Z, np.zeros((system.n, k))])
    dqd[chosen, :d] = 0.0
    force = np.hstack([np.zeros((system.n, 2 * d)), input_matrix(model, pushes, q)])
    # the response of the accelerations, and of the outputs
    dqdd, dlam = variation.answer(dq, dqd, force)
    rates = np.vstack([dqd[chosen], dqdd[chosen]])
    rows = output_rows(variation, wanted, (dq, dqd, dqdd, dlam))
    A, B, C, D = rates[:, : 2 * d], rates[:, 2 * d :], rows[:, : 2 * d], rows[:, 2 * d :]
    if coordinates is not None:
        S, Sd, names = coordinate_states(variation, chosen, coordinates, states)
        back = np.linalg.inv(S).astype(np.float64)
        A, B, C = (S @ A + Sd) @ back, S @ B, C @ back
        A[:d] = np.eye(2 * d)[d:]  # without rounding
    return Linearization(
        A, B, C, D, names, list(pushes), wanted, variation, pushes, notes + _drift(variation, names)
    )


def operating_point(model: Model, at: Pose, t: float, analysis: str) -> tuple[Variation, list[str]]:
    """The state and notes on it; by default the equilibrium closest to the initial pose."""
    if not isinstance(model, Model):
        raise ModelError(f"{analysis} needs a Model, not {model!r}; read a file with load(path).")
    system = System(model)
    check_static(system)
    system.refuse_velocity_rows(analysis)
    moving = isinstance(at, Results)
    if isinstance(at, Equilibria):
        if len(at) != 1:
            raise ModelError(f"{analysis} needs one equilibrium; {len(at)} were given. Choose one.")
        at = at.results
    if isinstance(at, Results) and at.t.size:
        t = float(at.t[-1])
    q, qd = closed_pose(system, t, at)
    if at is None:
        q = _resting(Balance(system, t, tangent_space(system, t, q))).q
    variation = Variation(system, t, q, qd, held=not moving)
    if variation.space.freedom == 0:
        raise UnsupportedError(
            f"nothing in '{model.name}' can move freely here: every motion is prescribed or prevented. "
            "Remove a driver; its measure can be an input."
        )
    return variation, [] if moving else held_at(system, t)


def _resting(drawn: Balance) -> Balance:
    """The initial pose if it is an equilibrium, stable or not; else where its energy or Newton's method leads."""
    if drawn.left_over > BALANCED * drawn.size:
        with suppress(UnsupportedError, ConvergenceError):
            return lowest_energy(drawn).balance
    return newton_by_arc_length(drawn).balance


def _coordinates(system: System, variation: Variation, states: Sequence[str] | None) -> list[int] | None:
    """The chosen coordinates by number."""
    if states is None:
        return None
    for name in states:
        if name not in system.coordinate_names:
            raise ModelError(
                f"the state '{name}' is not a coordinate. {unknown('coordinate', name, system.coordinate_names)}"
            )
    chosen = [system.coordinate_names.index(name) for name in states]
    freedom = variation.space.freedom
    if len(chosen) != freedom:
        raise ModelError(
            f"{len(chosen)} states are given, but '{system.model.name}' has {freedom} free motions."
        )
    scaled = variation.space.rows.null[chosen]
    if np.linalg.svd(scaled, compute_uv=False)[-1] < 1e-6:
        raise ModelError(f"{listed(states)} do not determine the pose here; choose other coordinates.")
    return chosen


def _refuse_own_reaction(outputs: Sequence[str], pushes: dict[str, InputDirection], model: Model) -> None:
    for output in outputs:
        for name in pushes:
            element = name.partition(".")[0]
            if element in model.forces and output.startswith(f"{element}."):
                raise UnsupportedError(
                    f"the output '{output}' belongs to the input '{name}' itself; ask for another channel."
                )


def _drift(variation: Variation, names: list[str]) -> list[str]:
    """A note if the state is not an equilibrium, so that deviations are from a motion."""
    if variation.rests or np.any(variation.qd):
        return []
    return [
        f"the pose is not an equilibrium: without inputs {names[0]}dd is not zero, and deviations are from that motion"
    ]
