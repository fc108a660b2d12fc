"""Hand-written C for three mechanisms, compiled at run time: the limit of the machine."""

from __future__ import annotations

import ctypes
import functools
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import references
from cases import Case
from measuring import Simulation, State, Sweep, main, step_sizes

if shutil.which("gcc") is None:
    raise ImportError("gcc is not installed")

SOURCE = Path(__file__).with_name("handwritten.c")


@functools.cache
def library() -> ctypes.CDLL:
    target = Path(tempfile.mkdtemp()) / "handwritten.so"
    flags = ["-O3", "-march=native", "-ffast-math", "-shared", "-fPIC"]
    subprocess.run(["gcc", *flags, SOURCE, "-o", target, "-lm"], check=True)
    return ctypes.CDLL(str(target))


class Handwritten(Simulation):
    def __init__(self, case: Case, name: str, start: np.ndarray, h: float) -> None:
        self.case, self.name, self.start, self.h = case, name, start, h
        self.steps = round(case.t_end / h)
        self.march = getattr(library(), name)
        self.march.argtypes = [ctypes.c_void_p, ctypes.c_double, ctypes.c_long]
        self.march.restype = None

    def reset(self) -> None:
        self.y = self.start.copy()

    def run(self) -> None:
        self.march(self.y.ctypes.data, self.h, self.steps)

    def state(self) -> State:
        if self.name in ("kkt", "schur"):
            return self.y[:9].reshape(3, 3), self.y[9:].reshape(3, 3)
        if self.name == "crank":
            linkage = references.four_bar()
            q = np.column_stack([linkage.centers(self.y[0]), linkage.angles(self.y[0])])
            return q, linkage.velocities(*self.y)
        if self.name == "slider_crank":
            return slider_state(*self.y)
        angles, spins = np.split(self.y, 2)
        q = np.column_stack([references.chain_centers(angles), angles])
        tangent = np.column_stack([-np.sin(angles), np.cos(angles)]) * spins[:, None]
        return q, np.column_stack([np.cumsum(tangent, axis=0) - tangent / 2, spins])


def slider_state(theta: float, rate: float) -> State:
    """The block, the third body, does not turn."""
    linkage = references.slider_crank()
    q = np.column_stack([linkage.centers(theta), [*linkage.angles(theta), 0.0]])
    k, _ = linkage.slopes(linkage.angles(theta))
    z = linkage.W @ (1j * np.exp(1j * linkage.a) * k)
    return q, rate * np.column_stack([z.real, z.imag, [*k, 0.0]])


def sweeps(case: Case) -> Iterator[Sweep]:
    full = np.concatenate([case.q0.ravel(), case.qd0.ravel()])
    methods = {
        "double_pendulum": {"double_pendulum": ("two angles", np.zeros(4))},
        "four_bar": {
            "crank": ("crank angle", np.array([case.q0[0, 2], 0.0])),
            "schur": ("Schur 8x8", full),
            "kkt": ("KKT 17x17", full),
        },
        "slider_crank": {"slider_crank": ("crank angle", np.array([case.q0[0, 2], 0.0]))},
    }
    for name, (label, start) in methods.get(case.name, {}).items():
        yield Sweep(
            f"{label}, RK4",
            "h",
            step_sizes(case),
            lambda h, name=name, start=start: Handwritten(case, name, start, h),
        )


if __name__ == "__main__":
    main("C", sweeps)
