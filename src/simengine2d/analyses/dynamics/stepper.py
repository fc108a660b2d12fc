"""What takes the steps of a run, in the coordinates of a family, and knows what they mean for the bodies."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property

import numpy as np

from ...coordinates.base import Family
from ...coordinates.equations import OutputMonitors, OutputMultipliers
from ...coordinates.reference_point.multipliers import multipliers_of_bodies
from ...expressions.breaks import Break
from ...integrators import loop_state
from ...integrators.break_crossing import Broken
from ...integrators.integration import CompiledIntegration
from ...integrators.ode_method import Integration, OdeMethod
from ...methods import AlphaMethod
from ...numerics.arrays import Floats
from ...numerics.kernel_pointer import BoundKernel
from ...results.switching import Switching
from ...system.connections import can_lose_rank
from ...system.elimination import elimination_program
from ..singular_poses import RankWatch
from .bridge import Bridge
from .initial_state import InitialState
from .options import DynamicsOptions
from .outputs import History, Outputs, refill

MOST_ROOM = 1_000_000  # bytes of rows that are left to the next run: new memory costs as much as an output
CHATTER = (
    "thousands of tiny steps led nowhere. Look for a force that jumps back and forth, such as sign(v) at rest; "
    "a steep smooth law such as tanh(v/0.001) can be integrated."
)
WHY = {
    loop_state.STEP_TOO_SMALL: "the step became too small. Look for a singular pose, or a force that jumps or grows "
    "without bound.",
    loop_state.NO_CONVERGENCE: "the iteration of a step did not converge. Take a smaller step.",
    loop_state.CHATTERS: CHATTER,
    loop_state.BLEW_UP: "the values have grown beyond all bounds. Take a smaller step, or an implicit integrator.",
}


class DynamicsStepper(ABC):
    """An integration of the equations of motion, and what its rows [z, zd, notes] mean for the bodies.

    A run asks it for steps, rows and sentences; at a singular pose it is taken back and restarted after the pose.
    """

    integration: Integration
    lam: BoundKernel
    """The multipliers at outputs."""
    monitors: OutputMonitors
    """What was noticed with them."""
    memory: Mapping[str, Floats] = {}
    """What the equations remember from step to step."""
    violations: Sequence[float] | Floats = (0.0, 0.0)
    """Largest violations of positions and velocities after a step, where they are noted."""
    Y: Floats
    """One row for each output."""
    say: Callable[[str], None]
    """Called with notes."""

    # what a kind of stepper says of itself
    words: list[str]
    """Notes on the method."""
    why: Mapping[int, str] = WHY
    """Sentences on the reasons for which its steps may end."""
    counted: Sequence[str] = ()
    """What its statistics consist of; everything if empty."""
    follows_from_state: bool
    """Whether accelerations at outputs are those of the equations of motion, and no others of the method."""
    holds_velocities = True
    """Whether Phi_q qd = nu is asked of rows that are answers."""
    chunk = 0
    """Steps to try between two checks of their progress; 0 where a check may come at any time."""

    def __init__(self, options: DynamicsOptions, start: InitialState, family: Family) -> None:
        self.options, self.start, self.family, method = options, start, family, options.integrator
        self.system = family.system
        self.rank = RankWatch(self.system, self.family, start.regular) if can_lose_rank(self.system) else None
        """The watch over the constraints; None if they are always independent."""
        self.switching = self.new_switching()
        self.compiled = not isinstance(method, OdeMethod) or method.keeps
        """Whether the integration can be saved and resumed, and examines the constraints after every step."""
        self.doubtful = False
        """Whether whole turns may have been missed before the last singular pose."""
        self.before: dict[str, int] = {}
        """Counts of the integrations that ended at a singular pose."""
        self.marks: dict[str, Floats] = {}
        """What a checkpoint has besides the arrays: steps that are taken back do not change it."""

    def new_switching(self) -> Switching:
        """The breaks of the system."""
        step = self.options.step if self.options.fixed else None
        bends = not isinstance(self.options.integrator, AlphaMethod)  # methods of order 2 do not notice kinks
        return Switching(self.system, step, bends)

    @abstractmethod
    def restart_at(self, t: float, q: Floats, qd: Floats) -> None:
        """Go on from another state of the bodies."""

    @abstractmethod
    def renew(self, t: float) -> None:
        """Begin a new step in the first row, the present state of a Simulator, since forces have changed."""

    @abstractmethod
    def fill_row(self, t: float, motion: History) -> None:
        """The first row in a state of the bodies; the integration does not notice."""

    @abstractmethod
    def recover(self, outputs: Outputs, first: int, inside: bool) -> None:
        """Rows from `first` on as motions of the bodies; the last one may lie `inside` a step."""

    @abstractmethod
    def motion_at(self, times: Floats, Y: Floats) -> list[Floats]:
        """Q, Qd, Qdd and Lam of rows of the integration, which does not notice."""

    @abstractmethod
    def leads_nowhere(self, outputs: Outputs) -> str | None:
        """A sentence if many steps made no progress."""

    @abstractmethod
    def put_away(self) -> None:
        """Leave this stepper to the next run, if it can be used again."""

    @property
    @abstractmethod
    def halved(self) -> tuple[int, list[float]]:
        """How many fixed steps were halved, and when the first of them began."""

    # the present state

    @property
    def state(self) -> tuple[Floats, Floats]:
        """q and qd at the beginning of the last step."""
        return self.bodies(self.integration.t, self.integration.y)

    def between(self, t: float) -> tuple[Floats, Floats]:
        """q and qd at a time inside the last step."""
        return self.bodies(t, self.integration.between(t))

    def bodies(self, t: float, y: Floats) -> tuple[Floats, Floats]:
        """q and qd of (z, zd)."""
        n = self.family.n
        motion = self.family.bodies(t, y[:n], y[n : 2 * n], np.zeros(n))
        return motion.q, motion.qd

    def coordinates_of(self, t: float, q: Floats, qd: Floats) -> Floats:
        """(z, zd) of bodies in a state, from which whole turns are counted."""
        self.doubtful = self.doubtful or self.family.miscounted
        self.family.count_from(t, q, qd)
        return self.family.state_of(q, qd)

    # steps

    def step(self, outputs: Outputs, most_steps: int) -> int:
        """Some steps, and the rows inside them. Returns why they ended."""
        if self.chunk:  # checks come at the same steps, whether a run was interrupted or not
            most_steps = min(most_steps, self.chunk - self.integration.attempts % self.chunk)
        if outputs.spacing is not None:
            outputs.make_room(most_steps)
            self.integration.space_outputs(outputs.spacing, outputs.are_few)
        if len(self.Y) < outputs.times.size:
            self.Y = np.zeros((outputs.times.size, self.Y.shape[1]))
        outputs.done, why = self.integration.integrate(outputs.times, outputs.done, self.Y, most_steps)
        outputs.trim()
        return why

    def begin_with(self, step: float) -> None:
        """The size of the first step, in the place of a guess."""
        assert isinstance(self.integration, CompiledIntegration)
        self.integration.path.state[loop_state.STEP] = step

    def step_again(self, outputs: Outputs, before: float, count: int) -> int:
        """Steps that were taken before, about up to a time; outputs matter only where steps end at them."""
        integration, between = self.integration, loop_state.BETWEEN_OUTPUTS
        if isinstance(integration, CompiledIntegration) and integration.rules.kind != between:
            beyond = np.array([before + 1e3 * (1.0 + abs(before))])
            integration.space_outputs(0.0, False)
            return integration.integrate(beyond, 0, np.zeros((1, self.Y.shape[1])), count)[1]
        return self.step(outputs, count)

    @property
    def tried(self) -> int:
        """Steps tried so far."""
        before = self.before
        return self.integration.attempts + (before["steps"] + before["rejected steps"] if before else 0)

    def counts(self) -> dict[str, int]:
        """Steps and their cost."""
        if not self.before:
            return self.integration.counts()
        return {name: count + self.before.get(name, 0) for name, count in self.integration.counts().items()}

    def trouble(self, why: int, outputs: Outputs) -> str | None:
        """A sentence if the steps, which ended for a reason, cannot go on."""
        sentence = self.switching.jump if why == loop_state.JUMPS else self.why.get(why)
        return sentence or self.torn() or self.leads_nowhere(outputs)

    def torn(self) -> str | None:
        """A sentence if joints are wide open at an output."""
        apart = self.monitors.errors[0]
        if not apart > self.system.length:
            return None
        return (
            f"the joints are apart by {apart:.3g} m, more than the mechanism is large. Take a smaller step, or look "
            "for constraints that depend on each other."
        )

    @cached_property
    def bridge(self) -> Bridge:
        """The crossing of singular poses."""
        return Bridge(self.system, self.start)

    # breaks

    def breaks(self) -> Broken | None:
        """Where an integration has to stop."""
        memory, family = [*self.memory.values()] or [self.family.turns], self.family
        if not self.switching:
            return None
        sizes = family.n, self.system.n
        return Broken(self.switching, self.bodies, memory, self.kick, family.to_bodies, sizes)

    def kick(self, at: Break, y: Floats) -> None:
        """Give velocities that satisfy the constraints after a break at which prescribed ones jump."""
        q, qd = self.bodies(at.t, y)
        if self.switching.kicks_at(at, q):
            y[self.family.n :] = self.family.velocities(q, self.switching.kicked(at, q, qd))
            self.say(self.switching.kick)

    # outputs

    @property
    def looks_back(self) -> int:
        """How many earlier steps are stored."""
        return self.integration.stored_steps if isinstance(self.integration, CompiledIntegration) else 0

    def look_back_to_here(self) -> None:
        """Store the steps from here on."""
        if isinstance(self.integration, CompiledIntegration) and self.integration.stored_steps:
            self.integration.store_steps()

    def motion_before(self, times: Floats) -> list[Floats]:
        """Q, Qd, Qdd and Lam inside steps that are stored."""
        assert isinstance(self.integration, CompiledIntegration)
        return self.motion_at(times, self.integration.look_back(times))

    def multipliers_of_bodies(self) -> OutputMultipliers:
        """From the accelerations of the bodies; where these follow from the state alone, they are also put right."""
        d = elimination_program(self.system, not self.start.regular, False)._replace(
            stabilization=np.array(self.options.formulation.stabilization),
            dropped=np.array(self.start.implied, dtype=np.int64),
        )
        return multipliers_of_bodies(self.system, d, self.system.new_workspace(d), self.follows_from_state)

    @property
    def worst(self) -> Floats:
        """Largest errors of the constraint equations at the three levels."""
        worst, (of_q, of_qd) = self.monitors.errors.copy(), self.violations
        worst[0], worst[1] = max(worst[0], of_q), max(worst[1], of_qd)
        return worst

    # saving

    def arrays(self) -> dict[str, Floats]:
        """The arrays that make up the state of the integration, and what is known of its rows and of their rank."""
        ranks = {} if self.rank is None else self.rank.kept()
        return self.integration.kept() | dict(self.memory) | self.monitors._asdict() | ranks

    def copied(self) -> dict[str, Floats]:
        return {name: array.copy() for name, array in self.arrays().items()}

    def checkpoint(self) -> dict[str, Floats]:
        """Everything that is needed to continue later."""
        return self.copied() | {name: array.copy() for name, array in self.marks.items()}

    def restore(self, saved: Mapping[str, Floats]) -> None:
        """Go on from a checkpoint; a ValueError where it does not fit."""
        self.monitors.singular_at[:] = np.nan  # there may have been none yet
        refill(self.arrays() | self.marks, saved)
