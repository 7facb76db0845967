"""Errors of the fetcher for pages that cannot be read, and its retries."""

from __future__ import annotations

import pytest

from browsers import errors as browser_errors
from browsers.model import Request
from scraper import errors
from scraper.reading import visit_outcome
from scraper.reading.visitor import READ_RESERVE_S
from scraper.workers import NoWorkerError, WorkerFailedError
from tests.scraper.reading.fakes import SHELL, ScriptedBrowsers, for_ever
from tests.scraper.reading.harness import Harness, refuse


class TestFaults:
    async def test_a_refused_url_is_reported_and_not_retried(self) -> None:
        harness = Harness()
        harness.client.before = refuse
        assert isinstance(await harness.error(), errors.PrivateAddressError)
        assert len(harness.client.requests) == 1

    async def test_a_url_refused_during_rendering_does_not_fall_back_to_the_page_as_served(self) -> None:
        harness = Harness(ScriptedBrowsers(SHELL))
        harness.client.while_rendering = refuse
        assert isinstance(await harness.error(), errors.PrivateAddressError)

    @pytest.mark.parametrize(
        "fault",
        [
            browser_errors.DeadlineExceededError("Late."),
            browser_errors.PageCrashedError("Crashed."),
            browser_errors.BrowserGoneError("Gone."),
            browser_errors.BusyError("Full.", retry_after_s=3),
        ],
    )
    async def test_the_page_as_served_is_returned_with_a_warning_if_rendering_fails(
        self, fault: browser_errors.BrowsersError
    ) -> None:
        async def fail(request: Request) -> None:
            raise fault

        harness = Harness(ScriptedBrowsers(SHELL))
        harness.client.while_rendering = fail
        reading = await harness.read()
        assert (reading.document.text, reading.method) == ("THIN", "http")
        assert "could not be rendered" in reading.warnings[0]
        assert harness.pages.entries == {}

    async def test_the_error_is_raised_if_rendering_fails_without_a_page_as_served(self) -> None:
        async def crash(request: Request) -> None:
            raise browser_errors.PageCrashedError("Crashed.")

        harness = Harness(ScriptedBrowsers("<p>BLANK</p>"))
        harness.client.while_rendering = crash
        assert isinstance(await harness.error(), errors.BrowserFailedError)

    async def test_a_page_that_renders_to_nothing_is_returned_as_served(self) -> None:
        reading = await Harness(ScriptedBrowsers(SHELL, "")).read()
        assert reading.document.text == "THIN" and "could not be rendered" in reading.warnings[0]

    async def test_a_page_without_any_content_is_a_timeout_or_empty(self) -> None:
        harness = Harness(ScriptedBrowsers("<p>BLANK</p>", ""))
        assert isinstance(await harness.error(), errors.NoContentError)

    async def test_a_hanging_visit_ends_at_the_deadline_with_the_page_as_served(self) -> None:
        harness = Harness(ScriptedBrowsers(SHELL))
        harness.client.while_rendering = for_ever
        reading = await harness.read(deadline_s=2)
        assert reading.document.text == "THIN" and reading.warnings
        assert harness.client.open == 0

    async def test_a_hanging_visit_without_a_response_is_a_timeout(self) -> None:
        harness = Harness()
        harness.client.before = for_ever
        error = await harness.error(deadline_s=0.2)
        assert isinstance(error, errors.FetchTimeoutError) and error.retryable
        assert harness.client.open == 0

    async def test_the_visit_gets_less_time_than_the_call(self) -> None:
        harness = Harness()
        await harness.read(deadline_s=50)
        assert 45 < harness.client.requests[0].deadline_s <= 50 - READ_RESERVE_S

    async def test_a_page_is_rendered_if_the_reader_fails_on_it_as_served(self) -> None:
        harness = Harness()

        async def mend(request: Request) -> None:
            harness.workers.failing = None

        harness.workers.failing = WorkerFailedError("took too long")
        harness.client.while_rendering = mend
        assert await harness.text() == "Rendered."

    async def test_the_page_as_served_is_returned_if_the_reader_fails_on_the_rendered_page(self) -> None:
        harness = Harness(ScriptedBrowsers(SHELL))

        async def break_it(request: Request) -> None:
            harness.workers.failing = WorkerFailedError("took too long")

        harness.client.while_rendering = break_it
        reading = await harness.read()
        assert reading.document.text == "THIN" and reading.warnings

    async def test_a_failing_reader_is_reported_with_its_reason(self) -> None:
        harness = Harness()
        harness.workers.failing = WorkerFailedError("took too long")
        error = await harness.error()
        assert isinstance(error, errors.ContentTooLargeError) and "took too long" in str(error)

    async def test_the_log_names_the_reason_for_the_fallback_reader(self, caplog: pytest.LogCaptureFixture) -> None:
        harness = Harness()
        harness.workers.failing = WorkerFailedError("took too long")
        with caplog.at_level("WARNING", "scraper.reading.response_reader"):
            await harness.error()
        (told,) = set(caplog.messages)
        assert told == "a page of example.org is read by the fallback reader: took too long"

    async def test_a_missing_worker_is_not_an_error_of_the_page(self) -> None:
        harness = Harness()
        harness.workers.failing = NoWorkerError("no worker process can be started")
        error = await harness.error()
        assert isinstance(error, errors.BrowserFailedError) and error.retryable


class TestPatience:
    @pytest.fixture(autouse=True)
    def _short_pauses(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(visit_outcome, "PAUSE_S", 0.01)

    async def test_a_failing_site_is_retried_once(self) -> None:
        harness = Harness(ScriptedBrowsers(status=503))
        assert isinstance(await harness.error(), errors.HttpStatusError)
        assert len(harness.client.requests) == 2

    async def test_a_site_that_recovers_is_read(self) -> None:
        harness = Harness(ScriptedBrowsers(status=503))

        async def recover(request: Request) -> None:
            if len(harness.client.requests) == 2:
                harness.client._more = {}

        harness.client.before = recover
        assert await harness.text() == "Served."

    @pytest.mark.parametrize("status", [404, 410, 401, 429])
    async def test_permanent_errors_are_not_retried(self, status: int) -> None:
        harness = Harness(ScriptedBrowsers(status=status))
        await harness.error()
        assert len(harness.client.requests) == 1

    async def test_a_short_retry_after_is_waited_for(self) -> None:
        harness = Harness(ScriptedBrowsers(status=429, headers={"retry-after": "0"}))
        await harness.error()
        assert len(harness.client.requests) == 2

    async def test_a_long_retry_after_is_left_to_the_caller(self) -> None:
        harness = Harness(ScriptedBrowsers(status=429, headers={"retry-after": "60"}))
        assert "60 s" in (await harness.error()).sentence()
        assert len(harness.client.requests) == 1
