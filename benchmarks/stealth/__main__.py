"""Test whether bot detectors recognize the browser, with third-party detectors and published checks.

Both tiers of search-mcp are compared with plain Playwright and with playwright-stealth. `detectors.light` and
`detectors.full` count those of four detectors that recognize the tier.
"""

from __future__ import annotations

import asyncio
import html
import json
import re
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from benchmarks.common.command_line import Figures, Goal, Options, print_goals, print_table, run
from benchmarks.stealth.detectors.browsers_under_test import (
    ReadPage,
    own_browsers,
    own_tier,
    playwright_page,
    stealth_plugin,
)
from benchmarks.stealth.detectors.catalogue import DETECTORS, RECOGNIZERS, Detector
from benchmarks.stealth.detectors.install import install_detectors
from benchmarks.stealth.detectors.site import DetectorSite, serve_detectors
from browsers.chromium.locate import find_chromium
from browsers.errors import BrowsersError
from browsers.model import Tier

_GOALS = (Goal("failing", at_most=0), Goal("detectors.light", at_most=1), Goal("detectors.full", at_most=1))
_REPORT = re.compile(r'<pre id="report"[^>]*>(.*?)</pre>', re.DOTALL)
_LATE_FINDINGS_S = 0.5
"""Seconds to wait for findings that a page sends after its report."""


@dataclass(frozen=True, slots=True)
class _Visitor:
    name: str
    read: ReadPage
    tier: Tier
    ours: bool


@dataclass(frozen=True, slots=True)
class _Outcome:
    visitor: _Visitor
    detector: Detector
    findings: tuple[str, ...]

    @property
    def unexpected(self) -> tuple[str, ...]:
        """Findings that are not expected."""
        return self.detector.unexpected(self.visitor.tier, self.findings)


async def measure(options: Options) -> Figures:
    """Test every browser with every detector; `--quick` tests only ours."""
    packages = await asyncio.to_thread(install_detectors)
    detectors = [one for one in DETECTORS if packages is not None or not one.from_npm]
    outcomes = []
    async with serve_detectors(packages) as site, _visitors(site.port, options.quick) as visitors:
        for visitor in visitors:
            outcomes += [await _examine(visitor, detector, site) for detector in detectors]
    _print(outcomes, [visitor.name for visitor in visitors])
    figures = _figures(outcomes)
    figures["detectors"] = len(detectors)
    if len(detectors) < len(DETECTORS):
        # Without all detectors the test counts as incomplete.
        del figures["failing"]
    print_goals(figures, _GOALS)
    return figures


@asynccontextmanager
async def _visitors(port: int, quick: bool) -> AsyncIterator[Sequence[_Visitor]]:
    async with AsyncExitStack() as stack:
        browsers = await stack.enter_async_context(own_browsers(port))
        visitors = [_Visitor(f"ours, {tier}", own_tier(browsers, tier), tier, ours=True) for tier in Tier]
        if not quick:
            visitors += await _peers(stack, port)
        yield visitors


async def _peers(stack: AsyncExitStack, port: int) -> list[_Visitor]:
    peers = []
    plugin = await asyncio.to_thread(stealth_plugin)
    for name, disguise in (("playwright", None), ("playwright-stealth", plugin)):
        if name == "playwright-stealth" and plugin is None:
            continue
        for tier in Tier:
            chromium = find_chromium(tier, None)
            if chromium is not None:
                page = playwright_page(chromium.executable, port, disguise)
                read = await stack.enter_async_context(page)
                peers.append(_Visitor(f"{name}, {tier}", read, tier, ours=False))
    return peers


async def _examine(visitor: _Visitor, detector: Detector, site: DetectorSite) -> _Outcome:
    key = visitor.name.replace(", ", "-").replace(" ", "-")
    try:
        page = await visitor.read(site.url(detector.page, key))
    except (BrowsersError, TimeoutError) as error:
        return _Outcome(visitor, detector, (f"no report: {error}",))
    await asyncio.sleep(_LATE_FINDINGS_S)
    return _Outcome(visitor, detector, (*_findings(page), *site.late(detector.page, key)))


def _findings(page: str) -> tuple[str, ...]:
    found = _REPORT.search(page)
    return tuple(json.loads(html.unescape(found[1]))["findings"]) if found else ("no report",)


def _print(outcomes: Sequence[_Outcome], visitors: Sequence[str]) -> None:
    numbers: dict[str, dict[str, int]] = {}
    for outcome in outcomes:
        numbers.setdefault(outcome.detector.name, {})[outcome.visitor.name] = len(outcome.findings)
    rows = [
        (one.name, *(numbers[one.name].get(visitor) for visitor in visitors))
        for one in DETECTORS
        if one.name in numbers
    ]
    print_table("Findings, including known ones", ("detector", *visitors), rows)
    print_table("Sources", ("detector", ""), ((one.name, _source(one)) for one in DETECTORS))
    for outcome in (one for one in outcomes if one.visitor.ours):
        for finding in outcome.findings:
            known = "" if finding in outcome.unexpected else "  (known)"
            print(f"  {outcome.visitor.name:12} {outcome.detector.name:24} {finding}{known}")


def _source(detector: Detector) -> str:
    if detector.from_npm:
        return f"{detector.source}, from npm"
    return f"{detector.source}: not available from npm; our own page runs its published checks"


def _figures(outcomes: Sequence[_Outcome]) -> Figures:
    figures: Figures = {"failing": 0}
    for outcome in outcomes:
        if not outcome.visitor.ours:
            continue
        key = outcome.visitor.tier.value
        figures["failing"] += len(outcome.unexpected)
        figures[f"{key}.findings"] = figures.get(f"{key}.findings", 0) + len(outcome.findings)
        if outcome.detector.name in RECOGNIZERS:
            figures[f"detectors.{key}"] = figures.get(f"detectors.{key}", 0) + bool(outcome.findings)
        figures[f"{key}.failing"] = figures.get(f"{key}.failing", 0) + len(outcome.unexpected)
    return figures


if __name__ == "__main__":
    run(__doc__ or "", measure)
