"""Which torque must the motor give? A door opener, a motor at the other end of a linkage, two motors that share.

python examples/04_inverse_dynamics.py
"""

from math import pi

import numpy as np

import simengine2d as se
from simengine2d import builders

# a door of 30 kg on a hinge, with a closer: a spring and a damper on its angle
door = se.Model("door", gravity=(0, 0))
panel = door.body("door", mass=30, inertia=2.5, at=(0.5, 0), points={"H": (-0.5, 0)})
door.add(se.Revolute("hinge", door.ground, panel["H"]))
door.add(se.Spring("closer", se.angle(door.ground, panel), stiffness=8, damping=1))

# a driver says how the door opens; inverse dynamics says what that takes
door.add(se.Driver("motor", se.angle(door.ground, panel), "pi/2*sin(pi*t/4)"))
results = se.inverse_dynamics(door, t_end=2, step=0.01)
inertia, rate = 2.5 + 30 * 0.5**2, pi / 4
angle = pi / 2 * np.sin(rate * results.t)
theory = (8 - inertia * rate**2) * angle + pi / 2 * rate * np.cos(rate * results.t)
print(f"largest torque {results['motor.torque'].max():.6f} N m, in theory {theory.max():.6f} N m")
print(f"peak power {results['motor.power'].max():.3f} W, energy {results['motor.energy'][-1]:.3f} J")
print(f"the hinge carries up to {np.hypot(results['hinge.fx'], results['hinge.fy']).max():.2f} N")

# the torque alone, without the driver, moves the door in the same way
again = se.dynamics(se.feed_forward(results), t_eval=results.t, rtol=1e-10)
print(f"fed forward, the door follows within {np.abs(again['door.phi'] - angle).max():.1e} rad")

# a motion prescribed at one end of a linkage, made by a motor at the other: power is the same
linkage = builders.four_bar(1, 2, 3, 3, crank_angle="110*deg")
linkage.add(se.Driver("wanted", "angle(ground, rocker)", "2.26 + 0.1*sin(2*t)"))
at_rocker = se.inverse_dynamics(linkage, t_end=3)
at_crank = se.inverse_dynamics(linkage, t_end=3, actuators={"motor": "angle(ground, crank)"})
print(f"torque at the rocker {np.abs(at_rocker['wanted.torque']).max():.2f} N m", end=", ")
print(f"at the crank {np.abs(at_crank['motor.torque']).max():.2f} N m", end="; ")
print(f"powers differ by {np.abs(at_rocker['wanted.power'] - at_crank['motor.power']).max():.1e} W")

# two motors share the work with the smallest sum of squares, one of them within limits
both = {"crank": "angle(ground, crank)", "rocker": "angle(ground, rocker)"}
for limits in ({}, {"crank motor": (-5, 5)}):
    motors = {f"{name} motor": measure for name, measure in both.items()}
    shared = se.inverse_dynamics(linkage, t_end=3, actuators=motors, limits=limits)
    largest = ", ".join(f"{name} {np.abs(shared[f'{name}.effort']).max():.2f} N m" for name in motors)
    print(f"shared{' within limits' if limits else ''}: {largest}")
