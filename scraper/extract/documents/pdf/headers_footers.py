"""Lines that repeat at the top or bottom of pages: running titles and page numbers are left out."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace

from scraper.extract.documents.pdf.layout_model import LayoutPage, LayoutRow
from scraper.extract.documents.pdf.rows import rows_of, text_of_row

_MARGIN = 0.1
"""Of the page's height: where running lines stand."""
_LEAST_SHARE = 0.4
"""Of the pages, or of those of one side."""
_SAME_HEIGHT = 6.0
_NUMBERS = re.compile(r"\d+|\b[ivxlc]{1,7}\b")
_PAGE_NUMBER = re.compile(
    r"(?:page|seite|p\.)?\s*+[-–—]?\s*+(?:\d{1,4}|[ivxlc]{1,6})\s*+[-–—]?(?:\s*(?:of|/|von)\s*\d{1,4})?", re.I
)


def without_running_lines(pages: Sequence[LayoutPage]) -> list[LayoutPage]:
    """The pages without what repeats in their margins; a bare number at the very edge goes too."""
    seen: dict[tuple[str, int], set[int]] = defaultdict(set)
    for page in pages:
        for row in _marginal(page):
            for key in _keys(row):
                seen[key].add(page.number)
    enough = max(2.0, _LEAST_SHARE * len(pages) / 2)
    return [_cleaned(page, {key for key, on in seen.items() if len(on) >= enough}) for page in pages]


def _cleaned(page: LayoutPage, running: set[tuple[str, int]]) -> LayoutPage:
    dropped = {
        run
        for row in _marginal(page)
        if any(key in running for key in _keys(row)) or _is_page_number(row, page) or _is_imprint(row, page)
        for run in row.runs
    }
    if not dropped:
        return page
    kept = tuple(run for run in page.runs if run not in dropped)
    return replace(page, runs=kept)


def _marginal(page: LayoutPage) -> Iterator[LayoutRow]:
    top, bottom = _MARGIN * page.height, (1 - _MARGIN) * page.height
    yield from rows_of(run for run in page.runs if run.y1 < top or run.y0 > bottom)


def _keys(row: LayoutRow) -> Iterator[tuple[str, int]]:
    """What a line says without its numbers, and where; twice, so that near heights meet."""
    said = _NUMBERS.sub("#", text_of_row(row).lower())
    place = row.y0 / _SAME_HEIGHT
    yield said, int(place)
    yield said, -int(place + 0.5) - 1


def _is_page_number(row: LayoutRow, page: LayoutPage) -> bool:
    """A number alone, the outermost line of its page."""
    if not _PAGE_NUMBER.fullmatch(text_of_row(row)):
        return False
    return all(run.y0 >= row.y0 - 1 for run in page.runs) or all(run.y1 <= row.y1 + 1 for run in page.runs)


_EDGE = 0.08
_APART = 1.6
_IMPRINT = re.compile(
    r"^\d{1,4}\s+\D|\D\s+\d{1,4}$|\bwww\.|https?://|\bdoi\b|\u00a9|\bcopyright\b|\bpage\s+\d|\brev(?:ision|\.)?\b"
    r"|\bvol(?:ume|\.)?\s*\d|\bpublished by\b|\bdownload|\b(?:19|20)\d\d\b|\||\bchapter \d",
    re.IGNORECASE,
)


def _is_imprint(row: LayoutRow, page: LayoutPage) -> bool:
    """The outermost line, set apart from the text, that says what running lines say: where one is."""
    text = text_of_row(row)
    if len(text) > 120 or not _IMPRINT.search(text):
        return False
    height = row.y1 - row.y0
    others = [run for run in page.runs if run not in row.runs]
    if row.y1 < _EDGE * page.height:
        return all(run.y0 - row.y1 > _APART * height or run.y1 <= row.y1 for run in others)
    if row.y0 > (1 - _EDGE) * page.height:
        return all(row.y0 - run.y1 > _APART * height or run.y0 >= row.y0 for run in others)
    return False
