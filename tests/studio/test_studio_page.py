"""The page of the studio as it is shipped: built from the sources beside it, complete, and nothing from elsewhere."""

from __future__ import annotations

import hashlib
import re
import subprocess
from pathlib import Path

import pytest

from simengine2d.cli.studio.app import PAGE

WEB = Path(__file__).parents[2] / "web"


def sources_hash() -> str:
    """As `web/build.js` computes it."""
    digest = hashlib.sha256()
    names = sorted(path.relative_to(WEB / "src").as_posix() for path in (WEB / "src").rglob("*.js"))
    for name in (*(f"src/{name}" for name in names), "build.js", "package-lock.json"):
        digest.update(f"{name}\n".encode())
        digest.update((WEB / name).read_bytes())
    return digest.hexdigest()


@pytest.mark.skipif(not WEB.is_dir(), reason="the sources of the page are not in a package")
def test_the_built_page_is_that_of_its_sources():
    built = (PAGE / "studio.js").read_text(encoding="utf-8")
    assert built.startswith(f"// sources {sources_hash()}\n"), "run `npm ci && npm run build` in web/"


@pytest.mark.skipif(not (WEB / "node_modules").is_dir(), reason="`npm ci` has not been run in web/")
def test_the_sources_keep_to_the_rules_and_build_the_page_to_the_byte(tmp_path):
    subprocess.run(["npx", "eslint", "."], cwd=WEB, check=True)
    built = tmp_path / "studio.js"
    subprocess.run(["node", "build.js", str(built)], cwd=WEB, check=True)
    assert built.read_bytes() == (PAGE / "studio.js").read_bytes()


def test_the_page_names_only_files_that_are_served():
    page = (PAGE / "index.html").read_text(encoding="utf-8")
    files = re.findall(r'(?:src|href)="([^"]+)"', page)
    assert set(files) == {"data:,", "player.css", "player.js", "studio.css", "studio.js"}
    assert {"studio.css", "studio.js"} <= {path.name for path in PAGE.iterdir()}
