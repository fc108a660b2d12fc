"""Equations as HTML with MathML, which browsers show without any script."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any
from xml.dom.minidom import parseString

import sympy as sp
from sympy.printing.mathml import MathMLPresentationPrinter

from .layout import Formula, PageLayout
from .letters import Letter

if TYPE_CHECKING:
    from .equations import Equations

STYLE = """
.equations { font-family: system-ui, sans-serif; line-height: 1.5; }
.equations h2 { font-size: 1.05rem; margin: 1.4rem 0 0.3rem; border-bottom: 1px solid #8886; }
.equations .formula { margin: 0.6rem 0; overflow: auto hidden; }
.equations .bold { font-weight: bold; }
.equations mtd { padding: 0.2em 0.5em; }
.equations .matrix { margin: 0 0.25em; border: solid currentcolor; border-width: 0 1px;
  --tick: linear-gradient(currentcolor 0 0);
  background: var(--tick) 0 0 / 5px 1px no-repeat, var(--tick) 0 100% / 5px 1px no-repeat,
    var(--tick) 100% 0 / 5px 1px no-repeat, var(--tick) 100% 100% / 5px 1px no-repeat; }
.equations td { padding: 0.1rem 1rem 0.1rem 0; text-align: left; }
"""
PAGE = """<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>%s</title><style>body { margin: 2rem auto; max-width: 60rem; padding: 0 1rem; overflow-wrap: anywhere; }
</style></head>
<body><h1>%s</h1>
%s
</body>
</html>
"""


def page(equations: Equations) -> str:
    """A page that needs nothing from elsewhere."""
    title = escape(equations.title)
    return PAGE % (title, title, fragment(equations))


def fragment(equations: Equations) -> str:
    """Headings and formulas, as notebooks show them."""
    layout = PageLayout(equations)
    parts = [f"<p>{escape(sentence)}</p>" for sentence in equations.remarks]
    for section in layout.sections:
        parts.append(f"<h2>{escape(section.title)}</h2><p>{escape(section.sentence)}</p>")
        parts += [_math(formula, layout.letters) for formula in section.formulas]
    if equations.legend:
        rows = (
            f"<tr><td><math>{layout.letters[entry.symbol].mathml()}</math></td><td>{entry.value:.10g}</td>"
            f"<td>{escape(entry.meaning)}</td></tr>"
            for entry in equations.legend
        )
        parts.append(f"<h2>Numbers</h2><table>{''.join(rows)}</table>")
    body = "\n".join(parts)
    return f'<div class="equations"><style>{STYLE}</style>\n{body}\n</div>'


def _math(formula: Formula, letters: dict[sp.Symbol, Letter]) -> str:
    parts = (f"<mo>{part}</mo>" if isinstance(part, str) else mathml(part, letters) for part in formula)
    return f'<div class="formula"><math display="block"><mrow>{"".join(parts)}</mrow></math></div>'


def mathml(expression: sp.Basic, letters: dict[sp.Symbol, Letter]) -> str:
    """MathML with true minus signs, and thin spaces between factors."""
    text = str(_Printer(letters).doprint(expression))
    text = text.replace("<mo>-</mo>", "<mo>\u2212</mo>").replace("<mn>-", "<mn>\u2212")
    return text.replace("<mo>&InvisibleTimes;</mo>", '<mspace width="0.17em"/>')


class _Printer(MathMLPresentationPrinter):
    """SymPy's printer with our letters."""

    def __init__(self, letters: dict[sp.Symbol, Letter]) -> None:
        super().__init__()
        self.letters = letters

    def _print_Symbol(self, sym: sp.Symbol, style: str = "plain") -> Any:
        letter = self.letters.get(sym)
        if letter is None:
            return super()._print_Symbol(sym, style)
        return parseString(letter.mathml()).documentElement

    def _print_MatrixBase(self, m: sp.Matrix) -> Any:
        """The brackets are drawn by the style of the page: few fonts have tall ones."""
        printed = super()._print_MatrixBase(m)
        table = printed.getElementsByTagName("mtable")[0]
        table.setAttribute("class", "matrix")
        table.setAttribute("displaystyle", "true")
        return table
