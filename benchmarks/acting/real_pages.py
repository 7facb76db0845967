"""Measure outlines of real saved pages: their size, their cost, and the share of visible controls with a reference."""

from __future__ import annotations

import asyncio
import statistics
import tempfile
import time
from pathlib import Path

from benchmarks.acting.serving import served
from benchmarks.acting.site_tasks import HOST, ActingClient, mean
from benchmarks.common.command_line import Figures, print_table
from browsers import Browsers, BrowserSettings
from browsers.acting.outline_text import write_outline

PAGES = 30
LINKS = 20_000
_MIN_BYTES, _MAX_BYTES = 30_000, 3_000_000
_MAX_CONTROLS = 400
"""Controls of a page that are compared."""
_CONTROLS = """(() => {
  const isVisible = (element) => {
    const box = element.getBoundingClientRect();
    const isShown = element.checkVisibility({visibilityProperty: true, opacityProperty: true});
    return isShown && box.width > 1 && box.height > 1 && box.right > 0 && box.bottom + scrollY > 0;
  };
  const selector = 'a[href],button,input:not([type=hidden]),select,textarea,summary,[onclick],'
    + '[role=button],[role=link],[role=tab],[role=checkbox]';
  return [...document.querySelectorAll(selector)].filter(isVisible).slice(0, %d);
})()"""


async def measure_real_pages(folder: Path) -> Figures:
    """Return tokens and coverage of the outlines of pages of a folder with HTML files."""
    chosen = _choose_pages(folder)
    rows: list[tuple[str, float, int, float, float]] = []
    with served(folder) as port:
        async with Browsers(BrowserSettings(test_hosts=((HOST, "127.0.0.1", port),))) as browsers:
            client = ActingClient(browsers)
            for file in chosen:
                opened = await client.run(f"open http://{HOST}/{file.relative_to(folder).as_posix()}")
                if opened.error or client.session is None:
                    continue
                began = time.perf_counter()
                outline = await client.page.outlines.take()
                seconds = time.perf_counter() - began
                tokens = len(write_outline(outline)) / 4
                active = {line.ref for line in outline.lines if line.is_active}
                rows.append((file.stem[:30], tokens, len(outline.lines), seconds, await _covered(client, active)))
    print_table("Outlines of real pages", ("page", "tokens", "lines", "seconds", "controls with a reference"), rows)
    sizes = sorted(row[1] for row in rows)
    return {
        "look.pages": len(rows),
        "look.tokens": round(statistics.median(sizes)),
        "tokens.look": round(statistics.median(sizes)),
        "look.p90": round(sizes[int(0.9 * (len(sizes) - 1))]),
        "look.coverage": round(mean([row[4] for row in rows]), 4),
        "look.ms": round(1_000 * statistics.median(row[3] for row in rows), 1),
    }


def _choose_pages(folder: Path) -> list[Path]:
    files = sorted(file for file in folder.rglob("*.html") if _MIN_BYTES <= file.stat().st_size <= _MAX_BYTES)
    return files[:: max(1, len(files) // PAGES)][:PAGES]


def _write_links(file: Path) -> None:
    links = "".join(f'<li><a href="/page?{number}">Link number {number}</a></li>\n' for number in range(LINKS))
    file.write_text(f"<!doctype html><title>Links</title><ul>{links}</ul>", encoding="utf-8")


async def measure_big_outline() -> Figures:
    """Return the seconds for the outline of a page with 20,000 links."""
    with tempfile.TemporaryDirectory() as name:
        _write_links(Path(name, "links.html"))
        with served(Path(name)) as port:
            async with Browsers(BrowserSettings(test_hosts=((HOST, "127.0.0.1", port),))) as browsers:
                client = ActingClient(browsers)
                await client.run(f"open http://{HOST}/links.html")
                await client.page.resume()
                times = []
                for _ in range(3):
                    began = time.perf_counter()
                    write_outline(await client.page.outlines.take())
                    times.append(time.perf_counter() - began)
    return {"big_outline_s": round(statistics.median(times), 2)}


async def _covered(client: ActingClient, active: set[str]) -> float:
    """Return the share of visible controls that are a line, or inside or around one, as their node ids tell."""
    session = client.page.session
    found = await session.send("Runtime.evaluate", expression=_CONTROLS % _MAX_CONTROLS)
    properties = await session.send("Runtime.getProperties", objectId=found["result"]["objectId"], ownProperties=True)
    objects = [one["value"]["objectId"] for one in properties["result"] if one["name"].isdecimal()]
    answers = await asyncio.gather(
        *(session.start("DOM.describeNode", objectId=one) for one in objects), return_exceptions=True
    )
    refs = [f"e{one['node']['backendNodeId']}" for one in answers if not isinstance(one, BaseException)]
    return sum(ref in active for ref in refs) / len(refs) if refs else 1.0
