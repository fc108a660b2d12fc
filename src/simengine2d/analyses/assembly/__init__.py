"""Assembly: closing the loops, consistent velocities, diagnosis, all assembly modes."""
