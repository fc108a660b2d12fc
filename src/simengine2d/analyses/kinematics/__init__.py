"""Kinematics of driven mechanisms, through change points."""
