"""Credentials in a redirect are used and never shown."""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import quote

import pytest

from browsers import Browsers, BrowserSettings, Mode, Request, Snapshot, Tier
from browsers.model import strip_credentials
from tests.browsers.visits import TIERS, visit
from tests.site.running import Site


@pytest.mark.parametrize(
    ("url", "visible"),
    [
        ("http://user:word@host.example/a?b#c", "http://host.example/a?b#c"),
        ("HTTPS://user@host.example:8443", "HTTPS://host.example:8443"),
        ("http://user:w@rd@host.example/", "http://host.example/"),
        ("http:\\\\user:word@host.example/", "http:\\\\host.example/"),
        ("https:user:word@host.example/", "https:host.example/"),
        ("http://host.example/@someone", "http://host.example/@someone"),
        ("http://host.example?mail=a@b", "http://host.example?mail=a@b"),
        ("http://host.example/#http://user:word@x", "http://host.example/#http://user:word@x"),
        ("http://[::1]:80/", "http://[::1]:80/"),
        ("mailto:a@b.example", "mailto:a@b.example"),
    ],
)
def test_credentials_are_removed(url: str, visible: str) -> None:
    assert strip_credentials(url) == visible


@pytest.mark.browser
@pytest.mark.parametrize("mode", [Mode.PEEK, Mode.RENDER])
async def test_password_in_a_redirect_is_not_visible(browsers: Browsers, site: Site, mode: Mode) -> None:
    target = site.url("/static/1").replace("://", "://someone:pass-word@")
    snapshot = await visit(browsers, site, f"/redirect?to={quote(target, safe='')}", mode)
    assert snapshot.url == site.url("/static/1")
    assert [hop.location for hop in snapshot.hops] == [site.url("/static/1")]
    assert "pass-word" not in result(snapshot)


@pytest.mark.browser
async def test_password_in_a_script_navigation_is_not_visible(browsers: Browsers, site: Site) -> None:
    target = site.url("/static/1").replace("://", "://someone:pass-word@")
    snapshot = await visit(browsers, site, f"/script-to?to={quote(target, safe='')}")
    assert snapshot.url == site.url("/static/1")
    assert "pass-word" not in result(snapshot)


@pytest.mark.browser
@pytest.mark.usefixtures("unhurried")
@pytest.mark.parametrize("tier", TIERS)
@pytest.mark.parametrize("way", ["redirect", "address"])
async def test_password_is_not_sent_by_the_next_visit(
    browser_settings: BrowserSettings, site: Site, way: str, tier: Tier
) -> None:
    target = f"{site.url('/asks-password').replace('://', '://ann:pass-word@')}?by=ann"
    url = site.url(f"/redirect?to={quote(target, safe='')}", "other.example") if way == "redirect" else target
    async with Browsers(replace(browser_settings, warm_tabs=0)) as client:
        first = await client.visit(Request(url, mode=Mode.PEEK, tier=tier, principal="ann", deadline_s=60))
        assert "TOLD-" in first.html, "no password was requested: this test proves nothing"
        for principal in ("ann", "bob"):
            again = await visit(client, site, "/asks-password", Mode.PEEK, tier=tier, principal=principal)
            assert (again.status, again.body) == (401, b"NOT-TOLD")


@pytest.mark.browser
@pytest.mark.usefixtures("unhurried")
async def test_password_is_not_sent_by_the_next_page_of_a_batch(browser_settings: BrowserSettings, site: Site) -> None:
    target = site.url("/asks-password").replace("://", "://ann:pass-word@")
    async with Browsers(browser_settings) as client:
        path = f"/script-to?to={quote(target, safe='')}"
        assert "TOLD-" in (await visit(client, site, path, batch="one")).html
        again = await visit(client, site, "/asks-password", Mode.RENDER, batch="one")
        assert (again.status, again.body) == (401, b"NOT-TOLD")


def result(snapshot: Snapshot) -> str:
    """Return everything in a snapshot except the requested URL."""
    hops = [hop.location for hop in snapshot.hops]
    return f"{snapshot.url} {hops} {snapshot.html} {snapshot.frames} {snapshot.json_responses}"
