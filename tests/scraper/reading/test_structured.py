"""The structured data service: block pages, pages that break the extraction, responses that are no pages."""

from __future__ import annotations

from typing import Any

import pytest

from browsers.model import Snapshot
from scraper import errors
from scraper.call_context import Deadline, ProgressCallback
from scraper.extract import worker_jobs
from scraper.model import Document, StructuredData, Verdict, VerdictKind
from scraper.reading.fields import StructuredReader
from scraper.reading.response_reader import VisitResult
from scraper.reading.visit_outcome import VisitJob
from scraper.workers import WorkerTimeoutError

URL = "https://shop.example/kettle"
LD = '<script type="application/ld+json">{"@type": "Product", "name": "Kettle"}</script>'


class Visitor:
    """Fake visitor: return the same page each time, with a fixed verdict."""

    def __init__(self, html: str, verdict: Verdict | None = None, text: str = "Words.", **more: Any) -> None:
        self.jobs: list[VisitJob] = []
        page: dict[str, Any] = {"status": 200, "media_type": "text/html", "html": html, "rendered": True}
        self._snapshot = Snapshot(URL, URL, **(page | more))
        self._document = Document(URL, markdown=text, text=text, verdict=verdict or Verdict())

    async def visit(self, job: VisitJob, deadline: Deadline, progress: ProgressCallback) -> VisitResult:
        self.jobs.append(job)
        return VisitResult(self._snapshot, self._document)


class Here:
    """Fake worker pool that runs in this process; the functions in `fail` time out."""

    def __init__(self, *, fail: tuple[object, ...] = ()) -> None:
        self._fail = fail

    async def run(self, work: Any, snapshot: Snapshot, **limits: float) -> StructuredData:
        assert snapshot.body == b"" and limits["limit_s"] > 0
        if work in self._fail:
            raise WorkerTimeoutError("it took longer than 5 s")
        found: StructuredData = work(snapshot)
        return found


async def read(visitor: Visitor, workers: Here | None = None) -> StructuredData:
    reader = StructuredReader(visitor, workers or Here())  # type: ignore[arg-type]
    return await reader.extract(URL, principal="ann", deadline_s=5)


def blocked(reason: str) -> Verdict:
    return Verdict(VerdictKind.BLOCKED, reason)


async def test_the_page_is_rendered_and_its_json_responses_are_captured() -> None:
    visitor = Visitor(LD)
    await read(visitor)
    assert visitor.jobs == [VisitJob(URL, "browser", "ann", json_responses=True)]


@pytest.mark.parametrize("reason", ["captcha", "challenge", "denied", "rate_limit"])
async def test_a_block_page_with_data_is_an_error(reason: str) -> None:
    with pytest.raises(errors.BlockedBySiteError):
        await read(Visitor(LD, blocked(reason)))


@pytest.mark.parametrize("reason", ["consent", "login"])
async def test_data_of_a_page_with_a_dialog_has_a_warning(reason: str) -> None:
    found = await read(Visitor(LD, blocked(reason)))
    assert found.json_ld[0]["name"] == "Kettle"
    assert "behind it" in found.warnings[0]
    with pytest.raises(errors.BlockedBySiteError):
        await read(Visitor("<p>Sign in</p>", blocked(reason)))


async def test_a_page_without_text_gives_its_data_or_an_error() -> None:
    assert (await read(Visitor(LD, text=""))).json_ld
    with pytest.raises(errors.NoContentError):
        await read(Visitor("<p></p>", text=""))


async def test_an_error_page_with_data_is_an_error() -> None:
    with pytest.raises(errors.HttpStatusError):
        await read(Visitor(LD, status=404))


async def test_files_and_text_are_not_pages() -> None:
    with pytest.raises(errors.UnsupportedTypeError, match=r"application/pdf"):
        await read(Visitor("", media_type="application/pdf", rendered=False, body=b"%PDF-1.7"))
    with pytest.raises(errors.UnsupportedTypeError, match=r"sent application/json, not a page"):
        await read(Visitor('{"a": 1}', media_type="application/json", rendered=False))


async def test_a_page_that_takes_too_long_gives_the_simple_part_with_a_warning() -> None:
    found = await read(Visitor(LD), Here(fail=(worker_jobs.extract_structured,)))
    assert found.json_ld and "too complex" in found.warnings[0]


async def test_a_page_that_crashes_both_readers_is_an_error() -> None:
    with pytest.raises(errors.ContentTooLargeError, match=r"could not be read"):
        await read(Visitor(LD), Here(fail=(worker_jobs.extract_structured, worker_jobs.extract_basic_structured)))
