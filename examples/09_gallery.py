"""A gallery of mechanisms: choose one, watch it move, pull at its dimensions, see what it is for."""

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
    # A gallery of mechanisms

    These mechanisms come with the package. Each is a model file of a few lines, whose dimensions are parameters, so
    that you can pull at them: `se.load(name)` reads one, `se.models()` lists them.
    """)
    return


@app.cell
def _():
    names = list(se.models())
    _figure, _axes = plt.subplots(-(-len(names) // 9), 9, figsize=(10, 6.2), layout="constrained")
    for _ax in _axes.flat:
        _ax.set_axis_off()
    for _ax, _name in zip(_axes.flat, names, strict=False):
        se.load(_name).draw(_ax, labels=False)
        _ax.set_title(_name, fontsize=6)
        _ax.set_axis_off()
    _ax
    return (names,)


@app.cell(hide_code=True)
def _():
    mo.md(r"""
    ## Choose one

    The player makes the analysis that the file asks for. Its sliders are dimensions of the mechanism: when you move
    one, everything is computed again. If a link becomes too short to reach, the player says which one.
    """)
    return


@app.cell
def _(names):
    chosen = mo.ui.dropdown(names, value="jansen_leg", label="mechanism")
    chosen
    return (chosen,)


@app.function
def motion(model):
    """What the file asks for: its kind of analysis until its t_end, at 200 steps."""
    t_end = model.check().number(model.analysis["t_end"], "t_end")
    return getattr(se, model.analysis["kind"])(model, t_eval=np.linspace(0, t_end, 201))


@app.function
def dimensions(model, most=4):
    """The first parameters that are plain numbers, each from 80 to 120 percent."""
    numbers = {name: value for name, value in model.parameters.items() if isinstance(value, int | float)}
    positive = [name for name, value in numbers.items() if value > 0][:most]
    return {name: (0.8 * numbers[name], 1.2 * numbers[name]) for name in positive}


@app.cell
def _(chosen):
    mo.md(f"""
    **{se.models()[chosen.value]}**
    """)
    return


@app.cell
def _(chosen):
    results = motion(se.load(chosen.value))
    results.player(parameters=dimensions(results.model), run=motion)
    return (results,)


@app.cell(hide_code=True)
def _():
    mo.md(r"""
    What holds it together? A body in the plane has three freedoms; every joint takes some away. What is left, after the
    drivers had their share, is the mobility.
    """)
    return


@app.cell
def _(results):
    se.diagnose(results.model)
    return


@app.cell(hide_code=True)
def _():
    mo.md(r"""
    ## Change one

    `with_parameters` makes another mechanism of the same kind. Theo Jansen found the thirteen numbers of his leg with a
    genetic algorithm; how much does the path of the foot change, if the thigh $b$ is longer or shorter by 3 %?
    """)
    return


@app.cell
def _():
    _, _ax = plt.subplots(figsize=(6, 3))
    for _part in (0.97, 1.0, 1.03):
        _leg = se.load("jansen_leg")
        _moved = motion(_leg.with_parameters(bar_b=_part * _leg.parameters["bar_b"]))
        _ax.plot(_moved["foot.S.x"], _moved["foot.S.y"], label=f"b {_part - 1:+.0%}")
    _ax.set(xlabel="x in m", ylabel="y in m", aspect="equal", title="path of the foot")
    _ax.legend()
    _ax
    return


@app.cell(hide_code=True)
def _():
    mo.md(r"""
    A mechanism of your own begins as a copy. On the command line, `simengine2d models jansen_leg --copy .` writes
    `jansen_leg.yaml` into your folder; in Python, `model.save("my_leg.yaml")` does, with the changes you made.

    ## What they are for

    - **Straight lines from turning pairs** (`peaucellier`, `hart_inversor`): an inversor keeps
      $OP \cdot OS = a^2 - b^2$, so that a circle through $O$ becomes the straight line $x = (a^2 - b^2) / (2 r)$.
      Watt's, Roberts' and Chebyshev's linkages come close with fewer links.
    - **Quick returns** (`quick_return`, `whitworth`): slow while they cut, fast on the way back.
    - **Dwells** (`geneva_drive`, `dwell_arm`): they rest while something else happens.
    - **Force** (`toggle_press`, `toggle_clamp`): near a dead point, a small effort holds a large load.
    - **Equal times** (`tautochrone`): on a cycloid a bead arrives after $\pi\sqrt{r/g}$, wherever it starts.

    ## Try it

    1. Which dimension of `peaucellier` moves its straight line to $x = 4.2$? *(The crank: 2.5 instead of 2, since
       $(5^2 - 2^2) / (2 \cdot 2.5) = 4.2$.)*
    2. How fast does the carrier of `planetary_gear` turn, if the sun has 24 teeth and the planets 18? *(The ring has
       $24 + 2 \cdot 18 = 60$, so $24/84 = 2/7$ of the sun's speed.)*
    3. Make `parallelogram` with `crank: 1.2` and ask `se.diagnose` which of its joints is redundant.

    The functions below check the numbers of this page; `pytest examples/09_gallery.py` runs them.
    """)
    return


@app.function
def test_peaucellier_draws_a_straight_line():
    for crank, line in ((2, 5.25), (2.5, 4.2)):
        moved = motion(se.load("peaucellier").with_parameters(crank=crank))
        np.testing.assert_allclose(moved["AS.end.x"], line, rtol=1e-11)
        assert np.ptp(moved["AS.end.y"]) > 3


@app.function
def test_the_carrier_turns_at_two_sevenths_of_the_sun():
    moved = motion(se.load("planetary_gear"))
    np.testing.assert_allclose(moved["carrier.phid"], 2 / 7 * moved["sun.phid"], rtol=1e-12)


@app.function
def test_both_beads_arrive_at_the_same_time():
    """A quarter of the period 4 pi sqrt(r/g), at the lowest point of the cycloid."""
    beads = se.load("tautochrone")
    moved = se.dynamics(beads, t_eval=[0, np.pi * np.sqrt(0.5 / 9.81)], rtol=1e-10)
    np.testing.assert_allclose([moved["high.x"][-1], moved["low.x"][-1]], 0, atol=1e-8)


@app.function
def test_each_turn_moves_the_geneva_wheel_by_a_quarter():
    wheel = motion(se.load("geneva_drive"))["wheel.phi"]  # two turns
    np.testing.assert_allclose(wheel[[0, 100, 200]] - wheel[0], [0, -np.pi / 2, -np.pi], atol=1e-12)


@app.function
def test_one_joint_of_the_third_crank_is_redundant():
    diagnosis = se.diagnose(se.load("parallelogram").with_parameters(crank=1.2))
    assert diagnosis.redundant == 1


if __name__ == "__main__":
    app.run()
