"""Writes `examples/jupyter/*.ipynb`, the marimo notebooks of `examples` for Jupyter, or exports them as pages.

python tools/notebooks.py                 write the Jupyter notebooks, without outputs
python tools/notebooks.py --check         say whether they are up to date
python tools/notebooks.py --html FOLDER   run all notebooks and write them as pages

The Jupyter notebooks do not need marimo: text becomes Markdown cells, `mo.md` of an f-string `Markdown`, and sliders
those of ipywidgets, which have a `value` as well. There, cells below a slider are run again by hand.
"""

from __future__ import annotations

import ast
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent
from typing import Any, NamedTuple, TypeGuard

from generated import write_or_check

EXAMPLES = Path(__file__).parents[1] / "examples"
JUPYTER = EXAMPLES / "jupyter"
WIDGETS = {"slider": "FloatSlider", "dropdown": "Dropdown", "checkbox": "Checkbox"}
FIELDS = {"start": "min", "stop": "max", "label": "description"}  # of marimo, as ipywidgets call them
PICTURES = (
    "ax",
    "draw",
    "figure",
    "free_body",
    "plot",
    "poster",
    "stability_region",
)  # how the names of what returns axes begin
LOOK = 'style={"description_width": "initial"}, layout={"width": "30em"}'
IMPORTS = "import ipywidgets as widgets\nfrom IPython.display import Markdown\n"
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


class Cell(NamedTuple):
    """A cell of a notebook: its name, "_" for most, and its text; markdown is text between code."""

    kind: str
    name: str
    source: str


def notebooks() -> list[Path]:
    """The marimo notebooks, in the order of learning."""
    return [
        path for path in sorted(EXAMPLES.glob("*.py")) if "marimo.App(" in path.read_text(encoding="utf-8")
    ]


def cells(notebook: Path) -> Iterator[Cell]:
    """The cells from top to bottom, in which order they can be run."""
    text = notebook.read_text(encoding="utf-8")
    known: set[str] = set()
    for node in ast.parse(text).body:
        if isinstance(node, ast.With):  # the imports
            yield Cell("code", "setup", _source(text, node.body))
        elif _is_function(node):
            known.add(node.name)
            is_test = node.name.startswith("test_")
            call = f"\n\n\n{node.name}()" if is_test else ""  # marimo runs tests by itself
            yield Cell("code", node.name if is_test else "_", _source(text, [node]) + call)
        elif isinstance(node, ast.FunctionDef):
            needs = {argument.arg for argument in node.args.args}
            if missing := sorted(needs - known):
                raise SystemExit(f"{notebook.name}, line {node.lineno}: {missing} come from a cell below.")
            known |= _given(node.body[-1])
            yield _cell(text, node)


def _is_function(node: ast.stmt) -> TypeGuard[ast.FunctionDef]:
    """Under `@app.function`: a function that every cell can use."""
    match node:
        case ast.FunctionDef(decorator_list=[ast.Attribute(_, "function")]):
            return True
    return False


def _cell(text: str, node: ast.FunctionDef) -> Cell:
    body = [line for line in node.body if not isinstance(line, ast.Return)]
    match body:
        case [ast.Expr(ast.Call(ast.Attribute(ast.Name("mo"), "md"), [ast.Constant(str(words))]))]:
            return Cell("markdown", node.name, dedent(words).strip())
    return Cell("code", node.name, _source(text, body))


def _source(text: str, body: list[ast.stmt]) -> str:
    """The statements with the comments between them and at the end of the last."""
    lines = text.splitlines()[body[0].lineno - 1 : body[-1].end_lineno]
    return dedent("\n".join(lines))


def _given(last: ast.stmt) -> set[str]:
    """The names that a cell returns to others."""
    return {node.id for node in ast.walk(last) if isinstance(node, ast.Name)} if _returns(last) else set()


def _returns(node: ast.stmt) -> bool:
    return isinstance(node, ast.Return) and node.value is not None


# For Jupyter ------------------------------------------------------------------------------------------


def jupyter_text(notebook: Path) -> str:
    """The notebook as JSON of the format 4.5, without outputs."""
    imports, title, *others = cells(notebook)
    content = [_jupyter_cell(i, cell) for i, cell in enumerate([title, imports, *others])]
    whole = {"cells": content, "metadata": METADATA, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(whole, indent=1, ensure_ascii=False) + "\n"


def _jupyter_cell(number: int, cell: Cell) -> dict[str, Any]:
    source = cell.source if cell.kind == "markdown" else _jupyter_code(cell)
    made: dict[str, Any] = {"cell_type": cell.kind, "id": f"cell-{number}", "metadata": {}}
    if cell.kind == "code":
        made |= {"execution_count": None, "outputs": []}
    return made | {"source": source.splitlines(keepends=True)}


def _jupyter_code(cell: Cell) -> str:
    if cell.name == "setup":
        return cell.source.replace("import marimo as mo\n", IMPORTS)
    head = "" if cell.name == "_" or cell.source.startswith("def ") else f"# {cell.name.replace('_', ' ')}\n"
    return head + _without_repr(_with_widgets(cell.source))


def _with_widgets(code: str) -> str:
    """`mo.md(f"...")` and `mo.ui.slider(...)` as Jupyter has them."""
    calls = [node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Call)]
    for call in calls:
        match call.func:
            case ast.Attribute(ast.Attribute(ast.Name("mo"), "ui"), kind):
                code = code.replace(_text_of(code, call), _widget(WIDGETS[kind], call))
            case ast.Attribute(ast.Name("mo"), "md"):
                code = code.replace("mo.md(", "Markdown(")
            case ast.Attribute(ast.Name("mo"), other):
                raise SystemExit(f"mo.{other} has no counterpart in Jupyter; use text, sliders and pictures.")
    return code


def _text_of(code: str, node: ast.expr) -> str:
    text = ast.get_source_segment(code, node)
    assert text is not None
    return text


def _widget(name: str, call: ast.Call) -> str:
    """The call of ipywidgets: the first two numbers of a slider are its ends, the first list of others its options."""
    order = ["start", "stop", "step", "value"] if name == "FloatSlider" else ["options"]
    given = {**dict(zip(order, call.args, strict=False)), **{k.arg: k.value for k in call.keywords if k.arg}}
    fields = [
        f"{FIELDS.get(key, key)}={ast.unparse(value)}" for key, value in given.items() if key != "show_value"
    ]
    if name == "FloatSlider":
        fields.append('readout_format=".3g"')
    return f"widgets.{name}(\n    {', '.join(fields)},\n    {LOOK},\n)"


def _without_repr(code: str) -> str:
    """Axes show their picture; a semicolon leaves out their text."""
    last = ast.parse(code).body[-1]
    if isinstance(last, ast.Expr):
        value = last.value.func if isinstance(last.value, ast.Call) else last.value
        name = value.attr if isinstance(value, ast.Attribute) else getattr(value, "id", "")
        if name.lstrip("_").startswith(PICTURES) or name.endswith("_ax"):
            return f"{code};"
    return code


# The tool ---------------------------------------------------------------------------------------------


def main() -> int:
    if "--html" in sys.argv:
        return export(Path(sys.argv[sys.argv.index("--html") + 1]))
    JUPYTER.mkdir(exist_ok=True)
    return max(_written(path) for path in notebooks()) | _left_over()


def _written(path: Path) -> int:
    return write_or_check(JUPYTER / f"{path.stem}.ipynb", jupyter_text(path))


def _left_over() -> int:
    """Jupyter notebooks whose origin is gone."""
    stems = {path.stem for path in notebooks()}
    gone = [path for path in JUPYTER.glob("*.ipynb") if path.stem not in stems]
    for path in gone:
        print(f"{path.name} has no marimo notebook; delete it.", file=sys.stderr)
    return 1 if gone else 0


def export(folder: Path) -> int:
    """Pages with outputs by `marimo export html`, which fails if a cell raises.

    Copies are exported: marimo leaves its own records beside a notebook, and a wheel takes all that is there.
    """
    folder.mkdir(parents=True, exist_ok=True)
    command, worst = [sys.executable, "-m", "marimo", "--yes", "export", "html"], 0
    with tempfile.TemporaryDirectory() as copies:
        for path in notebooks():
            copy, page = shutil.copy(path, copies), folder / f"{path.stem}.html"
            worst = max(worst, subprocess.run([*command, copy, "-o", str(page), "--force"]).returncode)
    return worst


if __name__ == "__main__":
    sys.exit(main())
