"""Your first mechanism in ten minutes: draw a four-bar, drive it, plot it, play it, change it, keep it as a file."""

import marimo

__generated_with = "0.25.2"
app = marimo.App(width="medium")

with app.setup:
    import tempfile
    from pathlib import Path

    import marimo as mo
    import numpy as np

    import simengine2d as se


@app.cell(hide_code=True)
def _():
    mo.md(r"""
    # Your first mechanism in ten minutes

    A **four-bar linkage** is three moving bars and the ground, joined in a loop by four pins. Wipers, pump jacks,
    bicycle suspensions and car doors contain one. Here you draw one, turn its crank, look at the motion, and change it.

    All lengths are in meters, angles in radians, masses in kilograms.
    """)
    return


@app.cell(hide_code=True)
def _():
    mo.md(r"""
    ## Draw it

    A bar goes from one point to another. Draw the three bars where they are at $t = 0$; the ends of each are called
    `start` and `end`. A `Revolute` joint is a pin. One between the ground and a bar needs no place: it is where you
    drew the bar.
    """)
    return


@app.cell
def _():
    model = se.Model("my four-bar")
    crank = model.bar("crank", (0, 0), (0, 1), mass=1)
    coupler = model.bar("coupler", (0, 1), (4, 3), mass=4)
    rocker = model.bar("rocker", (4, 0), (4, 3), mass=3)
    model.add(se.Revolute("O", model.ground, crank["start"]))
    model.add(se.Revolute("A", crank["end"], coupler["start"]))
    model.add(se.Revolute("B", coupler["end"], rocker["end"]))
    model.add(se.Revolute("C", model.ground, rocker["start"]))
    model.draw()
    return coupler, crank, model


@app.cell(hide_code=True)
def _():
    mo.md(r"""
    ## Ask what it can do

    Each body in the plane has three coordinates, $x$, $y$ and $\varphi$. Each pin takes two freedoms away. For $n_b$
    bodies and $n_p$ pins the count is

    $$f = 3\,n_b - 2\,n_p = 3 \cdot 3 - 2 \cdot 4 = 1.$$

    One motion is left, and the diagnosis describes it in words.
    """)
    return


@app.cell
def _(model):
    free = se.diagnose(model)
    free
    return (free,)


@app.cell(hide_code=True)
def _():
    mo.md(r"""
    ## Drive it

    A **driver** prescribes that motion: the angle of the crank begins as drawn and makes one turn per second,
    $\varphi(t) = \varphi_0 + 2\pi t$. Now everything is determined, and *kinematics* finds positions, velocities and
    accelerations.
    """)
    return


@app.cell
def _(crank, model):
    driven = model.copy()
    driven.add(se.Driver("motor", se.angle(driven.ground, crank), "drawn + 2*pi*t"))
    results = se.kinematics(driven, t_end=1, step=0.005)
    results.plot("rocker.phi", "rocker.phid")
    return driven, results


@app.cell(hide_code=True)
def _():
    mo.md(r"""
    Every quantity has a name, a **channel**: `rocker.phi` is an angle, `rocker.phid` its rate, `coupler.end.x` the
    coordinate of a point, and `distance(crank.start, coupler.end)` whatever you like to measure.
    """)
    return


@app.cell
def _(results):
    swing = np.ptp(results["rocker.phi"])
    reach = results["distance(crank.start, coupler.end)"]
    print(f"the rocker swings through {np.degrees(swing):.3f} degrees")
    print(f"O and B are between {reach.min():.4f} m and {reach.max():.4f} m apart")
    return reach, swing


@app.cell(hide_code=True)
def _():
    mo.md(r"""
    ## Play it

    Press the triangle, or drag the time. The line is the path of the point B.
    """)
    return


@app.cell
def _(results):
    results.player(trace=["coupler.end"])
    return


@app.cell(hide_code=True)
def _():
    mo.md(r"""
    ## Change it

    Classic mechanisms can be built from their lengths alone. Choose the length of the coupler, then look at the path
    and the swing below. (In Jupyter, run the cells below the slider again.)
    """)
    return


@app.cell
def _():
    coupler_length = mo.ui.slider(2.2, 5.8, step=0.1, value=4.4, label="coupler, m", show_value=True)
    coupler_length
    return (coupler_length,)


@app.cell
def _(coupler_length):
    a, b, c, d = 1, coupler_length.value, 3, 4  # crank, coupler, rocker, ground
    changed = se.kinematics(se.builders.four_bar(a, b, c, d, speed="2*pi"), t_end=1, step=0.005)
    changed.plot_path("coupler.end", "crank.end")
    return a, b, c, changed, d


@app.cell(hide_code=True)
def _():
    mo.md(r"""
    How far does the rocker swing? It turns back where crank and coupler lie on one line, once stretched, once folded.
    Then O, B and C are the corners of a triangle with the sides $d$, $c$ and $b \pm a$, and the law of cosines gives
    the angle at C:

    $$\cos\psi_\pm = \frac{c^2 + d^2 - (b \pm a)^2}{2\,c\,d}, \qquad \text{swing} = \psi_+ - \psi_- .$$
    """)
    return


@app.cell
def _(a, b, c, changed, d):
    angle = lambda side: np.arccos((c**2 + d**2 - side**2) / (2 * c * d))
    theory = angle(b + a) - angle(b - a)
    found = np.ptp(changed["rocker.phi"])
    mo.md(f"The swing is {np.degrees(found):.3f}°, in theory {np.degrees(theory):.3f}°.")
    return found, theory


@app.cell(hide_code=True)
def _():
    mo.md(r"""
    ## Let it go

    Without a motor, *dynamics* asks how the weights of the bars move it. The shipped four-bar has its pins A, B, C and D
    in the order of the bars; `B.fy` is the vertical force in pin B, between crank and coupler.
    """)
    return


@app.cell
def _(a, b, c, d):
    falling = se.dynamics(se.builders.four_bar(a, b, c, d), t_end=4)
    falling.plot("rocker.phi", "B.fy")
    return (falling,)


@app.cell(hide_code=True)
def _():
    mo.md(r"""
    ## Keep it as a file

    A model is a text file that you can edit. `simengine2d run my_four_bar.yaml` runs it on the command line, and
    `se.load("my_four_bar.yaml")` reads it into Python.
    """)
    return


@app.cell
def _(driven):
    # in your own work: driven.save("my_four_bar.yaml")
    with tempfile.TemporaryDirectory() as folder:
        text = driven.save(Path(folder) / "my_four_bar.yaml").read_text()
    mo.md(f"```yaml\n{text}\n```")
    return


@app.cell(hide_code=True)
def _():
    mo.md(r"""
    ## Your turn

    1. Set the coupler to 3 m in the slider above. By the formula the swing is
       $\arccos\tfrac{9}{24} - \arccos\tfrac{21}{24} = 39.0°$. Do you see it?
    2. Make the crank of `my four-bar` so long that it cannot turn fully: end it at (0, 3), and leave the other bars as
       they are. What does the error say?
    3. Draw a mechanism of your own: add two bars to the rocker, and pin the last to the ground.

    The next notebook lets one bar swing, and looks at the equations. Checks of what was said above:
    """)
    return


@app.cell
def test_one_motion_is_free(free):
    assert free.mobility == 1
    return


@app.cell
def test_the_rocker_turns_back_where_crank_and_coupler_are_in_line(reach, swing):
    length = np.sqrt(20)  # of the drawn coupler, from (0, 1) to (4, 3)
    stretched, folded = np.arccos((25 - (length + np.array([1, -1])) ** 2) / 24)
    # 200 points of a turn miss the extremes by at most 4e-4 of the swing
    np.testing.assert_allclose(swing, stretched - folded, rtol=4e-4)
    np.testing.assert_allclose([reach.min(), reach.max()], [length - 1, length + 1], atol=1e-12 + 2e-4)
    return


@app.cell
def test_the_swing_of_any_length_is_that_of_the_formula(found, theory):
    np.testing.assert_allclose(found, theory, rtol=4e-4)
    return


@app.cell
def test_the_answer_of_the_exercise():
    other = se.kinematics(se.builders.four_bar(1, 3, 3, 4, speed="2*pi"), t_end=1, step=0.001)
    np.testing.assert_allclose(np.degrees(np.ptp(other["rocker.phi"])), 39.0, atol=0.05)
    return


@app.cell
def test_energy_is_kept(falling):
    energy = falling.energy()
    np.testing.assert_allclose(energy.total, energy.total[0], atol=1e-4 * np.ptp(energy.kinetic))
    return


if __name__ == "__main__":
    app.run()
