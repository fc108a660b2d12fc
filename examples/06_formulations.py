"""Formulations and integrators: multipliers, Baumgarte, penalty and matrix R on one sprung four-bar, then Euler to Adams."""

import marimo

__generated_with = "0.25.2"
app = marimo.App(width="medium")

with app.setup:
    import marimo as mo
    import matplotlib.pyplot as plt
    import numpy as np

    import simengine2d as se


@app.cell(hide_code=True)
def _():
    mo.md(r"""
    # Formulations and integrators

    The equations of a mechanism are differential-algebraic,

    $$\mathbf M \ddot{\mathbf q} + \boldsymbol\Phi_\mathbf q^T \boldsymbol\lambda = \mathbf Q, \qquad \boldsymbol\Phi = \mathbf 0 ,$$

    but most integrators want $\dot{\mathbf y} = \mathbf f(\mathbf y, t)$ with $\mathbf y = (\mathbf q, \dot{\mathbf q})$. A
    **formulation** makes one out of the other: at a given state it yields the accelerations. We compare the classical
    ones on a four-bar in natural coordinates, with a spring from a fixed point S to the pin C.
    """)
    return


@app.cell
def _():
    model = se.builders.four_bar(1, 2, 1.8, 2.5, crank_angle=1.1, masses=[0.7, 1.9, 1.1])
    model.ground.points["S"] = (3, 2)
    model.add(se.Spring("spring", "distance(ground.S, coupler.end)", stiffness=40, free=0.5))
    model.draw()
    return (model,)


@app.cell(hide_code=True)
def _():
    mo.md(r"""
    ## Three ways to the accelerations

    The arrays of the initial state, at rest, are enough to try each formulation by hand.

    **Lagrange multipliers.** Differentiate the constraints twice, $\boldsymbol\Phi_\mathbf q\ddot{\mathbf q} =
    \boldsymbol\gamma$, and solve for everything at once:

    $$\begin{bmatrix} \mathbf M & \boldsymbol\Phi_\mathbf q^T \\ \boldsymbol\Phi_\mathbf q & \mathbf 0 \end{bmatrix}
      \begin{bmatrix} \ddot{\mathbf q} \\ \boldsymbol\lambda \end{bmatrix} =
      \begin{bmatrix} \mathbf Q \\ \boldsymbol\gamma - 2\xi\omega\dot{\boldsymbol\Phi} - \omega^2\boldsymbol\Phi \end{bmatrix}.$$

    The last two terms are Baumgarte's. They are zero here, and pull a motion back that has drifted off the constraints.
    """)
    return


@app.cell
def _(model):
    start = se.formulate(model, "natural").at()
    M, Q, Phi_q, gamma = start.M, start.QA, start.Phi_q, start.gamma
    n, m = len(Q), len(gamma)
    whole = np.block([[M, Phi_q.T], [Phi_q, np.zeros((m, m))]])
    by_multipliers = np.linalg.solve(whole, np.concatenate([Q, gamma]))[:n]
    print("qdd =", by_multipliers)
    return M, Phi_q, Q, by_multipliers, gamma


@app.cell(hide_code=True)
def _():
    mo.md(r"""
    **Penalty.** Replace each constraint by a very stiff spring, damper and mass that pull it back,

    $$\boldsymbol\lambda = \alpha\,(\ddot{\boldsymbol\Phi} + 2\xi\omega\dot{\boldsymbol\Phi} + \omega^2\boldsymbol\Phi).$$

    No multipliers are left, and redundant constraints do no harm:

    $$(\mathbf M + \alpha\,\boldsymbol\Phi_\mathbf q^T\boldsymbol\Phi_\mathbf q)\,\ddot{\mathbf q} = \mathbf Q -
      \alpha\,\boldsymbol\Phi_\mathbf q^T (\dot{\boldsymbol\Phi}_\mathbf q\dot{\mathbf q} + 2\xi\omega\dot{\boldsymbol\Phi} +
      \omega^2\boldsymbol\Phi) .$$

    **Matrix R.** Its columns span the motions that the constraints allow, $\boldsymbol\Phi_\mathbf q \mathbf R = \mathbf 0$. With
    $\dot{\mathbf q} = \mathbf R\dot{\mathbf z}$ as many equations as degrees of freedom remain, here one:

    $$\mathbf R^T\mathbf M\mathbf R\,\ddot{\mathbf z} = \mathbf R^T(\mathbf Q - \mathbf M\dot{\mathbf R}\dot{\mathbf z}) .$$
    """)
    return


@app.cell
def _(M, Phi_q, Q, gamma):
    alpha = 1e7
    by_penalty = np.linalg.solve(M + alpha * Phi_q.T @ Phi_q, Q + alpha * Phi_q.T @ gamma)

    R = np.linalg.svd(Phi_q)[2][-1:].T  # the null space
    R = R / R[0]  # z is the first coordinate, B.x
    M_bar, Q_bar = R.T @ M @ R, R.T @ Q
    by_matrix_R = (R @ np.linalg.solve(M_bar, Q_bar)).ravel()
    print("penalty: ", by_penalty)
    print("matrix R:", by_matrix_R)
    return R, by_matrix_R, by_penalty


@app.cell(hide_code=True)
def _():
    mo.md(r"""
    ## The motion by each of them

    `formulation=` chooses one for a whole run. The table compares with a very accurate reference: differences of
    positions, velocities, accelerations and reactions, the constraint errors, the change of energy and the time. A
    `projection` returns to the constraints after each step, `ggl` and `index3` are for implicit integrators.
    """)
    return


@app.cell
def _(model):
    names = ["augmented", "penalty", "matrix_r", "projection", "ggl"]
    formulations = se.lab.compare(model, "natural", names, [None], t_end=2)
    formulations
    return (formulations,)


@app.cell
def _(formulations):
    formulations.trials[2].results.player(trace=["coupler.end"], channels=["rocker.phi", "spring.|f|"])
    return


@app.cell(hide_code=True)
def _():
    mo.md(r"""
    How large must the penalty be? The error falls like $1/\alpha$, until the equations become ill-conditioned.
    """)
    return


@app.cell
def _():
    exponent = mo.ui.slider(3, 11, step=1, value=7, label="log10 of alpha", show_value=True)
    exponent
    return (exponent,)


@app.cell
def _(exponent, model):
    exact = se.dynamics(model, t_end=2, step=0.01, rtol=1e-11)

    def penalty_error(size):
        how = {"coordinates": "natural", "formulation": se.Penalty(size), "rtol": 1e-10}
        run = se.dynamics(model, t_eval=exact.t, **how)
        return np.abs(run.q - exact.q).max()

    errors = {size: penalty_error(size) for size in (1e3, 1e5, 1e7, 1e9)}
    _, ax = plt.subplots(figsize=(6, 3))
    ax.loglog(list(errors), list(errors.values()), "o-")
    ax.loglog(10.0**exponent.value, penalty_error(10.0**exponent.value), "rs")
    ax.set(xlabel="alpha", ylabel="largest error of q")
    ax
    return errors, exact


@app.cell(hide_code=True)
def _():
    mo.md(r"""
    ## Integrators

    With accelerations at hand, any integrator of $\dot{\mathbf y} = \mathbf f$ works. Single-step or multistep, explicit or
    implicit, here with the same fixed step:

    | method | formula |
    | --- | --- |
    | forward Euler | $\mathbf y_1 = \mathbf y_0 + h\,\dot{\mathbf y}_0$ |
    | Heun, Runge-Kutta of order 2 | the mean of the slopes at both ends, the second predicted by Euler |
    | trapezoidal rule | the same mean, but implicit: solved by iteration |
    | Adams-Bashforth-Moulton | $\tfrac{h}{24}(55\dot{\mathbf y}_0 - 59\dot{\mathbf y}_{-1} + 37\dot{\mathbf y}_{-2} - 9\dot{\mathbf y}_{-3})$, then corrected |
    """)
    return


@app.cell
def _():
    step = mo.ui.slider(1, 20, step=1, value=5, label="step h, ms", show_value=True)
    step
    return (step,)


@app.cell
def _(model, step):
    methods = ["forward_euler", "heun", "trapezoidal", "rk4", "adams_bashforth_moulton"]
    integrators = se.lab.compare(model, "natural", ["augmented"], methods, t_end=2, step=step.value / 1000)
    integrators
    return (integrators,)


@app.cell(hide_code=True)
def _():
    mo.md(r"""
    Adams evaluates $\mathbf f$ twice per step, RK4 four times; the trapezoidal rule pays for its stability with iterations.

    ## Your turn

    1. At the start $\ddot x_B = 6.518$ m/s². Change $\alpha$ to 10 in the penalty cell: 6.508. Compute
       $\boldsymbol\Phi_\mathbf q\ddot{\mathbf q}$ with it; it is not zero any more. What does that mean for the bars?
    2. Add a second copy of one constraint (stack a row of `Phi_q` twice). Which of the three solutions by hand still works?
    3. Halve the step: by which factors do the errors of Heun and RK4 fall? (4 and 16.)
    """)
    return


@app.cell
def test_all_ways_lead_to_the_same_accelerations(M, Phi_q, Q, R, by_matrix_R, by_multipliers, by_penalty):
    np.testing.assert_allclose(by_matrix_R, by_multipliers, rtol=1e-10)
    np.testing.assert_allclose(by_penalty, by_multipliers, rtol=1e-4)
    np.testing.assert_allclose(Phi_q @ R, 0, atol=1e-12)
    assert abs(by_multipliers[0] - 6.518) < 1e-3
    soft = np.linalg.solve(M + 10 * Phi_q.T @ Phi_q, Q)
    assert abs(soft[0] - 6.508) < 1e-3 and np.abs(Phi_q @ soft).max() > 0.1
    return


@app.cell
def test_the_engine_has_the_same_accelerations(by_multipliers, exact):
    np.testing.assert_allclose(exact["coupler.start.xdd"][0], by_multipliers[0], rtol=1e-10)
    np.testing.assert_allclose(exact["coupler.end.ydd"][0], by_multipliers[3], rtol=1e-10)
    return


@app.cell
def test_all_formulations_find_the_same_motion(formulations):
    assert len(formulations.trials) == 5
    assert all(trial.q < 1e-5 for trial in formulations.trials)
    return


@app.cell
def test_the_error_of_the_penalty_is_inverse_to_it(errors):
    slope = np.polyfit(np.log(list(errors)), np.log(list(errors.values())), 1)[0]
    np.testing.assert_allclose(slope, -1, atol=0.05)
    return


@app.cell
def test_higher_orders_are_more_accurate(integrators):
    error = {trial.integrator: trial.q for trial in integrators.trials}
    assert error["rk4"] < error["adams_bashforth_moulton"] < error["heun"] < error["forward_euler"]
    return


@app.cell
def test_halving_the_step_divides_the_errors_by_two_to_the_order(model):
    def _run(step):
        pair = se.lab.compare(model, "natural", ["augmented"], ["heun", "rk4"], t_end=1, step=step)
        return np.array([trial.q for trial in pair.trials])

    np.testing.assert_allclose(_run(0.01) / _run(0.005), [4, 16], rtol=0.15)
    return


@app.cell
def test_redundant_constraints_do_the_penalty_no_harm(M, Phi_q, Q, by_penalty):
    twice = np.vstack([Phi_q, Phi_q[:1]])
    np.testing.assert_allclose(np.linalg.solve(M + 1e7 * twice.T @ twice, Q), by_penalty, rtol=1e-4)
    assert np.linalg.matrix_rank(twice) < len(twice)  # so the matrix with the multipliers is singular
    return


if __name__ == "__main__":
    app.run()
