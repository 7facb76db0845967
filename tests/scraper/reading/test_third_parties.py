"""Pages with advertising, tag managers, consent dialogs and the like are read whole, and cheaply."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from browsers import Browsers, BrowserSettings
from browsers.model import Mode, Request, ScreenshotRequest, ThirdParties
from scraper.model import ReadRequest
from scraper.reading.fetcher import Fetcher
from scraper.reading.screenshots import ScreenshotReader
from scraper.reading.visitor import MAX_VAIN_VISITS
from scraper.services import Services
from scraper.settings import Settings, SettingsError
from tests.browsers.acting.scripts import run_steps
from tests.growth import thorough
from tests.site.hosts import CONTENT_HOSTS, NEVER_REFUSED, TRACKERS, WIDGETS
from tests.site.prose import marks_found
from tests.site.running import Site
from tests.site.third_parties import CASES

pytestmark = pytest.mark.browser


COSTLY = {"page-view", "adblock-overlay", "hide-snippet", "error-handler", "captcha-script", "comment-script"}


@pytest.mark.parametrize("page", [thorough(page) if page in COSTLY else page for page in CASES])
async def test_no_text_is_lost(fetcher: Fetcher, site: Site, page: str) -> None:
    name, count = CASES[page]
    reading = await fetcher.fetch(ReadRequest(site.url(f"/{page}", "host5.example"), render="browser"))
    assert marks_found(name, reading.document.markdown) == count, reading.document.markdown[:500]


async def test_a_site_of_advertising_is_read_like_any_other(fetcher: Fetcher, site: Site) -> None:
    reading = await fetcher.fetch(ReadRequest(site.url("/ad-host", TRACKERS[0]), render="browser"))
    assert marks_found("subject", reading.document.markdown) == 24


async def test_only_the_third_parties_of_the_level_are_requested(browsers: Browsers, site: Site) -> None:
    url = site.url("/trackers", "host6.example")
    for level, refused in (
        (ThirdParties.CONTENT_ONLY, (*TRACKERS, *WIDGETS)),
        (ThirdParties.NO_TRACKERS, TRACKERS),
        (ThirdParties.ALL, ()),
    ):
        before = {host: site.hits("/third-party.js", host) for host in (*TRACKERS, *WIDGETS)}
        snapshot = await browsers.visit(Request(url, mode=Mode.RENDER, third_parties=level))
        requested = {host for host, count in before.items() if site.hits("/third-party.js", host) > count}
        assert requested == {*TRACKERS, *WIDGETS} - {*refused}
        assert snapshot.refused_hosts == len(refused)
        assert marks_found("trackers", snapshot.html) == 24


@pytest.mark.parametrize("is_picture", [True, False])
async def test_pictures_and_sessions_load_consent_and_chats_but_no_trackers(
    browsers: Browsers, fetcher: Fetcher, site: Site, is_picture: bool
) -> None:
    url = site.url("/trackers", "host2.example")
    before = {host: site.hits("/third-party.js", host) for host in (*TRACKERS, *WIDGETS)}
    if is_picture:
        reader = ScreenshotReader(fetcher.visitor)
        await reader.take(url, ScreenshotRequest())
        await reader.close()
    else:
        opened, _ = (await run_steps(browsers, [f"open {url}", "close"])).outcomes
        assert not opened.error
    requested = {host for host, count in before.items() if site.hits("/third-party.js", host) > count}
    assert requested == {*WIDGETS}


async def test_a_setting_loads_everything(browser_settings: BrowserSettings, site: Site) -> None:
    async with Browsers(dataclasses.replace(browser_settings, third_parties="all")) as browsers:
        snapshot = await browsers.visit(Request(site.url("/trackers", "host7.example"), mode=Mode.RENDER))
        assert snapshot.refused_hosts == 0 == browsers.status().refused_hosts


async def test_the_hosts_of_a_filter_list_are_refused(
    browser_settings: BrowserSettings, site: Site, tmp_path: Path
) -> None:
    rules = tmp_path / "rules.txt"
    rules.write_text("||disqus.com^$third-party\n")
    settings = dataclasses.replace(browser_settings, filter_lists=(rules,))
    url = site.url("/comment-script", "host9.example")
    async with Browsers(settings) as browsers:
        # The second visit is that of a page whose text is missing.
        for level, refused in ((ThirdParties.CONTENT_ONLY, 1), (ThirdParties.ALL, 0)):
            before = site.hits("/third-party.js", "harbour.disqus.com")
            snapshot = await browsers.visit(Request(url, mode=Mode.RENDER, third_parties=level))
            assert snapshot.refused_hosts == refused
            assert site.hits("/third-party.js", "harbour.disqus.com") - before == 1 - refused


async def test_an_unusable_filter_list_is_an_error_at_the_start(tmp_path: Path) -> None:
    rules = tmp_path / "rules.txt"
    rules.write_text("<!doctype html><p>Not found</p>\n")
    with pytest.raises(SettingsError, match=r"SEARCH_MCP_FILTER_LISTS: .*rules\.txt is not a filter list"):
        async with Services.open(Settings(data_dir=tmp_path, filter_lists=(rules,))):
            pass


async def test_a_host_that_needs_its_third_parties_is_visited_twice_only_once(fetcher: Fetcher, site: Site) -> None:
    for number in (1, 2):
        before = site.hits("/gtag-wait", "host8.example")
        url = site.url(f"/gtag-wait?number={number}", "host8.example")
        reading = await fetcher.fetch(ReadRequest(url, render="browser"))
        assert marks_found("gtag", reading.document.markdown) == 12
        assert site.hits("/gtag-wait", "host8.example") - before == (2 if number == 1 else 1)


async def test_a_short_page_does_not_hide_that_another_page_needs_third_parties(fetcher: Fetcher, site: Site) -> None:
    note, host = "/tracked-note", "host4.example"
    before = site.hits(note, host)
    await fetcher.fetch(ReadRequest(site.url(note, host), render="browser"))
    assert site.hits(note, host) - before == 2
    reading = await fetcher.fetch(ReadRequest(site.url("/gtag-wait", host), render="browser"))
    assert marks_found("gtag", reading.document.markdown) == 12


async def test_visits_with_third_parties_that_bring_no_text_are_limited(fetcher: Fetcher, site: Site) -> None:
    note, host = "/tracked-note", "host3.example"
    before = site.hits(note, host)
    for number in range(MAX_VAIN_VISITS + 2):
        await fetcher.fetch(ReadRequest(site.url(f"{note}?number={number}", host), render="browser"))
    assert site.hits(note, host) - before == 2 * MAX_VAIN_VISITS + 2


def test_content_hosts_are_never_refused() -> None:
    from browsers.egress.third_parties import ThirdPartyFilter

    page = ThirdPartyFilter(ThirdParties.CONTENT_ONLY, ("shop.example",))
    assert [host for host in (*CONTENT_HOSTS, *NEVER_REFUSED) if page.refuses(host)] == []


def test_hosts_are_refused_with_their_subdomains_but_not_on_their_own_sites() -> None:
    from browsers.egress.third_parties import ThirdPartyFilter, ThirdPartyPolicy

    page = ThirdPartyFilter(ThirdParties.CONTENT_ONLY, ("shop.example",))
    assert page.refuses("www.googletagmanager.com") and page.refuses("WWW.GoogleTagManager.com.")
    assert page.refuses("stats.g.doubleclick.net") and not page.refuses("notdoubleclick.net")
    abroad = ThirdPartyFilter(ThirdParties.CONTENT_ONLY, ("www.news.co.jp",))
    assert abroad.refuses("spdeliver.i-mobile.co.jp") and not abroad.refuses("static.news.co.jp")
    own = ThirdPartyFilter(ThirdParties.CONTENT_ONLY, ("www.facebook.com",))
    assert not own.refuses("connect.facebook.net") and own.refuses("www.google-analytics.com")
    everything = ThirdPartyPolicy(BrowserSettings(third_parties="all")).make_filter(
        ThirdParties.NO_TRACKERS, ("a.example",)
    )
    assert not everything.refuses("www.googletagmanager.com")
    trackers = ThirdPartyFilter(ThirdParties.NO_TRACKERS, ("shop.example",))
    assert trackers.refuses("www.googletagmanager.com") and not trackers.refuses("cdn.cookielaw.org")
