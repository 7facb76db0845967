"""Sessions: whose they are, how many, how long, and what happens when a renderer dies."""

from __future__ import annotations

import asyncio
from urllib.parse import quote

import pytest

from browsers import Browsers, errors
from browsers.acting import acting_page, sessions
from browsers.acting.page_requests import ActingMode
from browsers.acting.sessions import ActingRequest
from browsers.acting.step_parser import parse_steps
from browsers.cdp.session import CommandFailedError
from browsers.model import Tier
from browsers.pool import browser_pool
from browsers.settings import BrowserSettings
from tests.browsers.acting.scripts import Actor, permitted, run_steps
from tests.browsers.visits import FULL_TIER
from tests.growth import thorough
from tests.site.hosts import TRACKERS
from tests.site.running import Site

pytestmark = pytest.mark.browser


async def opened(browsers: Browsers, site: Site, principal: str) -> str:
    return (await run_steps(browsers, [f"open {site.url('/acting/found')}"], principal=principal)).session_id


async def close(browsers: Browsers, session: str, principal: str) -> None:
    await run_steps(browsers, ["close"], session=session, principal=principal)


async def test_a_session_belongs_to_its_caller(browsers: Browsers, site: Site) -> None:
    session = await opened(browsers, site, "bob")
    messages = set()
    for stranger, name in (("eve", session), ("eve", "0" * 32)):
        with pytest.raises(errors.UnknownSessionError) as caught:
            await run_steps(browsers, ["look"], session=name, principal=stranger)
        messages.add(str(caught.value))
    assert len(messages) == 1
    await close(browsers, session, "bob")
    with pytest.raises(errors.UnknownSessionError):
        await run_steps(browsers, ["look"], session=session, principal="bob")


async def test_the_oldest_of_a_caller_ends_first_and_never_that_of_another(browsers: Browsers, site: Site) -> None:
    other = await opened(browsers, site, "cat")
    own = [await opened(browsers, site, "dan") for _ in range(sessions.MAX_PER_PRINCIPAL + 1)]
    with pytest.raises(errors.UnknownSessionError):
        await run_steps(browsers, ["look"], session=own[0], principal="dan")
    for session, principal in ((other, "cat"), *((session, "dan") for session in own[1:])):
        assert not (await run_steps(browsers, ["look"], session=session, principal=principal)).outcomes[0].error
        await close(browsers, session, principal)


async def test_calls_at_once_open_no_more_sessions_than_allowed(browsers: Browsers, site: Site) -> None:
    calls = [opened(browsers, site, "kim") for _ in range(sessions.MAX_PER_PRINCIPAL + 2)]
    done = await asyncio.gather(*calls, return_exceptions=True)
    busy = [one for one in done if isinstance(one, errors.BusyError)]
    assert len(busy) == 2, done
    for session in done:
        if isinstance(session, str):
            await close(browsers, session, "kim")


async def test_a_call_that_waited_for_its_turn_does_not_revive_an_ended_session(browsers: Browsers, site: Site) -> None:
    session = await opened(browsers, site, "lea")
    closing, waiting = close(browsers, session, "lea"), run_steps(browsers, ["look"], session=session, principal="lea")
    _, after = await asyncio.gather(closing, waiting, return_exceptions=True)
    assert isinstance(after, errors.UnknownSessionError)


async def test_an_idle_session_ends(browsers: Browsers, site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    session = await opened(browsers, site, "fay")
    page = browsers.acting._sessions[session].page
    monkeypatch.setattr(browsers.acting, "settings", BrowserSettings(session_idle_s=-1.0))
    with pytest.raises(errors.UnknownSessionError):
        await run_steps(browsers, ["look"], session=session, principal="fay")
    async with asyncio.timeout(30):
        await page.session.ended.wait()
    assert session not in browsers.acting._sessions


async def test_steps_age_and_time_of_a_session_are_limited(
    browsers: Browsers, actor: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    await actor("open @found")
    monkeypatch.setattr(sessions, "CALL_S", 0.0)
    assert "the time of this call is over" in (await actor("look")).error
    monkeypatch.undo()
    monkeypatch.setattr(sessions, "MAX_STEPS", 2)
    assert "ended after 2 steps" in (await actor("look", "look", "look")).error
    assert actor.session is None
    await actor("open @found")
    monkeypatch.setattr(browsers.acting, "settings", BrowserSettings(session_lifetime_s=-1.0))
    with pytest.raises(errors.UnknownSessionError):
        await actor("look")
    actor.session = None


async def test_the_traffic_of_a_session_is_limited(actor: Actor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(acting_page, "MAX_TRAFFIC_BYTES", 20_000)
    outcomes = [await actor("open @links") for _ in range(2)]
    assert outcomes[-1].error and actor.site.hits("/acting/links") >= 1


async def test_a_page_rests_between_calls_and_holds_no_slot(browsers: Browsers, actor: Actor) -> None:
    await actor("open @inner")
    assert browsers.status().rendering == 0
    before = (await actor("look")).content
    assert before == (await actor("look")).content


async def test_the_memory_of_a_page_is_limited_while_a_step_runs(browsers: Browsers, actor: Actor, site: Site) -> None:
    handle = await browsers.pool.get_handle(Tier.FULL)
    guard = handle.chromium.renderer_guard
    assert guard is not None
    watched = guard._visits
    await actor("open @inner")
    assert guard._visits == watched
    filled = await actor(f"open {site.url('/buffer-hog')}")
    assert "too much memory" in filled.error and guard._visits == watched


async def test_a_call_waits_for_its_turn_only_so_long(
    browsers: Browsers, actor: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    await actor("open @form")
    monkeypatch.setattr(sessions, "TURN_WAIT_S", 0.05)
    busy = asyncio.ensure_future(run_steps(browsers, ["wait 1"], session=actor.session))
    await asyncio.sleep(0.2)
    with pytest.raises(errors.BusyError, match="Another call uses this session"):
        await run_steps(browsers, ["look"], session=actor.session)
    assert not (await busy).outcomes[0].error


async def test_two_calls_on_one_session_take_turns(browsers: Browsers, actor: Actor) -> None:
    await actor("open @form")
    assert actor.session is not None
    one, two = await asyncio.gather(
        *(run_steps(browsers, [f'type "Name" = {name}'], session=actor.session) for name in ("one", "two"))
    )
    assert {outcome.outcomes[0].error for outcome in (one, two)} == {""}


@pytest.mark.parametrize("writes", [False, True])
async def test_a_lost_tab_is_reopened_only_after_reading(browsers: Browsers, actor: Actor, writes: bool) -> None:
    await actor("open @form")
    if writes:
        await actor('click "Gift"')
    assert actor.session is not None
    page = browsers.acting._sessions[actor.session].page
    page.session.post("Page.crash")
    await page.session.ended.wait()
    after = await actor("look")
    if writes:
        assert after.error.startswith("the tab was lost at step 3, after")
        assert actor.session is None
    else:
        assert 'page "Acting form"' in after.content
        assert any("opened again" in notice for notice in after.notices)


@FULL_TIER
async def test_a_browser_is_replaced_after_its_sessions(
    browsers: Browsers, actor: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(browser_pool, "DRAIN_LIMIT_S", 0.05)
    await actor("open @form")
    worn = await browsers.pool.get_handle(Tier.FULL)
    await browsers.pool._replace(Tier.FULL, worn)
    await asyncio.sleep(0.2)
    typed = await actor('type "Name" = Ada')
    assert not typed.error and 'textbox "Name" = "Ada"' in typed.content
    assert await browsers.pool.get_handle(Tier.FULL) is not worn


@pytest.mark.parametrize("failure", [CommandFailedError("Internal error"), thorough(TimeoutError())])
async def test_a_page_that_dies_during_a_command_is_an_outcome(
    browsers: Browsers, actor: Actor, monkeypatch: pytest.MonkeyPatch, failure: Exception
) -> None:
    await actor("open @form")
    assert actor.session is not None
    page = browsers.acting._sessions[actor.session].page

    async def die(limit_s: float = 0.0) -> None:
        page.session.fail(lambda: errors.PageCrashedError("The page's renderer died."))
        raise failure

    monkeypatch.setattr(page, "wait_until_idle", die)
    lost = await actor('click "Gift"')
    assert lost.error.startswith("the tab was lost at step 2") and actor.session is None


@pytest.mark.parametrize(
    ("method", "failure"), [("take", CommandFailedError("Internal error")), ("has_expired_login", TimeoutError())]
)
async def test_a_page_that_cannot_be_read_is_an_outcome(
    browsers: Browsers, actor: Actor, monkeypatch: pytest.MonkeyPatch, method: str, failure: Exception
) -> None:
    await actor("open @form")
    assert actor.session is not None
    page = browsers.acting._sessions[actor.session].page

    async def fail() -> None:
        raise failure

    with monkeypatch.context() as patch:
        patch.setattr(page.outlines if method == "take" else page, method, fail)
        assert (await actor("read")).error.endswith("; try again")
    assert (await actor("read")).page is not None


async def test_a_redirect_of_a_session_is_never_refused_as_a_third_party(browsers: Browsers, site: Site) -> None:
    target = quote(site.url("/ad-host", TRACKERS[0]), safe="")
    steps = parse_steps([f"open {site.url(f'/redirect?to={target}', 'other.example')}", "close"])
    request = ActingRequest(tuple(steps), None, "ann", ActingMode.ACT, permitted, follows_redirects=True)
    opened, _ = (await browsers.acting.run(request)).outcomes
    assert not opened.error and 'page "Tags"' in opened.heading
