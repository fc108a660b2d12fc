"""Small motions: linearization, modes, Floquet multipliers."""
