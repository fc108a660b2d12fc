"""Synthesis: which linkage makes this motion?

The classical methods list all their solutions: `function_generator` (Freudenstein), `motion` (Burmester) and `path`.
`synthesize` searches for linkages of several types that come close to any target.
"""

from .function_generation import function_generator
from .motion_generation import motion
from .path_generation import path
from .solutions import SearchedLinkages, SynthesizedLinkage, SynthesizedLinkages, SynthesizedModel
from .survey import FourBarSurvey, survey_four_bars
from .synthesize import synthesize
from .targets import SynthesisTarget, function_target, path_target, pose_target, precision_points

__all__ = [
    "FourBarSurvey",
    "SearchedLinkages",
    "SynthesisTarget",
    "SynthesizedLinkage",
    "SynthesizedLinkages",
    "SynthesizedModel",
    "function_generator",
    "function_target",
    "motion",
    "path",
    "path_target",
    "pose_target",
    "precision_points",
    "survey_four_bars",
    "synthesize",
]
