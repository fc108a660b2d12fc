"""Text to values and derivatives: the grammar, tapes, tables, functions of time and force laws."""
