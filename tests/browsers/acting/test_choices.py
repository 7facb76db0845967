"""Choices that their labels draw, controls below drawings, and targets among several lines of one name."""

from __future__ import annotations

import pytest

from tests.browsers.acting.scripts import Actor
from tests.site.acting_choices import HIDDEN_CHOICES

pytestmark = pytest.mark.browser


async def test_a_hidden_choice_is_a_line_with_its_state_and_its_label_is_clicked(actor: Actor) -> None:
    await actor("open @choices")
    for name in HIDDEN_CHOICES:
        around = (await actor(f'click "Around {name}"')).content
        assert f"log: {name} true" in around and f'checkbox "Around {name}" [checked]' in around
        assert f'radio "Beside {name}" [checked]' in (await actor(f'click "Beside {name}"')).content
    assert "log: attribute true" in (await actor('click "Attribute"')).content
    assert "log: switched" in (await actor('click "Switch"')).content
    assert 'file "Scan"' in (await actor("look Scan")).content


async def test_a_field_that_the_page_draws_has_a_line_its_label_and_its_choices(actor: Actor) -> None:
    opened = (await actor("open @drawn")).content
    assert 'clickable "County"' in opened and "Lost label" in opened and '"Low water.' in opened
    assert 'tabpanel "Tides"' in opened and '"High water at noon"' in opened and opened.count("checkbox") == 1
    assert 'textbox "Bare"' in opened and 'clickable "Low water. Low water.' in opened
    for step, logged in {
        'type "Dock" = East': "dock East",
        'type "Fee" = 70': "fee 70",
        'select "County" = Kent': "county Kent",
        'select "Tint" = Teal': "tint Teal",
        'click "Mail"': "mail",
        'click "2 stars"': "star true",
        'click "Night"': "night true",
        'select "Crew" = Two': "crew Two",
        'select "Find" = Rope': "Rope",
        'select "Kinds" = Sail | Motor': "motor true",
    }.items():
        assert f"log: {logged}" in (done := await actor(step)).content, (step, done)


async def test_a_date_in_another_form_changes_nothing_and_the_error_shows_the_form(actor: Actor) -> None:
    await actor("open @drawn")
    refused = await actor('type "Day" = 24.12.2026')
    assert refused.error.endswith("of type date: write it as 2026-12-31") and not refused.content
    assert "log: nothing" in await actor.log()
    assert 'date "Day" = "2026-12-24"' in (await actor('type "Day" = 2026-12-24')).content


async def test_a_drawing_of_a_control_covers_nothing(actor: Actor) -> None:
    await actor("open @covers")
    for name, logged in {
        'link "Read on"': "read on",
        'button "Order"': "ordered",
        'button "Dismiss"': "dismissed",
        'button "Wrapped"': "wrapped",
        '"Agreed"': "agreed true",
        '"Shadow"': "shadow",
        'button "Messages"': "badge",
        'button "Near"': "near",
        'button "Slotted"': "slotted",
    }.items():
        assert f"log: {logged}" in (await actor(f"click {name}")).content, name
    # The link of the card lies over its text.
    assert "log: read on" in (await actor('click "The weir is closed."')).content
    assert "is covered by" in (await actor('click "Veiled"')).error
    assert "is covered by" in (await actor('click "Below"')).error
    assert "log: read on" in await actor.log()


async def test_one_of_several_lines_is_chosen_by_its_target_or_a_text_beside_it(actor: Actor) -> None:
    await actor("open @cards")
    assert "log: at #Oil%20lamp" in (await actor('click "Oil lamp"')).content
    assert "log: at #whole" in (await actor('click "Whole"')).content
    for step, logged in {
        'click "Buy" in "Oil lamp"': "bought Oil lamp",
        'click button "Order" in "Sail"': "row sail",
        'click "Go" in "Right"': "right",
        'click "Go" in "Left"': "left",
        'click "Up" in "Hold"': "hold",
        'type "Town" = Sark': "town",
    }.items():
        assert f"log: {logged}" in (await actor(step)).content, step
    several = await actor('click "Buy"')
    assert several.error.startswith("4 lines match")
    for ref in several.error.partition(": ")[2].split(", "):
        assert f'{ref} button "Buy"' in several.content
