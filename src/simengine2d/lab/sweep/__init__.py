"""Design studies: one model with many values of its parameters.

`samples` says which values, `variants` makes the models, `outputs` reduces each motion to numbers, `study` computes one
row after another, `executors` and `cluster` share the rows out, `folder` keeps them, `table` is the answer.
"""
