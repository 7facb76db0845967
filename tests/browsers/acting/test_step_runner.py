"""Steps on real pages: what they do, what they report, and what is refused."""

from __future__ import annotations

import asyncio
import re

import pytest

from browsers import Browsers
from browsers.acting import page_outlines, sessions, step_actions
from browsers.acting.outline import Outline
from browsers.acting.page_outlines import PageOutlines
from browsers.acting.page_requests import ActingMode
from tests.browsers.acting.scripts import Actor, run_steps
from tests.site.running import Site

pytestmark = pytest.mark.browser


async def test_a_form_is_filled_and_sent(actor: Actor) -> None:
    steps = ['type "Name" = Ada', 'select "Size" = Large', 'click "Gift"']
    filled = await actor("open @form", *steps)
    assert re.search(r'~ e\d+ checkbox "Gift" \[checked\]', filled.content)
    sent = await actor('click button "Order"')
    assert "received POST Ada" in sent.content and sent.heading.startswith('page "Sent"')
    assert 'page "Acting form"' in (await actor("back")).heading


async def test_answers_are_differences(actor: Actor) -> None:
    await actor("open @form")
    done = await actor('type "Name" = Ada')
    assert re.fullmatch(r'~ e\d+ textbox "Name" = "Ada"', done.content) and not done.heading
    assert (await actor("press End")).content == "nothing changed"


async def test_a_step_takes_one_outline_and_more_until_its_target_is_there(
    actor: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = 0
    take = PageOutlines.take

    async def counted(outlines: PageOutlines) -> Outline:
        nonlocal looks
        looks += 1
        return await take(outlines)

    monkeypatch.setattr(PageOutlines, "take", counted)
    # On a busy machine, the next step begins late.
    monkeypatch.setattr(page_outlines, "RECENT_S", 10.0)
    await actor("open @form", 'type "Name" = Ada', 'click "Gift"')
    assert looks == 3
    late = await actor("open @late", 'click "Start"', 'click "Late"')
    assert not late.error and looks > 6 and "log: late" in await actor.log()


async def test_a_change_after_a_timer_belongs_to_the_click(actor: Actor) -> None:
    await actor("open @list")
    assert "Entry 10" in (await actor('click "Show more"')).content


async def test_references_stay_valid_over_calls(actor: Actor) -> None:
    content = (await actor("open @form")).content
    found = re.search(r'(e\d+) textbox "Name"', content)
    assert found is not None
    await actor('click "Gift"', "look")
    assert f'~ {found[1]} textbox "Name" = "x"' in (await actor(f"type {found[1]} = x")).content
    failed = await actor("click e99999")
    assert "not a reference of this page" in failed.error and failed.heading


async def test_a_script_ends_at_its_first_failure_with_the_page(actor: Actor) -> None:
    failed = await actor("open @form", 'click "Missing"', 'click "Order"')
    assert failed.error == 'nothing on the page matches "Missing"'
    assert 'button "Order"' in failed.content
    several = await actor('select "Size" = Huge')
    assert several.error.endswith('there are "Small", "Large"')


async def test_covered_and_disabled_controls_are_named(actor: Actor) -> None:
    await actor("open @stubborn")
    assert re.search(r'covered by "div#cover" "cover"', (await actor('click "Covered"')).error)
    for name in ("Off", "Fields off", "Said off"):
        assert "is disabled" in (await actor(f'click button "{name}"')).error
    assert "log: nothing" in await actor.log()


async def test_a_cover_is_found_in_every_document_of_a_session(actor: Actor) -> None:
    await actor("open @stubborn", 'click "icon-trash"')
    # Another document, in the same process and in another one.
    for url in ("open @stubborn", "open http://other.example/acting/stubborn"):
        await actor(url)
        assert "covered by" in (await actor('click "Covered"')).error
        assert "log: nothing" in await actor.log()


async def test_a_field_that_is_replaced_on_each_key_is_typed_into(actor: Actor) -> None:
    content = (await actor("open @stubborn")).content
    found = re.search(r'(e\d+) textbox "Rerendered"', content)
    assert found is not None
    await actor(f"type {found[1]} = one")
    again = await actor(f"type {found[1]} = two")
    assert not again.error and any("was replaced by" in notice for notice in again.notices)
    assert "log: two" in await actor.log()


async def test_text_goes_to_no_field_but_the_one_that_was_meant(actor: Actor) -> None:
    await actor("open @focus", 'click "First"')
    for name in ("Inert", "Picker"):
        assert (await actor(f'type "{name}" = x')).error.endswith(f'textbox "{name}" is not to be focused')
    assert 'textbox "First" = "first"' in (await actor("look first")).content
    moved = await actor('type "Search" = kettle')
    assert re.fullmatch(r'~ e\d+ textbox "Dialog" = "kettle"', moved.content)
    assert 'textbox "Notes" = "three"' in (await actor('type "Notes" = three')).content


async def test_what_a_fieldset_disables_is_not_used(actor: Actor) -> None:
    await actor("open @focus")
    assert (await actor('select "Off" = Two')).error.endswith("is disabled")
    for name, logged in (("Legend", "legend"), ("Link", "link")):
        assert not (await actor(f'click "{name}"')).error
        assert f"log: {logged}" in await actor.log()
    assert (await actor('select "Own list" = Own')).error.endswith("has no such option; there are none")


async def test_a_page_that_loads_slowly_is_awaited_or_reported(actor: Actor, monkeypatch: pytest.MonkeyPatch) -> None:
    slow = await actor("open @focus", 'click "Slow page"')
    assert slow.heading.startswith('page "Acting slow"') and "Arrived late" in slow.content
    monkeypatch.setattr(page_outlines, "SNAPSHOT_LIMIT_S", 0.5)
    late = await actor("open @focus", 'click "Slow page"')
    first, *others = late.notices
    assert first == "the page did not answer in time: it may still load, so wait for words of it, or look"
    # On a busy machine the request has ended by then.
    assert others in (["1 request still runs; the next call shows its result"], [])
    monkeypatch.undo()
    assert not (await actor("wait Arrived late")).error


async def test_a_url_that_a_script_changes_is_reported(actor: Actor) -> None:
    pushed = await actor("open @focus", 'click "Push"')
    assert pushed.content.startswith('~ page "Acting focus" http://site.example/acting/focus?pushed · ')


async def test_more_presses_until_all_is_there(actor: Actor) -> None:
    done = await actor("open @list", 'more "Show more"')
    assert done.notices == ("pressed 3 times",) and "Entry 20" in (await actor("look entry 20")).content
    bounded = await actor("open @list", 'more "Show more" 1')
    assert any("limit of 1 times" in notice for notice in bounded.notices)


async def test_dialogs_are_answered_and_reported(actor: Actor) -> None:
    assert (await actor("open @windows", 'click "Alert"')).notices == ('alert dialog "first" was accepted',)
    assert (await actor('click "Ask"')).notices == ('confirm dialog "sure?" was dismissed',)
    assert "log: confirm false" in await actor.log()
    assert (await actor('click "Ask" accept')).notices == ('confirm dialog "sure?" was accepted',)
    many = await actor('click "Alerts"')
    assert any("more than 10 dialogs" in notice for notice in many.notices)
    assert "Alert" in (await actor("look alert")).content


async def test_windows_and_files_are_refused_downloads_taken_and_links_followed(actor: Actor) -> None:
    await actor("open @windows")
    opened = await actor('click "Window"')
    assert opened.notices == ("the new window of the page was opened in this tab",)
    assert 'page "Acting windows"' in (await actor("back")).heading
    downloaded = await actor('click "File"')
    assert downloaded.notices == ('download "table.csv" (3 bytes)',) and not downloaded.content
    assert [(one.data, one.media_type) for one in downloaded.files] == [(b"1,2", "text/csv")]
    assert any("asked for a file" in notice for notice in (await actor('click "Upload"')).notices)
    assert "windows" in (await actor("look")).content.split("\n")[0]
    followed = await actor('click "Blank"')
    assert followed.heading.startswith('page "Acting found"') and "in this tab" in followed.notices[0]


async def test_a_window_opened_by_an_attribute_does_not_empty_the_page(actor: Actor) -> None:
    opened = await actor("open @windows", 'click "Inline"')
    assert 'page "Acting found"' in opened.heading and "found?inline" in opened.heading
    assert 'page "Acting windows"' in (await actor("back")).heading
    assert "Written" in (await actor('click "Write"')).content


@pytest.mark.parametrize("name", ["Away", "Leave", "Data"])
async def test_a_session_stays_on_its_hosts(actor: Actor, name: str) -> None:
    left = await actor("open @windows", f'click "{name}"')
    if name != "Data":
        assert left.error.startswith("refused: it leads to third.example")
    assert 'page "Acting windows"' in (await actor("look")).content


async def test_words_that_never_appear_are_named(actor: Actor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(step_actions, "WORDS_WAIT_S", 0.3)
    assert '"zebra" did not appear' in (await actor("open @form", "wait zebra")).error


async def test_keys_and_drags_reach_the_page(actor: Actor) -> None:
    await actor("open @input")
    await actor('type "Keys" slowly = abc')
    # The first key removes the old text.
    assert "log: keys 4 true" in await actor.log()
    await actor('click "Twice" twice')
    assert "log: double" in await actor.log()
    await actor('click "Menu" right')
    assert "log: menu" in await actor.log()
    await actor('drag "Card" to "Place"')
    assert "log: dropped true" in await actor.log()
    await actor('hover "Over"')
    assert "log: over" in await actor.log()
    await actor('type "Date" = 2026-05-04', 'click "Tell"')
    assert "log: 2026-05-04" in await actor.log()


async def test_an_endless_script_is_ended(actor: Actor) -> None:
    looped = await actor("open @windows", 'click "Loop"')
    assert "was ended" in looped.error
    assert 'alert dialog "first" was accepted' in (await actor('click button "Alert"')).notices


async def test_read_mode_sends_no_forms_and_no_passwords(browsers: Browsers, site: Site) -> None:
    reader = Actor(browsers, site, ActingMode.READ)
    hits = site.hits("/acting/sent")
    await reader("open @form")
    for step, sent in (('click "Order"', "POST site.example/acting/sent"), ('click "Store"', "POST site.example")):
        refused = await reader(step)
        assert refused.error.startswith(f"refused: it would send {sent}") and "SEARCH_MCP_ACTING" in refused.error
    assert "log: not stored" in await reader.log()
    assert "types no passwords" in (await reader('type "Password" = x')).error
    found = await reader('type "Search" = kettle + Enter')
    assert found.heading.startswith('page "Acting found" http://site.example/acting/found?q=kettle')
    assert site.hits("/acting/sent") == hits
    await run_steps(browsers, ["close"], session=reader.session)


@pytest.mark.parametrize("allows", [True, False])
async def test_the_person_is_asked_before_the_first_write_on_a_site(
    browsers: Browsers, site: Site, allows: bool
) -> None:
    questions = []

    async def ask(question: str) -> bool:
        questions.append(question)
        # Longer than a step waits for an idle page.
        await asyncio.sleep(4 if allows else 0)
        return allows

    actor = Actor(browsers, site, ask=ask)
    hits = site.hits("/acting/sent")
    stored = await actor("open @form", 'type "Search" = kettle', 'click "Store"')
    assert questions == [
        "May the step \"click 'Store'\" send data (POST site.example/acting/sent)?"
        " The answer applies to site.example in this browser session."
    ]
    ordered = await actor('click "Order"')
    assert len(questions) == 1 and site.hits("/acting/sent") == hits + (2 if allows else 0)
    if allows:
        assert "log: stored 200" in stored.content and ordered.heading.startswith('page "Sent"')
    else:
        for refused in (stored, ordered):
            assert refused.error == "refused: the person did not allow it to send POST site.example/acting/sent"
    await run_steps(browsers, ["close"], session=actor.session)


async def test_without_an_answer_nothing_is_sent(
    browsers: Browsers, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def ask(question: str) -> bool:
        await asyncio.sleep(60)
        return True

    monkeypatch.setattr(sessions, "CALL_S", 5.0)
    actor = Actor(browsers, site, ask=ask)
    hits = site.hits("/acting/sent")
    refused = await actor("open @form", 'click "Order"')
    assert "did not allow" in refused.error and site.hits("/acting/sent") == hits
    await run_steps(browsers, ["close"], session=actor.session)


async def test_read_returns_the_page_without_touching_it(actor: Actor) -> None:
    read = await actor("open @hostile", "read")
    assert read.page is not None
    html = read.page.html
    assert "DETAIL" in html
    assert re.findall(r"(?<=>)HIDDEN-\d", re.sub(r'<p[^>]*data-x-hidden=""[^>]*>[^<]*</p>', "", html)) == []
    assert "details open" not in html and "[collapsed]" in (await actor("look more")).content


async def test_read_has_no_tags_for_generated_content(actor: Actor) -> None:
    read = await actor("open @delegated", "read")
    assert read.page is not None and "<q>Ripe</q>" in read.page.html and "<::" not in read.page.html
