"""Coordinates: one four-bar in reference-point, natural, mixed and relative coordinates, and the equations in each."""

import marimo

__generated_with = "0.25.2"
app = marimo.App(width="medium")

with app.setup:
    import marimo as mo
    import numpy as np

    import simengine2d as se


@app.cell(hide_code=True)
def _():
    mo.md(r"""
    # Coordinates

    A mechanism does not care which numbers describe it; the equations do. A four-bar has one degree of freedom, so a single
    angle would do, but closing the loop with it takes ugly formulas. Computers prefer more coordinates than degrees of
    freedom, tied by constraints. With $n$ coordinates, $m$ independent constraints and $g$ degrees of freedom

    $$m = n - g .$$

    There are three families and a mixture of two. Our four-bar has uniform bars of 0.7, 1.9 and 1.1 kg.
    """)
    return


@app.cell
def _():
    a, b, c, d = 1.0, 2.0, 1.8, 2.5  # crank, coupler, rocker, ground
    masses = m1, m2, m3 = 0.7, 1.9, 1.1
    model = se.builders.four_bar(a, b, c, d, crank_angle=1.1, masses=masses)
    model.draw()
    return a, b, c, d, m1, m2, m3, model


@app.cell(hide_code=True)
def _():
    mo.md(r"""
    ## Four descriptions

    | family | the coordinates are | constraints come from |
    | --- | --- | --- |
    | reference point | $x$, $y$, $\varphi$ of every body | every joint |
    | natural | the coordinates of the pins | the lengths of the bars |
    | mixed | natural ones, and an angle where something acts on it | lengths, and the meaning of the angle |
    | relative | the angles at the joints of a tree | the joint that closes the loop |
    """)
    return


@app.cell
def _(model):
    driven = model.copy()
    driven.add(se.Spring("torsion", "angle(ground, crank)", stiffness=3))  # it needs the angle of the crank
    FAMILIES = ["reference_point", "natural", "mixed", "relative"]
    formulated = {name: se.formulate(driven if name == "mixed" else model, name) for name in FAMILIES}
    for _name, _form in formulated.items():
        print(f"{_name}: n = {len(_form.names)}, m = {len(_form.row_names)}")
        print("   q   =", ", ".join(_form.names))
        print("   Phi =", ", ".join(_form.row_names))
    return FAMILIES, formulated


@app.cell(hide_code=True)
def _():
    mo.md(r"""
    ## The matrices

    All families lead to the same form,

    $$\mathbf M \ddot{\mathbf q} + \boldsymbol\Phi_\mathbf q^T \boldsymbol\lambda = \mathbf Q^A, \quad
      \boldsymbol\Phi = \mathbf 0, \quad \boldsymbol\Phi_\mathbf q \dot{\mathbf q} = \boldsymbol\nu, \quad
      \boldsymbol\Phi_\mathbf q \ddot{\mathbf q} = \boldsymbol\gamma ,$$

    and `se.formulate` gives every array as numbers. Choose a family.
    """)
    return


@app.cell
def _(FAMILIES):
    family = mo.ui.dropdown(FAMILIES, value="natural", label="coordinates")
    family
    return (family,)


@app.cell
def _(family, formulated):
    values = formulated[family.value].at()
    with np.printoptions(precision=3, suppress=True):
        print("M =\n", values.M, "\nQA =", values.QA)
        print("Phi_q =\n", values.Phi_q, "\nPhi =", values.Phi)
    values.plot()
    return


@app.cell(hide_code=True)
def _():
    mo.md(r"""
    Look at the natural ones. A uniform rod between two points has the mass matrix
    $\tfrac m3$ at each of its ends and $\tfrac m6$ between them, a constant. What two bars share is added, what belongs
    to fixed points drops out:

    $$\mathbf M = \begin{bmatrix} \tfrac{m_1 + m_2}{3}\mathbf I & \tfrac{m_2}{6}\mathbf I \\
      \tfrac{m_2}{6}\mathbf I & \tfrac{m_2 + m_3}{3}\mathbf I \end{bmatrix}, \qquad
      \mathbf Q^A = -\tfrac g2\,\bigl(0,\; m_1 + m_2,\; 0,\; m_2 + m_3\bigr)^T :$$

    half of each weight goes to either end. The constraints are lengths, hence quadratic, and $\boldsymbol\Phi_\mathbf q$ is
    linear: there is not a single sine in these equations. In symbols:
    """)
    return


@app.cell
def _(model):
    natural = model.equations("natural")
    natural.Phi
    return (natural,)


@app.cell
def _(natural):
    natural.Phi_q
    return


@app.cell(hide_code=True)
def _():
    mo.md(r"""
    Relative coordinates need only the two equations that close the loop. The price is a mass matrix that is full and depends
    on the pose. Here $\theta_A$ and $\theta_D$ turn crank and rocker, $\theta_B$ is the angle between crank and coupler.
    """)
    return


@app.cell
def _(model):
    relative = model.equations("relative")
    relative.Phi
    return (relative,)


@app.cell(hide_code=True)
def _():
    mo.md(r"""
    Without loops no constraint is left. Two hanging rods have the classical equations of the double pendulum, here with the
    letters of another textbook.
    """)
    return


@app.cell
def _():
    chain = se.builders.chain(2).equations("relative", notation="shabana")
    chain
    return (chain,)


@app.cell(hide_code=True)
def _():
    mo.md(r"""
    ## The same motion

    Let the four-bar fall for two seconds in each family. The mechanism does not care.
    """)
    return


@app.cell
def _(FAMILIES, model):
    t = np.linspace(0, 2, 201)
    runs = {name: se.dynamics(model, t_eval=t, coordinates=name, rtol=1e-9) for name in FAMILIES}
    reference = runs["reference_point"]
    apart = {name: np.abs(run.q - reference.q).max() for name, run in runs.items()}
    print({name: f"{value:.1e}" for name, value in apart.items()})
    reference.player(trace=["coupler.end"])
    return apart, reference, runs


@app.cell(hide_code=True)
def _():
    mo.md(r"""
    ## Your turn

    1. How many natural coordinates and constraints does a five-bar linkage have, and how many degrees of freedom?
       (Three moving pins, so $n = 6$; four bars, so $m = 4$; $g = 2$.)
    2. Why has the crank's angle its row $x_B - L_1\cos\varphi = 0$ in mixed coordinates, and when must it be replaced by
       that with the sine? (Where the cosine is flat, it does not determine $\varphi$.)
    3. Check your own Jacobian: `se.check(model, Phi_q=array)` marks the entry that is wrong.
    """)
    return


@app.cell
def test_coordinates_less_constraints_are_the_degrees_of_freedom(formulated):
    for _form in formulated.values():
        assert len(_form.names) - np.linalg.matrix_rank(_form.at().Phi_q) == 1
    assert [len(_form.names) for _form in formulated.values()] == [9, 4, 5, 3]
    return


@app.cell
def test_the_mass_matrix_and_the_weight_of_rods(formulated, m1, m2, m3):
    _one, _now = np.eye(2), formulated["natural"].at()
    _wanted = np.block([[(m1 + m2) / 3 * _one, m2 / 6 * _one], [m2 / 6 * _one, (m2 + m3) / 3 * _one]])
    np.testing.assert_allclose(_now.M, _wanted, atol=1e-14)
    np.testing.assert_allclose(_now.QA, [0, -9.81 * (m1 + m2) / 2, 0, -9.81 * (m2 + m3) / 2], atol=1e-14)
    return


@app.cell
def test_the_jacobian_is_the_one_by_hand(a, b, c, d, formulated):
    _form = formulated["natural"]
    xB, yB, xC, yC = _form.q
    _wanted = [
        [2 * xB, 2 * yB, 0, 0],
        [-2 * (xC - xB), -2 * (yC - yB), 2 * (xC - xB), 2 * (yC - yB)],
        [0, 0, 2 * (xC - d), 2 * yC],
    ]
    np.testing.assert_allclose(_form.at().Phi_q, _wanted, atol=1e-14)
    _lengths = [np.hypot(xB, yB), np.hypot(xC - xB, yC - yB), np.hypot(xC - d, yC)]
    np.testing.assert_allclose(_lengths, [a, b, c], rtol=1e-12)
    return


@app.cell
def test_the_angle_acts_alone_in_mixed_coordinates(formulated):
    _form = formulated["mixed"]
    _now, _still = _form.at(), formulated["natural"].at()
    np.testing.assert_allclose(_now.QA, [*_still.QA, -3 * _form.q[4]], atol=1e-13)
    return


@app.cell
def test_no_constraint_is_left_of_a_chain(chain, relative):
    assert (chain.n, chain.m) == (2, 0)
    assert (relative.n, relative.m) == (3, 2)
    return


@app.cell
def test_all_families_find_the_same_motion_and_reactions(apart, reference, runs):
    assert max(apart.values()) < 1e-6
    for run in runs.values():
        np.testing.assert_allclose(run["C.fx"], reference["C.fx"], atol=1e-5 * np.ptp(reference["C.fx"]))
    return


@app.cell
def test_the_answer_about_the_five_bar():
    five = se.load("five_bar_robot")
    del five.elements["path_x"], five.elements["path_y"]  # its motors
    pins = se.formulate(five, "natural")
    assert (len(pins.names), len(pins.row_names)) == (6, 4)
    return


if __name__ == "__main__":
    app.run()
