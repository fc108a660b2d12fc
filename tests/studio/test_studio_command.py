"""`simengine2d studio`: what it opens, what it prints, and how it ends."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
from pathlib import Path
from urllib.request import urlopen

import pytest
from typer.testing import CliRunner

import simengine2d as se
from simengine2d import cli
from simengine2d.cli import terminal
from simengine2d.cli.commands import studio as command
from simengine2d.cli.studio import serving
from simengine2d.cli.studio.links import link_of
from simengine2d.model import library


@pytest.fixture(autouse=True)
def fresh_settings(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    yield
    terminal.Settings.json = terminal.Settings.quiet = False


@pytest.fixture
def served(monkeypatch):
    """The studios that would have been served."""
    studios = []
    monkeypatch.setattr(serving, "serve", lambda studio, token, listener: studios.append(studio))
    monkeypatch.setattr(command, "open_page", lambda address: studios.append(address))
    return studios


def run(*words: object):
    return CliRunner().invoke(cli.app, ["studio", *map(str, words)], env={"COLUMNS": "80"})


def test_a_folder_or_a_file_that_is_not_there_is_exit_code_2():
    for missing in ("nowhere/", "nothing.yaml", "nowhere/nothing.yaml", "four_barr"):
        shown = run(missing, "--no-browser")
        assert shown.exit_code == 2 and "error: there is no file" in shown.stderr


def test_a_file_that_is_not_a_text_is_refused_before_anything_is_served(served):
    Path("bytes.yaml").write_bytes(bytes(range(256)))
    Path("huge.yaml").write_bytes(b"# much\n" * 1_000_000)
    for name, words in (("bytes.yaml", "is not UTF-8 text"), ("huge.yaml", "has 7 MB; at most 5 MB")):
        shown = run(name, "--no-browser")
        assert shown.exit_code == 1 and words in shown.stderr
    Path("words.yaml").write_text("this is: not: a model")  # it can be repaired on the page
    assert run("words.yaml", "--no-browser").exit_code == 0
    assert [studio.first.name for studio in served] == ["words.yaml"]


def test_what_the_first_window_shows(served, tmp_path):
    library.copy("four_bar", tmp_path)
    (tmp_path / "inner").mkdir()
    se.load("slider_crank").save("other.json")
    for words, folder, name, start in (
        ([], ".", None, None),
        (["inner"], "inner", None, None),
        (["four_bar.yaml"], ".", "four_bar.yaml", None),
        (["slider_crank"], ".", None, "# Slider-crank"),
        (["other.json"], ".", None, "simengine2d: 1"),
        ([link_of("name: of a link\n")], ".", None, "name: of a link"),
    ):
        shown = run(*words, "--no-browser", "--port", 0 or free_port())
        assert shown.exit_code == 0, shown.output
        studio = served.pop()
        assert studio.folder.root == (tmp_path / folder).resolve()
        assert studio.first.name == name
        assert studio.first.text == start or studio.first.text.startswith(start)


def free_port() -> int:
    with socket.socket() as any_port:
        any_port.bind(("127.0.0.1", 0))
        return any_port.getsockname()[1]


def test_json_and_quiet_tell_the_address(served):
    data = json.loads(run("--json").stdout)
    assert data["address"].startswith("http://127.0.0.1:")
    assert run("--quiet").stdout.startswith("http://127.0.0.1:")
    addresses = [each for each in served if isinstance(each, str)]
    assert addresses[0] == data["address"] and addresses[0] != addresses[1]


def test_a_port_in_use_is_a_sentence(served):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        shown = run("--no-browser", "--port", taken.getsockname()[1])
    assert shown.exit_code == 2 and "already in use" in shown.stderr


def test_without_the_extra_there_is_a_sentence(monkeypatch):
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    shown = run("--no-browser")
    assert shown.exit_code == 3 and "pip install 'simengine2d[studio]'" in shown.stderr


def test_the_command_line_imports_nothing_of_the_studio():
    program = (
        "import sys, simengine2d.cli; print([m for m in sys.modules if 'studio' in m or 'starlette' in m])"
    )
    shown = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert shown.stdout.strip() == "['simengine2d.cli.commands.studio']", shown.stderr


def test_ctrl_c_ends_it_quietly():
    program = [Path(sys.executable).with_name("simengine2d"), "studio", "--no-browser"]
    server = subprocess.Popen(program, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        line = server.stdout.readline()
        assert line.startswith("the studio is at http://127.0.0.1:")
        with urlopen(line.split()[-1], timeout=60) as page:  # it serves: Ctrl-C is the server's from now on
            assert page.status == 200
        server.send_signal(signal.SIGINT)
        assert server.communicate(timeout=60)[1] == ""
        assert server.returncode == 0
    finally:
        server.kill()  # a test that fails does not wait for a server that goes on
        server.communicate()
