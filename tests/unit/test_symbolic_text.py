"""LaTeX, MathML and text of equations: what is written can be read again."""

from __future__ import annotations

import re
import shutil
import subprocess
from html import unescape
from html.parser import HTMLParser
from xml.dom.minidom import parseString

import pytest
from typer.testing import CliRunner

import simengine2d as se
from marking import slow_among
from simengine2d import cli
from simengine2d.model import library
from simengine2d.symbolic.letters import Letter, letter_of
from simengine2d.symbolic.symbols import NOTATIONS


def equations(name="slider_crank", **options):
    with library.file(name) as path:
        return se.load(path).equations(**options)


def assert_balanced(text):
    """Braces, environments and \\left ... \\right close in the order in which they open."""
    signs = r"\\\\|\\[{}%#&_$]|\\begin\{\w+\*?\}|\\end\{\w+\*?\}|\\left(?!arrow)|\\right(?!arrow)|[{}]"
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


def in_greek():
    """A pendulum whose names are Greek letters, as words and as signs."""
    model = se.Model("δοκιμή", parameters={"ω_1": 2.0, "θ₁": 0.3, "phi_dot": 1.0})
    model.bar("β_2", (0, 0), (1, 0), mass="phi_dot")
    model.add(se.Revolute("α", model.ground, "β_2.start"))
    model.add(se.Torque("motor", "β_2", "θ₁*sin(ω_1*t)"))
    return model.equations()


def assert_fits_on_the_page(folder, tex):
    """LaTeX reads the document, and nothing is wider than the page."""
    (folder / "page.tex").write_text(tex, encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "page.tex"]
    ended = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, errors="replace")
    assert ended.returncode == 0 and "Overfull" not in ended.stdout, ended.stdout[-2000:]


def worksheets():
    with library.file("four_bar") as path:
        four_bar = se.load(path)
    yield se.explain(four_bar, "dynamics", integrator="newmark", step=0.01, at=0.01)
    yield se.explain(four_bar, "kinematics", at=0.1)
    yield se.explain(lambda t, y: -(y**2), integrator="backward_euler", y0=[2.4], step=0.1)
    with library.file("double_pendulum") as path:
        yield se.explain(se.load(path), "equilibrium")


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="needs pdflatex")
def test_latex_compiles(tmp_path):
    for coordinates in ("reference_point", "relative"):
        assert_fits_on_the_page(tmp_path, equations(coordinates=coordinates).tex())
    assert_fits_on_the_page(tmp_path, in_greek().tex())
    for sheet in worksheets():
        assert_fits_on_the_page(tmp_path, sheet.save(tmp_path / "sheet.tex").read_text(encoding="utf-8"))


def test_the_worksheet_has_the_letters_of_the_model():
    with library.file("four_bar") as path:
        e = se.explain(se.load(path), "kinematics", at=0.1)
    tex = e.to_latex()
    assert_balanced(tex)
    assert r"\ddot{\phi}_{\mathrm{crank}}" in tex and r"\dot{x}_{\mathrm{rocker}}" in tex
    assert r"\Phi_q = \bordermatrix" in tex and r"\text{motor.drive}" in tex


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


@pytest.mark.parametrize(
    ("name", "latex"),
    [
        ("theta_1", r"\theta_{1}"),
        ("theta1", r"\theta_{1}"),
        ("θ₁", r"\theta_{1}"),
        ("θ_1", r"\theta_{1}"),
        ("phi_dot", r"\dot{\phi}"),
        ("theta_1_ddot", r"\ddot{\theta}_{1}"),
        ("dot", r"\mathrm{dot}\,"),
        ("x_dot_dot_dot", r"\ddot{x}_{\mathrm{dot}}"),
        ("x2", "x_{2}"),
        ("L_rod_A", r"L_{\mathrm{rod},A}"),
        ("m_alpha", r"m_{\alpha}"),
        ("Ω", r"\Omega"),
        ("Δφ", r"\mathrm{\Delta \phi }\,"),
        ("µ_s", r"\mu_{s}"),
        ("rod2", r"\mathrm{rod2}\,"),
        ("_", r"\mathrm{\_}\,"),
    ],
)
def test_names_as_letters(name, latex):
    assert letter_of(name).latex() == latex


def test_greek_letters_are_the_same_by_name_and_as_they_are():
    found = in_greek()
    tex, page = found.tex(), unescape(found.html())
    assert all(sign.isascii() for sign in tex)
    assert r"\dot{\phi}" in tex and r"\Phi}^{\alpha}" in tex
    assert "<msub><mi>θ</mi><mi>1</mi></msub>" in page
    assert "<msub><mi>x</mi><msub><mi>β</mi><mi>2</mi></msub></msub>" in page


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
