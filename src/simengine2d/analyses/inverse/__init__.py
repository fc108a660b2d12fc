"""Inverse dynamics: a motion in, the forces that make it out."""
