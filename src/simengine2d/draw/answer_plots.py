"""Pictures of answers: poses of equilibria and modes, eigenvalues in the plane, energy and reactions over time.

`plot_of` finds the picture of an answer by its type. Each takes axes or makes new ones, returns them and shows nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import singledispatch
from typing import TYPE_CHECKING, Any

import numpy as np

from ..analyses.assembly.assemble import Assembly, assemble
from ..analyses.assembly.assembly_modes import AssemblyMode, AssemblyModes
from ..analyses.assembly.diagnose import Diagnosis
from ..analyses.coordinate_motion import CoordinateMotion
from ..analyses.formulate import EquationValues
from ..analyses.linear.floquet import Floquet
from ..analyses.linear.linearize import Linearization
from ..analyses.linear.modes import Modes
from ..analyses.statics.equilibrium import Equilibria
from ..analyses.statics.equilibrium_path import EquilibriumPath
from ..analyses.statics.preload import Preload
from ..expressions.table import Table
from ..expressions.unit_system import UnitSystem
from ..integrators.ivp.integration import Solution
from ..integrators.ivp.second_order import SecondOrderSolution
from ..model.curves.cam_design import CamProfile
from ..model.curves.curve import Curve
from ..numerics.arrays import Floats
from ..results.energy import Energy
from ..results.reactions import Reaction
from ..results.results import Results
from ..results.step_history import StepHistory
from ..system.system import System
from .figure import SceneArtists, axes_for, axes_or_new, prepare
from .plots import COLORS, QUIET, WIDTH, line_style, tidy
from .scene import scene_of
from .snapshot import draw_model

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ..symbolic.motion import SymbolicMotion

PALE = 0.25
SWING = 0.15  # of a typical length: how far a mode or a free motion is drawn
SAMPLES = 400  # of a curve
MOST_LINES = 12
MOST_DOTS = 60  # on a curve; more would be a band


@singledispatch
def plot_of(answer: Any, ax: Axes | None = None) -> Axes:
    """The picture of an answer."""
    raise TypeError(f"{type(answer).__name__} has no picture")


# Poses ------------------------------------------------------------------------------------------------


def draw_poses(system: System, poses: Sequence[Floats], strengths: Sequence[float], ax: Axes | None) -> Axes:
    """Poses over each other, each as strong as said; the last one has labels."""
    q = np.array(poses)
    still = np.zeros_like(q)
    scene = scene_of(Results(system, np.arange(float(len(q))), q, still, still))
    ax = axes_for(scene.bounds, ax)
    prepare(ax, scene.bounds)
    for i, strength in enumerate(strengths):
        SceneArtists(scene, ax, alpha=strength, forces=False, labels=i == len(q) - 1).show(i)
    return ax


def _swing(system: System, q: Floats, motion: Floats) -> list[Floats]:
    """Two poses about q along a motion, which is scaled to a small part of the mechanism; then q itself."""
    scale = np.tile([1.0, 1.0, system.length], len(system.bodies))
    size = np.abs(scale * motion).max(initial=0.0) or 1.0
    reach = SWING * system.length / size * motion
    return [q - reach, q + reach, q]


@plot_of.register(Assembly)
def plot_assembly(answer: Assembly, ax: Axes | None = None) -> Axes:
    """The closed pose; pale, that of the drawing."""
    ax = draw_poses(answer.system, [answer.q - answer.change, answer.q], [PALE, 1.0], ax)
    ax.set_title(f"{answer.model.name}, assembled")
    return ax


@plot_of.register(AssemblyMode)
def plot_assembly_mode(answer: AssemblyMode, ax: Axes | None = None) -> Axes:
    ax = draw_poses(System(answer.source), [answer.q], [1.0], ax)
    ax.set_title(answer.description)
    return ax


@plot_of.register(AssemblyModes)
def plot_assembly_modes(answer: AssemblyModes, ax: Axes | None = None) -> Axes:
    """All poses; that of the drawing is strong."""
    poses = [mode.q for mode in reversed(answer.modes)]
    ax = draw_poses(System(answer.model), poses, [PALE] * (len(poses) - 1) + [1.0], ax)
    ax.set_title(f"{answer.model.name}: {len(poses)} assemblies")
    return ax


@plot_of.register(Diagnosis)
def plot_diagnosis(answer: Diagnosis, ax: Axes | None = None) -> Axes:
    """The mechanism, and pale, where its free motions lead."""
    system = System(answer.model)
    q = assemble(system).q
    away = [pose for motion in answer.motions.T for pose in _swing(system, q, motion)[:2]]
    ax = draw_poses(system, [*away, q], [PALE] * len(away) + [1.0], ax)
    ax.set_title(f"{answer.model.name}: mobility {answer.mobility}")
    return ax


@plot_of.register(Equilibria)
def plot_equilibria(answer: Equilibria, ax: Axes | None = None) -> Axes:
    """All poses; those that are not stable are pale."""
    order = np.argsort(answer.stable, kind="stable")
    strengths = [1.0 if answer.stable[i] or len(answer) == 1 else PALE for i in order]
    ax = draw_poses(answer.results.system, list(answer.q[order]), strengths, ax)
    ax.set_title(answer.results.status)
    return ax


@plot_of.register(Preload)
def plot_preload(answer: Preload, ax: Axes | None = None) -> Axes:
    return draw_model(answer.model, ax)


def plot_mode(modes: Modes, mode: int, ax: Axes | None = None) -> Axes:
    """The shape of a mode: the mechanism at rest, and pale, as far as it swings to both sides."""
    system, shape = System(modes.model), modes.shapes[:, mode]
    turned = shape * np.exp(-1j * np.angle(shape[np.abs(shape).argmax()]))  # the largest part is real
    ax = draw_poses(system, _swing(system, modes.q, turned.real), [PALE, PALE, 1.0], ax)
    ax.set_title(f"mode {mode}: {modes.frequency[mode]:.4g} Hz, damping ratio {modes.damping[mode]:.3g}")
    return ax


# Numbers in the complex plane -------------------------------------------------------------------------


def _in_plane(values: Any, ax: Axes | None, what: str, unit: str) -> Axes:
    """Complex numbers as points, with both axes through zero."""
    ax = axes_or_new(ax, 4.8, 4.2)
    ax.axhline(0.0, color=QUIET, linewidth=1.0, zorder=0)
    ax.axvline(0.0, color=QUIET, linewidth=1.0, zorder=0)
    ax.plot(np.real(values), np.imag(values), "x", color=COLORS[0], markersize=8, markeredgewidth=2)
    ax.set(xlabel=f"Re {what}{unit}", ylabel=f"Im {what}{unit}")
    ax.grid(True, color=QUIET, linewidth=0.6)
    return ax


@plot_of.register(Linearization)
def plot_eigenvalues(answer: Any, ax: Axes | None = None) -> Axes:
    """The eigenvalues; the motion decays if all are on the left."""
    return _in_plane(answer.eigenvalues, ax, "eigenvalue", " [1/s]")


@plot_of.register(Floquet)
def plot_floquet(answer: Floquet, ax: Axes | None = None) -> Axes:
    """The multipliers and the unit circle, inside which deviations decay."""
    ax = _in_plane(answer.multipliers, ax, "multiplier", "")
    turn = np.linspace(0.0, 2.0 * np.pi, 181)
    ax.plot(np.cos(turn), np.sin(turn), color=COLORS[1], linewidth=1.0)
    ax.set_aspect("equal")
    ax.set_title(answer.verdict)
    return ax


@plot_of.register(EquationValues)
def plot_equation_values(answer: EquationValues, ax: Axes | None = None) -> Axes:
    """Where the matrix of the equations of motion, [M Phi_q^T; Phi_q 0], has entries."""
    ax = axes_or_new(ax, 4.4, 4.4)
    n, m = answer.M.shape[0], answer.Phi_q.shape[0]
    matrix = np.block([[answer.M, answer.Phi_q.T], [answer.Phi_q, np.zeros((m, m))]])
    rows, columns = np.nonzero(matrix)
    ax.plot(columns, rows, "s", color=COLORS[0], markersize=max(1.0, min(8.0, 180.0 / (n + m))))
    for edge in (ax.axhline, ax.axvline):
        edge(n - 0.5, color=QUIET, linewidth=1.0)
    ax.set(xlim=(-0.5, n + m - 0.5), ylim=(n + m - 0.5, -0.5), aspect="equal", title="[M Phi_q^T; Phi_q 0]")
    return ax


# Over time, or over a parameter -----------------------------------------------------------------------


def _over(x: Floats, lines: dict[str, Floats], ax: Axes | None, across: str, up: str) -> Axes:
    ax = axes_or_new(ax)
    for i, (name, values) in enumerate(list(lines.items())[:MOST_LINES]):
        ax.plot(x, values, label=name, **line_style(i))
    tidy(ax)
    ax.set(xlabel=across, ylabel=up)
    if len(lines) > 1:
        place = (0.0, 1.0)
        ax.legend(frameon=False, ncols=4, loc="lower left", bbox_to_anchor=place, borderaxespad=0.2)
    return ax


@plot_of.register(Energy)
def plot_energy(answer: Energy, ax: Axes | None = None, units: UnitSystem | None = None) -> Axes:
    """In the units of the model, unless others are given."""
    joule = (units or answer.units).shown("J")
    lines = {name: joule.of(values) for name, values in answer._asdict().items()}
    return _over(answer.t, lines, ax, "t [s]", f"energy [{joule.name}]")


@plot_of.register(Reaction)
def plot_reaction(answer: Reaction, ax: Axes | None = None) -> Axes:
    """The force; its torque has a scale on the right."""
    size, most = np.hypot(answer.fx, answer.fy), float(np.abs(answer.torque).max(initial=0.0))
    largest = float(size.max(initial=0.0))
    force, torque = answer.units.shown("N"), answer.units.shown("N m")
    moment = torque.of(answer.torque)
    if largest <= 1e-9 * most:
        return _over(answer.t, {"torque": moment}, ax, "t [s]", f"{answer.title or 'torque'} [{torque.name}]")
    forces = {"fx": force.of(answer.fx), "fy": force.of(answer.fy), "|f|": force.of(size)}
    ax = _over(answer.t, forces, ax, "t [s]", f"{answer.title or 'force'} [{force.name}]")
    if most > 1e-9 * largest:
        right = ax.twinx()
        right.plot(answer.t, moment, **line_style(3))
        right.set_ylabel(f"torque [{torque.name}]", color=COLORS[3])
    return ax


@plot_of.register(StepHistory)
def plot_steps(answer: StepHistory, ax: Axes | None = None) -> Axes:
    """The size of each step; refused ones are crosses."""
    ax, taken = axes_or_new(ax, 7.2, 4.0), answer.taken
    ax.step(
        answer.t[taken], answer.size[taken], where="post", color=COLORS[0], linewidth=WIDTH, label="taken"
    )
    if not taken.all():
        ax.plot(answer.t[~taken], answer.size[~taken], "x", color=COLORS[1], label="refused")
        ax.legend()
    ax.set(xlabel="t [s]", ylabel="size of the step [s]", yscale="log")
    ax.grid(True, color=QUIET, linewidth=0.6)
    return ax


@plot_of.register(Solution)
def plot_solution(answer: Solution, ax: Axes | None = None) -> Axes:
    """Every component; events are rings on them."""
    ax = _over(answer.t, {f"y[{i}]": row for i, row in enumerate(answer.y)}, ax, "t", "y")
    for times, states in zip(answer.t_events or (), answer.y_events or (), strict=True):
        for i, values in enumerate(np.asarray(states).reshape(times.size, len(answer.y)).T[:MOST_LINES]):
            ax.plot(times, values, "o", color=COLORS[i % len(COLORS)], markerfacecolor="none")
    return ax


@plot_of.register(SecondOrderSolution)
def plot_second_order_solution(answer: SecondOrderSolution, ax: Axes | None = None) -> Axes:
    return _over(answer.t, {f"q[{i}]": row for i, row in enumerate(answer.q)}, ax, "t", "q")


def plot_channels(
    motion: SymbolicMotion | CoordinateMotion, channels: Sequence[str], ax: Axes | None = None
) -> Axes:
    """Channels over time."""
    lines = {name: motion[name] for name in channels}
    return _over(motion.t, lines, ax, "t [s]", "" if len(lines) > 1 else next(iter(lines)))


def plot_equilibrium_path(path: EquilibriumPath, channel: str | None, ax: Axes | None = None) -> Axes:
    """A channel over the parameter: lines where it is stable, dots where it is not, folds as rings."""
    channel = channel or _most_changed(path)
    ax = axes_or_new(ax)
    values, parameter, stable = path[channel], path.values, path.stable
    ax.plot(parameter, values, ":", color=COLORS[1], linewidth=WIDTH, label="not stable")
    ax.plot(parameter, np.where(stable, values, np.nan), color=COLORS[0], linewidth=WIDTH, label="stable")
    for value, fold in path.folds:
        (ring,) = ax.plot(value, fold[channel][0], "o", color=COLORS[3], markersize=8, clip_on=False)
        ring.set(markerfacecolor="none", label="fold" if value == path.folds[0][0] else "")
    tidy(ax)
    ax.set(xlabel=path.parameter, ylabel=channel)
    ax.legend(frameon=False)
    return ax


def _most_changed(path: EquilibriumPath) -> str:
    """The coordinate that changes most."""
    results = path.points[0].results
    q = np.array([point.q[0] for point in path.points])
    scale = np.tile([1.0, 1.0, results.system.length], len(results.bodies))
    return results.system.coordinate_names[int((np.ptp(q, axis=0) * scale).argmax())]


@plot_of.register(Table)
def plot_table(answer: Table, ax: Axes | None = None) -> Axes:
    """The curve through the points."""
    x = np.linspace(answer.times[0], answer.times[-1], SAMPLES)
    ax = _over(x, {"": np.array([answer.jet(s)[0] for s in x.tolist()])}, ax, answer.variable, "value")
    if len(answer.times) <= MOST_DOTS:
        ax.plot(answer.times, answer.values, "o", color=COLORS[0], markersize=4)
    return ax


# Curves -----------------------------------------------------------------------------------------------


@plot_of.register(Curve)
def plot_curve(answer: Curve, ax: Axes | None = None) -> Axes:
    ax = axes_or_new(ax, 4.8, 4.4)
    points = np.array([answer(s) for s in np.linspace(*answer.range, SAMPLES).tolist()])
    ax.plot(*points.T, color=COLORS[0], linewidth=WIDTH)
    tidy(ax)
    ax.set(xlabel="x", ylabel="y", aspect="equal")  # in the unit that its numbers were written in
    ax.margins(0.05)
    return ax


@plot_of.register(CamProfile)
def plot_cam_profile(answer: CamProfile, ax: Axes | None = None) -> Axes:
    """The profile about the cam's center, and the base circle."""
    ax = plot_curve(answer.curve, ax)
    turn, radius = np.linspace(0.0, 2.0 * np.pi, 181), answer.design.base_radius
    x, y = radius * np.cos(turn), radius * np.sin(turn)
    ax.plot(x, y, "--", color=COLORS[1], linewidth=1.0, label="base circle")
    ax.plot(0.0, 0.0, "+", color=COLORS[1])
    ax.legend(frameon=False, fontsize=9, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    ax.set_title(f"{answer.design.follower} follower, lift {np.ptp(answer.lift):.4g}")
    return ax
