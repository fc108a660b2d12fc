"""Forward dynamics: what is asked for, where it starts, and the runs that answer."""
