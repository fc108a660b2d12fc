"""The doctor: what is wrong with a model, or may be, in names and sentences, the likely cause first.

`data` examines numbers, `structure` the elements one by one, `constraints` all joints together in the closed pose,
`masses` what moves freely. Each yields findings; `doctor` sorts them.
"""
