"""Steps wait for the answers to the requests that they caused."""

from __future__ import annotations

import pytest

from tests.browsers.acting.scripts import Actor

pytestmark = pytest.mark.browser


async def test_a_step_shows_the_answer_to_the_request_that_it_sent(actor: Actor) -> None:
    await actor("open @answers")
    assert (await actor('click "After 1000"')).content == '~ "log: answered after 1000"'
