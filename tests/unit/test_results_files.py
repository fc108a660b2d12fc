"""Results as files: what is written is read back, whole or not at all."""

from __future__ import annotations

import dataclasses
import io
import os
import sys
import zipfile

import numpy as np
import pytest

import simengine2d as se
from simengine2d import builders
from simengine2d.io import archive, results_files
from simengine2d.io.model_writer import model_data

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
    assert again.motion_channels == results.motion_channels
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
    with_lam = se.Results(results.model, results.t, results.q, results.qd, results.qdd, lam=results.q.copy())
    np.testing.assert_array_equal(se.Results.load(with_lam.save(tmp_path / f"run{ending}")).lam, with_lam.lam)
    assert se.Results.load(results.save(tmp_path / f"run{ending}")).lam is None


@pytest.mark.parametrize("ending", ENDINGS)
def test_the_same_results_give_the_same_bytes(results, tmp_path, ending):
    first, second = (results.save(tmp_path / f"{name}{ending}").read_bytes() for name in "ab")
    assert first == second


def test_a_csv_file_is_plain(results, tmp_path):
    text = results.save(tmp_path / "run.csv").read_text(encoding="utf-8")
    header, first, *_ = text.splitlines()
    assert header == ",".join(["t", *results.motion_channels])
    assert first.split(",")[0] == "0.0"
    assert "#" not in text
    assert float(first.split(",")[3]) == results["crank.phi"][0]


def test_points_of_a_csv_file_are_refused_with_the_way_out(results, tmp_path):
    again = se.Results.load(results.save(tmp_path / "run.csv"))
    np.testing.assert_array_equal(again["rocker.phid"], results["rocker.phid"])
    with pytest.raises(se.ModelError, match=r"columns only.*\.npz or \.parquet"):
        again["coupler.end.x"]
    with pytest.raises(se.ModelError, match=r"no point 'end'.*columns only.*\.npz or \.parquet"):
        again.at_rows(slice(1, None)).measure("distance(crank.end, rocker)")
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
    monkeypatch.setattr(results_files, "FORMAT", 99)
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


# Files that were changed --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def swing():
    m = se.Model("p")
    bar = m.bar("bar", (0, 0), (1, 0), mass=1)
    m.add(se.Revolute("O", m.ground, bar["start"]))
    return se.dynamics(m, t_eval=[0, 0.01, 0.02], events=se.Event("bar.phi + 0.001", stop=False))


def edited(path, **arrays):
    """The archive with some members replaced; None takes one away."""
    members = dict(np.load(path)) | arrays
    np.savez(path, **{name: array for name, array in members.items() if array is not None})
    return path


def as_format_2(path):
    text = str(np.load(path)["metadata"]).replace('"format": 3', '"format": 2')
    return edited(path, metadata=np.array(text), digest=None)


@pytest.mark.parametrize("name", ["t", "q", "lam", "checkpoint_watch_t", "metadata", "digest"])
def test_a_changed_archive_is_refused(swing, tmp_path, name):
    path = swing.save(tmp_path / "run.npz")
    old = np.load(path)[name]
    new = np.array(str(old)[::-1]) if old.dtype.kind == "U" else old + 1e-9
    with pytest.raises(se.ModelError, match="damaged"):
        se.Results.load(edited(path, **{name: new}))


def test_arrays_of_another_run_are_refused(swing, tmp_path):
    path = swing.save(tmp_path / "run.npz")
    other = se.Results(swing.model, swing.t, swing.q, 2 * swing.qd, swing.qdd, swing.lam)
    with pytest.raises(se.ModelError, match="was changed after it was saved"):
        se.Results.load(edited(path, qd=np.load(other.save(tmp_path / "b.npz"))["qd"]))


def test_files_of_the_format_before_are_read(swing, tmp_path):
    again = se.Results.load(as_format_2(swing.save(tmp_path / "run.npz")))
    np.testing.assert_array_equal(again.resume(0.03).q, swing.resume(0.03).q)


@pytest.mark.parametrize(
    ("arrays", "words"),
    [
        ({"q": np.full((3, 3), np.nan)}, "q holds numbers that are not finite"),
        ({"q": np.zeros((3, 4))}, "expected is"),
        ({"t": np.zeros((3, 1))}, "expected is"),
        ({"qd": np.zeros((3, 3), np.float32)}, "of float32"),
        ({"lam": np.zeros((3, 5))}, "expected is"),
        ({"qdd": np.zeros((3, 3), complex)}, "which are not numbers"),
        ({"metadata": np.array("[]")}, "damaged"),
    ],
)
def test_arrays_without_a_digest_are_examined(swing, tmp_path, arrays, words):
    path = edited(as_format_2(swing.save(tmp_path / "run.npz")), **arrays)
    with pytest.raises(se.ModelError, match=words):
        se.Results.load(path)


@pytest.mark.parametrize("name", ["q", "qd", "qdd", "lam"])
def test_numbers_that_are_not_finite_are_neither_written_nor_read(swing, tmp_path, name):
    """Even where the digest fits: no run gives such rows."""
    broken = {name: np.where(np.arange(swing.t.size)[:, None] == 1, np.nan, getattr(swing, name))}
    results = dataclasses.replace(swing, **broken)
    for ending in ENDINGS:
        with pytest.raises(se.ModelError, match=rf"is not written: {name} .* not finite"):
            results.save(tmp_path / f"run{ending}")
    with np.load(swing.save(tmp_path / "run.npz")) as file:
        arrays = {key: file[key] for key in file} | broken
    text = str(arrays.pop("metadata"))
    arrays.pop("digest")
    given = {"metadata": np.array(text), "digest": np.array(archive.digest(text, arrays))}
    (tmp_path / "run.npz").write_bytes(archive.pack(arrays | given))
    with pytest.raises(se.ModelError, match=f"{name} holds numbers that are not finite"):
        se.Results.load(tmp_path / "run.npz")


def test_a_state_that_does_not_fit_is_not_resumed(swing, tmp_path):
    """Whatever part of the state is missing, or of another shape."""
    data = as_format_2(swing.save(tmp_path / "run.npz")).read_bytes()
    for name in [name for name in np.load(io.BytesIO(data)) if name.startswith("checkpoint_")]:
        for array in (None, np.zeros((2, 2))):
            path = tmp_path / "run.npz"
            path.write_bytes(data)
            with pytest.raises(se.UnsupportedError, match="cannot be resumed"):
                se.Results.load(edited(path, **{name: array})).resume(0.03)


def test_settings_that_do_not_fit_are_not_resumed(swing, tmp_path):
    path = as_format_2(swing.save(tmp_path / "run.npz"))
    path = edited(path, metadata=np.array(str(np.load(path)["metadata"]).replace('"rtol"', '"rtoll"')))
    with pytest.raises(se.UnsupportedError, match="settings are damaged"):
        se.Results.load(path).resume(0.03)


def test_a_small_file_does_not_fill_the_memory(swing, tmp_path):
    path = swing.save(tmp_path / "run.npz")
    arrays = dict(np.load(path)) | {"q": np.zeros((10**7, 3))}
    np.savez_compressed(path, **arrays)
    assert path.stat().st_size < 1e6
    with pytest.raises(se.ModelError, match="would become 240 MB"):
        se.Results.load(path)


def test_a_header_that_promises_more_than_there_is_is_refused(swing, tmp_path):
    path = tmp_path / "run.npz"
    with zipfile.ZipFile(path, "w") as archive:
        header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000, 3), }".ljust(117) + b"\n"
        archive.writestr("t.npy", b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header)
    with pytest.raises(se.ModelError, match="do not fit its shape"):
        se.Results.load(path)


def test_a_cut_csv_is_refused(swing, tmp_path):
    """Every cut but those between two lines: a number that lost its last digits would be another one."""
    path = swing.save(tmp_path / "run.csv")
    data = path.read_bytes()
    for size in range(0, len(data), 7):
        path.write_bytes(data[:size])
        if not data[:size].endswith(b"\n"):
            with pytest.raises(se.ModelError, match="damaged"):
                se.Results.load(path)


@pytest.mark.parametrize("ending", WITH_MODEL)
def test_multipliers_of_no_equations_read_back(tmp_path, ending):
    m = se.Model("free")
    m.body("b", mass=1, inertia=1)
    r = se.dynamics(m, t_eval=[0, 0.1])
    assert se.Results.load(r.save(tmp_path / f"run{ending}")).lam.shape == (2, 0)


def test_names_with_strange_signs_read_back_from_columns(tmp_path):
    m = se.Model("free")
    for name in ("a\rb", "a\x85b", "a\u2028b", "b;c", "#d", "ä ö"):
        m.body(name, mass=1, inertia=1)
    r = se.dynamics(m, t_eval=[0, 0.1])
    for ending in ENDINGS:
        assert se.Results.load(r.save(tmp_path / f"run{ending}")).bodies == list(m.bodies)


def test_every_field_reads_back(swing, tmp_path):
    """A field that somebody adds to results must go through a file, or it would be lost without a word."""
    again = se.Results.load(swing.save(tmp_path / "run.npz"))
    for item in dataclasses.fields(se.Results):
        old, new = getattr(swing, item.name), getattr(again, item.name)
        if item.name == "system":
            assert model_data(new.model) == model_data(old.model)
        elif item.name == "checkpoint":
            assert old.keys() == new.keys()
            assert all(np.array_equal(old[name], new[name], equal_nan=True) for name in old)
        else:
            assert np.array_equal(old, new) if isinstance(old, np.ndarray) else old == new, item.name


def test_energy_without_a_value_is_said(tmp_path):
    m = se.Model("p")
    bar = m.bar("bar", (0, 0), (1, 0), mass=1)
    m.add(se.Revolute("O", m.ground, bar["start"]))
    m.add(se.Force("v", potential="mod(1, bar.phi) == 3"))
    r = se.dynamics(m, t_eval=[0, 1e-3])
    with pytest.raises(se.UnsupportedError, match="the energy at t = 0 s has no finite value"):
        r.energy()
    assert "nan" not in r.summary()
    r.html(tmp_path / "a.html")
