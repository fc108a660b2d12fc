"""Free motions need mass."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...errors import listed
from ...numerics.rank import free_motions, rank_of_rows
from ..assembly.assemble import Assembly
from ..assembly.closure import coordinate_scale
from ..assembly.diagnose import in_words
from .finding import ERROR, NOTE, Finding

NOTHING = 1e-14  # mass of a motion, relative to that of the heaviest body


def massless(assembly: Assembly) -> Iterator[Finding]:
    """Free motions without mass, which forces do not determine; and massless bodies that joints guide."""
    system, scale = assembly.system, coordinate_scale(assembly.system)
    J, masses = system.Phi_q(assembly.t, assembly.q) * scale, system.masses * scale**2
    concerned: set[str] = set()
    for motion in free_motions(J, rank_of_rows(J).rank).T:
        if motion @ (masses * motion) > NOTHING * masses.max(initial=0.0) * (motion @ motion):
            continue
        moving = np.flatnonzero(np.abs(motion.reshape(-1, 3)).max(axis=1) > 1e-9)
        names = tuple(system.bodies[i].name for i in moving)
        concerned.update(names)
        words = in_words(system, assembly.q, scale * motion)
        yield Finding(
            ERROR,
            "massless",
            names,
            f"a free motion has no mass, so forces do not determine it: {words}.",
            f"Give {listed(names)} a mass and an inertia for dynamics, or drive the motion.",
        )
    light = [b.name for b in system.bodies if b.mass == 0.0 and b.inertia == 0.0 and b.name not in concerned]
    if light and masses.max(initial=0.0) > 0.0:
        has, them = ("has", "it") if len(light) == 1 else ("have", "them")
        text = f"{listed(light)} {has} no mass; the joints guide {them}."
        yield Finding(NOTE, "massless", tuple(light), text)
