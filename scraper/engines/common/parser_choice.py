"""What a page of an engine is, in an order that never takes a wall or a strange page for an empty answer.

Rows by the engine's own markup; walls, where there is no row; the engine's word that it found nothing; rows
by shape; else an error.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from browsers.model import Request, Snapshot
from scraper.engines.common import block_pages, generic_parser, layout_parser, no_results
from scraper.engines.common.layout_parser import Layout, Select
from scraper.engines.common.redirect_unwrapping import unwrap
from scraper.engines.common.result_page import ResultPage, build
from scraper.engines.common.rows import EngineRow, results
from scraper.engines.model import EngineOutcome, EngineResponse

_MIN_SHAPE_ROWS = 3
_FEWER = 0.6
"""Selectors that find less than this share of the rows that the shape gives have lost their markup."""
_BARE, _TOLD = 0.3, 0.7
"""So has a reading in which fewer rows than this have a snippet while more than that have one by shape."""
_COMMON = 0.5
"""Two readings of the same page that share fewer addresses than this disagree."""


@dataclass(frozen=True, slots=True)
class ParsedResultPage:
    """How an engine's pages are read."""

    layouts: tuple[Layout, ...] = ()
    """The faces of the engine; the one that gives most rows counts."""
    none: Select | None = None
    """What stands only on a page that says nothing was found."""
    next: Callable[[ResultPage], Request | None] | None = None
    shells: frozenset[str] = frozenset()
    """Ids of the frame into which scripts have still to bring the rows."""


def read(snapshot: Snapshot, now: datetime, reading: ParsedResultPage | None = None) -> EngineResponse:
    """A page of an engine; without `reading` of one that nobody has described."""
    reading = reading or ParsedResultPage()
    page = build(snapshot)
    if page.root is None:
        return _not_understood(page, reading)
    selected = _selected(page, reading.layouts)
    shape = generic_parser.read(page)
    wall = None if selected or _has_rows(shape) else block_pages.find(page)
    if wall is not None and not (wall.yields and _says_none(page, reading)):
        return _walled(wall)
    if not selected and _is_empty(page, reading, shape):
        return EngineResponse(EngineOutcome.NONE)
    rows, changed = arbitrate(selected, shape.rows)
    if not rows or (not selected and page.status >= 400 and not _has_rows(shape)):
        return _not_understood(page, reading)
    return EngineResponse(
        EngineOutcome.OK,
        results=results(rows, now),
        next=reading.next(page) if reading.next else None,
        loosened=no_results.says_loosened(page),
        layout_changed=changed and bool(reading.layouts),
    )


def arbitrate(selected: Sequence[EngineRow], shaped: Sequence[EngineRow]) -> tuple[Sequence[EngineRow], bool]:
    """Which of two readings of a page to take, and whether they disagree."""
    if not selected:
        return shaped, bool(shaped)
    if len(shaped) < _MIN_SHAPE_ROWS:
        return selected, False
    lost = len(selected) < _FEWER * len(shaped)
    bare = _told(selected) < _BARE and _told(shaped) > _TOLD
    if lost or bare:
        return shaped, True
    return selected, _common(selected, shaped) < _COMMON


def _common(selected: Sequence[EngineRow], shaped: Sequence[EngineRow]) -> float:
    # By headline too: Baidu's links say nothing of where they lead, its own marks do.
    known = {unwrap(row.href) for row in selected} | {row.title for row in selected}
    return sum(unwrap(row.href) in known or row.title in known for row in shaped) / len(shaped)


def _selected(page: ResultPage, layouts: Sequence[Layout]) -> list[EngineRow]:
    readings = [layout_parser.read(page, one) for one in layouts]
    return max(readings, key=len, default=[])


def _has_rows(shape: generic_parser.ShapeResult) -> bool:
    """Whether a page has rows by its shape beyond doubt: then no mark makes it a wall."""
    return shape.is_convincing and len(shape.rows) >= _MIN_SHAPE_ROWS


def _walled(wall: block_pages.BlockPage) -> EngineResponse:
    return EngineResponse(
        EngineOutcome.WALL, detail=wall.reason, wall=wall.name, clears_itself=wall.clears_itself
    )


def _is_empty(page: ResultPage, reading: ParsedResultPage, shape: generic_parser.ShapeResult) -> bool:
    """The engine's own mark is enough; a sentence is not beside rows: "No more results" ends many a list."""
    if page.status >= 400:
        return False
    return _bears_none(page, reading) or (not shape.is_convincing and no_results.says_none(page))


def _says_none(page: ResultPage, reading: ParsedResultPage) -> bool:
    return page.status < 400 and (_bears_none(page, reading) or no_results.says_none(page))


def _bears_none(page: ResultPage, reading: ParsedResultPage) -> bool:
    return page.root is not None and reading.none is not None and bool(reading.none(page.root))


def _not_understood(page: ResultPage, reading: ParsedResultPage) -> EngineResponse:
    if page.status >= 400:
        return EngineResponse(EngineOutcome.ERROR, detail=f"http_{page.status}")
    if page.root is None:
        return EngineResponse(EngineOutcome.ERROR, detail="unreadable")
    is_shell = bool(reading.shells & page.marks.ids)
    return EngineResponse(EngineOutcome.ERROR, detail="not_rendered" if is_shell else "layout_changed")


def _told(rows: Sequence[EngineRow]) -> float:
    return sum(bool(row.snippet) for row in rows) / len(rows)
