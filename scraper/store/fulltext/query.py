"""What a cache query means: FTS5's language where it is well formed, quoted words where it is not.

The grammar is FTS5's own: words (all must be there), "phrases", prefix*, AND, OR, NOT, parentheses,
NEAR(a b, 5), and title: or text: before any of them. Nothing of the caller's is handed to SQLite unquoted.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from scraper.store.fulltext.words import askable, has_words

__all__ = ["Unit", "Wanted", "parse"]

WORDS_LIMIT = 64
"""Words of a query that count; a pasted page is no query, and each word costs a look into the index."""
DEPTH_LIMIT = 32
"""Of parentheses; FTS5's own limit is 256."""
NEAR_WORDS = 10
"""FTS5's own default."""
NEAR_LIMIT = 1_000

_TOKEN = re.compile(r'"([^"]*)"(\*?)|([()])|([^\s"()]+)')
_COLUMN = re.compile(r"(title|text):(?=.)", re.IGNORECASE)
_COMMA = re.compile("(,)")
_PLAIN = re.compile(r"[\w\u0080-\U0010ffff]+\*?")
"""What FTS5 itself takes for a word."""


@dataclass(frozen=True, slots=True)
class Unit:
    """A word or phrase to be found, as it was written; `prefix` when it may go on."""

    text: str
    prefix: bool = False


@dataclass(frozen=True, slots=True)
class Wanted:
    """A query, understood."""

    expression: str
    """For MATCH; empty when there is nothing to look for."""
    units: tuple[Unit, ...]
    """What a hit shows; nothing that is excluded."""
    phrases: tuple[str, ...] = ()
    """Every word or phrase of the expression in its order, each an expression of its own."""
    note: str = ""
    """What the caller should know about how it was read."""


class _Malformed(Exception):
    """Not FTS5's language."""


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    """`phrase`, `word`, `(` or `)`."""
    text: str
    prefix: bool = False


def parse(query: str) -> Wanted:
    """Read a query; whatever was written, there is a meaning and no error."""
    tokens = _tokens(query.replace("\0", " "))
    cut = sum(token.kind in {"phrase", "word"} for token in tokens) > WORDS_LIMIT
    if cut:
        return _literal(tokens, f"Only the first {WORDS_LIMIT} words of the query were looked for.")
    if query.count('"') % 2:
        return _literal(tokens, _SAID_LITERAL)
    parser = _Parser(tokens)
    try:
        expression = parser.whole()
    except _Malformed:
        return _literal(tokens, _SAID_LITERAL)
    note = ""
    if parser.quoted:
        note = f"Looked for as written: {', '.join(parser.quoted[:3])}."
    return Wanted(expression, tuple(parser.units), tuple(parser.phrases), note)


_SAID_LITERAL = "The query is not valid search syntax; its words were looked for as they are."


def _tokens(query: str) -> list[_Token]:
    found = []
    for match in _TOKEN.finditer(query):
        phrase, star, bracket, word = match.groups()
        if phrase is not None:
            found.append(_Token("phrase", phrase, bool(star)))
        elif bracket:
            found.append(_Token(bracket, bracket))
        else:
            found.append(_Token("word", word))
    return found


def _literal(tokens: list[_Token], note: str) -> Wanted:
    """Every word as it stands, all of them wanted."""
    units = [Unit(token.text) for token in tokens if has_words(token.text)][:WORDS_LIMIT]
    phrases = tuple(_quoted(unit) for unit in units)
    return Wanted(" AND ".join(phrases), tuple(units), phrases, note)


def _quoted(unit: Unit) -> str:
    text, single = askable(unit.text.replace('"', " "))
    return f'"{text}"{" *" if unit.prefix or single else ""}'


class _Parser:
    """Recursive descent over FTS5's grammar; NOT binds closest, then AND, then OR."""

    def __init__(self, tokens: list[_Token]) -> None:
        self.units: list[Unit] = []
        self.phrases: list[str] = []
        self.quoted: list[str] = []
        self._tokens = tokens
        self._at = 0
        self._depth = 0
        self._excluding = False

    def whole(self) -> str:
        """The expression; empty for a query without words."""
        if not self._tokens:
            return ""
        expression = self._either()
        if self._at < len(self._tokens):
            raise _Malformed
        return expression

    def _either(self) -> str:
        return self._chain("OR", self._all)

    def _all(self) -> str:
        parts = [self._without()]
        while self._at < len(self._tokens) and not self._is(")") and not self._is_word("OR"):
            if self._is_word("AND"):
                self._at += 1
            parts.append(self._without())
        return _joined("AND", parts)

    def _without(self) -> str:
        wanted = self._one()
        while self._is_word("NOT"):
            self._at += 1
            before, self._excluding = self._excluding, True
            unwanted = self._one()
            self._excluding = before
            if wanted and unwanted:
                wanted = f"({wanted} NOT {unwanted})"
        return wanted

    def _chain(self, operator: str, part: Callable[[], str]) -> str:
        parts = [part()]
        while self._is_word(operator):
            self._at += 1
            parts.append(part())
        return _joined(operator, parts)

    def _one(self) -> str:
        if self._at >= len(self._tokens):
            raise _Malformed
        token = self._tokens[self._at]
        if token.kind == ")" or (token.kind == "word" and token.text in {"AND", "OR", "NOT"}):
            raise _Malformed
        self._at += 1
        if token.kind == "(":
            return self._group()
        if token.kind == "phrase":
            return self._unit(Unit(token.text, token.prefix))
        if token.text == "NEAR" and self._is("("):
            return self._near()
        return self._word(token.text)

    def _group(self) -> str:
        self._depth += 1
        if self._depth > DEPTH_LIMIT:
            raise _Malformed
        inner = self._either()
        if not self._is(")"):
            raise _Malformed
        self._at += 1
        self._depth -= 1
        return f"({inner})" if inner else ""

    def _word(self, text: str) -> str:
        column = _COLUMN.match(text)
        if column is None and text.lower() in {"title:", "text:"}:
            return f"{{{text[:-1].lower()}}} : ({self._needed(self._one())})"
        rest = text[column.end() :] if column else text
        if not _PLAIN.fullmatch(rest) and has_words(rest):
            self.quoted.append(rest.rstrip("*"))
        found = self._unit(Unit(rest.rstrip("*"), rest.endswith("*")))
        return f"{{{column[1].lower()}}} : {found}" if column and found else found

    def _near(self) -> str:
        """NEAR(word "a phrase" ..., distance)."""
        units, distance = _near_parts(self._inside_brackets())
        if not units:
            return ""
        return f"NEAR({' '.join(self._noted(unit) for unit in units)}, {distance})"

    def _inside_brackets(self) -> list[_Token]:
        opened = self._at
        while not self._is(")"):
            self._at += 1
            if self._at >= len(self._tokens) or self._is("("):
                raise _Malformed
        self._at += 1
        return self._tokens[opened + 1 : self._at - 1]

    def _unit(self, unit: Unit) -> str:
        return self._noted(unit) if has_words(unit.text) else ""

    def _noted(self, unit: Unit) -> str:
        if not self._excluding:
            self.units.append(unit)
        self.phrases.append(_quoted(unit))
        return self.phrases[-1]

    def _needed(self, expression: str) -> str:
        if not expression:
            raise _Malformed
        return expression

    def _is(self, kind: str) -> bool:
        return self._at < len(self._tokens) and self._tokens[self._at].kind == kind

    def _is_word(self, word: str) -> bool:
        return self._is("word") and self._tokens[self._at].text == word


def _near_parts(tokens: list[_Token]) -> tuple[list[Unit], int]:
    """The words, and how far apart they may stand."""
    units: list[Unit] = []
    after_comma: list[str] | None = None
    for token in tokens:
        pieces = [token.text] if token.kind == "phrase" else _COMMA.split(token.text)
        for piece in pieces:
            if piece == "," and after_comma is None:
                after_comma = []
            elif after_comma is not None:
                after_comma.append(piece)
            elif has_words(piece):
                units.append(Unit(piece.rstrip("*"), token.prefix or piece.endswith("*")))
    said = "".join(after_comma or [])
    if after_comma is not None and not said.isdecimal():
        raise _Malformed
    return units, min(int(said[:4]), NEAR_LIMIT) if said else NEAR_WORDS


def _joined(operator: str, parts: list[str]) -> str:
    """The parts that say anything; brackets only where they are needed."""
    said = [part for part in parts if part]
    return said[0] if len(said) == 1 else f"({f' {operator} '.join(said)})" if said else ""
