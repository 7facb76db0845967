"""Consent banners before a picture: refused, never accepted; other boxes stay."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from browsers import Browsers, Mode, Request, Snapshot, Tier
from browsers.model import ScreenshotKind, ScreenshotRequest
from browsers.navigation import consent
from browsers.scripts import CONSENT
from tests.browsers.acting.scripts import Actor, run_steps
from tests.site.running import Site

pytestmark = pytest.mark.browser


@pytest.fixture
def browsers(browsers_of_a_tier: Browsers) -> Browsers:
    return browsers_of_a_tier


@pytest.fixture(autouse=True)
def no_exceptions(request: pytest.FixtureRequest, caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Fail a test in which the script for banners throws an exception, unless its name says so."""
    yield
    records = caplog.get_records("call")
    failures = [record.getMessage() for record in records if record.name == consent.__name__]
    assert failures == [] or "exception" in request.node.name


@pytest.mark.parametrize("part", ["plan(", "hosts(", "isGone:", "the script"])
async def test_an_exception_of_the_script_is_logged(
    browsers: Browsers, site: Site, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, part: str
) -> None:
    name = part.rstrip("(:")
    broken = {
        "plan": CONSENT.replace("    plan(", "    plan() { throw new Error('broken'); }, plan_("),
        "hosts": CONSENT.replace("    hosts(", "    hosts() { throw new Error('broken'); }, hosts_("),
        "isGone": CONSENT.replace("    isGone:", "    isGone() { throw new Error('broken'); }, isGone_:"),
        "the script": "(() => { throw new Error('broken'); })()",
    }[name]
    assert broken != CONSENT
    monkeypatch.setattr(consent, "CONSENT", broken)
    await visit(browsers, site, "closed" if name == "hosts" else "bar")
    messages = [record.getMessage() for record in caplog.records if record.name == consent.__name__]
    assert any(f"consent.js failed in {name}" in one and "Error: broken" in one for one in messages), messages


async def visit(browsers: Browsers, site: Site, name: str) -> Snapshot:
    picture = ScreenshotRequest(ScreenshotKind.WINDOW)
    request = Request(site.url(f"/consent/{name}"), tier=Tier.FULL, mode=Mode.RENDER, picture=picture, deadline_s=60)
    return await browsers.visit(request, None)


def pressed(snapshot: Snapshot) -> str:
    found = re.search(r"pressed: ([\w ]+)", snapshot.html)
    assert found is not None
    return found[1]


@pytest.mark.parametrize(
    "name", ["bar", "german", "japanese", "without-topic", "shadow", "sliding", "research", "closed", "closed-twice"]
)
async def test_a_banner_is_refused_by_a_real_click(browsers: Browsers, site: Site, name: str) -> None:
    snapshot = await visit(browsers, site, name)
    assert pressed(snapshot) == "refuse"
    assert len(snapshot.consent) == 1 and "was refused" in snapshot.consent[0]
    assert snapshot.pictures and "How cookies work" in snapshot.html


@pytest.mark.parametrize("name", ["options", "other-host"])
async def test_a_banner_in_a_frame_is_refused(browsers: Browsers, site: Site, name: str) -> None:
    snapshot = await visit(browsers, site, name)
    assert pressed(snapshot) == "refuse"
    assert len(snapshot.consent) == 1 and "was refused" in snapshot.consent[0]


async def test_the_box_around_a_frame_that_only_accepts_is_hidden(browsers: Browsers, site: Site) -> None:
    snapshot = await visit(browsers, site, "other-wall")
    assert pressed(snapshot) == "nothing" and "was hidden" in snapshot.consent[0]
    assert re.search(r'class="box cookie-wall"[^>]*display: none', snapshot.html)


async def test_a_button_under_another_box_is_pressed_and_not_that_box(browsers: Browsers, site: Site) -> None:
    snapshot = await visit(browsers, site, "covered")
    assert pressed(snapshot) == "untrusted refuse"
    assert "Our new season" in snapshot.html and "display: none" not in snapshot.html


async def test_settings_are_saved_without_categories(browsers: Browsers, site: Site) -> None:
    snapshot = await visit(browsers, site, "settings")
    assert pressed(snapshot) == "saved false"


async def test_a_wall_that_only_accepts_is_hidden(browsers: Browsers, site: Site) -> None:
    snapshot = await visit(browsers, site, "wall")
    assert pressed(snapshot) == "nothing"
    assert snapshot.consent == ("A consent banner was hidden, because it cannot be refused.",)
    assert re.search(r'id="shade"[^>]*display: none', snapshot.html)


async def test_a_banner_that_stays_is_hidden(browsers: Browsers, site: Site) -> None:
    snapshot = await visit(browsers, site, "stubborn")
    assert pressed(snapshot) == "refuse"
    assert re.search(r'class="box"[^>]*display: none', snapshot.html)


async def test_a_notice_that_asks_nothing_is_closed(browsers: Browsers, site: Site) -> None:
    assert pressed(await visit(browsers, site, "notice")) == "close"


async def test_a_banner_that_comes_back_is_refused_again_or_hidden(browsers: Browsers, site: Site) -> None:
    snapshot = await visit(browsers, site, "returning")
    assert pressed(snapshot) == "refuse" and snapshot.consent


async def test_content_inside_a_banner_stays(browsers: Browsers, site: Site) -> None:
    snapshot = await visit(browsers, site, "article")
    assert "How sites ask for consent" in snapshot.html and "display: none" not in snapshot.html


@pytest.mark.parametrize("name", ["sign-in", "basket", "age", "chat", "header", "selected"])
async def test_other_boxes_stay(browsers: Browsers, site: Site, name: str) -> None:
    snapshot = await visit(browsers, site, name)
    assert snapshot.consent == ()
    assert 'class="box"' in snapshot.html and "display: none" not in snapshot.html
    if name != "header":
        assert pressed(snapshot) == "nothing"


async def test_a_frame_that_a_session_does_not_load_covers_nothing(browsers: Browsers, site: Site) -> None:
    actor = Actor(browsers, site)
    opened = await actor(f"open {site.url('/consent/not-loaded')}")
    assert "A box over the page was hidden: its frame of another host was not loaded." in opened.notices
    assert any("frames of other.example, third.example" in notice for notice in opened.notices)
    assert "pressed: clicked" in (await actor('click "Press"')).content
    # A small frame hinders nothing.
    assert "iframe" in (await actor("look iframe")).content
    await run_steps(browsers, ["close"], session=actor.session)


@pytest.mark.parametrize("name", ["no-root", "no-body", "ends-itself", "empties-itself", "drawing"])
async def test_a_page_without_a_body_has_no_banner(browsers: Browsers, site: Site, name: str) -> None:
    actor = Actor(browsers, site)
    opened = await actor(f"open {site.url(f'/consent/{name}')}", "look")
    assert not opened.error
    await run_steps(browsers, ["close"], session=actor.session)
