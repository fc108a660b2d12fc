"""What can be taken away from the studio: each kind of file holds the model or its motion."""

from __future__ import annotations

import base64
import csv
import io
import sys

import pytest
from openpyxl import load_workbook

import simengine2d as se
from simengine2d.cli.studio.exports import EXPORTS, export
from simengine2d.cli.studio.links import text_of
from simengine2d.errors import ModelError, UnsupportedError
from simengine2d.io.model_writer import model_data
from simengine2d.model import library

SHORT = {"kind": "kinematics", "t_end": 0.2, "output_steps": 4}
parts = []


def exported(kind, text=None, **more):
    request = {
        "text": text or library.text("four_bar"),
        "kind": kind,
        "progress": parts.append,
        "folder": ".",
    }
    made = export({**request, "analysis": SHORT, **more})
    return made["name"], base64.b64decode(made["base64"])


def test_the_text_is_taken_away_to_the_byte():
    name, data = exported("yaml", name="my four_bar.yaml")
    assert (name, data.decode()) == ("my_four_bar.yaml", library.text("four_bar"))


def test_a_link_leads_back_to_the_text():
    assert text_of(exported("link")[1].decode()) == library.text("four_bar")


def test_a_model_that_is_too_large_for_a_link_is_a_sentence():
    digits = "".join(str(k * k % 9973) for k in range(40_000))
    with pytest.raises(UnsupportedError, match=r"too large for a link.* Send the file instead"):
        exported("link", text=f"# {digits}\n")


def test_a_missing_package_is_a_sentence(monkeypatch):
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(UnsupportedError, match=r"openpyxl, which is not installed. .*simengine2d\[excel\]"):
        exported("xlsx")


def test_a_program_builds_the_model():
    names = {"__name__": "program"}
    exec(exported("python", values={"crank": 0.9})[1].decode(), names)
    assert model_data(names["m"]) == model_data(se.load("four_bar").with_parameters(crank=0.9))


def test_a_table_holds_the_channels_that_were_chosen():
    name, data = exported("csv", channels=["rocker.phi"])
    rows = list(csv.reader(io.StringIO(data.decode())))
    assert name == "four-bar.csv" and rows[0] == ["t [s]", "rocker.phi [rad]"] and len(rows) == 6
    phi = se.kinematics(se.load("four_bar"), t_eval=[0, 0.05, 0.1, 0.15, 0.2])["rocker.phi"]
    assert [float(row[1]) for row in rows[1:]] == pytest.approx(list(phi), abs=1e-12)
    forces = {"kind": "inverse_dynamics", "t_end": 0.2, "output_steps": 4}
    sheet = load_workbook(io.BytesIO(exported("xlsx", channels=["A.|f|"], analysis=forces)[1])).worksheets[0]
    assert sheet.max_row == 6
    assert [cell.value for cell in sheet[1]] == ["t [s]", "A.fx [N]", "A.fy [N]"]  # the page shows their size


@pytest.mark.parametrize(
    ("kind", "begins"), [("html", b"<!DOCTYPE html>"), ("svg", b"<?xml"), ("gif", b"GIF8")]
)
def test_pictures(kind, begins):
    parts.clear()
    assert exported(kind, at=0.1)[1].startswith(begins)
    assert bool(parts) == (kind == "gif")


@pytest.mark.slow
def test_a_report():
    name, data = exported("report")
    assert name == "four-bar_report.html" and b"Verdict" in data


def test_what_cannot_be_taken_away_is_a_sentence():
    with pytest.raises(ModelError, match="there is no export 'exe'"):
        exported("exe")
    with pytest.raises(ModelError, match="crnk"):
        exported("csv", text=library.text("four_bar").replace("b: crank.start", "b: crnk.start"))


def test_file_names_are_plain():
    assert exported("yaml", text='name: "../../x <script>"\n')[0] == "x_script.yaml"
    assert exported("yaml", text="bodies: {}\n")[0] == "mechanism.yaml"
    assert len(EXPORTS) == 9
