"""A profile gets the tab that it left, and no other profile does."""

from __future__ import annotations

import asyncio
import re
from dataclasses import replace
from typing import Any

import pytest

from browsers import Browsers, BrowserSettings, Mode, Tier, VisitLimits
from browsers.navigation.tab import Tab
from browsers.pool import browser_handle
from browsers.pool.browser_handle import IDLE_TTL_S, MAX_IDLE_TABS, BrowserHandle, IdleTabs, ProfileKey
from tests.browsers.visits import TIERS, marks, text_of, until, visit
from tests.site.running import Site

pytestmark = pytest.mark.usefixtures("unhurried")

_SHORT = VisitLimits(readiness_s=2.0)
_WHOLE = "p:nth-of-type(5)"
"""Selector for a complete page. Without it, virtual time may run on a busy machine, and the tab is not
reused."""
FOUND = re.compile(r"FOUND-[\w-]+")


class _Session:
    is_alive = True


class _Tab:
    def __init__(self) -> None:
        self.session = _Session()


def _tab() -> Tab:
    return _Tab()  # type: ignore[return-value]


def _profile(number: int = 0) -> ProfileKey:
    return ("ann", f"engine-{number}", "en-US")


def idle_tabs(**more: Any) -> IdleTabs:
    return IdleTabs(MAX_IDLE_TABS, IDLE_TTL_S, one_per_key=True, **more)


class TestBounds:
    def test_number_of_idle_tabs_is_limited_and_the_oldest_is_evicted(self) -> None:
        resting, tabs = idle_tabs(), [_tab() for _ in range(MAX_IDLE_TABS + 2)]
        leaving = [gone for number, tab in enumerate(tabs) for gone in resting.put(_profile(number), tab)]
        assert leaving == tabs[:2]
        assert len(resting) == MAX_IDLE_TABS

    def test_profile_has_one_idle_tab(self) -> None:
        resting, first, second = idle_tabs(), _tab(), _tab()
        assert resting.put(_profile(), first) == []
        assert resting.put(_profile(), second) == [first]
        assert resting.take(_profile()) is second
        assert resting.take(_profile()) is None

    def test_idle_tab_expires(self) -> None:
        now = 0.0
        resting, tab = idle_tabs(clock=lambda: now), _tab()
        resting.put(_profile(), tab)
        now = IDLE_TTL_S - 1
        assert resting.take_expired() == []
        now = IDLE_TTL_S
        assert resting.take_expired() == [tab]

    def test_crashed_tab_is_not_returned(self) -> None:
        resting, tab = idle_tabs(), _tab()
        resting.put(_profile(), tab)
        tab.session.is_alive = False  # type: ignore[misc]
        assert resting.take(_profile()) is None

    def test_forgotten_profile_loses_its_tabs_in_all_languages(self) -> None:
        resting, english, german, other = idle_tabs(), _tab(), _tab(), _tab()
        resting.put(_profile(), english)
        resting.put((*_profile()[:2], "de-DE"), german)
        resting.put(_profile(1), other)
        assert resting.take_all(lambda idle: idle.key[1] == "engine-0") == [english, german]
        assert len(resting) == 1


def _get_handle(browsers: Browsers, tier: Tier) -> BrowserHandle:
    return browsers.pool.handles[tier]


def _idle_tab(browsers: Browsers, tier: Tier, principal: str) -> Tab:
    """Return the idle tab of the caller's profile `rest`."""
    key = (principal, "rest", "en-US")
    return next(idle.tab for idle in _get_handle(browsers, tier)._profile_tabs._tabs if idle.key == key)


@pytest.mark.browser
@pytest.mark.parametrize("tier", TIERS)
async def test_only_the_same_profile_gets_its_tab_again(browsers: Browsers, site: Site, tier: Tier) -> None:
    async def found(**options: Any) -> set[str]:
        snapshot = await visit(
            browsers,
            site,
            f"/memory/rest-{tier}",
            host="secure.example",
            tier=tier,
            wait="#report + p",  # as with _WHOLE
            deadline_s=60.0,
            **options,
        )
        assert snapshot.rendered and "REPORT-DONE" in snapshot.html
        return set(FOUND.findall(text_of(snapshot)))

    before = await found(site_profile="rest", principal="ann")
    tab_before = _idle_tab(browsers, tier, "ann")
    again = await found(site_profile="rest", principal="ann")
    assert _idle_tab(browsers, tier, "ann") is tab_before
    assert "FOUND-local-storage" in again - before
    for other in (
        {"site_profile": "rest", "principal": "bob"},
        {"site_profile": "other", "principal": "ann"},
        {"principal": "ann"},
    ):
        assert "FOUND-local-storage" not in await found(**other)


@pytest.mark.browser
async def test_repeated_page_of_a_profile_is_requested_again(browsers: Browsers, site: Site) -> None:
    before = site.hits("/fresh/60/rest")
    for _ in range(2):
        await visit(browsers, site, "/fresh/60/rest", site_profile="rest", principal="cleo")
    assert site.hits("/fresh/60/rest") == before + 2


@pytest.mark.browser
async def test_idle_tab_runs_no_script_and_sends_nothing(browsers: Browsers, site: Site) -> None:
    options: dict[str, Any] = {"site_profile": "rest", "principal": "dora"}
    await visit(browsers, site, "/poll", limits=_SHORT, **options)
    # This call returns after all requests in flight when the tab became idle.
    site.hits("/api/collect")
    before = site.hits("/api/collect")
    await asyncio.sleep(1.5)
    assert site.hits("/api/collect") == before
    assert "MARK-" in (await visit(browsers, site, "/spa/1", **options)).html


@pytest.mark.browser
async def test_sufficient_response_leaves_the_tab_reusable(browsers: Browsers, site: Site) -> None:
    options: dict[str, Any] = {"site_profile": "rest", "principal": "emil"}
    await visit(browsers, site, "/spa/1", **options)
    peeked = await visit(browsers, site, "/static/1", Mode.PEEK, **options)
    assert not peeked.rendered and "MARK-" in peeked.html
    assert "MARK-" in (await visit(browsers, site, "/spa/2", **options)).html


@pytest.mark.browser
@pytest.mark.parametrize("tier", TIERS)
async def test_idle_tab_without_a_page_renders_one(browsers: Browsers, site: Site, tier: Tier) -> None:
    options: dict[str, Any] = {"site_profile": "rest", "principal": "hal", "tier": tier, "deadline_s": 60.0}
    await visit(browsers, site, "/static/1", Mode.PEEK, **options)
    options["wait"] = _WHOLE
    tab_before = _idle_tab(browsers, tier, "hal")
    assert "MARK-" in (await visit(browsers, site, "/spa/1", **options)).html
    assert _idle_tab(browsers, tier, "hal") is tab_before


@pytest.mark.browser
async def test_crashed_idle_tab_is_replaced(browsers: Browsers, site: Site) -> None:
    options: dict[str, Any] = {"site_profile": "rest", "principal": "fay", "wait": _WHOLE, "deadline_s": 60.0}
    await visit(browsers, site, "/spa/1", **options)
    tab = _idle_tab(browsers, Tier.LIGHT, "fay")
    tab.session.post("Page.crash")
    await until(lambda: not tab.session.is_alive)
    assert "MARK-" in (await visit(browsers, site, "/spa/2", **options)).html


@pytest.mark.browser
async def test_forgotten_profile_has_no_cookies(browsers: Browsers, site: Site) -> None:
    options: dict[str, Any] = {"site_profile": "rest", "principal": "gus"}
    assert not browsers.forget("gus", "rest")
    await visit(browsers, site, "/cookie/set?left=behind", **options)
    assert "behind" in (await visit(browsers, site, "/cookie/show", **options)).html
    assert browsers.forget("gus", "rest")
    assert "behind" not in (await visit(browsers, site, "/cookie/show", **options)).html


@pytest.mark.browser
async def test_idle_tabs_close_when_they_expire_and_with_the_browser(
    browser_settings: BrowserSettings, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(browser_handle, "IDLE_TTL_S", 0.2)
    async with Browsers(replace(browser_settings, housekeeping_s=0.1)) as browsers:
        options: dict[str, Any] = {"site_profile": "rest", "wait": _WHOLE, "deadline_s": 60.0}
        await visit(browsers, site, "/spa/1", **options)
        resting = _get_handle(browsers, Tier.LIGHT)._profile_tabs
        await until(lambda: not len(resting))
        resting._ttl_s = 600.0
        await visit(browsers, site, "/spa/1", **options)
        assert len(resting) == 1
    assert len(resting) == 0


@pytest.mark.browser
async def test_tab_in_virtual_time_is_not_reused(browsers: Browsers, site: Site) -> None:
    assert marks(await visit(browsers, site, "/spinner", site_profile="ahead")) == 10
    assert marks(await visit(browsers, site, "/spa/1", site_profile="ahead")) == 60
