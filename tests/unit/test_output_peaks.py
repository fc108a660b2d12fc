"""Outputs beside peaks, inside steps that are over: these are stored."""

import numpy as np
import pytest

import simengine2d as se
from simengine2d import builders
from simengine2d.analyses.dynamics import outputs


@pytest.mark.slow
@pytest.mark.parametrize("options", [{}, {"coordinates": "natural"}, {"formulation": "ggl"}], ids=str)
def test_outputs_laid_later_belong_to_the_same_motion(monkeypatch, options):
    """A step that was left before the run was kept cannot be looked into: it would be continued backwards."""
    monkeypatch.setattr(outputs.Outputs, "peaks", lambda self, t, motion: 0.5 * (t[1:] + t[:-1]))
    r = se.dynamics(builders.four_bar(1, 2.5, 2, 2.2), t_end=3, **options)
    same = se.dynamics(builders.four_bar(1, 2.5, 2, 2.2), t_eval=r.t, **options)
    assert np.array_equal(r.q, same.q) and np.array_equal(r.qd, same.qd)
