"""The one-bar linkage: augmented equations, Baumgarte's stabilization, elliptic functions, and the force in the pin."""

import marimo

__generated_with = "0.25.2"
app = marimo.App(width="medium")

with app.setup:
    from math import cos, degrees, pi, radians, sin, sqrt

    import marimo as mo
    import matplotlib.pyplot as plt
    import numpy as np
    from scipy.special import ellipj, ellipk

    import simengine2d as se


@app.cell(hide_code=True)
def _():
    mo.md(r"""
    # The one-bar linkage

    A link of length $L = 0.5$ m and mass $m = 0.3$ kg hangs on a pin and is let go. This is the smallest mechanism with
    a joint, so everything about the *augmented method* fits on one page: the equations, their solution, the error that
    grows, how to stop it, and the force in the pin. Elliptic functions tell us whether the numbers are right.

    ## The equations

    The link has the coordinates $\mathbf q = (x, y, \theta)$ of its center and its angle. The pin says that one end
    stays at the origin:

    $$\mathbf C(\mathbf q) = \begin{bmatrix} x - \tfrac L2 \cos\theta \\ y - \tfrac L2 \sin\theta \end{bmatrix} = \mathbf 0 .$$
    """)
    return


@app.cell
def _():
    link = se.symbolic.SymbolicSystem(
        q="x y theta",
        C=["x - L/2*cos(theta)", "y - L/2*sin(theta)"],
        M=["m", "m", "m*L^2/12"],
        Q=[0, "-m*g", 0],
        parameters={"L": 0.5, "m": 0.3, "g": 9.81},
    )
    link
    return (link,)


@app.cell(hide_code=True)
def _():
    mo.md(r"""
    The Jacobian $\mathbf C_\mathbf q$ was found by differentiation. Differentiating $\mathbf C = \mathbf 0$ twice with
    respect to time gives $\mathbf C_\mathbf q \ddot{\mathbf q} = \mathbf Q_d$, where $\mathbf Q_d$ holds what is
    quadratic in the velocities, here the centripetal acceleration of the center.

    The pin pushes on the link with forces that do no work. They have the form $-\mathbf C_\mathbf q^T \boldsymbol\lambda$,
    with one multiplier $\lambda$ for each equation. Newton's law and the accelerations together are five linear equations
    for five unknowns:

    $$\begin{bmatrix} \mathbf M & \mathbf C_\mathbf q^T \\ \mathbf C_\mathbf q & \mathbf 0 \end{bmatrix}
      \begin{bmatrix} \ddot{\mathbf q} \\ \boldsymbol\lambda \end{bmatrix} =
      \begin{bmatrix} \mathbf Q_e \\ \mathbf Q_d \end{bmatrix}.$$

    At rest, with $\theta = 0$, they can be solved by hand. The solution is
    $\ddot\theta = -\tfrac{3g}{2L} = -29.43$ rad/s², and the pin carries $-\lambda_2 = mg/4$, a quarter of the weight.
    """)
    return


@app.cell
def _(link):
    matrix = link.lambdify("augmented")(0, [0.25, 0, 0], [0, 0, 0])
    right = link.lambdify("right_side")(0, [0.25, 0, 0], [0, 0, 0])
    solution = np.linalg.solve(matrix, right)
    print(matrix)
    print("xdd, ydd, thetadd, lam1, lam2 =", np.round(solution, 5))
    return matrix, right, solution


@app.cell(hide_code=True)
def _():
    mo.md(r"""
    ## The motion

    Integrating the accelerations gives the motion. The same link is now a body with a `Revolute` joint; choose where it
    is let go. With the angle $\psi = \theta + \pi/2$ from the vertical, $k = \sin(\psi_0/2)$ and
    $\omega^2 = \tfrac{3g}{2L}$, the exact motion is

    $$\sin\frac\psi2 = k\,\operatorname{sn}\bigl(K(k) - \omega t,\, k\bigr), \qquad T = \frac{4\,K(k)}{\omega}.$$
    """)
    return


@app.cell
def _():
    release = mo.ui.slider(-80, 60, step=5, value=0, label="let go at theta, degrees", show_value=True)
    release
    return (release,)


@app.cell
def _(release):
    L, m, g, theta0 = 0.5, 0.3, 9.81, radians(release.value)
    model = se.Model("link", gravity=(0, -g))
    bar = model.bar("bar", (0, 0), (L * cos(theta0), L * sin(theta0)), mass=m)
    model.add(se.Revolute("pin", model.ground, bar["start"]))
    t = np.linspace(0, 3, 301)
    r = se.dynamics(model, t_eval=t, rtol=1e-10, formulation=se.Augmented(alpha=5, beta=5))
    return L, g, m, model, r, t, theta0


@app.cell
def _(L, g, r, t, theta0):
    omega, psi0 = sqrt(1.5 * g / L), theta0 + pi / 2
    k = sin(psi0 / 2)
    sn, *_ = ellipj(ellipk(k**2) - omega * t, k**2)
    exact = 2 * np.arcsin(k * sn) - pi / 2
    period = 4 * ellipk(k**2) / omega
    print(f"period {period:.6f} s, largest difference {np.abs(r['bar.phi'] - exact).max():.1e} rad")
    ax = r.plot("bar.phi")
    ax.plot(t[::5], exact[::5], "k.", label="elliptic functions")
    ax.legend()
    ax
    return exact, period, psi0


@app.cell(hide_code=True)
def _():
    mo.md(r"""
    ## The force in the pin

    The multipliers are the reactions: $R_x = -\lambda_1$, $R_y = -\lambda_2$. At the lowest point the pin carries the
    weight and the centripetal force, $R_y = m g\,\bigl(1 + \tfrac32 (1 - \cos\psi_0)\bigr)$; let go horizontally, that is
    two and a half times the weight. The player draws the force as an arrow.
    """)
    return


@app.cell
def _(r):
    r.player(forces=True, channels=["pin.fx", "pin.fy"], trace=["bar.end"])
    return


@app.cell
def _(g, m, model, period, psi0):
    quarter = se.dynamics(model, t_eval=[0, period / 4], rtol=1e-10)
    peak = m * g * (1 + 1.5 * (1 - cos(psi0)))
    print(f"at the lowest point R_y = {quarter['pin.fy'][1]:.6f} N, in theory {peak:.6f} N")
    quarter.free_body("bar", t=period / 4)
    return peak, quarter


@app.cell(hide_code=True)
def _():
    mo.md(r"""
    ## Drift, and Baumgarte's cure

    The equations above hold the *accelerations* of the pin at zero. Errors of each step are integrated twice, and the pin
    leaves its place slowly. Baumgarte replaced $\ddot{\mathbf C} = \mathbf 0$ by an equation whose solutions decay,

    $$\ddot{\mathbf C} + 2\alpha\,\dot{\mathbf C} + \beta^2\,\mathbf C = \mathbf 0 .$$

    Choose $\alpha = \beta$. Zero is the plain augmented method. Larger values pull harder, but a fast decay needs short
    steps, so there is a best value for a step of 0.02 s.
    """)
    return


@app.cell
def _():
    alpha = mo.ui.slider(1, 60, step=1, value=10, label="alpha = beta, 1/s", show_value=True)
    alpha
    return (alpha,)


@app.cell
def _(alpha, model):
    def distance(pull):
        """How far the pin is from its place, over one minute."""
        method = se.Augmented(alpha=pull, beta=pull)
        run = se.dynamics(model, t_end=60, step=0.02, integrator="rk4", formulation=method)
        return run.t, np.hypot(run["bar.start.x"], run["bar.start.y"]) + 1e-18

    free, held = distance(0), distance(alpha.value)
    _, drift_ax = plt.subplots(figsize=(7, 3))
    drift_ax.semilogy(*free, label="plain")
    drift_ax.semilogy(*held, label=f"alpha = beta = {alpha.value}")
    drift_ax.set(xlabel="t [s]", ylabel="distance of the pin from its place [m]", ylim=(1e-10, 1))
    drift_ax.legend()
    drift_ax
    return free, held


@app.cell(hide_code=True)
def _():
    mo.md(r"""
    Fixed steps have another error: some methods damp. Newmark's method with the usual $\beta = 0.3025$, $\gamma = 0.6$
    loses energy; generalized-alpha loses much less with the same steps. Nothing is lost in reality.
    """)
    return


@app.cell
def _(model):
    lost = {}
    for method in ("newmark", "generalized_alpha"):
        energy = se.dynamics(model, t_end=10, step=0.005, integrator=method).energy()
        lost[method] = (energy.total[0] - energy.total[-1]) / np.ptp(energy.kinetic)
        print(f"{method} with steps of 5 ms loses {100 * lost[method]:.4f} % in 10 s")
    return (lost,)


@app.cell(hide_code=True)
def _():
    mo.md(r"""
    ## Your turn

    1. Which release angle makes the largest force on the pin exactly twice the weight? (Solve the formula above for
       $\psi_0$: $\cos\psi_0 = \tfrac13$, so $\theta_0 = -19.5°$.)
    2. Small swings have the period $2\pi/\omega = 1.158$ s. How much longer is it if you let go at $\theta = 0$?
    3. What does the run say with $\alpha = \beta = 140$? The constraint decays like $e^{-\alpha t}$, and RK4 is stable for
       $\alpha h < 2.79$ at best. Halve the step: now it works.
    """)
    return


@app.cell
def test_the_matrix_is_that_of_the_lecture(matrix, right, solution):
    np.testing.assert_allclose(np.diag(matrix)[:3], [0.3, 0.3, 0.00625], rtol=1e-14)
    np.testing.assert_allclose(matrix[3:, :3], [[1, 0, 0], [0, 1, -0.25]], atol=1e-15)
    np.testing.assert_allclose(right, [0, -2.943, 0, 0, 0], rtol=1e-14)
    np.testing.assert_allclose(solution, [0, -7.3575, -29.43, 0, -0.3 * 9.81 / 4], atol=1e-13)
    return


@app.cell
def test_the_motion_is_the_elliptic_one(exact, r):
    np.testing.assert_allclose(r["bar.phi"], exact, atol=1e-7)  # rtol = 1e-10 over 3 s
    return


@app.cell
def test_the_pin_carries_what_theory_says(peak, quarter):
    np.testing.assert_allclose(quarter["pin.fy"][1], peak, rtol=1e-7)
    np.testing.assert_allclose(quarter["pin.fx"][1], 0, atol=1e-6 * peak)
    return


@app.cell
def test_baumgarte_holds_the_pin(free, held):
    assert held[1][-1] < 0.05 * free[1][-1]
    return


@app.cell
def test_generalized_alpha_loses_less_than_newmark(lost):
    assert 0 < 20 * abs(lost["generalized_alpha"]) < lost["newmark"]
    return


@app.cell
def test_the_answers_of_the_exercises():
    np.testing.assert_allclose(1 + 1.5 * (1 - cos(radians(90 - 19.4712))), 2, atol=1e-5)
    np.testing.assert_allclose(2 * pi / sqrt(1.5 * 9.81 / 0.5), 1.158, atol=5e-4)
    np.testing.assert_allclose(4 * ellipk(0.5) / (2 * pi), 1.18034, atol=1e-5)  # 18 % longer
    assert round(degrees(np.arccos(1 / 3)) - 90, 1) == -19.5
    return


@app.cell
def test_stiff_stabilization_needs_short_steps(model):
    fast = {"t_end": 1, "integrator": "rk4", "formulation": se.Augmented(alpha=140, beta=140)}
    try:
        se.dynamics(model, step=0.02, **fast)
        raise AssertionError("it should have grown beyond all bounds")
    except se.SimEngineError as error:
        assert "smaller step" in str(error)
    assert se.dynamics(model, step=0.01, **fast).t[-1] == 1
    return


if __name__ == "__main__":
    app.run()
