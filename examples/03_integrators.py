"""Stability and accuracy of integrators: backward Euler by hand, both of its roots, Van der Pol, and MATLAB's ODE suite."""

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
    # Stability and accuracy of integrators

    An integrator replaces $\dot y = f(t, y)$ by a formula for the next value. Two questions decide whether it is any good:
    how large may the step be before the numbers blow up (**stability**), and how fast does the error shrink with the
    step (**accuracy**)?

    ## Stability

    Apply a method to $\dot y = \lambda y$. One step multiplies $y$ by a number $R(z)$ with $z = h\lambda$:

    $$\text{forward Euler: } R = 1 + z, \qquad \text{backward Euler: } R = \frac{1}{1 - z}.$$

    Where $|R(z)| \le 1$, errors do not grow. Choose a method and see where that is.
    """)
    return


@app.cell
def _():
    methods = ["forward_euler", "heun", "rk4", "adams_bashforth", "backward_euler", "trapezoidal", "bdf"]
    method = mo.ui.dropdown(methods, value="forward_euler", label="method")
    method
    return (method,)


@app.cell
def _(method):
    se.lab.stability_region(method.value)
    return


@app.cell(hide_code=True)
def _():
    mo.md(r"""
    A spring that returns to a slow motion at the rate 50, $\dot y = -50\,(y - \cos t)$, has $\lambda = -50$. Forward Euler
    is stable for $|1 - 50h| \le 1$, so for $h \le 0.04$, although the solution itself is as slow as a cosine. That is
    **stiffness**. Move the step beyond 0.04. `se.lab.largest_step` computes such limits, also for mechanisms.
    """)
    return


@app.cell
def _():
    step = mo.ui.slider(0.01, 0.06, step=0.002, value=0.036, label="step h, s", show_value=True)
    step
    return (step,)


@app.cell
def _(step):
    stiff = lambda t, y: -50 * (y - np.cos(t))
    _, ax = plt.subplots(figsize=(7, 3))
    for _name in ("forward_euler", "backward_euler"):
        _s = se.ivp.solve(stiff, (0, 2), [0.0], _name, h=step.value)
        ax.plot(_s.t, _s.y[0], ".-", label=_name)
    ax.set(xlabel="t [s]", ylabel="y", ylim=(-0.5, 2.5))
    ax.legend()
    ax
    return (stiff,)


@app.cell
def _(stiff):
    limits = {
        name: se.lab.largest_step(stiff, name, y0=[0.0])
        for name in ("forward_euler", "rk4", "backward_euler")
    }
    for _limit in limits.values():
        print(_limit)
    return (limits,)


@app.cell(hide_code=True)
def _():
    mo.md(r"""
    ## Backward Euler by hand

    Backward Euler uses the slope at the *end* of the step, $y_1 = y_0 + h f(t_1, y_1)$, so the unknown is on both sides. Three
    examples, all with $h = 0.1$, show what that means.

    **A linear equation**, $\dot y = -0.1y + \sin t$, $y(0) = 0$, can be solved for $y_1$:

    $$y_1 = \frac{y_0 + h \sin t_1}{1 + 0.1\,h} = \frac{0.1 \sin 0.1}{1.01} = 0.0098845 .$$
    """)
    return


@app.cell
def _():
    linear = se.ivp.solve(lambda t, y: -0.1 * y + np.sin(t), (0, 0.5), [0.0], "backward_euler", h=0.1)
    print(linear.y[0])
    return (linear,)


@app.cell(hide_code=True)
def _():
    mo.md(r"""
    **A quadratic equation**, $\dot y = -y^2$, $y(0) = 2.4$. Now $0.1\,y_1^2 + y_1 - 2.4 = 0$ has *two* roots,

    $$y_1 = \frac{-1 \pm \sqrt{1 + 4 \cdot 0.1 \cdot 2.4}}{0.2} = 2 \quad\text{or}\quad -12 .$$

    Newton's method finds the root near which it starts. From $y_0$ it is the right one; from $-10$ it is the other, a
    perfect solution of the wrong problem. `se.explain` shows the iterations.
    """)
    return


@app.cell
def _():
    square = lambda t, y: -(y**2)
    near = se.explain(square, integrator="backward_euler", y0=[2.4], step=0.1)
    print(near)
    return near, square


@app.cell
def _(square):
    far = se.explain(square, integrator="backward_euler", y0=[2.4], step=0.1, guess=[-10])
    print("from -10 it converges to", far.found["y1"])
    return (far,)


@app.cell(hide_code=True)
def _():
    mo.md(r"""
    **No formula at all**: $\dot y = \sin y$ leads to $y_1 - 0.1 \sin y_1 = y_0$. From $y(0) = 0$ it stays at zero. From
    $y(0) = 1$ only an iteration helps. The norm of the residual is squared each time, which is the mark of Newton's method.
    """)
    return


@app.cell
def _():
    sine = se.explain(lambda t, y: np.sin(y), integrator="backward_euler", y0=[1.0], step=0.1)
    sine.plot()
    return (sine,)


@app.cell(hide_code=True)
def _():
    mo.md(r"""
    ## Accuracy

    A method has order $p$ if its error at a fixed time shrinks like $h^p$. Halve the steps and measure:
    """)
    return


@app.cell
def _():
    orders = {name: se.lab.order(name) for name in ("forward_euler", "heun", "rk4")}
    for _name, _order in orders.items():
        print(f"{_name:14} order {_order.observed['y']:.2f}")
    orders["heun"].plot()
    return (orders,)


@app.cell(hide_code=True)
def _():
    mo.md(r"""
    ## Van der Pol's oscillator

    $$\ddot y - \mu\,(1 - y^2)\,\dot y + y = 0$$

    pumps energy in while $|y| < 1$ and takes it out beyond, so it ends in a cycle. With $\mu = 1$ it is harmless; with a
    large $\mu$ it crawls, then jumps, and is stiff.
    """)
    return


@app.cell
def _():
    mu = mo.ui.slider(1, 50, step=1, value=1, label="mu", show_value=True)
    mu
    return (mu,)


@app.cell
def _(mu):
    van_der_pol = lambda t, y, mu: [y[1], mu * (1 - y[0] ** 2) * y[1] - y[0]]
    cycle = se.ivp.solve(van_der_pol, (0, 20 + 4 * mu.value), [2, 0], "ode15s", rtol=1e-4, args=(mu.value,))
    _, (left, right) = plt.subplots(1, 2, figsize=(9, 3.2), layout="constrained")
    left.plot(cycle.t, cycle.y[0])
    left.set(xlabel="t [s]", ylabel="y")
    right.plot(*cycle.y)
    right.set(xlabel="y", ylabel="dy/dt")
    right.figure
    return (van_der_pol,)


@app.cell(hide_code=True)
def _():
    mo.md(r"""
    The solvers of MATLAB's ODE suite are here under their names. The table shows how many steps and evaluations of $f$
    each needs for $0 \le t \le 20$ with $\mu = 1$, its error at the end, and its steps for the stiff case $\mu = 50$. Who
    wins where?
    """)
    return


@app.cell
def _(van_der_pol):
    SUITE = ["ode45", "ode23", "ode113", "ode15s", "ode23s", "ode23t", "ode23tb"]
    end = 2.0081497621749484  # y(20) for mu = 1, known to 16 digits
    table = {}
    for _name in SUITE:
        _mild = se.ivp.solve(van_der_pol, (0, 20), [2, 0], _name, rtol=1e-4, atol=1e-4, args=(1,))
        _stiff = se.ivp.solve(van_der_pol, (0, 100), [2, 0], _name, rtol=1e-3, atol=1e-3, args=(50,))
        table[_name] = _mild.steps, _mild.nfev, abs(_mild.y[0, -1] - end), _stiff.steps
    rows = [f"| {name} | {a} | {b} | {e:.0e} | {s} |" for name, (a, b, e, s) in table.items()]
    head = "| solver | steps | evaluations | error | steps, stiff |\n| --- | --- | --- | --- | --- |\n"
    mo.md(head + "\n".join(rows))
    return (table,)


@app.cell(hide_code=True)
def _():
    mo.md(r"""
    There is no free lunch: explicit methods are cheap per step and bound by stability; implicit ones take long steps and
    pay with an iteration in each. `se.ivp.advice("ode23t")` says when to take which.

    ## Your turn

    1. For $\dot y = -50\,(y - \cos t)$, RK4 is stable up to $h = 2.785/50 = 0.0557$. Verify it by integrating to $t = 20$
       with $h = 0.055$ and with $h = 0.057$.
    2. Take two steps of backward Euler for $\dot y = -y^2$ by hand: $y_2 = 5\,(\sqrt{1.8} - 1) = 1.7082$.
    3. With which $y(0)$ does the equation $0.1\,y_1^2 + y_1 = y_0$ have no real root at all?
       ($1 + 0.4\,y_0 < 0$, so $y_0 < -2.5$. There the exact solution blows up too, within 0.4 s.)
    """)
    return


@app.cell
def test_the_first_step_of_the_linear_example(linear):
    np.testing.assert_allclose(linear.y[0, 1], 0.1 * np.sin(0.1) / 1.01, rtol=1e-14)
    np.testing.assert_allclose(linear.y[0, 5], 0.1429158407085684, rtol=1e-13)
    return


@app.cell
def test_both_roots_of_the_quadratic_example(far, near):
    np.testing.assert_allclose([near.found["y1"], far.found["y1"]], [[2], [-12]], rtol=1e-14)
    return


@app.cell
def test_newton_converges_quadratically(sine):
    assert abs(sine.found["y1"][0] - 1.0885977523978936) < 1e-14
    assert all(after < before**2 for before, after in zip(sine.norms[:3], sine.norms[1:3], strict=False))
    return


@app.cell
def test_the_orders_are_those_of_the_books(orders):
    found = [order.observed["y"] for order in orders.values()]
    np.testing.assert_allclose(found, [1, 2, 4], atol=0.05)
    return


@app.cell
def test_the_suite_is_as_accurate_as_asked_and_stiff_solvers_take_fewer_stiff_steps(table):
    assert all(error < 1e-4 for _, _, error, _ in table.values())
    assert max(table[name][3] for name in ("ode15s", "ode23s", "ode23t", "ode23tb")) < table["ode45"][3]
    return


@app.cell
def test_the_limit_of_stability(limits, stiff):
    assert abs(limits["forward_euler"].h - 0.04) < 1e-12 and np.isinf(limits["backward_euler"].h)
    assert abs(limits["rk4"].h - 2.785293563405282 / 50) < 1e-9
    size = lambda method, h: np.abs(se.ivp.solve(stiff, (0, 20), [0.0], method, h=h).y).max()
    assert size("rk4", 0.055) < 2 and size("rk4", 0.057) > 1e6
    assert size("forward_euler", 0.0399) < 2.5 and size("forward_euler", 0.041) > 1e6
    assert size("backward_euler", 1.0) < 1.1
    return


if __name__ == "__main__":
    app.run()
