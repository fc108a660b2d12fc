"""Scene: a model and its motion as marks, labels, arrows and traces. Data only; `figure` and `html` show it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from ..analyses.assembly.assemble import assemble
from ..errors import ModelError, SimEngineError, UnsupportedError
from ..expressions.unit_system import SI, UnitSystem
from ..model.frame import GROUND, as_frame
from ..model.model import Model
from ..model.si_values import units_of
from ..numerics.arrays import Floats
from ..results.results import Results
from ..system.system import System
from . import driving, sliding, turning  # noqa: F401  (they register their symbols)
from .forces import arrows, on_request
from .label_places import LabelPlace, places, usual_sizes
from .labels import labels
from .layout import CarrierMotion, Layout, spot_of
from .marks import Arrow, Bounds, Label, Layer, Mark, OnRequest, Outline, Spot, Stretched, Trace
from .outlines import center_of_mass, circle
from .shapes import body_marks
from .style import body_ink, every_body
from .symbols import symbol

MARGIN = 2.5  # around everything that moves, in symbol sizes
# lengths of arrows, as parts of the diagonal: of a force that is exceeded a tenth of the time, and of the largest
LONG_ARROW, PEAK_ARROW = 0.22, 0.5
SMALLEST_ARC = 0.08  # radians
ARC, RING = (
    3.2,
    1.1,
)  # radius of the arc of a torque, and of the next one about the same place, in symbol sizes
FONT, USUAL_INCHES = 9.0, 5.0  # points of letters; side of a figure as wide as high
SAMPLES = 400  # times at which the bounds are looked for


@dataclass
class Scene:
    """What to draw: `marks` in the order of painting, all fixed in the carriers of `motion`."""

    title: str
    motion: CarrierMotion
    size: float
    """Of symbols, in meters."""
    marks: list[Mark]
    centers: list[Outline]
    """Mass centers and axes of the bodies, which are shown on request."""
    labels: list[Label]
    arrows: list[Arrow]
    on_request: OnRequest
    """Weights, velocities and accelerations, by kind."""
    traces: list[Trace]
    inks: dict[str, str]
    """Of each body."""
    notes: list[str] = field(default_factory=list)
    units: UnitSystem = SI
    """In which sizes of arrows are explained."""

    @cached_property
    def bounds(self) -> Bounds:
        """Smallest x and y, largest x and y over the whole motion."""
        return self.bounds_at(slice(None, None, max(1, self.motion.t.size // SAMPLES)))

    def bounds_at(self, times: slice) -> Bounds:
        """The same over some times."""
        low, high = np.full(2, np.inf), np.full(2, -np.inf)
        for carrier, corners in _corners(self.marks).items():
            for x, y in corners:
                places = self.motion.place(Spot(carrier, x, y))[times]
                low, high = np.minimum(low, places.min(axis=0)), np.maximum(high, places.max(axis=0))
        if not np.all(np.isfinite(low)):
            low, high = np.zeros(2), np.zeros(2)
        x0, y0, x1, y1 = *(low - MARGIN * self.size), *(high + MARGIN * self.size)
        return float(x0), float(y0), float(x1), float(y1)

    @cached_property
    def bounds_with_forces(self) -> Bounds:
        """The bounds over the whole motion with space for the tips of arrows, but for short peaks."""
        boxes = [self.bounds]
        for arrow in self.arrows:
            reach = LONG_ARROW * self.diagonal / np.maximum(np.hypot(arrow.fx, arrow.fy), 1e-300)
            scale = np.minimum(self.force_scale, reach)[:, None]
            at = self.motion.place(arrow.spot)
            tips = at + scale * np.column_stack([arrow.fx, arrow.fy])
            boxes.append((*(tips.min(axis=0) - self.size), *(tips.max(axis=0) + self.size)))
            if np.abs(arrow.torque).max(initial=0.0) * self.torque_scale > SMALLEST_ARC:
                r = self.arc_radius(arrow) + self.size
                boxes.append((*(at.min(axis=0) - r), *(at.max(axis=0) + r)))
        return _around(boxes)

    def bounds_of_picture(self, i: int) -> Bounds:
        """Those of the pose at the i-th time, of its labels and of whole traces."""
        paths = [self.motion.path(trace.spot) for trace in self.traces]
        pose = self.bounds_at(slice(i, i + 1))
        boxes = [(*path.min(axis=0), *path.max(axis=0)) for path in paths]
        boxes += [place.box for place in self.usual_places(i, _around([pose, *boxes]))]
        half = 0.5 * self.size * np.array([-1.0, -1.0, 1.0, 1.0])
        return _around([pose, *(np.array(box) + half for box in boxes)])

    def usual_places(self, i: int, bounds: Bounds) -> list[LabelPlace]:
        """Places of the labels on a figure of the usual size that shows these bounds."""
        x0, y0, x1, y1 = bounds
        font = FONT / 72 * ((x1 - x0) * (y1 - y0)) ** 0.5 / USUAL_INCHES
        return places(self.labels, self.motion, i, self.size, usual_sizes(self.labels, font))

    @cached_property
    def diagonal(self) -> float:
        x0, y0, x1, y1 = self.bounds
        return float(np.hypot(x1 - x0, y1 - y0))

    @cached_property
    def force_scale(self) -> float:
        """Meters per newton: large forces make long arrows, and a short peak one that is cut at the edge."""
        arrows = self.arrows or self.requested(["weight"])
        if not arrows:
            return 0.0
        largest = np.max([np.hypot(arrow.fx, arrow.fy) for arrow in arrows], axis=0)  # at each time
        usual, peak = float(np.quantile(largest, 0.9)), float(largest.max())
        lengths = [
            length / force for length, force in ((LONG_ARROW, usual), (PEAK_ARROW, peak)) if force > 0.0
        ]
        return min(lengths, default=0.0) * self.diagonal

    def requested(self, kinds: Sequence[str]) -> list[Arrow]:
        """The arrows of these kinds that are shown on request."""
        return [arrow for kind in kinds for arrow in self.on_request(kind)]

    def scale_of(self, kind: str) -> float:
        """Meters per newton, per m/s or per m/s² of a kind of arrow."""
        if kind not in ("velocity", "acceleration"):
            return self.force_scale
        sizes = [np.hypot(arrow.fx, arrow.fy).max(initial=0.0) for arrow in self.requested([kind])]
        largest = float(max(sizes, default=0.0))
        return LONG_ARROW * self.diagonal / largest if largest > 0.0 else 0.0

    @cached_property
    def torque_scale(self) -> float:
        """Radians of an arc per newton meter, so that the largest torque makes three quarters of a turn."""
        largest = max((float(np.abs(a.torque).max(initial=0.0)) for a in self.arrows), default=0.0)
        rounding = 1e-9 * self.diagonal**2 / self.force_scale if self.force_scale else 0.0
        return 1.5 * np.pi / largest if largest > rounding else 0.0

    def arc_radius(self, arrow: Arrow) -> float:
        return (ARC + RING * arrow.ring) * self.size


def scene_of(results: Results, trace: Sequence[str] = (), units: UnitSystem | None = None) -> Scene:
    """The scene of a motion; `trace` names points such as "rod.B". Its units are those of the model, or others."""
    if results.columns_only:
        raise UnsupportedError(
            "these results come from a CSV file, which holds no model to draw; save them as .npz or .parquet."
        )
    if results.t.size == 0:
        raise UnsupportedError(
            f"the results of '{results.model.name}' hold no times; there is nothing to draw."
        )
    layout = Layout(results.resolved, CarrierMotion.of(results))
    scene = _scene(layout, results, [_trace(point, layout) for point in trace])
    return replace(scene, units=units or units_of(results.model))


def scene_of_model(model: Model) -> Scene:
    """The scene of a model in its assembled pose; as it was drawn, where it does not close."""
    pose = pose_of_model(model)
    scene = scene_of(pose)
    scene.notes.extend(pose.notes)
    return scene


def pose_of_model(model: Model) -> Results:
    """A model at rest, as results with one time."""
    system = System(model)
    status, notes, q = "assembled", [], system.drawn_q.copy()
    try:
        q = assemble(system).q
    except SimEngineError:
        status, notes = "as drawn", ["the mechanism does not close"]
    zero = np.zeros((1, q.size))
    return Results(system, np.zeros(1), q[None], zero, zero, status=status, notes=notes)


def _scene(layout: Layout, results: Results, traces: list[Trace]) -> Scene:
    model, inks = layout.resolved.model, layout.inks
    centers = [mark for name in model.bodies for mark in _center(name, layout.size)]
    marks, spots = _element_marks(layout)
    for trace in traces:  # a point whose path is shown belongs to its body
        spots.setdefault(trace.spot.carrier, []).append(trace.spot)
    for body in every_body(model):
        marks += body_marks(body, spots.get(body.name, ()), layout)
    marks = [m._replace(ink=inks[m.ink[3:]]) if m.ink.startswith("of ") else m for m in marks]
    marks.sort(key=lambda mark: (mark.layer, -_reach(mark)))  # of links, the short ones in front
    words = list(labels(layout, spots))
    more = on_request(results, layout, {trace.name: trace.spot for trace in traces})
    forces = arrows(results, layout)
    return Scene(model.name, layout.motion, layout.size, marks, centers, words, forces, more, traces, inks)


def _center(body: str, size: float) -> Iterator[Outline]:
    """The sign of a mass center on the axes of its body."""
    axes = [np.array([(0, 0), (3 * size, 0)]), np.array([(0, 0), (0, 3 * size)])]
    yield Outline(body, axes, "drive", Layer.CENTER, body, area=False)
    yield Outline(body, [circle((0, 0), 0.55 * size, 32)], "pin", Layer.CENTER, body)
    yield Outline(body, [center_of_mass(0.55 * size)], "text", Layer.CENTER, body)


def _element_marks(layout: Layout) -> tuple[list[Mark], dict[str, list[Spot]]]:
    """The symbols of all joints and forces, and the spots that each body must reach."""
    marks: list[Mark] = []
    spots: dict[str, list[Spot]] = {}
    for element in layout.resolved.elements.values():
        for part in symbol(element, layout):
            if isinstance(part, Spot):
                spots.setdefault(part.carrier, []).append(part)
            else:
                marks.append(part)
    return marks, spots


# Traces ------------------------------------------------------------------------------------


def _trace(point: str, layout: Layout) -> Trace:
    try:
        frame = layout.resolved.frame(as_frame(point))
    except ModelError as error:
        raise ModelError(f"trace '{point}': {error}") from None
    number = list(layout.resolved.model.bodies).index(frame.body) if frame.body != GROUND else 0
    return Trace(spot_of(frame), point, body_ink(number))


# Bounds -----------------------------------------------------------------------------------------------


def _corners(marks: Sequence[Mark]) -> dict[str, list[Floats]]:
    """The corners of what is fixed in each carrier."""
    by_carrier: dict[str, list[Floats]] = {}
    for mark in marks:
        if isinstance(mark, Stretched):
            for spot in (mark.a, mark.b):
                by_carrier.setdefault(spot.carrier, []).append(np.array([(spot.x, spot.y)]))
        else:
            by_carrier.setdefault(mark.carrier, []).extend(np.asarray(path) for path in mark.paths)
    return {carrier: _extremes(np.vstack(paths)) for carrier, paths in by_carrier.items()}


def _extremes(points: Floats) -> list[Floats]:
    """Of the points of a carrier, those furthest out in eight directions."""
    directions = np.array([(np.cos(a), np.sin(a)) for a in np.arange(8) * np.pi / 4])
    return [points[i] for i in sorted(set((points @ directions.T).argmax(axis=0).tolist()))]


def _reach(mark: Mark) -> float:
    """How large a mark is."""
    return float(np.ptp(np.vstack(mark.paths), axis=0).max()) if isinstance(mark, Outline) else 0.0


def _around(some: Sequence[Bounds | Floats]) -> Bounds:
    """The box around boxes."""
    boxes = np.array(some)
    (x0, y0), (x1, y1) = boxes.min(axis=0)[:2], boxes.max(axis=0)[2:]
    return float(x0), float(y0), float(x1), float(y1)


# Results at other times -------------------------------------------------------------------------------


def resampled(results: Results, times: Floats) -> Results:
    """The results at other times: poses as cubics, accelerations and multipliers as straight lines between outputs."""
    if results.t.size < 2 or np.array_equal(times, results.t):
        return results
    from scipy.interpolate import CubicHermiteSpline, interp1d

    new = np.diff(results.t, prepend=-np.inf) > 0.0  # a repeated time counts once
    t, within = results.t[new], np.clip(times, results.t[0], results.t[-1])
    motion = CubicHermiteSpline(t, results.q[new], results.qd[new])
    straight = lambda values: interp1d(t, values[new], axis=0)(within)
    lam = None if results.lam is None else straight(results.lam)
    return replace(
        results, t=times, q=motion(within), qd=motion(within, 1), qdd=straight(results.qdd), lam=lam
    )


def nearest_row(results: Results, t: float) -> int:
    """The output nearest to a time."""
    return int(np.abs(results.t - t).argmin())
