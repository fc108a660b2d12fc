"""Exudyn's ParameterVariation over masses of a slider-crank: processor time of a variant.

python -m peers.exudyn_variation 20
"""

from __future__ import annotations

import sys
import time
from dataclasses import replace

from cases import CASES
from exudyn.processing import ParameterVariation

from .exudyn import Planar

STEP = 1e-3


def end_of(parameters: dict[str, float]) -> float:
    """Where the slider is after 5 s."""
    case = CASES["slider_crank"]()
    *others, slider = case.bodies
    made = Planar(
        replace(case, bodies=[*others, slider._replace(mass=parameters["mass"])]), "GeneralizedAlpha", STEP
    )
    made.run()
    return float(made.state()[0][-1, 0])


def main() -> None:
    count, mass = int(sys.argv[1]), CASES["slider_crank"]().bodies[-1].mass
    start = time.process_time()
    ParameterVariation(
        end_of,
        {"mass": (mass, 1.5 * mass, count)},
        useMultiProcessing=False,
        showProgress=False,
        debugMode=False,
    )
    each = 1e3 * (time.process_time() - start) / count
    print(f"Exudyn's ParameterVariation, {count} x 5 s, steps of {1e3 * STEP:g} ms: {each:.3f} ms a variant")


if __name__ == "__main__":
    main()
