"""Synthesis: which linkage makes this motion?

The classical methods list all their solutions: `function_generator` (Freudenstein), `motion` (Burmester) and `path`.
`synthesize` searches for linkages of several types that come close to any target.
"""

from .function_generation import function_generator
from .motion_generation import motion
from .path_generation import path
from .solutions import SynthesizedLinkage, SynthesizedLinkages
from .targets import SynthesisTarget, function_target, path_target, pose_target, precision_points

__all__ = [
    "SynthesisTarget",
    "SynthesizedLinkage",
    "SynthesizedLinkages",
    "function_generator",
    "function_target",
    "motion",
    "path",
    "path_target",
    "pose_target",
    "precision_points",
]
