"""The doctor: what is wrong with a model, or may be, in names and sentences, the likely cause first.

`data` looks at numbers, `structure` at elements one by one, `constraints` at all joints together in the closed pose,
`masses` at what moves freely. Each yields findings; `doctor` puts them in order.
"""
