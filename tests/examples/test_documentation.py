"""Every block of code in the documentation runs, every model file is a model, every error is raised."""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from shlex import split

import pytest

import simengine2d as se
from marking import slow_among
from simengine2d import errors

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
BLOCK = re.compile(r"^```(python|yaml)\n(.*?)^```", re.DOTALL | re.MULTILINE)
SHOWN = {"style-pictures.md"}  # its YAML is a part of a file
RAISES = re.compile(r"^```python\n(.*?# raises (\w+)\n)```\n\n```text\n(.*?)\n```", re.DOTALL | re.MULTILINE)


def pages() -> list[str]:
    files = (path for path in sorted(DOCS.rglob("*.md")) if not {"generated", "_build"} & set(path.parts))
    return [str(path.relative_to(DOCS)) for path in files if BLOCK.search(path.read_text(encoding="utf-8"))]


SLOW = [
    "explanation/accuracy.md", "explanation/formulations.md", "how-to/choose-an-analysis.md",
    "how-to/compare-methods.md", "how-to/design-a-cam.md", "how-to/design-a-linkage.md",
    "how-to/take-results-elsewhere.md", "how-to/write-down-the-equations.md", "how-to/style-pictures.md",
    "how-to/sweep-a-design.md", "how-to/fit-to-measurements.md", "how-to/differentiate-a-design.md",
    "how-to/synthesize-a-linkage.md",
]  # fmt: skip
ERRORS = "reference/errors.md"


@pytest.mark.parametrize("page", slow_among([page for page in pages() if page != ERRORS], *SLOW))
def test_the_code_of_a_page_runs(page, monkeypatch, tmp_path):
    """The Python of a page is one program in several blocks; a model file is loaded and moved."""
    import matplotlib.pyplot as plt

    monkeypatch.chdir(tmp_path)
    text = (DOCS / page).read_text(encoding="utf-8")
    names = {"__name__": "page"}
    for number, (language, block) in enumerate(BLOCK.findall(text)):
        if language == "python":
            exec(compile(block, f"{page}, block {number}", "exec"), names)
        elif Path(page).name not in SHOWN and "bodies:" in block:
            (tmp_path / "model.yaml").write_text(block, encoding="utf-8")
            model = se.load("model.yaml")
            move = se.kinematics if se.diagnose(model).mobility == 0 else se.dynamics
            move(model, t_end=0.01)
    plt.close("all")


def test_every_error_of_the_page_is_raised_by_its_example(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    text = (DOCS / ERRORS).read_text(encoding="utf-8")
    shown = set()
    for program, kind, words in RAISES.findall(text):
        with warnings.catch_warnings(), pytest.raises(getattr(se, kind)) as caught:
            exec(compile(program, ERRORS, "exec"), {"__name__": "page"})
        assert (type(caught.value).__name__, words in str(caught.value)) == (kind, True), str(caught.value)
        shown.add(kind)
    bases = (errors.SimEngineError, errors.Interrupted, Warning)
    kinds = {name for name, cls in vars(errors).items() if isinstance(cls, type) and issubclass(cls, bases)}
    assert shown == kinds - {"SimEngineError"}
    assert all(f"| [`{kind}`](#{kind.lower()}) |" in text for kind in shown)


def commands(page: str) -> list[list[str]]:
    text = (DOCS / page).read_text(encoding="utf-8")
    return [split(line, comments=True) for line in text.splitlines() if line.startswith("simengine2d ")]


@pytest.mark.slow
def test_the_page_on_the_command_line_shows_every_command_and_they_work(monkeypatch, tmp_path):
    from typer.main import get_command
    from typer.testing import CliRunner

    from simengine2d import cli

    monkeypatch.chdir(tmp_path)
    page = "how-to/work-on-the-command-line.md"
    [model] = [block for kind, block in BLOCK.findall((DOCS / page).read_text()) if kind == "yaml"]
    Path("slider_crank.yaml").write_text(model)
    lines = commands(page)
    for words in lines:
        if words[1] == "studio":  # serves until it is stopped: tests/studio
            continue
        done = CliRunner().invoke(cli.app, words[1:])
        assert done.exit_code == 0, (words, done.output)
    elsewhere = {"warmup", "check-work", "fit", "sensitivity", "synthesize"}  # pages of their own have them
    assert {words[1] for words in lines} | elsewhere == set(get_command(cli.app).list_commands(None))
