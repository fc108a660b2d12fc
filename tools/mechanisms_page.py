"""Writes `docs/mechanisms.md`, the gallery of the shipped mechanisms; `tools/pictures.py` draws their pictures.

python tools/mechanisms_page.py            write the page
python tools/mechanisms_page.py --check    say whether it is up to date
"""

from __future__ import annotations

import sys
from itertools import chain
from pathlib import Path

from simengine2d.model import library

PAGE = Path(__file__).parents[1] / "docs" / "mechanisms.md"
PICTURES = PAGE.parent / "pictures" / "mechanisms"
COLUMNS = 3
HEAD = """\
# Mechanisms

{count} mechanisms come with the package. `simengine2d run NAME` runs the analysis that its file asks for, `simengine2d
models NAME` prints the file, `simengine2d demo NAME` plays it in the browser, and `simengine2d models NAME --copy .`
puts a copy into your folder, to be changed. This page is written by `tools/mechanisms_page.py`.
"""
SECTIONS = {
    "Linkages": [
        "four_bar", "slider_crank", "scotch_yoke", "quick_return", "whitworth", "parallelogram",
        "stephenson_six_bar", "watt_six_bar", "pantograph", "elliptic_trammel", "andrews_squeezer",
    ],
    "Straight lines and dwells": [
        "peaucellier", "hart_inversor", "scott_russell", "watt_linkage", "roberts_linkage",
        "chebyshev_lambda", "dwell_arm", "geneva_drive",
    ],
    "Gears, belts and couplings": [
        "planetary_gear", "geared_five_bar", "rack_pinion", "belt_drive", "oldham_coupling",
    ],
    "Engines and presses": ["engine", "v_twin", "valve_train", "toggle_press", "toggle_clamp", "pumpjack"],
    "Vehicles": ["steering", "double_wishbone", "windshield_wiper", "landing_gear"],
    "Lifting and digging": ["scissor_lift", "front_loader", "excavator", "gantry_crane"],
    "Legs and arms": ["jansen_leg", "klann_leg", "walker", "robot_arm", "five_bar_robot"],
    "Everyday things and toys": ["umbrella", "roberval_balance", "trebuchet"],
    "Pendulums, springs and control": [
        "double_pendulum", "coupled_pendulums", "kapitza_pendulum", "chain", "tautochrone", "sprung_slider",
        "cart_pole", "shaft_governor",
    ],
}  # fmt: skip


def page_text() -> str:
    """The sections, each a table of pictures."""
    sections = (f"\n## {title}\n\n{_table(names)}\n" for title, names in SECTIONS.items())
    return HEAD.format(count=len(library.names())) + "".join(sections)


def _table(names: list[str]) -> str:
    rows = [names[i : i + COLUMNS] for i in range(0, len(names), COLUMNS)]
    return "\n".join(["|" + " |" * COLUMNS, "|" + " --- |" * COLUMNS, *(_row(row) for row in rows)])


def _row(names: list[str]) -> str:
    cells = [_cell(name) for name in names] + [""] * (COLUMNS - len(names))
    return "| " + " | ".join(cells) + " |"


def _cell(name: str) -> str:
    title, sentence = library.description(name).split(": ", 1)
    picture = f"![{title}](pictures/{PICTURES.name}/{name}.png)"
    return f"{picture} **{title}**: {sentence} `simengine2d run {name}`"


def problems() -> list[str]:
    """What is missing or out of date."""
    listed = sorted(chain.from_iterable(SECTIONS.values()))
    if listed != library.names():
        wrong = ", ".join(sorted(set(listed) ^ set(library.names()))) or "one mechanism twice"
        return [f"the sections of tools/mechanisms_page.py do not match the library: {wrong}"]
    missing = [name for name in listed if not (PICTURES / f"{name}.png").is_file()]
    found = [f"no picture of {name}; run: python tools/pictures.py {name}" for name in missing]
    if not PAGE.is_file() or PAGE.read_text(encoding="utf-8") != page_text():
        found.append(f"{PAGE.name} is out of date; run: python tools/mechanisms_page.py")
    return found


def main() -> int:
    if "--check" not in sys.argv[1:]:
        PAGE.write_text(page_text(), encoding="utf-8")
        return 0
    found = problems()
    print("\n".join(found), end="\n" if found else "", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
