"""Inverse dynamics: from a motion to the forces that produce it."""
