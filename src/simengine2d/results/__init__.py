"""What an analysis returns: motion, channels, reactions, energy, events, and how far to trust them."""
