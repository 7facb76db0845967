"""Tabs are prepared ahead, and only running ones are leased."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest
import pytest_asyncio

from browsers import Browsers, BrowserSettings, Mode, Request, Tier, errors
from browsers.cdp.session import CommandFailedError, Message, Session
from browsers.navigation import tab as tab_module
from browsers.navigation.tab import Tab
from browsers.pool import browser_handle
from browsers.pool.browser_handle import BrowserHandle
from tests.browsers.egress.wire import NOT_ALLOWED, SUCCEEDED, through
from tests.browsers.visits import PATIENCE_S, always, marks, until, visit
from tests.site.running import Site

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("unhurried")]

WARM = 2


@pytest_asyncio.fixture
async def fresh(browser_settings: BrowserSettings) -> AsyncIterator[Browsers]:
    async with Browsers(browser_settings) as opened:
        yield opened


async def _at_rest(browsers: Browsers) -> BrowserHandle:
    """Return the light browser's handle after all background tabs are prepared."""
    await until(lambda: Tier.LIGHT in browsers.pool.handles)
    handle = browsers.pool.handles[Tier.LIGHT]
    async with asyncio.timeout(PATIENCE_S):
        while handle._background or len(handle.ready_tabs) < WARM:
            handle.prepare_tabs()
            await asyncio.sleep(0.02)
    return handle


async def test_lease_of_the_last_ready_tab_opens_another(fresh: Browsers) -> None:
    handle = await _at_rest(fresh)
    request = Request("http://site.example/", mode=Mode.PEEK)
    async with handle.lease(request), handle.lease(request):
        await until(lambda: bool(handle.ready_tabs))
        assert handle.lent == WARM


async def test_tabs_with_a_crashed_renderer_are_not_leased(fresh: Browsers, site: Site) -> None:
    handle = await _at_rest(fresh)
    dead = list(handle.ready_tabs)
    for tab in dead:
        tab.session.post("Page.crash")
    await until(lambda: not any(tab.session.is_alive for tab in dead))
    assert "MARK-" in (await visit(fresh, site, "/spa/1")).html
    assert not set(handle.ready_tabs) & set(dead)


async def test_tab_is_reused_after_a_peek(fresh: Browsers, site: Site) -> None:
    handle = await _at_rest(fresh)
    ready, opened = set(handle.ready_tabs), handle.tabs_opened
    for _ in range(5):
        await visit(fresh, site, "/static/1", Mode.PEEK)
    await until(lambda: not handle._background)
    assert (set(handle.ready_tabs), handle.tabs_opened) == (ready, opened)


async def test_lease_waits_for_a_tab_that_is_being_cleaned(browser_settings: BrowserSettings) -> None:
    async with Browsers(replace(browser_settings, warm_tabs=0)) as running:
        handle = await running.pool.get_handle(Tier.LIGHT)
        for _ in range(3):
            async with handle.lease(Request("http://site.example/", mode=Mode.PEEK)) as lease:
                lease.is_reusable = True
        assert handle.tabs_opened == 1


async def test_cache_of_a_tab_is_bounded(
    browser_settings: BrowserSettings, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tab_module, "MAX_CACHED_URLS", 2)
    async with Browsers(replace(browser_settings, warm_tabs=0)) as running:
        for number in range(7):
            await visit(running, site, f"/static/{number + 1}", Mode.PEEK)
        handle = await running.pool.get_handle(Tier.LIGHT)
        await until(lambda: not handle._background)
        (tab,) = handle.ready_tabs
        assert (tab.peeks, len(tab.cached._keys)) == (7, 1)


@pytest.mark.parametrize("answers", [True, False], ids=["refused", "unanswered"])
@pytest.mark.parametrize(("path", "mode"), [("/static/2", Mode.AUTO), ("/redirect?to=/static/1", Mode.PEEK)])
async def test_tab_with_a_cache_that_cannot_be_emptied_is_replaced(
    browser_settings: BrowserSettings, site: Site, monkeypatch: pytest.MonkeyPatch, path: str, mode: Mode, answers: bool
) -> None:
    start = Session.start

    def refusing(session: Session, method: str, /, **params: Any) -> asyncio.Future[Any]:
        if method != "Network.clearBrowserCache":
            return start(session, method, **params)
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        if answers:
            answer.set_exception(CommandFailedError("It is not there."))
        return answer

    monkeypatch.setattr(tab_module, "CLOSE_LIMIT_S", 2.0)
    async with Browsers(replace(browser_settings, warm_tabs=0)) as running:
        await visit(running, site, "/static/1", Mode.PEEK)
        handle = await running.pool.get_handle(Tier.LIGHT)
        monkeypatch.setattr(Session, "start", refusing)
        assert marks(await visit(running, site, path, mode)) == 60
        assert handle.tabs_opened == 2


@pytest.mark.parametrize("kind", [{"batch": "a batch"}, {"site_profile": "a profile"}])
async def test_listener_of_an_idle_tab_refuses_traffic(
    fresh: Browsers, monkeypatch: pytest.MonkeyPatch, kind: dict[str, Any]
) -> None:
    monkeypatch.setattr(browser_handle, "BATCH_TTL_S", 600.0)
    handle = await _at_rest(fresh)
    handle._batch_tabs._ttl_s = 600.0
    async with handle.lease(Request("http://site.example/", mode=Mode.RENDER, **kind)) as lease:
        lease.tab.listener.begin_visit(1_000_000)
        lease.tab.mark_committed()
        lease.is_reusable = True
        async with through(lease.tab.listener, "site.example") as conversation:
            assert conversation.code == SUCCEEDED
    async with through(lease.tab.listener, "site.example") as conversation:
        assert conversation.code == NOT_ALLOWED


@pytest.mark.parametrize("kind", [{"batch": "a batch"}, {"site_profile": "a profile"}])
async def test_pages_per_process_are_limited(
    fresh: Browsers, monkeypatch: pytest.MonkeyPatch, kind: dict[str, Any]
) -> None:
    for name, value in (("PAGES_PER_PROCESS", 2), ("VISITS_PER_TAB", 2), ("BATCH_TTL_S", 600.0)):
        monkeypatch.setattr(browser_handle, name, value)
    handle = await _at_rest(fresh)
    handle._batch_tabs._ttl_s = 600.0
    request = Request("http://site.example/", mode=Mode.RENDER, **kind)
    served: Counter[Tab] = Counter()
    for _ in range(7):
        async with handle.lease(request) as lease:
            lease.tab.mark_committed()
            lease.is_reusable = True
            served[lease.tab] += 1
    assert list(served.values()) == [3, 3, 1]


async def test_peeks_per_tab_are_limited(
    browser_settings: BrowserSettings, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    peeks: Counter[Tab] = Counter()
    prepare = Tab.prepare

    async def recording(tab: Tab, *to: Any) -> None:
        peeks[tab] += 1
        await prepare(tab, *to)

    monkeypatch.setattr(Tab, "prepare", recording)
    async with Browsers(replace(browser_settings, peeks_per_tab=2)) as client:
        for _ in range(8):
            await visit(client, site, "/static/1", Mode.PEEK)
    # One tab may be left with a single peek; reuse means that any tab serves two.
    assert max(peeks.values()) == 2 and peeks.total() >= 8


async def test_a_browser_that_opens_no_tab_is_replaced(
    fresh: Browsers, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refuse(*_: object) -> Tab:
        raise TimeoutError

    handle = await _at_rest(fresh)
    handle._close_tabs(handle.ready_tabs)
    handle.ready_tabs = []
    with monkeypatch.context() as broken:
        broken.setattr(Tab, "open", refuse)
        with pytest.raises(errors.BrowserGoneError):
            await visit(fresh, site, "/static/1", Mode.PEEK)
        with pytest.raises(errors.BrowserGoneError):
            await visit(fresh, site, "/static/1", Mode.PEEK)
    await until(lambda: fresh.status().restarts > 0)
    assert "MARK-" in (await visit(fresh, site, "/static/1", Mode.PEEK)).html


async def test_peek_is_aborted_after_its_response_was_returned(
    fresh: Browsers, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    handle = await _at_rest(fresh)
    commands = _overheard(handle, monkeypatch)
    await visit(fresh, site, "/static/1", Mode.PEEK)
    assert "Fetch.getResponseBody" in commands and "Fetch.failRequest" not in commands
    await until(lambda: "Network.clearBrowserCookies" in commands)
    assert commands.index("Fetch.failRequest") < commands.index("Network.clearBrowserCookies")


async def test_closing_tab_aborts_its_navigation_first(
    fresh: Browsers, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    handle = await _at_rest(fresh)
    commands = _overheard(handle, monkeypatch)
    fresh._scripted_hosts["site.example"] = None
    assert not (await fresh.visit(Request(site.url("/static/1")), always)).rendered
    await until(lambda: "Target.disposeBrowserContext" in commands)
    assert commands.index("Fetch.failRequest") < commands.index("Target.disposeBrowserContext")


def _overheard(handle: BrowserHandle, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Record the commands to the browser from now on."""
    commands: list[str] = []
    transport = handle.chromium.connection.transport
    send = transport.send

    def recording(session_id: str | None, message: Message) -> None:
        commands.append(message["method"])
        send(session_id, message)

    monkeypatch.setattr(transport, "send", recording)
    return commands
