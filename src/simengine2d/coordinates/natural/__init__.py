"""Natural and mixed coordinates: points and unit vectors, with angles and distances where needed."""

from . import mixed, natural  # noqa: F401  (importing them registers the families)
