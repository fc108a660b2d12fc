"""Pictures of what designers ask of a linkage. Each takes and returns its axes, and shows nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..analyses.linkage.free_motion import measure_of, unit_of_measure
from ..expressions.unit_system import ShownUnit
from ..model.measure import Measure
from ..model.model import Model
from ..model.si_values import units_of
from ..numerics.arrays import Floats
from .figure import axes_or_new
from .plots import COLORS, QUIET, line_style, tidy
from .style import ink_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ..analyses.linkage.circuits import Circuits
    from ..analyses.linkage.flywheel import Flywheel
    from ..analyses.linkage.grashof import GrashofClass
    from ..analyses.linkage.mechanical_advantage import MechanicalAdvantage
    from ..analyses.linkage.motor import MotorSizing
    from ..analyses.linkage.shaking import Shaking
    from ..analyses.linkage.transmission import TransmissionAngle

RECOMMENDED = 40.0  # degrees: the transmission angle that textbooks ask for
HIGHEST = 20.0  # times the median, beyond which a mechanical advantage is cut off
GRAY = "#606060"
DEGREE = ShownUnit("°", np.pi / 180.0)
RED = ink_of("reaction").edge


def plot_circuits(circuits: Circuits, output: Measure | str, ax: Axes | None) -> Axes:
    """Output against input; circles are dead points of the input, squares toggle positions of the output."""
    ax = axes_or_new(ax)
    model = circuits.model
    name = output if isinstance(output, str) else output.text
    units = [
        _unit_on_axis(model, unit)
        for unit in (circuits.unit, unit_of_measure(model, measure_of(model, output)))
    ]
    found: dict[str, str] = {}
    for i, circuit in enumerate(circuits):
        x, y = units[0].of(circuit.input), units[1].of(circuit.output(output))
        ax.plot(x, y, label=f"circuit {i}", **line_style(i))
        color = COLORS[i % len(COLORS)]
        values = _values(circuits, output, [place.q for place in circuit.dead_points])
        ax.plot(units[0].of(np.array([p.input for p in circuit.dead_points])), units[1].of(values),
                "o", color=color, markersize=6)  # fmt: skip
        found |= {"dead point": "o"} if circuit.dead_points else {}
        toggles = circuit.toggles(output)
        found |= {"toggle position": "s"} if toggles else {}
        ax.plot(units[0].of(np.array([p.input for p in toggles])),
                units[1].of(np.array([p.output for p in toggles], dtype=float)),
                "s", color=color, markerfacecolor="white", markersize=6)  # fmt: skip
    tidy(ax)
    ax.margins(0.04)
    for (
        label,
        marker,
    ) in found.items():  # what the marks are, in gray since they have the colors of their circuits
        ax.plot([], [], marker, color=GRAY, label=label, markerfacecolor="white" if marker == "s" else GRAY)
    ax.set(xlabel=_axis(circuits.driver, units[0]), ylabel=_axis(name, units[1]))
    ax.legend(frameon=False, ncols=4, loc="lower left", bbox_to_anchor=(0.0, 1.0), borderaxespad=0.2)
    return ax


def plot_grashof(kind: GrashofClass, ax: Axes | None) -> Axes:
    """Two bars: s + l and p + q; of a slider-crank, s + |e| and the longer link."""
    ax = axes_or_new(ax, 6.4, 2.2)
    unit = kind.units.shown("m")
    lengths = sorted((float(unit.of(abs(length))), name) for name, length in kind.lengths.named())
    four = len(lengths) == 4
    offset = [part for part in lengths if part[1] == "offset"]
    links = [part for part in lengths if part[1] != "offset"]
    bars = [[links[0], links[3]], [links[1], links[2]]] if four else [[links[0], *offset], [links[1]]]
    for row, parts in enumerate(bars):
        left = 0.0
        for i, (length, name) in enumerate(parts):
            ax.barh(-row, length, left=left, height=0.6, color=COLORS[2 * row + i], alpha=0.55)
            ax.text(left + 0.5 * length, -row, name, ha="center", va="center")
            left += length
    ax.set_yticks([0, -1], ["s + l", "p + q"] if four else ["s + |e|", "l"])
    ax.set(xlabel=f"length [{unit.name}]", title=f"{kind.sums}: class {kind.kind}, {kind.type}")
    return ax


def _values(circuits: Circuits, output: Measure | str, poses: list[Floats]) -> Floats:
    from ..analyses.inverse.gradients import Gradients

    gradients = Gradients(circuits.model, [measure_of(circuits.model, output)])
    return np.array([gradients.values(q)[0] for q in poses])


def _unit_on_axis(model: Model, unit: str) -> ShownUnit:
    """Degrees for angles, whatever the model has them in; else the model's unit."""
    return DEGREE if unit == "rad" else units_of(model).shown(unit)


def _axis(name: str, unit: ShownUnit) -> str:
    return f"{name} [{unit.name}]" if unit.name else name


def plot_transmission(transmission: TransmissionAngle, ax: Axes | None) -> Axes:
    """The angle in degrees over time, its least value, and what textbooks ask for."""
    ax = axes_or_new(ax)
    angle = np.degrees(transmission.angle)
    ax.plot(transmission.t, angle, **line_style(0))
    ax.axhline(RECOMMENDED, color=GRAY, linewidth=0.8, linestyle="--")
    ax.annotate(f"{RECOMMENDED:.0f}°", (transmission.t[0], RECOMMENDED), (4, 2), textcoords="offset points", color=GRAY,
                fontsize=9)  # fmt: skip
    k = int(np.nanargmin(angle))
    ax.plot(transmission.t[k], angle[k], "o", color=RED, markersize=5)
    ax.annotate(
        f"{angle[k]:.1f}°", (transmission.t[k], angle[k]), (0, 7), textcoords="offset points", ha="center"
    )
    tidy(ax)
    ax.set(ylim=(0.0, 92.0), ylabel=f"transmission angle of {transmission.body} at {transmission.joint} [°]")
    return ax


def plot_advantage(advantage: MechanicalAdvantage, ax: Axes | None) -> Axes:
    """The size of the ratio over time, cut off where it grows beyond bounds."""
    ax = axes_or_new(ax)
    unit = advantage.shown_unit
    size = unit.of(np.abs(advantage.ratio))
    finite = size[np.isfinite(size)]
    top = HIGHEST * float(np.median(finite)) if finite.size else 1.0
    ax.plot(advantage.t, np.minimum(size, 10.0 * top), **line_style(0))
    tidy(ax)
    high = min(top, 1.1 * float(finite.max(initial=0.0))) if np.all(np.isfinite(size)) else top
    ax.set(ylim=(0.0, high or 1.0), ylabel=_axis(f"{advantage.output} by {advantage.input}", unit))
    return ax


def plot_shaking(shaking: Shaking, ax: Axes | None) -> Axes:
    """Components and size of the force over time, the moment on a scale on the right."""
    ax = axes_or_new(ax)
    force, moment, length = map(shaking.units.shown, ("N", "N m", "m"))
    for i, (name, values) in enumerate((("fx", shaking.fx), ("fy", shaking.fy), ("|f|", shaking.force))):
        ax.plot(shaking.t, force.of(values), label=name, **line_style(i))
    right = ax.twinx()
    right.plot(shaking.t, moment.of(shaking.moment), label="moment", **line_style(3))
    ax.set_ylabel(f"shaking force [{force.name}]")
    point = ", ".join(f"{length.of(part):g}" for part in shaking.about)
    right.set_ylabel(f"shaking moment about ({point}) [{moment.name}]")
    tidy(ax, right=True)
    lines = [*ax.get_lines(), *right.get_lines()]
    right.legend(lines, [str(line.get_label()) for line in lines], frameon=False, ncols=4, loc="lower left",
                 bbox_to_anchor=(0.0, 1.0), borderaxespad=0.2)  # fmt: skip
    return ax


def plot_shaking_polar(several: dict[str, Shaking], ax: Axes | None) -> Axes:
    """The tips of shaking forces over the motion."""
    ax = axes_or_new(ax, 5.2, 5.0)
    (units,) = {shaking.units for shaking in several.values()}
    force = units.shown("N")
    for i, (name, shaking) in enumerate(several.items()):
        ax.plot(force.of(shaking.fx), force.of(shaking.fy), label=name, **line_style(i))
    ax.plot(0.0, 0.0, "+", color=GRAY, markersize=9)
    ax.grid(True, color=QUIET, linewidth=0.6)
    ax.set(xlabel=f"fx [{force.name}]", ylabel=f"fy [{force.name}]")
    ax.set_aspect("equal", adjustable="datalim")
    ax.legend(frameon=False, loc="lower left", bbox_to_anchor=(0.0, 1.0), borderaxespad=0.2)
    return ax


def plot_flywheel(flywheel: Flywheel, ax: Axes | None) -> Axes:
    """Torque over the angle about its mean; the energy taken up is shaded, its extremes are marked."""
    ax = axes_or_new(ax)
    angle = np.degrees(flywheel.angle)
    rounding = abs(flywheel.mean_torque) < 1e-9 * np.abs(flywheel.torque).max()
    newton_meter, joule = flywheel.units.shown("N m"), flywheel.units.shown("J")
    mean_torque = newton_meter.text(0.0 if rounding else flywheel.mean_torque)
    torque = newton_meter.of(flywheel.torque)
    mean = np.full_like(torque, newton_meter.of(flywheel.mean_torque))
    ax.plot(angle, torque, label="torque", **line_style(0))
    ax.axhline(mean[0], color=GRAY, linewidth=1.0, label=f"mean {mean_torque}")
    for sign, color in ((1.0, COLORS[2]), (-1.0, COLORS[1])):
        above = sign * (torque - mean) >= 0.0
        ax.fill_between(angle, torque, mean, where=above.tolist(), interpolate=True, color=color, alpha=0.25)
    right = ax.twinx()
    swing = joule.text(flywheel.energy_swing)
    right.plot(angle, joule.of(flywheel.energy), label=f"energy, swing {swing}", **line_style(3))
    for place in (flywheel.lowest, flywheel.highest):
        right.plot(np.degrees(place[0]), joule.of(place[1]), "o", color=RED, markersize=5)
    tidy(ax, right=True)
    right.set_ylabel(f"energy taken up [{joule.name}]")
    ax.set(xlabel="angle [°]", ylabel=f"torque [{newton_meter.name}]")
    lines = [*ax.get_lines(), *right.get_lines()[:1]]
    right.legend(lines, [str(line.get_label()) for line in lines], frameon=False, ncols=3, loc="lower left",
                 bbox_to_anchor=(0.0, 1.0), borderaxespad=0.2)  # fmt: skip
    return ax


def plot_motor(sizing: MotorSizing, ax: Axes | None) -> Axes:
    """Torque against speed at the motor: the run as a line, its rms as a star, the motor's ranges shaded."""
    ax = axes_or_new(ax)
    motor, (torque_unit, speed_unit, _) = sizing.motor, sizing.shown_units
    top = max(motor.peak[-1][0], sizing.top_speed)
    speed = np.linspace(-top, top, 801)
    for name, curve, alpha in (
        ("peak", motor.peak_torque, 0.12),
        ("continuous", motor.continuous_torque, 0.3),
    ):
        torque = torque_unit.of(curve(speed))
        ax.fill_between(
            speed_unit.of(speed), -torque, torque, color=COLORS[2], alpha=alpha, linewidth=0.0, label=name
        )
    ax.plot(speed_unit.of(sizing.speed), torque_unit.of(sizing.torque), label="needed", **line_style(0))
    ax.plot(
        speed_unit.of(sizing.mean_speed),
        torque_unit.of(sizing.rms_torque),
        "*",
        color=RED,
        markersize=11,
        linestyle="",
        label="rms",
    )
    ax.axhline(0.0, color=GRAY, linewidth=0.6)
    ax.axvline(0.0, color=GRAY, linewidth=0.6)
    tidy(ax)
    if np.all(sizing.speed >= 0.0):
        ax.set_xlim(left=0.0)
    effort = "force" if sizing.is_linear else "torque"
    ax.set(xlabel=f"speed of {motor.name} [{speed_unit.name}]", ylabel=f"{effort} [{torque_unit.name}]")
    ax.legend(frameon=False, ncols=4, loc="lower left", bbox_to_anchor=(0.0, 1.0), borderaxespad=0.2)
    return ax
