"""Every notebook runs from top to bottom, in marimo and as a program, and the tests at its end pass."""

from __future__ import annotations

import ast
import re
import runpy
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FunctionType, ModuleType

import pytest

from simengine2d.model.elements import Element

pytest.importorskip("marimo")

ROOT = Path(__file__).parents[2]
TOOLS = ROOT / "tools"


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    sys.path.insert(0, str(TOOLS))
    try:
        import notebooks
    finally:
        sys.path.remove(str(TOOLS))
    return notebooks


NOTEBOOKS = sorted(
    path for path in (ROOT / "examples").glob("*.py") if "marimo.App(" in path.read_text("utf-8")
)


@pytest.fixture
def own_joints_are_forgotten() -> Iterator[None]:
    """A notebook may define a joint, which the other tests must not see."""
    yield
    for name, kind in dict(Element.registry).items():
        if not kind.__module__.startswith("simengine2d"):
            del Element.registry[name]


each_notebook = pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)


def test_they_are_numbered_in_the_order_of_learning():
    assert [int(path.name[:2]) for path in NOTEBOOKS] == list(range(1, 14))


@pytest.mark.slow
@pytest.mark.usefixtures("own_joints_are_forgotten")
@each_notebook
def test_it_runs_and_its_tests_pass(notebook, monkeypatch, tmp_path):
    """As `python examples/01_...py` does; tests that are cells run with the others, functions are called."""
    import matplotlib.pyplot as plt

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [str(notebook)])
    names = runpy.run_path(str(notebook), run_name="__main__")
    for name, test in names.items():
        if name.startswith("test_") and isinstance(test, FunctionType):
            test()
    assert list(tmp_path.iterdir()) == []  # nothing is left behind
    plt.close("all")


@each_notebook
def test_it_ends_in_tests(notebook, tool):
    names = [cell.name for cell in tool.cells(notebook)]
    last_words = next(i for i, name in enumerate(names) if name.startswith("test_"))
    assert all(name.startswith("test_") for name in names[last_words:])
    assert len(names) - last_words >= 3


@each_notebook
def test_it_begins_with_its_title(notebook, tool):
    tree = ast.parse(notebook.read_text("utf-8"))
    first = (ast.get_docstring(tree) or "").splitlines()[0]
    heading = next(cell.source for cell in tool.cells(notebook) if cell.kind == "markdown")
    assert len(first) > 20 and first.endswith((".", "?"))
    assert heading.startswith("# ")


@each_notebook
def test_it_uses_public_names_only_and_stays_short(notebook):
    text = notebook.read_text("utf-8")
    assert re.search(r"^    import simengine2d as se$", text, re.MULTILINE)
    assert "from simengine2d" not in text and "import simengine2d." not in text
    assert not re.search(r"\bse\.(\w+\.)*_", text)
    assert text.count("\n") <= 300


@each_notebook
def test_the_jupyter_notebook_is_up_to_date(notebook, tool):
    path = tool.JUPYTER / f"{notebook.stem}.ipynb"
    assert path.read_text("utf-8") == tool.jupyter_text(notebook), "run: python tools/notebooks.py"


def test_the_jupyter_notebooks_are_those_of_the_examples(tool):
    assert sorted(path.stem for path in tool.JUPYTER.glob("*.ipynb")) == [path.stem for path in NOTEBOOKS]


@pytest.mark.slow
def test_one_runs_in_jupyter(tool, tmp_path):
    """With its widgets: a slider of ipywidgets and the player."""
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    notebook = nbformat.read(tool.JUPYTER / "01_first_mechanism.ipynb", as_version=4)
    nbformat.validate(notebook)
    nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(tmp_path)}}).execute()
    shown = {
        kind
        for cell in notebook.cells
        for output in cell.get("outputs", [])
        for kind in output.get("data", [])
    }
    assert {"image/png", "text/markdown", "application/vnd.jupyter.widget-view+json"} <= shown


@pytest.mark.slow
def test_one_is_exported_as_a_page(tool, tmp_path, monkeypatch):
    monkeypatch.setattr(tool, "notebooks", lambda: NOTEBOOKS[:1])
    records = NOTEBOOKS[0].parent / "__marimo__"
    were_there = records.exists()
    assert tool.export(tmp_path) == 0
    page = (tmp_path / f"{NOTEBOOKS[0].stem}.html").read_text("utf-8")
    assert "Your first mechanism" in page and "image/png" in page
    assert records.exists() == were_there


def test_a_cell_that_needs_what_is_below_is_an_error(tool, tmp_path):
    path = tmp_path / "upside_down.py"
    path.write_text(
        "@app.cell\ndef _(x):\n    x\n    return\n\n\n@app.cell\ndef _():\n    x = 1\n    return (x,)\n"
    )
    with pytest.raises(SystemExit, match=r"upside_down.py, line 2: \['x'\] come from a cell below"):
        list(tool.cells(path))


def test_pytest_collects_the_tests_of_a_notebook():
    command = [
        sys.executable,
        "-m",
        "pytest",
        "--collect-only",
        "-q",
        "-p",
        "no:cacheprovider",
        str(NOTEBOOKS[0]),
    ]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert "test_one_motion_is_free" in done.stdout, done.stdout + done.stderr
