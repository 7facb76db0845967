"""Reading real pages through a real browser."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from browsers import Browsers
from browsers.model import Tier
from scraper import errors
from scraper.model import REFRESH, Reading, ReadRequest
from scraper.reading.fetcher import Fetcher
from tests.scraper.process import until
from tests.site.running import Site

pytestmark = pytest.mark.browser


async def told(fetcher: Fetcher, url: str, **options: Any) -> errors.ScraperError:
    with pytest.raises(errors.ScraperError) as caught:
        await fetcher.fetch(ReadRequest(url, **options))
    return caught.value


def marks(reading: Reading, name: str) -> int:
    return sum(f"MARK-{name}-{number}" in reading.document.markdown for number in range(100))


async def test_a_plain_page_is_read_as_served(fetcher: Fetcher, site: Site) -> None:
    reading = await fetcher.fetch(ReadRequest(site.url("/static/71")))
    assert (reading.method, reading.status, reading.warnings, marks(reading, "static")) == ("http", 200, (), 60)


async def test_a_page_of_scripts_is_rendered_with_one_request_for_it(fetcher: Fetcher, site: Site) -> None:
    reading = await fetcher.fetch(ReadRequest(site.url("/spa/71")))
    assert (reading.method, marks(reading, "spa")) == ("browser", 60)
    assert site.hits("/spa/71") == 1


async def test_a_script_page_as_served_has_a_warning(fetcher: Fetcher, site: Site) -> None:
    reading = await fetcher.fetch(ReadRequest(site.url("/spa/72"), render="http"))
    assert reading.method == "http" and marks(reading, "spa") == 0
    assert "almost no text without its scripts" in reading.warnings[0]


async def test_a_page_that_was_read_is_not_requested_again(fetcher: Fetcher, site: Site) -> None:
    url = site.url("/static/73")
    first, second = await fetcher.fetch(ReadRequest(url)), await fetcher.fetch(ReadRequest(url))
    assert second.cached and second.document == first.document
    assert site.hits("/static/73") == 1
    assert not (await fetcher.fetch(ReadRequest(url, cache=REFRESH))).cached
    assert site.hits("/static/73") == 2


async def test_five_concurrent_callers_of_one_page_cause_one_request(fetcher: Fetcher, site: Site) -> None:
    readings = await asyncio.gather(*(fetcher.fetch(ReadRequest(site.url("/spa/74"))) for _ in range(5)))
    assert {marks(reading, "spa") for reading in readings} == {60}
    assert site.hits("/spa/74") == 1


async def test_cancellation_releases_the_tab_at_once(fetcher: Fetcher, browsers: Browsers, site: Site) -> None:
    task = asyncio.create_task(fetcher.fetch(ReadRequest(site.url("/stalls?key=cancelled"), deadline_s=600)))
    await until(lambda: site.hits("/stalls?key=cancelled"))
    task.cancel()
    # One second is the guarantee; the rest is a margin for a busy machine, far below the visit's deadline.
    async with asyncio.timeout(60):
        with pytest.raises(asyncio.CancelledError):
            await task
    assert fetcher.in_flight == 0 and browsers.status().active == 0


async def test_a_redirect_to_a_private_address_is_refused_and_not_retried(fetcher: Fetcher, site: Site) -> None:
    before = site.hits("/redirect-private")
    error = await told(fetcher, site.url("/redirect-private"))
    assert isinstance(error, errors.PrivateAddressError) and "10.0.0.1" not in error.sentence()
    assert site.hits("/redirect-private") == before + 1


async def test_a_block_page_is_retried_once_with_the_full_browser(fetcher: Fetcher, site: Site) -> None:
    before = site.hits("/wall/forbidden")
    error = await told(fetcher, site.url("/wall/forbidden"))
    assert isinstance(error, errors.BlockedBySiteError) and error.reason == "denied"
    assert site.hits("/wall/forbidden") == before + 2


async def test_a_rate_limited_site_is_requested_once_and_its_pause_is_reported(fetcher: Fetcher, site: Site) -> None:
    before = site.hits("/wall/too-many")
    # A separate host, because it has a cooldown after this.
    error = await told(fetcher, site.url("/wall/too-many", "host9.example"))
    assert error.sentence().endswith("The site asks to try again in 7 s.")
    assert error.retryable
    assert site.hits("/wall/too-many") == before + 1


async def test_a_browser_check_that_clears_itself_is_waited_for(fetcher: Fetcher, site: Site) -> None:
    reading = await fetcher.fetch(ReadRequest(site.url("/challenge")))
    assert reading.status == 200 and marks(reading, "challenge") == 10


async def test_the_error_for_a_document_names_read_doc(fetcher: Fetcher, site: Site) -> None:
    assert "`read_doc`" in (await told(fetcher, site.url("/download-pdf"))).sentence()


async def test_a_silent_site_is_a_timeout(fetcher: Fetcher, site: Site) -> None:
    async with asyncio.timeout(60):
        assert isinstance(await told(fetcher, site.url("/api/hang"), deadline_s=3), errors.FetchTimeoutError)


async def test_a_page_that_never_stops_changing_is_read(fetcher: Fetcher, site: Site) -> None:
    reading = await fetcher.fetch(ReadRequest(site.url("/clock"), render="browser", deadline_s=120))
    assert marks(reading, "clock") == 10


async def test_a_mixed_batch_keeps_its_order(fetcher: Fetcher, site: Site) -> None:
    urls = [
        site.url("/static/75"),
        site.url("/status/404"),
        "how to bake bread",
        site.url("/spa/75", host="host1.example"),
        site.url("/redirect-private"),
        site.url("/static/75"),
    ]
    outcomes = await fetcher.fetch_batch(urls, deadline_s=240)
    kinds = [type(outcome) for outcome in outcomes]
    assert kinds == [
        Reading,
        errors.HttpStatusError,
        errors.InvalidUrlError,
        Reading,
        errors.PrivateAddressError,
        Reading,
    ]
    assert site.hits("/static/75") == 1


@pytest.mark.thorough
async def test_a_page_that_crashes_its_reader_does_not_affect_its_batch(fetcher: Fetcher, site: Site) -> None:
    paths = ("/static/79", "/nested/100000", "/attributes/500000", "/bad-gzip", "/static/80")
    outcomes = await fetcher.fetch_batch([site.url(path) for path in paths], deadline_s=240)
    kinds = [type(outcome) for outcome in outcomes]
    assert kinds == [Reading, Reading, Reading, errors.MalformedDocumentError, Reading]
    whole = [outcome for outcome in (outcomes[0], outcomes[-1]) if isinstance(outcome, Reading)]
    assert [reading.document.degraded for reading in whole] == [False, False]


@pytest.mark.parametrize(("path", "render"), [("/bad-gzip", "auto"), ("/bad-gzip", "browser"), ("/bad-chunks", "http")])
async def test_a_body_that_cannot_be_decoded_is_malformed(fetcher: Fetcher, site: Site, path: str, render: str) -> None:
    error = await told(fetcher, site.url(path), render=render, deadline_s=120)
    assert isinstance(error, errors.MalformedDocumentError)
    assert "cannot be decoded" in str(error)


@pytest.mark.parametrize("render", ["auto", "browser"])
async def test_a_password_form_is_a_login_in_both_browsers(fetcher: Fetcher, site: Site, render: str) -> None:
    fetcher.visitor._usual_tier = Tier.FULL
    error = await told(fetcher, site.url("/wall/unauthorized"), render=render, deadline_s=120)
    assert isinstance(error, errors.BlockedBySiteError)
    assert error.reason == "login"


async def test_a_batch_returns_finished_pages_at_the_deadline(fetcher: Fetcher, site: Site) -> None:
    urls = [site.url("/static/76"), site.url("/api/hang"), site.url("/static/77")]
    # Start browser and workers first, so that the batch spends no time on them.
    await fetcher.fetch(ReadRequest(site.url("/static/70"), deadline_s=120))
    first, late, third = await fetcher.fetch_batch(urls, deadline_s=10)
    assert isinstance(first, Reading) and isinstance(third, Reading)
    assert isinstance(late, errors.FetchTimeoutError)


async def test_pages_are_not_shared_between_principals(fetcher: Fetcher, site: Site) -> None:
    url = site.url("/static/78")
    await fetcher.fetch(ReadRequest(url, principal="anna"))
    assert not (await fetcher.fetch(ReadRequest(url, principal="bert"))).cached
