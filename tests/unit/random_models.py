"""Random models for the file tests: every registered element type, every kind of field, unkind names."""

from __future__ import annotations

from typing import Any, Literal, get_args, get_origin

from hypothesis import strategies as st

from simengine2d.errors import ModelError
from simengine2d.expressions.table import Table
from simengine2d.model.body import Body
from simengine2d.model.curves.curve import Curve
from simengine2d.model.elements import Element, Flag, Kind
from simengine2d.model.frame import Frame, quoted
from simengine2d.model.measure import KINDS, Measure, Term
from simengine2d.model.model import Model
from simengine2d.model.names import check_name
from simengine2d.model.registry import element_class, element_names
from simengine2d.model.shape import Bar, Block, Disk, LinkShape, Plate

PARAMETERS = ("L", "rho", "omega")
EXPRESSIONS = (
    "L/2",
    "-rho",
    "2*pi",
    "30*deg",
    "1e5",
    "0x10",
    "yes",
    "omega^2 + 1",
    "12:30",
    "",
    "null",
    "a, b",
    "#",
    "é",
)


def _is_name(text: str) -> bool:
    try:
        check_name(text, "x")
    except ModelError:
        return False
    return text.lower() != "ground"


NAMES = st.one_of(
    st.sampled_from(
        [
            "yes",
            "no",
            "1",
            "1e5",
            "null",
            "~",
            "e",
            "pi",
            "if",
            "Long Rod",
            "a: b",
            "- x",
            "# y",
            "é",
            "{",
            "*a",
        ]
    ),
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12),
).filter(_is_name)
NUMBERS = st.one_of(
    st.integers(-1000, 10**20), st.floats(allow_nan=False, allow_infinity=False), st.sampled_from(EXPRESSIONS)
)
PAIRS = st.tuples(NUMBERS, NUMBERS)
PLACES = st.one_of(PAIRS, st.tuples(NUMBERS, NUMBERS, NUMBERS))
PLAIN = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-(10**20), 10**20),
        st.floats(allow_nan=False, allow_infinity=False),
        NAMES,
    ),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(NAMES, inner, max_size=3)),
    max_leaves=8,
)
LOOKS = st.dictionaries(NAMES, PLAIN, max_size=3)


@st.composite
def tables(draw: Any) -> Table:
    times = sorted(draw(st.sets(st.floats(-1e6, 1e6), min_size=2, max_size=40)))
    values = draw(st.lists(st.floats(-1e6, 1e6), min_size=len(times), max_size=len(times)))
    periodic = draw(st.booleans())
    return Table(tuple(times), (*values[:-1], values[0]) if periodic else tuple(values), periodic)


@st.composite
def bodies(draw: Any, name: str) -> Body:
    maybe = lambda strategy: draw(st.one_of(st.none(), strategy))
    corners = st.one_of(
        st.lists(PAIRS, min_size=3, max_size=5), st.dictionaries(NAMES, PAIRS, min_size=3, max_size=5)
    )
    shape = maybe(
        st.one_of(
            st.builds(Bar, PAIRS, PAIRS),
            st.builds(LinkShape, st.dictionaries(NAMES, PAIRS, min_size=2, max_size=4)),
            st.builds(Plate, corners),
            st.builds(Disk, NUMBERS),
            st.builds(Block, NUMBERS, NUMBERS),
        )
    )
    numbers = {field: maybe(NUMBERS) for field in ("density", "inertia", "angle", "angular_velocity")}
    pairs = {field: maybe(PAIRS) for field in ("position", "velocity")}
    points = draw(st.dictionaries(NAMES, PLACES, max_size=3))
    return Body(name, draw(NUMBERS), **numbers, **pairs, points=points, shape=shape, look=draw(LOOKS))


@st.composite
def frames(draw: Any, model: Model) -> Frame:
    body = draw(st.sampled_from([model.ground, *model.bodies.values()]))
    places = st.tuples(NUMBERS, NUMBERS, st.one_of(st.just(0.0), NUMBERS))
    choices: list[Any] = [st.just(Frame(body.name)), st.builds(lambda p: Frame(body.name, place=p), places)]
    if body.point_names:
        choices.append(st.builds(lambda p: Frame(body.name, p), st.sampled_from(body.point_names)))
    return draw(st.one_of(choices))


@st.composite
def measures(draw: Any, model: Model) -> Measure | str:
    """A Measure, or its text; the places in it are numbers, for text is compared after parsing."""
    term = st.builds(Term, st.floats(-1e3, 1e3), st.sampled_from(sorted(KINDS)), frames(model), frames(model))
    measure = Measure(tuple(draw(st.lists(term, min_size=1, max_size=3))))
    places = [frame.place or () for t in measure.terms for frame in (t.a, t.b)]
    if any(isinstance(part, str) for place in places for part in place):
        return "angle(ground, ground)"
    return draw(st.sampled_from([measure, measure.text]))


@st.composite
def formulas(draw: Any, model: Model) -> str:
    """The text of a formula of channels and measures."""
    body = draw(st.sampled_from(sorted(model.bodies)))
    channel = quoted(f"{body}.{draw(st.sampled_from(['x', 'phi', 'yd']))}")
    measure = draw(measures(model))
    text = measure.text if isinstance(measure, Measure) else measure
    return draw(st.sampled_from([channel, f"sin({channel})^2 - L", f"{channel}*({text})", text]))


def curves() -> st.SearchStrategy[Curve]:
    """Each way to give a curve, with whatever numbers."""
    lines = st.lists(PAIRS, min_size=3, max_size=5)
    return st.one_of(
        st.builds(lambda x, y, ends: Curve(x=x, y=y, range=ends), NUMBERS, NUMBERS, PAIRS),
        st.builds(lambda points, closed: Curve(points=points, closed=closed), lines, st.booleans()),
        st.builds(lambda f, r: Curve(motion=f, base_radius=r, follower="flat"), NUMBERS, NUMBERS),
    )


def values(kind: Kind, model: Model) -> st.SearchStrategy[Any]:
    """Anything a field of that kind may hold."""
    by_name = {
        "number": NUMBERS,
        "numbers": st.one_of(PAIRS, PLACES).map(tuple),
        "function": st.one_of(NUMBERS, tables()),
        "frame": frames(model),
        "measure": measures(model),
        "direction": st.one_of(NUMBERS, PAIRS),
        "curve": curves(),
        "formula": formulas(model),
        "formulas": st.lists(formulas(model), min_size=1, max_size=3).map(tuple),
        "components": st.dictionaries(formulas(model), formulas(model), min_size=1, max_size=3),
    }
    if kind.name in by_name:
        return by_name[kind.name]
    if kind == Flag.__metadata__[0]:
        return st.booleans()
    if get_origin(kind.file_type) is Literal:
        return st.sampled_from(get_args(kind.file_type))
    return NAMES


@st.composite
def elements(draw: Any, cls: type[Element], name: str, model: Model) -> Element:
    given = {}
    for field, kind in cls.kinds().items():
        if field in cls.required() or draw(st.booleans()):
            given[field] = draw(values(kind, model))
    return cls(name=name, **given)


@st.composite
def models(draw: Any) -> Model:
    """A model that can be written, though its numbers may make no sense."""
    names = draw(st.lists(NAMES, min_size=2, max_size=8, unique=True))
    count = draw(st.integers(1, len(names) - 1))
    model = Model(draw(NAMES), gravity=draw(PAIRS))
    model.parameters = draw(st.dictionaries(st.sampled_from(PARAMETERS), NUMBERS))
    model.ground.points = draw(st.dictionaries(NAMES, PLACES, max_size=2))
    model.look, model.ground.look = draw(LOOKS), draw(LOOKS)
    model.bodies = {name: draw(bodies(name)) for name in names[:count]}
    for name in names[count:]:
        cls = element_class(draw(st.sampled_from(element_names())))
        assert cls is not None
        model.elements[name] = draw(elements(cls, name, model))
    if draw(st.booleans()):
        model.analysis = {"kind": "dynamics", "t_end": draw(NUMBERS), "step": 0.01, "extra": draw(PLAIN)}
    return model


def parts(model: Model) -> dict[str, Any]:
    """Everything a model holds, for comparing. A measure is compared as its text: files hold that."""
    kept = {}
    for name, element in model.elements.items():
        fields = {field: getattr(element, field) for field in element.kinds()}
        texts = {f: v.text if isinstance(v, Measure) else v for f, v in fields.items()}
        kept[name] = (type(element), texts)
    return vars(model) | {"elements": kept, "source": None, "origin": None}
