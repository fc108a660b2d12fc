"""The notebooks as pages: text, code and, where they are run, what they show.

The Jupyter twins of the notebooks are the source; running them fills in their outputs.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
from pathlib import Path
from typing import Any

EXAMPLES = Path(__file__).parents[2] / "examples"
WIDGET = "application/vnd.jupyter.widget-view+json"


def notebooks() -> list[Path]:
    return sorted((EXAMPLES / "jupyter").glob("*.ipynb"))


def write(folder: Path, cache: Path | None) -> None:
    """Write a page for each notebook; with a folder to keep results in, the notebooks are run."""
    folder.mkdir(parents=True, exist_ok=True)
    for path in notebooks():
        content = json.loads(path.read_text(encoding="utf-8")) if cache is None else executed(path, cache)
        target = folder / f"{path.stem}.md"
        text = page_text(path.stem, content["cells"], folder / "pictures")
        if not target.is_file() or target.read_text(encoding="utf-8") != text:
            target.write_text(text, encoding="utf-8")


def executed(path: Path, cache: Path) -> dict[str, Any]:
    """The notebook with its outputs, from an earlier run where it has not changed since."""
    import nbformat
    from nbclient import NotebookClient

    kept = cache / f"{path.stem}-{hashlib.sha256(path.read_bytes()).hexdigest()[:12]}.ipynb"
    if not kept.is_file():
        cache.mkdir(parents=True, exist_ok=True)
        notebook = nbformat.read(path, as_version=4)
        inline = {name: value for name, value in os.environ.items() if name != "MPLBACKEND"}
        NotebookClient(notebook, timeout=600, resources={"metadata": {"path": str(cache)}}).execute(
            env=inline
        )
        nbformat.write(notebook, kept)
    return json.loads(kept.read_text(encoding="utf-8"))


def page_text(name: str, cells: list[dict[str, Any]], pictures: Path) -> str:
    number = int(name[:2])
    words = f"`simengine2d learn {number}` opens this page as a notebook, in which everything can be changed."
    run = f"```{{tip}}\n{words}\n```"
    parts: list[str] = []
    for index, each in enumerate(cells):
        source = "".join(each["source"])
        if each["cell_type"] == "markdown":
            parts.append(source)
        else:
            parts.append(f"```python\n{source}\n```")
            parts += [_output(out, pictures / f"{name}-{index}-{i}") for i, out in enumerate(each["outputs"])]
        if index == 0:
            parts.append(run)
    return "\n\n".join(filter(None, parts)) + "\n"


def _output(output: dict[str, Any], stem: Path) -> str:
    """What a cell shows: a picture, a page, a table or text."""
    if output["output_type"] == "stream":
        return _text("".join(output["text"])) if output["name"] == "stdout" else ""
    data = output.get("data", {})
    if "image/png" in data:
        stem.parent.mkdir(parents=True, exist_ok=True)
        picture = stem.with_suffix(".png")
        picture.write_bytes(base64.b64decode("".join(data["image/png"])))
        return f"![output](pictures/{picture.name})"
    if "text/markdown" in data:
        return "".join(data["text/markdown"])
    if "text/html" in data:
        return "\n".join(
            ["````{raw} html", '<div class="output">', "".join(data["text/html"]), "</div>", "````"]
        )
    if WIDGET in data:
        return "*(In the notebook this is a control, or the player.)*"
    return _text("".join(data.get("text/plain", "")))


def _text(text: str) -> str:
    plain = re.sub(r"\x1b\[[0-9;]*m", "", text).rstrip()
    return f"```text\n{plain}\n```" if plain else ""
