"""Force laws that a file only names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..errors import ModelError, listed, warn


class NamedFunctions:
    """Force laws that a file names and Python holds, `load(path, functions={"piston": f})`."""

    def __init__(self, functions: Mapping[str, Callable[..., Any]] | None, file: str) -> None:
        self.functions = dict(functions or {})
        self.file = file
        self.without: dict[str, str] = {}
        for name, function in self.functions.items():
            if not callable(function):
                raise ModelError(
                    f"functions['{name}'] is {function!r}; it must be a Python function (t, q, qd)."
                )

    def find(self, name: str, where: str, element: str) -> Callable[..., Any] | str:
        """The function of that name; the name itself where none was given."""
        if name in self.functions:
            return self.functions[name]
        self.without[name] = f"{where}: force '{element}' has the law '{name}'"
        return name

    def warn(self) -> None:
        """Report the laws without a function."""
        for name, sentence in self.without.items():
            given = f"; the functions given are {listed(self.functions)}" if self.functions else ""
            warn(
                f"{sentence}, for which no function was given{given}. Dynamics will need it: "
                f'load("{self.file}", functions={{"{name}": f}}) with f(t, q, qd).'
            )
