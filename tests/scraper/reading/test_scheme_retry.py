"""Tests of the second call for addresses without a scheme."""

from collections.abc import Mapping

import pytest

from scraper import errors
from scraper.call_context import Deadline
from scraper.reading.batch import read_with_other_urls

HTTPS, HTTP = "https://a.example/", "http://a.example/"
DOWN = errors.HostDownError("refused", target=HTTPS)
SLOW = errors.FetchTimeoutError("slow", target=HTTPS)
BLOCKED = errors.SiteRefusedError("blocked", target=HTTPS)


async def read(answers: Mapping[str, object], other: str = HTTP, deadline: Deadline | None = None) -> tuple[str, int]:
    """Return the URL of the chosen result and the number of calls."""
    calls: list[str] = []

    async def read_one(others: Mapping[str, str]) -> str:
        calls.append(others.get("https://a.example", HTTPS))
        return calls[-1]

    url = await read_with_other_urls(
        read_one, {"https://a.example": other}, lambda url: {url: answers.get(url)}, deadline
    )
    return url, len(calls)


@pytest.mark.parametrize(
    ("first", "second", "chosen"),
    [
        (DOWN, None, HTTP),
        (SLOW, BLOCKED, HTTP),
        (errors.RobotsUnreachableError("no robots.txt"), None, HTTP),
        (DOWN, SLOW, HTTP),
        (SLOW, SLOW, HTTP),
        (DOWN, DOWN, HTTPS),
        (SLOW, DOWN, HTTPS),
    ],
)
async def test_the_result_that_got_further_is_chosen(first: object, second: object, chosen: str) -> None:
    assert await read({HTTPS: first, HTTP: second}) == (chosen, 2)


@pytest.mark.parametrize("answer", [None, BLOCKED, errors.InternalError("fault")])
async def test_a_host_that_answered_is_not_asked_again(answer: object) -> None:
    assert await read({HTTPS: answer}) == (HTTPS, 1)


async def test_a_url_with_a_scheme_has_no_second_call() -> None:
    assert await read({HTTPS: DOWN}, other="") == (HTTPS, 1)


async def test_no_second_call_begins_at_the_deadline() -> None:
    assert await read({HTTPS: DOWN}, deadline=Deadline.within(0.5)) == (HTTPS, 1)
    assert await read({HTTPS: DOWN}, deadline=Deadline.within(60)) == (HTTP, 2)
