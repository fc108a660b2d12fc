"""A pendulum under its weight: its period against theory, its energy, the force in its bearing.

python examples/02_pendulum_dynamics.py
"""

from math import pi, radians, sin, sqrt

import numpy as np
from scipy.special import ellipk

import simengine2d as se

LENGTH, START = 1.0, radians(60)  # m; from the vertical

# a uniform bar that hangs from O and is let go at the angle START
model = se.Model("pendulum", parameters={"L": LENGTH, "start": START})
bar = model.bar("bar", (0, 0), ("L*sin(start)", "-L*cos(start)"), mass=2)
model.add(se.Revolute("O", model.ground, bar["start"]))

# no integrator is named: the steps adapt themselves to the motion
results = se.dynamics(model, t_end=10, step=0.005, rtol=1e-9)
print(results.summary())

# the period of a large swing is an elliptic integral; a uniform bar swings like a point at 2/3 of its length
exact = 4 * sqrt(2 * LENGTH / 3 / 9.81) * ellipk(sin(START / 2) ** 2)
angle, t = results["bar.phi"] + pi / 2, results.t
rising = np.flatnonzero((angle[:-1] < 0) & (angle[1:] >= 0))
crossings = t[rising] - angle[rising] * (t[rising + 1] - t[rising]) / (angle[rising + 1] - angle[rising])
print(f"period {np.diff(crossings).mean():.6f} s, in theory {exact:.6f} s")

# the bearing carries most at the lowest point: weight and centripetal force
print(f"largest force in O {np.hypot(results['O.fx'], results['O.fy']).max():.3f} N")
print(f"in theory          {2 * 9.81 * (1 + 1.5 * (1 - np.cos(START))):.3f} N")

# the same with an implicit method of fixed steps, which damps a little
for method in ("newmark", "generalized_alpha"):
    energy = se.dynamics(model, t_end=10, step=0.005, integrator=method).energy()
    lost = (energy.total[0] - energy.total[-1]) / np.ptp(energy.kinetic)
    print(f"{method} with steps of 5 ms loses {100 * lost:.3f} % of the swing's energy in 10 s")
