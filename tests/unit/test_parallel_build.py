"""Parts are compiled once each, by two processes where that is possible, and a process that gets stuck is given up."""

import os
import time

import pytest

from simengine2d.numerics import parallel_build as both

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="processes cannot be split here")


class Part:
    """Machine code that is a file with the number of the process that made it."""

    def __init__(self, path, seconds=0.0):
        self.path, self.seconds, self.first, self.ready = path, seconds, os.getpid(), False

    def load(self):
        self.ready = self.path.exists()
        return self.ready

    def build(self):
        with open(self.path, "a") as file:
            file.write(f"{os.getpid()}\n")
        time.sleep(self.seconds)
        self.ready = True

    @property
    def makers(self):
        return self.path.read_text().split()


class Stuck(Part):
    """One that never ends in the second process."""

    def build(self):
        if os.getpid() != self.first:
            time.sleep(60.0)
        super().build()


def test_one_process_builds_all_where_it_cannot_be_split(tmp_path, monkeypatch):
    monkeypatch.setattr(both, "can_split", lambda: False)
    parts = [Part(tmp_path / str(k)) for k in range(3)]
    both.build_together(parts)
    assert [part.makers for part in parts] == [[str(os.getpid())]] * 3


def test_a_process_that_is_not_ours_is_never_split(tmp_path, monkeypatch):
    def fork():
        raise AssertionError("a library does not fork its user's process")

    monkeypatch.setattr(os, "fork", fork, raising=False)
    monkeypatch.setattr(both.threading, "active_count", lambda: 1)
    assert not both.ours and not both.can_split()
    parts = [Part(tmp_path / str(k)) for k in range(3)]
    both.build_together(parts)
    assert all(part.ready for part in parts)


def test_the_command_line_says_that_the_process_is_its_own(monkeypatch):
    from simengine2d import cli

    monkeypatch.setattr(both, "ours", False)
    monkeypatch.setattr(cli, "prepare", lambda: None)
    monkeypatch.setattr(cli, "app", lambda prog_name: None)
    cli.main()
    assert both.ours


@needs_fork
def test_two_processes_share_the_work_and_all_parts_are_ready(tmp_path, monkeypatch):
    monkeypatch.setattr(both, "can_split", lambda: True)
    parts = [Part(tmp_path / str(k), seconds=0.2) for k in range(6)]
    both.build_together(parts)
    assert all(part.ready for part in parts)
    assert len({maker for part in parts for maker in part.makers}) == 2
    assert sum(len(part.makers) for part in parts) <= 7  # they may meet in one


@needs_fork
def test_a_process_that_gets_stuck_is_given_up(tmp_path, monkeypatch):
    monkeypatch.setattr(both, "can_split", lambda: True)
    monkeypatch.setattr(both, "PATIENCE", 0.3)
    parts = [Part(tmp_path / "0"), Stuck(tmp_path / "1"), Stuck(tmp_path / "2")]
    both.build_together(parts)
    assert all(part.ready for part in parts)
