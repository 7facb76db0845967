"""Measure when difficult pages of the test site count as ready: completeness and time.

search-mcp is compared with Playwright's `networkidle` (at most 10 s), page by page in turn. Then pages whose
scripts never end are read: how much of their text is returned, and after how long.
"""

from __future__ import annotations

import re
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.common.command_line import Figures, Goal, Options, print_goals, print_table, run
from benchmarks.common.contender import Reading, Running, running
from benchmarks.common.mapped_site import mapped_playwright, mapped_settings
from browsers import Browsers, Mode, Request, Snapshot
from browsers.errors import BrowsersError
from tests.site.prose import marks_found
from tests.site.running import Site, running_site

_IDLE_CAP_S = 10.0
_SCRIPT = re.compile(r"<script\b.*?</script>", re.DOTALL | re.IGNORECASE)
_LOOPS = {
    "/loop": 5,
    "/loop-late": 10,
    "/loop-microtask": 10,
    "/loop-worker": 10,
    "/alerts": 5,
    "/alerts-endless": 5,
    "/prompt": 10,
    "/history-loop": 10,
    "/popups": 10,
}
"""Marker words on the page before the endless script starts."""

_GOALS = (
    Goal("complete_share", at_least=1),
    Goal("time_ratio", at_most=0.5),
    Goal("time_ratio_where_idle_ends", at_most=0.75),
    Goal("loops_kept_share", at_least=1),
    Goal("loops_slowest_s", at_most=3),
)


@dataclass(frozen=True, slots=True)
class _Readings:
    """Result of several readings of a page."""

    found: int
    """Fewest marker words found in a reading."""
    seconds: float
    """Median seconds."""
    note: str = ""

    @classmethod
    def of(cls, readings: Sequence[tuple[int, float, str]]) -> _Readings:
        found, seconds, notes = zip(*readings, strict=True)
        return cls(min(found), statistics.median(seconds), next(filter(None, notes), ""))


@dataclass(frozen=True, slots=True)
class _Page:
    path: str
    name: str
    """Name in the marker words."""
    expected: int


@dataclass(frozen=True, slots=True)
class _Pair:
    """One page read by search-mcp and by Playwright."""

    path: str
    expected: int
    ours: _Readings
    idle: _Readings | None
    """None if Playwright did not read the page."""

    @property
    def complete(self) -> bool:
        return self.ours.found >= self.expected

    @property
    def idle_ends(self) -> bool:
        """True if `networkidle` is reached in time with the complete page."""
        return self.idle_complete and self.idle is not None and self.idle.seconds < _IDLE_CAP_S

    @property
    def idle_complete(self) -> bool:
        """True if `networkidle` returned the complete page."""
        return self.idle is not None and self.idle.found >= self.expected


async def measure(options: Options) -> Figures:
    """Read every page in turn; with `--quick`, Playwright reads every third."""
    times, compared = (1, 3) if options.quick else (3, 1)
    with running_site() as site:
        async with Browsers(mapped_settings(site)) as browsers, running(mapped_playwright(site)) as idle:
            await _ours(browsers, site, "/static/0", "static")
            await _idle(idle, site, "/static/0")
            pairs = [
                await _pair(browsers, None if number % compared else idle, site, page, times)
                for number, page in enumerate(_pages(site))
            ]
            loops = {
                path: _Readings.of([await _ours(browsers, site, path, path[1:]) for _ in range(times)])
                for path in _LOOPS
            }
    figures = _print_pairs(pairs) | _print_loops(loops)
    print_goals(figures, _GOALS)
    return figures


def _pages(site: Site) -> list[_Page]:
    pages = site.manifest().items()
    return [_Page(path, str(entry["name"]), int(entry["marks"])) for path, entry in pages]


async def _pair(browsers: Browsers, idle: Running | None, site: Site, page: _Page, times: int) -> _Pair:
    ours, theirs = [], []
    for _ in range(times):
        ours.append(await _ours(browsers, site, page.path, page.name))
        if idle is not None:
            theirs.append(await _idle(idle, site, page.path, page.name))
    return _Pair(page.path, page.expected, _Readings.of(ours), _Readings.of(theirs) if theirs else None)


async def _ours(browsers: Browsers, site: Site, path: str, name: str) -> tuple[int, float, str]:
    started = time.perf_counter()
    try:
        snapshot = await browsers.visit(Request(site.url(path), mode=Mode.RENDER))
    except BrowsersError as error:
        return 0, time.perf_counter() - started, f"{type(error).__name__}: {error}"
    seconds = time.perf_counter() - started
    note = "" if snapshot.complete else "captured before it was ready"
    return marks_found(name, _SCRIPT.sub("", _html(snapshot))), seconds, note


async def _idle(idle: Running, site: Site, path: str, name: str = "static") -> tuple[int, float, str]:
    lap = await idle.read(Reading((site.url(path),), at_once=1, trailing_s=0))
    (found,) = await idle.counts(rf"MARK-{re.escape(name)}-\d+")
    return found, lap.latencies[0], lap.failures[0][1] if lap.failures else ""


def _html(snapshot: Snapshot) -> str:
    return "\n".join((snapshot.html, *(frame.html for frame in snapshot.frames)))


def _print_pairs(pairs: Sequence[_Pair]) -> Figures:
    rows = [
        (
            pair.path,
            pair.expected,
            pair.ours.found,
            pair.ours.seconds,
            pair.idle.found if pair.idle else None,
            pair.idle.seconds if pair.idle else None,
            "" if pair.complete else "INCOMPLETE",
            pair.ours.note[:60],
        )
        for pair in pairs
    ]
    columns = ("page", "marks", "ours", "s", "networkidle", "s", "", "")
    print_table("Difficult pages", columns, rows)
    ending = [pair for pair in pairs if pair.idle_ends]
    figures: Figures = {
        "pages": len(pairs),
        "complete": sum(pair.complete for pair in pairs),
        "complete_share": sum(pair.complete for pair in pairs) / len(pairs),
        "seconds": sum(pair.ours.seconds for pair in pairs),
        "idle.pages": sum(pair.idle is not None for pair in pairs),
        "idle.complete": sum(pair.idle_complete for pair in pairs),
        "idle.seconds": sum(pair.idle.seconds for pair in pairs if pair.idle),
        "time_ratio": _time_ratio(pairs),
        "time_ratio_where_idle_ends": _time_ratio(ending),
        "pages_where_idle_ends": len(ending),
    }
    print_table("Totals", ("", ""), figures.items())
    return figures


def _print_loops(loops: dict[str, _Readings]) -> Figures:
    rows = [
        (path, _LOOPS[path], readings.found, readings.seconds, readings.note[:60]) for path, readings in loops.items()
    ]
    print_table("Pages whose scripts never end", ("page", "marks", "found", "s", ""), rows)
    kept = sum(readings.found >= _LOOPS[path] for path, readings in loops.items())
    slowest = max(readings.seconds for readings in loops.values())
    return {"loops": len(loops), "loops_kept": kept, "loops_kept_share": kept / len(loops), "loops_slowest_s": slowest}


def _time_ratio(pairs: Sequence[_Pair]) -> float:
    both = [(pair.ours.seconds, pair.idle.seconds) for pair in pairs if pair.idle]
    return sum(ours for ours, _ in both) / sum(theirs for _, theirs in both)


if __name__ == "__main__":
    run(__doc__ or "", measure)
