"""Fits: the numbers of a model from measurements.

`unknowns` says which numbers are looked for, `experiments` reads what was measured, `problem` compares the model with
it, `gradients` differentiates that, `search` makes the differences small, `confidence` says how far the numbers can be
trusted, `identifiability` which of them cannot be found at all, `fitted` is the answer.
"""
