"""Contacts that pull: a joint holds in both directions, a real contact only presses."""

from __future__ import annotations

import numpy as np

from ...errors import Caution
from ...numerics.arrays import Floats
from ...results.reactions import PRESSES
from ...system.system import System
from ...system.workspace import once_per_system

ROUNDING = 1e-9  # of the largest force of the contact


def lift_off_notes(system: System, t: Floats, lam: Floats) -> list[str]:
    """A sentence for every contact whose multiplier is positive at some time: there it would be lost."""
    if not system.has_formulas or not t.size:
        return []
    return [note for i in contact_rows(system) if (note := _lost(system, t, lam[:, i], i))]


@once_per_system
def contact_rows(system: System) -> list[int]:
    """The rows that press in a real contact."""
    return [
        i
        for i, (_, row) in enumerate(system.rows)
        if row.formula is not None and row.formula.contact is not None and row.label == PRESSES
    ]


def _lost(system: System, t: Floats, lam: Floats, i: int) -> str | None:
    pulls = lam > ROUNDING * np.abs(lam).max()
    if not pulls.any():
        return None
    first, most = int(pulls.argmax()), float(lam.max())
    title = system.model.elements[system.rows[i][0]].title
    pulls_on = f"{title} pulls from t = {t[first]:.6g} s on, with up to {most:.4g} N"
    return Caution(f"{pulls_on}: a real contact would be lost there. Press it on, for instance with a spring")
