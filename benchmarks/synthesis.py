"""Published tasks of synthesis: our error beside the published ones, and the time.

    python benchmarks/synthesis.py [name ...]

The error is the sum of squared distances, as the papers count it. Published errors are those of the published linkages,
computed anew from their dimensions. Each of our linkages has been run through all positions without a dead point.

Sources of the path tasks: S. Nguyen-Van, Q. X. Lieu, N. Xuan-Mung, T. T. N. Nguyen, Symmetry 14 (2022) 381 (HCDJ).
Their published programs list the targets and the linkages of A. Kunjur and S. Krishnamurty (1997), of J. A. Cabrera
et al., Mechanism and Machine Theory 37 (2002) 1165-1177, of the algorithms MUMSA and IOA, and of W.-Y. Lin.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import simengine2d as se
from simengine2d.lab.synthesis.dyads import Displacements, five_pose_dyads
from simengine2d.lab.synthesis.linkage_types import FOUR_BAR

DEG = np.pi / 180
LINE = [(20.0, y) for y in (20.0, 25.0, 30.0, 35.0, 40.0, 45.0)]
FIVE = [(3, 3), (2.759, 3.363), (2.372, 3.663), (1.890, 3.862), (1.355, 3.943)]
EIGHTEEN = [
    (0.5, 1.1), (0.4, 1.1), (0.3, 1.1), (0.2, 1.0), (0.1, 0.9), (0.05, 0.75), (0.02, 0.6), (0.0, 0.5), (0.0, 0.4),
    (0.03, 0.3), (0.1, 0.25), (0.15, 0.2), (0.2, 0.3), (0.3, 0.4), (0.4, 0.5), (0.5, 0.7), (0.6, 0.9), (0.6, 1.0),
]  # fmt: skip
ARC = [(0, 0), (1.9098, 5.8779), (6.9098, 9.5106), (13.09, 9.5106), (18.09, 5.8779), (20, 0)]
ELLIPSE = [
    (20, 10), (17.66, 15.142), (11.736, 17.878), (5, 16.928), (0.60307, 12.736), (0.60307, 7.2638),
    (5, 3.0718), (11.736, 2.1215), (17.66, 4.8577),
]  # fmt: skip
NAMES = ("ground", "crank", "coupler", "rocker", "Px", "Py", "Ax", "Ay", "ground_angle")


@dataclass
class PublishedTask:
    """A task, how we solve it, and the published linkages: their nine dimensions and their crank angles."""

    name: str
    solve: Callable[[], Any]
    points: list[tuple[float, float]]
    published: dict[str, tuple[list[float], Any]]

    def published_errors(self) -> dict[str, float]:
        return {
            name: min(error(self.points, x, theta, side) for side in (1, -1))
            for name, (x, theta) in self.published.items()
        }


def error(points: Any, dimensions: list[float], theta: Any, side: int) -> float:
    """Of a published linkage, whose crank angles are counted from its ground link."""
    values = dict(zip(NAMES, dimensions, strict=True))
    pins, _ = FOUR_BAR.positions(values, np.asarray(theta) + values["ground_angle"], (side,))
    x, y = np.array(points).T
    return float(((pins["P"][0] - x) ** 2 + (pins["P"][1] - y) ** 2).sum())


def limits(longest: float, *, placed: bool = True) -> dict[str, tuple[float, float]]:
    lengths = {name: (0.01, longest) for name in ("ground", "crank", "coupler", "rocker")}
    places = ("Px", "Py", "Ax", "Ay") if placed else ("Px", "Py")
    return lengths | {name: (-longest, longest) for name in places}


def solve_line() -> Any:
    return se.synthesize("four-bar", se.synthesis.path_target(LINE), limits=limits(60), full_turn=True)


def solve_five() -> Any:
    target = se.synthesis.path_target(FIVE, inputs=np.array([30, 45, 60, 75, 90]) * DEG)
    fixed = {"Ax": 0, "Ay": 0, "ground_angle": 0, "crank_angle": "30*deg"}
    return se.synthesize("four-bar", target, fixed | limits(50, placed=False), full_turn=True)


def solve_eighteen() -> Any:
    target = se.synthesis.path_target(EIGHTEEN, inputs=np.arange(18) * 20 * DEG, closed=True)
    return se.synthesize("four-bar", target, limits=limits(50))


def solve_arc() -> Any:
    target = se.synthesis.path_target(ARC, inputs=np.arange(6) * 30 * DEG)
    return se.synthesize("four-bar", target, limits=limits(50), full_turn=True)


def solve_ellipse() -> Any:
    return se.synthesize("four-bar", se.synthesis.path_target(ELLIPSE, closed=True), limits=limits(80))


EVENLY = np.arange(18) * 20 * DEG
TASKS = [
    PublishedTask(
        "vertical line, 6 points, free timing",
        solve_line,
        LINE,
        {
            "MUMSA": (
                [31.788264, 8.2046468, 24.932131, 31.385926, 34.193719, 14.415668, -6.366519, 56.83676, 4.015959],
                [1.366547, 2.330773, 2.871039, 3.394591, 3.97096, 4.96349],
            ),
            "HCDJ": (
                [14.201369, 8.0143127, 16.309922, 12.253871, 27.797721, 11.305412, -2.309531, 45.695083, 4.5172417],
                [6.2532447, 2.4038981, 2.9362397, 3.4905751, 4.0650776, 5.2095019],
            ),
        },
    ),
    PublishedTask(
        "5 points, prescribed timing",
        solve_five,
        FIVE,
        {
            name: ([*x, 0.0, 0.0, 0.0], np.array([30, 45, 60, 75, 90]) * DEG)
            for name, x in {
                "Kunjur": [3.509643, 1.857606, 4.725835, 3.518721, 1.959538, 1.558898],
                "Cabrera": [3.0630424, 1.9959624, 3.305823, 2.524706, 1.645158, 1.708959],
                "MUMSA": [3.77326856, 2.00000403, 4.11697104, 2.74615671, 1.67848787, 1.67098007],
                "IOA": [2.803607, 1.99226, 3.030461, 2.474117, 1.64413, 1.714536],
                "HCDJ": [4.2930812, 1.9978324, 4.7374099, 2.9417301, 1.7074051, 1.6441696],
            }.items()
        },
    ),
    PublishedTask(
        "closed path, 18 points, prescribed timing",
        solve_eighteen,
        EIGHTEEN,
        {
            name: (row[:9], row[9] + EVENLY)
            for name, row in {
                "first of the table": [
                    *(3.057878, 0.237803, 4.828954, 2.056456, 0.767038),
                    *(1.850828, 1.776808, -0.641991, 1.002168, 0.226186),
                ],
                "second of the table": [
                    *(1.87966, 0.274853, 1.180253, 2.138209, -0.833592),
                    *(-0.37877, 1.132062, 0.663433, 4.354224, 2.558625),
                ],
                "MUMSA": [
                    *(4.453772, 0.297057, 3.913095, 0.849372, -2.067338),
                    *(1.6610626, -1.309243, 2.806964, 2.7387359, 4.853543),
                ],
                "IOA": [
                    *(4.040435, 0.245216, 6.38294, 2.620532, 1.139106),
                    *(1.866109, 1.891805, -0.761339, 1.187751, 0.0),
                ],
                "HCDJ": [
                    *(49.800886, 0.28817159, 48.476138, 1.633642, -23.41281),
                    *(7.6644886, -14.836153, 20.140223, 2.5286091, 5.0644224),
                ],
            }.items()
        },
    ),
    PublishedTask(
        "half circle, 6 points, prescribed timing",
        solve_arc,
        ARC,
        {
            "best of the table": (
                [49.999217, 1.3476638, 1.3476825, 49.999235, 11.383058, 4.4426855, 10.1944353, -3.6925458, 6.2157809],
                np.arange(1, 7) * 30 * DEG,
            ),
        },
    ),
    PublishedTask(
        "ellipse, 9 points and back, free timing",
        solve_ellipse,
        ELLIPSE,
        {
            "MUMSA": (
                [79.516068, 9.723973, 45.842524, 51.432848, 8.213922, -2.9539575, 2.021109, 13.2165878, 5.5969445],
                [0.6376873, 1.3255329, 2.0080339, 2.6955659, 3.3845794, 4.08293762, 4.79845482, 5.51170565, 6.2127919],
            ),
            "Lin": (
                [80.0, 8.045662, 50.81902, 42.20801, -10.63697, -2.29109, 8.494813, -0.7579678, 3.88921],
                [2.449437, 3.153969, 3.837114, 4.520171, 5.204799, 5.898536, 0.316204, 1.023555, 1.738992],
            ),
        },
    ),
]  # fmt: skip


def main() -> None:
    wanted = sys.argv[1:]
    for task in TASKS:
        if wanted and not any(word in task.name for word in wanted):
            continue
        start = time.perf_counter()
        found = task.solve()
        seconds = time.perf_counter() - start
        print(f"{task.name}: error {found.error:.4g} in {seconds:.1f} s, {found.best.motion}")
        for name, published in sorted(task.published_errors().items(), key=lambda each: each[1]):
            print(f"    {name}: {published:.4g}")
    print_exact_tasks()


def print_exact_tasks() -> None:
    """Tasks that the classical methods meet exactly."""
    for name, found in {
        "three angles of a rocker (lecture notes ME 3751, Ohio State)": lecture_rocker(),
        "weaving machine, five angles, ground 180 mm": weaving_machine(),
        "five poses of Cabrera's linkage": five_poses(),
        "five poses of Morgan and Wampler's straight-line design": straight_line_poses(),
        "five poses of a moving part (task kinzel of G. Nishida's programs)": poses_of_a_part(),
        "five poses with four dyads (data set gdl_llm_reproduction of H.-J. Su)": motion_of_four_dyads(),
        "five poses of G. N. Sandor and A. G. Erdman (McCarthy and Soh, table 5.4)": textbook_five_poses(),
        "three poses (program motionsynthesis3pt of Dr. Jensen's course)": three_poses(),
        "three poses (Suh and Radcliffe's textbook)": textbook_poses(),
    }.items():
        worst = max((f"{float(each.errors().max()):.2g}" for each in found.good), key=float, default="none")
        print(f"{name}: {len(found)} linkages, {len(found.good)} without defects, largest error {worst}")
    ours, published = dyads_of_five_poses()
    print(
        f"the four dyads are {np.abs(ours - published).max():.1g} from the published ones, of nine decimals"
    )


def lecture_rocker() -> se.synthesis.SynthesizedLinkages:
    """Three pairs of crank and rocker angles and a ground link of 4.5 inches."""
    theta, phi = np.array([35.02, 67.50, 100.0]) * DEG, np.array([91.21, 101.79, 117.19]) * DEG
    return se.synthesis.function_generator(
        theta - theta[0], phi - phi[0], input_start=theta[0], output_start=phi[0], ground=4.5
    )


def weaving_machine() -> se.synthesis.SynthesizedLinkages:
    """The striking mechanism: the rocker at 70 to 100 degrees for the crank at 40 to 60."""
    theta, phi = np.array([40, 45, 50, 55, 60]) * DEG, np.array([70, 76, 83, 91, 100]) * DEG
    return se.synthesis.function_generator(theta - theta[0], phi - phi[0], ground=180)


def five_poses() -> se.synthesis.SynthesizedLinkages:
    """Those of the coupler of Cabrera's linkage at the crank angles of its task: it must come back."""
    values = dict(zip(NAMES, TASKS[1].published["Cabrera"][0], strict=True))
    pins, _ = FOUR_BAR.positions(values, np.array([30, 45, 60, 75, 90]) * DEG, (1,))
    c, s = FOUR_BAR.direction(pins, "coupler")
    return se.synthesis.motion(np.column_stack([*pins["P"], np.arctan2(s, c)]))


MORGAN_WAMPLER = [(0.50, 1.06), (0.22, 0.78), (-0.13, 0.43), (-0.34, 0.22), (-0.83, -0.27)]
"""Five points on a line, for pivots at (0, 0) and (1, 0): problem 7 of A. P. Morgan, C. W. Wampler, Solving a planar
four-bar design problem using continuation, ASME Journal of Mechanical Design 112 (1990) 544-550."""
TURNS = [0.0, 0.387116282208, 0.751699211109, 0.928413708131, 1.44734213756]
CIRCLE_POINTS = {0j: -0.0877960434509 - 0.851386907516j, 1 + 0j: 0.235837391307 - 1.41899202704j}
"""A solution by PHCpack (J. Verschelde, ACM TOMS 25 (1999) 251-276; its example fourbar.py): turns of the coupler, and
for each fixed pivot the moving pivot, from the first point."""


def straight_line_poses() -> se.synthesis.SynthesizedLinkages:
    """The published points with the published turns; the led point itself is a slider."""
    return se.synthesis.motion([(*P, turn) for P, turn in zip(MORGAN_WAMPLER, TURNS, strict=True)])


def poses_of_a_part() -> se.synthesis.SynthesizedLinkages:
    """Five poses of the program BurmesterTheoryThreePosition by G. Nishida, data/kinzel.xml."""
    poses = [(10, 9, 5), (9, 30, 35), (18, 32, 5), (22, 25, -45), (13, 22, -70)]
    return se.synthesis.motion([(x, y, angle * DEG) for x, y, angle in poses])


SU_POSES = [
    (1.288544523, -3.039043609, 1.279938950),
    (2.464658508, -2.256931326, -1.747753990),
    (1.305719413, 1.366112897, -2.491178890),
    (-0.012581529, -1.813866051, -1.260171540),
    (2.492716361, 0.298552581, 0.881624880),
]
SU_DYADS = {
    1.2 - 0.7j: 1.690653507 - 2.741876376j,
    2.146853338 - 0.975178386j: 0.958479706 - 2.489652218j,
    2.154370157 - 3.121502551j: -2.566974446 - 4.945028209j,
    3.981729532 - 0.801550036j: 0.699991946 - 1.190718025j,
}
"""Five poses and their dyads, for each fixed pivot the moving pivot in the first pose: ch5/report.md of the public data
set gdl_llm_reproduction of H.-J. Su, which reproduces J. M. McCarthy, G. S. Soh, Geometric Design of Linkages, 2nd ed.,
Springer 2011, section 5.3. The poses were made from the first dyad; the program of the data set found the others."""


def dyads_of_five_poses() -> tuple[np.ndarray, np.ndarray]:
    """Pivots of all dyads, ours and the published ones, in the order of these: rows of fixed and moving pivot."""
    cranks = five_pose_dyads(Displacements(np.array(SU_POSES)))
    nearest = [min(cranks, key=lambda crank: abs(crank.m - fixed)) for fixed in SU_DYADS]
    return np.array([(crank.m, crank.w) for crank in nearest]), np.array(list(SU_DYADS.items()))


SU_SLIDER_POSES = [
    (-1.512691961, -1.976868401, 0.5),
    (0.307550937, -0.215863600, -1.0),
    (1.867671484, -0.773925269, 1.4),
    (-0.733911613, -0.929764415, -0.3),
]
SU_SLIDER = -0.714740803 - 1.768844482j, 1 + 0.6j
"""Four poses of the same data set, and the one slider that leads through them: its pin in the first pose, and the
direction of its guide."""


def motion_of_four_dyads() -> se.synthesis.SynthesizedLinkages:
    return se.synthesis.motion(SU_POSES)


SANDOR_ERDMAN = [(0, 0, 0), (1.5, 0.8, 10), (1.6, 1.5, 20), (2.0, 3.0, 60), (2.3, 3.5, 90)]
"""Places and degrees: exercise 8 in chapter 5 of McCarthy and Soh, who took it from G. N. Sandor and A. G. Erdman. The
chapter asks for the pivots and does not print them."""


def textbook_five_poses() -> se.synthesis.SynthesizedLinkages:
    return se.synthesis.motion([(x, y, angle * DEG) for x, y, angle in SANDOR_ERDMAN])


def three_poses() -> se.synthesis.SynthesizedLinkages:
    """Turns of 5 and -2.3 degrees, shifts of -0.75 - 0.3i and 111.3 - 151.8i; pivots by the published rotations."""
    alpha, p = np.array([5, -2.3]) * DEG, np.array([-0.75 - 0.3j, 111.3 - 151.8j])
    fixed = []
    for beta in (np.array([60, 130]) * DEG, np.array([-5, -40]) * DEG):
        W, Z = np.linalg.solve(np.column_stack([np.exp(1j * beta) - 1, np.exp(1j * alpha) - 1]), p)
        fixed.append(((-W - Z).real, (-W - Z).imag))
    poses = [(0, 0, 0), *((z.real, z.imag, angle) for z, angle in zip(p, alpha, strict=True))]
    return se.synthesis.motion(poses, fixed_pivots=fixed)


TEXTBOOK_PIVOTS = {0j: 0.994 + 3.238j, 5 + 0j: 3.548 - 1.655j}
"""Of three positions in C. H. Suh, C. W. Radcliffe, Kinematics and Mechanisms Design, Wiley 1978: for each
chosen fixed pivot the moving pivot in the first pose."""


def textbook_poses() -> se.synthesis.SynthesizedLinkages:
    poses = [(1, 1, 0), (2, 0.5, 0), (3, 1.5, "45*deg")]
    return se.synthesis.motion(poses, fixed_pivots=[(m.real, m.imag) for m in TEXTBOOK_PIVOTS])


if __name__ == "__main__":
    main()
