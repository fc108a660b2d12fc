"""Work-precision diagrams: the error of every engine against the milliseconds it takes.

python benchmarks/dynamics.py --csv runs.csv
python benchmarks/work_precision.py runs.csv                  # into docs/pictures/work_precision.png
python benchmarks/work_precision.py --cases four_bar          # runs ours and the peers that this Python has
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import collect
from cases import CASES
from measuring import Row
from targets import LIMIT, OURS, finished

# the colors of Okabe and Ito are told apart by color-blind eyes; markers and dashes help the rest
STYLES = {
    OURS: {"color": "#000000", "marker": "o", "linewidth": 2.4, "zorder": 5},
    "Exudyn": {"color": "#D55E00", "marker": "s"},
    "MuJoCo": {"color": "#009E73", "marker": "^"},
    "CasADi": {"color": "#0072B2", "marker": "D"},
    "Pinocchio": {"color": "#CC79A7", "marker": "v"},
    "SymPy+numba": {"color": "#E69F00", "marker": "P"},
    "Simbody": {"color": "#56B4E9", "marker": "X"},
    "Drake": {"color": "#D55E00", "marker": "<", "linestyle": "--"},
    "SUNDIALS": {"color": "#0072B2", "marker": ">", "linestyle": "--"},
    "pymunk": {"color": "#009E73", "marker": "p", "linestyle": "--"},
    "SciPy": {"color": "#CC79A7", "marker": "h", "linestyle": "--"},
    LIMIT: {"color": "#808080", "marker": "*", "linestyle": ":"},
}
LABELS = {LIMIT: "C, written for the case", OURS: "simengine2d"}
LARGEST_ERROR, SMALLEST_ERROR = 0.3, 1e-11


def front(rows: list[Row]) -> list[Row]:
    """The runs of which no other of the same engine is both faster and more exact."""
    kept: list[Row] = []
    for row in sorted(rows, key=lambda row: row.seconds):
        if row.error < LARGEST_ERROR and (not kept or row.error < kept[-1].error):
            kept.append(row)
    return kept


def draw_case(axes: object, rows: list[Row], name: str) -> None:
    case = CASES[name]()
    runs = finished(rows, name)
    for peer, style in STYLES.items():
        own = [row for row in runs if row.peer == peer and (peer != OURS or row.letter == "rtol")]
        best = front(own)
        if best:
            errors = [max(row.error, SMALLEST_ERROR) for row in best]
            look = {"linewidth": 1.3, "markersize": 4.5} | style
            axes.loglog([1e3 * row.seconds for row in best], errors, **look)
    axes.set_title(f"{case.title}, {case.t_end:g} s", fontsize=10)
    axes.set_ylim(SMALLEST_ERROR / 2, 2 * LARGEST_ERROR)
    axes.set_yticks([1e-11, 1e-9, 1e-7, 1e-5, 1e-3, 1e-1])
    axes.grid(True, which="major", alpha=0.25, linewidth=0.6)
    axes.minorticks_off()


def draw(rows: list[Row], path: Path) -> None:
    import matplotlib.pyplot as plt
    from matplotlib.lines import Line2D

    names = [name for name in CASES if finished(rows, name)]
    columns = min(5, len(names))
    lines = -(-len(names) // columns)
    size = (2.7 * columns + 0.5, 2.6 * lines + 1.0)
    figure, grid = plt.subplots(
        lines, columns, figsize=size, squeeze=False, sharey=True, layout="constrained"
    )
    for axes in grid.flat[len(names) :]:
        axes.set_visible(False)
    for i, (axes, name) in enumerate(zip(grid.flat, names, strict=False)):
        draw_case(axes, rows, name)
        if i + columns >= len(names):  # nothing below
            axes.set_xlabel("milliseconds of the solve", fontsize=9)
    figure.supylabel("largest error of a mass center at the end, m", fontsize=10)
    present = [peer for peer in STYLES if any(row.peer == peer for row in rows)]
    handles = [Line2D([], [], label=LABELS.get(peer, peer), **STYLES[peer]) for peer in present]
    figure.legend(
        handles=handles, loc="outside lower center", ncols=min(6, len(handles)), frameon=False, fontsize=9
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=130)


def gathered(cases: list[str], python: str) -> list[Row]:
    """Quick runs of ours and of all peers that a Python has."""
    peers = [peer for peer in (*collect.PEERS, collect.LIMIT) if collect.installed(peer, python)]
    engines = {collect.OURS: sys.executable} | dict.fromkeys(peers, python)
    return [
        row
        for case in cases
        for engine, program in engines.items()
        for row in collect.run_engine(engine, program, case, quick=True, timeout=40.0)
    ]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("csv", type=Path, nargs="?", help="runs that dynamics.py kept")
    parser.add_argument("--cases", default=",".join(CASES))
    parser.add_argument("--peers-python", default=sys.executable)
    picture = Path(__file__).parents[1] / "docs/pictures/work_precision.png"
    parser.add_argument("--picture", type=Path, default=picture)
    chosen = parser.parse_args()
    rows = collect.read(chosen.csv) if chosen.csv else gathered(chosen.cases.split(","), chosen.peers_python)
    draw(rows, chosen.picture)
    print(f"picture: {chosen.picture}")


if __name__ == "__main__":
    main()
