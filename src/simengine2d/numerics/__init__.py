"""Compiled code and linear algebra: kernels, pointers to them, sparse and dense factorizations, roots."""
