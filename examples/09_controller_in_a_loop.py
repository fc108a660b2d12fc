"""A controller in a loop of your own: a sampled regulator with a limited motor holds a pole upright on a cart.

python examples/09_controller_in_a_loop.py
"""

from math import pi

import numpy as np
from scipy.linalg import expm, solve_discrete_are

import simengine2d as se

# a cart with a pole, drawn upright; the push on the cart is zero until the controller sets it
model = se.Model("cart-pole", parameters={"tilt": 0})
model.block("cart", width=0.4, height=0.2, mass=1)
model.bar("pole", (0, 0), ("-sin(tilt)", "cos(tilt)"), mass=0.2)
model.add(se.Translational("rail", model.ground, "cart", direction=(1, 0)))
model.add(se.Revolute("pin", "cart", "pole.start"))
model.add(se.PointForce("push", "cart"))

# small motions about it, then over one period in which the push is held: x' = F x + G u
dt, limit = 0.05, 8.0
small = se.linearize(model, inputs=["push.fx"])
n = small.A.shape[0]
held = expm(dt * np.block([[small.A, small.B], [np.zeros((1, n + 1))]]))
F, G = held[:n, :n], held[:n, n:]

# the linear-quadratic regulator of the sampled motion
Q, R = np.eye(n), np.array([[0.1]])
P = solve_discrete_are(F, G, Q, R)
K = np.linalg.solve(R + G.T @ P @ G, G.T @ P @ F).ravel()
print("gains " + ", ".join(f"{name} {gain:.3f}" for name, gain in zip(small.states, K, strict=True)))
start = {name: pi / 2 if name == "pole.phi" else 0.0 for name in small.states}

# the loop: read the state by name, set the input, go on by one period; an event ends it at the rail's end
for tilt in (0.1, 0.2, 0.5):
    ends = [se.Event("cart.x - 1.5", "rising"), se.Event("cart.x + 1.5", "falling")]
    sim = se.Simulator(model.with_parameters(tilt=tilt), inputs=["push.fx"], events=ends)
    hit, largest = None, 0.0
    while sim.t < 8 and hit is None:
        force = -sum(gain * (sim[name] - start[name]) for name, gain in zip(small.states, K, strict=True))
        sim.set("push.fx", min(max(force, -limit), limit))
        largest = max(largest, abs(sim["push.fx"]))
        hit = sim.advance_by(dt)
    end = (
        f"hits the end of the rail at t = {hit.t:.3f} s"
        if hit
        else f"is {abs(sim['pole.phi'] - pi / 2):.1e} rad off after 8 s"
    )
    print(f"let go {tilt:.1f} rad off, with at most {largest:.2f} N, it {end}")
