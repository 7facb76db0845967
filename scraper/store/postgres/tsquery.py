"""Translate a query to conditions of PostgreSQL's index.

PostgreSQL has no NEAR and does not store all positions of all words of long pages. In these cases the conditions find
more pages than requested, never fewer, and `LexemeTokenizer.find_matching` checks their text.
"""

from __future__ import annotations

from dataclasses import dataclass

from scraper.store.fulltext.query import CacheQuery
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
_FOLLOWS = " <-> "


@dataclass(frozen=True, slots=True)
class TsQuery:
    """A query for PostgreSQL's index; each condition is a `tsquery`."""

    words: tuple[str, ...]
    """Conditions on the words of a page, which the index answers alone; empty if nothing can match."""
    phrases: tuple[str, ...]
    """Conditions on positions of words. The texts of long pages must be checked, since not all are stored."""
    ranked: tuple[str, ...]
    """Words by which hits are ranked."""
    has_near: bool
    """True if the text of every page must be checked."""


def make_tsquery(query: CacheQuery, lexer: LexemeTokenizer) -> TsQuery:
    """Return the query for the index."""
    if query.tree is None:
        return TsQuery((), (), (), False)
    words = list(dict.fromkeys(_Writer(lexer, with_positions=False).write(query.tree)))
    phrases = [part for part in _Writer(lexer, with_positions=True).write(query.tree) if _FOLLOWS in part]
    ranked = dict.fromkeys(
        word.text
        for phrase in iter_phrases(query.tree, with_excluded=False)
        for word in split_phrase(phrase, lexer)
        if not word.prefix
    )
    # Quoted words may look like NEAR; checking their pages is only slower.
    return TsQuery(
        (*words[: _CONDITIONS_LIMIT - 1], *_join("&", words[_CONDITIONS_LIMIT - 1 :])),
        tuple(phrases),
        tuple(ranked)[:_RANKED_WORDS_LIMIT],
        "NEAR(" in query.expression,
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


def make_word_condition(word: QueryTerm, columns: frozenset[str] = COLUMN_NAMES) -> list[str]:
    """Return a condition for pages that contain a word in a column, or none without columns."""
    return _join("|", [_format_lexeme(word, prefix) for prefix in _column_prefixes(columns)])


class _Writer:
    """Write conditions that a page must meet together; none if no page can match.

    PostgreSQL visits each page that meets one condition, but skips ahead if several conditions apply. Therefore each
    required word is a condition of its own.
    """

    def __init__(self, lexer: LexemeTokenizer, *, with_positions: bool) -> None:
        self._lexer = lexer
        self._with_positions = with_positions

    def write(self, node: QueryNode, columns: frozenset[str] = COLUMN_NAMES, *, is_broad: bool = True) -> list[str]:
        """Write conditions that every matching page meets, or without `is_broad`, that only matching pages meet."""
        match node:
            case PhraseSequence():
                return self._write_phrase(node, columns, is_broad)
            case Near():
                parts = [self._write_words(split_phrase(term, self._lexer), columns) for term in node.terms]
                parts = [part for part in parts if part]
                if len(parts) < 2:
                    return self._write_phrase(PhraseSequence(node.terms), columns, is_broad)
                return [condition for part in parts for condition in part] if is_broad else []
            case AllOf():
                parts = [self.write(part, columns, is_broad=is_broad) for part in node.parts]
                return [condition for part in parts for condition in part] if all(parts) else []
            case AnyOf():
                parts = [self.write(part, columns, is_broad=is_broad) for part in node.parts]
                return _join("|", [condition for part in parts for condition in _join("&", part)])
            case InColumns():
                return self.write(node.inner, columns & node.columns, is_broad=is_broad)
            case Excluding():
                included = self.write(node.included, columns, is_broad=is_broad)
                excluded = _join("&", self.write(node.excluded, columns, is_broad=not is_broad))
                if not included or not excluded:
                    return included
                return [*included, f"({_join('&', included)[0]} & !{excluded[0]})"]

    def _write_phrase(self, phrase: PhraseSequence, columns: frozenset[str], is_broad: bool) -> list[str]:
        words = split_phrase(phrase, self._lexer)
        if len(words) < 2 and not phrase.first:
            return self._write_words(words, columns)
        if not self._with_positions:
            return self._write_words(words, columns) if is_broad else []
        places = [_join_positions(words, prefix, phrase.first, is_broad) for prefix in _column_prefixes(columns)]
        return _join("|", places) if words else []

    def _write_words(self, words: list[QueryTerm], columns: frozenset[str]) -> list[str]:
        return [condition for word in words for condition in make_word_condition(word, columns)]


def _join_positions(words: list[QueryTerm], prefix: str, first: bool, is_broad: bool) -> str:
    """Return a condition for consecutive words in one column."""
    lexemes = [_format_lexeme(word, prefix) for word in words]
    before = [_format_lexeme(QueryTerm(COLUMN_START), prefix)] if first else []
    parts = f"({_FOLLOWS.join([*before, *lexemes])})"
    if not is_broad:
        return parts
    return f"({parts} | ({' & '.join([_format_lexeme(QueryTerm(LONG_MARK), ''), *lexemes])}))"


def _column_prefixes(columns: frozenset[str]) -> list[str]:
    return [prefix for name, prefix in (("text", ""), ("title", TITLE_PREFIX)) if name in columns]


def _format_lexeme(word: QueryTerm, prefix: str) -> str:
    text = (prefix + word.text).replace("\\", "\\\\").replace("'", "''")
    return f"'{text}'{':*' if word.prefix else ''}"


def _join(operator: str, parts: list[str]) -> list[str]:
    """Return one condition of several, or none of none."""
    return [f"({f' {operator} '.join(parts)})"] if len(parts) > 1 else parts
