"""BM25 ranking of FTS5 matches in bounded time, for any words.

FTS5's own `bm25` visits every page that contains any of the words, to count them: 390 ms (95th percentile) with
100,000 pages and common words in the query. Here each word's pages are counted up to a bound, and if more pages match
than are worth ranking, only the newest are ranked: 13 ms.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import apsw

from scraper.store.fulltext.query import CacheQuery
from scraper.text.terms import inverse_document_frequency

if TYPE_CHECKING:
    from apsw import FTS5ExtensionApi

RANKED_LIMIT = 1_500
"""Pages that are ranked per query. Each takes 7 microseconds."""
COUNT_LIMIT = 3_000
"""Pages. A word is counted only up to this number: all more frequent words get the same low weight."""
_TITLE_WEIGHT = 5.0
"""Weight of a word in the title, in words of the text."""
_K1, _B = 1.2, 0.75
"""Usual parameters of BM25 (Robertson and Zaragoza 2009), also those of FTS5."""
_FUNCTION = "relevance"


def register_ranking_function(connection: apsw.Connection) -> None:
    """Register the ranking function with a connection."""
    connection.register_fts5_function(_FUNCTION, _relevance)


def rank_pages(
    connection: apsw.Connection,
    table: str,
    query: CacheQuery,
    limit: int,
    condition: str = "",
    values: tuple[str, ...] = (),
) -> list[tuple[float, int]]:
    """Return score and number of the best `limit` pages among the newest `RANKED_LIMIT` matches, best first.

    `condition`, which begins with AND, restricts the pages; `values` are its parameters.
    """
    if not query.expression:
        return []
    weights = [_compute_weight(connection, table, phrase) for phrase in query.phrases]
    statement = f"""
        SELECT {_FUNCTION}({table}, {", ".join("?" * len(weights))}), rowid FROM {table}
        WHERE {table} MATCH ? {condition} ORDER BY rowid DESC LIMIT ?
    """
    newest = connection.execute(statement, (*weights, query.expression, *values, RANKED_LIMIT)).fetchall()
    return [(float(str(score)), int(str(number))) for score, number in heapq.nlargest(limit, newest)]


def _compute_weight(connection: apsw.Connection, table: str, phrase: str) -> float:
    """Return BM25's inverse document frequency of a word, never negative."""
    statement = f"SELECT count(*) FROM (SELECT 1 FROM {table} WHERE {table} MATCH ? LIMIT ?)"
    count = float(connection.execute(statement, (phrase, COUNT_LIMIT)).get)
    # The highest number stands for the number of pages, since counting them would scan the table.
    pages = max(count, float(connection.execute(f"SELECT max(id) FROM {table}_docsize").get or 0))
    return inverse_document_frequency(count, pages)


def _relevance(api: FTS5ExtensionApi, *weights: Any) -> float:
    """Return the BM25 score of one page from the weights of the phrases; title words count more."""
    mean_length = api.aux_data
    if mean_length is None:
        mean_length = api.aux_data = max(1.0, api.column_total_size(1) / max(1, api.row_count))
    places = map(api.phrase_locations, range(len(weights)))
    counts = [_TITLE_WEIGHT * len(in_title) + len(in_text) for in_title, in_text in places]
    return compute_score(weights, counts, api.column_size(1) / mean_length)


def compute_score(weights: Sequence[float], counts: Sequence[float], length: float) -> float:
    """Return the BM25 score of a page.

    Args:
        weights: Inverse document frequency of each word of the query.
        counts: How often the page has each word.
        length: Words of the page, in mean lengths of all pages.
    """
    norm = _K1 * (1 - _B + _B * length)
    return sum(weight * count * (_K1 + 1) / (count + norm) for weight, count in zip(weights, counts, strict=True))
