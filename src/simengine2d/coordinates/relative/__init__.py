"""Relative coordinates: angles and displacements of the joints of a spanning tree, on articulated bodies."""

from . import relative  # noqa: F401  (importing it registers the family)
