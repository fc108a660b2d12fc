"""The folder of this file is searched for modules: `loading`, `marking` and `mechanisms` serve every test."""

import signal
import sys
import threading

import pytest

# tests that a shell starts in the background ignore Ctrl-C, and those that wait for it would wait for ever
if (
    signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    and threading.current_thread() is threading.main_thread()
):
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def close_figures():
    """Figures that a test leaves open would add up to matplotlib's warning in a later one."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
