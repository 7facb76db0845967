"""Errors of the fetcher for pages that cannot be read, and its retries."""

from __future__ import annotations

import pytest

from browsers import errors as door_errors
from browsers.model import Request
from scraper import errors
from scraper.reading.visitor import READ_RESERVE_S
from scraper.workers import NoWorkerError, WorkerFailedError
from tests.scraper.reading.house import House, refuse
from tests.scraper.reading.standins import SHELL, ScriptedDoor, for_ever


class TestFaults:
    async def test_a_refusal_is_told_and_never_tried_another_way(self) -> None:
        house = House()
        house.door.before = refuse
        assert isinstance(await house.error(), errors.PrivateAddressError)
        assert len(house.door.requests) == 1

    async def test_a_refusal_while_rendering_does_not_fall_back_to_the_page_as_served(self) -> None:
        house = House(ScriptedDoor(SHELL))
        house.door.while_rendering = refuse
        assert isinstance(await house.error(), errors.PrivateAddressError)

    @pytest.mark.parametrize(
        "fault",
        [
            door_errors.DeadlineExceededError("Late."),
            door_errors.PageCrashedError("Crashed."),
            door_errors.BrowserGoneError("Gone."),
            door_errors.BusyError("Full.", retry_after_s=3),
        ],
    )
    async def test_where_rendering_fails_the_page_as_served_is_given_with_a_warning(
        self, fault: door_errors.BrowsersError
    ) -> None:
        async def fail(request: Request) -> None:
            raise fault

        house = House(ScriptedDoor(SHELL))
        house.door.while_rendering = fail
        reading = await house.read()
        assert (reading.document.text, reading.method) == ("THIN", "http")
        assert "could not be rendered" in reading.warnings[0]
        assert house.pages.entries == {}

    async def test_where_rendering_fails_and_nothing_was_served_the_fault_is_told(self) -> None:
        async def crash(request: Request) -> None:
            raise door_errors.PageCrashedError("Crashed.")

        house = House(ScriptedDoor("<p>BLANK</p>"))
        house.door.while_rendering = crash
        assert isinstance(await house.error(), errors.BrowserFailedError)

    async def test_a_page_that_was_rendered_to_nothing_is_given_as_served(self) -> None:
        reading = await House(ScriptedDoor(SHELL, "")).read()
        assert reading.document.text == "THIN" and "could not be rendered" in reading.warnings[0]

    async def test_a_page_that_came_to_nothing_at_all_is_late_or_empty_but_no_file(self) -> None:
        house = House(ScriptedDoor("<p>BLANK</p>", ""))
        assert isinstance(await house.error(), errors.NoContentError)

    async def test_a_visit_that_hangs_ends_at_the_deadline_with_what_was_served(self) -> None:
        house = House(ScriptedDoor(SHELL))
        house.door.while_rendering = for_ever
        reading = await house.read(deadline_s=2)
        assert reading.document.text == "THIN" and reading.warnings
        assert house.door.open == 0

    async def test_a_visit_that_hangs_without_an_answer_is_said_to_be_late(self) -> None:
        house = House()
        house.door.before = for_ever
        error = await house.error(deadline_s=0.2)
        assert isinstance(error, errors.FetchTimeoutError) and error.retryable
        assert house.door.open == 0

    async def test_the_visit_is_given_less_time_than_the_call(self) -> None:
        house = House()
        await house.read(deadline_s=50)
        assert 45 < house.door.requests[0].deadline_s <= 50 - READ_RESERVE_S

    async def test_a_reader_that_fails_on_the_page_as_served_means_not_enough(self) -> None:
        house = House()

        async def mend(request: Request) -> None:
            house.workers.failing = None

        house.workers.failing = WorkerFailedError("took too long")
        house.door.while_rendering = mend
        assert await house.text() == "Rendered."

    async def test_a_reader_that_fails_on_the_rendered_page_leaves_the_page_as_served(self) -> None:
        house = House(ScriptedDoor(SHELL))

        async def break_it(request: Request) -> None:
            house.workers.failing = WorkerFailedError("took too long")

        house.door.while_rendering = break_it
        reading = await house.read()
        assert reading.document.text == "THIN" and reading.warnings

    async def test_a_reader_that_always_fails_is_told_with_its_reason(self) -> None:
        house = House()
        house.workers.failing = WorkerFailedError("took too long")
        error = await house.error()
        assert isinstance(error, errors.ContentTooLargeError) and "took too long" in str(error)

    async def test_why_a_page_is_read_the_plain_way_stands_in_the_line_that_a_person_reads(
        self, caplog: pytest.LogCaptureFixture
    ) -> None:
        house = House()
        house.workers.failing = WorkerFailedError("took too long")
        with caplog.at_level("WARNING", "scraper.reading.visitor"):
            await house.error()
        (told,) = set(caplog.messages)
        assert told == "a page of example.org is read by the fallback reader: took too long"

    async def test_that_nobody_can_read_is_no_fault_of_the_page(self) -> None:
        house = House()
        house.workers.failing = NoWorkerError("no worker process can be started")
        error = await house.error()
        assert isinstance(error, errors.BrowserFailedError) and error.retryable


class TestPatience:
    @pytest.fixture(autouse=True)
    def _short_pauses(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("scraper.reading.outcome.PAUSE_S", 0.01)

    async def test_a_failing_site_is_asked_once_more(self) -> None:
        house = House(ScriptedDoor(status=503))
        assert isinstance(await house.error(), errors.HttpStatusError)
        assert len(house.door.requests) == 2

    async def test_a_site_that_recovers_is_read(self) -> None:
        house = House(ScriptedDoor(status=503))

        async def recover(request: Request) -> None:
            if len(house.door.requests) == 2:
                house.door._more = {}

        house.door.before = recover
        assert await house.text() == "Served."

    @pytest.mark.parametrize("status", [404, 410, 401, 429])
    async def test_where_asking_again_does_not_help_nobody_is_asked_again(self, status: int) -> None:
        house = House(ScriptedDoor(status=status))
        await house.error()
        assert len(house.door.requests) == 1

    async def test_a_site_that_asks_for_a_short_pause_gets_it(self) -> None:
        house = House(ScriptedDoor(status=429, headers={"retry-after": "0"}))
        await house.error()
        assert len(house.door.requests) == 2

    async def test_a_site_that_asks_for_a_long_pause_is_left_to_the_caller(self) -> None:
        house = House(ScriptedDoor(status=429, headers={"retry-after": "60"}))
        assert "60 s" in (await house.error()).sentence()
        assert len(house.door.requests) == 1
