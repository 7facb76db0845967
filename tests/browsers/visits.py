"""Helper functions for tests of visits."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable

import pytest

from browsers import Browsers, Mode, Request, Snapshot, Tier, VisitLimits
from browsers.navigation import lazy_content, readiness_rules
from browsers.navigation import visit as visit_module
from tests.growth import thorough
from tests.site.running import Site

PATIENCE_S = 60.0
WAITING = VisitLimits(readiness_s=50.0)
"""Limits for visits that wait for a selector: a busy machine renders it late."""

UNANSWERED = frozenset({"/longpoll", "/slow-css", "/slow-frame", "/slow-script", "/worker", "/workshop"})
"""Pages of the site with a request that never ends. They are complete soon anyway."""

TIERS = [pytest.param(Tier.LIGHT, id="light"), thorough(Tier.FULL, id="full")]
"""Parameters of tests for both tiers. The full tier costs three times as much."""

FULL_TIER = pytest.mark.parametrize("browsers_of_a_tier", [pytest.param(Tier.FULL, id="full")], indirect=True)
"""Mark of tests that only the full tier passes."""

MARK = re.compile(r"MARK-[\w-]+?-\d+")


async def visit(
    browsers: Browsers, site: Site, path: str, mode: Mode = Mode.RENDER, *, host: str = "site.example", **more: object
) -> Snapshot:
    """Visit a page of the site."""
    patience = {"deadline_s": PATIENCE_S} | ({"limits": WAITING} if "wait" in more else {}) | more
    request = Request(site.url(path, host), mode=mode, **patience)  # type: ignore[arg-type]
    return await browsers.visit(request, never)


def await_frames(patch: pytest.MonkeyPatch) -> None:
    """Raise the limits for pages that show more when they are scrolled."""
    patch.setattr(lazy_content, "FRAMES_LIMIT_S", 5.0)
    patch.setattr(lazy_content, "SKIP_LIMIT_S", 5.0)
    patch.setattr(lazy_content, "ROUND_LIMIT_S", 20.0)
    patch.setattr(visit_module, "LAZY_LIMIT_S", 40.0)
    patch.setattr(visit_module, "CAPTURE_LIMIT_S", 20.0)


def await_answers(patch: pytest.MonkeyPatch) -> None:
    """Raise the limits for running requests, except for the pages of UNANSWERED."""
    for limit in ("DATA_HOLDS_S", "CODE_HOLDS_S", "HOLDS_WHEN_THIN_S", "SOCKET_WAIT_S"):
        patch.setattr(readiness_rules, limit, 7.0)


async def until(done: Callable[[], bool]) -> None:
    """Wait until the condition holds. The limit only proves that it does."""
    async with asyncio.timeout(PATIENCE_S):
        while not done():  # noqa: ASYNC110 - what is waited for knows nothing of events
            await asyncio.sleep(0.02)


async def never(_: Snapshot) -> bool:
    """Return False: render every response."""
    return False


async def always(_: Snapshot) -> bool:
    """Return True: every response suffices."""
    return True


def text_of(snapshot: Snapshot) -> str:
    """Return all captured HTML, including frames."""
    return snapshot.html + "".join(frame.html for frame in snapshot.frames)


def marks(snapshot: Snapshot) -> int:
    """Return the number of different marker words in a snapshot."""
    return len(set(MARK.findall(text_of(snapshot))))
