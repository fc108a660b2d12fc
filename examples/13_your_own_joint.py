"""Your own joint: as a formula, as a law for velocities, as a Python class, and as a cam designed from its motion."""

import marimo

__generated_with = "0.25.2"
app = marimo.App(width="medium")

with app.setup:
    import marimo as mo
    import matplotlib.pyplot as plt
    import numpy as np

    import simengine2d as se

    GRAVITY = 9.81


@app.cell(hide_code=True)
def _():
    mo.md(r"""
    # Your own joint

    A joint is nothing but equations $\Phi(q, t) = 0$ that hold all the time. The engine also needs their gradient
    $\Phi_q$ and the right-hand sides $\nu = -\Phi_t$ and $\gamma$ of $\Phi_q \dot q = \nu$, $\Phi_q \ddot q = \gamma$;
    it derives them exactly from what you write.

    ## A formula

    A bead slides on a wire of the shape $y = x^2 / 2R$. One formula is the whole joint: its rows hold `bead.y` on the
    curve. Small swings about the bottom, where the wire's radius of curvature is $R$, have $\omega = \sqrt{g/R}$; large
    ones are slower.
    """)
    return


@app.function
def bead(R, start):
    """A bead of 0.1 kg on a parabola, let go at x = start."""
    model = se.Model("bead", parameters={"R": R, "x0": start})
    model.disk("bead", radius=0.02, mass=0.1, at=("x0", "x0^2/(2*R)"))
    model.add(se.Constraint("wire", "bead.y - bead.x^2/(2*R)"))
    model.add(se.AbsoluteAngle("level", "bead"))
    return model


@app.cell
def _():
    start = mo.ui.slider(0.05, 1.0, 0.05, value=0.5, label="let go at x", show_value=True)
    start
    return (start,)


@app.cell
def _(start):
    falling = se.dynamics(bead(0.5, start.value), t_end=3)
    falling.player(trace=["bead"], channels=["bead.x", "wire.fy"])
    return


@app.cell(hide_code=True)
def _():
    mo.md(r"""
    The force of the wire is there, too: `wire.fx`, `wire.fy`, or `falling.reaction("wire", on="bead")`. It is at right
    angles to the wire, because $\Phi_q^T \lambda$ is.

    ## A law for velocities

    A skate may turn and glide, but not slip sideways: $\dot y\cos\varphi - \dot x\sin\varphi = 0$. This equation cannot
    be integrated to one of positions; write it with rates, `xd` and `yd`, and it is a joint nevertheless. Put it on a
    slope, spinning: it does not slide down, but drifts *across* the slope, along a cycloid.
    """)
    return


@app.function
def skate(slope=0.4, spin=1.7):
    """A blade under the mass center of a spinning body; the slope falls along x."""
    model = se.Model("skate", gravity=(GRAVITY * np.sin(slope), 0))
    model.bar("skate", (-0.1, 0), (0.1, 0), mass=2, velocity=(0, 0), angular_velocity=spin)
    model.add(se.Constraint("blade", "skate.yd*cos(skate.phi) - skate.xd*sin(skate.phi)"))
    return model


@app.cell
def _():
    _moved = se.dynamics(skate(), t_end=6)
    _, _ax = plt.subplots(figsize=(7, 2))
    _ax.plot(_moved["skate.y"], _moved["skate.x"])
    _ax.set(aspect="equal", xlabel="across the slope, m", ylabel="downhill, m")
    _ax.invert_yaxis()
    _ax
    return


@app.cell(hide_code=True)
def _():
    mo.md(r"""
    ## A class of your own

    What you use often deserves a name. A class lists its fields, and yields rows: a label, a measure or a weighted sum
    of measures, and the value that it keeps. A wheel rolls on the axis of frame `a`, at the height of its radius:

    $$\Phi = \begin{bmatrix} y_{ab} - r \\ x_{ab} + r\,\varphi_{ab} - \text{as drawn} \end{bmatrix} = \mathbf 0 .$$

    From then on it is a joint like all others: in Python, in model files (`type: Rolling`), in diagnoses and messages.
    """)
    return


@app.cell
def _():
    class Rolling(se.Pair):
        """A wheel, frame b, rolls along the x axis of frame a."""

        radius: float
        freedom = 1

        def rows(self):
            yield se.Row("touch", se.across(self.a, self.b), self.radius)
            rolled = se.along(self.a, self.b) + self.radius * se.angle(self.a, self.b)
            yield se.Row("roll", rolled, rolled.drawn)

    return (Rolling,)


@app.cell
def _(Rolling):
    hill = se.Model("hill", gravity=(GRAVITY * np.sin(0.3), -GRAVITY * np.cos(0.3)))
    hill.disk("wheel", radius=0.2, mass=3, at=(0, 0.2))
    hill.add(Rolling("road", hill.ground.at(0, 0), "wheel", radius=0.2))
    rolling = se.dynamics(hill, t_end=1)
    se.diagnose(hill)
    return (rolling,)


@app.cell
def _(rolling):
    rolling.plot("wheel.x", "road.fx")
    return


@app.cell(hide_code=True)
def _():
    mo.md(r"""
    ## A cam from the motion of its follower

    Some joints are curves. Say what the follower shall do over one turn, $s(\theta)$, and the profile follows: the
    envelope of all places of the follower, seen from the cam. Under a flat face its radius of curvature is

    $$\rho = r_b + s + s'' ,$$

    with the base radius $r_b$. Where that is negative the envelope crosses itself, **undercut**: a cam that cannot be
    made. Here the follower rises by 20 mm over 90°, rests, returns, rests.
    """)
    return


@app.function
def designed(rise, base_radius, **options):
    """Rise, rest, return, rest; `rise` in degrees."""
    turn, rest = np.radians(rise), np.radians(180 - rise)
    steps = [(turn, 0.02, "cycloidal"), (rest, 0.02), (turn, 0, "cycloidal"), (rest, 0)]
    return se.cam_profile(se.cam_motion(*steps), base_radius=base_radius, **options)


@app.cell
def _():
    base = mo.ui.slider(20, 60, 1, value=30, label="base circle, mm", show_value=True)
    base
    return (base,)


@app.cell
def _(base):
    flat = designed(90, base.value / 1000, follower="flat")
    _, _ax = plt.subplots(figsize=(5, 4.5))
    _ax.plot(*1000 * flat.profile.T)
    _ax.set(aspect="equal", xlabel="mm", ylabel="mm")
    _ax.set_title("undercut: take a larger base circle" if flat.undercut else "this cam can be made")
    _ax
    return


@app.function
def cam_follower(speed, stiffness=1000.0):
    """A slower rise, by a roller of 10 mm on a line 10 mm right of the center; a spring presses 0.2 kg on."""
    cam = designed(120, 0.04, follower="roller", roller_radius=0.01, offset=0.01)
    model = se.Model("cam")
    model.body("cam", mass=1, inertia=0.001)
    model.body("follower", mass=0.2, inertia=1e-4, at=cam.place(0), points={"top": (0, 0.1)})
    model.add(se.Revolute("shaft", "ground", "cam"))
    model.add(se.Translational("guide", "ground", "follower.top", direction=(0, 1)))
    model.add(se.Cam("contact", "cam", "follower", cam, follower="roller", radius=0.01))
    model.add(se.Driver("motor", "angle(ground, cam)", f"{speed}*t"))
    model.add(se.Spring("spring", "y(ground, follower)", stiffness=stiffness, free=0.04))
    return model


@app.cell
def _():
    speed = mo.ui.slider(10, 120, 1, value=60, label="speed, rad/s", show_value=True)
    speed
    return (speed,)


@app.cell
def _(speed):
    turning = se.dynamics(cam_follower(speed.value), t_end=2 * np.pi / speed.value)
    turning.player(channels=["follower.y", "contact.fy"])
    return (turning,)


@app.cell(hide_code=True)
def _():
    mo.md(r"""
    The joint holds in both directions, a real cam can only push. Where `contact.force` is negative, the follower
    would lift off, and a note of the results says so:
    """)
    return


@app.cell
def _(turning):
    mo.md("\n".join(f"> {note}" for note in turning.notes if "pulls" in note) or "> It stays on the cam.")
    return


@app.cell(hide_code=True)
def _():
    mo.md(r"""
    ## Try it

    1. How long does a small swing of the bead take? *($2\pi\sqrt{R/g}$ = 1.42 s with R = 0.5 m.)*
    2. How fast does a wheel roll down? *($\ddot x = \tfrac23 g\sin\alpha$ for a disk; friction takes the other third.)*
    3. How fast may the cam turn before the roller lifts off? *(Where $m g + k\,(y - 0.04) + m\,\omega^2 s''$ first
       reaches zero: 71 rad/s.)*

    The functions below check the numbers of this page; `pytest examples/13_your_own_joint.py` runs them.
    """)
    return


@app.function
def test_the_bead_swings_as_theory_says():
    """Small swings; energy is kept in large ones."""
    x = se.dynamics(bead(0.5, 1e-3), t_eval=[0, np.pi * np.sqrt(0.5 / GRAVITY)], rtol=1e-10)["bead.x"]
    np.testing.assert_allclose(x[-1], -1e-3, rtol=1e-5)  # half a period later, but for the square of 1e-3
    energy = se.dynamics(bead(0.5, 1.0), t_end=3, rtol=1e-10).energy().total
    np.testing.assert_allclose(energy, energy[0], rtol=1e-8)


@app.function
def test_the_skate_drifts_along_a_cycloid():
    g, w, t = GRAVITY * np.sin(0.4), 1.7, np.linspace(0, 3, 31)
    moved = se.dynamics(skate(), t_eval=t, rtol=1e-10)
    np.testing.assert_allclose(moved["skate.x"], g / (2 * w**2) * np.sin(w * t) ** 2, atol=1e-8)
    np.testing.assert_allclose(moved["skate.y"], g / (2 * w**2) * (w * t - np.sin(2 * w * t) / 2), atol=1e-8)


@app.cell
def test_the_wheel_rolls_down(rolling):
    pull = GRAVITY * np.sin(0.3)
    np.testing.assert_allclose(rolling["wheel.x"], pull / 3 * rolling.t**2, atol=1e-6)
    np.testing.assert_allclose(rolling["road.fx"], -3 * pull / 3, rtol=1e-9)
    return


@app.function
def test_a_flat_face_needs_its_base_circle():
    """rho = r_b + s + s'' = 0 at the worst angle; s = h (u - sin(2 pi u) / 2 pi) with u = theta / beta."""
    u, beta, h = np.linspace(0, 1, 100_001), np.pi / 2, 0.02
    s, curved = h * (u - np.sin(2 * np.pi * u) / (2 * np.pi)), 2 * np.pi * h / beta**2 * np.sin(2 * np.pi * u)
    least = -(s + curved).min()
    np.testing.assert_allclose(
        designed(90, 0.06, follower="flat").smallest_base_radius, least, rtol=1e-4
    )  # sampled
    assert designed(90, 0.99 * least, follower="flat").undercut
    assert not designed(90, 1.01 * least, follower="flat").undercut


@app.function
def test_the_follower_keeps_to_its_program_and_lifts_off_where_it_should():
    u, beta, h = np.linspace(0.5, 1, 10_001)[1:-1], np.radians(120), 0.02
    y = np.sqrt(0.05**2 - 0.01**2) + h * (u - np.sin(2 * np.pi * u) / (2 * np.pi))
    slowing = -2 * np.pi * h / beta**2 * np.sin(2 * np.pi * u)
    limit = np.sqrt(((0.2 * GRAVITY + 1000 * (y - 0.04)) / (0.2 * slowing)).min())
    assert round(limit) == 71
    for speed, pulls in ((0.99 * limit, False), (1.01 * limit, True)):
        moved = se.dynamics(cam_follower(speed), t_eval=np.linspace(0, 2 * np.pi / speed, 721))
        assert (moved["contact.force"].min() < 0) == pulls == any("pulls" in note for note in moved.notes)
        lifted = np.interp(beta * u, speed * moved.t, moved["follower.y"])
        np.testing.assert_allclose(lifted, y, atol=1e-6)  # straight between the outputs
        assert moved.power_balance() < 1e-10


if __name__ == "__main__":
    app.run()
