"""A one-cylinder engine: gas torque, bearing loads, shaking forces, and the flywheel that smooths it."""

import marimo

__generated_with = "0.25.2"
app = marimo.App(width="medium")

with app.setup:
    import marimo as mo
    import matplotlib.pyplot as plt
    import numpy as np

    import simengine2d as se

    STROKE, ROD, BORE = 0.08, 0.13, 0.08  # m
    AREA = np.pi * BORE**2 / 4
    RPM = 2 * np.pi / 60
    PRESSURE = [(0, 0), (200, 0), (290, 2), (345, 15), (372, 55), (400, 25), (450, 9), (560, 0), (720, 0)]


@app.cell(hide_code=True)
def _():
    mo.md(r"""
    # A one-cylinder engine

    A slider-crank turns the push of hot gas into a torque, but not a steady one: in four strokes the gas drives only
    once. We ask what every engine designer asks: how large is the **torque**, what do the **bearings** carry, how much
    does the engine **shake**, and which **flywheel** makes it run smoothly?

    The pressure of the cylinder was measured over the crank angle, in degrees and bar above the air outside. Two turns
    are one cycle: intake, compression, the fire at 360°, exhaust.
    """)
    return


@app.function
def engine(rpm):
    """Crank, rod and piston on a horizontal line, driven at constant speed; crank angle 0 is top dead center."""
    model = se.builders.slider_crank(
        STROKE / 2, ROD, crank_angle=0, masses=(1.0, 0.6), slider_mass=0.5, speed=rpm * RPM, gravity=(0, 0)
    )
    model.table("bar", PRESSURE, smooth=False, periodic=True)
    model.add(se.PointForce("gas", "slider", fx=f"-{1e5 * AREA}*bar(crank.phi/deg)"))
    return model


@app.function
def one_cycle(rpm):
    """All forces over two turns, one output per degree."""
    return se.inverse_dynamics(engine(rpm), t_eval=np.linspace(0, 120 / rpm, 721))


@app.cell
def _():
    rpm = mo.ui.slider(500, 6000, 250, value=3000, label="speed in rpm", show_value=True)
    rpm
    return (rpm,)


@app.cell
def _(rpm):
    cycle = one_cycle(rpm.value)
    cycle.player(trace=["rod"], channels=["gas.fx", "motor.torque"])
    return (cycle,)


@app.cell(hide_code=True)
def _():
    mo.md(r"""
    ## The torque on the crank

    The piston is at $x(\theta) = r\cos\theta + \sqrt{l^2 - r^2\sin^2\theta}$. By virtual work the gas, which pushes
    with $p A$ against $x$, turns the crank with

    $$T_\text{gas}(\theta) = -\,p(\theta)\,A\,\frac{dx}{d\theta}.$$

    The rest is inertia: the masses take up energy and give it back, so their torque has the mean zero, and grows with
    the square of the speed. At low speed the gas rules, at high speed the inertia: move the slider. (The driver holds
    the speed, so its torque is the opposite of what the engine delivers.)
    """)
    return


@app.function
def gas_torque(theta):
    """By virtual work, without any simulation."""
    r = STROKE / 2
    slope = -r * np.sin(theta) - r**2 * np.sin(theta) * np.cos(theta) / np.sqrt(
        ROD**2 - r**2 * np.sin(theta) ** 2
    )
    return -1e5 * AREA * np.interp(np.degrees(theta) % 720, *zip(*PRESSURE, strict=True)) * slope


@app.cell
def _(cycle, rpm):
    _, _ax = plt.subplots(figsize=(7, 3.2))
    _degrees = np.degrees(cycle["crank.phi"])
    _ax.plot(_degrees, -cycle["motor.torque"], label="delivered")
    _ax.plot(_degrees, gas_torque(cycle["crank.phi"]), "--", label="of the gas alone")
    _ax.set(xlabel="crank angle in degrees", ylabel="torque in N m", title=f"{rpm.value:g} rpm")
    _ax.set_xticks(range(0, 721, 90))
    _ax.legend()
    _ax
    return


@app.cell(hide_code=True)
def _():
    mo.md(r"""
    ## What the bearings carry

    The force in the crank pin `A`, seen **from the crank**: the curve shows where on the pin the load acts, and hence
    where the oil hole must not be. `expressed_in="crank"` turns the axes with the crank.
    """)
    return


@app.cell
def _(cycle):
    _ax, _polar = cycle.plot_reaction("A", on="crank", expressed_in="crank")
    _ax
    return


@app.cell
def _(cycle):
    _lines = ["| bearing | largest load | mean load |", "|---|---|---|"]
    for _pin in ("O", "A", "B"):
        _load = np.hypot(cycle[f"{_pin}.fx"], cycle[f"{_pin}.fy"])
        _lines.append(f"| {_pin} | {_load.max():.0f} N | {_load.mean():.0f} N |")
    mo.md("\n".join(_lines))
    return


@app.cell(hide_code=True)
def _():
    mo.md(r"""
    ## Shaking, and the counterweight

    The gas pushes the piston and the cylinder head alike; it does not shake the engine. The accelerated masses do:

    $$\mathbf F = -\sum_i m_i\,\mathbf a_i .$$

    A counterweight on the crank cancels what *turns* exactly, and of what moves *to and fro*, $m r \omega^2\cos\theta$
    in first order, only as much along the cylinder as it adds across it. `se.balance` finds the weight that leaves the
    least force; `weights=(2, 1)` lets forces along the cylinder count twice.
    """)
    return


@app.cell
def _():
    along = mo.ui.slider(0, 4, 0.25, value=1, label="weight of forces along the cylinder", show_value=True)
    along
    return (along,)


@app.cell
def _(along, rpm):
    se.balance(engine(rpm.value), {"crank": 0.05}, t_end=60 / rpm.value, weights=(along.value, 1))
    return


@app.cell(hide_code=True)
def _():
    mo.md(r"""
    ## The flywheel

    Let the load take the mean torque $\bar T$. What the engine delivers beyond that accelerates the shaft, and

    $$\Delta E = \max_\theta E - \min_\theta E,\qquad E(\theta) = \int_0^\theta (T - \bar T)\,d\theta,
    \qquad J = \frac{\Delta E}{C\,\omega^2}.$$

    $C$ is the coefficient of fluctuation, $(\omega_{\max} - \omega_{\min})/\omega$. The picture shows the torque that
    the driver needs: its mean is negative, because an engine delivers.
    """)
    return


@app.cell
def _():
    fluctuation = mo.ui.slider(0.005, 0.1, 0.005, value=0.02, label="fluctuation C", show_value=True)
    fluctuation
    return (fluctuation,)


@app.cell
def _(cycle, fluctuation):
    wheel = se.flywheel_for(cycle, fluctuation=fluctuation.value)
    wheel
    return (wheel,)


@app.cell(hide_code=True)
def _():
    mo.md(r"""
    Does it? Take the driver away, put the wheel on the crank, let the mean torque brake it, and let the equations of
    motion find the speed. The rod's own inertia is part of the torque curve already, so that only the wheel is added.
    """)
    return


@app.function
def running(rpm, wheel, cycles=3):
    """The engine without a driver, with the flywheel, braked by the mean torque."""
    model = engine(rpm)
    del model.elements["motor"]
    model.body("wheel", mass=1, inertia=wheel.inertia, angular_velocity=rpm * RPM)
    model.add(se.Fixed("key", "crank.start", "wheel"))
    model.add(se.Torque("brake", "wheel", wheel.mean_torque))
    return se.dynamics(model, t_eval=np.linspace(0, cycles * 120 / rpm, 720 * cycles + 1))


@app.cell
def _(fluctuation, rpm, wheel):
    free = running(rpm.value, wheel)
    speed = free["crank.phid"]
    _, _ax = plt.subplots(figsize=(7, 3))
    _ax.plot(np.degrees(free["crank.phi"]), speed / RPM)
    _ax.set(xlabel="crank angle in degrees", ylabel="speed in rpm")
    _ax.set_title(f"C = {np.ptp(speed) / speed.mean():.4f}, asked for {fluctuation.value}")
    _ax
    return


@app.cell(hide_code=True)
def _():
    mo.md(r"""
    ## Try it

    1. With equal weights along and across, which part of the reciprocating mass does the counterweight balance? Rod and
       piston have 0.3 and 0.5 kg at `B`; crank and rod have 0.5 and 0.3 kg at `A`. *(Half of it: the mass moment is
       $r\,(0.8 + 0.8/2)$ = 0.048 kg m, that is 0.96 kg at 50 mm.)*
    2. At twice the speed, how much smaller may the flywheel be, if the gas alone counted? *(A quarter. Here it is not
       so: the slider shows how the inertia forces come in.)*
    3. `se.load("v_twin")` is an engine whose counterweight cancels all forces of first order. Look at its
       `se.shaking`.

    The functions below check the numbers of this page; `pytest examples/08_engine.py` runs them.
    """)
    return


@app.function
def test_the_gas_torque_is_that_of_virtual_work():
    with_gas, without = engine(3000), engine(3000)
    del without.elements["gas"]
    times = np.linspace(0, 0.04, 91)
    torque = [se.inverse_dynamics(model, t_eval=times)["motor.torque"] for model in (without, with_gas)]
    theory = gas_torque(100 * np.pi * times)
    np.testing.assert_allclose(torque[0] - torque[1], theory, atol=1e-9)


@app.function
def test_the_shaking_force_at_top_dead_center():
    """r w^2 (m_A + m_B (1 + r/l)), with the masses that crank, rod and piston have at A and B."""
    r, w = STROKE / 2, 3000 * RPM
    shaking = se.shaking(se.kinematics(engine(3000), t_eval=[0.0]))
    np.testing.assert_allclose(shaking.fx[0], r * w**2 * (0.8 + 0.8 * (1 + r / ROD)), rtol=1e-10)


@app.function
def test_the_counterweight_balances_a_share_of_the_reciprocating_mass():
    for along in (1, 2, 4):
        (weight,) = se.balance(engine(3000), {"crank": 0.05}, t_end=0.02, weights=(along, 1)).counterweights
        share = along / (along + 1)
        np.testing.assert_allclose(weight.mass * 0.05, STROKE / 2 * (0.8 + 0.8 * share), rtol=1e-9)


@app.function
def test_the_flywheel_keeps_the_speed_within_its_limits():
    """J = dE / (C w^2) is first order in C, hence two percent of it."""
    cycle = one_cycle(3000)
    speed = running(3000, se.flywheel_for(cycle, fluctuation=0.02))["crank.phid"]
    assert abs(np.ptp(speed) / speed.mean() - 0.02) < 4e-4


if __name__ == "__main__":
    app.run()
