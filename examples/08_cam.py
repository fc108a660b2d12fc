"""A cam from the motion of its follower: the profile, its undercut, the motion it gives, the force it needs.

python examples/08_cam.py
"""

from math import degrees, radians
from pathlib import Path

import numpy as np

import simengine2d as se

# rise by 20 mm over 120 degrees, rest, return, rest
motion = se.cam_motion(
    (radians(120), 0.02, "cycloidal"),
    (radians(60), 0.02),
    (radians(120), 0, "cycloidal"),
    (radians(60), 0),
)
cam = se.cam_profile(motion, base_radius=0.04, follower="roller", roller_radius=0.01, offset=0.01)
print(cam)

# a base circle that is too small for a flat face: where it fails, and how large it must be
small = se.cam_profile(
    se.cam_motion(
        (radians(60), 0.02, "step5"), (radians(120), 0.02), (radians(60), 0, "step5"), (radians(120), 0)
    ),
    base_radius=0.03,
    follower="flat",
)
print(
    f"flat face: undercut at {degrees(small.undercut[0][0]):.0f} degrees, needs {small.smallest_base_radius:.4f} m"
)

# the same roller cam in a model file; a spring presses the follower on
model = se.load(Path(__file__).parent / "cam_follower.yaml")
results = se.dynamics(model, t_end=0.6283)
wanted = [cam.place(20 * t % (2 * np.pi))[1] for t in results.t]
print(f"follower off its program by {np.abs(results['follower.y'] - wanted).max():.1e} m")
print(f"contact force {results['contact.force'].min():.1f} to {results['contact.force'].max():.1f} N")
print(f"motor {results['motor.torque'].min():.3f} to {results['motor.torque'].max():.3f} Nm")
print(f"power balance {results.power_balance():.1e}")

# without the spring the follower is thrown off where it slows down
del model.elements["spring"]
loose = se.dynamics(model, t_end=0.6283)
print(*[note for note in loose.notes if "pulls" in note] or ["the weight alone keeps it on the cam"])
