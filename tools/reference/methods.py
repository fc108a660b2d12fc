"""Coordinates, formulations and integrators, from the claims of their classes."""

from __future__ import annotations

from dataclasses import MISSING, fields, is_dataclass

from simengine2d.coordinates.base import Family
from simengine2d.methods import Formulation, Integrator

from .markdown import first_paragraph, prose, table

HEAD = """\
# Methods

A run is a choice of three: coordinates, a formulation that poses the equations of motion in them, and an integrator
that solves what it poses. `dynamics(model, coordinates="natural", formulation="ggl", integrator="bdf(k=2)",
step=1e-3)` names all three; what is not named, the engine chooses, and `results.method` says what it chose and why.
A formulation that poses an ODE goes with the integrators that solve ODEs, one that poses a DAE with those that
solve DAEs; other pairs are refused with a list of those that match. This page is written from the classes of the
methods, and tests check every claim in it: the order of each integrator, and each family and formulation against
the others.
"""


def page_text() -> str:
    families = Family.registry.loaded()
    return (
        "\n\n".join(
            [HEAD, "## Coordinates", *map(_family, sorted(families)), _formulations(), _integrators()]
        )
        + "\n"
    )


def _family(name: str) -> str:
    return f"### `{name}`\n\n{prose(Family.registry[name].__doc__)}"


def _formulations() -> str:
    known = Formulation.registry.loaded()
    rows = [
        [f"[`{name}`](#formulation-{name})", cls.poses.upper(), _yes(cls.gives_multipliers), _yes(cls.projects),
         _yes(cls.nonholonomic), first_paragraph(cls.__doc__)]
        for name, cls in sorted(known.items())
    ]  # fmt: skip
    heads = ["name", "poses", "gives reactions", "projects", "velocity constraints", ""]
    return "\n\n".join(
        [
            "## Formulations",
            table(heads, rows),
            *(_method("formulation", n, c) for n, c in sorted(known.items())),
        ]
    )


def _integrators() -> str:
    known = Integrator.registry.loaded()
    rows = [
        [f"[`{name}`](#integrator-{name})", cls.order, " and ".join(cls.solves).upper(),
         "adaptive" if cls.adaptive else "fixed", first_paragraph(cls.__doc__)]
        for name, cls in sorted(known.items())
    ]  # fmt: skip
    others = [[f"`{other}`", f"`{name}`"] for other, name in sorted(Integrator.registry.other_names.items())]
    parts = ["## Integrators", table(["name", "order", "solves", "steps", ""], rows)]
    parts += [_method("integrator", name, cls) for name, cls in sorted(known.items())]
    return "\n\n".join([*parts, "### Other names", table(["also called", "is"], others)])


def _method(kind: str, name: str, cls: type) -> str:
    options = [
        f"`{f.name}` = {'required' if f.default is MISSING else repr(f.default)}"
        for f in (fields(cls) if is_dataclass(cls) else ())
    ]
    words = f"Options: {', '.join(options)}." if options else ""
    return f'({kind}-{name})=\n### {cls.__name__}\n\n`{kind}="{name}"`\n\n{prose(cls.__doc__)}\n\n{words}'


def _yes(claim: bool) -> str:
    return "yes" if claim else "no"
