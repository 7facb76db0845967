"""Lists that are no `select` elements, files for pages, windows of scripts, frame sets and documents."""

from __future__ import annotations

import pytest

from browsers.acting.page_requests import ActingMode
from tests.browsers.acting.scripts import Actor
from tests.browsers.visits import FULL_TIER
from tests.site.running import Site

pytestmark = pytest.mark.browser


async def test_an_option_of_a_list_of_the_page_is_chosen(actor: Actor) -> None:
    await actor("open @lists")
    for step, logged in {
        'select "Position" = Mate': "chose Mate",
        'select "Color" = Green': "color Green",
        'select "Town" = Aarvik': "town Aarvik",
        'select "Year" = 2011': "year 2011",
        'select "Menu" = Copy': "menu Copy",
        'select "Open" = Two': "open Two",
        'select "Room" = Window': "room Window",
    }.items():
        assert f"log: {logged}" in (done := await actor(step)).content and not done.notices, (step, done)


async def test_a_choice_of_a_group_is_chosen_inside_of_it(actor: Actor) -> None:
    await actor("open @groups")
    for step, logged in {
        'select "Cabin" = Upper': "cabin upper",
        'select "Meals" = All': "all meals",
        'select "Berth" = High': "berth High",
    }.items():
        assert f"log: {logged}" in (done := await actor(step)).content and not done.notices, (step, done)
    # It is chosen already, and another click would undo that.
    assert (await actor('select "Extras" = Dog')).content == "nothing changed"
    assert 'there are "Inside", "Upper"' in (await actor('select "Cabin" = Outside')).error


async def test_an_option_that_a_person_cannot_choose_is_not_chosen(actor: Actor) -> None:
    await actor("open @lists")
    assert (await actor('select "Position" = Master')).error == '"Master" is disabled'
    assert "disabled" in (await actor('select "Room" = Vault')).error
    assert 'there are "Cook", "Master", "Mate"' in (await actor('select "Position" = Pilot')).error
    assert "log: nothing" in await actor.log()


async def test_a_text_is_given_to_a_field_for_files(actor: Actor) -> None:
    await actor("open @files")
    for target, name in {"Scan": "note.txt", "Photo": "a.txt", "Choose": "b.txt", "Drop it here": "c.txt"}.items():
        done = await actor(f'upload "{target}" = {name}: hello')
        assert f"log: {name} text/plain hello" in await actor.log() and not done.notices, target
    assert "takes no file" in (await actor('upload "No file" = e.txt: e')).error
    assert "is disabled" in (await actor('upload "Off" = f.txt: f')).error


async def test_reading_alone_gives_no_files(actor: Actor) -> None:
    actor.mode = ActingMode.READ
    await actor("open @files")
    assert "SEARCH_MCP_ACTING=act" in (await actor('upload "Scan" = note.txt: hello')).error
    assert "log: nothing" in await actor.log()


async def test_the_only_effect_of_a_step_may_be_a_window_which_is_opened_in_the_tab(actor: Actor) -> None:
    for control in ("Plain", "Later"):
        opened = await actor("open @openers", f'click "{control}"')
        assert 'page "Acting found"' in opened.heading and len(opened.notices) == 1, control
        assert 'page "Acting openers"' in (await actor("back")).heading
    assert "log: did more" in (await actor('click "More"')).content
    for control in ("Away", "Post"):
        refused = await actor(f'click "{control}"')
        assert refused.notices[0].startswith("refused: a new window") and not refused.heading, control


async def test_a_window_to_which_its_page_talks_is_a_frame_of_the_page(actor: Actor) -> None:
    for control in ("Sized", "Empty"):
        await actor("open @talking", f'click "{control}"')
        assert "log: signed in" in (await actor('click "Allow"')).content, control
    assert "Ticket" in (await actor("open @talking", 'click "Written"')).content
    assert 'page "Unframed"' in (await actor("open @talking", 'click "Unframed"')).heading


async def test_a_written_window_sends_nothing_if_steps_only_read(actor: Actor, site: Site) -> None:
    actor.mode, before = ActingMode.READ, site.hits("/acting/sent")
    refused = await actor("open @talking", 'click "Sent"')
    assert site.hits("/acting/sent") == before
    assert "SEARCH_MCP_ACTING=act" in refused.error


@FULL_TIER
async def test_a_document_is_named_and_frame_sets_are_read(actor: Actor) -> None:
    plan = await actor("open @openers", 'click "Plan"')
    assert plan.notices[0].startswith("this is a PDF: read_doc reads") and "iframe" not in plan.content
    assert 'button "Send"' in (await actor("back", 'click "Frames"')).content
