"""What designers ask of a linkage: its class and circuits, how it transmits forces, how it shakes, what drives it."""
