"""Translate a query to PostgreSQL's `tsquery`, and determine which results must be checked again.

PostgreSQL has no NEAR and does not store all positions of all words of long pages. In these cases the `tsquery` finds
more pages than requested, never fewer, and `page_search.matches_query` checks their text.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from scraper.store.fulltext.query_tree import (
    COLUMN_NAMES,
    AllOf,
    AnyOf,
    Excluding,
    InColumns,
    Near,
    PhraseSequence,
    QueryNode,
    QueryTerm,
    iter_phrases,
)
from scraper.store.fulltext.tokenization import to_query_text
from scraper.store.postgres.lexemes import COLUMN_START, LONG_MARK, TITLE_PREFIX, LexemeTokenizer

_CONDITIONS_LIMIT = 16
"""Conditions of a query; further ones are joined into one."""
_RANKED_WORDS_LIMIT = 16
"""Words of a query used for ranking. Each costs a search in each page's counts."""


@dataclass(frozen=True, slots=True)
class TsQuery:
    """A query for PostgreSQL's index, and the parts of it that the index cannot answer exactly."""

    conditions: tuple[str, ...]
    """Each is a `tsquery` that all hits match; empty if nothing can match."""
    ranked: tuple[str, ...]
    """Words by which hits are ranked."""
    needed: frozenset[str]
    """Words that every hit contains."""
    counts_positions: bool
    """True if the text of long pages must be checked, since not all positions are stored."""
    has_near: bool
    """True if the text of every page must be checked."""


def make_tsquery(tree: QueryNode | None, lexer: LexemeTokenizer) -> TsQuery:
    """Return the query for the index."""
    if tree is None:
        return TsQuery((), (), frozenset(), False, False)
    writer = _Writer(lexer)
    conditions = writer.make_conditions(tree, COLUMN_NAMES)
    ranked = dict.fromkeys(
        word.text
        for phrase in iter_phrases(tree, with_excluded=False)
        for word in split_phrase(phrase, lexer)
        if not word.prefix
    )
    return TsQuery(
        tuple(conditions),
        tuple(ranked)[:_RANKED_WORDS_LIMIT],
        frozenset(writer.needed),
        writer.counts_positions,
        writer.has_near,
    )


def split_phrase(phrase: PhraseSequence | QueryTerm, lexer: LexemeTokenizer) -> list[QueryTerm]:
    """Return the words of a phrase as the index holds them."""
    terms = phrase.terms if isinstance(phrase, PhraseSequence) else (phrase,)
    found: list[QueryTerm] = []
    for term in terms:
        text, is_prefix = to_query_text(term.text.replace('"', " "))
        words = lexer.split_words(text, query=True)
        found += [QueryTerm(word) for word in words[:-1]]
        found += [QueryTerm(word, term.prefix or is_prefix) for word in words[-1:]]
    return found


def make_word_condition(word: str) -> str:
    """Return a condition for pages that contain a word in any column."""
    return f"({_format_lexeme(QueryTerm(word), '')} | {_format_lexeme(QueryTerm(word), TITLE_PREFIX)})"


class _Writer:
    """Write conditions as text. An empty condition matches nothing."""

    def __init__(self, lexer: LexemeTokenizer) -> None:
        self._lexer = lexer
        self.counts_positions = self.has_near = False
        self.needed: set[str] = set()

    def make_conditions(self, tree: QueryNode, columns: frozenset[str]) -> list[str]:
        """Return conditions that every matching page meets.

        Pages that meet all of them match, unless their text must be checked. PostgreSQL visits each page that meets
        one condition, but skips ahead if several conditions apply. Therefore each word is a condition of its own.
        """
        whole = self._write(tree, columns, True)
        if not whole:
            return []
        found = dict.fromkeys(self._split(tree, columns))
        parts = [part for part in found if part]
        return [*parts[: _CONDITIONS_LIMIT - 1], *filter(None, [_join("&", parts[_CONDITIONS_LIMIT - 1 :])])]

    def _split(self, node: QueryNode, columns: frozenset[str]) -> Iterator[str]:
        match node:
            case AllOf():
                for part in node.parts:
                    yield from self._split(part, columns)
            case InColumns():
                yield from self._split(node.inner, columns & node.columns)
            case Excluding():
                yield from self._split(node.included, columns)
                yield self._write(node, columns, True)
            case PhraseSequence():
                yield from self._write_words(node, columns)
                yield self._write_phrase(node, columns, True)
            case Near():
                for term in node.terms:
                    yield from self._write_words(term, columns)
                yield self._write_near(node, columns, True)
            case AnyOf():
                yield self._write(node, columns, True)

    def _write_words(self, phrase: PhraseSequence | QueryTerm, columns: frozenset[str]) -> Iterator[str]:
        """Iterate over conditions for the words of a phrase; prefixes are too expensive to search twice."""
        for word in split_phrase(phrase, self._lexer):
            if not word.prefix:
                self.needed.add(word.text)
                yield _join("|", [_format_lexeme(word, prefix) for prefix in _column_prefixes(columns)])

    def _write(self, node: QueryNode, columns: frozenset[str], is_broad: bool) -> str:
        """Write a condition that every matching page meets, or without `is_broad`, that only matching pages meet."""
        match node:
            case PhraseSequence():
                return self._write_phrase(node, columns, is_broad)
            case Near():
                return self._write_near(node, columns, is_broad)
            case AllOf():
                parts = [self._write(part, columns, is_broad) for part in node.parts]
                return _join("&", parts) if all(parts) else ""
            case AnyOf():
                return _join("|", [self._write(part, columns, is_broad) for part in node.parts])
            case InColumns():
                return self._write(node.inner, columns & node.columns, is_broad)
            case Excluding():
                included = self._write(node.included, columns, is_broad)
                excluded = self._write(node.excluded, columns, not is_broad)
                return f"({included} & !{excluded})" if included and excluded else included

    def _write_phrase(self, phrase: PhraseSequence, columns: frozenset[str], is_broad: bool) -> str:
        words = split_phrase(phrase, self._lexer)
        if not words:
            return ""
        if len(words) == 1 and not phrase.first:
            return _join("|", [_format_lexeme(words[0], prefix) for prefix in _column_prefixes(columns)])
        self.counts_positions = True
        return _join(
            "|", [_join_positions(words, prefix, phrase.first, is_broad) for prefix in _column_prefixes(columns)]
        )

    def _write_near(self, near: Near, columns: frozenset[str], is_broad: bool) -> str:
        phrases = [split_phrase(term, self._lexer) for term in near.terms]
        phrases = [words for words in phrases if words]
        if len(phrases) < 2:
            return self._write_phrase(PhraseSequence(near.terms), columns, is_broad)
        self.has_near = True
        if not is_broad:
            return ""
        anywhere = [
            _join("&", [_format_lexeme(word, prefix) for words in phrases for word in words])
            for prefix in _column_prefixes(columns)
        ]
        return _join("|", anywhere)


def _join_positions(words: list[QueryTerm], prefix: str, first: bool, is_broad: bool) -> str:
    """Return a condition for consecutive words in one column."""
    lexemes = [_format_lexeme(word, prefix) for word in words]
    before = [_format_lexeme(QueryTerm(COLUMN_START), prefix)] if first else []
    parts = f"({' <-> '.join([*before, *lexemes])})"
    if not is_broad:
        return parts
    return f"({parts} | {_join('&', [_format_lexeme(QueryTerm(LONG_MARK), ''), *lexemes])})"


def _column_prefixes(columns: frozenset[str]) -> list[str]:
    return [prefix for name, prefix in (("text", ""), ("title", TITLE_PREFIX)) if name in columns]


def _format_lexeme(word: QueryTerm, prefix: str) -> str:
    text = (prefix + word.text).replace("\\", "\\\\").replace("'", "''")
    return f"'{text}'{':*' if word.prefix else ''}"


def _join(operator: str, parts: list[str]) -> str:
    parts = [part for part in parts if part]
    return parts[0] if len(parts) == 1 else f"({f' {operator} '.join(parts)})" if parts else ""
