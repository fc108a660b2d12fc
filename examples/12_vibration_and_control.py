"""Vibration and control: the modes of a chain, a regulator for a pole on a cart, and a pendulum that stands by shaking."""

import marimo

__generated_with = "0.25.2"
app = marimo.App(width="medium")

with app.setup:
    import marimo as mo
    import matplotlib.pyplot as plt
    import numpy as np
    from scipy.linalg import expm, solve_continuous_are, solve_discrete_are

    import simengine2d as se


@app.cell(hide_code=True)
def _():
    mo.md(r"""
    # Vibration and control

    Near an equilibrium every mechanism is linear. With the free coordinates $z$ that the joints leave,

    $$\mathbf M\,\delta\ddot z + \mathbf C\,\delta\dot z + \mathbf K\,\delta z = \mathbf 0,\qquad
    \delta z = \mathrm{Re}\,\hat z\,e^{\lambda t}.$$

    `se.modes` finds the $\lambda$ and the shapes $\hat z$. Two hanging rods of length $L$ have two modes, with
    $\omega^2 = \frac{g}{L}\left(3 \mp \frac{6}{\sqrt 7}\right)$: the rods swing together, or against each other.
    """)
    return


@app.cell
def _():
    chain = se.modes(se.builders.chain(2))
    chain
    return (chain,)


@app.cell
def _():
    mode = mo.ui.dropdown(["together", "against each other"], value="against each other", label="mode")
    mode
    return (mode,)


@app.cell
def _(chain, mode):
    chain.motion(0 if mode.value == "together" else 1, amplitude=0.15).player(height=460)
    return


@app.cell(hide_code=True)
def _():
    mo.md(r"""
    ## A pole on a cart

    A pole that stands upright is in equilibrium, too, if an unstable one. A push $u$ on the cart is the input:

    $$\dot x = \mathbf A x + \mathbf B u,\qquad x = (s,\ \varphi,\ \dot s,\ \dot\varphi).$$

    `se.linearize` gives the matrices with their names (`.control()` makes a StateSpace of python-control of them). One
    eigenvalue of $\mathbf A$ is positive: left alone, the pole falls.
    """)
    return


@app.function
def cart_pole(tilt=0.0):
    """A cart on a rail with a pole of 1 m, `tilt` off the vertical; the push is zero until somebody sets it."""
    model = se.Model("cart-pole", parameters={"tilt": tilt})
    model.block("cart", width=0.4, height=0.2, mass=1)
    model.bar("pole", (0, 0), ("-sin(tilt)", "cos(tilt)"), mass=0.2)
    model.add(se.Translational("rail", model.ground, "cart", direction=(1, 0)))
    model.add(se.Revolute("pin", "cart", "pole.start"))
    model.add(se.PointForce("push", "cart"))
    return model


@app.cell
def _():
    small = se.linearize(cart_pole(), inputs=["push.fx"])
    small
    return (small,)


@app.cell(hide_code=True)
def _():
    mo.md(r"""
    The **linear-quadratic regulator** $u = -\mathbf K x$ minimizes $\int (x^T\mathbf Q x + R u^2)\,dt$:

    $$\mathbf K = R^{-1}\mathbf B^T\mathbf P,\qquad
    \mathbf A^T\mathbf P + \mathbf P\mathbf A - \mathbf P\mathbf B R^{-1}\mathbf B^T\mathbf P + \mathbf Q = \mathbf 0.$$

    A force may read any channel of the model, so the regulator is a formula: the cart is pushed by what it says, in the
    full, nonlinear mechanism.
    """)
    return


@app.function
def regulator(small):
    """The gains of the continuous regulator, one for each state."""
    Q, R = np.diag([1.0, 10.0, 1.0, 1.0]), np.array([[0.1]])
    P = solve_continuous_are(small.A, small.B, Q, R)
    return dict(zip(small.states, np.linalg.solve(R, small.B.T @ P).ravel().tolist(), strict=True))


@app.function
def with_regulator(tilt, gains):
    """The cart-pole whose push is the regulator's formula; upright is pi/2."""
    model = cart_pole(tilt)
    terms = [f"{gain}*({name}{' - pi/2' if name == 'pole.phi' else ''})" for name, gain in gains.items()]
    model.elements["push"].fx = f"-({' + '.join(terms)})"
    return model


@app.cell
def _():
    tilt = mo.ui.slider(0.05, 1.0, 0.05, value=0.3, label="let go at (rad)", show_value=True)
    tilt
    return (tilt,)


@app.cell
def _(small, tilt):
    held = se.dynamics(with_regulator(tilt.value, regulator(small)), t_end=8, rtol=1e-8)
    held.player(channels=["pole.phi", "push.fx"])
    return


@app.cell(hide_code=True)
def _():
    mo.md(r"""
    ## The same in a loop of your own

    A real controller samples: it looks every $\Delta t$ = 50 ms, holds its push in between, and its motor is limited to
    8 N. The motion over one period is $x_{k+1} = \mathbf F x_k + \mathbf G u_k$, with both matrices from one exponential,
    and the regulator is that of the sampled motion. `se.Simulator` goes on when it is told to; what happens between two
    calls is your program. An event ends the run where the cart hits the end of its rail.
    """)
    return


@app.function
def sampled_regulator(small, dt):
    """The gains for a push that is held for dt."""
    n = small.A.shape[0]
    held = expm(dt * np.block([[small.A, small.B], [np.zeros((1, n + 1))]]))
    F, G, R = held[:n, :n], held[:n, n:], np.array([[0.1]])
    P = solve_discrete_are(F, G, np.eye(n), R)
    return np.linalg.solve(R + G.T @ P @ G, G.T @ P @ F).ravel()


@app.function
def balance(tilt, gains, states, dt=0.05, limit=8.0):
    """Times, angles off the vertical and pushes, until 8 s or the end of the rail."""
    ends = [se.Event("abs(cart.x) - 1.5", "rising")]
    sim = se.Simulator(cart_pole(tilt), inputs=["push.fx"], events=ends)
    upright = np.array([np.pi / 2 if name == "pole.phi" else 0.0 for name in states])
    history, hit = [], None
    while sim.t < 8 and hit is None:
        force = -gains @ (np.array([sim[name] for name in states]) - upright)
        sim.set("push.fx", float(np.clip(force, -limit, limit)))
        history.append((sim.t, sim["pole.phi"] - np.pi / 2, sim["push.fx"]))
        hit = sim.advance_by(dt)
    return np.array(history), hit


@app.cell
def _(small):
    _, (_ax, _below) = plt.subplots(2, figsize=(7, 4.2), sharex=True, layout="constrained")
    _gains = sampled_regulator(small, 0.05)
    for _tilt in (0.1, 0.2, 0.5):
        _history, _hit = balance(_tilt, _gains, small.states)
        _word = f"hits the end at {_hit.t:.2f} s" if _hit else "held"
        _ax.plot(_history[:, 0], _history[:, 1], label=f"{_tilt} rad: {_word}")
        _below.step(_history[:, 0], _history[:, 2], where="post")
    _ax.set_ylabel("off the vertical, rad")
    _below.set(xlabel="t in s", ylabel="push in N")
    _ax.legend()
    _ax
    return


@app.cell(hide_code=True)
def _():
    mo.md(r"""
    ## A pendulum that stands by shaking

    Kapitza's pendulum has no controller: its pivot shakes up and down by $a\cos\omega t$. Its coefficients are periodic,
    so eigenvalues do not decide; **Floquet's multipliers** do: what becomes of a small deviation in one period. If
    one is larger than one, the pendulum falls; without damping, the best is "neutral", all of size one. Averaging (Kapitza, 1951) says upright is stable if

    $$a\,\omega > \sqrt{2\,g\,\ell},\qquad \ell = \tfrac23 L \text{ for a uniform rod of length } L.$$
    """)
    return


@app.function
def kapitza(omega):
    """The shipped pendulum, drawn upright; its pivot shakes at omega."""
    return se.floquet(se.load("kapitza_pendulum").with_parameters(lean=0, speed=omega), 2 * np.pi / omega)


@app.cell
def _():
    shaking = mo.ui.slider(60, 250, 10, value=190, label="omega in rad/s", show_value=True)
    shaking
    return (shaking,)


@app.cell
def _(shaking):
    kapitza(shaking.value)
    return


@app.cell(hide_code=True)
def _():
    mo.md(r"""
    ## Try it

    1. From where on does the pendulum stand? *(L = 0.3 m and a = 15 mm: $\omega > \sqrt{2 \cdot 9.81 \cdot 0.2}/0.015$ =
       132 rad/s.)*
    2. How fast does the pole fall? *(At first as $e^{pt}$ with
       $p^2 = (M + m)\,m g l / ((M + m)\,(J + m l^2) - m^2 l^2)$ and $l = 0.5$ m: $p$ = 4.10 per second.)*
    3. Let the motor have 20 N. Does it hold the pole at 0.5 rad now?

    The functions below check the numbers of this page; `pytest examples/12_vibration_and_control.py` runs them.
    """)
    return


@app.function
def test_two_rods_swing_as_theory_says():
    theory = [np.sqrt(9.81 * (3 + sign * 6 / np.sqrt(7))) for sign in (-1, 1)]
    np.testing.assert_allclose(se.modes(se.builders.chain(2)).omega, theory, rtol=1e-12)


@app.function
def test_the_pole_falls_at_its_rate():
    M, m, g, half, J = 1.0, 0.2, 9.81, 0.5, 0.2 / 12
    rate = np.sqrt((M + m) * m * g * half / ((M + m) * (J + m * half**2) - (m * half) ** 2))
    found = se.linearize(cart_pole(), inputs=["push.fx"]).eigenvalues
    np.testing.assert_allclose(found.real.max(), rate, rtol=1e-10)
    assert round(rate, 2) == 4.10


@app.function
def test_the_regulator_holds_the_pole_and_without_it_the_pole_falls():
    gains = regulator(se.linearize(cart_pole(), inputs=["push.fx"]))
    off = [
        np.abs(se.dynamics(model, t_end=10, rtol=1e-8)["pole.phi"] - np.pi / 2)
        for model in (with_regulator(0.3, gains), cart_pole(0.3))
    ]
    assert off[0].max() < 0.31 and off[0][-1] < 1e-4 and off[1].max() > 3


@app.function
def test_a_limited_motor_holds_the_pole_unless_it_leans_too_far():
    small = se.linearize(cart_pole(), inputs=["push.fx"])
    gains = sampled_regulator(small, 0.05)
    for tilt in (0.1, 0.2):
        history, hit = balance(tilt, gains, small.states)
        assert hit is None and abs(history[-1, 1]) < 1e-2 and np.abs(history[:, 2]).max() <= 8
    history, hit = balance(0.5, gains, small.states)
    assert hit is not None and np.abs(history[:, 2]).max() == 8


@app.function
def test_kapitza_s_limit():
    """Averaging is right to the order (a / l)^2, here within three percent."""
    limit = np.sqrt(2 * 9.81 * 0.2) / 0.015
    assert kapitza(0.97 * limit).verdict == "unstable" and kapitza(1.03 * limit).verdict == "neutral"
    np.testing.assert_allclose(np.prod(kapitza(190).multipliers), 1, rtol=1e-6)  # nothing damps it


if __name__ == "__main__":
    app.run()
