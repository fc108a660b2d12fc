"""Contacts that pull: a joint holds in both directions, a real contact only presses."""

from __future__ import annotations

import numpy as np

from ...errors import Caution
from ...numerics.arrays import Floats
from ...results.reactions import PRESSES
from ...system.system import System

ROUNDING = 1e-9  # of the largest force of the contact


def lift_off_notes(system: System, t: Floats, lam: Floats) -> list[str]:
    """A sentence for every contact whose multiplier is positive at some time: there it would be lost."""
    notes: list[str] = []
    for i, (name, row) in enumerate(system.rows):
        if row.formula is None or row.formula.contact is None or row.label != PRESSES or not t.size:
            continue
        pulls = lam[:, i] > ROUNDING * np.abs(lam[:, i]).max()
        if pulls.any():
            first, most = int(pulls.argmax()), float(lam[:, i].max())
            title = system.model.elements[name].title
            pulls_on = f"{title} pulls from t = {t[first]:.6g} s on, with up to {most:.4g} N"
            lost = "a real contact would be lost there. Press it on, for instance with a spring"
            notes.append(Caution(f"{pulls_on}: {lost}"))
    return notes
