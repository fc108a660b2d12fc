"""Assembly: closing the loops, velocities that the joints allow, diagnosis, all assembly modes."""
