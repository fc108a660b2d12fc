"""Give me A, B, C, D: the vibrations of a chain, and a controller that holds a pole upright on a cart.

python examples/06_vibration_and_control.py
"""

from math import pi, sqrt

import numpy as np
from scipy.linalg import solve_continuous_are

import simengine2d as se
from simengine2d import builders

# natural frequencies of two hanging rods, and how they move
chain = se.modes(builders.chain(2))
theory = [sqrt(9.81 * (3 + sign * 6 / sqrt(7))) for sign in (-1, 1)]
for i, exact in enumerate(theory):
    shape = chain.shape(i)
    turn = (shape["link2.phi"] / shape["link1.phi"]).real
    print(
        f"mode {i}: {chain.omega[i]:.10f} rad/s, in theory {exact:.10f}; the lower rod turns {turn:.3f} times as far"
    )

# a cart with a pole; the model is drawn upright, which is an equilibrium, if an unstable one
model = se.Model("cart-pole", parameters={"tilt": 0})
cart = model.body("cart", mass=1, inertia=1)
top = ("-0.5*sin(tilt)", "0.5*cos(tilt)")
pole = model.body("pole", mass=0.2, inertia=0.2 / 12, at=top, angle="90*deg + tilt", points={"A": (-0.5, 0)})
model.add(se.Translational("rail", model.ground.at(0, 0), cart))
model.add(se.Revolute("A", cart, pole["A"]))

# small motions about it, with a push on the cart as input; .control() would make a StateSpace of python-control
small = se.linearize(model, inputs={"push": "cart.x"})
print(small)

# the linear-quadratic regulator: K = R^-1 B^T P with A^T P + P A - P B R^-1 B^T P + Q = 0
Q, R = np.diag([1.0, 10.0, 1.0, 1.0]), np.array([[0.1]])
K = np.linalg.solve(R, small.B.T @ solve_continuous_are(small.A, small.B, Q, R)).ravel()
print("gains " + ", ".join(f"{name} {gain:.3f}" for name, gain in zip(small.states, K, strict=True)))

# in the nonlinear mechanism, pushed at the pin: let go 0.3 rad off, it stands up again
held = model.with_parameters(tilt=0.3)
held.parameters |= {f"k{i}": float(gain) for i, gain in enumerate(K)}
position, speed = "(x - 0.5*cos(phi))", "(xd + 0.5*sin(phi)*phid)"
push = f"-k0*{position} - k1*(phi - pi/2) - k2*{speed} - k3*phid"
held.add(se.PointForce("controller", "pole.A", fx=push))
for name, each in {"without": model.with_parameters(tilt=0.3), "with": held}.items():
    motion = se.dynamics(each, t_end=10, rtol=1e-8)
    off = np.abs(motion["pole.phi"] - pi / 2)
    print(f"{name} the controller: at most {off.max():.3f} rad off, {off[-1]:.1e} rad after 10 s")
