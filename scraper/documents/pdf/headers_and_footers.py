"""Remove running headers and footers: repeated lines in the margins stay once, and page numbers go.

Only a number that counts with the pages may differ between lines that repeat: the numbers of invoices, dates and
sections stay on each page.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import NamedTuple, Self

from scraper.documents.pdf.layout_model import LayoutPage, LayoutRow, TextRun
from scraper.documents.pdf.text_assembly import group_rows, text_of_row
from scraper.text.numerals import format_numeral

_MARGIN = 0.1
_MIN_PAGE_SHARE = 0.4
"""Ratio of half of the pages: left and right pages may have different headers."""
_FEW_PAGES = 3
"""Pages. In a document of at most this length, a line must repeat on every page, at the same place."""
_SAME_HEIGHT = 6.0
_SAME_PLACE = 1.0
_NUMBER = re.compile(r"\d[\d.,:/\u2013-]*|\b[ivxlc]{1,7}\b")
"""A number with its decimals, a date, a time, a Roman numeral."""
_COUNTER = re.compile(r"(\d{1,4}|[ivxlc]{1,7})(/\d{1,4}|)")
_MAX_COUNTERS = 3
"""Numbers of one line that may count the pages. In a line with more, none does."""
_MAX_OFFSET = 40
"""Pages by which a number within a line differs from the page's own at most. A number in a run of its own may be far
from it: a page of a journal."""
_ROMAN = {format_numeral(count, "lowerRoman"): count for count in range(1, 400)}
_BARE_NUMBER = re.compile(r"[-–—\s]*(?:\d{1,4}|[ivxlc]{1,6})[-–—\s]*", re.I)
_PAGE_NUMBER = re.compile(
    r"(?:page|seite|p\.)?\s*+[-–—]?\s*+(\d{1,4}|[ivxlc]{1,6})\s*+[-–—]?(?:\s*(?:of|/|von)\s*\d{1,4})?", re.I
)


class _Key(NamedTuple):
    """A marginal line: its text without numbers, these by how they differ from the page's, and its height."""

    frame: str
    numbers: tuple[str, ...]
    place: int

    @property
    def counters(self) -> Self:
        """The key without text and other numbers; the same key if none counts the pages."""
        counters = tuple(number for number in self.numbers if number[0] in "+-")
        return self._replace(frame="", numbers=counters) if counters else self


def remove_headers_and_footers(
    pages: Sequence[LayoutPage], body_size: float
) -> tuple[list[LayoutPage], dict[int, str]]:
    """Remove page numbers, and repeated lines in the margins except for the first of each.

    No page loses its only text. The first line of each gets the font size of the body, because it is not a heading.
    Returns the pages, and the removed text by page.
    """
    running, offsets = _find_running_keys(pages), _find_offsets(pages) if len(pages) > 1 else None
    shown: set[_Key] = set()
    cleaned: list[LayoutPage] = []
    removed: dict[int, str] = {}
    for page in pages:
        dropped: set[TextRun] = set()
        first: set[TextRun] = set()
        for row in _marginal_rows(page):
            keys = running.intersection(_row_keys(row, page.number, page.height))
            if _is_page_number(row, page, offsets) or not keys.isdisjoint(shown):
                dropped.update(row.runs)
            elif keys:
                first.update(row.runs)
            shown |= keys
        if not dropped and not first:
            cleaned.append(page)
            continue
        rest = tuple(
            run._replace(size=min(run.size, body_size), bold=False) if run in first else run
            for run in page.runs
            if run not in dropped
        )
        has_text = any(any(map(str.isalnum, run.text)) for run in rest)
        if dropped and has_text:
            removed[page.number] = " ".join(run.text for run in page.runs if run in dropped)
        cleaned.append(replace(page, runs=rest) if has_text or not dropped else page)
    return cleaned, removed


def _find_running_keys(pages: Sequence[LayoutPage]) -> set[_Key]:
    """Return the keys of lines that repeat, also of those that share only a counter and its place with many others."""
    if len(pages) < 2:
        return set()
    places: Mapping[_Key, dict[int, float]] = defaultdict(dict)
    rows = [
        (page.number, row.y0, _row_keys(row, page.number, page.height))
        for page in pages
        for row in _marginal_rows(page)
    ]
    for number, y0, keys in rows:
        for key in keys:
            places[key][number] = y0
            places[key.counters][number] = y0
    if len(pages) <= _FEW_PAGES:
        return {
            key for key, found in places.items()
            if key.frame and len(found) == len(pages) and max(found.values()) - min(found.values()) <= _SAME_PLACE
        }  # fmt: skip
    min_pages = max(2.0, _MIN_PAGE_SHARE * len(pages) / 2)
    return {key for key in places if key.frame and max(len(places[key]), len(places[key.counters])) >= min_pages}


def _marginal_rows(page: LayoutPage) -> list[LayoutRow]:
    """Return the lines in the margins, and the outermost lines if these are within twice as much."""
    size = _MARGIN * page.height
    outer = [run for run in page.runs if run.y1 < 2 * size or run.y0 > page.height - 2 * size]
    first, last = min((run.middle for run in outer), default=0), max((run.middle for run in outer), default=0)
    return group_rows(
        run for run in outer
        if run.y1 < size or run.y0 > page.height - size or not first + _SAME_PLACE < run.middle < last - _SAME_PLACE
    )  # fmt: skip


def _row_keys(row: LayoutRow, page_number: int, height: float) -> set[_Key]:
    """Return a line's text and position by each choice of the numbers in it that may count the pages."""
    text = text_of_row(row).lower()
    own = {run.text.strip().lower() for run in (row.runs[0], row.runs[-1])} if len(row.runs) > 1 else set()
    numbers = [(number, *_count(number, page_number, is_own=number in own)) for number in _NUMBER.findall(text)]
    if sum(len(choices) > 1 for choices in numbers) > _MAX_COUNTERS:
        numbers = [choices[:1] for choices in numbers]
    is_margin = not _MARGIN * height < row.y0 < row.y1 < (1 - _MARGIN) * height
    frame, position = _NUMBER.sub("#", text), row.y0 / _SAME_HEIGHT
    places = (int(position), -int(position + 0.5) - 1)
    keys = {_Key(frame, chosen, place) for chosen in product(*numbers) for place in places}
    return keys if is_margin else {key for key in keys if key.counters != key}


def _count(number: str, page_number: int, *, is_own: bool) -> tuple[str, ...]:
    """Return how a number differs from that of its page, if it may count the pages; `is_own` if it is a run."""
    counter = _COUNTER.fullmatch(number)
    value = _value(counter[1]) if counter else None
    if counter is None or value is None or not (is_own or abs(value - page_number) <= _MAX_OFFSET):
        return ()
    return (f"{value - page_number:+}{counter[2]}",)


def _value(number: str) -> int | None:
    return int(number) if number.isdecimal() else _ROMAN.get(number.lower())


def _find_offsets(pages: Sequence[LayoutPage]) -> set[int]:
    """Return by how much the numbers that stand alone differ from those of at least two pages."""
    found = Counter(offset for page in pages for offset in {_offset(row, page) for row in _marginal_rows(page)})
    return {offset for offset, count in found.items() if count > 1 and offset is not None}


def _offset(row: LayoutRow, page: LayoutPage) -> int | None:
    number = _PAGE_NUMBER.fullmatch(text_of_row(row))
    value = _value(number[1]) if number else None
    return None if value is None else value - page.number


def _is_page_number(row: LayoutRow, page: LayoutPage, offsets: set[int] | None) -> bool:
    """Return True for a number in the outermost line that counts the pages; on a single page, it must be alone."""
    if offsets is None:
        is_number = _BARE_NUMBER.fullmatch(text_of_row(row)) is not None
    else:
        is_number = _offset(row, page) in offsets
    return is_number and (
        all(run.y0 >= row.y0 - 1 for run in page.runs) or all(run.y1 <= row.y1 + 1 for run in page.runs)
    )
