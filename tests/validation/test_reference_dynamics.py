"""Forward dynamics against reference values that were found in closed form or by other programs.

The numbers are those of shared/reference/problems.json. Its values are closed forms in elliptic functions (pendulums,
N-four-bar), or integrations of the one minimal coordinate with 15 and more digits, confirmed by an index-1 DAE
integration to 1e-12. The tolerance is what the caller of `dynamics` asks for: with rtol = 1e-6 the values are right to
1e-5 of the largest one of their channel, with rtol = 1e-10 to 1e-8.

The course models of R. Serban, simEngine2D, Models/*.adm, were marched by a second implementation of the course's
Newmark method (beta = 0.3025, gamma = 0.6); the two differ by 1e-9, and so must ours, up to 1e-7.
"""

from __future__ import annotations

from math import pi, sqrt

import numpy as np
import pytest
from course import COURSE, PROBLEMS, problem

import simengine2d as se
from loading import quietly
from marking import slow_among
from mechanisms import slider_crank
from simengine2d import builders

LEVELS = {"default": (1e-6, 1e-5), "tight": (1e-10, 1e-8)}


def worst(results, table):
    """Largest error of all channels, each relative to its own largest value. "pin.fx on link1" names a body."""
    errors = {}
    for channel, values in table.items():
        name, _, body = channel.partition(" on ")
        if body:
            joint, quantity = name.split(".")
            found = getattr(results.reaction(joint, on=body), quantity)
        else:
            found = results[name]
        expected = np.array(values)
        errors[channel] = np.max(np.abs(found[-expected.size :] - expected)) / np.max(np.abs(expected))
    return max((error, channel) for channel, error in errors.items())


# One body ---------------------------------------------------------------------------------------------


def one_bar():
    """A bar of 0.5 m, pinned at its end, released from the horizontal."""
    model = se.Model("one-bar linkage")
    bar = model.bar("bar", (0, 0), (0.5, 0), mass=0.3)
    model.add(se.Revolute("O", model.ground, bar["start"]))
    return model


ONE_BAR = (
    [0.0, 0.5, 1.0, 2.0, 3.0],
    {
        "bar.phidd": [-29.43, 25.943794131806595, 5.660315931197573, 29.40909849804664, -15.791469410542076],
        "O.fx": [0.0, 2.7558425489667475, 1.249793529694003, 0.24934216179237723, -2.9982712850937077],
        "O.fy": [0.73575, 2.211624969773989, 7.1125521678825, 0.7451523358730192, 5.450997659448883],
        "bar.phi": [-2.649915792341393, -1.7643337759456632, -3.103901943375438, -1.004420540865147],
        "bar.phid": [-5.2714407035607875, 7.600071354966782, -1.48927834315059, -7.047629436786639],
        "bar.x": [-0.2203856110415103, -0.04808287403327874, -0.2498224473160605, 0.1341443205108909],
        "bar.y": [-0.11802619389720288, -0.24533250340038487, -0.009420446752367341, -0.21096279594912315],
    },
)


def point_pendulum():
    """IFToMM benchmark A01 (Gonzalez et al., Multibody System Dynamics 16, 2006): a point mass, so inertia = 0."""
    model = se.Model("IFToMM A01")
    mass = model.body("mass", mass=1, inertia=0, at=(-1, 0), angle="pi", points={"O": (-1, 0)})
    model.add(se.Revolute("O", model.ground, mass["O"]))
    return model


POINT_PENDULUM = (
    [0.0, 0.5, 1.0, 5.0, 10.0],
    {
        "mass.x": [-0.3910487915505464, 0.9862917511318753, -0.9423054350437573, -0.2750874625761169],
        "mass.y": [-0.9203699487851922, -0.16501085312554117, -0.3347543384140006, -0.961419205099125],
        "mass.xd": [3.9110480039555524, 0.2969055159163158, 0.8579042568859491, 4.175598100951729],
        "mass.yd": [-1.6617346075474144, 1.7746436411126556, -2.4149286543704886, -1.1947490545604753],
        "O.fx": [10.592138240493055, -4.7896984578762165, 9.283423700239265, 7.783480697406448],
        "O.fy": [24.92958919850841, 0.8013371579365128, 3.2979395463702694, 27.202940311880948],
    },
)


def rsda_pendulum(arm):
    """ME451: a bar of 20 kg with a torsion spring and damper at its pin and a force 30 sin(2 pi t) at its tip."""
    model = se.Model("RSDA pendulum", parameters={"arm": arm})
    points = {"O": ("-arm", 0), "tip": ("arm", 0)}
    bar = model.body("bar", mass=20, inertia="20*(2*arm)^2/12", at=(0, "-arm"), angle="3*pi/2", points=points)
    model.add(se.Revolute("O", model.ground, bar["O"]))
    model.add(se.Spring("spring", se.angle(model.ground, bar), stiffness=45, damping=10, free="3*pi/2"))
    model.add(se.PointForce("push", bar["tip"], fx="30*sin(2*pi*t)"))
    return model


RSDA_TIMES = [0.0, 0.5, 1.0, 2.0, 5.0, 10.0]
RSDA_HALF = {
    "bar.phi": [4.794919751663321, 4.7968967852398094, 4.641489259583509, 4.6633551786387315, 4.77325231588667],
    "bar.phid": [
        0.2983169343283536, -0.28573411944058197, -0.30972286864994997, -0.3226658106257833, -0.17240196187296075
    ],
    "bar.phidd": [
        -0.36605040928539573, -0.3193773435207122, 0.31955122578434064, 0.23124687879362293, -0.23327682237347858
    ],
    "O.fx": [-14.885631895769865, -13.005157566483849, 13.021759868586262, 9.442878450665248, -9.386111068524304],
    "O.fy": [198.54055785163513, 198.37579450830145, 199.1220054156412, 199.90614878225492, 196.8191264381042],
}  # fmt: skip
RSDA_FULL = {
    "bar.phi": [4.858391411454648, 4.722303034966324, 4.677853847571504, 4.747883002289701, 4.683118927360131],
    "bar.phid": [
        0.4487489205924243, -0.8397575888247736, -0.15051772471567892, -0.600008281064117, -0.4531335903487824
    ],
    "bar.phidd": [
        -1.4850604524825994, 0.2252376670163197, 0.3687639178150257, -0.09598549285087359, 0.4346419769916293
    ],
    "O.fx": [-29.971144586165778, 4.364707850227529, 7.386525799573954, -2.1740110885728066, 8.809299338201937],
    "O.fy": [195.86360275449903, 210.34782268106983, 196.39818593805072, 203.3275398081597, 200.05043845864444],
}  # fmt: skip


# Several bodies ---------------------------------------------------------------------------------------

DOUBLE_PENDULUM = (
    [0.0, 0.5, 1.0, 2.0],
    {
        "link1.phi": [-1.1226537008628952, -2.7785125649855344, -1.6535546336154674],
        "link1.phid": [-2.41430831264826, -3.4065175329719577, -0.9611454445459978],
        "link1.phidd": [13.22246202821763, 17.22434592774204, 49.89865373615927],
        "link2.phi": [-0.5288334394910299, -2.385187349886193, -1.1634342518829892],
        "link2.phid": [-5.949104936117637, -0.5160454721052089, 11.898955053045293],
        "link2.phidd": [-34.035387814169646, -19.832564877784165, -72.51880154072806],
        "pin1.fx": [-9.777704014093992, 18.738922100811873, 13.366886278974967],
        "pin1.fy": [30.328790413307832, 8.953429185064522, 65.44772005112232],
        "pin2.fx on link1": [14.473293258884048, -10.256342758202203, 11.535233618662506],
        "pin2.fy on link1": [-15.027543636000972, -5.133477055178991, -57.23980857710753],
    },
)


def four_bar():
    """MBDS/multibody-state-estimation, config/mechanisms/fourbars1.yaml; released at rest."""
    return builders.four_bar(1, 2, sqrt(13), 4, crank_angle=0, masses=(1, 2, 4))


# the multipliers of the crank's pin, for rows r_crank - r_coupler: the force on the coupler
FOUR_BAR = (
    [0.0, 0.5, 1.0, 2.0, 5.0],
    {
        "crank.phi": [-1.5935200229170798, -3.748644700339456, -0.02193809899373239, -3.6094238588296386],
        "crank.phid": [-8.931601460163765, -0.338350310963717, 0.6518713780233892, -1.7610712882799417],
        "crank.phidd": [-31.179907240163878, 10.082457273158749, -9.685786931216587, 11.517909806988582],
        "coupler.end.x": [0.5155132373610054, 0.8242232625891437, 0.9854575050130744, 0.7587455744224941],
        "coupler.end.y": [0.9264728819526337, 1.7071737211309388, 1.9780125242065587, 1.579325725958465],
        "B.fx on coupler": [14.711378784242804, -4.114078491959986, -2.4883285044175847, -1.1356085677192056],
        "B.fy on coupler": [
            184.96946382983566,
            2.044298406946004,
            -1.6210293145605337,
            -0.029737523738489532,
        ],
    },
)


SLIDER_CRANK = (
    [0.0, 0.5, 1.0, 2.0, 4.0],
    {
        "crank.phi": [-0.4186829761714649, -0.9206986783787448, -2.1054082242977716, -1.4131887717320875],
        "crank.phid": [-1.0879035929734149, -0.9590293439973674, -1.7669812917116876, 1.0890190866315532],
        "crank.phidd": [0.4457096362592436, 0.02000725668742317, -1.8588875661117015, -0.6386836529679906],
        "slider.x": [9.429911995275548, 7.506478353424496, 2.8765986560637, 5.143813089976396],
        "guide.fy": [76.16561696277921, 73.38512228813953, 49.566830128179745, 67.5859443958861],
    },
)


def andrews_squeezer():
    """Hairer & Wanner, Solving Ordinary Differential Equations II, section VI.9 (also IFToMM A03)."""
    model = se.Model("Andrews' squeezer", gravity=(0, 0))
    # mass, inertia, mass center and angle; points in body axes
    bodies = {
        "K1": (0.04325, 2.194e-6, 0.0009182485980307614, -5.674074562905483e-05, -0.06171389001427645,
               {"O": (-0.00092, 0), "F": (0.00608, 0)}),
        "K2": (0.00365, 4.41e-7, -0.0044914333599330725, 0.00027753625579428993, -0.06171389001427645,
               {"F": (0.0115, 0), "E": (-0.0165, 0)}),
        "K3": (0.02373, 5.255e-6, -0.018742186670315457, 0.02048510678907393, 0.45527981916307037,
               {"E": (-0.01043, -0.01626), "B": (-0.01043, 0.01874), "D": (0.00957, 0.00074)}),
        "K4": (0.00706, 5.667e-7, -0.030222939830158887, 0.01207118235666394, -0.8607629570851681,
               {"E": (0.01421, 0), "G": (-0.00579, 0)}),
        "K5": (0.0705, 1.169e-5, -0.05323682815570414, 0.016631847966616306, 0.48736497954384256,
               {"G": (0.01692, -0.00916), "A": (-0.02308, -0.00916)}),
        "K6": (0.00706, 5.667e-7, -0.028543268536783604, -0.010722254707252288, 1.0078790543839353,
               {"E": (0.01421, 0), "H": (-0.00579, 0)}),
        "K7": (0.05498, 1.912e-5, -0.059262402801791715, -0.010600698332712844, -0.34024888224507543,
               {"H": (0.02772, 0.00449), "A": (-0.01228, 0.00449)}),
    }  # fmt: skip
    K = {
        name: model.body(name, mass=mass, inertia=inertia, at=(x, y), angle=angle, points=points)
        for name, (mass, inertia, x, y, angle, points) in bodies.items()
    }
    model.ground.points = {
        "O": (0, 0),
        "A": (-0.06934, -0.00227),
        "B": (-0.03635, 0.03273),
        "C": (0.014, 0.072),
    }
    for joint, first, second in [
        ("O", "ground.O", "K1.O"), ("F", "K1.F", "K2.F"), ("E3", "K2.E", "K3.E"), ("E4", "K2.E", "K4.E"),
        ("E6", "K2.E", "K6.E"), ("B", "ground.B", "K3.B"), ("G", "K4.G", "K5.G"), ("A5", "ground.A", "K5.A"),
        ("H", "K6.H", "K7.H"), ("A7", "ground.A", "K7.A"),
    ]:  # fmt: skip
        model.add(se.Revolute(joint, first, second))
    model.add(se.Torque("motor", K["K1"], 0.033))
    model.add(se.Spring("spring", se.distance("ground.C", "K3.D"), stiffness=4530, free=0.07785))
    return model


# angles of the bodies from the published beta, Theta, gamma, Phi, delta, Omega, epsilon at t = 0.03
ANDREWS = {
    "": [15.810771195153707, -15.756371058411839, 0.0408222401196458, -0.5347301163420796, 0.524409965879954,
         0.5347301163420796, 1.048080741041938],
    "d": [1139.9203022591062, -1424.3792951775401, 11.032911910618594, 19.29337410503204, 0.5735699148295025,
          -19.29337410503204, 0.3231791492491309],
    "dd": [-24631.763122874636, 51850.31963646423, 324102.6007075786, 566749.4220009954, 16743.635418345446,
           -566749.4220009954, 9826.507801544163],
}  # fmt: skip


def andrews_angles(beta, theta, gamma, phi, delta, omega, epsilon, quarter=0.0):
    """Absolute angles of K1 ... K7."""
    return [beta, beta + theta, gamma, phi + delta - quarter, delta, omega + epsilon, epsilon - quarter]


ANDREWS_SQUEEZER = (
    [0.0, 0.03],
    {
        f"K{i + 1}.phi{order}": [value]
        for order, published in ANDREWS.items()
        for i, value in enumerate(andrews_angles(*published, quarter=pi / 2 if order == "" else 0.0))
    }
    | {
        "K1.F.x": [-0.006963039427046852],
        "K1.F.y": [-0.0007183884307191019],
        "F.fx on K1": [-281.29822173143276],
        "F.fy on K1": [-16.3919235201357],
    },
)

# IFToMM A02 with one window, in closed form; it passes singular positions, the first at t = 0.708 s
LADDER_TIMES = [0.0, 0.25, 0.5, 1.0, 2.0, 4.0, 10.0]
LADDER = {
    "post0.end.x": [
        0.2779776134928645, 0.7015126789104769, -0.2607126751836504, 0.07708547179286708, 0.15895550425711777,
        0.47838505776097057,
    ],
    "post0.end.y": [
        0.9605875526972082, 0.7126569731138861, -0.9654164391590732, 0.9970244881839518, 0.9872857477277617,
        0.8781501787912093,
    ],
    "post0.end.xd": [
        1.3337738830476673, 1.98589819011429, -6.6378094961217515, 1.031356872689423, 1.125395047766197,
        1.7272640755471536,
    ],
    "post0.end.yd": [
        -0.3859713567052336, -1.9548433705817587, 1.7925539703889306, -0.079739898127168, -0.18119145112531923,
        -0.9409521793715157,
    ],
}  # fmt: skip

PROBLEM_LIST = {
    "one bar": (one_bar, *ONE_BAR),
    "point pendulum": (point_pendulum, *POINT_PENDULUM),
    "RSDA pendulum of 4 m": (lambda: rsda_pendulum(2), RSDA_TIMES, RSDA_HALF),
    "RSDA pendulum of 2 m": (lambda: rsda_pendulum(1), RSDA_TIMES, RSDA_FULL),
    "double pendulum": (lambda: builders.chain(2), *DOUBLE_PENDULUM),
    "four-bar": (four_bar, *FOUR_BAR),
    "slider-crank": (slider_crank, *SLIDER_CRANK),
    "Andrews' squeezer": (andrews_squeezer, *ANDREWS_SQUEEZER),
    "N-four-bar, before its singularity": (
        lambda: builders.four_bar_ladder(1), LADDER_TIMES[:3], {c: v[:2] for c, v in LADDER.items()}
    ),
    "N-four-bar": (lambda: builders.four_bar_ladder(1), LADDER_TIMES, LADDER),
}  # fmt: skip


@pytest.mark.parametrize("level", slow_among(LEVELS, "tight"))
@pytest.mark.parametrize("name", slow_among(PROBLEM_LIST, "N-four-bar"))
def test_values(name, level):
    build, times, table = PROBLEM_LIST[name]
    rtol, tolerance = LEVELS[level]
    results = se.dynamics(build(), t_eval=times, rtol=rtol)
    error, channel = worst(results, table)
    assert error <= tolerance, channel


def test_initial_accelerations_of_andrews_squeezer():
    """Published with 20 digits: beta'' = 14222.4439..., Theta'' = -10666.8329..."""
    results = se.dynamics(andrews_squeezer(), t_eval=[0.0])
    assert results["K1.phidd"][0] == pytest.approx(14222.443919954114, rel=1e-11)
    assert results["K2.phidd"][0] == pytest.approx(14222.443919954114 - 10666.832939965585, rel=1e-10)


@pytest.mark.slow
def test_energy_of_the_four_bar():
    results = se.dynamics(four_bar(), t_end=5, rtol=1e-10)
    assert results.energy().total == pytest.approx(58.86, rel=1e-9)


# Course models: Newmark with the course's coefficients -----------------------------------------------

# the second implementation and the course's own program differ by 1e-9 of the largest value
ORACLE = 1e-7


def check_oracle(results, oracle, reactions):
    """q, qd, qdd and (joint, body, point, F, T) of every reaction at the last time."""
    for level in ("q", "qd", "qdd"):
        expected = np.array(oracle[level])
        found = getattr(results, level)[-1]
        np.testing.assert_allclose(found, expected, atol=ORACLE * max(1.0, np.abs(expected).max()), rtol=0)
    size = max(1.0, *(abs(part) for *_, F, T in reactions for part in (*F, T)))
    for joint, body, (x, y), F, T in reactions:
        found = results.reaction(joint, on=body, at=se.Frame(body, place=(x, y, 0)))
        expected = np.array([*F, T])
        np.testing.assert_allclose([part[-1] for part in found], expected, atol=ORACLE * size, rtol=0)


def test_course_pendulum():
    """pend1.adm at t = 4 s."""
    model = se.Model("pend1")
    pendulum = model.body("pend", mass=2, inertia=0.3, at=(2, 0), points={"O": (-2, 0)})
    model.add(se.AbsoluteX("x", pendulum["O"]))
    model.add(se.AbsoluteY("y", pendulum["O"]))
    results = se.dynamics(model, t_end=4, step=0.005, integrator="newmark")
    oracle = {
        "q": [1.3473559704347453, -1.4780500292391479, -0.8316219498461608],
        "qd": [-3.8630060660631473, -3.521570746838365, -2.613593093135414],
        "qdd": [-13.895347489810572, 5.786766503337895, -3.175851360974898],
    }
    reactions = [
        ("x", "pend", (-2, 0), (-27.790694979621144, 0), 0),
        ("y", "pend", (-2, 0), (0, 31.193533006675793), 0),
    ]
    check_oracle(results, oracle, reactions)


def test_course_rod():
    """rodDYN.adm at t = 4 s: a driven ladder."""
    model = se.Model("rodDYN")
    points = {"top": (0, 2), "foot": (0, -2)}
    rod = model.body("rod", mass=2, inertia=3, at=(1, 1.7320508075), angle=0.523598775598, points=points)
    model.add(se.AbsoluteX("wall", rod["top"]))
    model.add(se.AbsoluteY("floor", rod["foot"]))
    model.add(se.AbsoluteAngle("motor", rod, "t + pi/6"))
    results = se.dynamics(model, t_end=4, step=0.005, integrator="newmark")
    oracle = {
        "q": [-1.9644639940318507, -0.3753414660711353, 4.523598775598299],
        "qd": [-0.3753422715548625, 1.9644682094440131, 1.0000000000004738],
        "qdd": [1.9642841390000496, 0.37632519864633207, 8.661572921818356e-10],
    }
    reactions = [
        ("wall", "rod", (0, 2), (3.9285682780000992, 0), 0),
        ("floor", "rod", (0, -2), (0, 20.372650397292666), 0),
        ("motor", "rod", (0, 0), (0, 0), 38.54678359405348),
    ]
    check_oracle(results, oracle, reactions)


def piston_force(t, q, qd):
    """The gas force of project2.adm."""
    x, xd = q[0], qd[0]
    if xd > 0 and 1.5 <= x <= 5:
        return 62857 - 282857 / (6 - x), 0.0
    if xd > 0 and 5 < x <= 5.5:
        return -110000 * (1 - np.sin(2 * np.pi * (x - 5.25))), 0.0
    return 0.0, 0.0


FILES = [
    "pend1", "pend2", "pendDYN", "pendEQL", "doublePendDYN", "dpendVIS", "finalExam",
    "rodDYN", "sliderCrankDYN", "projectFinalDYN", "project2",
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.skipif(not (COURSE.is_dir() and PROBLEMS.is_file()), reason="the course files are not here")
@pytest.mark.parametrize("halved", [0, 1, 2])
@pytest.mark.parametrize("name", FILES)
def test_course_files(name, halved):
    """With the step of the course, 0.005 s (project2: 0.001 s), with half and a quarter of it."""
    model = quietly(COURSE / f"{name}.adm", laws={"pistonForce": piston_force})
    oracle = problem(name)["fixed_step_oracle"][halved]
    results = se.dynamics(model, t_end=oracle["t"], step=oracle["h"], integrator="newmark")
    joints, bodies = list(model.joints), list(model.bodies)
    reactions = [
        (joints[r["constraint"] - 1], bodies[r["body"] - 1], r["P"], r["F"], r["T"])
        for r in oracle["reactions"]
    ]
    check_oracle(results, oracle, reactions)
    assert results.statistics["halved steps"] == 0


@pytest.mark.slow
@pytest.mark.parametrize("windows", slow_among([1, 2, 10], 10))
@pytest.mark.parametrize("rtol", slow_among([1e-6, 1e-10], 1e-10))
def test_a_ladder_of_four_bars_passes_its_singular_poses(windows, rtol):
    """IFToMM A02: all links in line twice a turn. The posts must stay parallel and the energy must be kept."""
    results = se.dynamics(builders.four_bar_ladder(windows), t_end=10, step=0.1, rtol=rtol)
    posts = results.q[:, 2 : 3 * (windows + 1) : 3]
    kinetic, _, total = results.energy()
    assert np.abs(posts - posts[:, :1]).max() < 1e-10  # the other branch would be whole radians off
    assert np.ptp(total) < max(rtol, 1e-9) * np.ptp(kinetic)  # measured 1.5e-7 and 4e-10
