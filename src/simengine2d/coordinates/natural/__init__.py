"""Natural and mixed coordinates: points and unit vectors, with angles and distances where needed."""

from . import natural  # noqa: F401  (importing it registers the families)
