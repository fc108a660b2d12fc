"""Kinematics of driven mechanisms, including change points."""
