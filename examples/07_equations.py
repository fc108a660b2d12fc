"""Write down the equations of a mechanism, and move a system that is nothing but formulas.

python examples/07_equations.py
"""

import numpy as np

import simengine2d as se
from simengine2d import builders
from simengine2d.symbolic import SymbolicSystem

# the equations of two hanging rods, in the angles of their joints: no constraints are left
chain = builders.chain(2).equations("relative")
print(chain)

# the same in reference-point coordinates, in the letters of another book; .html() or .tex() would write them to read
again = builders.chain(2).equations(notation="shabana")
print(f"in reference-point coordinates: {again.n} coordinates, {again.m} constraints, for example")
print(f"C = {again.C[0]},  Q_d = {again.Q_d[0]}")

# a link on a pin without any body: coordinates, constraints, masses and forces as text
link = SymbolicSystem(
    q="x y theta",
    C=["x - L/2*cos(theta)", "y - L/2*sin(theta)"],
    M=["m", "m", "m*L^2/12"],
    Q=[0, "-m*g", 0],
    parameters={"L": 0.5, "m": 0.3, "g": 9.81},
)
print(f"C_q = {link.C_q.tolist()},  Q_d = {list(link.Q_d)}")

# released from rest at theta = 0; the multipliers are the forces on the pin
start = link.initial(theta=0)
motion = se.dynamics(start, t_end=3, rtol=1e-9, formulation=se.Augmented(alpha=5, beta=5))
k = int(np.argmax(-motion["lam2"]))
print(f"it starts at x = {start['x']:g}; after 3 s theta = {motion['theta'][-1]:.6f} rad")
print(
    f"the pin holds {-motion['lam2'][k]:.3f} N at theta = {motion['theta'][k]:.3f} rad, in theory 2.5 m g = 7.358 N"
)
