"""Sweeps: samples, outputs, executors, and the table that comes back."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from matplotlib.figure import Figure
from scipy import stats

import simengine2d as se
from simengine2d.lab.sweep import executors
from simengine2d.lab.sweep.executors import executor_of
from simengine2d.lab.sweep.outputs import Expression
from simengine2d.lab.sweep.samples import samples_of

OUTPUTS = {"top": "max(coupler.end.y)", "speed_ratio": "max(abs(rocker.phid))/speed"}


@pytest.fixture(scope="module")
def four_bar() -> se.Model:
    return se.load("four_bar")


def swept(model: se.Model, **options) -> se.SweepTable:
    parameters = options.pop("parameters", {"rocker": np.linspace(2.5, 4.0, 7), "coupler": [2.0, 2.2]})
    return se.sweep(
        model, parameters, "kinematics", options.pop("outputs", OUTPUTS), t_end=1, step=0.05, **options
    )


def assert_same(a: se.SweepTable, b: se.SweepTable) -> None:
    assert list(a.columns) == list(b.columns)
    assert [column.tobytes() for column in a.columns.values()] == [c.tobytes() for c in b.columns.values()]
    assert (a.sample.tolist(), list(a.reasons)) == (b.sample.tolist(), list(b.reasons))


# Rows ---------------------------------------------------------------------------------------------------


def test_a_row_is_what_the_analysis_gives(four_bar):
    table = swept(four_bar, executor="serial")
    assert len(table) == 14
    for row in table.records():
        if not row["reason"]:
            model = four_bar.with_parameters(rocker=row["rocker"], coupler=row["coupler"])
            results = se.kinematics(model, t_end=1, step=0.05)
            assert row["top"] == results["coupler.end.y"].max()
            assert row["speed_ratio"] == np.abs(results["rocker.phid"]).max() / (2 * np.pi)


def test_a_failed_sample_is_a_row_with_its_reason(four_bar):
    table = swept(four_bar, parameters={"rocker": [3.6, 0.5, 2.5]}, executor="serial")
    assert table.ok.tolist() == [True, False, False]
    assert np.isnan(table["top"]).tolist() == [False, True, True]
    assert "coupler = 2 is too small beside foot = 2.125" in table.failed[1]
    assert "dead point" in table.failed[2]


def test_threads_give_the_same_bytes(four_bar):
    assert_same(swept(four_bar, executor="serial"), swept(four_bar, executor="threads", workers=2))


def sprung_slider() -> se.Model:
    """Forces along measures, of which one has two elements, a wrench, and a joint with two rows."""
    model = se.load("sprung_slider")
    crank = model.bodies["crank"]
    model.add(se.Spring("second", model.elements["spring"].measure, stiffness=3, free=0.4))
    model.add(se.PointForce("push", crank, fx="2*sin(t)", fy=-1))
    model.add(se.Torque("twist", crank, "0.1*t"))
    return model


FORCES = (
    "max(A.force)", "min(A.fx)", "final(A.crank.fy)", "max(second.force)", "rms(spring.fx)", "final(push.fy)",
    "final(twist.torque)", "max(A.torque)", "max(energy.potential)",
)  # fmt: skip


def test_forces_of_variants_are_those_of_systems_of_their_own():
    model, lengths = sprung_slider(), np.linspace(0.9, 1.1, 7) * sprung_slider().parameters["crank"]
    outputs = {f"o{k}": text for k, text in enumerate(FORCES)}
    table = se.sweep(model, {"crank": lengths}, "dynamics", outputs, t_end=1)
    assert not table.failed
    whole = [
        se.dynamics(se.System(model.with_parameters(crank=crank)), t_end=1) for crank in lengths.tolist()
    ]
    for name, text in outputs.items():
        expected = [Expression(text)(results) for results in whole]
        assert table[name].tolist() == expected, text


def test_numbers_of_parts_vary_too():
    model = se.load("sprung_slider")
    name = next(iter(model.forces))
    table = se.sweep(model, {f"{name}.stiffness": [100.0, 400.0]}, "modes", {"f": "first(frequency)"})
    assert table["f"][1] > table["f"][0]

    assert (
        se.sweep(model, {f"{name}.stiffness": [100.0]}, "modes", ["first(frequency)"])["first(frequency)"][0]
        == table["f"][0]
    )


def test_analyses_of_the_catalog_and_of_ones_own(four_bar):
    forces = se.sweep(
        four_bar, {"density": [1, 2]}, "inverse", {"F": "max(B.force)", "T": "rms(motor.torque)"}, t_end=1
    )
    assert forces["F"][1] == pytest.approx(2 * forces["F"][0], rel=1e-9)
    reaction = se.inverse_dynamics(four_bar, t_end=1).reaction("B")
    assert forces["F"][0] == np.hypot(reaction.fx, reaction.fy).max()
    own = se.sweep(
        four_bar, {"rocker": [3.6]}, lambda model: se.kinematics(model, t_end=0.5), {"end": lambda r: r.t[-1]}
    )
    assert own["end"].tolist() == [0.5]


def test_whole_results_and_whole_channels(four_bar):
    results = swept(four_bar, outputs=None, parameters={"rocker": [3.6]})["results"][0]
    assert isinstance(results, se.Results)
    table = swept(four_bar, outputs={"x": "coupler.end.x"}, parameters={"rocker": [3.6, 1.0]})
    np.testing.assert_array_equal(table["x"][0], results["coupler.end.x"])
    assert np.isnan(table["x"][1])


# Outputs ------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_means_are_over_time():
    """Rows of a run are closer to each other where its steps are short; that does not change a mean."""
    model = se.load("slider_crank")
    del model.elements["motor"]
    model.bodies["crank"].angular_velocity = 9.0
    outputs = {"mean": "mean(crank.phid)", "rms": "rms(B.force)"}
    fine = {"t_eval": np.linspace(0.0, 1.0, 4001)}
    exact, *rows = (
        se.sweep(
            model, {"crank.mass": [1.0]}, "dynamics", outputs, t_end=None if options is fine else 1, **options
        ).records()[0]
        for options in (fine, {"rtol": 1e-4}, {"rtol": 1e-9})
    )
    for row in rows:
        assert row["mean"] == pytest.approx(
            exact["mean"], rel=5e-3
        )  # straight lines between about 101 outputs
        assert row["rms"] == pytest.approx(exact["rms"], rel=5e-3)


def test_reducers():
    model = se.builders.chain(1)
    outputs = {
        "first": "first(t)", "final": "final(t)", "mean": "mean(t)", "ptp": "peak_to_peak(t)", "rms": "rms(t - 1)",
        "at": "at(2*t, 0.25)", "larger": "max(max(t, 0.5))", "hit": "time(below)", "there": "at(link1.y, below)",
        "rate": "max(abs(rate(distance(ground, link1))))",
    }  # fmt: skip
    body = next(iter(model.bodies))
    outputs = {name: text.replace("link1", body) for name, text in outputs.items()}
    event = se.Event(f"{body}.phid", stop=False, name="below")
    row = se.sweep(
        model, {f"{body}.mass": [1.0]}, "dynamics", outputs, t_end=1, step=0.01, events=[event]
    ).records()[0]
    assert row["reason"] == ""
    assert (row["first"], row["final"], row["ptp"]) == (0, 1, 1)
    assert row["mean"] == pytest.approx(0.5)
    assert row["rms"] == pytest.approx(np.sqrt(1 / 3), rel=1e-4)
    assert row["at"] == pytest.approx(0.5)
    assert row["larger"] == 1
    assert row["rate"] < 1e-9


def test_an_event_that_does_not_happen_is_a_reason(four_bar):
    table = swept(four_bar, outputs=["time(never)"], parameters={"rocker": [3.6]})
    assert "the event 'never' did not happen" in table.failed[0]


def test_transmission_angle(four_bar):
    table = swept(four_bar, outputs=["min(transmission)"], parameters={"rocker": [3.7]})
    results = se.kinematics(four_bar.with_parameters(rocker=3.7), t_end=1, step=0.05)
    assert table["min(transmission)"][0] == se.transmission_angle(results).smallest


# Samples ------------------------------------------------------------------------------------------------


def test_grids_lists_and_frames():
    grid = samples_of({"a": [1, 2], "b": ["30*deg", 3, 4]})
    assert grid["a"].tolist() == [1, 1, 1, 2, 2, 2]
    assert grid["b"].tolist() == [np.pi / 6, 3, 4] * 2
    rows = samples_of([{"a": 1, "b": 2}, {"b": 3, "a": 4}])
    assert (rows["a"].tolist(), rows["b"].tolist()) == ([1, 4], [2, 3])
    pandas = pytest.importorskip("pandas")
    frame = samples_of(pandas.DataFrame(rows))
    assert frame["a"].tolist() == [1, 4]


@pytest.mark.parametrize(
    "sampler", [se.LatinHypercube(32, seed=1), se.Sobol(32, seed=1), se.MonteCarlo(32, seed=1)]
)
def test_designs_fill_ranges_and_follow_distributions(sampler):
    samples = samples_of({"a": (1, 3), "b": stats.norm(5, 0.1), "c": 7}, sampler)
    assert samples.count == 32
    assert samples["a"].min() >= 1
    assert samples["a"].max() <= 3
    assert abs(samples["b"].mean() - 5) < 0.1
    assert set(samples["c"]) == {7.0}
    again = samples_of({"a": (1, 3), "b": stats.norm(5, 0.1), "c": 7}, sampler)
    assert all(again[name].tobytes() == samples[name].tobytes() for name in samples)


def test_a_latin_hypercube_has_one_sample_in_each_part():
    samples = samples_of({"a": (0, 10)}, se.LatinHypercube(10))
    assert sorted(samples["a"].astype(int).tolist()) == list(range(10))


# What is refused ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"parameters": {"roker": [1]}}, "has no parameter 'roker'. Did you mean 'rocker'"),
        ({"parameters": {"rocker.mas": [1]}}, "Did you mean 'rocker.mass'"),
        ({"parameters": {"rocker": []}}, "empty range"),
        ({"parameters": {}}, "nothing to vary"),
        ({"parameters": {"rocker": [np.nan]}}, "not a finite number"),
        ({"parameters": {"rocker": ["3*"]}}, "parameter 'rocker': expression"),
        ({"parameters": {"rocker": stats.norm(1, 2)}}, "say how many samples"),
        ({"parameters": {"rocker": (2, 1)}, "samples": 5}, "low < high"),
        ({"parameters": {"rocker": (1, 2)}, "samples": se.Sobol(0)}, "at least 1, not 0"),
        ({"parameters": [{"rocker": 1}], "samples": 5}, "one by one"),
        ({"parameters": [{"rocker": 1}, {"coupler": 1}]}, "sample 1 gives coupler"),
        ({"parameters": {"rocker": np.arange(1e5), "coupler": np.arange(1e5)}}, "1e\\+10 samples"),
        ({"executor": "thread"}, "Did you mean 'threads'"),
        ({"workers": 0}, "at least 1"),
        ({"analysis": "kinematic"}, "Did you mean 'kinematics'"),
        ({"t_ende": 1}, "Did you mean 't_end'"),
        ({"outputs": []}, "outputs is empty"),
        ({"outputs": "max(coupler.endd.y)"}, "Did you mean 'end'"),
        ({"outputs": "maxx(coupler.end.y)"}, "unknown function 'maxx'"),
        ({"outputs": {"rocker": "max(coupler.x)"}}, "the name of a parameter"),
        ({"outputs": {"a": 3}}, "write an expression"),
        ({"outputs": "max(B.force)"}, "has no reactions.* inverse_dynamics finds the forces"),
    ],
)  # fmt: skip
def test_a_mistake_ends_in_a_sentence_before_anything_runs(four_bar, given, sentence):
    with pytest.raises(se.SimEngineError, match=sentence):
        se.sweep(four_bar, **{"parameters": {"rocker": [3.6]}, "executor": "serial", **given})


def test_functions_that_cannot_be_sent_are_refused(four_bar):
    with pytest.raises(se.UnsupportedError, match="executor='threads'"):
        swept(four_bar, outputs={"f": lambda r: 0.0}, executor="processes")


# Stopping -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("executor", ["serial", "threads"])
def test_ctrl_c_keeps_finished_rows(four_bar, executor):
    def stop(done: int, total: int) -> None:
        if done >= 4:
            raise KeyboardInterrupt

    before = threading.active_count()
    with pytest.raises(se.Interrupted, match="interrupted after 4 of 14 samples") as stopped:
        swept(four_bar, executor=executor, progress=stop)
    table = stopped.value.results
    assert (len(table), table.total) == (4, 14)
    assert "4 of 14 samples" in repr(table)
    assert threading.active_count() == before


def test_progress_counts_up_to_all(four_bar):
    seen: list[tuple[int, int]] = []
    swept(four_bar, progress=lambda *each: seen.append(each))
    assert (seen[0], seen[-1]) == ((0, 14), (14, 14))
    assert sorted(seen) == seen


def die_once(results) -> float:
    """Ends its process the first time."""
    import os
    from pathlib import Path

    flag = Path(os.environ["SWEEP_TEST_FLAG"])
    if flag.with_suffix(".armed").exists() and not flag.exists():
        flag.touch()
        os._exit(9)
    return float(results.t[-1])


@pytest.mark.slow
def test_what_a_lost_process_had_begun_is_computed_again(four_bar, tmp_path, monkeypatch):
    monkeypatch.setenv("SWEEP_TEST_FLAG", str(tmp_path / "flag"))
    outputs = {**OUTPUTS, "end": die_once}
    alone = swept(four_bar, outputs=outputs, executor="serial")
    (tmp_path / "flag.armed").touch()
    assert_same(alone, swept(four_bar, outputs=outputs, executor="processes", workers=2))
    assert (tmp_path / "flag").exists()


def test_chunks_depend_on_the_study_alone():
    from simengine2d.lab.sweep.sweep import chunk_size

    assert [chunk_size(n) for n in (1, 100, 101, 10_000, 10**6)] == [1, 1, 2, 100, 1000]
    assert executor_of("serial") is executors.serial


# The table ----------------------------------------------------------------------------------------------


def test_the_table_finds_and_tells(four_bar, tmp_path):
    table = swept(four_bar)
    best = table.best("top", largest=True)
    assert best["top"] == np.nanmax(table["top"])
    with pytest.raises(se.ModelError, match="Did you mean 'top'"):
        table["topp"]
    assert "smallest" in repr(table)
    head, _, *lines = str(table).splitlines()
    assert "14 samples, 4 failed" in head
    assert [int(line.split()[0]) for line in lines[:14]] == list(range(14))
    assert sum(line.startswith("sample ") for line in lines[14:]) == 4  # the reasons
    frame = table.to_frame()
    assert frame.shape == (14, 5)
    assert table.to_csv(tmp_path / "t.csv").read_text().startswith("rocker,coupler,top,speed_ratio")


@pytest.mark.slow
def test_pictures(four_bar):
    two = swept(four_bar)
    one = swept(four_bar, parameters={"rocker": np.linspace(2.5, 4.0, 5)})
    three = swept(
        four_bar, parameters={"rocker": (3.2, 4), "coupler": (2, 2.2), "crank": (0.8, 1)}, samples=20
    )
    for draw in (
        one.plot,
        two.plot,
        three.plot,
        lambda ax: two.plot_response("rocker", "top", ax),
        lambda ax: three.plot_map(ax=ax),
    ):
        ax = Figure().add_subplot()
        assert draw(ax) is ax
        assert ax.lines or ax.collections or ax.patches
    assert len(three.plot_matrix().axes) == 25
    curves = swept(four_bar, outputs={"x": "coupler.end.x", "y": "coupler.end.y"})
    ax = curves.plot_curves("x", "y", ax=Figure().add_subplot())
    assert len(ax.lines) == curves.ok.sum()
    with pytest.raises(se.ModelError, match="not a whole channel"):
        two.plot_curves("top", "top")
    with pytest.raises(se.ModelError, match="there is no output 'tip'"):
        two.plot(output="tip")
