"""The commands of `simengine2d`, one file per subject; `cli` gathers them."""
