"""Diagnose and repair: what the engine says about mechanisms that cannot work, and how to put them right."""

import marimo

__generated_with = "0.25.2"
app = marimo.App(width="medium")

with app.setup:
    import marimo as mo
    import numpy as np

    import simengine2d as se

    ROCKING = se.builders.four_bar(2, 2.2, 1.5, 3.5, crank_angle=0.5, speed=1)  # m, rad, rad/s


@app.cell(hide_code=True)
def _():
    mo.md(r"""
    # Diagnose and repair

    Most models are wrong at first. This page makes the usual mistakes on purpose, reads what the engine says, and
    repairs them:

    - `se.diagnose(model)` counts and names the motions that are left free, and constraints that say the same thing;
    - `se.doctor(model)` looks for the likely mistake, before any run;
    - `results.verdict` judges a run: trust, check, or do not trust.

    ## How many motions?

    Each body has three coordinates, each pin takes two equations. For $n_b$ bodies and $m$ equations of rank $r$,

    $$\text{by count } 3 n_b - m,\qquad \text{mobility } 3 n_b - r,\qquad \text{redundant } m - r .$$

    A **five-bar** has two motions, one motor is not enough:
    """)
    return


@app.function
def five_bar():
    """Four bars between two pivots; two motions are free."""
    model = se.Model("five-bar")
    corners = [(0, 0), (0, 1), (1, 2), (2, 1), (2, 0)]
    for name, start, end in zip("abcd", corners, corners[1:], strict=False):
        model.bar(name, start, end, mass=1)
    model.add(se.Revolute("O", model.ground, "a.start"))
    model.add(se.Revolute("A", "a.end", "b.start"))
    model.add(se.Revolute("B", "b.end", "c.start"))
    model.add(se.Revolute("C", "c.end", "d.start"))
    model.add(se.Revolute("D", model.ground, "d.end"))
    model.add(se.Driver("left", "angle(ground, a)", "drawn + t"))
    return model


@app.cell
def _():
    se.diagnose(five_bar())
    return


@app.function
def complaint(analysis, model, **options):
    """What the engine says instead of results, as Markdown."""
    try:
        analysis(model, **options)
    except se.SimEngineError as error:
        return f"{type(error).__name__}: {error}".replace("*", r"\*")
    return "it works"


@app.cell
def _():
    mo.md(f"> {complaint(se.kinematics, five_bar(), t_end=1)}")
    return


@app.cell(hide_code=True)
def _():
    mo.md(r"""
    **Repair**: a second driver, or `se.dynamics`, which lets forces decide what no driver prescribes.

    ## Too many joints

    A third crank makes a parallelogram stiffer. The count says it cannot move; the rank says it can, because the extra
    pin repeats what the others say, as long as all lengths agree. Redundant constraints are legal: the motion is right.
    But who carries the load, if a table has one leg too many? Only the sum is determined, not each reaction.

    **Repair**, if the reactions matter: release one of the equations that are named below. Without `F.y`, the pin of
    the middle crank slides up and down in a slot of the coupler, and the outer cranks carry the weight.
    """)
    return


@app.cell
def _():
    se.diagnose(se.load("parallelogram"))
    return


@app.function
def released():
    """The parallelogram whose middle pin may slide up and down in the coupler."""
    model = se.load("parallelogram")
    pin = model.elements.pop("F")
    model.add(se.PinSlot("F", pin.a, pin.b, direction=(0, 1)))
    return model


@app.cell
def _():
    se.diagnose(released())
    return


@app.cell(hide_code=True)
def _():
    mo.md(r"""
    ## Links that cannot reach

    The coupler and the rocker of this four-bar are drawn 2.5 m apart, and together too short to meet. Every drawn
    mechanism is assembled first; if it does not close, the message says which joint stays open, and by how much. Move
    the slider until the doctor is content.
    """)
    return


@app.function
def four_bar(coupler_end=(2, 1.5)):
    model = se.Model("four-bar")
    model.bar("crank", (0, 0), (0, 1), mass=1)
    model.bar("coupler", (0, 1), coupler_end, mass=1)
    model.bar("rocker", (5, 0), (4.5, 1.5), mass=1)
    model.add(se.Revolute("O", model.ground, "crank.start"))
    model.add(se.Revolute("A", "crank.end", "coupler.start"))
    model.add(se.Revolute("B", "coupler.end", "rocker.end"))
    model.add(se.Revolute("C", model.ground, "rocker.start"))
    return model


@app.cell
def _():
    reach = mo.ui.slider(2, 5, 0.1, value=2, label="the coupler ends at x", show_value=True)
    reach
    return (reach,)


@app.cell
def _(reach):
    se.doctor(four_bar((reach.value, 1.5)))
    return


@app.cell(hide_code=True)
def _():
    mo.md(r"""
    ## A dead point

    The crank of this linkage cannot turn fully: the sum of the shortest and the longest link exceeds that of the
    others (Grashof). Where coupler and rocker are in line, the driver pushes against a wall. The points before it are
    kept, in the error's `results`, and `se.circuits` shows how far the crank can go, on both sides.
    """)
    return


@app.cell
def _():
    mo.md(f"> {complaint(se.kinematics, ROCKING, t_end=3, step=0.01)}")
    return


@app.cell
def _():
    se.circuits(ROCKING)
    return


@app.cell(hide_code=True)
def _():
    mo.md(r"""
    **Repair**: drive to and fro within the limits, or drive the other link, or let forces move it: `se.dynamics` passes
    such points by its momentum.

    ## Millimeters and degrees

    Numbers without units are in meters and radians. The doctor notices what no mechanism of that size weighs:
    """)
    return


@app.function
def arm(units=None):
    """An arm of 300 by 400 mm, which a motor turns by 90 degrees."""
    model = se.Model("arm", units=units)
    model.bar("arm", (0, 0), (300, 400), mass=2)
    model.add(se.Revolute("O", model.ground, "arm.start"))
    turn = "drawn + 90*step5(t, 0, 0, 1, 1)" if units else "53 + 90*step5(t, 0, 0, 1, 1)"
    model.add(se.Driver("motor", "angle(ground, arm)", turn))
    return model


@app.cell
def _():
    se.doctor(arm())
    return


@app.cell
def _():
    se.doctor(arm({"length": "mm", "angle": "deg"}))
    return


@app.cell(hide_code=True)
def _():
    mo.md(r"""
    ## Can I trust the numbers?

    A run can end well and still be wrong. The verdict puts the results back into the equations, by other code than
    that which computed them. Forward Euler, a method of first order, needs very short steps; the default, of order 8,
    chooses them by itself, `se.dynamics(model, t_end=1)`, and is trusted.
    """)
    return


@app.cell
def _():
    step = mo.ui.dropdown(["0.01", "0.001", "0.0001"], value="0.01", label="step, s")
    step
    return (step,)


@app.cell
def _(step):
    _model = se.builders.four_bar(1, 2, 3, 3)
    se.dynamics(_model, t_end=1, integrator="forward_euler", step=float(step.value)).verdict
    return


@app.cell(hide_code=True)
def _():
    mo.md(r"""
    ## Try it

    1. What does the doctor say of two motors on a mechanism with one motion? Add a second driver to `ROCKING`.
    2. How far can the crank of `ROCKING` go? *(Coupler and rocker in line:
       $\cos\theta = \frac{2^2 + 3.5^2 - (2.2 + 1.5)^2}{2 \cdot 2 \cdot 3.5}$, so 79.5° to both sides.)*

    The functions below check what was said; `pytest examples/11_diagnose_and_repair.py` runs them.
    """)
    return


@app.function
def test_a_five_bar_needs_two_motors():
    assert "1 motion is free" in complaint(se.kinematics, five_bar(), t_end=1)


@app.function
def test_the_third_crank_is_redundant_until_it_may_slide():
    stiff, loose = se.diagnose(se.load("parallelogram")), se.diagnose(released())
    assert (stiff.redundant, stiff.mobility) == (1, 0) and (loose.redundant, loose.mobility) == (0, 0)
    pushed = [se.inverse_dynamics(m, t_eval=[0.0, 0.1]) for m in (se.load("parallelogram"), released())]
    assert "F" in pushed[0].non_unique and pushed[1].non_unique == []
    np.testing.assert_allclose(pushed[0].q, pushed[1].q, atol=1e-12)
    np.testing.assert_allclose(pushed[0]["motor.torque"], pushed[1]["motor.torque"], atol=1e-9)


@app.function
def test_short_links_are_named():
    text = str(se.doctor(four_bar()))
    assert "does not close" in text and "apart" in text
    assert se.doctor(four_bar((4.5, 1.5))).healthy


@app.function
def test_the_crank_stops_where_coupler_and_rocker_are_in_line():
    limit = np.arccos((2**2 + 3.5**2 - (2.2 + 1.5) ** 2) / (2 * 2 * 3.5))
    assert round(np.degrees(limit), 1) == 79.5
    for branch in se.circuits(ROCKING)[0].branches:
        np.testing.assert_allclose([branch.low, branch.high], [-limit, limit], atol=1e-9)
    message = complaint(se.kinematics, ROCKING, t_end=3, step=0.01)
    assert "dead point" in message and f"t = {limit - 0.5:.5f}" in message


@app.function
def test_wrong_units_are_noticed():
    assert not se.doctor(arm()).healthy and "other units" in str(se.doctor(arm()))
    assert se.doctor(arm({"length": "mm", "angle": "deg"})).healthy


@app.function
def test_the_verdict_tells_a_bad_run_from_a_good_one():
    model = se.builders.four_bar(1, 2, 3, 3)
    assert se.dynamics(model, t_end=1, integrator="forward_euler", step=0.01).verdict.word == "do not trust"
    assert se.dynamics(model, t_end=1).verdict.word == "trust"


if __name__ == "__main__":
    app.run()
