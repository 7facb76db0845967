"""Fixtures of the browser tests."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace

import pytest
import pytest_asyncio

from browsers import Browsers, BrowserSettings, Tier
from browsers.chromium.locate import find_chromium
from browsers.navigation import readiness, tab, visit
from tests.browsers.visits import TIERS, await_answers, await_frames


@pytest.fixture(scope="session")
def dead_port() -> Iterator[int]:
    """Return a port that refuses every connection. It stays reserved, so that no server can use it."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        yield held.getsockname()[1]


@pytest_asyncio.fixture(scope="session", loop_scope="session", params=TIERS)
async def browsers_of_a_tier(
    request: pytest.FixtureRequest, browser_settings: BrowserSettings
) -> AsyncIterator[Browsers]:
    """Start one `Browsers` that uses one tier for everything, as where only one is installed."""
    is_light = request.param is Tier.LIGHT and find_chromium(Tier.LIGHT, None) is not None
    settings = replace(browser_settings, full_executable="/nowhere") if is_light else browser_settings
    async with Browsers(settings) as running:
        yield running


@pytest.fixture
def unhurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Raise time limits for tests of tab reuse: a delay on a busy machine must not make a tab unusable."""
    for module, *limits in (
        (tab, "CLOSE_LIMIT_S", "PREPARE_LIMIT_S", "RENEW_LIMIT_S"),
        (visit, "PREPARE_LIMIT_S", "CAPTURE_LIMIT_S"),
        (readiness, "SAMPLE_LIMIT_S"),
    ):
        for limit in limits:
            monkeypatch.setattr(module, limit, 30.0)


@pytest.fixture
def time_to_scroll(monkeypatch: pytest.MonkeyPatch) -> None:
    """Raise time limits for pages with lazy content: a busy machine paints frames late."""
    await_frames(monkeypatch)


@pytest.fixture
def time_to_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """Raise time limits for pages whose requests are all answered: a busy server may be slow."""
    await_answers(monkeypatch)
