"""Measure pictures of whole pages, consent banners, and acting on pages: solved tasks, tokens, seconds.

The pages of the corpus `acting-shots` have known colors at known points. A picture is exact if it has all of them and
repeats no fixed header.
"""

from __future__ import annotations

import io
import json
import statistics
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from PIL import Image
from playwright.async_api import async_playwright

from benchmarks.acting.banners import measure_banners
from benchmarks.acting.late_answers import measure_late_answers
from benchmarks.acting.miniwob.running import compare_with_peer, measure_miniwob
from benchmarks.acting.real_pages import measure_big_outline, measure_real_pages
from benchmarks.acting.saved_banners import measure_saved_banners
from benchmarks.acting.serving import served
from benchmarks.acting.site_tasks import measure_site_tasks
from benchmarks.common.command_line import Figures, Options, print_table, run
from benchmarks.common.corpora import corpus_folder
from browsers import Browsers, BrowserSettings
from browsers.chromium.locate import find_chromium
from browsers.model import Mode, Request, ScreenshotKind, ScreenshotRequest, ThirdParties, Tier
from browsers.navigation.capture import WINDOW_HEIGHT, WINDOW_WIDTH

_HOST = "shots.example"
_TOLERANCE = 12
_BAND_TOLERANCE = 25
_DEADLINE_S = 60.0

Gold = Mapping[str, Any]
"""One page: `page` (file), `height`, `points` ([x, y, color]), `repeats` ([color, most] or None)."""


async def measure(options: Options) -> Figures:
    """Take a picture of each page with search-mcp and with Playwright, then act on pages.

    Raises:
        FileNotFoundError: The corpus is missing.
    """
    if options.corpora is None:
        raise FileNotFoundError("The pages are missing: give --corpora DIR.")
    folder = corpus_folder(options.corpora, "acting-shots")
    golds: list[Gold] = json.loads((folder / "gold.json").read_text(encoding="utf-8"))
    with served(folder) as port:
        rows = {"search-mcp": await _own(golds, port), "Playwright full_page": await _playwright(golds, port)}
    print_table(
        "Pictures of whole pages",
        ("", "exact", "of", "median ms"),
        [(name, sum(exact for exact, _ in row), len(row), _median_ms(row)) for name, row in rows.items()],
    )
    own, peer = rows.values()
    figures = await measure_banners(corpus_folder(options.corpora, "acting-banners"))
    figures |= await measure_saved_banners(
        [corpus_folder(options.corpora, name) for name in ("wcxb", "pages-lang", "extra-pages")]
    )
    figures |= await measure_site_tasks(corpus_folder(options.corpora, "acting-site"))
    figures |= await measure_late_answers()
    figures |= await measure_real_pages(corpus_folder(options.corpora, "extra-pages"))
    figures |= await measure_big_outline()
    miniwob = corpus_folder(options.corpora, "acting-miniwob")
    figures |= await measure_miniwob(miniwob)
    if options.peers:
        figures |= await compare_with_peer(miniwob)
    return figures | {
        "shots.exact": sum(exact for exact, _ in own),
        "shots.pages": len(own),
        "shots.ms": _median_ms(own),
        "shots.playwright_exact": sum(exact for exact, _ in peer),
        "shots.playwright_ms": _median_ms(peer),
    }


def _median_ms(row: list[tuple[bool, float]]) -> float:
    return round(1_000 * statistics.median(seconds for _, seconds in row))


async def _own(golds: list[Gold], port: int) -> list[tuple[bool, float]]:
    """Return for each page whether its picture is exact, and the seconds that the picture took after loading."""
    results = []
    picture = ScreenshotRequest(ScreenshotKind.FULL, image_type="png", is_single=True)
    async with Browsers(BrowserSettings(test_hosts=((_HOST, "127.0.0.1", port),))) as browsers:
        for gold in golds:
            snapshot = await browsers.visit(
                Request(
                    f"http://{_HOST}/{gold['page']}",
                    tier=Tier.FULL,
                    mode=Mode.RENDER,
                    picture=picture,
                    third_parties=ThirdParties.NO_TRACKERS,
                    deadline_s=_DEADLINE_S,
                )
            )
            seconds = snapshot.timing.pictured_s - snapshot.timing.settled_s
            results.append((is_exact(gold, snapshot.pictures[0].data), seconds))
    return results


async def _playwright(golds: list[Gold], port: int) -> list[tuple[bool, float]]:
    results = []
    async with _page() as page:
        for gold in golds:
            await page.goto(f"http://127.0.0.1:{port}/{gold['page']}")
            began = time.perf_counter()
            data = await page.screenshot(full_page=True)
            results.append((is_exact(gold, data), time.perf_counter() - began))
    return results


@asynccontextmanager
async def _page() -> AsyncIterator[Any]:
    found = find_chromium(Tier.FULL, None) or find_chromium(Tier.LIGHT, None)
    if found is None:
        raise FileNotFoundError("Chromium is not installed.")
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=found.executable)
        try:
            yield await browser.new_page(viewport={"width": WINDOW_WIDTH, "height": WINDOW_HEIGHT})
        finally:
            await browser.close()


def is_exact(gold: Gold, data: bytes) -> bool:
    """Return True if a picture of the whole page has every known color and repeats no header."""
    image = Image.open(io.BytesIO(data)).convert("RGB")
    scale = image.height / gold["height"]
    if abs(image.width / scale - WINDOW_WIDTH) >= 30:
        return False
    points = [((round(x * scale), round(y * scale)), color) for x, y, color in gold["points"]]
    inside = [(place, color) for place, color in points if place[0] < image.width and place[1] < image.height]
    if len(inside) < len(points) or not all(
        _is_like(image.getpixel(place), color, _TOLERANCE) for place, color in inside
    ):
        return False
    return gold["repeats"] is None or _count_bands(image, gold["repeats"][0], scale) <= gold["repeats"][1]


def _count_bands(image: Image.Image, color: list[int], scale: float) -> int:
    x = round(400 * scale)
    same = [_is_like(image.getpixel((x, y)), color, _BAND_TOLERANCE) for y in range(image.height)]
    return sum(now and not before for before, now in zip([False, *same], same, strict=False))


def _is_like(pixel: Any, color: list[int], tolerance: int) -> bool:
    return all(abs(one - other) <= tolerance for one, other in zip(pixel, color, strict=True))


if __name__ == "__main__":
    run(__doc__ or "", measure, optional_peers=True)
