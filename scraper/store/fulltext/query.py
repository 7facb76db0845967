"""What a cache query means: FTS5's language where it is well formed, quoted words where it is not.

The grammar is FTS5's own, and so is what binds how closely (words side by side, NOT, AND, OR): words (all
of them), "phrases", prefix*, ^first, a + b, AND, OR, NOT, brackets, NEAR(a b, 5), and title: or text: before
any. Nothing of the caller's is handed to SQLite unquoted. What holds no word, such as `*`, is passed over.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from scraper.store.fulltext.query_tokens import QueryToken, columns, tokens
from scraper.store.fulltext.query_tree import (
    AllOf,
    AnyOf,
    InColumns,
    Near,
    Node,
    PhraseSequence,
    QueryTerm,
    Without,
    expression,
    joined,
    rows,
)
from scraper.store.fulltext.tokenization import has_words, is_unspaced

WORDS_LIMIT = 64
"""Words of a query that count; a pasted page is no query, and each word costs a look into the index."""
PHRASE_CHARS = 500
"""Of one word or phrase: ten thousand times the same word took a second to look for."""
PREFIX_COSTS, PREFIX_BUDGET = {1: 8, 2: 1}, 16
"""What prefixes of one and two letters cost, and may cost together: with 100,000 pages, one letter takes
half a second, since FTS5 gathers every word that begins so, and cannot be stopped at it."""
DEPTH_LIMIT = 32
"""Of parentheses; FTS5's own limit is 256."""
NEAR_WORDS = 10
"""FTS5's own default."""
NEAR_LIMIT = 1_000

_OPERATORS = frozenset({"AND", "OR", "NOT"})
_COMMA = re.compile("(,)")
_PLAIN = re.compile(r"[\w\u0080-\U0010ffff]+\*?")
"""What FTS5 itself takes for a word."""


@dataclass(frozen=True, slots=True)
class CacheQuery:
    """A query, understood."""

    expression: str
    """For MATCH; empty when there is nothing to look for."""
    units: tuple[QueryTerm, ...]
    """What a hit shows; nothing that is excluded."""
    phrases: tuple[str, ...] = ()
    """Every word or phrase of the expression in its order, each an expression of its own."""
    note: str = ""
    """What the caller should know about how it was read."""
    tree: Node | None = None
    """The same for an index that has another language."""


class _Malformed(Exception):
    """Not FTS5's language."""


def parse(query: str) -> CacheQuery:
    """Read a query; whatever was written, there is a meaning and no error."""
    pieces = tokens(query.replace("\0", " "))
    cut = sum(piece.kind in {"phrase", "word"} for piece in pieces) > WORDS_LIMIT
    if cut:
        return _literal(pieces, f"Only the first {WORDS_LIMIT} words of the query were looked for.")
    if query.count('"') % 2:
        return _literal(pieces, _SAID_LITERAL)
    if any(len(piece.text) > PHRASE_CHARS for piece in pieces):
        return _literal(pieces, f"Only {PHRASE_CHARS} characters of a word or phrase were looked for.")
    parser = _Parser(pieces)
    try:
        tree = parser.whole()
    except _Malformed:
        return _literal(pieces, _SAID_LITERAL)
    return _wanted(tree, parser.units, _note(parser))


def as_words(query: str) -> CacheQuery:
    """Every word of a query, whatever stands between them."""
    return _literal(tokens(query.replace("\0", " ")), _SAID_LITERAL)


_SAID_LITERAL = "The query is not valid search syntax; its words were looked for as they are."


def _note(parser: _Parser) -> str:
    said = []
    if parser.quoted:
        said.append(f"Looked for as written: {', '.join(parser.quoted[:3])}.")
    if parser.beside_brackets:
        said.append("What stands beside brackets without AND, OR or NOT was read as AND.")
    if parser.too_short:
        said.append(f"Too short to be more than words: {', '.join(parser.too_short[:3])}.")
    if parser.passed_over:
        said.append("Signs without a word were passed over.")
    return " ".join(said)


def _literal(pieces: list[QueryToken], note: str) -> CacheQuery:
    """Every word as it stands, all of them wanted."""
    texts = [piece.text[:PHRASE_CHARS].rstrip(": ") for piece in pieces]
    units = [QueryTerm(text) for text in texts if has_words(text)][:WORDS_LIMIT]
    return _wanted(joined(AllOf, [PhraseSequence((unit,)) for unit in units]), units, note)


def _wanted(tree: Node | None, units: list[QueryTerm], note: str) -> CacheQuery:
    return CacheQuery(
        expression(tree), tuple(units), tuple(expression(row) for row in rows(tree)), note, tree
    )


class _Parser:
    """Recursive descent over FTS5's grammar."""

    def __init__(self, tokens: list[QueryToken]) -> None:
        self.units: list[QueryTerm] = []
        self.quoted: list[str] = []
        self.too_short: list[str] = []
        self.beside_brackets = self.passed_over = False
        self._tokens = tokens
        self._at = 0
        self._depth = 0
        self._prefixes = PREFIX_BUDGET
        self._excluding = False

    def whole(self) -> Node | None:
        """What is looked for; None for a query without words."""
        if not self._tokens:
            return None
        tree = self._either()
        if self._at < len(self._tokens):
            raise _Malformed
        return tree

    def _either(self) -> Node | None:
        return joined(AnyOf, self._chain("OR", self._all))

    def _all(self) -> Node | None:
        return joined(AllOf, self._chain("AND", self._without))

    def _without(self) -> Node | None:
        wanted = self._side_by_side()
        while self._is_word("NOT"):
            self._at += 1
            before, self._excluding = self._excluding, True
            unwanted = self._side_by_side()
            self._excluding = before
            if wanted is not None and unwanted is not None:
                wanted = Without(wanted, unwanted)
        return wanted

    def _side_by_side(self) -> Node | None:
        brackets = self._opens()
        parts = [self._one()]
        while self._at < len(self._tokens) and not (self._is(")") or self._is_operator()):
            brackets = brackets or self._opens()
            self.beside_brackets = self.beside_brackets or brackets
            parts.append(self._one())
        return joined(AllOf, parts)

    def _chain(self, operator: str, part: Callable[[], Node | None]) -> list[Node | None]:
        parts = [part()]
        while self._is_word(operator):
            self._at += 1
            parts.append(part())
        return parts

    def _one(self) -> Node | None:
        if self._at >= len(self._tokens) or self._is(")") or self._is_operator():
            raise _Malformed
        token = self._tokens[self._at]
        self._at += 1
        if token.kind == "(":
            return self._group()
        if token.kind == "columns":
            if self._is("columns"):
                raise _Malformed
            inner = self._one()
            return InColumns(columns(token.text), inner) if inner is not None else None
        if token.text == "NEAR" and token.kind == "word" and self._is("("):
            return self._near()
        return self._row_of_words(token)

    def _group(self) -> Node | None:
        self._depth += 1
        if self._depth > DEPTH_LIMIT:
            raise _Malformed
        inner = self._either()
        if not self._is(")"):
            raise _Malformed
        self._at += 1
        self._depth -= 1
        return inner

    def _row_of_words(self, token: QueryToken) -> Node | None:
        """A word or phrase, with what `+` and `*` add to it."""
        first = token.kind == "word" and token.text.startswith("^")
        if first and token.text == "^":
            token = self._next_text()
        elif first:
            token = QueryToken("word", token.text[1:])
        units = [self._starred(token)]
        while self._is_word("+"):
            self._at += 1
            units.append(self._starred(self._next_text()))
        self.passed_over = self.passed_over or not all(has_words(unit.text) for unit in units)
        said = [self._affordable(unit) for unit in units if has_words(unit.text)]
        if not said:
            return None
        if not self._excluding:
            self.units.append(QueryTerm(" ".join(unit.text for unit in said), said[-1].prefix))
        return PhraseSequence(tuple(said), first)

    def _starred(self, token: QueryToken) -> QueryTerm:
        unit = self._unit(token)
        if not self._is_word("*") or unit.prefix:
            return unit
        self._at += 1
        return QueryTerm(unit.text, prefix=True)

    def _affordable(self, unit: QueryTerm) -> QueryTerm:
        """The unit; without its star where too many words would begin so."""
        letters = len(unit.text.split()[-1].strip("'.,-"))
        cost = PREFIX_COSTS.get(letters, 0) if unit.prefix and not is_unspaced(unit.text[-1]) else 0
        if cost <= self._prefixes:
            self._prefixes -= cost
            return unit
        self.too_short.append(f"{unit.text}*")
        return QueryTerm(unit.text)

    def _next_text(self) -> QueryToken:
        if not (self._is("word") or self._is("phrase")) or self._is_operator():
            raise _Malformed
        token = self._tokens[self._at]
        if token.kind == "word" and token.text[0] in "^+*":
            raise _Malformed
        self._at += 1
        return token

    def _unit(self, token: QueryToken) -> QueryTerm:
        if token.kind == "phrase":
            return QueryTerm(token.text, token.prefix)
        if not _PLAIN.fullmatch(token.text) and has_words(token.text):
            self.quoted.append(token.text.rstrip("*"))
        return QueryTerm(token.text.rstrip("*"), token.text.endswith("*"))

    def _near(self) -> Node | None:
        """NEAR(word "a phrase" ..., distance)."""
        units, distance = _near_parts(self._inside_brackets())
        if not units:
            return None
        if not self._excluding:
            self.units += units
        return Near(tuple(self._affordable(unit) for unit in units), distance)

    def _inside_brackets(self) -> list[QueryToken]:
        opened = self._at
        while not self._is(")"):
            self._at += 1
            if self._at >= len(self._tokens) or self._is("("):
                raise _Malformed
        self._at += 1
        return self._tokens[opened + 1 : self._at - 1]

    def _is(self, kind: str) -> bool:
        return self._at < len(self._tokens) and self._tokens[self._at].kind == kind

    def _is_word(self, word: str) -> bool:
        return self._is("word") and self._tokens[self._at].text == word

    def _opens(self) -> bool:
        """Whether brackets come next, with columns before them or without."""
        ahead = self._tokens[self._at : self._at + 2]
        return "(" in [token.kind for token in ahead if ahead[0].kind in {"(", "columns"}]

    def _is_operator(self) -> bool:
        return self._is("word") and self._tokens[self._at].text in _OPERATORS


def _near_parts(tokens: list[QueryToken]) -> tuple[list[QueryTerm], int]:
    """The words, and how far apart they may stand."""
    units: list[QueryTerm] = []
    after_comma: list[str] | None = None
    for token in tokens:
        pieces = [token.text] if token.kind == "phrase" else _COMMA.split(token.text)
        for piece in pieces:
            if piece == "," and after_comma is None:
                after_comma = []
            elif after_comma is not None:
                after_comma.append(piece)
            elif has_words(piece):
                units.append(QueryTerm(piece.rstrip("*"), token.prefix or piece.endswith("*")))
    said = "".join(after_comma or [])
    if after_comma is not None and not said.isdecimal():
        raise _Malformed
    return units, min(int(said[:4]), NEAR_LIMIT) if said else NEAR_WORDS
