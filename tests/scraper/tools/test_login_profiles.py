"""Pages that are read with a login: only when it is named, only on its hosts, and never from or for the cache."""

from __future__ import annotations

import logging

import pytest

from browsers import Browsers
from browsers.acting import logins
from browsers.errors import DeadlineExceededError
from scraper.services import Services
from scraper.tools.browser_tools import browse_tool
from scraper.tools.model import ToolAnswer, ToolCall
from scraper.tools.reading_tools import fetch_tool
from tests.site.running import Site

pytestmark = pytest.mark.browser


async def fetch(signed_in: Services, url: str, profile: str | None = "shop", principal: str = "ann") -> ToolAnswer:
    arguments = {"url": url} | ({} if profile is None else {"profile": profile})
    return await fetch_tool(signed_in.settings).run(signed_in, arguments, ToolCall(principal, deadline_s=60))


async def browse(signed_in: Services, *steps: str, profile: str = "shop", principal: str = "ann") -> ToolAnswer:
    arguments = {"steps": list(steps), "profile": profile}
    return await browse_tool(signed_in.settings).run(signed_in, arguments, ToolCall(principal, deadline_s=60))


async def test_a_page_is_read_as_the_person_sees_it_and_not_cached(signed_in: Services, site: Site) -> None:
    url = site.url("/acting/account")
    for _ in range(2):
        hits = site.hits("/acting/account")
        answer = await fetch(signed_in, url)
        assert "Hello Ada" in answer.text and site.hits("/acting/account") == hits + 1
    await signed_in.pages.flush()
    assert [page async for page in signed_in.pages.iter_entries()] == []
    without = await fetch(signed_in, url, profile=None)
    assert "Hello Ada" not in without.text


@pytest.mark.parametrize(("profile", "principal"), [("shop", "eve"), ("none", "ann"), ("../shop", "ann")])
async def test_profiles_of_others_do_not_exist(signed_in: Services, site: Site, profile: str, principal: str) -> None:
    hits = site.hits("/acting/account")
    for call in (
        fetch(signed_in, site.url("/acting/account"), profile, principal),
        browse(signed_in, f"open {site.url('/acting/account')}", profile=profile, principal=principal),
    ):
        answer = await call
        assert answer.failures[0].code == "no_such_profile" and "that this server can read" in answer.text
    assert site.hits("/acting/account") == hits


async def test_other_hosts_are_refused_before_a_request(signed_in: Services, site: Site) -> None:
    url = site.url("/acting/cookies", "other.example")
    hits = site.hits("/acting/cookies", "other.example")
    answer = await fetch(signed_in, url)
    assert answer.is_error and "Profile shop is for site.example, not for other.example" in answer.text
    assert "not for other.example" in (await browse(signed_in, f"open {url}")).text
    assert site.hits("/acting/cookies", "other.example") == hits


async def test_a_redirect_to_another_host_goes_without_the_login(signed_in: Services, site: Site) -> None:
    answer = await fetch(signed_in, site.url("/acting/account?away"))
    assert "Cookies here: none" in answer.text
    refused = await browse(signed_in, f"open {site.url('/acting/account?away')}")
    assert refused.is_error and "leads to other.example" in refused.text


async def test_an_expired_login_is_reported_and_not_read(signed_in: Services, site: Site) -> None:
    url = site.url("/acting/account")
    answer = await fetch(signed_in, url, "stale")
    assert answer.failures[0].code == "login_expired" and "search-mcp login stale" in answer.text
    assert "Sign in" not in answer.text
    assert "search-mcp login stale" in (await browse(signed_in, f"open {url}", profile="stale")).text


async def test_browse_is_signed_in_and_shows_no_secrets(
    signed_in: Services, site: Site, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    # The page itself shows its cookies, and a dialog.
    steps = ('click "Renew"', 'click "Show"', "read", "close")
    answer = await browse(signed_in, f"open {site.url('/acting/account')}", *steps)
    assert "Hello Ada" in answer.text and "sid=(secret)" in answer.text and 'alert dialog "token' in answer.text
    for text in (answer.text, str(answer.failures), caplog.text, str(signed_in.browsers.status())):
        assert "secret-sid" not in text
    read = await fetch(signed_in, site.url("/acting/account"))
    assert "Hello Ada" in read.text and "secret-sid" not in read.text


async def test_read_mode_takes_no_steps_with_a_login(signed_in: Services, site: Site) -> None:
    reading = signed_in.browsing
    modes = reading._mode, type(reading._mode)("read")
    reading._mode = modes[1]
    try:
        answer = await browse(signed_in, f"open {site.url('/acting/account')}")
        assert answer.is_error and "SEARCH_MCP_ACTING" in answer.text
        read = await fetch(signed_in, site.url("/acting/account"))
        assert "Hello Ada" in read.text, read.text
    finally:
        reading._mode = modes[0]


async def test_a_person_signs_in_in_a_window(browsers: Browsers, site: Site) -> None:
    # The window closes itself here.
    url = site.url("/acting/account?in")
    state = await browsers.sign_in(url, ("site.example",), limit_s=3)
    assert {(cookie["name"], cookie["domain"]) for cookie in state.cookies} >= {("sid", "site.example")}
    assert state.storage == {"http://site.example": {"token": "secret-token"}}


async def test_a_site_that_does_not_answer_ends_the_login_with_an_error(
    browsers: Browsers, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logins, "_NAVIGATE_S", 0.5)
    with pytest.raises(DeadlineExceededError, match="did not answer within"):
        await browsers.sign_in(site.url("/api/hang"), ("site.example",), limit_s=3)


async def test_a_page_that_asks_for_a_login_names_the_profiles_of_its_host(signed_in: Services, site: Site) -> None:
    url = site.url("/status/401")
    answer = await fetch(signed_in, url, profile=None)
    assert answer.is_error and answer.text.endswith("A login for this host exists: pass profile=shop or stale.")
    assert "profile" not in (await fetch(signed_in, url, profile=None, principal="bob")).text
    unknown = await fetch(signed_in, url, profile="shops")
    assert "Existing ones: shop, stale." in unknown.text
