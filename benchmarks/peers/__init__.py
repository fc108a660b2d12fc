"""Other engines, one file each: a `Simulation` and the sweeps of its settings."""

import sys

# Exudyn looks here at its import: without range checks, with vector instructions
sys.exudynFast = True  # type: ignore[attr-defined]
