"""A pendulum by Newmark's method: the index-3 equations of one step, Newton's iterations, order, tolerance, course files."""

import marimo

__generated_with = "0.25.2"
app = marimo.App(width="medium")

with app.setup:
    import tempfile
    from math import pi
    from pathlib import Path

    import marimo as mo
    import matplotlib.pyplot as plt
    import numpy as np

    import simengine2d as se


@app.cell(hide_code=True)
def _():
    mo.md(r"""
    # A pendulum by Newmark's method

    A bar of 20 kg and 2 m hangs on a pin. A torsion spring ($k = 45$ Nm/rad) and a damper ($c = 10$ Nms/rad) hold it at
    $\varphi_0 = -\tfrac{\pi}{2}$, straight down, and the force $F = 30 \sin 2\pi t$ N pushes its tip sideways. The
    motion obeys differential equations *and* a constraint,

    $$\mathbf M \ddot{\mathbf q} + \boldsymbol\Phi_\mathbf q^T \boldsymbol\lambda = \mathbf Q^A, \qquad
      \boldsymbol\Phi(\mathbf q) = \mathbf 0 .$$

    Such a system is a *DAE of index 3*. Newmark's method solves it without any differentiation of the constraint.
    """)
    return


@app.cell
def _():
    k, c, m, L = 45, 10, 20, 2
    model = se.Model("pendulum")
    bar = model.bar("bar", (0, 0), (0, -L), mass=m)
    model.add(se.Revolute("O", model.ground, bar["start"]))
    model.add(se.Spring("spring", se.angle(model.ground, bar), stiffness=k, damping=c, free="-pi/2"))
    model.add(se.PointForce("push", bar["end"], fx="30*sin(2*pi*t)"))
    model.draw()
    return L, c, k, m, model


@app.cell(hide_code=True)
def _():
    mo.md(r"""
    ## One step

    Newmark's formulas express positions and velocities at the end of a step by the accelerations there,

    $$\mathbf q_1 = \mathbf q_0 + h \dot{\mathbf q}_0 + \tfrac{h^2}{2}\bigl[(1 - 2\beta)\ddot{\mathbf q}_0 + 2\beta\ddot{\mathbf q}_1\bigr],
      \qquad \dot{\mathbf q}_1 = \dot{\mathbf q}_0 + h\bigl[(1 - \gamma)\ddot{\mathbf q}_0 + \gamma\ddot{\mathbf q}_1\bigr],$$

    with $\beta = 0.3025$ and $\gamma = 0.6$. Put into the equations of motion, they leave an *algebraic* problem for
    $\ddot{\mathbf q}_1$ and $\boldsymbol\lambda_1$:

    $$\boldsymbol\Psi = \begin{bmatrix} \mathbf M \ddot{\mathbf q} + \boldsymbol\Phi_\mathbf q^T\boldsymbol\lambda - \mathbf Q^A \\
      \tfrac{1}{\beta h^2}\boldsymbol\Phi \end{bmatrix} = \mathbf 0, \qquad
      \mathbf J = \begin{bmatrix} \mathbf M + \beta h^2 \mathbf K + \gamma h\, \mathbf D & \boldsymbol\Phi_\mathbf q^T \\
      \boldsymbol\Phi_\mathbf q & \mathbf 0 \end{bmatrix}.$$

    $\mathbf K$ and $\mathbf D$ are the derivatives by $\mathbf q$ and $\dot{\mathbf q}$. Because the constraint is
    divided by $\beta h^2$, its rows of $\mathbf J$ are just $\boldsymbol\Phi_\mathbf q$. Here is the first step, as the
    engine does it:
    """)
    return


@app.cell
def _(model):
    step = se.explain(model, "dynamics", integrator="newmark", step=0.01, at=0.01)
    print(step)
    return (step,)


@app.cell(hide_code=True)
def _():
    mo.md(r"""
    The guess is the state of rest, so the first residual is the force that was not there before, $30\sin(0.02\pi) = 1.88$ N.
    Then the residual drops to $3 \cdot 10^{-7}$, and to rounding: quadratic convergence. The Jacobian holds every entry of
    the formula above. In the row of $\varphi$ the spring, the damper and the weight appear:

    $$J_{33} = \tfrac{mL^2}{12} + \beta h^2\,\bigl(k + m g\tfrac{L}{2}\bigr) + \gamma h\,c .$$
    """)
    return


@app.cell
def _(L, c, k, m, step):
    J = step[0]["Jacobian"]
    J33 = m * L**2 / 12 + 0.3025 * 0.01**2 * (k + m * 9.81 * L / 2) + 0.6 * 0.01 * c
    print(np.round(J, 4))
    print(f"J33 by the formula: {J33:.6f}")
    return J, J33


@app.cell(hide_code=True)
def _():
    mo.md(r"""
    ## Cheaper matrices, and when to stop

    A *modified* Newton method keeps the matrix of an earlier step. The flow chart of the course goes further and leaves
    out $\mathbf K$ and $\mathbf D$. Both converge linearly: each iteration wins about the same factor. Its rule of thumb
    is to stop when the accelerations change by less than $10^{-3}$; with steps of 10 ms this costs nothing that matters.
    """)
    return


@app.cell
def _(model):
    norms = {
        kind: se.explain(model, "dynamics", integrator=se.Newmark(newton=kind), step=0.01, at=0.05).norms
        for kind in ("exact", "modified", "course")
    }
    _, norm_ax = plt.subplots(figsize=(7, 3))
    for _kind, _values in norms.items():
        norm_ax.semilogy(_values, "o-", label=_kind)
    norm_ax.set(xlabel="iteration", ylabel="|Psi|")
    norm_ax.legend()
    norm_ax
    return (norms,)


@app.cell
def _(model):
    method = {"step": 0.01, "integrator": se.Newmark(newton="course"), "history": True}
    early = {**method, "integrator": se.Newmark(newton="course", tolerance=1e-3)}
    runs = [se.dynamics(model, t_end=4, **options) for options in (early, method)]
    iterations = [int(_run.history.iterations.sum()) for _run in runs]
    apart = np.abs(runs[0]["bar.phi"] - runs[1]["bar.phi"]).max()
    print(f"{iterations[0]} instead of {iterations[1]} iterations; the angles differ by {apart:.1e} rad")
    return apart, iterations


@app.cell(hide_code=True)
def _():
    mo.md(r"""
    ## The motion, and its order

    Newmark's method is of first order unless $\gamma = \tfrac12$. Choose the step and $\gamma$ (with
    $\beta = \tfrac14(\gamma + \tfrac12)^2$, which damps high frequencies best), and compare with the exact motion.
    """)
    return


@app.cell
def _():
    h = mo.ui.slider(0.005, 0.1, step=0.005, value=0.05, label="step h, s", show_value=True)
    h
    return (h,)


@app.cell
def _():
    gamma = mo.ui.slider(0.5, 0.9, step=0.05, value=0.6, label="gamma", show_value=True)
    gamma
    return (gamma,)


@app.cell
def _(gamma, h, model):
    def newmark(size, gamma):
        integrator = se.Newmark(beta=(gamma + 0.5) ** 2 / 4, gamma=gamma)
        return se.dynamics(model, t_end=4, step=size, integrator=integrator)

    run = newmark(h.value, gamma.value)
    exact = se.dynamics(model, t_end=4, step=0.02, rtol=1e-10)
    _, ax = plt.subplots(figsize=(7, 3))
    ax.plot(exact.t, np.degrees(exact["bar.phi"]) + 90, "k", label="exact")
    ax.plot(run.t, np.degrees(run["bar.phi"]) + 90, ".-", label="Newmark")
    ax.set(xlabel="t [s]", ylabel="angle from the vertical [degrees]")
    ax.legend()
    ax
    return exact, newmark


@app.cell
def _(exact, newmark):
    def error(size, gamma):
        every = round(0.02 / size)
        return np.abs(newmark(size, gamma)["bar.phi"][::every] - exact["bar.phi"]).max()

    orders = [np.log2(error(0.01, gamma) / error(0.005, gamma)) for gamma in (0.5, 0.6)]
    print("observed orders for gamma = 0.5 and 0.6:", np.round(orders, 2))
    return (orders,)


@app.cell
def _(exact):
    exact.player(channels=["bar.phi", "O.fy"], forces=True)
    return


@app.cell(hide_code=True)
def _():
    mo.md(r"""
    ## Files of the course

    The course ME451 keeps a model in an `.adm` file and an analysis in an `.acf` file, both JSON. They run as they are,
    `simengine2d run pendulum.adm pendulum.acf`, by Newmark's method with the step of the file. In Python `se.run` does the same,
    and `model.save` keeps the model as YAML, with names instead of numbers.
    """)
    return


@app.cell
def _():
    adm = """{"name": "pendulum", "gravity": [0, -9.81],
     "bodies": [{"name": "bar", "id": 1, "mass": 2, "jbar": 0.1666666666666667, "q0": [0.5, 0, 0], "qd0": [0, 0, 0]}],
     "constraints": [{"name": "O", "id": 1, "type": "RevoluteJoint",
                      "body1": 1, "sP1": [-0.5, 0], "body2": 0, "sP2": [0, 0]}],
     "forces": [{"name": "friction", "id": 1, "type": "RSDA", "body1": 1, "body2": 0,
                 "theta0": 0, "k": 0, "c": 0.2, "fun": "NONE"}]}"""
    acf = '{"simulation": "Dynamics", "tend": 4, "stepSize": 0.005, "outputSteps": 400}'
    with tempfile.TemporaryDirectory() as _folder:
        _files = Path(_folder) / "pendulum.adm", Path(_folder) / "pendulum.acf"
        for _file, _text in zip(_files, (adm, acf), strict=True):
            _file.write_text(_text)
        course = se.run(*_files)
        yaml = course.model.save(Path(_folder) / "pendulum.yaml").read_text()
    right = se.dynamics(course.model, t_eval=course.t, rtol=1e-10)
    print(course.summary())
    print(f"largest difference from the exact motion: {np.abs(course.q - right.q).max():.1e}")
    return course, right, yaml


@app.cell(hide_code=True)
def _():
    mo.md(r"""
    ## Your turn

    1. Compute $J_{33}$ for $h = 0.1$ by hand (7.996) and compare with `se.explain(..., step=0.1, at=0.1)`.
    2. At which step does the first residual become $30$ N, and why? ($\sin 2\pi h = 1$ for $h = \tfrac14$.)
    3. Set $\gamma = 0.9$ and a step of 0.1 s above. Where does the amplitude go?
    """)
    return


@app.cell
def test_newton_converges_quadratically(step):
    np.testing.assert_allclose(step.norms[0], 30 * np.sin(0.02 * pi), rtol=1e-12)
    np.testing.assert_allclose(step.norms[1], 3.0e-7, rtol=0.02)
    assert step.norms[2] < 1e-11
    return


@app.cell
def test_the_jacobian_is_that_of_the_formula(J, J33, model):
    np.testing.assert_allclose(J[2, 2], J33, rtol=1e-12)
    np.testing.assert_allclose(J[3:, :3], [[1, 0, -1], [0, 1, 0]], atol=1e-12)
    long = se.explain(model, "dynamics", integrator="newmark", step=0.1, at=0.1)
    np.testing.assert_allclose(long[0]["Jacobian"][2, 2], 7.996, atol=5e-4)
    return


@app.cell
def test_matrices_that_are_not_the_jacobian_converge_linearly(norms):
    assert len(norms["exact"]) < len(norms["modified"]) <= len(norms["course"])
    return


@app.cell
def test_the_order_is_one_unless_gamma_is_one_half(orders):
    np.testing.assert_allclose(orders, [2, 1], atol=0.1)
    return


@app.cell
def test_the_motion_is_that_of_one_equation_for_the_angle(L, c, exact, k, m):
    def f(t, y):
        """m L^2/3 phidd = -m g L/2 cos phi - k (phi - phi0) - c phid - L sin phi F"""
        torque = -m * 9.81 * L / 2 * np.cos(y[0]) - k * (y[0] + pi / 2) - c * y[1]
        return [y[1], (torque - L * np.sin(y[0]) * 30 * np.sin(2 * pi * t)) / (m * L**2 / 3)]

    alone = se.ivp.solve(f, (0, 4), [-pi / 2, 0], "dop853", rtol=1e-11, t_eval=exact.t)
    np.testing.assert_allclose(exact["bar.phi"], alone.y[0], atol=1e-8)
    return


@app.cell
def test_the_rule_of_thumb_saves_iterations_and_costs_little(apart, iterations):
    assert iterations[0] < 0.6 * iterations[1]
    assert apart < 1e-6
    return


@app.cell
def test_the_method_of_the_course_is_near_the_exact_motion(course, right, yaml):
    assert np.abs(course.q - right.q).max() < 0.05  # first order: steps of 5 ms over 4 s
    assert "type: Revolute" in yaml
    return


if __name__ == "__main__":
    app.run()
