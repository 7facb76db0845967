"""A page is shown when it has its content, and a step when its control has reacted."""

from __future__ import annotations

import time

import pytest

from tests.browsers.acting.scripts import Actor
from tests.site.acting_late import LATE_PAGES

pytestmark = pytest.mark.browser


async def test_content_that_comes_late_is_awaited(actor: Actor) -> None:
    for name in LATE_PAGES:
        assert 'button "Reserve"' in (await actor(f"open @late-{name}")).content, name


async def test_a_long_poll_of_a_page_with_content_does_not_hold_it(actor: Actor) -> None:
    await actor("open @form")
    began = time.monotonic()
    opened = await actor("open @late-poll")
    assert opened.notices == ("1 request still runs; the next call shows its result",)
    assert time.monotonic() - began < 2.8


async def test_controls_may_react_after_a_time(actor: Actor) -> None:
    await actor("open @reactions")
    assert "Code is valid" in (await actor('click "Check"')).content
    assert "Code is right" in (await actor('click "Verify"')).content
    assert 'link "Orders"' in (await actor('hover "Account"')).content
    assert "Code is late" in (await actor('click "Wait"')).content
    assert "Found rope" in (await actor('type "Search" = rope')).content


async def test_changes_beside_the_text_are_told_apart_from_none(actor: Actor) -> None:
    await actor("open @reactions")
    assert (await actor('click "Rename"')).content.startswith('~ page "Code"')
    assert (await actor('click "Star"')).content == 'only the look changed of "Star": see shows it'
    assert (await actor('click "Dead"')).content == "nothing changed"
