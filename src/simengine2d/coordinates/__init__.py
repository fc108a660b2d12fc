"""Coordinate families: each says how frames depend on its q."""
