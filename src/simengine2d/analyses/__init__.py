"""Analyses: functions from a model to an answer."""
