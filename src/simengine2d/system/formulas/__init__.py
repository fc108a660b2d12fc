"""Constraints and forces that users write as formulas."""
