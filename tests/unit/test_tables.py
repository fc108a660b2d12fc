"""Results as files: what is written is read back, whole or not at all."""

from __future__ import annotations

import os
import sys

import numpy as np
import pytest

import simengine2d as se
from simengine2d import builders
from simengine2d.io import tables

WITH_MODEL = [".npz", ".parquet"]
ENDINGS = [".csv", *WITH_MODEL]


@pytest.fixture(scope="module")
def results():
    return se.kinematics(builders.four_bar(1, 2, 2.5, 3, speed=2), t_end=0.5, step=0.05)


@pytest.mark.parametrize("ending", ENDINGS)
def test_every_float_reads_back_as_itself(results, tmp_path, ending):
    path = results.save(tmp_path / f"run{ending}")
    again = se.Results.load(path)
    for name in ("t", "q", "qd", "qdd"):
        np.testing.assert_array_equal(getattr(again, name), getattr(results, name))
    assert again.channels == results.channels
    assert os.listdir(tmp_path) == [path.name]  # no temporary file is left


@pytest.mark.parametrize("ending", WITH_MODEL)
def test_the_model_and_the_words_read_back_too(results, tmp_path, ending):
    again = se.Results.load(results.save(tmp_path / f"run{ending}"))
    for name in ("status", "notes", "analysis", "residuals", "statistics"):
        assert getattr(again, name) == getattr(results, name)
    assert again.model.parameters == results.model.parameters
    np.testing.assert_array_equal(again["coupler.end.xdd"], results["coupler.end.xdd"])
    np.testing.assert_array_equal(se.kinematics(again.model, t_end=0.5, step=0.05).q, results.q)


@pytest.mark.parametrize("ending", WITH_MODEL)
def test_multipliers_read_back(results, tmp_path, ending):
    with_lam = se.Results(results.model, results.t, results.q, results.qd, results.qdd, lam=results.q[:, :5])
    np.testing.assert_array_equal(se.Results.load(with_lam.save(tmp_path / f"run{ending}")).lam, with_lam.lam)
    assert se.Results.load(results.save(tmp_path / f"run{ending}")).lam is None


@pytest.mark.parametrize("ending", ENDINGS)
def test_the_same_results_give_the_same_bytes(results, tmp_path, ending):
    first, second = (results.save(tmp_path / f"{name}{ending}").read_bytes() for name in "ab")
    assert first == second


def test_a_csv_file_is_plain(results, tmp_path):
    text = results.save(tmp_path / "run.csv").read_text(encoding="utf-8")
    header, first, *_ = text.splitlines()
    assert header == ",".join(["t", *results.channels])
    assert first.split(",")[0] == "0.0"
    assert "#" not in text
    assert float(first.split(",")[3]) == results["crank.phi"][0]


def test_points_of_a_csv_file_are_refused_with_the_way_out(results, tmp_path):
    again = se.Results.load(results.save(tmp_path / "run.csv"))
    np.testing.assert_array_equal(again["rocker.phid"], results["rocker.phid"])
    with pytest.raises(se.ModelError, match=r"columns only.*\.npz or \.parquet"):
        again["coupler.end.x"]
    with pytest.raises(se.ModelError, match=r"no point 'end'.*columns only.*\.npz or \.parquet"):
        again.after_first().measure("distance(crank.end, rocker)")
    np.testing.assert_array_equal(again["distance(crank, rocker)"], results["distance(crank, rocker)"])
    with pytest.raises(se.ModelError) as caught:
        results["coupler.nowhere.x"]
    assert "columns only" not in str(caught.value)


def test_columns_may_stand_in_another_order(results, tmp_path):
    frame = results.to_frame().reset_index()
    path = tmp_path / "turned.csv"
    frame[list(reversed(frame.columns))].to_csv(path, index=False)
    np.testing.assert_array_equal(se.Results.load(path)["rocker.x"], results["rocker.x"])


@pytest.mark.parametrize("ending", ENDINGS)
def test_an_empty_run_is_a_file_too(results, tmp_path, ending):
    none = se.Results(
        results.model, *(np.empty(shape) for shape in (0, (0, 9), (0, 9), (0, 9))), status="stopped"
    )
    again = se.Results.load(none.save(tmp_path / f"run{ending}"))
    assert again.q.shape == (0, 9)
    assert again.bodies == results.bodies


@pytest.mark.parametrize("ending", WITH_MODEL)
def test_python_functions_are_saved_as_values_and_said_so(tmp_path, ending):
    model = builders.slider_crank(1, 2, crank_angle=0, driver=lambda t: np.sin(t))
    results = se.kinematics(model, t_end=1, step=0.1)
    again = se.Results.load(results.save(tmp_path / f"run{ending}"))
    assert "Driver 'motor': its Python function was saved as its values at the output times" in again.notes
    assert results.notes == []
    np.testing.assert_array_equal(again["rod.end.x"], results["rod.end.x"])


@pytest.mark.parametrize("ending", WITH_MODEL)
def test_names_in_any_language(tmp_path, ending):
    model = se.Model("Kurbel \u2013 \u00fc")
    body = model.body("Gro\u00dfes Rad", mass=1)
    model.add(se.Fixed("weld", model.ground, body))
    results = se.kinematics(model, t_end=1, step=0.5)
    again = se.Results.load(results.save(tmp_path / f"run{ending}"))
    assert again.bodies == ["Gro\u00dfes Rad"]
    assert again.model.name == model.name


# What is refused --------------------------------------------------------------------------------------


def test_an_unknown_ending_lists_the_known_ones(results, tmp_path):
    for act in (results.save, se.Results.load):
        with pytest.raises(se.ModelError, match=r"'\.xlsx' is unknown.*\.csv, \.npz, \.parquet"):
            act(tmp_path / "run.xlsx")


def test_missing_folders_and_files(results, tmp_path):
    with pytest.raises(se.ModelError, match=r"not written: the folder .*nowhere does not exist"):
        results.save(tmp_path / "nowhere" / "run.csv")
    with pytest.raises(se.ModelError, match="there is no file"):
        se.Results.load(tmp_path / "gone.npz")
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(se.ModelError, match="folder"):
        results.save(tmp_path / "folder.csv")
    with pytest.raises(se.ModelError, match="folder"):
        se.Results.load(tmp_path / "folder.csv")


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_full_disk_leaves_the_old_file_and_no_other(results, tmp_path, monkeypatch, ending):
    path = tmp_path / f"run{ending}"
    path.write_bytes(b"old")

    def full(handle):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(se.ModelError, match="not written: no space left on device"):
        results.save(path)
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == [path.name]


def test_an_interrupt_leaves_no_temporary_file(results, tmp_path, monkeypatch):
    def interrupt(handle):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        results.save(tmp_path / "run.csv")
    assert os.listdir(tmp_path) == []


def test_a_replaced_file_keeps_its_permissions(results, tmp_path):
    path = results.save(tmp_path / "run.csv")
    path.chmod(0o640)
    results.save(path)
    assert path.stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("content", [b"", b"nonsense\n1\n", b"PK\x03\x04", b"\xff\xfe\x00", b"PAR1PAR1"])
def test_damaged_files_are_refused_in_words(tmp_path, ending, content):
    path = tmp_path / f"run{ending}"
    path.write_bytes(content)
    with pytest.raises(se.ModelError, match="holds no results of simengine2d, or it is damaged"):
        se.Results.load(path)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("crank.x,", "crank.z,", "columns are"),
        ("\n0.0,", "\nzero,", "line 2"),
        ("\n0.0,", "\n0.0,1.0,", "line 2 has 29 cells"),
    ],
)
def test_a_damaged_csv_is_told_with_its_line(results, tmp_path, old, new, words):
    path = results.save(tmp_path / "run.csv")
    path.write_text(path.read_text().replace(old, new, 1))
    with pytest.raises(se.ModelError, match=words):
        se.Results.load(path)


def test_pickled_arrays_are_never_read(tmp_path):
    path = tmp_path / "run.npz"
    np.savez(path, t=np.array([object()], dtype=object), metadata="{}")
    with pytest.raises(se.ModelError, match="damaged"):
        se.Results.load(path)


def test_another_format_version_is_refused(results, tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "FORMAT", 99)
    path = results.save(tmp_path / "run.npz")
    monkeypatch.undo()
    with pytest.raises(se.ModelError, match="format is 99"):
        se.Results.load(path)


def test_without_pyarrow_the_way_to_get_it_is_said(results, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(se.UnsupportedError, match=r"pip install 'simengine2d\[tables\]'"):
        results.save(tmp_path / "run.parquet")
    assert os.listdir(tmp_path) == []


def test_energy_of_columns_is_refused(tmp_path):
    """A CSV file holds no masses; zeros would be a wrong answer."""
    results = se.dynamics(builders.chain(1), t_end=0.1)
    loaded = se.Results.load(results.save(tmp_path / "r.csv"))
    with pytest.raises(se.UnsupportedError, match=r"CSV.*\.npz"):
        loaded.energy()
