"""Methods: the bases of integrators and formulations, and the registry that finds them by name."""

from __future__ import annotations

import importlib
import pkgutil
from abc import ABC
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray

from .errors import ModelError, unknown

if TYPE_CHECKING:
    from .numerics.kernel_pointer import KernelPointer

T = TypeVar("T")

UNDAMPED = 1.0 - 1e-6  # a factor from step to step that hardly changes an error


class Integrator(ABC):
    """Steps an "ode" or a "dae" in time. Claims are class attributes, and tests over the registry check them."""

    registry: ClassVar[dict[str, type[Integrator]]] = {}
    name: ClassVar[str]
    order: ClassVar[int]
    solves: ClassVar[tuple[str, ...]]
    """The kinds of equations, "ode" or "dae"."""
    adaptive: ClassVar[bool] = False

    def __init_subclass__(cls, abstract: bool = False) -> None:
        if not abstract:
            Integrator.registry[cls.name] = cls


class Formulation(ABC):
    """Poses the equations of motion as an "ode" or a "dae"."""

    registry: ClassVar[dict[str, type[Formulation]]] = {}
    name: ClassVar[str]
    poses: ClassVar[str]
    gives_multipliers: ClassVar[bool] = True
    projects: ClassVar[bool] = False
    """Whether states are brought back onto the constraints after each step."""

    nonholonomic: ClassVar[bool] = False
    """Whether it can hold rows of velocities, which are no derivatives of rows of positions."""

    gives_way: ClassVar[bool] = False
    """Whether constraints have compliances."""

    rhs: ClassVar[KernelPointer]
    """y = (z, zd) to yd, for formulations that pose an "ode"."""
    finish: ClassVar[KernelPointer]
    """What follows each step."""

    @property
    def stabilization(self) -> tuple[float, float]:
        """Baumgarte's 2 alpha and beta^2."""
        return 0.0, 0.0

    def compliances(self, given: NDArray[np.float64]) -> NDArray[np.float64]:
        """How much each constraint gives way under a unit force, as an acceleration.

        `given` is how much its bodies do.
        """
        return np.zeros(given.size)

    def __init_subclass__(cls, abstract: bool = False) -> None:
        if not abstract:
            Formulation.registry[cls.name] = cls


def import_all(package: str, path: Iterable[str]) -> None:
    """Import every module of a package, so that its classes register themselves."""
    for module in pkgutil.iter_modules(path):
        importlib.import_module(f"{package}.{module.name}")


def named(kind: str, name: str, registry: Mapping[str, type[T]]) -> type[T]:
    """The method of that name, or an error that names the nearest."""
    found = registry.get(name.lower().replace("-", "_"))
    if found is None:
        raise ModelError(f"there is no {kind} '{name}'. {unknown(kind, name, sorted(registry))}")
    return found


@dataclass(frozen=True)
class AlphaMethod(Integrator, abstract=True):
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
        raise TypeError(f"{type(self).__name__} defines no coefficients")

    @property
    def radius(self) -> float:
        """By how much an error of the accelerations that constraints take away changes from step to step.

        Where q stays, Newmark's formulas give a1 = r a0 with

            beta r^2 + (1/2 + gamma - 2 beta) r + 1/2 - gamma + beta = 0

        and the weights the root -af / (1 - af). The trapezoidal rule has the double root -1: errors change their sign
        and grow with the number of steps; as the constraints turn, exponentially in time.

        Cardona & Geradin, Computers & Structures 33 (1989) 801-820.
        """
        _, af, beta, gamma = self.coefficients
        p, c = (0.5 + gamma - 2.0 * beta) / (2.0 * beta), (0.5 - gamma + beta) / beta
        root = complex(p * p - c) ** 0.5
        return max(abs(-p + root), abs(-p - root), abs(af / (1.0 - af)))

    @property
    def damps(self) -> bool:
        """Whether such errors fade away."""
        return self.radius < UNDAMPED
