"""The model as arrays: constraints, applied forces, mass, their derivatives, and the equations of motion."""
