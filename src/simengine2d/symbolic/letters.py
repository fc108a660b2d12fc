"""Letters: how a symbol is printed. Greek ones may be written by name, theta_1, or as they are, θ₁."""

from __future__ import annotations

import re
from html import escape
from typing import NamedTuple
from unicodedata import normalize

from sympy.printing.latex import tex_greek_dictionary
from sympy.printing.pretty.pretty_symbology import greek_unicode

GREEK = set(greek_unicode)
"""Names of letters."""
GREEK_NAMES = {sign: name for name, sign in greek_unicode.items()} | {
    "\u03d5": "phi",  # as LaTeX draws \phi
    "\u03f5": "epsilon",  # as LaTeX draws \epsilon
    "\u00b5": "mu",  # the micro sign, which keyboards have
    "\u03d1": "vartheta",
    "\u03c2": "varsigma",
    "\u03d6": "varpi",
    "\u03f1": "varrho",
    "\u03f0": "varkappa",
}
DIGITS_BELOW = {ord(sign): str(digit) for digit, sign in enumerate("₀₁₂₃₄₅₆₇₈₉")}
LATEX_SIGNS = {
    "\\": r"\backslash ",
    "_": r"\_",
    "%": r"\%",
    "#": r"\#",
    "&": r"\&",
    "$": r"\$",
    "{": r"\{",
    "}": r"\}",
    "^": r"\hat{\ }",
    "~": r"\sim ",
    " ": r"\ ",
}
DOTS = {1: "\u02d9", 2: "\u00a8"}
DOT_WORDS = {"dot": 1, "ddot": 2}


class Letter(NamedTuple):
    """A base such as "x" or "phi" with a sign before it, words below and above, and dots for time derivatives."""

    base: str
    below: str = ""
    above: str = ""
    dots: int = 0
    sign: str = ""
    bold: bool = False
    """Vectors and matrices are."""

    def latex(self) -> str:
        base = _latex_base(self.base)
        base = rf"\boldsymbol{{{base}}}" if self.bold else base
        if self.dots:
            base = rf"\{'d' * self.dots}ot{{{base}}}"
        below = f"_{{{_latex_words(self.below)}}}" if self.below else ""
        above = f"^{{{_latex_words(self.above)}}}" if self.above else ""
        return self.sign + base + below + above

    def mathml(self) -> str:
        base = greek_unicode.get(self.base, escape(self.base))
        if self.bold:
            base = f'<mi mathvariant="normal" class="bold">{base}</mi>'
        elif len(base) > 1:  # a word, which should not run into the next letter
            base = f'<mrow><mi>{base}</mi><mspace width="0.17em"/></mrow>'
        else:
            base = f"<mi>{base}</mi>"
        if self.dots:
            base = f'<mover accent="true">{base}<mo stretchy="false">{DOTS[self.dots]}</mo></mover>'
        below, above = _mathml_words(self.below), _mathml_words(self.above)
        if self.below and self.above:
            base = f"<msubsup>{base}{below}{above}</msubsup>"
        elif self.below:
            base = f"<msub>{base}{below}</msub>"
        elif self.above:
            base = f"<msup>{base}{above}</msup>"
        return f"<mrow><mo>{self.sign}</mo>{base}</mrow>" if self.sign else base

    def of(self, *groups: str) -> Letter:
        """The part that belongs to a body, or to two."""
        return self._replace(below=", ".join(part for part in (self.below, *groups) if part))

    def at(self, joint: str) -> Letter:
        """The part that belongs to a joint."""
        return self._replace(above=joint or self.above)

    @property
    def is_greek(self) -> bool:
        return self.base in GREEK


# From names -------------------------------------------------------------------------------------------


def letter_of(name: str, dots: int = 0) -> Letter:
    """theta_1, theta1 and θ₁ as a letter with 1 below; phi_dot with a dot; L_rod_A with two words below."""
    base, *below = [word for word in re.split(r"_+", spelled(name)) if word] or [name]
    while below and dots + DOT_WORDS.get(below[-1], 3) <= 2:
        dots += DOT_WORDS[below.pop()]
    numbered = re.fullmatch(r"([^\W\d]+)(\d+)", base)
    if numbered and (len(numbered[1]) == 1 or numbered[1] in GREEK):
        base, below = numbered[1], [numbered[2], *below]
    return Letter(base, ", ".join(below), dots=dots)


def spelled(name: str) -> str:
    """A Greek letter by its name, where it is alone before digits or _; digits below the line as digits after _."""
    plain = re.sub("[₀-₉]+", lambda digits: "_" + digits[0].translate(DIGITS_BELOW), name)
    first, rest = plain[:1], plain[1:]
    return GREEK_NAMES[first] + rest if first in GREEK_NAMES and not rest[:1].isalpha() else plain


COORDINATE_LETTERS = {"angle": "theta", "along": "s", "ux": "u", "uy": "u"}
"""Letters of coordinates whose names are words."""


def coordinate_letter(name: str, order: int = 0) -> Letter:
    """`A.x` as x_A, `slider.ux` as u_{x, slider}, `O.angle` as theta_O, and their rates of an order."""
    owner, _, quantity = name.rpartition(".")
    letter = COORDINATE_LETTERS.get(quantity, quantity)
    return Letter(letter, f"{quantity[-1]}, {owner}" if letter == "u" else owner, dots=order)


# LaTeX and MathML -------------------------------------------------------------------------------------


def without_accent(sign: str) -> str:
    """A letter of Greek words, for which mathematics has no accents."""
    return normalize("NFD", sign)[0]


def greek_command(name: str) -> str:
    r"""\theta; capitals that look like Latin ones are upright Latin ones."""
    return str(tex_greek_dictionary.get(name, rf"\{name}"))


def _latex_base(base: str) -> str:
    if base in GREEK:
        return greek_command(base)
    if len(base) == 1 and base.isalnum() and base.isascii():
        return base
    return rf"\mathrm{{{_latex_signs(base)}}}\,"


def _latex_words(words: str) -> str:
    """Words below or above a letter; those of one letter in italics."""
    return ",".join(map(_latex_word, words.split(", ")))


def _latex_word(word: str) -> str:
    letter = letter_of(word)
    if letter.is_greek:
        return letter.latex()
    return word if len(word) == 1 and word.isalnum() and word.isascii() else _upright(word)


def _upright(word: str) -> str:
    return rf"\mathrm{{{_latex_signs(word)}}}"


def _latex_signs(text: str) -> str:
    return "".join(map(_latex_sign, text))


def _latex_sign(sign: str) -> str:
    bare = without_accent(sign)
    if bare in GREEK_NAMES:
        return greek_command(GREEK_NAMES[bare]) + " "
    if ord(sign) in DIGITS_BELOW:
        return f"{{}}_{{{DIGITS_BELOW[ord(sign)]}}}"
    return LATEX_SIGNS.get(sign, sign)


def _mathml_words(words: str) -> str:
    """The same for a page, where signs need no commands."""
    parts = [_mathml_word(word) for word in words.split(", ")]
    return parts[0] if len(parts) == 1 else f"<mrow>{'<mo>,</mo>'.join(parts)}</mrow>"


def _mathml_word(word: str) -> str:
    letter = letter_of(word)
    return letter.mathml() if letter.is_greek else f"<mi>{escape(word)}</mi>"
