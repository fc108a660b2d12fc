"""Feed forward: the mechanism without its drivers, moved by the efforts that inverse dynamics computed for them."""

from __future__ import annotations

from ...errors import UnsupportedError
from ...expressions.table import Table
from ...model.forces.spring import Spring
from ...model.model import Model
from ...results.results import Results
from ..assembly.redrawn import measure_as_written, with_initial_pose
from .actuators import movers


def feed_forward(results: Results) -> Model:
    """A model for `dynamics(model, t_eval=results.t)`: it starts as the results do, with efforts in place of drivers.

    Each driver becomes a Spring of the same name, whose actuator is a cubic spline through the efforts at the outputs.
    So the motion is the same, to the accuracy of the spline, unless it is unstable.
    """
    if results.lam is None or results.t.size < 2:
        raise UnsupportedError("feed_forward needs the results of inverse_dynamics at two times at least.")
    model = with_initial_pose(results.model, results.q[0], results.qd[0])
    times = tuple(results.t.tolist())
    for name in movers(results.system):
        rows = [i for i, (owner, _) in enumerate(results.system.rows) if owner == name]
        del model.elements[name]
        for i in rows:
            row = results.system.rows[i][1]
            if row.formula is not None:
                raise UnsupportedError(
                    f"{results.model.elements[name].title} moves by the formula '{row.formula.text}', which no Spring "
                    "can replace. Drive a measure with a Driver instead."
                )
            title = name if len(rows) == 1 else f"{name} {row.label}"
            table = Table(times, tuple(results.lam[:, i].tolist()))
            model.add(Spring(title, measure_as_written(row.measure), actuator=table))
    model.analysis = {}
    return model
