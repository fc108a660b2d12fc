"""Reference-point coordinates: x, y and phi of each body, on the sparse factorization."""

from . import reference_point  # noqa: F401  (importing it registers the family)
