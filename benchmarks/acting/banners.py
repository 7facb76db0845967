"""Measure how consent banners are refused, on pages whose banners, answers and contents are known."""

from __future__ import annotations

import asyncio
import json
import statistics
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from playwright.async_api import Page, async_playwright

from benchmarks.acting.serving import served
from benchmarks.common.command_line import Figures, print_table
from browsers.cdp.session import CommandFailedError, Session
from browsers.chromium.locate import find_chromium
from browsers.model import Tier
from browsers.navigation.consent import refuse_consent

_LOADING_S = 0.8
"""Seconds after which a banner is there."""
_STATE = """(task) => {
  const find = (selector) => {
    const [outer, inner] = selector.split(' >>> ');
    if (!inner) return [...document.querySelectorAll(outer)];
    const host = document.querySelector(outer);
    return host && host.shadowRoot ? [...host.shadowRoot.querySelectorAll(inner)] : [];
  };
  const isVisible = (element) => {
    const box = element.getBoundingClientRect();
    const isShown = element.checkVisibility({visibilityProperty: true, opacityProperty: true});
    return box.width > 4 && box.height > 4 && isShown;
  };
  const text = document.body.innerText;
  let isRefused = false;
  try { isRefused = task.chosen ? Boolean(eval(task.chosen)) : false; } catch { isRefused = false; }
  return {
    gone: task.banner ? !find(task.banner).some(isVisible) : true,
    content: task.content.every((part) => text.includes(part)),
    kept: task.keep.every((selector) => find(selector).some(isVisible)),
    refused: isRefused,
  };
}"""


@dataclass(frozen=True, slots=True)
class _Row:
    state: Mapping[str, bool]
    seconds: float


class PlaywrightSession:
    """A CDP session of Playwright with the method of `Session` that `refuse_consent` uses."""

    def __init__(self, session: Any) -> None:
        self._session = session

    async def send(self, method: str, /, *, limit_s: float, **params: Any) -> dict[str, Any]:
        try:
            return dict(await asyncio.wait_for(self._session.send(method, params), limit_s) or {})
        except TimeoutError:
            raise
        except Exception as error:
            raise CommandFailedError(method, str(error)) from error


@asynccontextmanager
async def open_browser() -> AsyncIterator[Callable[[str], AbstractAsyncContextManager[tuple[Page, Session]]]]:
    """Start Chromium without network; yield a function that opens a page in a context of its own.

    Raises:
        FileNotFoundError: Chromium is not installed.
    """
    found = find_chromium(Tier.LIGHT, None) or find_chromium(Tier.FULL, None)
    if found is None:
        raise FileNotFoundError("Chromium is not installed.")
    # Some consent managers show nothing to a browser that states that it is automated.
    switches = [
        "--disable-blink-features=AutomationControlled",
        "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
    ]
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=found.executable, args=switches)
        agent = f"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/{browser.version} Safari/537.36"

        @asynccontextmanager
        async def new_page(url: str) -> AsyncIterator[tuple[Page, Session]]:
            context = await browser.new_context(viewport={"width": 1_280, "height": 900}, user_agent=agent)
            try:
                page = await context.new_page()
                await page.goto(url)
                yield page, cast(Session, PlaywrightSession(await context.new_cdp_session(page)))
            finally:
                await context.close()

        yield new_page
        await browser.close()


async def measure_banners(folder: Path) -> Figures:
    """Refuse the banners of every page of the corpus `acting-banners`."""
    tasks: list[dict[str, Any]] = json.loads((folder / "tasks.json").read_text(encoding="utf-8"))
    rows: dict[str, _Row] = {}
    with served(folder) as port:
        async with open_browser() as new_page:
            for task in tasks:
                async with new_page(f"http://127.0.0.1:{port}/{task['page']}") as (page, session):
                    await asyncio.sleep(_LOADING_S)
                    began = time.perf_counter()
                    await refuse_consent(session)
                    seconds = time.perf_counter() - began
                    rows[task["id"]] = _Row(await page.evaluate(f"({_STATE})({json.dumps(task)})"), seconds)
    asked = [task for task in tasks if task["banner"]]
    refusable = [task for task in asked if task["chosen"]]
    guarded = [task for task in tasks if task["keep"]]
    failed = [name for name, row in rows.items() if not all(row.state[key] for key in ("gone", "content", "kept"))]
    failed += [task["id"] for task in refusable if not rows[task["id"]].state["refused"]]
    figures: Figures = {
        "banners.gone": sum(rows[task["id"]].state["gone"] for task in asked),
        "banners.refused": sum(rows[task["id"]].state["refused"] for task in refusable),
        "banners.kept": sum(rows[task["id"]].state["kept"] for task in guarded),
        "banners.content": sum(row.state["content"] for row in rows.values()),
        "banners.ms": round(1_000 * statistics.median(row.seconds for row in rows.values())),
    }
    print_table(
        "Consent banners",
        ("gone", "refused", "kept", "content", "ms", "failed pages"),
        [
            (
                f"{figures['banners.gone']} of {len(asked)}",
                f"{figures['banners.refused']} of {len(refusable)}",
                f"{figures['banners.kept']} of {len(guarded)}",
                f"{figures['banners.content']} of {len(rows)}",
                figures["banners.ms"],
                " ".join(sorted(set(failed))),
            )
        ],
    )
    return figures
