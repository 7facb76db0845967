"""What goes wrong in a tool becomes an answer; nothing but cancellation leaves it."""

from __future__ import annotations

import asyncio
import re
from typing import Any, cast

import pytest

from scraper import errors
from scraper.services import Services
from scraper.tools.model import BoundTool, Parameter, Parameters, ToolAnswer, ToolCall, new_region
from scraper.values.types import StringValue

PARAMETERS = Parameters(Parameter("url", StringValue(), "Where.", required=True))
NO_APP = cast(Services, None)


async def answer(fault: BaseException | None, arguments: dict[str, Any] | None = None) -> ToolAnswer:
    async def work(app: Services, given: dict[str, Any], call: ToolCall) -> ToolAnswer:
        if fault is not None:
            raise fault
        return ToolAnswer(f"read {given['url']}")

    given = {"url": "u"} if arguments is None else arguments
    return await BoundTool("fetch", PARAMETERS, work)(NO_APP, given, ToolCall())


async def test_an_answer_goes_through() -> None:
    assert await answer(None) == ToolAnswer("read u")


async def test_an_error_of_ours_is_its_sentence_with_the_next_step() -> None:
    output = await answer(errors.NoContentError("Nothing there.", next_step="Try another one."))
    assert output == ToolAnswer("Nothing there. Try another one.", is_error=True)


async def test_wrong_arguments_are_an_answer_that_teaches() -> None:
    output = await answer(None, {"ulr": "u"})
    assert output.is_error and 'did you mean "url"?' in output.text


async def test_a_busy_server_returns_a_retry_time() -> None:
    output = await answer(errors.OverloadedError("Too many pages are being read.", retry_after_s=4))
    assert output.text == "Too many pages are being read. Try again in 4 s."


async def test_an_error_stays_below_a_thousand_characters() -> None:
    assert len((await answer(errors.NoContentError("x" * 5_000, next_step="Try another one."))).text) < 1_000


async def test_an_unexpected_error_is_logged_with_a_number_and_not_shown(caplog: pytest.LogCaptureFixture) -> None:
    output = await answer(RuntimeError("password=geheim"))
    assert output.is_error and "geheim" not in output.text
    found = re.match(r"Internal error ([0-9a-f]{8}): ", output.text)
    assert found
    (record,) = [record for record in caplog.records if found[1] in record.getMessage()]
    assert record.exc_info and "geheim" in str(record.exc_info[1])


async def test_cancellation_is_not_an_answer() -> None:
    with pytest.raises(asyncio.CancelledError):
        await answer(asyncio.CancelledError())


def test_the_marks_of_an_answer_cannot_be_known_from_another() -> None:
    regions = {new_region() for _ in range(100)}
    assert len(regions) == 100
    assert all(re.fullmatch("[0-9a-f]{8}", region) for region in regions)
