"""The work of a class: files and folders of students, points, feedback; a bad file never stops the others."""

from __future__ import annotations

import json

import numpy as np
import pytest
from typer.testing import CliRunner

import simengine2d as se
from simengine2d import cli
from simengine2d.cli import terminal


@pytest.fixture(autouse=True)
def fresh_settings():
    yield
    terminal.Settings.json = terminal.Settings.quiet = False


@pytest.fixture(scope="module")
def model():
    return se.load("slider_crank")


@pytest.fixture(scope="module")
def terms(model):
    return se.formulate(model, t=0.1).at()


def write(path, **arrays):
    """As by hand: a name, then rows."""
    lines = []
    for name, array in arrays.items():
        lines += [name, *(",".join(map(str, row)) for row in np.atleast_2d(array)), ""]
    path.write_text("\n".join(lines))
    return path


@pytest.fixture
def school(tmp_path, terms):
    """Anna is right, Ben has a sign, Carl wrote a folder with MATLAB, Dora a damaged file, Emil little."""
    folder = tmp_path / "class"
    (folder / "carl").mkdir(parents=True)
    write(folder / "anna.csv", Phi_q=terms.Phi_q, M=terms.M, gamma=terms.gamma)
    wrong = terms.Phi_q.copy()
    wrong[2, 5] *= -1
    wrong[7, 8] = 2
    write(folder / "ben.csv", Phi_q=wrong, M=terms.M, gamma=terms.gamma)
    np.savetxt(folder / "carl" / "Phi_q.csv", terms.Phi_q, delimiter=",")
    np.savetxt(folder / "carl" / "M.csv", np.diag(terms.M), delimiter=",")
    np.savetxt(folder / "carl" / "gamma.csv", 2 * terms.gamma, delimiter=",")
    (folder / "dora.csv").write_text("Phi_q\n1,2\n1,2,3\n")
    write(folder / "emil.csv", M=terms.M)
    (folder / "notes.pdf").write_bytes(b"%PDF")
    return folder


POINTS = {"points": {"Phi_q": 4, "M": 2, "gamma": 3}, "off": 1, "at": 0.1}


def test_a_class_is_marked(model, school):
    marks = se.lab.mark(model, school, POINTS)
    assert [(each.student, each.total) for each in marks.students] == [
        ("anna", 9), ("ben", 7), ("carl", 8), ("dora", 0), ("emil", 2),
    ]  # fmt: skip
    _, ben, carl, dora, emil = marks.students
    assert ben.points == {"Phi_q": 2, "M": 2, "gamma": 3}
    assert "twice too large" in str(carl) and "2 of 3" in str(carl)
    assert "dora.csv, line 3 has 3 numbers, line 2 has 2" in dora.problem
    assert "not handed in: Phi_q, gamma" in str(emil)
    assert marks.heads == ["student", "Phi_q", "M", "gamma", "total", "mistakes"]
    assert marks.rows()[3][-1] == "not read"
    # without points, each array is one point, all or nothing
    assert [each.total for each in se.lab.mark(model, school, {"at": 0.1}).students] == [3, 2, 2, 0, 1]


def test_everyone_gets_a_file(model, school, tmp_path):
    saved = se.lab.mark(model, school, POINTS).save_feedback(tmp_path / "feedback")
    assert [path.name for path in saved] == [
        "anna.txt",
        "ben.txt",
        "carl.txt",
        "dora.txt",
        "emil.txt",
        "class.csv",
    ]
    ben = (tmp_path / "feedback" / "ben.txt").read_text()
    assert "ben: 7 of 9 points" in ben and "Phi_q[A.x, rod.phi]: the sign of this entry is reversed" in ben
    assert (tmp_path / "feedback" / "class.csv").read_text().splitlines()[1] == "anna,4,2,3,9,0"


def test_a_file_holds_states_reactions_and_motions(model, tmp_path):
    r = se.dynamics(model, t_end=0.05, step=0.01)
    p = se.formulate(model, "relative", t=0.1)
    text = ["# relative coordinates", "coordinates = relative", "at: 0.1", "q", ",".join(map(str, p.q))]
    text += [f"qd = {' '.join(map(str, p.qd))}", "C_q =", *(" ".join(map(str, row)) for row in p.at().Phi_q)]
    (tmp_path / "one.csv").write_text("\n".join(text))
    assert se.lab.mark(model, tmp_path / "one.csv").students[0].total == 1
    rows = [f"{t},{x},{f}" for t, x, f in zip(r.t, r["slider.x"], r["B.fx"], strict=True)]
    text = ["reactions,,", f"A,{r['A.fx'][0]},{r['A.fy'][0]}", "t,slider.x,B.fx", *rows]
    (tmp_path / "two.csv").write_text("\n".join(text))
    (marked,) = se.lab.mark(model, [tmp_path / "two.csv"], {"reactions": 2, "solution": 3}).students
    assert marked.points == {"reactions": 2, "solution": 3}, marked


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("", "is empty"),
        ("Phi_x\n1,2\n", "Did you mean"),
        ("1,2\n", "numbers without a name"),
        ("Phi_q\n", "holds no numbers"),
        ("Phi_q\n1,two\n", "line 2: 'two' is not a number"),
        ("reactions\nZ, 1, 2\n", "there is no joint or force 'Z'"),
        ("at = 0.1\n", "nothing to check"),
        ("coordinates = spherical\nM\n1\n", "spherical"),
    ],
)
def test_bad_files_are_answered_by_a_sentence(model, tmp_path, text, answer):
    (tmp_path / "bad.csv").write_text(text)
    (marked,) = se.lab.mark(model, tmp_path / "bad.csv").students
    assert answer in marked.problem and marked.total == 0
    assert str(marked)


def test_bad_points_are_refused_before_anything_is_read(model, tmp_path):
    for points, answer in (
        ({"points": {"Phiq": 1}}, "no array 'Phiq'"),
        ({"points": {"M": -1}}, "not a positive number"),
        ({"points": {"M": 1}, "of": 1}, "Did you mean 'off'"),
    ):
        with pytest.raises(se.ModelError, match=answer):
            se.lab.mark(model, tmp_path, points)
    with pytest.raises(se.ModelError, match="no work"):
        se.lab.mark(model, tmp_path)


def test_the_command_marks_a_class(school, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "points.yaml").write_text("points: {Phi_q: 4, M: 2, gamma: 3}\noff: 1\nat: 0.1\n")
    words = ["check-work", "slider_crank", str(school), "--points", "points.yaml", "--out", "feedback"]
    shown = CliRunner().invoke(cli.app, words, env={"COLUMNS": "80"})
    assert shown.exit_code == 0, shown.output
    assert "ben" in shown.output and "wrote 6 files into feedback" in shown.output
    assert "line 3 has 3 numbers" in shown.output
    shown = CliRunner().invoke(cli.app, [*words, "--json"])
    data = json.loads(shown.stdout)
    assert [each["total"] for each in data["students"]] == [9, 7, 8, 0, 2]
    assert data["students"][1]["work"]["mistakes"][0]["joint"] == "A"
    alone = CliRunner().invoke(
        cli.app, ["check-work", "slider_crank", str(school / "ben.csv"), "--at", "0.1"]
    )
    assert "ben: 2 of 3 points" in alone.output and "the sign of this entry is reversed" in alone.output
