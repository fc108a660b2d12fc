"""What a user writes: names and numbers. Bodies, frames, measures, joints, forces, curves."""
