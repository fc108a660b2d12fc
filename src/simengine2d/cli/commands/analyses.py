"""Analyses beside motion: the forces of a motion, equilibria, vibrations."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from ...analyses.catalog import EquilibriumMethod
from ...methods import CoordinatesName
from .. import completion
from ..terminal import answer, show, table
from . import app as shared
from .app import command, positive
from .models import read_model
from .motion import check_spacing, perform
from .wanted import NOTHING, PictureOption, Wanted, check_picture, write_picture, writes_results

if TYPE_CHECKING:
    from ...analyses.linear.modes import Modes
    from ...analyses.statics.equilibrium import Equilibria

LastOption = Annotated[
    float | None, typer.Option("--t-end", callback=positive, metavar="T", help="Last time, s.")
]
MotionOption = Annotated[
    Path | None,
    typer.Option(
        "--motion",
        metavar="FILE.csv",
        help="A measured motion: column t, and columns named after drivers or channels such as crank.phi.",
    ),
]
NoiseOption = Annotated[
    float | None,
    typer.Option(
        "--noise", min=0.0, metavar="S", help="Standard deviation of the measurement, to smooth it."
    ),
]
ActuatorOption = Annotated[
    list[str] | None,
    typer.Option(
        "--actuator",
        metavar="NAME[=MEASURE]",
        help="Who makes the motion: a driver, or NAME=MEASURE such as 'motor=angle(ground, crank)'; may be repeated.",
    ),
]
MethodOption = Annotated[
    str,
    typer.Option(
        "--method",
        metavar="NAME",
        help="newton, relaxation or energy.",
        autocompletion=completion.equilibrium_methods,
    ),
]
AllOption = Annotated[bool, typer.Option("--all", help="Look for all equilibria up to a turn away.")]
StartOption = Annotated[
    list[str] | None,
    typer.Option(
        "--start", metavar="CHANNEL=VALUE", help="Where to start, such as bar.phi=2.1; may be repeated."
    ),
]
ModeOption = Annotated[int, typer.Option("--mode", min=0, metavar="N", help="The mode that is shown.")]
DrawnOption = Annotated[
    bool, typer.Option("--drawn", help="About the drawn pose, even if it is not an equilibrium.")
]
TimeOption = Annotated[
    float, typer.Option("--time", metavar="T", help="What changes with time is held as at T.")
]


@command()
@writes_results
def inverse(
    model: shared.ModelArgument,
    t_end: LastOption = None,
    step: shared.StepOption = None,
    points: shared.PointsOption = None,
    motion: MotionOption = None,
    noise: NoiseOption = None,
    actuator: ActuatorOption = None,
    coordinates: shared.ChosenCoordinatesOption = None,
    wanted: Wanted = NOTHING,
    strict: shared.StrictOption = False,
) -> None:
    """Find the forces and torques that make a prescribed motion.

    The motion is that of the model's drivers up to T, or measured, from a CSV file.
    """
    from ...io.job import Job

    if t_end is None and motion is None:
        raise typer.BadParameter("give --t-end, for the motion of the drivers, or a measured --motion.")
    if noise is not None and motion is None:
        raise typer.BadParameter("--noise belongs to a measured motion; give it with --motion.")
    if t_end is None and (step is not None or points is not None):
        raise typer.BadParameter(
            "--step and --points need --t-end; without it the times of --motion are used."
        )
    if t_end is not None:
        check_spacing(t_end, step, points)
    outputs = wanted.checked(model)
    options = {
        "t_end": t_end,
        "step": step,
        "motion": motion,
        "noise": noise,
        "actuators": _actuators(actuator),
        "coordinates": coordinates,
    }
    perform(Job("inverse_dynamics", options, points), read_model(model), outputs)


def _actuators(given: list[str] | None) -> dict[str, str] | None:
    """By name; a driver needs no measure."""
    if not given:
        return None
    parts = [text.partition("=") for text in given]
    return {name.strip(): measure.strip() or name.strip() for name, _, measure in parts}


@command()
@writes_results
def equilibrium(
    model: shared.ModelArgument,
    method: MethodOption = "newton",
    all: AllOption = False,
    start: StartOption = None,
    coordinates: shared.ChosenCoordinatesOption = None,
    time: TimeOption = 0.0,
    picture: PictureOption = None,
    wanted: Wanted = NOTHING,
) -> None:
    """Find where a mechanism stays at rest, and if it is stable.

    --plot, --animate and --html show the way there from the drawn pose: the damped motion of relaxation, else the poses
    of the search, a second for each.
    """
    from ...analyses.statics.equilibrium import METHODS
    from ...analyses.statics.equilibrium import equilibrium as at_rest
    from .. import answers

    if method not in METHODS:
        raise typer.BadParameter(f"'{method}' is not a method; choose {', '.join(METHODS)}.")
    if all and method != "newton":
        raise typer.BadParameter("--all uses Newton's method; leave out --method.")
    outputs = wanted.checked(model)
    check_picture(picture)
    mechanism = read_model(model)
    outputs.check_channels(mechanism, forces=True)
    way = cast(EquilibriumMethod, method)
    equilibria = at_rest(
        mechanism, method=way, all=all, start=_values(start), t=time,
        coordinates=cast(CoordinatesName | None, coordinates),
    )  # fmt: skip
    show(
        f"{equilibria.results.model.name}: {equilibria.results.status}",
        *(f"note: {note}" for note in equilibria.results.notes),
    )
    for one in equilibria:
        _show_equilibrium(one)
    written = outputs.write(equilibria.results, equilibria.search) | write_picture(equilibria.plot, picture)
    answer(answers.of_equilibria(equilibria) | written)


def _values(given: list[str] | None) -> dict[str, float] | None:
    """`bar.phi=2.1` as {"bar.phi": 2.1}."""
    from ...errors import ModelError
    from ...expressions.evaluate import number

    values = {}
    for text in given or ():
        channel, sign, value = text.rpartition("=")
        if not sign:
            raise typer.BadParameter(f"--start {text}: write CHANNEL=VALUE, such as bar.phi=2.1.")
        try:
            values[channel.strip()] = number(value)
        except ModelError as error:
            raise typer.BadParameter(f"--start {text}: {error}") from None
    return values or None


def _show_equilibrium(equilibrium: Equilibria) -> None:
    """Its stability, the poses, and the forces in the joints."""
    import numpy as np

    from ...expressions.unit_system import FORCE, TORQUE
    from ..summary import clean, pose_scale, short, view_of

    results = equilibrium.results
    view = view_of(results)
    scale, names = pose_scale(view.units)
    poses = clean(results.q[0].reshape(-1, 3)) / scale
    rows = [[name, *map(short, pose)] for name, pose in zip(results.bodies, poses, strict=True)]
    show("", str(equilibrium.stability[0]), "", table("body", names, rows))
    forces = {name: np.array(view.reaction(name))[:, 0] for name in results.resolved.rows}
    size = max((float(np.abs(parts).max()) for parts in forces.values()), default=0.0)
    rows = [[name, *map(short, np.where(np.abs(p) > 1e-12 * size, p, 0.0))] for name, p in forces.items()]
    if rows:
        columns = [
            f"{part}\n{view.units.name(of)}"
            for part, of in (("fx", FORCE), ("fy", FORCE), ("torque", TORQUE))
        ]
        show("", table("joint", columns, rows))


@command()
@writes_results
def modes(
    model: shared.ModelArgument,
    drawn: DrawnOption = False,
    time: TimeOption = 0.0,
    mode: ModeOption = 0,
    picture: PictureOption = None,
    wanted: Wanted = NOTHING,
) -> None:
    """Natural frequencies and damping of small vibrations.

    They are those about the equilibrium nearest to the drawn pose. --out, --plot, --animate and --html show the
    mechanism while it swings in one of them, --mode.
    """
    from ...analyses.assembly.assemble import assemble
    from ...analyses.linear.modes import modes as vibrations
    from .. import answers

    outputs = wanted.checked(model)
    check_picture(picture)
    mechanism = read_model(model)
    outputs.check_channels(mechanism, forces=False)
    vibration = vibrations(mechanism, at=assemble(mechanism, time).q if drawn else None, t=time)
    show(
        f"{mechanism.name}: modes about {'the drawn pose' if drawn else 'the equilibrium'}",
        *vibration.notes,
        "",
    )
    columns = ["frequency\nHz", "rad/s", "damping\nratio", "moves most"]
    show(table("mode", columns, _mode_rows(vibration), words=columns[-1:]))
    written = outputs.write(vibration.motion(mode)) if outputs.any else {}
    answer(
        answers.of_modes(vibration)
        | written
        | write_picture(lambda ax: vibration.plot(ax, mode=mode), picture)
    )


def _mode_rows(vibration: Modes) -> list[list[str]]:
    from ..summary import short

    numbers = zip(vibration.frequency, vibration.omega, vibration.damping, strict=True)
    return [[str(i), *map(short, values), vibration.movers(i)] for i, values in enumerate(numbers)]
