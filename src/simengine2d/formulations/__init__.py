"""Formulations: how the equations of motion are posed for an integrator."""
