"""A four-bar linkage, from a drawing to velocities: build it, ask what it can do, drive it, read the motion.

python examples/01_four_bar_kinematics.py
"""

import numpy as np

import simengine2d as se

# three bars drawn where they stand at t = 0; a bar has the points `start` and `end`
model = se.Model("four-bar")
crank = model.bar("crank", (0, 0), (0, 1), mass=1)
coupler = model.bar("coupler", (0, 1), (4, 3), mass=4)
rocker = model.bar("rocker", (4, 3), (4, 0), mass=3)
model.add(se.Revolute("O", model.ground, crank["start"]))
model.add(se.Revolute("A", crank["end"], coupler["start"]))
model.add(se.Revolute("B", coupler["end"], rocker["start"]))
model.add(se.Revolute("C", model.ground, rocker["end"]))

# without a driver one motion is free; the diagnosis names it
print(se.diagnose(model))

# a driver takes the freedom away: one turn per second
model.add(se.Driver("motor", se.angle(model.ground, crank), "pi/2 + 2*pi*t"))
results = se.kinematics(model, t_end=1, step=0.01)
print(results.summary())

# channels: bodies, points of bodies, and measures between any two points
swing = np.ptp(results["rocker.phi"])
print(f"the rocker swings through {np.degrees(swing):.2f} degrees")
print(f"its fastest angular velocity is {np.abs(results['rocker.phid']).max():.3f} rad/s")
reach = results["distance(crank.start, coupler.end)"]
print(f"O and B are {reach.min():.3f} to {reach.max():.3f} m apart")
