"""Kinematics against reference values that were found by other programs or in closed form.

Sources: the four-bar of MBDS/multibody-state-estimation, config/mechanisms/fourbars1.yaml (after Garcia de
Jalon and Bayo), evaluated in closed form with 30 digits; the course models of R. Serban, simEngine2D,
Models/*.adm, in closed form (slider-crank) or by an independent Newton iteration in double precision, good to
1e-12 of the largest value.
"""

from __future__ import annotations

import numpy as np
import pytest
from course import COURSE, PROBLEMS, problem

import simengine2d as se
from loading import quietly
from simengine2d import builders

# closed form: our error is the rounding of a Newton iteration, amplified by speeds of order 10
CLOSED_FORM = 1e-10
# the reference values themselves are good to 1e-12, the drawn poses of the course files to nine digits
COURSE_FILES = 1e-8


def close(found, expected, tolerance, is_angle=False):
    """Equal relative to the largest value; angles but for whole turns."""
    difference = np.asarray(found) - np.asarray(expected)
    if is_angle:
        difference = (difference + np.pi) % (2 * np.pi) - np.pi
    return np.max(np.abs(difference)) <= tolerance * max(1.0, np.max(np.abs(expected)))


# Four-bar and slider-crank in closed form -------------------------------------------------------------

FOUR_BAR_TIMES = [0.0, 0.5, 1.0, 2.0]
FOUR_BAR = {
    "coupler.x": [1.0, 1.0195207190942273, 0.35603397687963684, -0.07566728268686158],
    "coupler.xd": [0.6666666666666666, -0.7878906719380137, -1.5099536775616278, 0.7317968436367551],
    "coupler.xdd": [-1.3333333333333333, -3.3689552300129857, 0.7244305717528432, 1.5919298151240782],
    "coupler.y": [1.0, 1.7191666680746371, 1.5447002843700568, 0.05925102775768215],
    "coupler.yd": [2.0, 0.5919101008636067, -1.207373500923554, -0.7535654610157867],
    "coupler.ydd": [-0.4444444444444444, -3.891310957262342, -2.8659832763090414, 2.626786039390211],
    "coupler.phi": [1.5707963267948966, 1.0710323296938393, 0.6885301221250358, 0.9545496352859403],
    "coupler.phid": [-0.6666666666666666, -1.0197740683267826, -0.4857409317964561, 0.9580353798879981],
    "coupler.phidd": [-2.6666666666666665, 0.8082391545763634, 1.1928891102208306, 0.6030972208114095],
    "rocker.x": [2.5, 2.7493695661601576, 2.564107395153208, 2.2511545277449443],
    "rocker.xd": [0.6666666666666666, 0.05358031286988289, -0.6006562507359461, -0.02500565167117308],
    "rocker.xdd": [0.6666666666666666, -2.288350618276706, -0.10786310134144159, 0.2846425733968543],
    "rocker.y": [1.0, 1.298431175670689, 1.090051570957216, 0.43765227541164625],
    "rocker.yd": [1.0, 0.05160779499546702, -0.7912266643764115, -0.09992184015217481],
    "rocker.ydd": [-0.4444444444444444, -2.208368987646549, -1.047388422657678, 1.1131810487743548],
    "rocker.phi": [2.5535900500422257, 2.3374443980734445, 2.492264001368067, 2.896376721358628],
    "rocker.phid": [-0.6666666666666666, -0.04126542390065968, 0.5510347094940533, 0.05713588864048132],
    "rocker.phidd": [0.0, 1.7640366919183472, 0.4989272718651882, -0.6373403405770228],
}

SLIDER_CRANK_TIMES = [0.5, 1.0, 1.3, 2.0, 5.0]
SLIDER_CRANK = {
    "rod.x": [
        6.834562514855723,
        4.644695951221615,
        1.7729954162899477,
        -0.024400757160635344,
        6.953110438797396,
    ],
    "rod.xd": [
        -1.313671033281598,
        -8.196317564460225,
        -9.780096817450994,
        9.053112082180121,
        7.0500846256327065,
    ],
    "rod.xdd": [
        -7.724839853680668,
        -15.023772649311747,
        7.2445700522211816,
        46.349914271786695,
        -525.2689139420874,
    ],
    "rod.y": [
        0.4948079185090459,
        1.682941969615793,
        1.985807302188237,
        -1.5136049906158564,
        -0.26470350019554606,
    ],
    "rod.yd": [
        1.9378248434212895,
        2.161209223472559,
        -0.6183921603423839,
        -5.2291489669088955,
        19.82405623726947,
    ],
    "rod.ydd": [
        3.3808417683335334,
        -4.570558654990613,
        -13.899743639978931,
        21.603105366399255,
        30.4351612670085,
    ],
    "rod.phi": [
        -0.16569309471857402,
        -0.5955699377597475,
        -0.7233983618524491,
        0.5288433029805565,
        0.08834939210716863,
    ],
    "rod.phid": [
        -0.6549110960874448,
        -0.8702318395038905,
        0.27500208772828466,
        2.018841019745459,
        -6.633892715527198,
    ],
    "rod.phidd": [
        -1.2143207052584843,
        1.3271908606848024,
        6.11450020802256,
        -5.958703269825814,
        -6.286501938637267,
    ],
    "slider.x": [
        9.793475342868868,
        7.1281826789706715,
        4.021677109766345,
        2.5657729691331768,
        9.941409630140898,
    ],
    "slider.xd": [
        -1.6377262295451043,
        -9.660867250457276,
        -9.233995663523157,
        5.997384239433389,
        8.806099247354492,
    ],
    "slider.xdd": [
        -9.594798346482573,
        -14.670940526270085,
        19.216730079414916,
        44.812216845838805,
        -655.1155171395675,
    ],
}


def test_four_bar():
    model = builders.four_bar(1, 2, 13**0.5, 4, crank_angle=0, masses=(1, 2, 4), speed=2)
    results = se.kinematics(model, t_eval=FOUR_BAR_TIMES)
    wrong = [c for c, v in FOUR_BAR.items() if not close(results[c], v, CLOSED_FORM, c.endswith(".phi"))]
    assert wrong == []


def test_slider_crank():
    model = builders.slider_crank(4, 6, crank_angle=0, driver="t^2")
    results = se.kinematics(model, t_eval=[0.0, *SLIDER_CRANK_TIMES])
    wrong = [
        c for c, v in SLIDER_CRANK.items() if not close(results[c][1:], v, CLOSED_FORM, c.endswith(".phi"))
    ]
    assert wrong == []


# Course models built here -----------------------------------------------------------------------------


def body(model, name, at, angle=0.0, **points):
    return model.body(name, mass=1, inertia=1, at=at, angle=angle, points=points)


def pinned(model, frame, name, x, y):
    model.add(se.AbsoluteX(f"{name}x", frame, x))
    model.add(se.AbsoluteY(f"{name}y", frame, y))


def double_pendulum():
    """dpendKIN.adm and project1.adm: the drawn pose is half a meter away from a closed one."""
    model = se.Model()
    first = body(model, "pend1", (1, 0), P=(-1, 0), Q=(1, 0))
    second = body(model, "pend2", (5, 0), P=(-3, 0), Q=(3, 0))
    pinned(model, first["P"], "O", 0.2, 0.5)
    model.add(se.Revolute("A", first["Q"], second["P"]))
    model.add(se.AbsoluteY("slide", second["Q"], 0))
    model.add(se.AbsoluteAngle("motor", first, "sin(10*t)"))
    return model


def salami_slicer():
    """projectFinalKIN.adm: crank, knife arm and rocker arm, drawn roughly."""
    model = se.Model()
    crank = body(model, "crank", (0.02, 0), P=(-0.02, 0), Q=(0.02, 0))
    knife = body(model, "knife_arm", (0.04, 0.28), 1.5707963268, P=(-0.28, 0))
    rocker = body(model, "rocker_arm", (0.15, 0.16), 5.236, P=(-0.14, -0.07), Q=(0.26, -0.07))
    pinned(model, crank["P"], "O", 0, 0)
    model.add(se.Revolute("A", crank["Q"], knife["P"]))
    model.add(se.Revolute("B", knife, rocker["P"]))
    pinned(model, rocker["Q"], "C", 0.26, -0.04)
    model.add(se.AbsoluteAngle("motor", crank, "2*pi*t"))
    return model


def shuriken_catapult():
    """shurikenCatapult.adm: a shaper with a collar on the long rod; its accelerations need a right gamma."""
    model = se.Model()
    crank = body(model, "Crank", (97, -46.225), -0.444, P=(-107.5, 0), Q=(107.5, 0))
    collar = body(model, "Collar", (194, -92.5), 1.126, G=(3, 0))
    long = body(model, "Long Rod", (178, -126.2), 1.126, G=(2, 0), P=(-414, 0), Q=(414, 0))
    short = body(model, "Short Rod", (106.6, 373.7), -0.469, P=(279.5, 0), Q=(-279.5, 0))
    cutter = body(model, "Cutter", (-143, 500))
    pinned(model, crank["P"], "O", 0, 0)
    pinned(model, long["P"], "L", 0, -500)
    model.add(se.Revolute("A", crank["Q"], collar))
    model.add(se.Translational("sleeve", collar["G"], long["G"]))
    model.add(se.Revolute("B", long["Q"], short["P"]))
    model.add(se.Revolute("C", short["Q"], cutter))
    model.add(se.AbsoluteY("height", cutter, 500))
    model.add(se.AbsoluteAngle("upright", cutter, 0))
    model.add(se.AbsoluteAngle("motor", crank, "15*t"))
    return model


# q, qd, qdd at t = 5 s, a row (x, y, phi) for each body
COURSE_VALUES = {
    double_pendulum: (
        [
            [1.1657767248228443, 0.24062514040397048, -0.26237485370392877],
            [5.131538801611187, -0.009374859596029517, 0.0031249582847333577],
        ],
        [
            [2.502879281550801, 9.319417305624206, 9.649660284921133],
            [5.034881448218288, 9.319417305624206, -3.106487603187266],
        ],
        [
            [-83.12386696859008, 49.49148748973802, 26.23748537039287],
            [-195.0440116442668, 49.49148748973802, -16.467086272867284],
        ],
    ),
    salami_slicer: (
        [
            [0.02, 0.0, 31.41592653589793],
            [0.01894679688198922, 0.2792073828509407, 1.6460573670454182],
            [0.15917670997220762, 0.20966910939876338, 5.359185427101733],
        ],
        [
            [0.0, 0.12566370614359174, 6.283185307179586],
            [0.36973056403442006, 0.2792063766042157, -1.3242148551344224],
            [0.2891859825281108, 0.1167812960867167, -1.1582769819803074],
        ],
        [
            [-0.7895683520871487, 0.0, 0.0],
            [0.4400893546095549, -0.340129796376275, -7.099770428161501],
            [0.22653536613036257, -0.2981000047012509, -0.36556496383186027],
        ],
    ),
    shuriken_catapult: (
        [
            [99.08826149541055, -41.68652580651377, 75.0],
            [198.1765229908211, -83.37305161302754, 1.1268022897632783],
            [177.83356327501576, -126.1401014110888, 1.1268022897632783],
            [106.24995629906378, 373.8598985889112, -0.46822861640153335],
            [-143.16721395190393, 500.0, 0.0],
        ],
        [
            [625.2978870977065, 1486.323922431158, 15.0],
            [1250.595774195413, 2972.647844862316, 0.3198331676932855],
            [-119.57279563918223, 56.87707186443274, 0.3198331676932862],
            [-267.91057007162976, 56.877071864432736, 0.22803992125803557],
            [-296.67554886489506, 0.0, 0.0],
        ],
        [
            [-22294.858836467378, 9379.468306465575, 0.0],
            [-44589.717672934756, 18758.93661293115, 100.27677745755938],
            [-37507.65702516965, 17794.333303014413, 100.27677745755979],
            [-83998.32263720465, 17794.33330301441, 71.31735847061792],
            [-92981.33122407002, 0.0, 0.0],
        ],
    ),
}


def check_state(results, q, qd, qdd, tolerance):
    q, qd, qdd = np.ravel(q), np.ravel(qd), np.ravel(qdd)
    angle = np.arange(q.size) % 3 == 2
    assert close(results.q[-1][~angle], q[~angle], tolerance)
    assert close(results.q[-1][angle], q[angle], tolerance, is_angle=True)
    assert close(results.qd[-1], qd, tolerance)
    assert close(results.qdd[-1], qdd, tolerance)


@pytest.mark.parametrize("build", COURSE_VALUES, ids=lambda build: build.__name__)
def test_course_models(build):
    results = se.kinematics(build(), t_end=5, step=0.05)
    check_state(results, *COURSE_VALUES[build], COURSE_FILES)


def test_pendulum_on_a_sine():
    """pendKIN.adm in closed form: phi = sin t."""
    model = se.Model()
    pendulum = body(model, "pend", (2, 0), O=(-2, 0))
    pinned(model, pendulum["O"], "O", 0, 0)
    model.add(se.AbsoluteAngle("motor", pendulum, "sin(t)"))
    results = se.kinematics(model, t_end=5)
    s, c = np.sin(results.t), np.cos(results.t)
    np.testing.assert_allclose(results["pend.x"], 2 * np.cos(s), atol=1e-14)
    np.testing.assert_allclose(results["pend.ydd"], -2 * np.sin(s) * c**2 - 2 * np.cos(s) * s, atol=1e-13)


def test_rack_and_pinion():
    """rack_pinion.adm (Haug, example 3.4.2) without its mistyped angle: x = 1 - 0.2 sin 10 t."""
    model = se.Model()
    rack, pinion = body(model, "rack", (1, 0.2)), body(model, "pinion", (0, 0))
    pinned(model, pinion, "O", 0, 0)
    model.add(se.AbsoluteY("height", rack, 0.2))
    model.add(se.AbsoluteAngle("level", rack, 0))
    model.add(se.RackPinion("mesh", rack, pinion, radius=-0.2))
    model.add(se.AbsoluteAngle("motor", pinion, "sin(10*t)"))
    results = se.kinematics(model, t_end=5, step=0.05)
    np.testing.assert_allclose(results["rack.x"], 1 - 0.2 * np.sin(10 * results.t), atol=1e-13)
    np.testing.assert_allclose(results["rack.xdd"], 20 * np.sin(10 * results.t), atol=1e-11)


# Course files as they are, where they lie beside the repository ---------------------------------------

FILES = [
    "pendKIN",
    "dpendKIN",
    "project1",
    "simplePend",
    "sliderCrankKIN",
    "projectFinalKIN",
    "rack_pinion",
    "shurikenCatapult",
]


@pytest.mark.skipif(not (COURSE.is_dir() and PROBLEMS.is_file()), reason="the course files are not here")
@pytest.mark.parametrize("name", FILES)
def test_course_files(name):
    expected = {entry["name"]: entry["value"] for entry in problem(name)["expected"]}
    results = se.kinematics(quietly(COURSE / f"{name}.adm"), t_end=5, step=0.05)
    levels = [
        [expected[f"{level}[{i + 1}](5)"] for i in range(results.q.shape[1])] for level in ("q", "qd", "qdd")
    ]
    check_state(results, *levels, COURSE_FILES)
