"""The studio under attack: nobody gets in, nothing is lost, memory stays bounded."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import zlib
from base64 import urlsafe_b64encode
from pathlib import Path

import pytest
from pages import Page
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from simengine2d.cli.studio import frames
from simengine2d.cli.studio.guard import Guard
from simengine2d.cli.studio.work import work
from simengine2d.errors import SimEngineError
from simengine2d.model import library

FOUR_BAR = "four_bar.yaml"


# Who gets in ------------------------------------------------------------------------------------------


def status(running, path, method="GET", **headers) -> int:
    connection = http.client.HTTPConnection("127.0.0.1", running.port, timeout=10)
    connection.putrequest(method, path, skip_host="Host" in headers)
    for name, value in headers.items():
        connection.putheader(name, value)
    connection.endheaders()
    return connection.getresponse().status


def test_only_pages_of_this_machine_that_know_the_token_are_answered(running):
    page, port = f"/{running.token}/", running.port
    assert status(running, page) == 200
    for host in (f"localhost:{port}", f"127.0.0.1:{port}", f"[::1]:{port}", "localhost:9999"):  # a tunnel
        assert status(running, page, Host=host) == 200
    for host in (
        "evil.example",
        f"evil.example:{port}",
        "127.0.0.1.evil.example",
        "localhost.evil.example",
        "",
        "a@localhost",
    ):
        assert status(running, page, Host=host) == 403
    for origin in (
        "http://evil.example",
        "null",
        "https://localhost",
        f"http://127.0.0.1:{port + 1}",
        "file://",
    ):
        assert status(running, page, Origin=origin) == 403
    assert status(running, page, Origin=f"http://127.0.0.1:{port}") == 200
    wrong = [
        "/",
        "/player.js",
        "/live",
        f"/{running.token[:-1]}/",
        f"/{running.token}x/",
        "/%00/",
        f"//evil/{running.token}/",
    ]
    for path in [*wrong, "/x" * 2000]:
        assert status(running, path) == 403
    for method in ("POST", "PUT", "DELETE", "OPTIONS"):
        assert status(running, page, method) == 403


def test_files_of_the_page_do_not_lead_to_others(running):
    for path in (
        "../app.py",
        "%2e%2e/app.py",
        "..%2fapp.py",
        "..\\app.py",
        "%2fetc/passwd",
        "//etc/passwd",
        "\x00",
    ):
        assert status(running, f"/{running.token}/{path.encode('unicode_escape').decode()}") in (403, 404)


@pytest.mark.parametrize(
    "wrong",
    [
        {"token": "guess"},
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"host": "evil.example"},
        {"host": "evil.example", "origin": "http://evil.example"},
    ],
)
def test_a_socket_is_refused_to_others(running, wrong):
    token, host = wrong.get("token", running.token), wrong.get("host", "127.0.0.1")
    here = socket.create_connection(("127.0.0.1", running.port), timeout=20)
    with pytest.raises(InvalidStatus, match="403"):
        connect(f"ws://{host}:{running.port}/{token}/live", sock=here, origin=wrong.get("origin"))


def test_the_guard_refuses_two_hosts_and_strange_ports():
    guard = Guard(None, "secret")
    scope = {"type": "http", "method": "GET", "path": "/secret/"}
    assert guard.refusal({**scope, "headers": [(b"host", b"localhost:1")]}) == ""
    for hosts in (
        [],
        [b"localhost", b"evil.example"],
        [b"localhost:99999"],
        [b"localhost:x"],
        [b"localhost/evil"],
    ):
        assert guard.refusal({**scope, "headers": [(b"host", host) for host in hosts]})


def test_it_listens_to_this_machine_only(running):
    assert running.listener.getsockname()[0] == "127.0.0.1"


# Paths ------------------------------------------------------------------------------------------------

WRONG_NAMES = (
    *(
        "../secret.yaml",
        "/etc/secret.yaml",
        "..\\secret.yaml",
        "a/../../secret.yaml",
        "C:\\x.yaml",
        "x.yaml\0.yaml",
    ),
    *(
        "",
        ".",
        "..",
        ".hidden.yaml",
        "x",
        "x.txt",
        "four_bar.yaml.draft",
        "nul.yaml",
        "COM1.yaml",
        "x.yaml:stream.yaml",
    ),
    *(" x.yaml", "x\n.yaml", "x" * 300 + ".yaml", "~/x.yaml", "\ud800.yaml"),
)


def test_no_name_leads_out_of_the_folder(running, folder):
    secret = folder.parent / "secret.yaml"
    secret.write_text("name: secret\n")
    with running.page() as page:
        for name in [*WRONG_NAMES, 3, [], {"a": 1}, True]:
            for request in (
                {"do": "open"},
                {"do": "save", "text": "name: x\n"},
                {"do": "draft", "text": "x"},
            ):
                answer = page.ask(**request, name=name)
                assert not answer["ok"] and answer["error"], (request, name)
                assert "secret\n" not in json.dumps(answer)
        assert page.ask("hello")["files"] == [FOUR_BAR]
    assert secret.read_text() == "name: secret\n"
    assert sorted(path.name for path in folder.parent.rglob("*")) == [FOUR_BAR, "models", "secret.yaml"]


@pytest.mark.skipif(not hasattr(os, "symlink"), reason="there are no links")
def test_links_that_lead_out_of_the_folder_are_refused(running, folder):
    secret = folder.parent / "secret.yaml"
    secret.write_text("name: secret\n")
    (folder / "link.yaml").symlink_to(secret)
    (folder / ".four_bar.yaml.draft").symlink_to(secret)
    (folder / "inside.yaml").symlink_to(folder / FOUR_BAR)
    (folder / "loop.yaml").symlink_to(folder / "loop.yaml")
    with running.page() as page:
        assert "outside the folder" in page.ask("open", name="link.yaml")["error"]
        assert not page.ask("save", name="link.yaml", text="name: x\n", seen=None)["ok"]
        assert page.ask("open", name=FOUR_BAR)["draft"] is None
        page.ask("draft", name=FOUR_BAR, text="name: x\n")
        assert (folder / ".four_bar.yaml.2.draft").read_text() == "name: x\n"  # not through the link
        assert "back to itself" in page.ask("open", name="loop.yaml")["error"]
        assert page.ask("open", name="inside.yaml")["text"] == library.text("four_bar")
    assert secret.read_text() == "name: secret\n"


# Messages ---------------------------------------------------------------------------------------------

GARBAGE = (
    *("", "{", "null", "[]", "3", '"x"', "{}", '{"do": 1}', '{"id": [], "do": "hello"}', "[" * 100_000),
    *(
        '{"id": 1, "do": "save"}',
        '{"id": 2, "do": "save", "name": "x.yaml", "text": 3}',
        '{"id": 3, "do": ["x"]}',
    ),
    *(
        '{"id": 4, "do": "open", "link": "!!"}',
        '{"id": 5, "do": "open", "link": "eJw"}',
        '{"id": 6, "do": "__class__"}',
    ),
    *(
        '{"id": 7, "do": "cancel", "of": {}}',
        '{"id": 8, "do": "open", "gallery": "../x"}',
        "1" * 10_000,
        "\x00\ufffe",
    ),
)


def test_garbage_is_answered_by_a_sentence(running):
    with running.page() as page:
        for text in GARBAGE:
            page.socket.send(text)
            answer = json.loads(page.socket.recv(timeout=10))
            assert answer["ok"] is False or text.startswith('{"id": 7'), text
        page.socket.send(b"\xff\x00" * 1000)
        assert json.loads(page.socket.recv(timeout=10))["ok"] is False
        assert page.ask("hello")["ok"]


WRONG_WORK = (
    {"do": "look"},
    {"do": "look", "text": 3},
    {"do": "look", "text": "", "values": [1]},
    {"do": "look", "text": "", "values": {"a": float("nan")}},
    {"do": "look", "text": "", "analysis": "x"},
    {"do": "edit", "text": ""},
    {"do": "edit", "text": "", "edit": {"do": "__init__"}},
    {"do": "edit", "text": "", "edit": {"do": "set_parameter", "name": "a", "value": {"b": 1}}},
    {"do": "export", "text": "", "kind": []},
    {"do": "drag_begin", "body": "a"},
)


@pytest.mark.parametrize("request_", WRONG_WORK)
def test_wrong_requests_to_a_worker_are_answered_by_a_sentence(request_):
    with pytest.raises(SimEngineError):
        work(json.loads(frames.dumps(request_)))


HARD_TEXTS = {
    "a: &a [x, x]\nb: &b [*a, *a]\n": "is a YAML alias or anchor",
    "a: " + "[" * 50_000: "nested more than 60 levels deep",
    "a: !!python/object/apply:os.system [ls]": "is a YAML tag",
    "bodies:\x00": "is not allowed in a text file",
    "parameters: {a: 1e308}\nbodies: {x: {mass: a}}": "too large to compute with",
    f"parameters: {{a: {'9' * 400}}}\nbodies: {{x: {{mass: a}}}}": "a number has 400 digits",
    "tables: {t: {file: ../../etc/passwd}}\nbodies: {x: {mass: 1}}": "lies outside the folder",
    "formulas: {f: \"__import__('os')\"}": "f",
}


@pytest.mark.parametrize("text", HARD_TEXTS)
def test_texts_that_would_harm_others_are_problems_with_a_line(text):
    answer = work({"do": "look", "text": text})
    assert HARD_TEXTS[text] in answer["problems"][0]["text"], answer["problems"]


def test_ten_megabytes_close_the_socket_and_nothing_else(running):
    with running.page() as page, running.page() as other:
        page.ask("hello")
        with pytest.raises(ConnectionClosed):
            page.ask("draft", name=FOUR_BAR, text="x" * 10_000_000)
        assert other.ask("hello")["draft"] is None
    with running.page() as page:
        assert page.ask("hello")["ok"]


def test_a_small_link_does_not_become_a_large_text(running):
    bomb = urlsafe_b64encode(zlib.compress(b"x" * 100_000_000, 9)).decode().rstrip("=")
    with running.page() as page:
        assert "too large" in page.ask("open", link=bomb)["error"]


def test_sockets_that_send_nonsense_or_nothing_are_closed(running, monkeypatch):
    """More of them than the server has places; those who were in go on, and the places are soon free again."""
    monkeypatch.setattr("simengine2d.cli.studio.impatient.PATIENCE", 1.0)
    with running.page() as before:
        raw = [socket.create_connection(("127.0.0.1", running.port), timeout=20) for _ in range(120)]
        raw[0].sendall(b"\x16\x03\x01 not http at all \r\n\r\n")
        raw[1].sendall(b"GET / HTTP/1.1\r\nHost: " + b"a" * 100_000)
        raw[2].sendall(
            b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\nG"
        )  # refused, and not waited for any longer
        for each in raw[3:60]:
            each.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nX: ")
        assert before.ask("hello")["ok"]
        for each in raw:
            assert ends(each)
            each.close()
    assert status(running, f"/{running.token}/") == 200


def ends(connection: socket.socket) -> bool:
    """The server closes the connection."""
    try:
        while connection.recv(10_000):
            pass
    except ConnectionResetError:
        pass
    return True


def test_so_many_windows_and_not_more(running, monkeypatch):
    monkeypatch.setattr("simengine2d.cli.studio.studio.MOST_WINDOWS", 2)
    with running.page() as one, running.page() as two:
        assert one.ask("hello")["ok"] and two.ask("hello")["ok"]
        with pytest.raises((InvalidStatus, ConnectionClosed)), running.page() as three:
            three.ask("hello")


def test_a_page_that_does_not_listen_holds_nobody_up(running):
    with running.page(close_timeout=0.2) as deaf, running.page() as page:
        for _ in range(300):
            deaf.send("hello")
        began = time.monotonic()
        assert page.ask("hello")["ok"] and page.ask("look", text="fine")["ok"]
        assert time.monotonic() - began < 5  # a page is given up after 10 s


# Much of it -------------------------------------------------------------------------------------------


def memory_of(pid: int) -> int:
    """Bytes in memory, of Linux; 0 elsewhere."""
    path = Path(f"/proc/{pid}/statm")
    return int(path.read_text().split()[1]) * 4096 if path.exists() else 0


def test_a_thousand_edits_in_a_row(running, folder):
    with running.page() as page:
        page.ask("hello")
        page.ask("edit", text="first", edit={})
        before = memory_of(os.getpid())
        numbers = [page.send("edit", text=f"edit {k} {'x' * 2000}", edit={}) for k in range(1000)]
        texts = [page.answer(number)["text"].split()[1] for number in numbers]
        assert texts == [str(k) for k in range(1000)]
        for k in range(900, 1001):
            page.send("draft", name=FOUR_BAR, text=f"name: {k}\n")
        numbers = [page.send("look", text=f"look {k}") for k in range(1000)]
        answers = [page.answer(number) for number in numbers]
        assert answers[-1]["text"] == "look 999"
        assert all(answer["ok"] or answer["superseded"] for answer in answers)
        assert (folder / f".{FOUR_BAR}.draft").read_text() == "name: 1000\n"
        assert memory_of(os.getpid()) - before < 50_000_000
        assert len(running.studio.workers.all) <= 3


# The real thing ---------------------------------------------------------------------------------------

FOREVER = {
    "text": library.text("double_pendulum"),
    "analysis": {"kind": "dynamics", "t_end": 1e6, "rtol": 1e-13},
}


class Program:
    """The installed command as a process of its own."""

    def __init__(self, folder) -> None:
        words = [sys.executable, "-m", "simengine2d", "studio", str(folder / FOUR_BAR), "--no-browser"]
        self.process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
        self.address = re.search(r"http\S+", self.process.stdout.readline())[0]

    def page(self):
        return connect(self.address.replace("http", "ws") + "live", max_size=None)

    def workers(self) -> list[int]:
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        return [int(pid) for pid in children.read_text().split()]

    def end(self) -> None:
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="processes are looked up in /proc")
def test_kill_9_of_workers_and_of_the_server_loses_nothing(folder):
    program = Program(folder)
    try:
        with program.page() as socket:
            page = Page(socket)
            text = page.ask("hello")["text"]
            looked = page.answer(page.send("look", text=text, analysis=None, values={}), timeout=120)
            assert looked["ok"] and looked["problems"] == [] and looked["player"]
            # a worker dies at work
            number = page.send("look", **FOREVER)
            time.sleep(1.0)
            for pid in program.workers():
                os.kill(pid, signal.SIGKILL)
            assert "ended unexpectedly" in page.answer(number)["error"]
            assert page.answer(page.send("look", text=text), timeout=120)["ok"]
            # the server dies
            page.ask("draft", name=FOUR_BAR, text=text + "# unsaved\n")
            page.send("look", **FOREVER)
            time.sleep(0.5)
            workers = program.workers()
            program.process.kill()
            program.process.wait()
        end = time.monotonic() + 20
        while any(map(is_alive, workers)) and time.monotonic() < end:
            time.sleep(0.1)
        assert workers and not any(map(is_alive, workers))
    finally:
        program.end()
    again = Program(folder)
    try:
        with again.page() as socket:
            hello = Page(socket).ask("hello")
            assert hello["draft"] == text + "# unsaved\n" and hello["text"] == text
        again.process.send_signal(signal.SIGINT)
        assert again.process.wait(60) == 0
    finally:
        again.end()
    assert {path.name for path in folder.iterdir()} == {FOUR_BAR, f".{FOUR_BAR}.draft"}
