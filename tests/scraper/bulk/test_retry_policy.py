"""Retries of pages, pauses before them, and hosts that are given up."""

from __future__ import annotations

import pytest

from scraper import errors
from scraper.bulk.model import JobPage
from scraper.bulk.page_dispatcher import (
    BROWSER_TRIES,
    BUSY_TRIES,
    DEAD_AFTER,
    FUTILE_RETRIES,
    FUTILE_SAMPLE,
    SILENT_NAME_PAUSE_S,
    SILENT_NAME_TRIES,
    SILENT_ROBOTS,
    SITE_PAUSE_S,
    SITE_PAUSES,
    RetryPolicy,
)


def page_of(number: int, host: str = "a.example", scheme: str = "http") -> JobPage:
    return JobPage(number, f"{scheme}://{host}/{number}", host)


def refused() -> errors.HostDownError:
    return errors.HostDownError("a.example refused the connection.", retryable=True)


def test_a_failed_site_is_retried_once_with_growing_pauses() -> None:
    tries = RetryPolicy()
    pauses = [tries.get_retry_delay_s(page_of(number), refused()) for number in range(DEAD_AFTER - 1)]
    assert pauses == [SITE_PAUSE_S * min(number, SITE_PAUSES) for number in range(1, DEAD_AFTER)]
    assert tries.get_retry_delay_s(page_of(0), refused()) is None


def test_other_pages_of_an_unreachable_site_are_skipped() -> None:
    tries = RetryPolicy()
    for number in range(DEAD_AFTER):
        assert tries.get_site_error(page_of(99)) is None
        tries.get_retry_delay_s(page_of(number), refused())
    assert "refused the connection" in str(tries.get_site_error(page_of(99)))
    assert tries.get_site_error(page_of(99, "b.example")) is None
    assert tries.get_site_error(page_of(99, scheme="https")) is None


def test_one_success_resets_the_count_of_failures() -> None:
    tries = RetryPolicy()
    for number in range(3 * DEAD_AFTER):
        tries.get_retry_delay_s(page_of(number), refused())
        if number % (DEAD_AFTER - 1) == 0:
            tries.get_retry_delay_s(page_of(1_000 + number), None)
    assert tries.get_site_error(page_of(99)) is None


def test_a_host_that_does_not_exist_is_tried_once_more() -> None:
    tries = RetryPolicy()
    gone = errors.HostDownError("There is no host named a.example.")
    assert [tries.get_retry_delay_s(page_of(number), gone) for number in range(DEAD_AFTER - 1)] == [
        SITE_PAUSE_S,
        *[None] * (DEAD_AFTER - 2),
    ]
    assert tries.get_retry_delay_s(page_of(0), gone) is None
    assert tries.get_site_error(page_of(99)) is gone


def test_a_host_that_timed_out_is_not_retried() -> None:
    tries = RetryPolicy()
    assert [tries.get_retry_delay_s(page_of(number), refused(), 10.1) for number in range(DEAD_AFTER)] == [
        None
    ] * DEAD_AFTER
    assert tries.get_site_error(page_of(99)) is not None
    assert (
        RetryPolicy().get_retry_delay_s(page_of(1), errors.FetchTimeoutError("It took too long."), 60.0) == SITE_PAUSE_S
    )


def test_a_page_is_tried_once_more_after_a_silent_name_server() -> None:
    tries = RetryPolicy()
    silent = errors.NameServerSilentError("The name server did not say in time where a.example is.")
    assert [tries.get_retry_delay_s(page_of(1), silent, 10.1) for _ in range(2)] == [SILENT_NAME_PAUSE_S, None]


def test_few_pages_are_read_again_if_name_servers_stay_silent() -> None:
    tries = RetryPolicy()
    silent = errors.NameServerSilentError("The name server did not say in time where it is.")
    pages = [page_of(number, f"{number}.example") for number in range(1, 40)]
    for page in pages:
        assert tries.get_retry_delay_s(page, silent, 10.1) == SILENT_NAME_PAUSE_S
    for page in pages[:FUTILE_RETRIES]:
        assert tries.get_site_error(page) is None
        assert tries.get_retry_delay_s(page, silent, 10.1) is None
    left = pages[FUTILE_RETRIES:]
    assert [page.number for page in left if tries.get_site_error(page) is None] == list(range(8, 40, FUTILE_SAMPLE))
    assert tries.get_site_error(page_of(99, "99.example")) is None
    assert tries.get_retry_delay_s(pages[7], None, 0.3) is None
    tries.get_retry_delay_s(pages[15], None, 0.3)
    assert {tries.get_site_error(page) for page in left} == {None}


def test_pages_are_tried_more_often_while_name_servers_answer_later() -> None:
    tries = RetryPolicy()
    silent = errors.NameServerSilentError("The name server did not say in time where a.example is.")
    for number, host in ((1, "a.example"), (2, "b.example")):
        assert tries.get_retry_delay_s(page_of(number, host), silent, 10.1) == SILENT_NAME_PAUSE_S
        assert tries.get_retry_delay_s(page_of(number, host), None, 0.3) is None
    gone = [[tries.get_retry_delay_s(page_of(n, f"{n}.example"), silent) for _ in range(5)] for n in (3, 4, 5)]
    often = [SILENT_NAME_PAUSE_S] * (SILENT_NAME_TRIES - 1) + [None]
    assert gone[:2] == [often, often]
    assert gone[2][:2] == [SILENT_NAME_PAUSE_S, None]


def test_a_site_whose_name_server_never_answers_is_given_up() -> None:
    tries = RetryPolicy()
    silent = errors.NameServerSilentError("The name server did not say in time where a.example is.")
    for number in range(DEAD_AFTER):
        assert tries.get_site_error(page_of(99)) is None
        tries.get_retry_delay_s(page_of(number), silent, 10.1)
    assert tries.get_site_error(page_of(99)) is silent


def test_a_site_that_fails_on_every_page_gets_one_request_per_page() -> None:
    tries = RetryPolicy()
    for number in range(DEAD_AFTER):
        tries.get_retry_delay_s(page_of(number), errors.HttpStatusError("It broke.", status=500))
    assert tries.get_retry_delay_s(page_of(50), errors.HttpStatusError("It broke.", status=500)) is None
    assert tries.get_site_error(page_of(99)) is None
    tries.get_retry_delay_s(page_of(51), errors.HttpStatusError("No such page.", status=404))
    assert tries.get_retry_delay_s(page_of(52), errors.HttpStatusError("It broke.", status=500)) == SITE_PAUSE_S


def test_a_rate_limited_site_is_retried() -> None:
    tries = RetryPolicy()
    page_of_its_own = errors.BlockedBySiteError("a.example limits the rate of requests.", reason="rate_limit")
    empty = errors.HttpStatusError("a.example answered 429 Too Many Requests.", status=429)
    assert tries.get_retry_delay_s(page_of(1), page_of_its_own) == SITE_PAUSE_S
    assert tries.get_retry_delay_s(page_of(2), empty) == 2 * SITE_PAUSE_S
    assert (
        tries.get_retry_delay_s(page_of(3), errors.BlockedBySiteError("a.example asks for a login.", reason="login"))
        is None
    )


def silent_robots(host: str = "a.example", again_s: float | None = 300.0) -> errors.RobotsDisallowedError:
    target = f"http://{host}/1"
    return errors.RobotsDisallowedError("Its robots.txt cannot be reached.", target=target, retry_after_s=again_s)


def test_a_site_with_an_unreachable_robots_txt_pauses() -> None:
    tries = RetryPolicy()
    pauses = [tries.get_retry_delay_s(page_of(number), silent_robots()) for number in range(SILENT_ROBOTS + 1)]
    assert pauses == [300.0] * (SILENT_ROBOTS - 1) + [None, None]
    tries.get_retry_delay_s(page_of(50), None)
    assert [tries.get_retry_delay_s(page_of(60), silent_robots()) for _ in range(2)] == [300.0, None]
    assert tries.get_site_error(page_of(99)) is None


@pytest.mark.parametrize(
    "error", [silent_robots(again_s=None), silent_robots("b.example"), silent_robots(again_s=90_000.0)]
)
def test_a_final_decision_or_that_of_another_site_causes_no_pause(error: errors.RobotsDisallowedError) -> None:
    tries = RetryPolicy()
    assert tries.get_retry_delay_s(page_of(1), error) is None
    assert tries.get_retry_delay_s(page_of(2), refused()) == SITE_PAUSE_S


def test_an_internal_error_is_no_failure_of_the_site() -> None:
    tries = RetryPolicy()
    busy, broken = (errors.OverloadedError("Full.", retry_after_s=7.0), errors.BrowserFailedError("The browser died."))
    assert [tries.get_retry_delay_s(page_of(1), busy) for _ in range(BUSY_TRIES)] == [7.0] * (BUSY_TRIES - 1) + [None]
    assert [tries.get_retry_delay_s(page_of(2), broken) for _ in range(BROWSER_TRIES)] == [1.0] * (
        BROWSER_TRIES - 1
    ) + [None]
    assert tries.get_retry_delay_s(page_of(3), refused()) == SITE_PAUSE_S


def test_a_wait_for_a_slot_is_not_an_attempt() -> None:
    tries = RetryPolicy()
    busy, failed = (
        errors.HostBusyError("Not now.", retry_after_s=7.0),
        errors.HttpStatusError("It broke.", status=503),
    )
    assert [tries.get_retry_delay_s(page_of(1), error) for error in (busy, failed, busy, failed)] == [
        7.0,
        5.0,
        7.0,
        None,
    ]
    assert tries.pop_tries(page_of(1)) == 4
    assert tries.get_retry_delay_s(page_of(1), failed) is not None


def test_an_invalid_line_has_no_site() -> None:
    line = JobPage(1, "no url", "", "It is no URL.")
    tries = RetryPolicy()
    assert tries.get_site_error(line) is None
    assert tries.get_retry_delay_s(line, None) is None
