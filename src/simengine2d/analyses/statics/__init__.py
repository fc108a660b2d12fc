"""Equilibria, their paths and stability, preload."""
