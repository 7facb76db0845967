"""A query as PostgreSQL's `tsquery`: what finds each page that SQLite would, and what is looked at again.

PostgreSQL has no NEAR, and does not hold every place of every word on long pages. There the query finds more
than was asked for, never less, and `matching` decides by the page itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from scraper.store.fulltext.query_tree import (
    COLUMNS,
    AllOf,
    AnyOf,
    InColumns,
    Near,
    Node,
    PhraseSequence,
    QueryTerm,
    Without,
)
from scraper.store.fulltext.tokenization import askable
from scraper.store.postgres.lexemes import BEGINNING, LONG, TITLE, Lexer

CONDITIONS = 16
"""Of a query; what is more is one condition."""
RANKED_WORDS = 16
"""Of a query, by which pages are ranked: a look into each page's counts for each."""


@dataclass(frozen=True, slots=True)
class TsQueryWord:
    """One word of a query; `prefix` when it may go on."""

    text: str
    prefix: bool = False


@dataclass(frozen=True, slots=True)
class TsQuery:
    """A query for the index."""

    conditions: tuple[str, ...]
    """Each a `tsquery`, all of which hits meet; none when nothing can match."""
    ranked: tuple[str, ...]
    """The words by which hits are ranked."""
    needed: frozenset[str]
    """Those of them that every hit holds."""
    counts_places: bool
    """Whether long pages must be looked at again, since not all their places are known."""
    is_near: bool
    """Whether every page must be."""


def asked(tree: Node | None, cutter: Lexer) -> TsQuery:
    """The query for the index."""
    if tree is None:
        return TsQuery((), (), frozenset(), False, False)
    writer = _Writer(cutter)
    conditions = writer.conditions(tree, COLUMNS)
    ranked = dict.fromkeys(
        word.text for row in _wanted(tree) for word in words_of_row(row, cutter) if not word.prefix
    )
    return TsQuery(
        tuple(conditions),
        tuple(ranked)[:RANKED_WORDS],
        frozenset(writer.needed),
        writer.counts_places,
        writer.is_near,
    )


def words_of_row(row: PhraseSequence | QueryTerm, cutter: Lexer) -> list[TsQueryWord]:
    """The words that follow one another, as the index holds them."""
    units = row.units if isinstance(row, PhraseSequence) else (row,)
    found: list[TsQueryWord] = []
    for unit in units:
        text, single = askable(unit.text.replace('"', " "))
        words = cutter.words(text, query=True)
        found += [TsQueryWord(word) for word in words[:-1]]
        found += [TsQueryWord(word, unit.prefix or single) for word in words[-1:]]
    return found


def either_column(word: str) -> str:
    """A condition for pages that hold a word anywhere."""
    return f"({_lexeme(TsQueryWord(word), '')} | {_lexeme(TsQueryWord(word), TITLE)})"


def _wanted(node: Node) -> Iterator[PhraseSequence]:
    """The words and phrases that hits hold."""
    match node:
        case PhraseSequence():
            yield node
        case Near():
            yield PhraseSequence(node.units)
        case AllOf() | AnyOf():
            for part in node.parts:
                yield from _wanted(part)
        case Without():
            yield from _wanted(node.wanted)
        case InColumns():
            yield from _wanted(node.inner)


class _Writer:
    """Writes conditions; empty ones match nothing."""

    def __init__(self, cutter: Lexer) -> None:
        self._cutter = cutter
        self.counts_places = self.is_near = False
        self.needed: set[str] = set()
        """Words that every matching page holds."""

    def conditions(self, tree: Node, columns: frozenset[str]) -> list[str]:
        """Conditions that every matching page meets, and what meets them all matches, as far as can be said.

        PostgreSQL goes from page to page that meets one of its conditions, but leaps to where several of them
        meet: so that each word is one of its own.
        """
        whole = self._written(tree, columns, True)
        if not whole:
            return []
        found = dict.fromkeys(self._parts(tree, columns))
        parts = [part for part in found if part]
        return [*parts[: CONDITIONS - 1], *filter(None, [_joined("&", parts[CONDITIONS - 1 :])])]

    def _parts(self, node: Node, columns: frozenset[str]) -> Iterator[str]:
        match node:
            case AllOf():
                for part in node.parts:
                    yield from self._parts(part, columns)
            case InColumns():
                yield from self._parts(node.inner, columns & node.columns)
            case Without():
                yield from self._parts(node.wanted, columns)
                yield self._written(node, columns, True)
            case PhraseSequence():
                yield from self._each(node, columns)
                yield self._row(node, columns, True)
            case Near():
                for unit in node.units:
                    yield from self._each(unit, columns)
                yield self._near(node, columns, True)
            case AnyOf():
                yield self._written(node, columns, True)

    def _each(self, row: PhraseSequence | QueryTerm, columns: frozenset[str]) -> Iterator[str]:
        """The words of a row; one that may go on is too costly to ask for twice."""
        for word in words_of_row(row, self._cutter):
            if not word.prefix:
                self.needed.add(word.text)
                yield _joined("|", [_lexeme(word, sign) for sign in _signs(columns)])

    def _written(self, node: Node, columns: frozenset[str], most: bool) -> str:
        """`most`: every matching page meets it; otherwise none meets it but those that match."""
        match node:
            case PhraseSequence():
                return self._row(node, columns, most)
            case Near():
                return self._near(node, columns, most)
            case AllOf():
                parts = [self._written(part, columns, most) for part in node.parts]
                return _joined("&", parts) if all(parts) else ""
            case AnyOf():
                return _joined("|", [self._written(part, columns, most) for part in node.parts])
            case InColumns():
                return self._written(node.inner, columns & node.columns, most)
            case Without():
                wanted = self._written(node.wanted, columns, most)
                unwanted = self._written(node.unwanted, columns, not most)
                return f"({wanted} & !{unwanted})" if wanted and unwanted else wanted

    def _row(self, row: PhraseSequence, columns: frozenset[str], most: bool) -> str:
        words = words_of_row(row, self._cutter)
        if not words:
            return ""
        if len(words) == 1 and not row.first:
            return _joined("|", [_lexeme(words[0], sign) for sign in _signs(columns)])
        self.counts_places = True
        return _joined("|", [_places(words, sign, row.first, most) for sign in _signs(columns)])

    def _near(self, near: Near, columns: frozenset[str], most: bool) -> str:
        rows = [words_of_row(unit, self._cutter) for unit in near.units]
        rows = [words for words in rows if words]
        if len(rows) < 2:
            return self._row(PhraseSequence(near.units), columns, most)
        self.is_near = True
        if not most:
            return ""
        anywhere = [
            _joined("&", [_lexeme(word, sign) for words in rows for word in words])
            for sign in _signs(columns)
        ]
        return _joined("|", anywhere)


def _places(words: list[TsQueryWord], sign: str, first: bool, most: bool) -> str:
    """The words one behind the other, in one column."""
    lexemes = [_lexeme(word, sign) for word in words]
    before = [_lexeme(TsQueryWord(BEGINNING), sign)] if first else []
    said = f"({' <-> '.join([*before, *lexemes])})"
    if not most:
        return said
    return f"({said} | {_joined('&', [_lexeme(TsQueryWord(LONG), ''), *lexemes])})"


def _signs(columns: frozenset[str]) -> list[str]:
    return [sign for name, sign in (("text", ""), ("title", TITLE)) if name in columns]


def _lexeme(word: TsQueryWord, sign: str) -> str:
    text = (sign + word.text).replace("\\", "\\\\").replace("'", "''")
    return f"'{text}'{':*' if word.prefix else ''}"


def _joined(operator: str, parts: list[str]) -> str:
    said = [part for part in parts if part]
    return said[0] if len(said) == 1 else f"({f' {operator} '.join(said)})" if said else ""
