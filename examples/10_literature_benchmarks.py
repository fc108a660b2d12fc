"""Benchmarks of the literature: published problems, their numbers and ours, how close and how fast."""

import marimo

__generated_with = "0.25.2"
app = marimo.App(width="medium")

with app.setup:
    import time

    import marimo as mo
    import matplotlib.pyplot as plt
    import numpy as np
    from scipy.special import ellipj, ellipk

    import simengine2d as se

    GRAVITY = 9.81
    RPM = 2 * np.pi / 60


@app.cell(hide_code=True)
def _():
    mo.md(r"""
    # Benchmarks of the literature

    How do you know that a program is right? You let it solve problems whose answer others have published, or that have
    a closed form, and you look at all digits. Here are the classics of multibody dynamics, each with its source.

    ## A pendulum (IFToMM A01)

    A point mass of 1 kg on a massless rod of 1 m, let go from the horizontal. The library of computational benchmark
    problems (M. González, F. González, A. Luaces, J. Cuadrado) counts what a program does in 10 s. In elliptic functions,
    with $\omega_0 = \sqrt{g/l}$ and $k = \sin 45^\circ$,

    $$\sin\frac{\theta}{2} = k\,\mathrm{sn}\bigl(K(k) + \omega_0 t\bigr).$$
    """)
    return


@app.function
def pendulum():
    """A point mass has no inertia of its own."""
    model = se.Model("pendulum")
    mass = model.body("mass", mass=1, inertia=0, at=(-1, 0), angle="pi", points={"O": (-1, 0)})
    model.add(se.Revolute("O", model.ground, mass["O"]))
    return model


@app.function
def pendulum_x(t):
    """Where the mass is, by elliptic functions; x = -1 at t = 0."""
    k = np.sin(np.pi / 4)
    sn = ellipj(ellipk(k**2) + np.sqrt(GRAVITY) * t, k**2)[0]
    return -np.sin(2 * np.arcsin(k * sn))


@app.cell(hide_code=True)
def _():
    mo.md(r"""
    ## Windows of four-bars (IFToMM A02)

    $N$ four-bars side by side, all links 1 m and 1 kg, all tops started at 1 m/s. **Twice in each turn all links lie in
    one line**: the constraints lose rank, the mechanism could move on in several ways, and many programs stop or jump.
    All posts turn alike, so one coordinate is exact: a pendulum with

    $$\ddot\theta = \kappa\,g\sin\theta,\qquad \kappa = \frac{3\,(3N + 1)}{2\,(4N + 1)},\qquad
    \theta = 2\,\mathrm{am}\Bigl(K(m) + \tfrac12\Omega t\Bigr) - \pi,\quad
    \Omega^2 = 1 + 4\kappa g,\ m = \frac{4\kappa g}{\Omega^2}.$$
    """)
    return


@app.function
def ladder_x(windows, t):
    """x of the first post's top, by Jacobi's amplitude."""
    stiffness = 4 * 3 * (3 * windows + 1) / (2 * (4 * windows + 1)) * GRAVITY
    speed, m = np.sqrt(1 + stiffness), stiffness / (1 + stiffness)
    return np.sin(2 * ellipj(ellipk(m) + speed * t / 2, m)[3] - np.pi)


@app.cell
def _():
    windows = mo.ui.slider(1, 10, 1, value=2, label="windows", show_value=True)
    windows
    return (windows,)


@app.cell
def _(windows):
    ladder = se.dynamics(se.builders.four_bar_ladder(int(windows.value)), t_end=3, step=0.01)
    ladder.player(channels=["post0.phi", "energy.total"])
    return (ladder,)


@app.cell
def _(ladder):
    mo.md("\n".join(f"- {note}" for note in ladder.notes))
    return


@app.cell(hide_code=True)
def _():
    mo.md(r"""
    ## Andrews' squeezer (IFToMM A03)

    Seven bodies, one motor, one spring, 30 ms. E. Hairer and G. Wanner print its seven angles after 0.03 s
    (*Solving Ordinary Differential Equations II*, section VI.9): $\beta = 15.8107712$, $\gamma = 0.0408222$ ...
    """)
    return


@app.cell
def _():
    squeezer = se.dynamics(se.load("andrews_squeezer"), t_end=0.03, step=1e-4, rtol=1e-8)
    squeezer.player(trace=["K2"], channels=["K1.phi", "K3.phi"])
    return


@app.cell(hide_code=True)
def _():
    mo.md(r"""
    ## Chaplygin's sleigh

    A skate with its mass center a distance $a$ before the blade: a constraint of velocities, which no integration turns
    into one of positions (Neimark and Fufaev, 1972). It starts with a turn and ends straight ahead:
    $\dot\varphi = \frac{V}{k}\,\mathrm{sech}\frac{a V t}{k^2}$.

    ## All at once

    The error is that of the number in the table; the time is that of the whole call.
    """)
    return


@app.function
def sleigh(a=0.3, k=0.5, V=2.0):
    """Mass center a before the blade, radius of inertia k about it, final speed V."""
    model = se.Model("sleigh", gravity=(0, 0))
    start = {"velocity": (0, a * V / k), "angular_velocity": V / k}
    model.body("sleigh", mass=2, inertia=2 * (k**2 - a**2), at=(a, 0), points={"K": (-a, 0)}, **start)
    model.add(se.Constraint("blade", "sleigh.K.yd*cos(sleigh.phi) - sleigh.K.xd*sin(sleigh.phi)"))
    return model


@app.function
def problems():
    """Name: model, time, channel, exact value."""
    ladders = {
        f"four-bars, {n} window{'s' * (n > 1)}": (
            se.builders.four_bar_ladder(n), 10.0, "post0.end.x", ladder_x(n, 10.0)
        )
        for n in (1, 2, 10)
    }  # fmt: skip
    return {
        "pendulum": (pendulum(), 10.0, "mass.x", pendulum_x(10.0)),
        **ladders,
        "Andrews' squeezer, beta": (se.load("andrews_squeezer"), 0.03, "K1.phi", 15.810771195153707),
        "Andrews' squeezer, gamma": (se.load("andrews_squeezer"), 0.03, "K3.phi", 0.0408222401196458),
        "Chaplygin's sleigh": (sleigh(), 2.0, "sleigh.phid", 4 / np.cosh(0.3 * 2 * 2 / 0.25)),
    }


@app.function
def solved(problem, rtol):
    """Our number, its error, and the milliseconds of the call, the best of three."""
    model, t_end, channel, exact = problem
    system = se.System(model)
    times = []
    for _ in range(3):
        start = time.perf_counter()
        value = se.dynamics(system, t_eval=[0, t_end], rtol=rtol)[channel][-1]
        times.append(time.perf_counter() - start)
    return value, abs(value - exact), 1e3 * min(times)


@app.cell
def _():
    rtol = mo.ui.dropdown(["1e-4", "1e-6", "1e-8", "1e-10"], value="1e-8", label="rtol")
    rtol
    return (rtol,)


@app.cell
def _(rtol):
    _lines = ["| problem | number | exact or published | ours | error | ms |", "|---|---|---|---|---|---|"]
    for _name, _problem in problems().items():
        _value, _error, _ms = solved(_problem, float(rtol.value))
        _number = f"{_problem[2]} at {_problem[1]:g} s"
        _lines.append(
            f"| {_name} | {_number} | {_problem[3]:.12f} | {_value:.12f} | {_error:.0e} | {_ms:.1f} |"
        )
    mo.md("\n".join(_lines))
    return


@app.cell
def _():
    _, _ax = plt.subplots(figsize=(8, 4), layout="constrained")
    for _name, _problem in problems().items():
        _runs = [solved(_problem, _rtol) for _rtol in (1e-3, 1e-5, 1e-7, 1e-9, 1e-11)]
        _ax.loglog(
            [ms for _, _, ms in _runs], [max(error, 1e-16) for _, error, _ in _runs], "o-", label=_name
        )
    _ax.set(xlabel="milliseconds of the call", ylabel="error", title="what accuracy costs")
    _ax.legend(fontsize=7, loc="upper left", bbox_to_anchor=(1, 1))
    _ax
    return


@app.cell(hide_code=True)
def _():
    mo.md(r"""
    ## Examples of textbooks

    Books measure on drawings and round; the last column is our exact number.
    """)
    return


@app.function
def textbooks():
    """Source, quantity, printed, ours."""
    bars = se.builders.four_bar(0.04, 0.15, 0.08, 0.15, crank_angle="60*deg", speed=-120 * RPM)
    velocities = se.velocity_polygon(se.kinematics(bars, t_eval=[0.0]))
    engine = se.builders.slider_crank(0.15, 0.6, crank_angle="45*deg", speed=300 * RPM)
    moved = se.kinematics(engine, t_eval=[0.0])
    # a press that needs 7.5 kW for 2 of 5 s, between 225 and 200 rpm
    speed, times = 212.5 * RPM, [0.0, 2.0, 2.0 + 1e-9, 5.0]
    torque = np.array([7500.0, 7500.0, 0, 0]) / speed
    wheel = se.flywheel(speed * np.array(times), torque, speed=speed, fluctuation=25 * RPM / speed)
    circuit = se.circuits(se.builders.four_bar(2, 4, 3.5, 5, speed=1))[0]
    swing = np.degrees(np.ptp([place.output for place in circuit.toggles("rocker")]))
    return [
        ("Khurmi and Gupta, example 7.1", "velocity of C, m/s", 0.385, velocities.size("C")),
        ("Khurmi and Gupta, example 8.1", "turning of the rod, rad/s", 5.67, abs(moved["rod.phid"][0])),
        ("Khurmi and Gupta, example 8.1", "its acceleration, rad/s²", 171.67, abs(moved["rod.phidd"][0])),
        ("Sarkar, chapter 6, illustration 2", "mass of the flywheel, kg", 618.2, wheel.inertia / 0.25),
        ("statiqsolver.com, crank-rocker", "swing of the rocker, °", 69.8, swing),
    ]


@app.cell
def _():
    _lines = ["| source | quantity | printed | ours |", "|---|---|---|---|"]
    for _source, _what, _printed, _ours in textbooks():
        _lines.append(f"| {_source} | {_what} | {_printed:g} | {_ours:.5g} |")
    mo.md("\n".join(_lines))
    return


@app.cell(hide_code=True)
def _():
    mo.md(r"""
    ## Try it

    1. How often do the four-bars of one window pass a singular pose in 10 s? *(Count the notes; the pendulum above says
       when $\cos\theta = 0$.)*
    2. Give the pendulum of A01 the tolerance 1e-12. How many digits come out right? *(About eleven.)*
    3. `benchmarks/dynamics.py` runs ten such cases against nine other programs; the README shows the picture.

    The functions below check the numbers of this page; `pytest examples/10_literature_benchmarks.py` runs them.
    """)
    return


@app.function
def test_every_number_is_right():
    """To 1e-6 of the channel's size or better, with rtol = 1e-9 over many turns."""
    for name, problem in problems().items():
        _, error, _ = solved(problem, 1e-9)
        assert error < 1e-6 * max(1.0, abs(problem[3])), name


@app.function
def test_the_closed_form_is_that_of_the_reference():
    """Values at 10 s of one window and of the pendulum, found by others with 15 digits."""
    np.testing.assert_allclose(ladder_x(1, 10.0), 0.47838505776097057, rtol=1e-11)
    np.testing.assert_allclose(pendulum_x(10.0), -0.2750874625761169, rtol=1e-11)


@app.function
def test_the_books_measured_well():
    for source, what, printed, ours in textbooks():
        assert abs(ours - printed) < 0.03 * printed, (source, what)


@app.function
def test_energy_survives_the_singular_poses():
    energy = se.dynamics(se.builders.four_bar_ladder(2), t_end=10, rtol=1e-9).energy().total
    np.testing.assert_allclose(energy, energy[0], rtol=1e-7)


if __name__ == "__main__":
    app.run()
