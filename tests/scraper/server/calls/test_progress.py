"""What a waiting client is told."""

from __future__ import annotations

import asyncio
import time

import pytest
from mcp import Client

from scraper.server.calls import dispatcher
from scraper.server.calls.dispatcher import ProgressNotifier, report_progress
from tests.scraper.process import LIMIT_S, Program, until
from tests.scraper.server.wire import SLOW_TEST_ERAS, text_of

Message = tuple[float, float | None, str | None]


async def test_a_call_that_ends_quickly_sends_nothing() -> None:
    sent: list[Message] = []

    async def send(*message: float | str | None) -> None:
        sent.append(message)  # type: ignore[arg-type]

    async with report_progress(send, pace_s=600, silence_s=600) as output:
        for number in (1, 2):
            output.report(number, 2, f"step {number}")
        await asyncio.sleep(0)
    assert sent == []


async def test_only_the_last_of_many_steps_is_sent() -> None:
    sent: list[Message] = []

    async def send(*message: float | str | None) -> None:
        sent.append(message)  # type: ignore[arg-type]

    async with report_progress(send, pace_s=0.05, silence_s=600) as output:
        for number in range(100):
            output.report(number, 100, f"step {number}")
        await until(lambda: sent)
        await asyncio.sleep(0.2)
    assert sent == [(99, 100, "step 99")]


async def test_silence_repeats_the_last_state_and_every_value_grows() -> None:
    sent: list[Message] = []

    async def send(*message: float | str | None) -> None:
        sent.append(message)  # type: ignore[arg-type]

    async with report_progress(send, pace_s=0.01, silence_s=0.02) as output:
        output.report(3, 8, "reading")
        await until(lambda: len(sent) >= 3)
    values = [value for value, _, _ in sent]
    assert values == sorted(set(values))
    assert values[0] == 3
    assert values[-1] < 4
    assert {(total, words) for _, total, words in sent} == {(8, "reading")}


async def test_the_last_step_is_sent_at_the_end_and_nothing_exceeds_the_total() -> None:
    sent: list[Message] = []

    async def send(*message: float | str | None) -> None:
        sent.append(message)  # type: ignore[arg-type]

    async with report_progress(send, pace_s=0.01, silence_s=0.01) as output:
        output.report(0, 2, "reading")
        await until(lambda: len(sent) >= 2)
        output.report(2, 2, "read 2 of 2")
        await until(lambda: len(sent) >= 5)
    values = [value for value, _, _ in sent]
    assert values == sorted(set(values)) and values[-2] < 2
    assert sent[-1] == (2, 2, "read 2 of 2")


async def test_a_step_that_goes_back_never_lowers_the_value() -> None:
    output, sent = ProgressNotifier(), list[float]()

    async def send(value: float, _total: float | None, _words: str | None) -> None:
        sent.append(value)
        output.report(1, 9, "late")

    output.report(5, 9, "five")
    sending = asyncio.create_task(output.send_forever(send, pace_s=0.01, silence_s=0.01))
    await until(lambda: len(sent) >= 3)
    sending.cancel()
    await asyncio.wait({sending})
    assert sent == sorted(set(sent))


@pytest.mark.parametrize("era", SLOW_TEST_ERAS)
async def test_steps_reach_the_client_at_most_twice_a_second(server: Program, era: str) -> None:
    steps: list[Message] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        steps.append((progress, total, message))

    async with Client(server.url, mode=era) as client:
        begun = time.monotonic()
        answer = await client.call_tool("slow", {"seconds": 1.8}, progress_callback=hear)
        took_s = time.monotonic() - begun
    assert text_of(answer) == "done 18"
    assert 1 <= len(steps) <= 2 * took_s + 1  # the last step is sent at once
    assert all(total == 18 and words == f"step {value:g}" for value, total, words in steps)


@pytest.mark.slow
@pytest.mark.parametrize("era", SLOW_TEST_ERAS)
async def test_a_silent_call_repeats_its_progress(server: Program, era: str) -> None:
    # Below the five seconds that are promised.
    assert dispatcher._PACE_S + dispatcher._SILENCE_S < 5
    received = asyncio.Event()

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        received.set()

    async with Client(server.url, mode=era) as client, asyncio.TaskGroup() as tasks:
        call = tasks.create_task(
            client.call_tool("slow", {"seconds": 2 * LIMIT_S, "silent": True}, progress_callback=hear)
        )
        await asyncio.wait_for(received.wait(), LIMIT_S)
        call.cancel()


async def test_no_token_no_progress(server: Program) -> None:
    async with Client(server.url, mode="legacy") as client:
        answer = await client.call_tool("slow", {"seconds": 0.8})
        assert text_of(answer) == "done 8"


async def test_a_part_that_counts_other_steps_never_lowers_the_value() -> None:
    sent: list[Message] = []

    async def send(*message: float | str | None) -> None:
        sent.append(message)  # type: ignore[arg-type]

    async with report_progress(send, pace_s=0.01, silence_s=600) as output:
        output.report(8, None, "mapping")
        await until(lambda: sent)
        output.report(1, 1, "read a.example")
        await until(lambda: len(sent) == 2)
    assert sent == [(8, None, "mapping"), (8.5, None, "read a.example")]
