"""Results as tables for other programs: chosen channels, units in the headings, the same numbers."""

from __future__ import annotations

import csv
import errno
import sys

import numpy as np
import pytest
from typer.testing import CliRunner

import simengine2d as se
from simengine2d import builders, cli
from simengine2d.io import files

CHOSEN = ["crank.phi", "rocker.end.xd", "distance(crank.end, rocker.end)", "B", "motor.power", "energy"]
HEADINGS = [
    *("t [s]", "crank.phi [rad]", "rocker.end.xd [m/s]", "distance(crank.end, rocker.end) [m]"),
    *("B.fx [N]", "B.fy [N]", "B.torque [N m]", "motor.power [W]"),
    *(
        "energy.kinetic [J]",
        "energy.potential [J]",
        "energy.total [J]",
        "energy.input [J]",
        "energy.dissipated [J]",
    ),
]


@pytest.fixture(scope="module")
def results() -> se.Results:
    return se.inverse_dynamics(builders.four_bar(1, 2, 3, 3, speed=2), t_end=0.5)


def expected(results: se.Results) -> np.ndarray:
    names = ["t", *CHOSEN[:3], "B.fx", "B.fy", "B.torque", "motor.power"]
    return np.column_stack(
        [
            *(results[name] for name in names),
            *results.energy(),
            *(results[f"energy.{work}"] for work in ("input", "dissipated")),
        ]
    )


def test_csv_has_units_and_the_same_floats(results, tmp_path):
    path = results.to_csv(tmp_path / "r.csv", CHOSEN)
    with path.open(newline="") as file:
        head, *rows = list(csv.reader(file))
    assert head == HEADINGS
    np.testing.assert_array_equal(np.array(rows, dtype=float), expected(results))
    assert (
        results.to_csv(tmp_path / "r.csv", "crank.phi", units=False).read_text().startswith("t,crank.phi\n")
    )


def test_frames_hold_what_is_chosen(results):
    pytest.importorskip("pandas")
    frame = results.to_frame(CHOSEN, units=True)
    assert [frame.index.name, *frame.columns] == HEADINGS
    np.testing.assert_array_equal(frame.reset_index().to_numpy(), expected(results))
    assert list(results.to_frame().columns) == results.motion_channels
    assert list(results.to_frame("crank").columns) == [
        c for c in results.motion_channels if c.startswith("crank.")
    ]


def test_parquet(results, tmp_path):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    frame = pandas.read_parquet(results.to_parquet(tmp_path / "r.parquet", CHOSEN))
    assert list(frame.columns) == HEADINGS
    np.testing.assert_array_equal(frame.to_numpy(), expected(results))


def test_excel(results, tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.load_workbook(results.to_excel(tmp_path / "r.xlsx", CHOSEN))
    head, *rows = list(book["results"].values)
    assert list(head) == HEADINGS
    np.testing.assert_allclose(
        np.array(rows, dtype=float), expected(results), rtol=1e-15
    )  # 16 digits are written
    assert ("verdict", "trust") in list(book["about"].values)


def test_a_sheet_has_an_end(tmp_path):
    pytest.importorskip("openpyxl")
    from simengine2d.io.tables import MOST_ROWS, write_excel

    with pytest.raises(se.ModelError, match="1048575 rows below its headings"):
        write_excel({"t": np.zeros(MOST_ROWS)}, tmp_path / "r.xlsx", {})


@pytest.mark.parametrize(
    ("module", "call", "hint"),
    [
        ("pandas", lambda r, folder: r.to_frame(), r"pip install 'simengine2d\[tables\]'"),
        (
            "pyarrow",
            lambda r, folder: r.to_parquet(folder / "r.parquet"),
            r"pip install 'simengine2d\[parquet\]'",
        ),
        ("openpyxl", lambda r, folder: r.to_excel(folder / "r.xlsx"), r"pip install 'simengine2d\[excel\]'"),
    ],
)
def test_a_missing_library_is_named_with_the_command_that_installs_it(
    results, tmp_path, monkeypatch, module, call, hint
):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(se.UnsupportedError, match=hint):
        call(results, tmp_path)


def test_the_extras_exist():
    import tomllib
    from pathlib import Path

    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))[
        "project"
    ]
    extras = project["optional-dependencies"]
    everything = extras["all"][0].removeprefix("simengine2d[").removesuffix("]").split(",")
    assert set(everything) == set(extras) - {"all", "docs", "test"}


def test_what_prevents_writing_is_a_sentence(results, tmp_path, monkeypatch):
    with pytest.raises(se.ModelError, match=r"the folder .* does not exist"):
        results.to_csv(tmp_path / "nowhere" / "r.csv")
    with pytest.raises(se.ModelError, match=r"a file of this kind ends in \.csv"):
        results.to_csv(tmp_path / "r.xlsx")
    (tmp_path / "r.csv").write_text("old")

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(files.os, "fsync", full)
    with pytest.raises(se.ModelError, match=r"no space left on device\. Make room on the disk"):
        results.to_csv(tmp_path / "r.csv")
    assert [path.name for path in tmp_path.iterdir()] == ["r.csv"]
    assert (tmp_path / "r.csv").read_text() == "old"


def test_wrong_channels_are_answered(results, tmp_path):
    with pytest.raises(se.ModelError, match="names body 'crnk'"):
        results.to_csv(tmp_path / "r.csv", ["crnk.phi"])
    with pytest.raises(se.ModelError, match="channels is empty"):
        results.to_csv(tmp_path / "r.csv", [])
    assert list(tmp_path.iterdir()) == []


def test_energy_is_a_channel_unless_a_body_has_that_name(results):
    np.testing.assert_array_equal(results["energy.total"], results.energy().total)
    assert results.plot("energy.kinetic").get_ylabel() == "energy.kinetic [J]"
    m = se.Model("m")
    m.body("energy", mass=1, inertia=1)
    r = se.dynamics(m, t_end=0.1)
    np.testing.assert_array_equal(r["energy.y"], r.q[:, 1])
    assert list(r.to_frame("energy").columns)[:1] == ["energy.x"]


# On the command line ----------------------------------------------------------------------------------


def run(*words: object):
    return CliRunner().invoke(cli.app, [str(word) for word in words])


def test_out_may_be_a_file(tmp_path):
    channels = ["--channel", "crank.phi", "--channel", "distance(crank.end, rocker.end)"]
    target = tmp_path / "new" / "r.csv"
    shown = run("kinematics", "four_bar", "--t-end", 0.1, "--out", target, *channels)
    assert shown.exit_code == 0, shown.output
    assert target.read_text().startswith('t [s],crank.phi [rad],"distance(crank.end, rocker.end) [m]"\n')
    assert f"saved 101 points in {target}" in shown.stdout.replace("\n", "")
    run("kinematics", "four_bar", "--t-end", 0.1, "--out", tmp_path / "whole.csv")
    assert se.Results.load(tmp_path / "whole.csv").t.size == 101


def test_workbooks_are_written_by_name_and_by_format(tmp_path):
    pytest.importorskip("openpyxl")
    assert run("run", "four_bar", "--out", tmp_path / "r.xlsx").exit_code == 0
    assert run("run", "four_bar", "--out", tmp_path, "--format", "xlsx").exit_code == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["four_bar.xlsx", "r.xlsx"]


def test_wrong_requests_end_before_the_run(tmp_path, monkeypatch):
    out = ["--out", tmp_path / "r.csv"]
    misspelled = run("dynamics", "double_pendulum", "--t-end", 1e9, *out, "--channel", "uper.phi")
    assert misspelled.exit_code == 1
    assert "Did you mean 'upper'?" in misspelled.stderr
    no_forces = run("kinematics", "four_bar", "--t-end", 1e9, *out, "--channel", "B")
    assert "Run" in no_forces.stderr or "forces" in no_forces.stderr
    assert no_forces.exit_code == 3
    assert run("run", "four_bar", "--channel", "crank.phi").exit_code == 2
    assert run("run", "four_bar", "--out", tmp_path / "r.npz", "--channel", "crank.phi").exit_code == 2
    assert run("run", "four_bar", "--out", tmp_path / "r.csv", "--format", "npz").exit_code == 2
    monkeypatch.setattr("simengine2d.cli.commands.saving.find_spec", lambda name: None)
    shown = run("run", "four_bar", "--out", tmp_path / "r.xlsx")
    assert shown.exit_code == 3
    assert "pip install 'simengine2d[excel]'" in shown.stderr
    assert list(tmp_path.iterdir()) == []
