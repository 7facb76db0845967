"""One page of a job: the request to the fetcher, and the output row of its result."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

import pytest

from browsers.model import Snapshot, Timing
from scraper import errors
from scraper.bulk.model import Format, JobPage, JobRate, JobSpec
from scraper.bulk.page_reader import JobPageReader
from scraper.extract import worker_jobs
from scraper.facts import structured
from scraper.facts.fields import extraction
from scraper.facts.fields.model import FieldRequest
from scraper.model import CachePolicy, Document, Reading, ReadRequest, Reuse
from scraper.reading.fetcher import Fetcher
from scraper.reading.response_reader import VisitResult
from scraper.workers import WorkerPool

URL = "http://a.example/page"
PAGE = JobPage(1, URL, "a.example")
SNAPSHOT = Snapshot(URL, URL, 200, media_type="text/html", html="<p>Words.", timing=Timing(response_s=1.0, total_s=3.0))


class FakeFetcher:
    """Return a prepared answer and record the arguments."""

    def __init__(self, answer: Reading | BaseException, snapshot: Snapshot | None = None) -> None:
        self.request: ReadRequest | None = None
        self._answer = answer
        self._snapshot = snapshot

    def gap_s(self, url: str) -> float | None:
        return 7.5 if url == URL else None

    async def fetch(self, request: ReadRequest, *, on_visit: Callable[[VisitResult], None]) -> Reading:
        self.request = request
        if self._snapshot is not None:
            on_visit(VisitResult(self._snapshot, Document(URL)))
        if isinstance(self._answer, BaseException):
            raise self._answer
        return self._answer


def reading(*, cached: bool = False) -> Reading:
    document = Document(URL, title="Title", text="Words.", markdown="Words.")
    return Reading(document, URL, URL, 200, "http", cached, datetime(2026, 5, 1, tzinfo=UTC))


def reader_of(fetcher: FakeFetcher, *, keep_snapshots: bool = False) -> JobPageReader:
    spec = JobSpec("urls.txt", Path("out"), Format.JSONL, JobRate(), render="http", max_age_s=60.0, deadline_s=7.0)
    return JobPageReader(cast(Fetcher, fetcher), cast(WorkerPool, None), spec, keep_snapshots=keep_snapshots)


@pytest.mark.parametrize("keep_snapshots", [True, False])
async def test_a_page_is_visited_despite_the_cache_if_its_response_is_stored(keep_snapshots: bool) -> None:
    fetcher = FakeFetcher(reading(), SNAPSHOT)
    read = await reader_of(fetcher, keep_snapshots=keep_snapshots).read(PAGE)
    reuse = Reuse.NONE if keep_snapshots else Reuse.STORED
    assert fetcher.request == ReadRequest(
        URL, render="http", cache=CachePolicy(60.0, reuse), deadline_s=7.0, batch=None, is_bulk=True
    )
    assert (read.outcome.snapshot is SNAPSHOT) == keep_snapshots
    assert (await read.get_outcome()).row.json_ld == ()


async def test_pages_of_one_host_are_requested_as_a_batch() -> None:
    fetcher = FakeFetcher(reading(), SNAPSHOT)
    reader = reader_of(fetcher)
    batches = []
    for number in range(2):
        await reader.read(dataclasses.replace(PAGE, number=number, is_batched=True))
        assert fetcher.request is not None
        batches.append(fetcher.request.batch)
    assert batches[0] == batches[1] and isinstance(batches[0], str)


async def test_the_request_time_is_that_of_the_response_start() -> None:
    before = time.monotonic()
    read = await reader_of(FakeFetcher(reading(), SNAPSHOT)).read(PAGE)
    assert read.requested_at is not None
    assert before - 2.0 <= read.requested_at <= time.monotonic() - 2.0


async def test_a_cached_page_has_no_request_time_and_no_json_ld() -> None:
    read = await reader_of(FakeFetcher(reading(cached=True))).read(PAGE)
    assert read.requested_at is None and read.outcome.cached and (await read.get_outcome()).row.json_ld is None


@pytest.mark.parametrize(
    ("error", "asked"),
    [
        (errors.FetchTimeoutError("It took too long."), True),
        (errors.RobotsDisallowedError("Its robots.txt said no."), False),
        (errors.OverloadedError("Full.", retry_after_s=1.0), False),
    ],
)
async def test_a_failed_page_has_a_request_time(error: errors.ScraperError, asked: bool) -> None:
    read = await reader_of(FakeFetcher(error)).read(PAGE)
    assert read.error is error and read.outcome.code == error.code
    assert (read.requested_at is not None) == asked
    assert read.gap_s == 7.5


async def test_the_gap_of_the_host_is_in_each_result() -> None:
    assert (await reader_of(FakeFetcher(reading(), SNAPSHOT)).read(PAGE)).gap_s == 7.5
    elsewhere = JobPage(2, "http://b.example/", "b.example")
    assert (await reader_of(FakeFetcher(reading(), SNAPSHOT)).read(elsewhere)).gap_s is None


class InlineWorkers:
    """Fake workers that run the function in this process."""

    async def run(self, read: Callable[[Any], Any], argument: Any, **limits: float) -> Any:
        return read(argument)


LAMP = "<body><nav>Home</nav><h1>Lamp</h1><p class=price>Now $7.00</p><p>Sent within two days.</p></body>"
ARTICLE = "<body><article>" + "".join(f"<p>Words about the sea, part {n}.</p>" for n in range(9)) + "</article></body>"


def recipe_of(html: str, **example: str) -> str:
    (found,) = extraction.extract([dataclasses.replace(SNAPSHOT, html=html)], FieldRequest(example=example))
    return found.recipe


def reader_with_recipe(fetcher: FakeFetcher, workers: object) -> JobPageReader:
    spec = JobSpec("urls.txt", Path("out"), Format.CSV, JobRate(), recipe=recipe_of(LAMP, name="Lamp", price="$7.00"))
    return JobPageReader(cast(Fetcher, fetcher), cast(WorkerPool, workers), spec, keep_snapshots=False)


async def test_the_fields_of_a_recipe_are_read_from_a_page_that_is_always_visited() -> None:
    kettle = LAMP.replace("Lamp", "Kettle").replace("$7.00", "$49.90")
    fetcher = FakeFetcher(reading(), dataclasses.replace(SNAPSHOT, html=kettle))
    outcome = await (await reader_with_recipe(fetcher, InlineWorkers()).read(PAGE)).get_outcome()
    assert fetcher.request is not None and fetcher.request.cache.reuse is Reuse.NONE
    assert outcome.row.fields == {"name": "Kettle", "price": "$49.90"} and outcome.row.error is None
    assert outcome.row.confidence == {"name": 0.99, "price": 0.99} and outcome.snapshot is None


@pytest.mark.parametrize(
    ("snapshot", "code"),
    [
        (dataclasses.replace(SNAPSHOT, url="http://b.example/", html=ARTICLE), "recipe_does_not_fit"),
        (dataclasses.replace(SNAPSHOT, media_type="application/pdf"), "unsupported_type"),
    ],
)
async def test_a_page_without_the_fields_keeps_its_text_and_has_an_error(snapshot: Snapshot, code: str) -> None:
    read = await reader_with_recipe(FakeFetcher(reading(), snapshot), InlineWorkers()).read(PAGE)
    outcome = await read.get_outcome()
    assert outcome.code == code and outcome.row.fields is None and outcome.row.markdown == "Words."


async def test_a_crash_on_fields_affects_only_its_page() -> None:
    read = await reader_with_recipe(FakeFetcher(reading(), SNAPSHOT), BrokenWorkers()).read(PAGE)
    outcome = await read.get_outcome()
    assert outcome.code == "internal" and outcome.row.json_ld == ()


class BrokenWorkers:
    """Fake workers that raise an unexpected exception."""

    async def run(self, *_: object, **__: object) -> None:
        raise ZeroDivisionError


@pytest.mark.parametrize("html", ["<p>Words.", '<script type="application/ld+json">{"@type": "Thing"}</script>'])
def test_a_crash_on_json_ld_affects_only_this_field(html: str, monkeypatch: pytest.MonkeyPatch) -> None:
    snapshot = dataclasses.replace(SNAPSHOT, html=f"<p>Words. <a href=/x>x</a>{html}")
    assert worker_jobs.read_for_job(snapshot)[2] == (({"@type": "Thing"},) if "ld+json" in html else ())
    monkeypatch.setattr(structured, "JsonBounder", lambda _: 1 / 0)
    document, outlinks, json_ld = worker_jobs.read_for_job(snapshot)
    assert json_ld is None and "Words." in document.markdown and len(outlinks.links) == 1


async def test_an_internal_error_affects_only_its_page() -> None:
    read = await reader_of(FakeFetcher(ZeroDivisionError("a secret"))).read(PAGE)
    assert read.outcome.code == "internal" and read.outcome.row.error is not None
    assert "secret" not in read.outcome.row.error.message


async def test_an_invalid_line_causes_no_request() -> None:
    fetcher = FakeFetcher(reading())
    read = await reader_of(fetcher).read(JobPage(1, "no url", "", "It is no URL."))
    assert (read.outcome.code, read.requested_at, fetcher.request) == ("bad_url", None, None)
