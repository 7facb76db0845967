"""Small words for the tests of visits."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable

import pytest

from browsers import Browsers, Mode, Request, Snapshot, VisitLimits
from tests.site.running import Site

PATIENCE_S = 60.0
WAITING = VisitLimits(settle_s=50.0)
"""For visits that wait for something of the page, which is there when a busy machine comes to it."""

UNANSWERED = frozenset({"/longpoll", "/slow-css", "/slow-frame", "/slow-script", "/worker", "/workshop"})
"""Pages of the site with a request of which no end is told: they are complete all the same, and soon."""

MARK = re.compile(r"MARK-[\w-]+?-\d+")


async def visit(
    browsers: Browsers,
    site: Site,
    path: str,
    mode: Mode = Mode.RENDER,
    *,
    host: str = "site.example",
    **more: object,
) -> Snapshot:
    """One visit of a page of the site."""
    patience = {"deadline_s": PATIENCE_S} | ({"limits": WAITING} if "wait" in more else {}) | more
    request = Request(site.url(path, host), mode=mode, **patience)  # type: ignore[arg-type]
    return await browsers.visit(request, never)


def await_answers(patch: pytest.MonkeyPatch) -> None:
    """Take a busy machine's server for no server that hangs; not for the pages of UNANSWERED."""
    for limit in ("DATA_HOLDS_S", "CODE_HOLDS_S", "HOLDS_WHEN_THIN_S", "SOCKET_WAIT_S"):
        patch.setattr(f"browsers.navigation.readiness_rules.{limit}", 7.0)


async def until(done: Callable[[], bool]) -> None:
    """Wait until it has come to pass; the limit only proves that it does, however busy the machine is."""
    async with asyncio.timeout(PATIENCE_S):
        while not done():  # noqa: ASYNC110 - what is waited for knows nothing of events
            await asyncio.sleep(0.02)


async def never(_: Snapshot) -> bool:
    """No response as served is enough."""
    return False


async def always(_: Snapshot) -> bool:
    """Every response as served is enough."""
    return True


def text_of(snapshot: Snapshot) -> str:
    """Everything that was captured, frames included."""
    return snapshot.html + "".join(frame.html for frame in snapshot.frames)


def marks(snapshot: Snapshot) -> int:
    """How many different marker words were captured."""
    return len(set(MARK.findall(text_of(snapshot))))
