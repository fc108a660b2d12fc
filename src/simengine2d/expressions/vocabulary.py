"""The names that a model gives to tables and formulas, for use in its expressions.

    tables: {gas: {points: [[0, 1], [1, 5], [2, 3]]}}
    formulas: {angle: crank.phi - 0.2, "pressure(u)": "2e5*gas(u)"}

A table becomes a `Lookup`; a formula is written out in place of its name, so that derivatives stay exact.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from functools import cached_property
from graphlib import CycleError, TopologicalSorter

from ..errors import ModelError, Problem, Subject
from .evaluate import calls_in, substitute
from .parser import parse
from .syntax import IDENTIFIER, Call, Lookup, Name, Node, mistake, walk
from .table import Table

LARGEST = 10_000  # parts of an expression written out
SIGNATURE = re.compile(rf"\s*({IDENTIFIER})\s*(?:\(\s*({IDENTIFIER}(?:\s*,\s*{IDENTIFIER})*)\s*\))?\s*")


def signature(text: str) -> tuple[str, tuple[str, ...]]:
    """Name and arguments: `gap`, `pressure(u)`."""
    match = SIGNATURE.fullmatch(text)
    if match is None:
        raise ModelError(
            f"formula '{text}': a name is a word, with arguments if it has any: gap, pressure(u)."
        )
    arguments = tuple(part.strip() for part in match[2].split(",")) if match[2] else ()
    return match[1], arguments


class Vocabulary:
    """Tables and formulas by name; their names are checked against `taken`, names with their meanings."""

    def __init__(
        self,
        tables: Mapping[str, Table],
        formulas: Mapping[str, str],
        taken: Mapping[str, str] | None = None,
        also: Collection[str] = (),
    ) -> None:
        self.tables, self.also, taken = dict(tables), tuple(also), taken or {}
        self.texts: dict[str, str] = {}
        self.arguments: dict[str, tuple[str, ...]] = {}
        for words, text in formulas.items():
            name, self.arguments[name] = signature(words)
            if name in self.texts or name in tables:
                raise ModelError(
                    Problem(f"formula '{name}' is there twice; rename one.", ("formulas", words))
                )
            self.texts[name] = text
        for kind, names in (("table", self.tables), ("formula", self.texts)):
            for name in names:
                if name in taken or re.fullmatch(IDENTIFIER, name) is None:
                    what = "is not a plain word"
                    if name in taken:
                        what = f"has a meaning in expressions already, {taken[name]}"
                    raise ModelError(
                        Problem(f"{kind} '{name}': this name {what}. Give it another.", (f"{kind}s", name))
                    )

    @cached_property
    def callable(self) -> tuple[str, ...]:
        return *self.tables, *(name for name, arguments in self.arguments.items() if arguments)

    def parse(self, text: str, also: Collection[str] = ()) -> Node:
        """The tree of an expression, with tables and formulas in place of their names."""
        if not (self.tables or self.texts):
            return parse(text, also)
        tree = self._expanded(parse(text, (*also, *self.callable)), self.trees)
        if sum(1 for _ in walk(tree)) > LARGEST:
            raise mistake(
                tree.place, f"it has more than {LARGEST} parts when written out. Use a table instead."
            )
        return tree

    @cached_property
    def trees(self) -> dict[str, Node]:
        """Every formula, written out; those that others use come first."""
        trees = {name: self._parsed(name) for name in self.texts}
        needs = {name: (tree.names | calls_in(tree)) & trees.keys() for name, tree in trees.items()}
        written: dict[str, Node] = {}
        try:
            for name in TopologicalSorter(needs).static_order():
                written[name] = self._expanded(trees[name], written)
                if sum(1 for _ in walk(written[name])) > LARGEST:
                    raise ModelError(f"formula '{name}' has more than {LARGEST} parts when written out.")
        except CycleError as error:
            raise ModelError(f"formulas use each other in a circle: {' -> '.join(error.args[1])}.") from None
        return written

    def _parsed(self, name: str) -> Node:
        try:
            return parse(self.texts[name], (*self.also, *self.callable))
        except ModelError as error:
            raise ModelError(
                [Subject(f"formula '{name}'").says(problem) for problem in error.problems]
            ) from None

    def _expanded(self, node: Node, trees: Mapping[str, Node]) -> Node:
        node = node.with_parts([self._expanded(part, trees) for part in node.parts])
        if isinstance(node, Name) and node.name in trees:
            if self.arguments[node.name]:
                raise mistake(
                    node.place, f"'{node.name}' is a formula with arguments. {self._usage(node.name)}"
                )
            return trees[node.name]
        if not isinstance(node, Call):
            return node
        if node.name in self.tables:
            if len(node.args) != 1:
                raise mistake(
                    node.place, f"the table '{node.name}' has one argument, found {len(node.args)}."
                )
            return Lookup(node.name, self.tables[node.name], node.args[0], place=node.place)
        if node.name not in trees:
            return node
        arguments = self.arguments[node.name]
        if len(arguments) != len(node.args):
            raise mistake(node.place, f"found {len(node.args)} arguments. {self._usage(node.name)}")
        return substitute(trees[node.name], dict(zip(arguments, node.args, strict=True)))

    def _usage(self, name: str) -> str:
        return f"Write {name}({', '.join(self.arguments[name])})."
