"""Steps wait for the answers to the requests that they caused, and break none at the end of a call."""

from __future__ import annotations

import asyncio
import re

import pytest

from tests.browsers.acting.scripts import Actor
from tests.site.acting_requests import ANSWER_TIMES_MS
from tests.site.running import Site

pytestmark = pytest.mark.browser

STILL_RUNS = ("1 request still runs; the next call shows its result",)


async def test_an_answer_is_shown_by_the_same_or_the_next_call_and_nothing_is_sent_twice(
    actor: Actor, site: Site
) -> None:
    await actor("open @answers")
    for ms in ANSWER_TIMES_MS:
        before = site.hits(f"/acting/answer?ms={ms}")
        clicked = await actor(f'click "After {ms}"')
        if f"answered after {ms}" not in clicked.content:
            assert (clicked.notices, clicked.content) == (STILL_RUNS, "")
            assert f"log: answered after {ms}" in await actor.log()
        assert site.hits(f"/acting/answer?ms={ms}") == before + 1


async def test_an_answer_that_came_between_two_calls_is_shown(actor: Actor) -> None:
    clicked = await actor("open @answers", 'click "After 4000"')
    assert clicked.notices == STILL_RUNS
    await asyncio.sleep(1.5)
    assert (await actor("wait 0")).content == '~ "log: answered after 4000"'


async def test_requests_of_all_kinds_are_awaited(actor: Actor) -> None:
    await actor("open @kinds")
    for control, shown in {
        "Xhr": "log: xhr",
        "Script": "log: script",
        "Worker": "log: worker",
        "Form": "log: form",
        "Chain": "log: chain",
        "Timer": "log: answered after 700",
        "Socket": "log: over a socket",
        "Stream": "log: over a stream",
        "Navigation": '"navigation',
    }.items():
        clicked = await actor(f'click button "{control}"')
        assert shown in clicked.content, (control, clicked)


async def test_a_request_of_a_frame_of_another_site_is_awaited(actor: Actor) -> None:
    await actor("open http://other.example/acting/answers", "open @framed-answers")
    assert "answered after 500" in (await actor('click "After 500"')).content


async def test_streams_sockets_and_long_polls_survive_the_end_of_a_call(actor: Actor, site: Site) -> None:
    paths = ("/acting/ticks", "/acting/echo")
    before = [site.hits(path) for path in paths]
    await actor("open @pushes")
    counts = [await _counts(actor)]
    for seconds in (1.0, 3.0):
        await asyncio.sleep(seconds)
        counts.append(await _counts(actor))
    assert counts == sorted(counts) and counts[0][0] < counts[1][0] < counts[2][0] and counts[0][1] < counts[2][1]
    await actor('click "Send"', "wait log: hello")
    assert [site.hits(path) for path in paths] == [count + 1 for count in before]


async def _counts(actor: Actor) -> tuple[int, int]:
    found = re.search(r"ticks: (\d+).*polls: (\d+)", (await actor("look ticks")).content, re.DOTALL)
    assert found is not None
    return int(found[1]), int(found[2])
