"""Remove running headers and footers: repeated lines in the margins stay once, and page numbers go."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

from scraper.documents.pdf.layout_model import LayoutPage, LayoutRow, TextRun
from scraper.documents.pdf.text_assembly import group_rows, text_of_row

_MARGIN = 0.1
"""Ratio to the page height: area of headers and footers."""
_MIN_PAGE_SHARE = 0.4
"""Ratio of half of the pages: left and right pages may have different headers."""
_FEW_PAGES = 3
"""Pages. In a document of at most this length, a line must repeat on every page, at the same place."""
_SAME_HEIGHT = 6.0
_SAME_PLACE = 1.0
_NUMBERS = re.compile(r"\d+|\b[ivxlc]{1,7}\b")
_BARE_NUMBER = re.compile(r"[-–—\s]*(?:\d{1,4}|[ivxlc]{1,6})[-–—\s]*", re.I)
_PAGE_NUMBER = re.compile(
    r"(?:page|seite|p\.)?\s*+[-–—]?\s*+(?:\d{1,4}|[ivxlc]{1,6})\s*+[-–—]?(?:\s*(?:of|/|von)\s*\d{1,4})?", re.I
)

_Key = tuple[str, int]


def remove_headers_and_footers(
    pages: Sequence[LayoutPage], body_size: float
) -> tuple[list[LayoutPage], dict[int, str]]:
    """Remove page numbers, and repeated lines in the margins except for the first of each.

    No page loses its only text. The first line of each gets the font size of the body, because it is not a heading.
    Returns the pages, and the removed text by page.
    """
    running = _find_running_keys(pages)
    shown: set[_Key] = set()
    cleaned: list[LayoutPage] = []
    removed: dict[int, str] = {}
    for page in pages:
        dropped: set[TextRun] = set()
        first: set[TextRun] = set()
        for row in _marginal_rows(page):
            keys = running.intersection(_row_keys(row))
            if _is_page_number(row, page, len(pages)) or not keys.isdisjoint(shown):
                dropped.update(row.runs)
            elif keys:
                first.update(row.runs)
            shown |= keys
        if not dropped and not first:
            cleaned.append(page)
            continue
        rest = tuple(_as_body(run, body_size) if run in first else run for run in page.runs if run not in dropped)
        has_text = any(any(map(str.isalnum, run.text)) for run in rest)
        if dropped and has_text:
            removed[page.number] = " ".join(run.text for run in page.runs if run in dropped)
        cleaned.append(replace(page, runs=rest) if has_text or not dropped else page)
    return cleaned, removed


def _as_body(run: TextRun, body_size: float) -> TextRun:
    return run._replace(size=min(run.size, body_size), bold=False)


def _find_running_keys(pages: Sequence[LayoutPage]) -> set[_Key]:
    if len(pages) < 2:
        return set()
    places: Mapping[_Key, dict[int, float]] = defaultdict(dict)
    for page in pages:
        for row in _marginal_rows(page):
            for key in _row_keys(row):
                places[key][page.number] = row.y0
    if len(pages) <= _FEW_PAGES:
        return {
            key for key, found in places.items()
            if len(found) == len(pages) and max(found.values()) - min(found.values()) <= _SAME_PLACE
        }  # fmt: skip
    min_pages = max(2.0, _MIN_PAGE_SHARE * len(pages) / 2)
    return {key for key, found in places.items() if len(found) >= min_pages}


def _marginal_rows(page: LayoutPage) -> list[LayoutRow]:
    top, bottom = _MARGIN * page.height, (1 - _MARGIN) * page.height
    return group_rows(run for run in page.runs if run.y1 < top or run.y0 > bottom)


def _row_keys(row: LayoutRow) -> tuple[_Key, _Key]:
    """Return a line's text without numbers, and its position; two keys, so that near positions match."""
    text = _NUMBERS.sub("#", text_of_row(row).lower())
    position = row.y0 / _SAME_HEIGHT
    return (text, int(position)), (text, -int(position + 0.5) - 1)


def _is_page_number(row: LayoutRow, page: LayoutPage, page_count: int) -> bool:
    """Return True for a number in the outermost line of its page; on a single page, it must be alone in its line."""
    if not (_PAGE_NUMBER if page_count > 1 else _BARE_NUMBER).fullmatch(text_of_row(row)):
        return False
    return all(run.y0 >= row.y0 - 1 for run in page.runs) or all(run.y1 <= row.y1 + 1 for run in page.runs)
