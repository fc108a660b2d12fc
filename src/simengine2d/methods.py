"""Methods: the bases of integrators and formulations, and the registry that finds them by name."""

from __future__ import annotations

import importlib
import pkgutil
import re
from abc import ABC
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from math import isfinite
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, TypeAlias, TypeVar

from .errors import ModelError, unknown

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

T = TypeVar("T")
SPELLED = re.compile(r"\s*([\w.-]+)\s*(?:\((.*)\))?\s*", re.DOTALL)
FRACTION = re.compile(r"([^/]+)/([^/]+)")


class Registry(dict[str, type[T]], Generic[T]):
    """Classes by name, and under the other names that people know them by.

    A method may be given as its name, "newmark", with options, "newmark(beta=1/4)", as a mapping,
    {"type": "newmark", "beta": 0.25}, or as an object.
    """

    def __init__(self, kind: str, package: str, other_names: Mapping[str, str] | None = None) -> None:
        super().__init__()
        self.kind, self.package = kind, package
        self.other_names = dict(other_names or {})

    def loaded(self) -> Registry[T]:
        """The registry, after its package has been imported so that the classes register themselves."""
        importlib.import_module(self.package)
        return self

    def find(self, name: str) -> type[T] | None:
        """The class of that name, however it is capitalized."""
        self.loaded()
        folded = _folded(name)
        return self.get(name) or next((cls for known, cls in self.items() if _folded(known) == folded), None)

    def named(self, name: str) -> type[T]:
        """The class of that name, or an error that names the nearest."""
        cls = self.find(self.other_names.get(_folded(name), name))
        if cls is None:
            raise ModelError(f"there is no {self.kind} '{name}'. {unknown(self.kind, name, sorted(self))}")
        return cls

    def made(self, given: Any) -> Any:
        """The method denoted by a name or a mapping; anything else is returned unchanged."""
        if isinstance(given, str):
            name, options = self.spelled(given)
        elif isinstance(given, Mapping):
            options = dict(given)
            name = options.pop("type", options.pop("name", None))
            if not isinstance(name, str):
                raise ModelError(
                    f"{given!r} does not name any {self.kind}. Write {{type: name, option: value, ...}}."
                )
        else:
            return given
        if self.find(name) is None and _folded(name) in self.other_names:
            name, presets = self.spelled(self.other_names[_folded(name)])
            options = presets | options
        cls = self.named(name)
        return cls(**with_numbers(cls, options))

    def spelled(self, text: str) -> tuple[str, dict[str, Any]]:
        """Name and options of "newmark(beta=1/4, gamma=1/2)"."""
        match = SPELLED.fullmatch(text)
        if match is None:
            raise ModelError(
                f"'{text}' does not name any {self.kind}. Write a name, or name(option=value, ...)."
            )
        options = {}
        for part in filter(str.strip, (match[2] or "").split(",")):
            name, sign, value = part.partition("=")
            if not sign:
                raise ModelError(f"'{text}': '{part.strip()}' is not an option. Write option=value.")
            options[name.strip()] = value.strip().strip("'\"")
        return match[1], options


def _folded(name: str) -> str:
    return name.lower().replace("-", "_")


def with_numbers(cls: type, options: Mapping[str, Any]) -> dict[str, Any]:
    """Options of a method, converted to the types of its fields; a misspelled or unsuitable option is an error."""
    known = {f.name: f for f in fields(cls)} if is_dataclass(cls) else {}
    converted = {}
    for name, value in options.items():
        if name not in known:
            hint = unknown("option", name, known) if known else "It has none."
            raise ModelError(f"{getattr(cls, 'name', cls.__name__)} has no option '{name}'. {hint}")
        converted[name] = _converted(value, str(known[name].type), f"{cls.name}, {name}")  # type: ignore[attr-defined]
    return converted


def _converted(value: Any, kind: str, what: str) -> Any:
    """A value given as text or in a file, converted to the type that its field is annotated with."""
    if value is None or (isinstance(value, str) and value.lower() in ("none", "null")):
        if "None" in kind:
            return None
    elif "str" in kind or "Name" in kind:
        if isinstance(value, str):
            return value
    elif "bool" in kind:
        words = {"true": True, "yes": True, "false": False, "no": False}
        if isinstance(value, bool) or str(value).lower() in words:
            return value if isinstance(value, bool) else words[value.lower()]
    elif not isinstance(value, bool):
        number = _number(value)
        if number is not None and (kind != "int" or number == int(number)):
            return int(number) if kind == "int" else number
    kinds = {"str": "a word", "NewtonName": "a word", "bool": "true or false", "int": "a whole number"}
    wanted = kinds.get(kind.split(" ")[0], "a number")
    raise ModelError(f"{what} is {value!r}; it must be {wanted}.")


def _number(value: Any) -> float | None:
    """A finite number; text may be a fraction."""
    try:
        parts = FRACTION.fullmatch(value) if isinstance(value, str) else None
        number = float(parts[1]) / float(parts[2]) if parts else float(value)
    except (TypeError, ValueError, ZeroDivisionError):
        return None
    return number if isfinite(number) else None


# Names, as types so that editors and shells complete them; a test holds them equal to what is registered.
# Calls take any text too: a method of your own has its own name, and options may follow, "newmark(beta=1/4)".

IntegratorName: TypeAlias = Literal[
    "adams_bashforth",
    "adams_bashforth_moulton",
    "adams_variable",
    "backward_euler",
    "bdf",
    "bdf_variable",
    "bogacki_shampine",
    "dop853",
    "dormand_prince",
    "forward_euler",
    "generalized_alpha",
    "heun",
    "hht",
    "implicit_midpoint",
    "newmark",
    "radau_adaptive",
    "radau_iia",
    "rk4",
    "rosenbrock",
    "tr_bdf2",
    "trapezoidal",
    "trapezoidal_adaptive",
    "tsitouras5",
]
FormulationName: TypeAlias = Literal[
    "augmented",
    "augmented_lagrangian",
    "ggl",
    "index3",
    "matrix_r",
    "partitioning",
    "penalty",
    "projection",
]
CoordinatesName: TypeAlias = Literal["mixed", "natural", "reference_point", "relative"]
ChosenCoordinates: TypeAlias = CoordinatesName | Mapping[str, Any]
"""A name, or one with choices: {"type": "relative", "cut": ["B"]}; as text, "relative(cut=B)"."""
NewtonName: TypeAlias = Literal["exact", "modified", "fixed_point", "course"]
"""How implicit methods iterate."""
NotationName: TypeAlias = Literal["haug", "nikravesh", "garcia_de_jalon", "shabana"]

# names used by MATLAB, SciPy, textbooks and other programs
INTEGRATOR_NAMES = {
    "ode45": "dormand_prince",
    "ode23": "bogacki_shampine",
    "ode113": "adams_variable",
    "ode15s": "bdf_variable",
    "ode23s": "rosenbrock",
    "ode23t": "trapezoidal_adaptive",
    "ode23tb": "tr_bdf2",
    "rk45": "dormand_prince",
    "dopri5": "dormand_prince",
    "rk23": "bogacki_shampine",
    "lsoda": "adams_variable",
    "radau": "radau_adaptive",
    "radau5": "radau_adaptive",
    "tsit5": "tsitouras5",
    "euler": "forward_euler",
    "fe": "forward_euler",
    "explicit_euler": "forward_euler",
    "be": "backward_euler",
    "implicit_euler": "backward_euler",
    "rk2": "heun",
    "runge_kutta": "rk4",
    "midpoint": "implicit_midpoint",
    "crank_nicolson": "trapezoidal",
    **{f"ab{k}": f"adams_bashforth(k={k})" for k in range(1, 9)},
    **{f"abm{k}": f"adams_bashforth_moulton(k={k})" for k in range(1, 9)},
    **{f"bdf{k}": f"bdf(k={k})" for k in range(1, 6)},
    "hht_alpha": "hht",
    "chung_hulbert": "generalized_alpha",
    "alpha": "generalized_alpha",
}
FORMULATION_NAMES = {
    "baumgarte": "augmented",
    "lagrange": "augmented",
    "index1": "augmented",
    "gear_gupta_leimkuhler": "ggl",
    "stabilized_index2": "ggl",
    "coordinate_partitioning": "partitioning",
    "velocity_transformation": "matrix_r",
    "r_matrix": "matrix_r",
}

UNDAMPED = 1.0 - 1e-6  # amplification per step from which an error counts as undamped


class Integrator(ABC):
    """Steps an "ode" or a "dae" in time. What a method claims is a class attribute, and tests check every claim."""

    registry: ClassVar[Registry[Integrator]] = Registry(
        "integrator", "simengine2d.integrators", INTEGRATOR_NAMES
    )
    name: ClassVar[str]
    order: ClassVar[int]
    solves: ClassVar[tuple[str, ...]]
    """The kinds of equations it can solve: "ode", "dae" or both."""
    adaptive: ClassVar[bool] = False

    def __init_subclass__(cls, abstract: bool = False) -> None:
        if not abstract:
            Integrator.registry[cls.name] = cls


class Formulation(ABC):
    """Poses the equations of motion as an "ode" or a "dae"."""

    registry: ClassVar[Registry[Formulation]] = Registry(
        "formulation", "simengine2d.formulations", FORMULATION_NAMES
    )
    name: ClassVar[str]
    poses: ClassVar[str]
    gives_multipliers: ClassVar[bool] = True
    projects: ClassVar[bool] = False
    """Whether states are brought back onto the constraints after each step."""

    nonholonomic: ClassVar[bool] = False
    """Whether it can enforce velocity constraints that are not derivatives of position constraints."""

    gives_way: ClassVar[bool] = False
    """Whether its constraints are compliant."""

    @property
    def stabilization(self) -> tuple[float, float]:
        """Baumgarte's 2 alpha and beta^2."""
        return 0.0, 0.0

    def compliances(self, given: NDArray[np.float64]) -> NDArray[np.float64]:
        """Compliance of each constraint, in acceleration per unit force; `given` is that of its bodies."""
        from numpy import zeros_like

        return zeros_like(given)

    def __init_subclass__(cls, abstract: bool = False) -> None:
        if not abstract:
            Formulation.registry[cls.name] = cls


def import_all(package: str, path: Iterable[str]) -> None:
    """Import every module of a package, so that its classes register themselves."""
    for module in pkgutil.iter_modules(path):
        importlib.import_module(f"{package}.{module.name}")


@dataclass(frozen=True)
class ImplicitMethod(Integrator, abstract=True):
    """A method whose steps are solved by iteration.

    `newton` is "exact" (new derivatives in each iteration), "modified" (derivatives are reused while the iteration
    converges), "fixed_point" (none, for ordinary differential equations) or "course" (without second derivatives, as
    taught in the course ME451, for differential-algebraic ones). The iteration ends when accelerations change by less
    than 1e-10 of their size, or by less than `tolerance`.
    """

    newton: NewtonName = field(default="exact", kw_only=True)
    tolerance: float | None = field(default=None, kw_only=True)


@dataclass(frozen=True)
class AlphaMethod(ImplicitMethod, abstract=True):
    """Newmark's formulas with weighted accelerations, for the index-3 equations.

        (1 - am) a1 + am a0 = (1 - af) qdd1 + af qdd0
        q1  = q0 + h qd0 + h^2 ((1/2 - beta) a0 + beta a1)
        qd1 = qd0 + h ((1 - gamma) a0 + gamma a1)

    Arnold & Bruels, Multibody System Dynamics 18 (2007) 185-202.
    """

    solves: ClassVar[tuple[str, ...]] = ("dae",)

    @property
    def coefficients(self) -> tuple[float, float, float, float]:
        """alpha_m, alpha_f, beta, gamma."""
        raise TypeError(f"{type(self).__name__} does not define its coefficients")

    @property
    def radius(self) -> float:
        """Amplification per step of an error in the constrained components of the accelerations.

        While q is constant, Newmark's formulas give a1 = r a0 with

            beta r^2 + (1/2 + gamma - 2 beta) r + 1/2 - gamma + beta = 0

        and the weights contribute the root -af / (1 - af). The trapezoidal rule has the double root -1: errors
        alternate in sign and grow with the number of steps; while the constraints rotate, exponentially in time.

        Cardona & Geradin, Computers & Structures 33 (1989) 801-820.
        """
        _, af, beta, gamma = self.coefficients
        p, c = (0.5 + gamma - 2.0 * beta) / (2.0 * beta), (0.5 - gamma + beta) / beta
        root = complex(p * p - c) ** 0.5
        return max(abs(-p + root), abs(-p - root), abs(af / (1.0 - af)))

    @property
    def damps(self) -> bool:
        """Whether such errors decay."""
        return self.radius < UNDAMPED
