"""Steps report what a field made of a text, why a form was not sent, a new order, and late dialogs."""

from __future__ import annotations

import pytest

from tests.browsers.acting.scripts import Actor

pytestmark = pytest.mark.browser


async def test_a_field_holds_the_typed_text_or_its_step_says_what_it_made_of_it(actor: Actor) -> None:
    await actor("open @fields")
    for step, shown in {
        'type "Weight" = 12,5': 'spinbutton "Weight" = "12.5"',
        'type "Weight" = 1.250,5': 'spinbutton "Weight" = "1250.5"',
        'type "Keys" = abc': 'textbox "Keys" = "abc"',
        'type "Phone" = 5551234567': 'textbox "Phone" = "(555) 1234567"',
        'type "Upper" = abc': 'textbox "Upper" = "ABC"',
        'type "Filter" = abc': "log: kept abc",
        'type "Pad" = xy': "log: pad y",
        'type "Digit" = 1234': "log: code 1234",
    }.items():
        done = await actor(step)
        assert shown in done.content and not done.notices, (step, done)
    boxes = (await actor('type textbox "First" = 78')).content
    assert '"First" = "7"' in boxes and ' = "8"' in boxes
    assert (await actor('type "Name" = Adalbert')).notices == ('the field made "Adal" of it',)
    assert (await actor('type "Digits" = 12a4')).notices == ('the field made "124" of it',)
    assert "may be two numbers" in (await actor('type "Weight" = 1,250')).error
    assert "takes no such text" in (await actor('type "Weight" = 12 kg')).error


async def test_a_form_that_is_not_sent_says_why(actor: Actor) -> None:
    await actor("open @blocked-forms", 'type "Mail" = nobody', 'type "Age" = 12')
    for step, reasons in {
        'click "Join"': ('"Mail" = "nobody": "Please include an', '"Age" = "12": "Value must be greater'),
        'type "Words" = X1 + Enter': ('"Words" = "X1": "Please match',),
        'click "Keep"': ('"lost": "Please fill',),
        'click "Check"': ('"Town": "Please fill',),
        'click "Agree"': ('"Terms": "Please check',),
    }.items():
        notices = (await actor(step)).notices
        assert len(notices) == len(reasons), (step, notices)
        for notice, reason in zip(notices, reasons, strict=True):
            assert notice.startswith(f"the form was not sent: {reason}")
    assert not (await actor('click "Own"')).notices
    sent = await actor('type "Mail" = ada@site.example', 'type "Age" = 36', 'click "Join"')
    assert "log: joined" in sent.content and not sent.notices


async def test_lines_in_another_order_are_reported(actor: Actor) -> None:
    await actor("open @orders")
    for step, order in {
        'click "Move rows"': '"Tin 15", "Oil 40", "Brass 80"',
        'click "Move cards"': '"Gamma", "Alpha", "Beta"',
        'click "Move last"': '"Brass 80", "Tin 15", "Oil 40"',
        'click "Turn rows"': '"Oil 40", "Tin 15", "Brass 80"',
    }.items():
        assert (await actor(step)).content == f"~ new order: {order}"
    assert "~ new order: " in (await actor('click "Move cells"')).content


async def test_dialogs_are_answered_also_late_and_with_their_own_answer(actor: Actor) -> None:
    await actor("open @late-dialogs")
    await actor('click "Delete" accept', "wait log: deleted")
    assert "log: deleted true" in await actor.log()
    assert "log: name Draft 3" in (await actor('click "Rename" accept')).content
    assert "log: name Final" in (await actor('click "Rename" accept = Final')).content
    asked = await actor('click "Ask"')
    assert "log: sure false" in asked.content and asked.notices == ('confirm dialog "Sure?" was dismissed',)


async def test_a_request_that_asks_for_a_password_is_refused_at_once(actor: Actor) -> None:
    await actor("open @late-dialogs")
    assert "log: status 401" in (await actor('click "Locked"')).content
    assert "the site answered with status 401" in (await actor('click "Staff rooms"')).notices
