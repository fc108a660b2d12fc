"""Sensitivities: exact derivatives of what an analysis computes with respect to the numbers of a model."""
