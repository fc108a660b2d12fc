"""Pictures of models and motions: a scene as data, and what shows it.

`scene` says what to draw, `figure` and `animation` draw it with matplotlib, `html` and `widget` show it in a browser.
"""
