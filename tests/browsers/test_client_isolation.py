"""No visit reads data of another: cookies, caches, storage, service workers."""

from __future__ import annotations

import html
import re

import pytest

from browsers import Browsers, Mode, Snapshot, Tier
from tests.browsers.visits import TIERS, text_of, visit
from tests.site.running import Site

pytestmark = pytest.mark.browser

FOUND = re.compile(r"FOUND-[\w-]+")
CLEAN = re.compile(r"CLEAN-[\w-]+")
REPORTED = "#report + p"
"""Selector of a complete page. A busy machine pauses longer than the normal wait."""


def cookies(snapshot: Snapshot) -> str:
    """Return the data that the site received, as its page shows it."""
    found = re.search(r"COOKIES-\{[^}]*\}", html.unescape(text_of(snapshot)))
    assert found is not None
    return found[0]


@pytest.mark.parametrize("tier", TIERS)
async def test_rendered_pages_share_no_data(browsers: Browsers, site: Site, tier: Tier) -> None:
    for _ in range(2):
        snapshot = await visit(
            browsers, site, f"/memory/{tier}", host="secure.example", tier=tier, wait=REPORTED, deadline_s=60.0
        )
        assert len(CLEAN.findall(text_of(snapshot))) >= 6
        assert FOUND.findall(text_of(snapshot)) == []


async def test_peeks_share_no_cookie_and_no_cache(browsers: Browsers, site: Site) -> None:
    before = site.hits("/fresh/60/peek")
    for _ in range(3):
        await visit(browsers, site, "/fresh/60/peek", Mode.PEEK)
    assert site.hits("/fresh/60/peek") == before + 3
    await visit(browsers, site, "/cookie/set?a=1", Mode.PEEK)
    for _ in range(4):
        assert cookies(await visit(browsers, site, "/cookie/show", Mode.PEEK)) == "COOKIES-{}"


async def test_peeked_url_is_requested_again_after_a_redirect(browsers: Browsers, site: Site) -> None:
    await visit(browsers, site, "/fresh/60/end", Mode.PEEK)
    before = site.hits("/fresh/60/end")
    for number in range(3):
        snapshot = await visit(browsers, site, f"/redirect?to=/fresh/60/end&n={number}", Mode.PEEK)
        assert snapshot.status == 200
        assert site.hits("/fresh/60/end") == before + number + 1


async def test_a_render_after_peeks_shares_no_cookie(browsers: Browsers, site: Site) -> None:
    await visit(browsers, site, "/cookie/set?b=2", Mode.PEEK)
    for _ in range(4):
        assert cookies(await visit(browsers, site, "/cookie/show", Mode.RENDER)) == "COOKIES-{}"


async def test_profile_cookies_belong_to_one_principal(browsers: Browsers, site: Site) -> None:
    async def show(**options: str) -> str:
        return cookies(await visit(browsers, site, "/cookie/show", Mode.PEEK, **options))

    await visit(browsers, site, "/cookie/set?c=3", Mode.PEEK, site_profile="shop", principal="ann")
    assert '"c": "3"' in await show(site_profile="shop", principal="ann")
    assert "3" not in await show(site_profile="shop", principal="bob")
    assert "3" not in await show(site_profile="other", principal="ann")
    assert "3" not in await show(principal="ann")
