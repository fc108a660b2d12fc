"""Force laws that a file only names, as the course's .m files: given beside the file, as expressions or in Python."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from ..errors import ModelError, listed, unknown, warn
from ..model.forces.point_force import PointForce
from ..model.forces.torque import Torque
from ..model.model import Model
from ..model.names import between_commas

GivenLaw: TypeAlias = str | float | tuple[str | float, str | float] | Callable[..., Any]
"""A torque such as "-3*sin(2*t)", a force such as "10*t, -5" or ("10*t", -5), or a function (t, q, qd)."""


class NamedLaws:
    """The laws of `load(path, laws={"piston": "-100*x, 0"})` by name."""

    def __init__(self, laws: Mapping[str, GivenLaw] | None, file: str) -> None:
        self.laws = dict(laws or {})
        self.file = file
        self.without: dict[str, str] = {}
        self.used: set[str] = set()
        for name, law in self.laws.items():
            if not callable(law) and not isinstance(law, str | float | int | tuple):
                raise ModelError(
                    f"laws['{name}'] is {law!r}; it must be an expression such as '-3*sin(2*t)', for a force "
                    "two of them, '10*t, 0', or a Python function (t, q, qd)."
                )

    def find(self, name: str, where: str, element: str) -> Callable[..., Any] | str:
        """The Python function of that name; the name itself where it is an expression, or none was given."""
        if name not in self.laws:
            self.without[name] = f"{where}: force '{element}' has the law '{name}'"
            return name
        self.used.add(name)
        law = self.laws[name]
        return law if callable(law) else name

    def warn(self) -> None:
        """Report the laws that are missing, and those that nothing follows."""
        for name, sentence in self.without.items():
            given = f"; the laws given are {listed(self.laws)}" if self.laws else ""
            warn(
                f"{sentence}, which was not given{given}. Dynamics will need it: "
                f'load("{self.file}", laws={{"{name}": ...}}) or --law {name}="...".'
            )
        for name in () if self.without else self.laws.keys() - self.used:
            hint = unknown("law", name, self.used) if self.used else "It names none."
            warn(f"{self.file}: no force follows the law '{name}'. {hint}")

    def write_into(self, model: Model) -> None:
        """Expressions take the place of the names."""
        texts = {name: law for name, law in self.laws.items() if not callable(law)}
        for force in model.forces.values():
            if isinstance(force, PointForce | Torque) and isinstance(force.law, str) and force.law in texts:
                _write(force, texts[force.law], f"law '{force.law}' of {force.title}")


def _write(force: PointForce | Torque, law: Any, what: str) -> None:
    parts = _parts(law)
    wanted = ("fx", "fy") if isinstance(force, PointForce) else ("value",)
    if len(parts) != len(wanted):
        example = "two expressions, 'FX, FY'" if len(wanted) == 2 else "one expression, a torque"
        raise ModelError(f"the {what} is {law!r}; it must be {example}.")
    for field, part in zip(wanted, parts, strict=True):
        setattr(force, field, part)
    force.law = None


def _parts(law: Any) -> list[Any]:
    """`10*t, atan2(x, y)` as two expressions."""
    if isinstance(law, str):
        return between_commas(law)
    return list(law) if isinstance(law, tuple) else [law]
