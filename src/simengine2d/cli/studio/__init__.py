"""The studio: a page on this machine on which a mechanism is drawn, moved and measured.

Nothing of it is imported before `simengine2d studio` runs. The text of the model is the truth: the page holds it and
sends it along; the server keeps files and drafts, and gives the work to processes of its own.
"""
