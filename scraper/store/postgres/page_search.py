"""Full-text search of the pages in PostgreSQL, with one hit and its best snippet for each URL.

PostgreSQL's index returns all matching pages at once and without counts. Therefore blocks of pages are searched, the
newest first, until enough pages match; they are ranked like those of SQLite. Word counts are stored in a column of
their own. docs/store.md describes the alternatives that were tried.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import asyncpg

from scraper.model import PageHit, PageHits
from scraper.store.postgres import page_queries
from scraper.store.postgres.database import Connection
from scraper.store.postgres.lexemes import (
    COLUMN_START,
    COUNTED_WORDS,
    LONG_MARK,
    TITLE_PREFIX,
    LexemeTokenizer,
    fingerprint,
    make_owner_mark,
    make_windows,
    newest_window,
)
from scraper.store.query import (
    COLUMN_NAMES,
    CacheQuery,
    Combined,
    InColumns,
    Near,
    PhraseSequence,
    QueryNode,
    QueryTerm,
    iter_phrases,
    parse_query,
)
from scraper.store.serialization import decompress_reading
from scraper.store.snippets import make_hit
from scraper.store.sqlite.page_queries import COUNT_LIMIT, RANKED_LIMIT, compute_score
from scraper.store.tokenization import to_query_text
from scraper.text.terms import inverse_document_frequency

_CONDITIONS_LIMIT = 16
"""Conditions of a query; further ones are joined into one."""
_RANKED_WORDS_LIMIT = 16
"""Words of a query used for ranking. Each costs a search in each page's counts."""
_FOLLOWS = " <-> "


@dataclass(frozen=True, slots=True)
class _TsQuery:
    """A query for PostgreSQL's index; each condition is a `tsquery`."""

    words: tuple[str, ...]
    """Conditions on the words of a page, which the index answers alone; empty if nothing can match."""
    phrases: tuple[str, ...]
    """Conditions on positions of words. The texts of long pages must be checked, since not all are stored."""
    ranked: tuple[str, ...]
    """Words by which hits are ranked."""
    has_near: bool
    """True if the text of every page must be checked."""


def make_tsquery(query: CacheQuery, lexer: LexemeTokenizer) -> _TsQuery:
    """Return the query for the index."""
    if query.tree is None:
        return _TsQuery((), (), (), False)
    words = list(dict.fromkeys(_Writer(lexer, with_positions=False).write(query.tree)))
    phrases = [part for part in _Writer(lexer, with_positions=True).write(query.tree) if _FOLLOWS in part]
    ranked = dict.fromkeys(
        word.text
        for phrase in iter_phrases(query.tree, with_excluded=False)
        for word in _split_phrase(phrase.terms, lexer)
        if not word.prefix
    )
    # Quoted words may look like NEAR; checking their pages is only slower.
    return _TsQuery(
        (*words[: _CONDITIONS_LIMIT - 1], *_join("&", words[_CONDITIONS_LIMIT - 1 :])),
        tuple(phrases),
        tuple(ranked)[:_RANKED_WORDS_LIMIT],
        "NEAR(" in query.expression,
    )


def _split_phrase(terms: Sequence[QueryTerm], lexer: LexemeTokenizer) -> list[QueryTerm]:
    found: list[QueryTerm] = []
    for term in terms:
        text, is_prefix = to_query_text(term.text.replace('"', " "))
        words = lexer.split_words(text, query=True)
        found += [QueryTerm(word) for word in words[:-1]]
        found += [QueryTerm(word, term.prefix or is_prefix) for word in words[-1:]]
    return found


def _match_words(words: list[QueryTerm], columns: frozenset[str] = COLUMN_NAMES) -> list[str]:
    """Return a condition for each word that a page must contain in a column, or none without columns."""
    prefixes = _column_prefixes(columns)
    return [part for word in words for part in _join("|", [_format_lexeme(word, prefix) for prefix in prefixes])]


class _Writer:
    """Write conditions that a page must meet together; with one for each required word, PostgreSQL skips ahead."""

    def __init__(self, lexer: LexemeTokenizer, *, with_positions: bool) -> None:
        self._lexer = lexer
        self._with_positions = with_positions

    def write(self, node: QueryNode, columns: frozenset[str] = COLUMN_NAMES, *, is_broad: bool = True) -> list[str]:
        """Write conditions that every matching page meets, or without `is_broad`, that only matching pages meet."""
        match node:
            case PhraseSequence():
                return self._write_phrase(node, columns, is_broad)
            case Near():
                return self._write_near(node, columns, is_broad)
            case InColumns():
                return self.write(node.inner, columns & node.columns, is_broad=is_broad)
            case Combined("NOT", (first, *others)):
                included = self.write(first, columns, is_broad=is_broad)
                excluded = [_join("&", self.write(part, columns, is_broad=not is_broad)) for part in others]
                return included + [f"({_join('&', included)[0]} & !{one[0]})" for one in excluded if included and one]
            case Combined("OR"):
                parts = [self.write(part, columns, is_broad=is_broad) for part in node.parts]
                return _join("|", [condition for part in parts for condition in _join("&", part)])
            case Combined():
                parts = [self.write(part, columns, is_broad=is_broad) for part in node.parts]
                return [condition for part in parts for condition in part] if all(parts) else []

    def _write_near(self, near: Near, columns: frozenset[str], is_broad: bool) -> list[str]:
        phrases = [words for term in near.terms if (words := _split_phrase([term], self._lexer))]
        if len(phrases) < 2:
            return self._write_phrase(PhraseSequence(near.terms), columns, is_broad)
        return [part for words in phrases for part in _match_words(words, columns)] if is_broad else []

    def _write_phrase(self, phrase: PhraseSequence, columns: frozenset[str], is_broad: bool) -> list[str]:
        words = _split_phrase(phrase.terms, self._lexer)
        if len(words) < 2 and not phrase.first:
            return _match_words(words, columns)
        if not self._with_positions:
            return _match_words(words, columns) if is_broad else []
        places = [_join_positions(words, prefix, phrase.first, is_broad) for prefix in _column_prefixes(columns)]
        return _join("|", places) if words else []


def _join_positions(words: list[QueryTerm], prefix: str, first: bool, is_broad: bool) -> str:
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


LARGE, ENOUGH_MATCHES = 50_000, 500
"""In a cache of `LARGE` pages, this many of the newest matches are ranked. docs/store.md has the cost of more, and how
many of the first hits change."""
CHECKED_LIMIT = 1_500
"""Newest pages with the words of a phrase whose positions are read, for each window. A page takes 30 microseconds, ten
times that from the disk."""
_COUNT_LIMIT = 1_000
"""Pages. In a large cache, a word is counted only up to this number among some thousand of the newest pages."""
_SAMPLE = 200
_READ_AT_ONCE = 50


@dataclass(frozen=True, slots=True)
class _RankedPage:
    """Number and score of a page that matches."""

    number: int
    score: float
    is_long: bool


async def search_pages(
    connection: Connection, *, query: str, principal: str, allowed: frozenset[str], limit: int, lexer: LexemeTokenizer
) -> PageHits:
    """Return the pages of one principal that match a query, best first, each URL once."""
    loop = asyncio.get_running_loop()
    parsed = parse_query(query)
    tsquery = await loop.run_in_executor(lexer.thread, make_tsquery, parsed, lexer)
    owners = await page_queries.list_valid_owners(connection, principal, allowed)
    ranked = await rank_newest(connection, tsquery, owners) if tsquery.words and owners else []
    found: dict[str, PageHit] = {}
    # As many as requested, or more at once if most of them may not match.
    count = _READ_AT_ONCE if tsquery.has_near else limit
    while ranked and len(found) < limit:
        batch, ranked = ranked[:count], ranked[count:]
        rows = await connection.fetch(
            "SELECT id, url, reading FROM pages WHERE id = ANY($1) AND owner = ANY($2)",
            [page.number for page in batch],
            owners,
        )
        rows_by_id = {row["id"]: row for row in rows}
        hits = await loop.run_in_executor(
            lexer.thread, _make_hits, batch, rows_by_id, frozenset(found), parsed, tsquery, lexer
        )
        for hit in hits:
            found.setdefault(hit.url, hit)
    return PageHits(tuple(found.values())[:limit], parsed.note)


def _make_hits(
    pages: Sequence[_RankedPage],
    rows_by_id: Mapping[int, asyncpg.Record],
    known: frozenset[str],
    query: CacheQuery,
    tsquery: _TsQuery,
    lexer: LexemeTokenizer,
) -> list[PageHit]:
    """Return hits for pages; skip `known` URLs and pages whose text does not match exactly."""
    readings = {
        page: reading
        for page in pages
        if (row := rows_by_id.get(page.number)) is not None
        and row["url"] not in known
        and (reading := decompress_reading(row["reading"])) is not None
    }
    uncertain = {
        page: reading.document
        for page, reading in readings.items()
        if tsquery.has_near or (tsquery.phrases and page.is_long)
    }
    wrong = uncertain.keys() - lexer.find_matching(uncertain, query.expression)
    hits: dict[str, PageHit] = {}
    for page in [page for page in readings if page not in wrong]:
        url = rows_by_id[page.number]["url"]
        if url not in hits:
            hits[url] = make_hit(readings[page], query, page.score)
    return list(hits.values())


async def rank_newest(connection: Connection, query: _TsQuery, owners: Sequence[int]) -> list[_RankedPage]:
    """Return the newest matches of the owners, best first."""
    extent = await connection.fetchrow(_EXTENT, list(owners))
    assert extent is not None
    newest, mean_length = extent
    limit = RANKED_LIMIT if newest < LARGE else ENOUGH_MATCHES
    weights = await _fetch_weights(connection, query.ranked, newest)
    statement = _Statement()
    counts = "".join(
        f", get_byte(counts, nullif(position({statement.bind(fingerprint(word), 'bytea')} IN counts), 0) + 2)"
        for word in query.ranked
    )
    matching = statement.match(*query.words, " | ".join(f"'{make_owner_mark(owner)}'" for owner in owners))
    phrases = statement.match(*query.phrases)
    branches = []
    for window in make_windows(newest):
        branch = _NEWEST.format(f"{matching} AND {statement.match(window)}", CHECKED_LIMIT if phrases else limit)
        if phrases:
            branch = f"(SELECT place FROM {branch} candidates WHERE {phrases} ORDER BY id DESC LIMIT {limit})"
        branches.append(f"(SELECT place FROM {branch} found)")
    # The newest are selected by ctid alone: sorting whole rows took a third of a frequent word's time. A later part of
    # the union is searched only if the earlier ones have too few matches.
    rows = await connection.fetch(
        f"""
        SELECT id, is_long, length, octet_length(counts) > {4 * COUNTED_WORDS} AS is_cut{counts}
        FROM words WHERE ctid = ANY(ARRAY(
            SELECT place FROM ({" UNION ALL ".join(branches)}) newest LIMIT {limit}
        ))
        """,
        *statement.values,
    )
    ranked = [
        _RankedPage(
            number,
            compute_score(weights, [is_cut if count is None else count for count in counts], length / mean_length),
            is_long,
        )
        for number, is_long, length, is_cut, *counts in rows
    ]
    return sorted(ranked, key=lambda page: (-page.score, -page.number))


# The vector is copied out of the row only for phrases, which read it next.
_NEWEST = "(SELECT ctid AS place, id, vector FROM words WHERE {} ORDER BY id DESC LIMIT {})"
_EXTENT = f"""
    SELECT (SELECT coalesce(max(own.id), 0) FROM unnest($1::int[]) AS o (owner) CROSS JOIN LATERAL
            (SELECT id FROM pages WHERE pages.owner = o.owner ORDER BY id DESC LIMIT 1) own),
        greatest(coalesce(avg(length), 1), 1)::float8
    FROM (SELECT length FROM words ORDER BY id DESC LIMIT {_SAMPLE}) newest
"""


async def _fetch_weights(connection: Connection, words: Sequence[str], newest: int) -> list[float]:
    if len(words) < 2:
        return [1.0] * len(words)
    window, size = newest_window(newest)
    limit = COUNT_LIMIT if newest < LARGE else _COUNT_LIMIT
    statement = _Statement()
    condition = statement.match(window)
    # One count per word: the database would not know the length of a list and would plan each time again.
    counts = [
        f"(SELECT count(*) FROM (SELECT 1 FROM words WHERE {statement.match(*_match_words([QueryTerm(word)]))} "
        f"AND {condition} LIMIT {limit}) counted)"
        for word in words
    ]
    row = await connection.fetchrow(f"SELECT {', '.join(counts)}", *statement.values)
    assert row is not None
    return [inverse_document_frequency(count, max(size, count)) for count in row.values()]


class _Statement:
    """Parameters of a statement."""

    def __init__(self) -> None:
        self.values: list[Any] = []

    def bind(self, value: object, kind: str) -> str:
        self.values.append(value)
        return f"${len(self.values)}::{kind}"

    def match(self, *conditions: str) -> str:
        return " AND ".join(f"vector @@ {self.bind(condition, 'text')}::tsquery" for condition in conditions)
