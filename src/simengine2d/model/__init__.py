"""What the user writes, names and numbers: bodies, frames, measures, joints, forces, curves."""
