"""Score the rows that a parser finds on a saved result page: canonical URLs, order, titles and snippets."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from urllib.parse import unquote, urlsplit

from benchmarks.serp.pages import WITH_ROWS, SerpPage
from scraper.text import date_parsing

TOP = 10
_SLACK = 3
"""Extra rows in which a gold row still counts for recall; wrong rows only cost precision."""
_WORD = re.compile(r"[\u3400-\u9fff\u3040-\u30ff\uac00-\ud7af]|[^\W_]+")


@dataclass(frozen=True, slots=True)
class ReadRow:
    """Row found by a parser."""

    title: str
    url: str
    snippet: str


@dataclass(frozen=True, slots=True)
class ReadPage:
    """Result of a parser for a page: `ok`, `none`, `wall` or `error`, and its rows."""

    status: str
    rows: tuple[ReadRow, ...] = ()
    changed: bool = False


@dataclass(frozen=True, slots=True)
class Score:
    """Score of one page."""

    page: SerpPage
    read: ReadPage
    recall: float = 0.0
    precision: float = 0.0
    order: float = 0.0
    hits: int = 0
    titles: int = 0
    exact: int = 0
    exact_of: int = 0
    snippets: float = 0.0
    ads: int = 0


def score(page: SerpPage, read: ReadPage) -> Score:
    """Score the first ten agreed rows of a page; pages of other kinds have no row to find."""
    if page.kind not in WITH_ROWS:
        return Score(page, read)
    gold = [row for row in page.rows if row.agreed][:TOP]
    key = _title_key if page.scrubbed else _url_key
    expected = [key(row.title, row.url) for row in gold]
    known = {key(row.title, row.url) for row in page.rows}
    as_linked = {} if page.scrubbed else {_canonical(row.href): _canonical(row.url) for row in page.rows if row.href}
    found = [as_linked.get(one, one) for one in (key(row.title, row.url) for row in read.rows)]
    first: dict[str, ReadRow] = {}
    for one, row in zip(found, read.rows, strict=True):
        first.setdefault(one, row)
    reach = set(found[: max(TOP, len(expected)) + _SLACK])
    pairs = [(row, first[one]) for row, one in zip(gold, expected, strict=True) if one in reach]
    judged = found[: min(TOP, len(page.rows)) if len(found) > len(page.rows) else TOP]
    return Score(
        page,
        read,
        recall=len(pairs) / len(expected) if expected else 1.0,
        precision=sum(one in known for one in judged) / len(judged) if judged else 0.0,
        order=_common_order([one for one in found if one in set(expected)], expected) / len(expected)
        if expected
        else 1.0,
        hits=len(pairs),
        titles=sum(_letters(right.title) == _letters(got.title) for right, got in pairs),
        exact=0 if page.scrubbed else sum(right.url == got.url for right, got in pairs),
        exact_of=0 if page.scrubbed else len(pairs),
        snippets=sum(_overlap(_undated(right.snippet), _undated(got.snippet)) for right, got in pairs),
        ads=_count_ads(page, read.rows, known, key),
    )


def mean(values: Iterable[float]) -> float:
    """Return the mean; 0 without values."""
    listed = list(values)
    return sum(listed) / len(listed) if listed else 0.0


def share(part: float, whole: float) -> float:
    """Return part / whole; 0 if the whole is 0."""
    return part / whole if whole else 0.0


def _count_ads(page: SerpPage, rows: Sequence[ReadRow], known: set[str], key: Callable[[str, str], str]) -> int:
    titles = {_letters(ad.title) for ad in page.ads}
    addresses = set() if page.scrubbed else {_canonical(ad.url) for ad in page.ads}
    return sum(
        (_letters(row.title) in titles or _canonical(row.url) in addresses) and key(row.title, row.url) not in known
        for row in rows
    )


def _title_key(title: str, url: str) -> str:
    return _letters(title)


def _url_key(title: str, url: str) -> str:
    return _canonical(url)


def _canonical(url: str) -> str:
    try:
        parts = urlsplit(url.strip())
        host = (parts.hostname or "").removeprefix("www.")
    except ValueError:
        return url.lower()
    return host + unquote(parts.path).rstrip("/") + (f"?{parts.query}" if parts.query else "")


def _letters(text: str) -> str:
    return re.sub(r"[\W_]+", "", unicodedata.normalize("NFKC", text).casefold())


def _undated(snippet: str) -> str:
    """Remove the date before a snippet, which some parsers return separately."""
    return date_parsing.split_date(snippet, datetime(2026, 11, 1, tzinfo=UTC))[1]


def _overlap(one: str, other: str) -> float:
    """Return the F1 over the words of two texts."""
    left, right = (Counter(_WORD.findall(unicodedata.normalize("NFKC", text).casefold())) for text in (one, other))
    total = left.total() + right.total()
    return 2 * (left & right).total() / total if total else 1.0


def _common_order(found: Sequence[str], expected: Sequence[str]) -> int:
    """Return the length of the longest common subsequence."""
    row = [0] * (len(expected) + 1)
    for one in found:
        before = 0
        for index, other in enumerate(expected, 1):
            before, row[index] = row[index], before + 1 if one == other else max(row[index], row[index - 1])
    return row[-1]
