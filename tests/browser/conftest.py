"""A browser for all tests of a file, and the page of one motion."""

from __future__ import annotations

import pytest

import simengine2d as se
from chromium import Page, browser
from simengine2d import builders


@pytest.fixture(scope="module")
def port():
    with browser() as found:
        yield found


@pytest.fixture(scope="module")
def results():
    """A slider-crank with a motor and a spring: pins, a guide, a block, a spring, reactions, a torque."""
    model = builders.slider_crank(1, 2.5, speed=4)
    model.add(se.Spring("spring", se.distance(model.ground.at(5, 0), "slider"), stiffness=30, free=1))
    return se.dynamics(model, t_end=2, step=0.02)


@pytest.fixture
def page(port, results, tmp_path):
    """The page of the results, opened from a file; after the test it must not have complained about anything."""
    opened = Page(port)
    opened.open(
        results.html(tmp_path / "player.html", trace=["rod"], channels=["slider.x", "A.fx"], play=False)
    )
    yield opened
    opened.run("1")  # whatever it still has to say
    assert opened.complaints == []
    assert {address.split(":")[0] for address in opened.requests} - {"data"} == {"file"}
    opened.close()
