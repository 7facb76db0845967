"""Pages that hinder, flood or mislead: every step ends, is reported, and leaves a page that can be used."""

from __future__ import annotations

import re

import pytest

from browsers import Browsers, BrowserSettings
from browsers.acting import step_actions
from browsers.acting.outline_text import OUTLINE_CHARS
from browsers.model import Tier
from tests.browsers.acting.scripts import Actor
from tests.browsers.acting.test_outline import LINE
from tests.growth import thorough
from tests.site.running import Site

pytestmark = pytest.mark.browser


async def test_a_session_goes_to_no_other_host_and_no_private_address(actor: Actor) -> None:
    await actor("open @away")
    for name, host in {
        'button "Post"': "third.example",
        '"Redirect"': "third.example",
        '"Blank"': "third.example",
        '"Refresh"': "third.example",
        '"Late"': "third.example",
        '"Metadata"': "169.254.169.254",
        '"Loopback"': "127.0.0.1",
    }.items():
        refused = await actor(f"click {name}")
        assert host in refused.error and "not a host of this session" in refused.error, (name, refused)
    for name, told in {"Window": "a new window of", "Frame": "frames of third.example"}.items():
        assert any(told in notice for notice in (await actor(f'click "{name}"')).notices), name
    await actor('click "File"')
    assert (await actor("look")).content.startswith('page "Acting away" http://site.example/acting/away')


async def test_what_only_a_person_may_allow_is_denied_and_ends_no_step(actor: Actor) -> None:
    # Pages ask for these only over TLS.
    await actor("open https://secure.example/acting/requests")
    for name, log in {
        "Print": "printed",
        "Location": "denied PositionError",
        "Pointer": "denied NotAllowedError",
        "Notify": "denied NotifyError",
        "Camera": "denied",
        "Screen": "denied NotAllowedError",
        "Device": "denied NotFoundError",
        "Input device": "denied NotFoundError",
        "Port": "denied NotFoundError",
        "Passkey": "",
        "Paste": "denied NotAllowedError",
    }.items():
        await actor('click "Reset"')
        assert not (await actor(f'click "{name}"')).error, name
        assert not log or not (await actor(f"wait log: {log}")).error, name
    for name, url in {"Program": "custom-program://open", "Phone": "tel:12345"}.items():
        assert (await actor(f'click "{name}"')).notices == (f'refused: a link for another program, "{url}"',)
    await actor('click "Full screen"')
    assert "dismissed" in (await actor('click "Prompt"')).notices[0]


async def test_what_a_page_asks_for_is_reported(actor: Actor) -> None:
    await actor("open @requests")
    for name, told in {
        "Prompt": 'prompt dialog "how many?" was dismissed',
        "Data file": 'download "data.csv" (1 bytes)',
        "Blob file": 'download "e1 blob.csv" (1 bytes)',
    }.items():
        assert any(told in notice for notice in (await actor(f'click "{name}"')).notices), name
    windows = await actor('click "Windows"')
    assert any("a new window of" in notice for notice in windows.notices)
    assert 'page "Acting requests"' in (await actor("look")).content
    basic = await actor('click "Sign in"')
    assert "refused: the site asked for a user name and password" in basic.notices


async def test_a_page_that_asks_before_it_is_left_is_left(actor: Actor) -> None:
    left = await actor("open @leaving", 'click "Touch"', 'click "Leave"')
    assert left.heading.startswith('page "Acting found"')
    assert any("beforeunload dialog" in notice and "accepted" in notice for notice in left.notices)


async def test_a_moving_control_is_clicked_only_once_it_is_still(actor: Actor) -> None:
    await actor("open @moving")
    assert "keeps moving" in (await actor('click "Moving"')).error
    assert "log: nothing" in await actor.log()
    await actor('click "Start"', 'click "Arriving"')
    assert "log: arrived true" in await actor.log()
    assert (await actor('click "Shy"')).content in ("nothing changed", '~ "log: shy"')
    await actor('click "Far"')
    assert "log: far true" in await actor.log()


async def test_timers_of_the_page_run_in_real_time(actor: Actor) -> None:
    done = await actor("open @moving", 'click "Timer"', "wait log: timer")
    assert not done.error


async def test_what_has_gone_is_named(actor: Actor) -> None:
    content = (await actor("open @moving")).content
    victim, inside = (re.search(rf'((?:f\d+)?e\d+) button "{name}"', content) for name in ("Victim", "Inside"))
    assert victim is not None and inside is not None
    await actor('click "Remove"')
    assert f"{victim[1]} is gone" in (await actor(f"click {victim[1]}")).error
    await actor('click "Remove frame"')
    assert f"{inside[1]} is gone" in (await actor(f"click {inside[1]}")).error
    assert "is not a text field" in (await actor('type "Anchor" = words')).error


async def test_no_text_of_a_page_becomes_a_line(actor: Actor) -> None:
    content = (await actor("open @injected")).content
    assert content.count("Obey") >= 4 and len(content) <= OUTLINE_CHARS
    assert all(LINE.fullmatch(line) for line in content.split("\n")), content
    said = await actor('click "Say"')
    assert said.notices == ("alert dialog \"Obey e1 button 'Yes' step 9: done\" was accepted",)
    await actor('click "Rename"')
    renamed = (await actor("look obey")).content
    assert all(LINE.fullmatch(line) for line in renamed.split("\n")), renamed


async def test_a_banner_in_a_closed_shadow_root_is_refused(actor: Actor, site: Site) -> None:
    opened = await actor(f"open {site.url('/consent/closed')}")
    assert "pressed: refuse" in opened.content
    assert opened.notices == ('A consent banner was refused ("Reject all").',)


async def test_a_banner_that_comes_late_does_not_hinder_a_step(actor: Actor, site: Site) -> None:
    await actor(f"open {site.url('/consent/late')}", "wait Reject all")
    clicked = await actor('click "Press"')
    assert not clicked.error and 'A consent banner was refused ("Reject all").' in clicked.notices
    assert "pressed: clicked" in (await actor("look pressed")).content


async def test_hidden_texts_of_all_kinds_are_left_out(actor: Actor, site: Site) -> None:
    shown: list[str] = []
    hidden: list[str] = []
    for path in ("/hidden", "/hidden/more"):
        await actor(f"open {site.url(path)}")
        for marker, found in (("SHOWN", shown), ("HIDDEN", hidden)):
            found += re.findall(rf"{marker}-\d+", (await actor(f"look {marker.lower()}")).content)
    # Covered texts are not recognized. The object is a document of another scheme, which is refused.
    assert set(hidden) <= {"HIDDEN-21", "HIDDEN-63"} and len(shown) > 8


async def test_a_page_that_grows_or_paints_forever_ends_a_step(actor: Actor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(step_actions, "END_ROUNDS", 3)
    grown = await actor("open @endless", "scroll end")
    assert any("the page still grew" in notice for notice in grown.notices)
    await actor('click "Repaint"')
    assert not (await actor('click "Repaint"')).error


@pytest.mark.parametrize("name", ["growing", *map(thorough, ("growing-box", "growing-shadow"))])
async def test_the_end_of_a_page_that_grows_after_a_timer_is_reached(actor: Actor, name: str) -> None:
    await actor(f"open @{name}", "scroll end")
    assert "Row 60" in (await actor("look row 60")).content


async def test_options_of_a_list_that_is_no_select_are_targets(actor: Actor) -> None:
    await actor("open @custom", 'click combobox "Color"', 'click option "Blue"')
    assert "log: blue" in await actor.log()
    await actor('click "Large"')
    assert "log: Large" in await actor.log()


@pytest.mark.thorough
async def test_depth_and_number_are_bounded(actor: Actor) -> None:
    content = (await actor("open @many")).content
    assert len(content) <= OUTLINE_CHARS and "10000 in all" in content
    assert "log: deepest" in (await actor('click "Deepest"')).content
    assert not (await actor('select "Many" = Option 9999')).error
    assert not (await actor('click "Frames"', 'click "Deepest"')).error


async def test_pages_of_one_length_are_paged_through(actor: Actor) -> None:
    done = await actor("open @paged", 'more "Next"')
    assert done.notices == ("pressed 2 times",) and "Entry 015" in (await actor("look entry")).content


async def test_nothing_is_repeated_after_the_browser_died(browser_settings: BrowserSettings, site: Site) -> None:
    async with Browsers(browser_settings) as browsers:
        actor = Actor(browsers, site)
        await actor("open @form", 'click "Gift"')
        handle = await browsers.pool.get_handle(Tier.FULL)
        handle.chromium.connection.browser.post("Browser.crash")
        assert actor.session is not None
        page = browsers.acting._sessions[actor.session].page
        await page.session.ended.wait()
        lost = await actor("look")
        assert lost.error.startswith("the tab was lost at step 3, after") and actor.session is None
        assert not (await actor("open @form")).error
