"""Machine code on the disk: a file is whole or not there, and one that is not sound counts as missing."""

import hashlib
import os
import pickle
import resource
import signal

import numpy as np
import pytest

pytest.importorskip("numba")

from simengine2d.numerics import kernel_files
from simengine2d.numerics.kernel_files import KernelFiles

KEY = ("float64(float64)", ("x86_64",), ("hash",))
DATA = {"code": bytes(range(256)) * 40}


@pytest.fixture
def files(tmp_path):
    files = KernelFiles(tmp_path / "deep" / "folder", "kernel", "stamp")
    files.save(KEY, DATA)
    return files


def test_what_was_saved_is_loaded_under_its_key_only(files):
    assert files.load(KEY) == DATA
    assert files.load((*KEY, 1)) is None
    assert KernelFiles(files.folder, "kernel", "other stamp").load(KEY) is None
    assert KernelFiles(files.folder, "another", "stamp").load(KEY) is None


def test_cut_files_garbage_and_single_flipped_bits_count_as_missing_and_are_overwritten(files):
    rng, path = np.random.default_rng(1), files.path(KEY)
    sound = path.read_bytes()
    for _ in range(200):
        damaged = bytearray(sound)
        kind = rng.integers(4)
        if kind == 0:
            damaged = damaged[: rng.integers(len(sound))]
        elif kind == 1:
            damaged[rng.integers(len(sound))] ^= 1 << int(rng.integers(8))
        elif kind == 2:
            damaged = bytearray(rng.bytes(int(rng.integers(2000))))
        else:
            damaged += b"more"
        path.write_bytes(bytes(damaged))
        assert files.load(KEY) is None
    files.save(KEY, DATA)
    assert files.load(KEY) == DATA


def test_a_sound_file_of_another_kind_counts_as_missing(files):
    for thing in (None, 7, ("stamp", KEY), ("stamp", (1,), DATA), {"a": 1}):
        text = pickle.dumps(thing)
        files.path(KEY).write_bytes(hashlib.sha256(text).digest() + text)
        assert files.load(KEY) is None


def test_a_folder_in_the_place_of_a_file_and_one_that_is_gone(files):
    path = files.path(KEY)
    path.unlink()
    path.mkdir()
    assert files.load(KEY) is None
    with pytest.raises(IsADirectoryError):
        files.save(KEY, DATA)
    assert [entry.name for entry in files.folder.iterdir()] == [path.name]
    path.rmdir()
    files.folder.rmdir()
    assert files.load(KEY) is None
    files.save(KEY, DATA)
    assert files.load(KEY) == DATA


@pytest.mark.skipif(not hasattr(signal, "SIGXFSZ"), reason="file sizes cannot be limited here")
def test_a_full_disk_leaves_the_old_file_and_no_part_of_a_new_one(files):
    before, limits = files.path(KEY).read_bytes(), resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (5000, limits[1]))
    try:
        with pytest.raises(OSError, match="too large"):
            files.save(KEY, {"code": os.urandom(20_000)})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert files.path(KEY).read_bytes() == before
    assert len(list(files.folder.iterdir())) == 1


def test_ctrl_c_while_writing_leaves_nothing_behind(files, monkeypatch):
    def interrupted(draft, path):
        raise KeyboardInterrupt

    monkeypatch.setattr(kernel_files.Path, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        files.save(KEY, "new")
    assert files.load(KEY) == DATA
    assert len(list(files.folder.iterdir())) == 1


def test_a_folder_that_cannot_be_made_is_an_error_of_the_system_only(tmp_path):
    (tmp_path / "file").write_text("")
    files = KernelFiles(tmp_path / "file" / "folder", "kernel", "stamp")
    assert files.load(KEY) is None
    with pytest.raises(NotADirectoryError):
        files.save(KEY, DATA)
