"""Every object that public calls return shows itself: a short repr, a view for notebooks, a plot where it has one.

The walk begins at the public calls and goes on over the fields, properties and methods of what they return.
"""

from __future__ import annotations

import importlib
import inspect
import pickle
import pkgutil
import re
from functools import cache
from html.parser import HTMLParser
from math import pi

import numpy as np
import pytest
from matplotlib.figure import Figure

import simengine2d as se
from simengine2d import builders
from simengine2d.answer import Answer, PlottedAnswer, Rows, shortened
from simengine2d.draw import answer_html
from simengine2d.methods import Formulation, Integrator

LINES, COLUMNS = 10, 80
OWN_VIEWS = {"Model", "Results", "Equations", "SymbolicSystem", "ShippedModels", "Explanation"}
"""These are looked at with a picture, a player, formulas or a list of their own."""
ONE_LINE = {
    *(
        "Frame",
        "Measure",
        "Row",
        "Event",
        "Crossing",
        "Stability",
        "Tension",
        "Apart",
        "KnownMotion",
        "CamDesign",
        "ReactionParts",
        "EnergyParts",
        "UnitSystem",
        "ShownUnit",
        "Equation",
        "Line",
        "Mistake",
        "FittedChannel",
    ),
    *("Bar", "LinkShape", "Plate", "Disk", "Block", "LegendEntry", "Letter", "Symbol", "Number"),
}
"""Small values, for which their repr is enough."""
PARTS = {"InputDirection", "Variation", "Family", "Rates", "Pieces", "MotionArrays"}
"""What answers are made of; documented for those who compute with it."""


# The walk ---------------------------------------------------------------------------------------------


@cache
def package_classes() -> dict[str, type]:
    found = {}
    for module in pkgutil.walk_packages(se.__path__, "simengine2d."):
        if ".cli" not in module.name and not module.name.endswith("__main__"):
            home = importlib.import_module(module.name)
            own = {k: v for k, v in vars(home).items() if inspect.isclass(v) and v.__module__ == module.name}
            found |= own
    return found


def named(annotation: object) -> list[type]:
    """The classes of this package in an annotation; class names are unique."""
    text = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", str(annotation))
    return [package_classes()[word] for word in re.findall(r"\b[A-Z]\w+", text) if word in package_classes()]


def returned(function) -> list[type]:
    return named(inspect.signature(function).return_annotation)


def public(home):
    for name in getattr(home, "__all__", dir(home)):
        value = getattr(home, name)
        if getattr(value, "__module__", "").startswith("simengine2d"):
            yield value


def members(cls: type):
    """The classes of the public fields, properties and methods."""
    for base in cls.__mro__:
        if not base.__module__.startswith("simengine2d"):
            continue
        for name, member in vars(base).items():
            function = member.fget if isinstance(member, property) else getattr(member, "func", member)
            if inspect.isfunction(function) and (name[0] != "_" or name in ("__getitem__", "__iter__")):
                yield from returned(function)
        for name, annotation in vars(base).get("__annotations__", {}).items():
            if name[0] != "_":
                yield from named(annotation)


@cache
def reached() -> frozenset[type]:
    seen: set[type] = set()
    ahead: list[type] = []
    for home in (se, se.lab, se.ivp, se.symbolic, se.synthesis, builders):
        for value in public(home):
            ahead += [value] if inspect.isclass(value) else returned(value) if callable(value) else []
    while ahead:
        cls = ahead.pop()
        if cls not in seen and not issubclass(cls, BaseException):
            seen.add(cls)
            engine = issubclass(cls, se.System | se.Element) or cls.__name__ == "ResolvedModel"
            if (issubclass(cls, Answer) and not engine) or cls.__name__ in OWN_VIEWS:
                ahead += members(cls)
    return frozenset(seen)


def test_what_public_calls_return_shows_itself():
    unseen = [
        cls.__name__
        for cls in reached()
        if not issubclass(cls, Answer | Integrator | Formulation)
        and cls.__name__ not in OWN_VIEWS | ONE_LINE | PARTS
    ]
    assert sorted(name for name in unseen if name != "Path") == []  # of loop_state; files are pathlib's


def test_no_dataclass_hides_the_repr_of_an_answer():
    answers = [cls for cls in package_classes().values() if issubclass(cls, Answer)]
    assert len(answers) > 60
    assert [cls.__name__ for cls in answers if cls.__repr__ is not Answer.__repr__] == []


# One of each ------------------------------------------------------------------------------------------


def pendulum() -> se.Model:
    m = se.Model("pendulum", parameters={"k": 25})
    bar = m.bar("bar", (0, 0), (2, 0), mass=10)
    m.add(se.Revolute("O", m.ground, bar["start"]))
    m.add(se.Spring("spring", "angle(ground, bar)", stiffness="k"))
    return m


def analyses():
    free, driven = pendulum(), builders.four_bar(1, 2, 3, 3, speed=2)
    yield from (free.bodies["bar"], free.joints["O"], se.System(free), free.check())
    yield se.assemble(driven)
    modes = se.assembly_modes(driven, ranges=True)
    yield from (modes, modes[1], modes[1].range)
    diagnosis = se.diagnose(se.load("parallelogram"))
    yield from (diagnosis, diagnosis.dependent[0], se.diagnose(free))
    checkup = se.doctor(free)
    yield from (checkup, checkup.findings[0])
    yield se.equilibrium(free)
    yield se.equilibrium(free, all=True)
    yield se.equilibrium_path(free, "k", 60, start={"bar.phi": 3.57}, points=12)
    yield se.preload(free, "spring")
    yield se.modes(free)
    linear = se.linearize(free, inputs="bar.phi")
    yield from (linear, linear.descriptor())
    period = 2 * pi / se.modes(builders.chain(1)).omega[0]
    yield se.Floquet(np.array([1.0, 0.5 + 0.1j]), period)
    formulated = se.formulate(free, "mixed")
    yield from (formulated, formulated.at())
    yield se.dynamics(free, t_end=0.01).in_coordinates("relative")
    simulator = se.Simulator(builders.chain(2))
    simulator.advance_to(0.01)
    yield simulator


def motions():
    results = se.dynamics(pendulum(), t_end=0.2, history=True)
    yield from (results.history, results.in_units(length="mm"))
    yield from (results.energy(), results.reaction("O"), results.reaction("spring"), results.verdict)
    cam = se.cam_profile("0.01*(1 - cos(theta))", 0.03, roller_radius=0.01)
    yield from (cam, cam.curve)
    x = np.linspace(0, 1, 300)
    yield from (
        se.Table(x.tolist(), np.sin(6 * x).tolist()),
        se.Table(of="s", points=(0, 1, 3), values=(0, 2, 3)),
    )
    solution = se.ivp.solve(lambda t, y: [y[1], -y[0]], (0, 10), [1, 0], dense_output=True)
    yield from (solution, solution.sol, se.ivp.newmark(1, 0.1, 4, 0, (0, 5), 1, 0, 0.01))


def linkages():
    model = builders.four_bar(1, 2, 2.5, 3, speed="2*pi")
    kind, found = se.grashof(model), se.circuits(model)
    yield from (kind, kind.lengths, se.grashof([1, 3, 0.2]).lengths, found, found[0], found[0].branches[0])
    yield found[0].toggles("rocker")[0]
    summary = se.linkage_summary(model)
    yield from (summary, summary.transmission[0])
    results = se.inverse_dynamics(model, t_end=1, step=0.02)
    centers, polygon = se.instant_centers(results), se.acceleration_polygon(results, 0.1)
    yield from (
        centers,
        centers["crank", "rocker"],
        se.centrodes(results, "coupler"),
        polygon,
        polygon.points["B"],
    )
    yield from (se.transmission_angle(results), se.mechanical_advantage(results, "motor", "rocker"))
    balanced = se.balance(model, {"crank": 0.5}, t_end=1, step=0.02)
    yield from (se.shaking(results), balanced, balanced.counterweights[0])
    motor = se.Motor([(0, 50), (40, 50)], [(0, 90), (40, 80)], inertia=0.1)
    yield from (se.flywheel_for(results, fluctuation=0.05), motor, se.motor_sizing(results, motor))


def studies():
    comparison = se.lab.compare(
        builders.chain(1), ["relative"], ["projection", "ggl"], ["dop853", "heun"], t_end=0.02
    )
    yield from (comparison, comparison.trials[0], *comparison.trials[-1:], se.lab.order("forward_euler"))
    work = se.check(pendulum(), M=np.diag([10, 10, 1.0]))
    yield from (work, se.lab.MarkedWork("anna", {"M": 0.0}, {"M": 1.0}, work))
    yield se.lab.ClassMarks("pendulum", [se.lab.MarkedWork("anna", {"M": 0.0}, {"M": 1.0}, work)])
    yield se.lab.largest_step(pendulum(), "rk4")
    yield se.lab.work_precision(
        builders.chain(1), "relative", integrators=["heun"], t_end=0.02, steps=[0.01, 0.005]
    )
    yield se.sweep(se.load("four_bar"), {"rocker": [1, 3, 4]}, outputs=["max(rocker.phi)"], t_end=1)
    swing = se.kinematics(builders.four_bar(1, 2, 3, 3, speed=2), t_end=1, step=0.1)
    experiment = se.Experiment({"t": swing.t, "rocker.phi": swing["rocker.phi"]})
    yield from (experiment, se.fit(builders.four_bar(1, 2, 3, 3, speed=2), experiment, ["rocker", "coupler"]))
    yield from (se.LatinHypercube(3), se.Sobol(4, seed=2), se.MonteCarlo(5))
    yield se.sensitivity(
        se.load("four_bar"), ["rocker", "coupler"], outputs=["max(rocker.phi)", "coupler.y"], t_end=1
    )


def syntheses():
    poses = [(0, 0, 0), (1, 0.5, 0.4), (1.5, 1.5, 0.9)]
    found = se.synthesis.motion(poses, fixed_pivots=[(0, -2), (2, -1)])
    yield from (found, found[0], found.target)
    path = [(0, 0), (0.5, 0.1), (1, 0)]
    searched = se.synthesize("slider-crank", path, starts=1)
    yield from (searched, se.synthesis.survey_four_bars([[1, 2.5, 2.4, 3]]))
    model = builders.four_bar(1, 2.5, 2.4, 3, speed=2)
    limits = {"rocker": (2.3, 2.5)}
    yield se.synthesize(model, path, ["rocker"], limits, output="coupler", starts=1).best
    yield se.synthesis.function_generator([0, 0.5, 1], [0.2, 0.5, 1.1], input_start=0.7, output_start=0.3)


def symbols():
    link = se.symbolic.SymbolicSystem(
        q="x y theta", C=["x - L/2*cos(theta)", "y - L/2*sin(theta)"],
        M=["m", "m", "m*L**2/12"], Q=["0", "-m*g", "0"], parameters={"L": 0.5, "m": 0.3, "g": 9.81},
    )  # fmt: skip
    state = link.initial(theta=-1.5)
    rest = se.equilibrium(state)
    yield from (state, rest, rest.linearize(), link.numeric, se.dynamics(state, t_end=0.1))


@pytest.fixture(scope="module")
def answers() -> list[Answer]:
    return [*analyses(), *motions(), *linkages(), *studies(), *syntheses(), *symbols()]


def test_there_is_one_of_each(answers):
    made = {type(answer) for answer in answers}
    wanted = {cls for cls in reached() if issubclass(cls, Answer) and not issubclass(cls, se.Element)}
    assert wanted - made == set()


def test_reprs_are_short(answers):
    for answer in [*answers, builders.chain(50), se.dynamics(builders.chain(2), t_end=0.01)]:
        lines = repr(answer).splitlines()
        assert 0 < len(lines) <= LINES, type(answer)
        assert max(map(len, lines)) <= COLUMNS, repr(answer)
        assert " object at 0x" not in repr(answer)


class Reader(HTMLParser):
    """Counts what a page holds, and holds that every element is closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_views_are_pages_in_the_colors_of_the_theme(answers):
    for answer in answers:
        text = answer._repr_html_()
        reader = Reader(re.sub(r"<\?xml.*?\?>|<!DOCTYPE.*?>", "", text, flags=re.DOTALL))
        assert reader.open == [], type(answer)
        assert ("svg" in reader.tags) == answer._has_picture
        # every color in use has one for dark pages
        sheet = text[text.index("<style>") : text.index("</style>")]
        picture = text[text.index("</style>") :]
        assert "<text" not in picture, type(answer)  # where pictures are taken out, words would be left
        assert "fill: currentColor" in sheet  # black letters carry no color of their own
        fixed = set(re.findall(r"(?:fill|stroke): (#[0-9a-f]{6})", picture))
        assert fixed == set(), (type(answer), fixed)
        assert set(re.findall(r"var\((--[0-9a-f]{6}),", picture)) <= set(
            re.findall(r"(--[0-9a-f]{6}):", sheet)
        )


def test_views_escape_what_users_write():
    m = se.Model("<b>bold</b>")
    m.body("b", mass=1, inertia=1)
    assert "<b>bold" not in se.diagnose(m)._repr_html_()


def test_plots_take_and_return_axes(answers):
    plotted = [answer for answer in answers if isinstance(answer, PlottedAnswer)]
    assert len(plotted) > 15
    for answer in plotted:
        ax = Figure().add_subplot()
        assert answer.plot(ax) is ax, type(answer)
        assert ax.lines or ax.collections or ax.patches, type(answer)


def test_plots_of_one_mode_and_one_channel(answers):
    modes = next(answer for answer in answers if isinstance(answer, se.Modes))
    assert "mode 0" in modes.plot(Figure().add_subplot(), mode=0).get_title()
    with pytest.raises(se.ModelError, match="there is no mode 7"):
        modes.plot(mode=7)
    path = next(answer for answer in answers if isinstance(answer, se.EquilibriumPath))
    assert path.plot(Figure().add_subplot(), channel="bar.x").get_ylabel() == "bar.x"
    assert path.plot(Figure().add_subplot()).get_ylabel() == "bar.phi"


def test_energy_and_reactions_are_still_tuples():
    results = se.dynamics(pendulum(), t_end=0.1)
    kinetic, potential, total = energy = results.energy()
    np.testing.assert_array_equal(kinetic + potential, total)
    again = pickle.loads(pickle.dumps(energy))
    np.testing.assert_array_equal(again.t, results.t)
    np.testing.assert_array_equal(again.total, total)
    fx, fy, torque = reaction = results.reaction("O")
    assert (reaction.fx is fx, reaction.fy is fy, reaction.torque is torque) == (True, True, True)
    assert reaction.title == "O on bar"


def test_long_texts_are_cut_with_a_hint():
    text = shortened("\n".join(f"line {i} " + "word " * 30 for i in range(40)))
    lines = text.splitlines()
    assert len(lines) == LINES
    assert lines[-1].startswith("... and ")
    assert "print() shows all" in lines[-1]


def test_long_tables_are_cut():
    class Long(Answer):
        def _parts(self):
            return "many", Rows(["n"], [[str(i)] for i in range(1000)])

    text = answer_html.html_of(Long())
    assert text.count("<tr>") == answer_html.MOST_ROWS + 1
    assert "and 940 more" in text


def test_wide_tables_continue_below_with_their_first_columns():
    heads = ["name", *(f"number {i}" for i in range(10))]
    lines = Rows(heads, [["crank", *"0123456789"], ["long name", *"abcdefghij"]]).lines()
    assert max(map(len, lines)) <= COLUMNS
    first, second = lines[:3], lines[4:]
    assert lines[3] == "" and len(second) == 3
    assert [line[:9].strip() for line in second] == ["name", "crank", "long name"]
    assert " ".join(first[1].split()[1:] + second[1].split()[1:]) == "0 1 2 3 4 5 6 7 8 9"


def test_studies_print_within_a_terminal(answers):
    studies = se.lab.Comparison, se.SweepTable, se.Fit, se.lab.Order
    printed = [str(answer) for answer in answers if isinstance(answer, studies)]
    assert len(printed) >= len(studies)
    assert max(len(line) for text in printed for line in text.splitlines()) <= COLUMNS
