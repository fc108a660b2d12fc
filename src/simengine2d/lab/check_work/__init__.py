"""Check my work: arrays and motions of a student against those of the engine, with the kind of each mistake."""

from .check import check
from .checked import CheckedWork, Mistake

__all__ = ["CheckedWork", "Mistake", "check"]
