"""Where does it come to rest, and is that stable? All poses of a sprung pendulum, a fold, the spring of a desk lamp.

python examples/05_equilibrium.py
"""

from math import cos, radians, sin

import numpy as np
from scipy.optimize import brentq

import simengine2d as se

# a pendulum of 10 kg with a spiral spring that wants to hold it level; `k` is a parameter
pendulum = se.Model("sprung pendulum", parameters={"k": 25})
bar = pendulum.body("bar", mass=10, inertia=10 / 3, at=(1, 0), points={"O": (-1, 0)})
pendulum.add(se.Revolute("O", pendulum.ground.at(0, 0), bar["O"]))
pendulum.add(se.Spring("spring", se.angle(pendulum.ground, bar), stiffness="k"))

# three methods: Newton's, letting it go with damping, going down to the lowest energy
for method in ("newton", "relaxation", "energy"):
    found = se.equilibrium(pendulum, method=method, start={"bar.phi": 3.4})
    print(f"{method}: phi = {found['bar.phi'][0]:.9f} rad, {found.stability[0]}")

# all poses at once, with the reaction of the pin in each
for one in se.equilibrium(pendulum, all=True):
    print(f"phi = {one['bar.phi'][0]:8.5f} rad: {one.stability[0].verdict}, pin {one['O.fy'][0]:.2f} N")

# with a stiffer spring two of them meet and vanish: the path of equilibria folds
path = se.equilibrium_path(pendulum, "k", 60, start={"bar.phi": 3.57})
theory = 98.1 * sin(brentq(lambda phi: cos(phi) + phi * sin(phi), 2, 3.1))
print(f"{len(path)} points of the path, fold at k = {path.folds[0][0]:.9f}, in theory {theory:.9f} N m/rad")

# a desk lamp: which spring holds the arm at 40 degrees?
lamp = se.Model("lamp")
angle = radians(40)
arm = lamp.bar("arm", (0, 0), (cos(angle), sin(angle)), mass=2)
lamp.add(se.Revolute("foot", lamp.ground, arm["start"]))
lamp.add(se.Spring("spring", se.distance(lamp.ground.at(0, 1), arm["end"]), stiffness=200, free=0.4))
loaded = se.preload(lamp, "spring")
print(loaded)
stays = se.equilibrium(loaded.model)
print(f"then it stays at {np.degrees(stays['arm.phi'][0]):.6f} degrees: {stays.stability[0].verdict}")
