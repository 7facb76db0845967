"""Sessions in both tiers: on a machine with only the headless shell, it serves sessions too."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest
import pytest_asyncio

from browsers import Browsers, BrowserSettings
from browsers.acting.page_requests import ActingMode
from browsers.model import Mode, Request, Tier
from tests.browsers.acting.scripts import Actor, run_steps
from tests.browsers.visits import TIERS
from tests.growth import full_size
from tests.site.running import Site

pytestmark = pytest.mark.browser


@pytest_asyncio.fixture(scope="module", loop_scope="session", params=TIERS)
async def tier_browsers(request: pytest.FixtureRequest, browser_settings: BrowserSettings) -> AsyncIterator[Browsers]:
    """Return browsers of one tier only."""
    light = replace(browser_settings, full_executable="/nowhere")
    full = replace(browser_settings, light_executable="/nowhere")
    async with Browsers(full if request.param is Tier.FULL else light) as running:
        yield running


@pytest_asyncio.fixture(loop_scope="session")
async def tier_actor(tier_browsers: Browsers, site: Site) -> AsyncIterator[Actor]:
    """Return a caller whose session ends with the test."""
    one = Actor(tier_browsers, site)
    yield one
    if one.session is not None:
        await run_steps(tier_browsers, ["close"], session=one.session)


FOLLOWED = "the new window of the page was opened in this tab"


@pytest.mark.parametrize("button", ["Alerts", full_size("Hundreds", id="500")])
async def test_dialogs_do_not_hang_a_step(tier_actor: Actor, button: str) -> None:
    assert (await tier_actor("open @windows", 'click "Alert"')).notices == ('alert dialog "first" was accepted',)
    assert (await tier_actor('click "Ask"')).notices == ('confirm dialog "sure?" was dismissed',)
    assert (await tier_actor('click "Ask" accept')).notices == ('confirm dialog "sure?" was accepted',)
    many = await tier_actor(f'click "{button}"')
    assert any("more than 10 dialogs" in notice for notice in many.notices)
    assert "log: confirm true" in await tier_actor.log()


async def test_frames_of_other_hosts_are_reached(tier_actor: Actor) -> None:
    await tier_actor("open http://other.example/acting/inner")
    content = (await tier_actor("open @frames")).content
    found = re.search(r'((?:f1)?e\d+) button "Inner"', content)
    assert found is not None, content
    assert "log: inner" in (await tier_actor(f"click {found[1]}")).content
    typed = await tier_actor(f"type {found[1].replace('button', '')} = words")
    assert "not a text field" in typed.error
    asked = await tier_actor('click "Frame alert"')
    assert asked.notices == ('alert dialog "inside" was accepted',)


async def test_new_windows_are_refused_and_reported(tier_actor: Actor) -> None:
    opened = await tier_actor("open @windows", 'click "Window away"')
    assert any("a new window of" in notice and "/acting/found" in notice for notice in opened.notices)
    followed = await tier_actor('click "Window"')
    assert followed.heading.startswith('page "Acting found"') and followed.notices == (FOLLOWED,)
    await tier_actor("back")
    followed = await tier_actor('click "Blank"')
    assert followed.heading.startswith('page "Acting found"') and "in this tab" in followed.notices[0]


async def test_no_request_of_a_new_window_is_sent(tier_browsers: Browsers, tier_actor: Actor, site: Site) -> None:
    await tier_actor("open @windows")
    before = [site.hits(path) for path in ("/acting/found", "/acting/sent")]
    for name in ("Post to window", "Window away"):
        opened = await tier_actor(f'click "{name}"')
        assert any("a new window of" in notice for notice in opened.notices), name
    assert [site.hits(path) for path in ("/acting/found", "/acting/sent")] == before
    assert not (await tier_actor('click "Alert"')).error
    # The page that opened them stays alone, and other tabs of the browser load pages.
    tab = tier_browsers.acting._sessions[tier_actor.session or ""].page._tab
    targets = (await tab.connection.browser.send("Target.getTargets"))["targetInfos"]
    assert [one["targetId"] for one in targets if one.get("browserContextId") == tab.context_id] == [tab.frame_id]
    request = Request(site.url("/acting/found"), tier=Tier.FULL, mode=Mode.RENDER, deadline_s=60)
    assert "Result" in (await tier_browsers.visit(request, None)).html


async def test_windows_and_downloads_of_frames_of_other_hosts_are_reported(tier_actor: Actor, site: Site) -> None:
    await tier_actor("open http://other.example/acting/inner", "open @frames")
    before = site.hits("/acting/found")
    opened = await tier_actor('click "Frame window"')
    assert opened.notices == ('refused: a new window of "http://other.example/acting/found?framed"',)
    assert site.hits("/acting/found") == before
    assert (await tier_actor('click "Frame file"')).notices == ('download "framed.csv" (1 bytes)',)


@pytest.mark.parametrize("mode", list(ActingMode))
async def test_workers_run_and_send_what_the_page_may_send(
    tier_browsers: Browsers, site: Site, mode: ActingMode
) -> None:
    actor = Actor(tier_browsers, site, mode)
    before = site.hits("/acting/sent")
    # Only pages over TLS have service workers.
    await actor("open https://secure.example/acting/workers")
    # Shared workers are not checked in the light tier.
    tier = tier_browsers.acting._sessions[actor.session or ""].handle.chromium.tier
    names = ("Own", "Nested", "Shared", "Service") if tier is Tier.FULL else ("Own", "Nested")
    for name in names:
        await actor(f'click "{name}"')
        waited = await actor(f"wait log: {name.lower()} {'sent' if mode is ActingMode.ACT else 'refused'}")
        assert not waited.error, (name, waited.error)
    assert site.hits("/acting/sent") == before + (len(names) if mode is ActingMode.ACT else 0)
    await run_steps(tier_browsers, ["close"], session=actor.session)
