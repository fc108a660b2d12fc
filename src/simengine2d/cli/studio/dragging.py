"""A mechanism in the hand: a body of it is pulled by a spring to the mouse, as forward dynamics.

    F = k (mouse - r_P) - c v_P

with critical damping of the mass that is felt at the point, a bound on the force, and a light damping alpha M qd of
everything, so that the mechanism comes to rest when it is let go. Drivers are released, so that it can be pulled.
"""

from __future__ import annotations

import time
from math import hypot, sqrt
from typing import Any

import numpy as np

from ...analyses.assembly.assemble import assemble
from ...analyses.assembly.redrawn import with_initial_pose
from ...analyses.dynamics.simulator import Simulator
from ...analyses.kinematics.kinematics import kinematics
from ...errors import ModelError, SimEngineError, unknown
from ...model.forces.point_force import PointForce
from ...model.forces.spring import Spring
from ...model.forces.torque import Torque
from ...model.frame import Frame, to_local
from ...model.measure import x as measured_x
from ...model.measure import y as measured_y
from ...model.model import Model
from ...numerics.arrays import Floats
from ...system.system import System
from .draft import read_draft
from .sheet import finite_pair

EASE = 1.5  # 1/s: the light damping of all motions
RATE = 14.0  # rad/s: how fast the mouse spring is
SAG = 0.03  # of the size of the mechanism: by how much its weight stretches the mouse spring
REACH = 0.5  # of the size of the mechanism: the longest stretch of the mouse spring, which bounds the force
CHUNK = 1.0 / 120.0  # s
PATIENCE = 0.05  # s of computing after which a frame is shown as far as it came
TOLERANCE = 1e-3
HEAVIEST = 4.0  # times the mass of all bodies: what is felt at most, at a point that can hardly move
LIGHTEST = 0.02  # of the mean mass: what a massless body gets
HAND_X, HAND_Y = "hand x", "hand y"


class Drag:
    """One pull, from the moment a body is grabbed until it is let go."""

    def __init__(
        self, text: str, body: str, point: Any, at: float = 0.0, folder: str = ".", poses: Any = None
    ) -> None:
        draft = read_draft(text, folder)
        if draft.model is None:
            raise ModelError(draft.problems)
        if body not in draft.model.bodies:
            hint = unknown("body", str(body), draft.model.bodies, plural="bodies")
            raise ModelError(f"There is no body '{body}' to drag. {hint}")
        model = in_hand(draft.model.in_si().copy(), float(at or 0.0), poses)
        self.body = body
        self.target = finite_pair(point)
        pose = model.check().bodies[body].pose
        self.spot = to_local(pose, *self.target, pose[2])[:2]
        self.model = eased(model)
        self.size = System(self.model).length
        self.k, self.c = hand(self.model, body, self.spot, self.size)
        self.grab(self.model)
        self.t = 0.0

    def grab(self, model: Model) -> None:
        """Begin at rest in the pose of a model."""
        held = model.copy()
        frame = Frame(self.body, place=(*self.spot, 0.0))
        for name, measure in ((HAND_X, measured_x), (HAND_Y, measured_y)):
            held.add(
                Spring(name, measure(held.ground, frame), stiffness=self.k, damping=self.c, actuator=0.0)
            )
        self.simulator = Simulator(held, inputs=[HAND_X, HAND_Y], rtol=TOLERANCE)
        self.bodies = [each.name for each in System(held).bodies]
        self.q = self.simulator.q.copy()

    def to(self, point: Any) -> None:
        """The mouse is there now."""
        self.target = finite_pair(point)

    def frame(self, seconds: float) -> dict[str, Any]:
        """The poses after so many seconds of pulling."""
        end = time.perf_counter() + PATIENCE
        left = max(0.0, float(seconds))
        while left > 0.0 and time.perf_counter() < end:
            step = min(CHUNK, left)
            self._advance(step)
            left -= step
        poses = self.q.reshape(-1, 3)
        return {
            "t": self.t,
            "point": self.place(),
            "q": {name: pose.tolist() for name, pose in zip(self.bodies, poses, strict=True)},
        }

    def end(self) -> None:
        """Let go."""
        self.target = self.place()

    def place(self) -> tuple[float, float]:
        """Where the grabbed point is."""
        i = 3 * self.bodies.index(self.body)
        x, y, phi = self.q[i : i + 3]
        (px, py), c, s = self.spot, np.cos(phi), np.sin(phi)
        return float(x + c * px - s * py), float(y + s * px + c * py)

    def _advance(self, step: float) -> None:
        """A short time; where the motion breaks down, it begins anew at rest from the last pose."""
        hold = self._hold()
        try:
            for name, value in zip((HAND_X, HAND_Y), hold, strict=True):
                self.simulator.set(name, -self.k * value)
            self.simulator.advance_by(step)
            q = self.simulator.q
            if not np.all(np.isfinite(q)) or np.abs(q).max() > 1e4 * self.size + np.abs(self.q).max():
                raise ModelError("the motion has run away.")
            self.q = q.copy()
        except SimEngineError:
            self._begin_anew()
        self.t += step

    def _hold(self) -> tuple[float, float]:
        """Where the hand pulls to: the mouse, or as far towards it as the force is bounded."""
        x, y = self.place()
        dx, dy = self.target[0] - x, self.target[1] - y
        part = min(1.0, REACH * self.size / (hypot(dx, dy) or 1.0))
        return x + part * dx, y + part * dy

    def _begin_anew(self) -> None:
        try:
            self.grab(with_initial_pose(self.model, self.q))
        except SimEngineError:
            self.grab(self.model)


# The model that is pulled -----------------------------------------------------------------------------


def in_hand(model: Model, at: float, poses: Any = None) -> Model:
    """The model without its drivers, as the page shows it: at a time, or as it was let go."""
    return released(posed(model, at)) if poses is None else let_go(released(model), poses)


def let_go(model: Model, poses: Any) -> Model:
    """The model drawn in the poses of an earlier pull."""
    try:
        q = np.array([poses[name] for name in model.bodies], dtype=float)
    except (KeyError, TypeError, ValueError):
        q = np.zeros(0)
    if q.shape != (len(model.bodies), 3) or not np.all(np.isfinite(q)):
        raise ModelError("Poses are three numbers x, y, phi for each body by its name.")
    moved = with_initial_pose(model, q.ravel())
    return with_initial_pose(moved, assemble(System(moved)).q)


def posed(model: Model, at: float) -> Model:
    """The model drawn in the pose of a time of its driven motion, or in its assembled pose."""
    system = System(model)
    if at > 0.0 and system.driver_rows.size:
        try:
            return with_initial_pose(model, kinematics(model, t_eval=[at]).q[-1])
        except SimEngineError:
            pass
    return with_initial_pose(model, assemble(system).q)


def released(model: Model) -> Model:
    """Without its drivers; at rest."""
    for name in [name for name, joint in model.joints.items() if joint.drives]:
        del model.elements[name]
    for body in model.bodies.values():
        body.velocity = body.angular_velocity = None
    return model


def eased(model: Model) -> Model:
    """With a damping of every body, as much as its mass; and a little mass where there is none.

    Q = -alpha M qd
    """
    model = model.copy()
    resolved, length = model.check(), System(model).length
    masses = [resolved.bodies[name].mass for name in model.bodies]
    least = LIGHTEST * (sum(masses) / len(masses) or 1.0)
    for name, body in model.bodies.items():
        mass = max(resolved.bodies[name].mass, least)
        inertia = max(resolved.bodies[name].inertia, mass * (0.02 * length) ** 2)
        body.mass, body.inertia, body.density = mass, inertia, None
        model.add(
            PointForce(f"{name} eases", Frame(name), fx=f"-{EASE * mass!r}*xd", fy=f"-{EASE * mass!r}*yd")
        )
        model.add(Torque(f"{name} slows", Frame(name), value=f"-{EASE * inertia!r}*phid"))
    return model


def hand(model: Model, body: str, spot: tuple[float, float], size: float) -> tuple[float, float]:
    """Stiffness and damping of the mouse spring.

    c = 2 sqrt(k m) with the mass m that is felt at the point.
    """
    system = System(model)
    gravity = hypot(*system.resolved.gravity)
    total = sum(each.mass for each in system.bodies)
    felt = min(felt_mass(system, body, spot) or total, HEAVIEST * total)
    k = max(felt * RATE**2, total * gravity / (SAG * size))
    return k, 2.0 * sqrt(k * felt)


def felt_mass(system: System, body: str, spot: tuple[float, float]) -> float:
    """The mass that resists a push at a point, in the mean over the directions.

    1/m = tr(J Z (Z^T M Z)^-1 Z^T J^T) / (number of directions in which the point can move)
    """
    q, Z = system.drawn_q, _free(system)
    k = 3 * [each.name for each in system.bodies].index(body)
    c, s = np.cos(q[k + 2]), np.sin(q[k + 2])
    J = np.zeros((2, system.n))
    J[0, k], J[1, k + 1] = 1.0, 1.0
    J[:, k + 2] = -s * spot[0] - c * spot[1], c * spot[0] - s * spot[1]
    A = J @ Z
    if not A.size:
        return 0.0
    W = A @ np.linalg.pinv(Z.T @ (system.masses[:, None] * Z)) @ A.T
    sizes = np.linalg.eigvalsh(W)
    moving = sizes[sizes > 1e-9 * max(sizes.max(), 1e-300)]
    return float(1.0 / moving.mean()) if moving.size and moving.max() > 0.0 else 0.0


def _free(system: System) -> Floats:
    """The motions that the joints allow, as columns."""
    J = system.Phi_q(0.0, system.drawn_q)
    _, sigma, Vt = np.linalg.svd(J) if J.size else (None, np.zeros(0), np.eye(system.n))
    rank = int(np.count_nonzero(sigma > 1e-9 * sigma.max(initial=0.0)))
    return Vt[rank:].T


# A driven mechanism -----------------------------------------------------------------------------------


def drag_driver(request: dict[str, Any]) -> dict[str, Any]:
    """The time of a driven motion at which a point of a body is nearest to the mouse.

    `local` is the grabbed point in the axes of the body; or it was at `point` at the time `at`, where the drag began.
    """
    from .runs import shown_motion

    draft = read_draft(request["text"], request.get("folder") or ".", request.get("values"))
    if draft.model is None:
        raise ModelError(draft.problems)
    asked = request.get("analysis")
    shown = shown_motion(draft.model, asked)
    if shown.results is None:
        raise ModelError(f"The mechanism does not move: {shown.error}")
    results, body = shown.results, str(request.get("body", request.get("of")))
    if body not in results.bodies:
        raise ModelError(
            f"There is no body '{body}'. {unknown('body', body, results.bodies, plural='bodies')}"
        )
    k = 3 * results.bodies.index(body)
    x, y, phi = results.q[:, k], results.q[:, k + 1], results.q[:, k + 2]
    mouse = finite_pair(request["point"])
    if request.get("local") is None:
        row = int(np.argmin(np.abs(results.t - float(request.get("at") or 0.0))))
        local = to_local((x[row], y[row], phi[row]), *mouse, 0.0)[:2]
    else:
        local = finite_pair(request["local"])
    c, s = np.cos(phi), np.sin(phi)
    px, py = x + c * local[0] - s * local[1], y + s * local[0] + c * local[1]
    t, gap = nearest(results.t, (px - mouse[0]) ** 2 + (py - mouse[1]) ** 2, request.get("near"))
    return {"t": t, "distance": sqrt(max(gap, 0.0)), "local": [float(part) for part in local]}


def nearest(t: Floats, squares: Floats, near: Any = None) -> tuple[float, float]:
    """The time of the smallest value, between outputs by a parabola; of equally good ones that next to `near`."""
    least = float(squares.min())
    good = np.flatnonzero(squares <= least + 0.02 * float(np.ptp(squares)))
    k = int(good[np.argmin(np.abs(t[good] - float(near)))]) if near is not None else int(np.argmin(squares))
    while 0 < k < t.size - 1 and min(squares[k - 1], squares[k + 1]) < squares[k]:
        k += 1 if squares[k + 1] < squares[k - 1] else -1
    if not 0 < k < t.size - 1:
        return float(t[k]), float(squares[k])
    a, b, c = squares[k - 1 : k + 2]
    bend = a - 2.0 * b + c
    shift = 0.5 * (a - c) / bend if bend > 0.0 else 0.0
    step = t[k + 1] - t[k] if shift > 0.0 else t[k] - t[k - 1]
    return float(t[k] + shift * step), float(b - 0.25 * (a - c) * shift)
