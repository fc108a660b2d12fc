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


@pytest.mark.slow
@pytest.mark.parametrize("rtol", [0.1, 0.03, 1e-3])
def test_peaks_are_looked_for_as_closely_as_the_motion_is_asked_for(rtol):
    """The largest force of a pin is found to the tolerance, or a two-hundredth; a closer run has more outputs."""
    system = se.System(builders.four_bar(1, 2.5, 2, 2.2))
    fine = se.dynamics(system, t_end=3, step=1e-3, rtol=1e-9)
    found = se.dynamics(system, t_end=3, rtol=rtol)
    closer = se.dynamics(system, t_end=3, rtol=1e-5)
    for pin in "ABCD":
        assert largest(found, pin) > (1 - max(rtol, 0.005)) * largest(fine, pin)
    assert found.t.size < closer.t.size


def largest(results, pin):
    return np.hypot(results[f"{pin}.fx"], results[f"{pin}.fy"]).max()
