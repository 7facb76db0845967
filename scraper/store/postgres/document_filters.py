"""Whether a page is what a query asks for, by its words: for what the index alone cannot tell."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Mapping, Sequence

from scraper.store.fulltext.query_tree import (
    COLUMNS,
    AllOf,
    AnyOf,
    InColumns,
    Near,
    Node,
    PhraseSequence,
    Without,
)
from scraper.store.postgres.lexemes import Lexer
from scraper.store.postgres.tsquery import TsQueryWord, words_of_row

Columns = Mapping[str, Sequence[str]]
"""The words of each column, in their order."""


def matches(node: Node, columns: Columns, cutter: Lexer, among: frozenset[str] = COLUMNS) -> bool:
    """Whether the page meets the query, as FTS5 understands it."""
    match node:
        case PhraseSequence():
            words = words_of_row(node, cutter)
            return any(_stands(words, columns[name], node.first) for name in among)
        case Near():
            rows = [found for unit in node.units if (found := words_of_row(unit, cutter))]
            return any(_are_near(rows, columns[name], node.distance) for name in among)
        case AllOf():
            return all(matches(part, columns, cutter, among) for part in node.parts)
        case AnyOf():
            return any(matches(part, columns, cutter, among) for part in node.parts)
        case InColumns():
            return matches(node.inner, columns, cutter, among & node.columns)
        case Without():
            wanted = matches(node.wanted, columns, cutter, among)
            return wanted and not matches(node.unwanted, columns, cutter, among)


def _stands(words: list[TsQueryWord], text: Sequence[str], first: bool) -> bool:
    places = _starts(words, text)
    return 0 in places[:1] if first else bool(places)


def _starts(words: list[TsQueryWord], text: Sequence[str]) -> list[int]:
    """Where the words stand one behind the other."""
    if not words:
        return []
    return [
        start
        for start in range(len(text) - len(words) + 1)
        if all(_is(text[start + at], word) for at, word in enumerate(words))
    ]


def _is(found: str, word: TsQueryWord) -> bool:
    return found.startswith(word.text) if word.prefix else found == word.text


def _are_near(rows: list[list[TsQueryWord]], text: Sequence[str], distance: int) -> bool:
    """Whether all begin no more than `distance` words, and their own, before the last of them begins."""
    starts = [_starts(words, text) for words in rows]
    if not rows or not all(starts):
        return False
    for last in sorted({start for places in starts for start in places}):
        lows = [last - len(words) - distance for words in rows]
        if all(low <= _latest(places, last) for low, places in zip(lows, starts, strict=True)):
            return True
    return False


def _latest(places: list[int], last: int) -> float:
    """The greatest of ascending places up to `last`; looked for by halves, as a page may hold a word 100,000
    times."""
    count = bisect_right(places, last)
    return places[count - 1] if count else -math.inf
