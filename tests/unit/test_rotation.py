"""Rotations of many bodies at once, against the C library and 40 digits."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import simengine2d as se
from simengine2d.numerics import rotation
from simengine2d.numerics.kernel import kernel

JUST_ROUNDING = 3.1e-16  # ours, and half a unit of the last place of the library's


@kernel(entry=True)
def rotated(angles, c, s, n, largest):
    rotation.rotate(angles, c, s, n, largest)


def cos_and_sin(angles):
    """Of all angles, by the compiled kernel."""
    angles = np.asarray(angles, dtype=float)
    room = rotation.padded(angles.size)
    room[: angles.size] = angles
    c, s = np.full_like(room, np.nan), np.full_like(room, np.nan)
    rotated(room, c, s, angles.size, float(np.abs(angles).max()))
    return c[: angles.size], s[: angles.size]


def library(function, angles):
    return np.array([function(angle) for angle in angles])


@settings(deadline=None)
@given(st.lists(st.floats(-1.1 * rotation.FAR, 1.1 * rotation.FAR), min_size=1, max_size=21))
def test_cosines_and_sines_have_rounding_errors_only(angles):
    c, s = cos_and_sin(angles)
    assert np.abs(c - library(math.cos, angles)).max() < JUST_ROUNDING
    assert np.abs(s - library(math.sin, angles)).max() < JUST_ROUNDING


def test_quarter_turns_are_exact_to_rounding_and_zero_is_exact():
    quarters = np.arange(-40_000, 40_000, 7) * (np.pi / 2.0)
    beside = np.concatenate([np.nextafter(quarters, -np.inf), quarters, np.nextafter(quarters, np.inf)])
    near = beside[np.abs(beside) < rotation.FAR]
    c, s = cos_and_sin(near)
    assert np.abs(c - library(math.cos, near)).max() < JUST_ROUNDING
    assert np.abs(s - library(math.sin, near)).max() < JUST_ROUNDING
    c, s = cos_and_sin([0.0, -0.0, 1e-300, 0.0])
    np.testing.assert_array_equal(c, 1.0)
    np.testing.assert_array_equal(s, [0.0, -0.0, 1e-300, 0.0])


def test_errors_against_forty_digits():
    angles = np.random.default_rng(3).uniform(-rotation.FAR, rotation.FAR, 2_000)
    c, s = cos_and_sin(angles)
    with mpmath.workdps(40):
        worst = max(
            max(abs(mpmath.cos(mpmath.mpf(a)) - x), abs(mpmath.sin(mpmath.mpf(a)) - y))
            for a, x, y in zip(angles.tolist(), c.tolist(), s.tolist(), strict=True)
        )
    assert worst < 2e-16


@pytest.mark.parametrize("strange", [np.nan, np.inf, -np.inf])
def test_what_is_no_angle_stays_so(strange):
    angles = np.array([0.1, strange, 0.2, 0.3])
    room, c, s = rotation.padded(4), rotation.padded(4), rotation.padded(4)
    room[:4] = angles
    try:
        rotated(room, c, s, 4, strange)
    except ValueError:  # Python's own functions say so
        return
    assert np.isnan(c[1]) and np.isnan(s[1])
    np.testing.assert_allclose(c[[0, 2, 3]], np.cos(angles[[0, 2, 3]]), rtol=1e-15)


def wheels(turn):
    """Four links in a row, the first of which has turned often."""
    m = se.Model("wheels", gravity=(0.0, -9.81))
    last, place = m.ground, (0.0, 0.0)
    for i, angle in enumerate((turn, 0.4, -0.9, 1.7)):
        along = np.array([np.cos(angle), np.sin(angle)])
        link = m.body(
            f"link{i}", mass=1.0 + i, inertia=0.1, at=tuple(np.array(place) + 0.5 * along), angle=angle
        )
        m.add(se.Revolute(f"pin{i}", last.at(*((0.5, 0.0) if i else (0.0, 0.0))), link.at(-0.5, 0.0)))
        last, place = link, tuple(np.array(place) + along)
    return m


@pytest.mark.parametrize("turns", [0, 3, 4_000, 6_000, 1_000_000])
def test_a_motion_is_the_same_after_many_turns(turns):
    few = se.dynamics(wheels(0.3), t_end=0.5, rtol=1e-10)
    many = se.dynamics(wheels(0.3 + 2.0 * np.pi * turns), t_end=0.5, rtol=1e-10)
    exact = 1e-7 if turns > 1_000 else 1e-9  # an angle of so many turns has fewer digits
    for channel in ("link3.x", "link3.y", "link0.phidd"):
        np.testing.assert_allclose(many[channel][-1], few[channel][-1], atol=exact * 100.0)
