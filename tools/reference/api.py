"""The public names with their signatures and docstrings, in groups."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import simengine2d as se
from simengine2d import HOMES, MODULES
from simengine2d.model.elements import Element

from .markdown import prose

GROUPS = {
    "model": (
        "Python: models",
        "What a mechanism is written with.",
        (".model", ".expressions", ".io", ".system"),
    ),
    "analyses": ("Python: analyses", "What is computed of a model.", (".analyses.",)),
    "linkage": (
        "Python: linkage design",
        "Circuits, transmission, balance, flywheels.",
        (".analyses.linkage.",),
    ),
    "results": (
        "Python: results and pictures",
        "What comes out, and how it is shown.",
        (".results", ".draw"),
    ),
    "methods": (
        "Python: formulations and integrators",
        "Methods as objects.",
        (".formulations", ".integrators"),
    ),
    "study": ("Python: studies of methods", "One step laid open, and work checked.", (".lab",)),
    "errors": ("Python: errors", "What is raised, and the base of all of it.", (".errors",)),
}
"""The longest prefix that fits decides."""
ELEMENTS = "elements"


def group_of(module: str) -> str:
    fitting = [
        (len(p), key) for key, (*_, prefixes) in GROUPS.items() for p in prefixes if module.startswith(p)
    ]
    if not fitting:
        raise SystemExit(f"tools/reference/api.py: {module} belongs to no group.")
    return max(fitting)[1]


def names_of(group: str) -> list[str]:
    return sorted((name for name, home in HOMES.items() if group_of(home) == group), key=str.lower)


def page_text(group: str) -> str:
    """A page of one group."""
    title, sentence, _ = GROUPS[group]
    head = f"# {title}\n\n{sentence} All are names of the package, such as `se.{names_of(group)[0]}`.\n\n"
    return (
        head
        + "```{py:currentmodule} simengine2d\n```\n\n"
        + "\n".join(described(name, getattr(se, name)) for name in names_of(group))
    )


def elements_text() -> str:
    """The classes of joints and forces; what they mean is on pages of their own."""
    names = sorted(
        name for name, cls in Element.registry.items() if cls.__module__.startswith("simengine2d.")
    )
    more = "See [joints](joints.md) and [forces](forces.md) for pictures and equations."
    head = f"# Python: joints and forces\n\n{more}\n\n"
    return (
        head
        + "```{py:currentmodule} simengine2d\n```\n\n"
        + "\n".join(described(name, Element.registry[name], members=False) for name in names)
    )


def module_text(name: str) -> str:
    """A module: `se.lab`, `se.ivp`, ..."""
    module = getattr(se, name)
    public = getattr(module, "__all__", None) or [
        key for key, value in vars(module).items()
        if not key.startswith("_") and getattr(value, "__module__", "") == module.__name__ and callable(value)
    ]  # fmt: skip
    head = f"# se.{name}\n\n{prose(module.__doc__)}\n\n```{{py:module}} simengine2d.{name}\n```\n\n"
    members = [described(key, getattr(module, key)) for key in sorted(public, key=str.lower)]
    return head + "\n".join(members)


def described(name: str, thing: Any, members: bool = True) -> str:
    """A directive of the Python domain, so that it can be linked and searched."""
    if isinstance(thing, type):
        body = [prose(_own_doc(thing)), *(_members(thing) if members else ())]
        return _directive("class", f"{name}{signature(thing)}", body)
    if callable(thing):
        return _directive("function", f"{name}{signature(thing)}", [prose(thing.__doc__)])
    return _directive("data", name, [])


def _own_doc(cls: type) -> str | None:
    doc = cls.__doc__
    generated = doc is not None and (doc.startswith(f"{cls.__name__}(") or doc == tuple.__doc__)
    return None if generated else doc


def _directive(kind: str, head: str, body: list[str]) -> str:
    inside = "\n\n".join(filter(None, body))
    fence = ":" * (5 if kind in ("class", "function", "data") else 4)
    return f"{fence}{{py:{kind}}} {head}\n{inside}\n{fence}\n"


def _members(cls: type) -> Iterator[str]:
    """Methods and properties that have a sentence of their own."""
    own = [each for each in cls.__mro__ if each.__module__.startswith("simengine2d.")]
    keys = {key for each in own for key in vars(each) if not key.startswith("_")}
    for key in sorted(keys):
        value = inspect.getattr_static(cls, key)
        value = value.__func__ if isinstance(value, classmethod | staticmethod) else value
        doc = (
            inspect.getdoc(value) if not isinstance(value, str | int | float | tuple | dict | bool) else None
        )
        if isinstance(value, property) or type(value).__name__ == "cached_property":
            if doc:
                yield _directive("property", key, [prose(doc)])
        elif inspect.isfunction(value) and doc:
            yield _directive("method", f"{key}{signature(value)}", [prose(doc)])


def signature(thing: Any) -> str:
    """The arguments with their defaults; types are left to the editor."""
    try:
        given = inspect.signature(thing)
    except (TypeError, ValueError):
        return "()"
    parameters = [p.replace(annotation=p.empty, default=_default(p)) for p in given.parameters.values()]
    returns = given.return_annotation
    arrow = (
        f" -> {returns}"
        if isinstance(returns, str) and not isinstance(thing, type) and returns != "None"
        else ""
    )
    return f"{inspect.Signature([p for p in parameters if p.name != 'self'])}{arrow.replace(chr(34), '')}"


class _Shown:
    """A default as it is written."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text


def _default(parameter: inspect.Parameter) -> Any:
    value = parameter.default
    plain = value is parameter.empty or value is None or isinstance(value, str | int | float | bool | tuple)
    if plain:
        return value
    made = dataclasses.is_dataclass(value) or isinstance(value, dict | list | set)
    return _Shown(
        "{}" if value == {} else "[]" if value == [] else type(value).__name__ + "()" if made else "..."
    )


PAGES: dict[str, Callable[[], str]] = {
    **{f"api-{group}": partial(page_text, group) for group in GROUPS},
    "api-elements": elements_text,
    **{f"api-{name}": partial(module_text, name) for name in MODULES},
}
