"""Inverse dynamics and equilibrium: the torque that opens a door, motors that share, and rest by three approaches."""

import marimo

__generated_with = "0.25.2"
app = marimo.App(width="medium")

with app.setup:
    from math import cos, pi, radians, sin

    import marimo as mo
    import matplotlib.pyplot as plt
    import numpy as np
    from scipy.optimize import brentq

    import simengine2d as se


@app.cell(hide_code=True)
def _():
    mo.md(r"""
    # Inverse dynamics and equilibrium

    Dynamics goes from forces to motion. **Inverse dynamics** goes back: the motion is given, and we ask for the forces that
    make it. **Equilibrium** asks where forces leave a mechanism at rest.

    ## Which torque opens the door?

    A door of mass $m = 30$ kg, half-width $L = 0.5$ m and $J' = 2.5$ kg m² has a closer, a torsion spring $k = 8$ with a damper
    $c = 1$ (SI units). A motor shall open it in two seconds by $\varphi = \tfrac{\pi}{2}\sin\tfrac{\pi t}{4}$.

    The motion is a driving constraint, so no degree of freedom is left. Accelerations follow from
    $\boldsymbol\Phi_\mathbf q\ddot{\mathbf q} = \boldsymbol\gamma$, forces from

    $$\boldsymbol\Phi_\mathbf q^T\boldsymbol\lambda = \mathbf Q^A - \mathbf M\ddot{\mathbf q} ,$$

    and the multiplier of the driver is the torque of the motor. For one body we know it beforehand:
    $T = (J' + mL^2)\,\ddot\varphi + c\,\dot\varphi + k\,\varphi$.
    """)
    return


@app.cell
def _():
    k = mo.ui.slider(0, 20, step=1, value=8, label="closer k, Nm/rad", show_value=True)
    k
    return (k,)


@app.cell
def _(k):
    door = se.Model("door", gravity=(0, 0))
    panel = door.body("door", mass=30, inertia=2.5, at=(0.5, 0), points={"H": (-0.5, 0)})
    door.add(se.Revolute("hinge", door.ground, panel["H"]))
    door.add(se.Spring("closer", se.angle(door.ground, panel), stiffness=k.value, damping=1))
    door.add(se.Driver("motor", se.angle(door.ground, panel), "pi/2*sin(pi*t/4)"))
    r = se.inverse_dynamics(door, t_end=2, step=0.01)
    r.plot("motor.torque", "motor.power")
    return (r,)


@app.cell
def _(r):
    r.player(forces=True, channels=["motor.torque", "door.phi"])
    return


@app.cell
def _(r):
    print(f"largest torque {np.abs(r['motor.torque']).max():.4f} Nm")
    print(f"peak power {r['motor.power'].max():.4f} W, energy {r['motor.energy'][-1]:.4f} J")
    print(f"the hinge carries up to {np.hypot(r['hinge.fx'], r['hinge.fy']).max():.3f} N")
    # the torque alone, without the driver
    again = se.dynamics(se.feed_forward(r), t_eval=r.t, rtol=1e-10)
    followed = np.abs(again["door.phi"] - r["door.phi"]).max()
    print(f"fed forward, the door follows within {followed:.1e} rad")
    return (followed,)


@app.cell(hide_code=True)
def _():
    mo.md(r"""
    At $t = 0$ the door must already move with $\dot\varphi = \pi^2/8$; this motion starts with a jerk, and the damper is all
    the motor feels.

    ## A motor somewhere else, and two that share

    The motion may be wanted at one place and made at another. Here the rocker of a four-bar shall swing, and the motor is on
    the crank. The torque differs, the power cannot. Two motors can make the motion in many ways; the smallest sum of squares
    is chosen, within the limits you give.
    """)
    return


@app.cell
def _():
    linkage = se.builders.four_bar(1, 2, 3, 3, crank_angle="110*deg")
    linkage.add(se.Driver("wanted", "angle(ground, rocker)", "2.26 + 0.1*sin(2*t)"))
    both = {"crank motor": "angle(ground, crank)", "rocker motor": "angle(ground, rocker)"}
    at_rocker = se.inverse_dynamics(linkage, t_end=3)
    at_crank = se.inverse_dynamics(linkage, t_end=3, actuators={"motor": "angle(ground, crank)"})
    shared = se.inverse_dynamics(linkage, t_end=3, actuators=both)
    limited = se.inverse_dynamics(linkage, t_end=3, actuators=both, limits={"crank motor": (-5, 5)})
    for _what, _run, _name in (
        ("at the rocker alone", at_rocker, "wanted.torque"),
        ("at the crank alone", at_crank, "motor.torque"),
        ("shared: the crank's part", shared, "crank motor.effort"),
        ("the same within 5 Nm", limited, "crank motor.effort"),
    ):
        print(f"{_what:25} {np.abs(_run[_name]).max():7.3f} Nm")
    return at_crank, at_rocker, limited, shared


@app.cell(hide_code=True)
def _():
    mo.md(r"""
    ## Where does it rest?

    At rest $\dot{\mathbf q} = \ddot{\mathbf q} = \mathbf 0$, so $\boldsymbol\Phi_\mathbf q^T\boldsymbol\lambda = \mathbf Q^A$ and
    $\boldsymbol\Phi = \mathbf 0$ remain. A pendulum of 10 kg, its center 1 m from the pin, has a torsion spring $k = 25$ that wants
    it level. Moments about the pin give one equation,

    $$k\,\varphi + m g L \cos\varphi = 25\,\varphi + 98.1\cos\varphi = 0 .$$

    Three approaches: **Newton's method** on the equations, quick if the guess is good; **relaxation**, let it move with damping
    until it stops; **energy**, go downhill to a minimum of $V = \tfrac12 k\varphi^2 + mgL\sin\varphi$.
    """)
    return


@app.cell
def _():
    guess = mo.ui.slider(-3, 4, step=0.1, value=3.4, label="start at phi, rad", show_value=True)
    guess
    return (guess,)


@app.cell
def _(guess):
    pendulum = se.Model("sprung pendulum", parameters={"k": 25})
    bar = pendulum.body("bar", mass=10, inertia=10 / 3, at=(1, 0), points={"O": (-1, 0)})
    pendulum.add(se.Revolute("O", pendulum.ground.at(0, 0), bar["O"]))
    pendulum.add(se.Spring("spring", se.angle(pendulum.ground, bar), stiffness="k"))
    rest = {
        method: se.equilibrium(pendulum, method=method, start={"bar.phi": guess.value})
        for method in ("newton", "relaxation", "energy")
    }
    for _method, _found in rest.items():
        print(f"{_method:10} phi = {_found['bar.phi'][0]:.9f} rad, {_found.stability[0].verdict}")
    return pendulum, rest


@app.cell
def _(pendulum, rest):
    every = se.equilibrium(pendulum, all=True)
    phi = np.linspace(-3, 4.2, 300)
    _, ax = plt.subplots(figsize=(7, 3))
    ax.plot(phi, 12.5 * phi**2 + 98.1 * np.sin(phi))
    for _one in every:
        _phi, _stable = _one["bar.phi"][0], _one.stability[0].verdict == "stable"
        ax.plot(_phi, 12.5 * _phi**2 + 98.1 * sin(_phi), "go" if _stable else "rx")
    for _found in rest.values():
        ax.axvline(_found["bar.phi"][0], color="0.8", zorder=0)
    ax.set(xlabel="phi [rad]", ylabel="potential energy [J]")
    ax
    return (every,)


@app.cell(hide_code=True)
def _():
    mo.md(r"""
    Green points are minima, where it stays; the red cross is a maximum. `se.explain(pendulum, "equilibrium")` shows the
    iterations. With a stiffer spring the maximum and a minimum meet and vanish: the path of equilibria *folds* where
    $\cos\varphi + \varphi\sin\varphi = 0$.
    """)
    return


@app.cell
def _(pendulum):
    path = se.equilibrium_path(pendulum, "k", 60, start={"bar.phi": 3.57})
    fold = 98.1 * sin(brentq(lambda phi: cos(phi) + phi * sin(phi), 2, 3.1))
    print(f"fold at k = {path.folds[0][0]:.9f}, in theory {fold:.9f} Nm/rad")
    path.plot()
    return fold, path


@app.cell(hide_code=True)
def _():
    mo.md(r"""
    Design turns the question round: which spring holds the arm of a desk lamp at 40°? `se.preload` finds its free length.
    """)
    return


@app.cell
def _():
    angle = radians(40)
    lamp = se.Model("lamp")
    arm = lamp.bar("arm", (0, 0), (cos(angle), sin(angle)), mass=2)
    lamp.add(se.Revolute("foot", lamp.ground, arm["start"]))
    lamp.add(se.Spring("spring", se.distance(lamp.ground.at(0, 1), arm["end"]), stiffness=200, free=0.4))
    loaded = se.preload(lamp, "spring")
    stays = se.equilibrium(loaded.model)
    loaded
    return angle, loaded, stays


@app.cell(hide_code=True)
def _():
    mo.md(r"""
    ## Your turn

    1. Without the closer's spring ($k = 0$) the door needs its largest torque at the end. Why is it negative, and what is it?
       ($-(J' + mL^2)\,\tfrac{\pi}{2}\tfrac{\pi^2}{16} = -9.689$ Nm: the motor brakes.)
    2. From which starting angles does relaxation end in the other minimum?
    3. Show by moments about the foot that the lamp's spring force must be $F = \tfrac12 m g\,d$ with the
       distance $d$ between the spring's ends (for a spring fixed 1 m above the foot of an arm of 1 m).
    """)
    return


@app.cell
def test_the_torque_is_that_of_one_equation(k, r):
    _angle, _rate = pi / 2 * np.sin(pi * r.t / 4), pi**2 / 8 * np.cos(pi * r.t / 4)
    _theory = (k.value - (2.5 + 30 * 0.5**2) * (pi / 4) ** 2) * _angle + _rate
    np.testing.assert_allclose(r["motor.torque"], _theory, atol=1e-10)
    np.testing.assert_allclose(-(2.5 + 30 * 0.5**2) * pi / 2 * pi**2 / 16, -9.689, atol=1e-3)
    return


@app.cell
def test_the_torque_alone_moves_the_door(followed):
    assert followed < 1e-6
    return


@app.cell
def test_power_is_the_same_wherever_the_motor_is(at_crank, at_rocker, limited, shared):
    np.testing.assert_allclose(at_crank["motor.power"], at_rocker["wanted.power"], atol=1e-9)
    for _run in (shared, limited):
        _power = _run["crank motor.power"] + _run["rocker motor.power"]
        np.testing.assert_allclose(_power, at_rocker["wanted.power"], atol=1e-9)
    assert np.abs(limited["crank motor.effort"]).max() <= 5 + 1e-9
    return


@app.cell
def test_every_approach_ends_where_moments_balance(every, rest):
    for _one in [*rest.values(), *every]:
        _phi = _one["bar.phi"][0]
        assert abs(25 * _phi + 98.1 * cos(_phi)) < 1e-5
        assert abs(_one["O.fy"][0] - 98.1) < 1e-6  # the pin carries the weight
        assert (_one.stability[0].verdict == "stable") == (25 - 98.1 * sin(_phi) > 0)
    assert len(every) == 3
    return


@app.cell
def test_the_path_folds_where_theory_says(fold, path):
    np.testing.assert_allclose(path.folds[0][0], fold, rtol=1e-8)
    return


@app.cell
def test_the_lamp_stays_where_it_is_put(angle, loaded, stays):
    np.testing.assert_allclose(stays["arm.phi"][0], angle, atol=1e-8)
    _d = np.hypot(cos(angle), 1 - sin(angle))
    np.testing.assert_allclose(abs(stays["spring.force"][0]), 2 * 9.81 / 2 * _d, rtol=1e-8)
    return


if __name__ == "__main__":
    app.run()
