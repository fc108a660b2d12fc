"""LaTeX, MathML and text of equations: what is written can be read again."""

from __future__ import annotations

import re
import shutil
import subprocess
from html.parser import HTMLParser
from xml.dom.minidom import parseString

import pytest
from typer.testing import CliRunner

import simengine2d as se
from marking import slow_among
from simengine2d import cli
from simengine2d.model import library
from simengine2d.symbolic.symbols import NOTATIONS, Letter


def equations(name="slider_crank", **options):
    with library.file(name) as path:
        return se.load(path).equations(**options)


def assert_balanced(text):
    """Braces, environments and \\left ... \\right close in the order in which they open."""
    signs = r"\\\\|\\[{}%#&_$]|\\begin\{\w+\*?\}|\\end\{\w+\*?\}|\\left|\\right|[{}]"
    opened = []
    for sign in re.findall(signs, text):
        if sign == "{" or sign == r"\left" or sign.startswith(r"\begin"):
            opened.append(
                sign.replace("begin", "end").replace("left", "right").replace("{", "}", sign == "{")
            )
        elif sign == "}" or sign == r"\right" or sign.startswith(r"\end"):
            assert opened and opened.pop() == sign, sign
    assert opened == []


@pytest.mark.parametrize("notation", NOTATIONS)
@pytest.mark.parametrize(
    "name", slow_among(["slider_crank", "geared_five_bar", "sprung_slider"], "geared_five_bar")
)
def test_latex_closes_all_that_it_opens(name, notation):
    assert_balanced(equations(name, notation=notation).tex())


def test_the_checker_of_brackets_finds_mistakes():
    for wrong in (r"\frac{1}{2", r"\left( x", r"\begin{align*} \end{matrix}", r"{ \left( } \right)"):
        with pytest.raises(AssertionError):
            assert_balanced(wrong)


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="needs pdflatex")
@pytest.mark.parametrize("coordinates", ["reference_point", "relative"])
def test_latex_compiles(tmp_path, coordinates):
    (tmp_path / "crank.tex").write_text(equations(coordinates=coordinates).tex(), encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "crank.tex"]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert ended.returncode == 0, ended.stdout[-2000:]


class Page(HTMLParser):
    """Tags that close in the order in which they open."""

    def __init__(self):
        super().__init__()
        self.open, self.tags = [], []

    def handle_starttag(self, tag, attributes):
        if tag not in ("meta",):
            self.open.append(tag)
        self.tags.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.tags.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_the_page_is_whole_and_needs_nothing_else():
    text = equations("geared_five_bar").html()
    page = Page()
    page.feed(text)
    assert page.open == []
    assert page.tags.count("math") > 20
    assert "script" not in page.tags and "http" not in text and "src=" not in text


def test_every_formula_is_well_formed():
    for formula in re.findall(r"<math.*?</math>", equations()._repr_html_(), re.DOTALL):
        parseString(re.sub(r"&(\w+);", "", formula))


def test_a_notebook_gets_one_formula():
    text = equations()._repr_latex_()
    assert text.startswith("$$") and text.endswith("$$")
    assert r"\boldsymbol{\Phi}_{q} &=" in text
    assert_balanced(text)


@pytest.mark.parametrize(
    ("letter", "latex"),
    [
        (Letter("x", "crank"), r"x_{\mathrm{crank}}"),
        (Letter("phi", "1", dots=1), r"\dot{\phi}_{1}"),
        (Letter("q", dots=2, bold=True), r"\ddot{\boldsymbol{q}}"),
        (Letter("xi", "Long Rod", "A_1"), r"\xi_{\mathrm{Long\ Rod}}^{\mathrm{A\_1}}"),
        (Letter("speed"), r"\mathrm{speed}\,"),
        (Letter("C", "t", sign="-"), "-C_{t}"),
    ],
)
def test_letters_in_latex(letter, latex):
    assert letter.latex() == latex


def test_strange_names_are_escaped():
    model = se.Model("50% & <more>")
    model.body("a_b {c} $d$ & <e>", mass=1, inertia=1)
    found = model.equations()
    assert_balanced(found.tex())
    page = Page()
    page.feed(found.html())
    assert page.open == []
    assert "<e>" not in found.html()


# The command ------------------------------------------------------------------------------------------


def run(*words):
    return CliRunner().invoke(cli.app, ["equations", *map(str, words)], env={"COLUMNS": "100"})


def test_the_command_prints_and_writes(tmp_path):
    printed = run("double_pendulum")
    assert printed.exit_code == 0
    assert "Phi[O.x] = -L_upper*cos(phi_upper)/2 + x_upper" in printed.stdout
    tex, html = tmp_path / "a.tex", tmp_path / "a.html"
    written = run("double_pendulum", "--latex", tex, "--html", html, "--notation", "shabana", "--numbers")
    assert written.exit_code == 0 and written.stdout.count("wrote") == 2
    assert r"\boldsymbol{C}_{q}" in tex.read_text(encoding="utf-8")
    assert "m_{" not in tex.read_text(encoding="utf-8")
    assert "<math" in html.read_text(encoding="utf-8")


def test_the_command_says_what_is_wrong():
    ended = run("double_pendulum", "--notation", "newton")
    assert ended.exit_code == 1
    assert "The notations are haug" in ended.stderr
