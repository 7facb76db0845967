"""Every error of a visit becomes one error with a message for the user."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from browsers import errors as door
from scraper import errors
from scraper.reading.outcome import map_browser_error

URL = "https://example.org/page"

TOLD = {
    door.BadSchemeError: (errors.InvalidUrlError, False),
    door.BlockedAddressError: (errors.PrivateAddressError, False),
    door.UnsafePortError: (errors.PolicyError, False),
    door.NameNotResolvedError: (errors.HostDownError, False),
    door.NameLookupTimeoutError: (errors.HostDownError, True),
    door.RefusedConnectionError: (errors.HostDownError, True),
    door.HostUnreachableError: (errors.HostDownError, True),
    door.ConnectTimeoutError: (errors.HostDownError, True),
    door.ConnectionClosedError: (errors.NetworkError, True),
    door.TlsFailedError: (errors.NetworkError, False),
    door.TooManyRedirectsError: (errors.NetworkError, False),
    door.UpstreamProxyError: (errors.NetworkError, False),
    door.DeadlineExceededError: (errors.FetchTimeoutError, True),
    door.TooLargeError: (errors.ContentTooLargeError, False),
    door.PageCrashedError: (errors.BrowserFailedError, True),
    door.BrowserGoneError: (errors.BrowserFailedError, True),
    door.NoBrowserError: (errors.BrowserFailedError, False),
}


def leaves(kind: type[door.BrowsersError] = door.BrowsersError) -> Iterator[type[door.BrowsersError]]:
    below = [child for child in kind.__subclasses__() if child.__module__ == door.__name__]
    if not below:
        yield kind
    for child in below:
        yield from leaves(child)


def test_every_browser_error_is_in_this_test() -> None:
    assert set(leaves()) == {*TOLD, door.BusyError}


@pytest.mark.parametrize("kind", TOLD)
def test_an_error_keeps_its_message_url_and_retryable(kind: type[door.BrowsersError]) -> None:
    told = map_browser_error(kind("It happened.", url="https://elsewhere.example/"), URL)
    assert (type(told), told.retryable) == TOLD[kind]
    assert told.target == URL
    assert told.sentence().startswith("It happened. ") and told.next_step


def test_an_unreachable_redirect_target_is_not_a_failure_of_the_host() -> None:
    error = door.RefusedConnectionError("elsewhere.example refused the connection.")
    error.redirected = True
    assert type(map_browser_error(error, URL)) is errors.NetworkError


def test_busy_has_the_retry_time() -> None:
    told = map_browser_error(door.BusyError("Full.", retry_after_s=7.4), URL)
    assert isinstance(told, errors.OverloadedError)
    assert (told.retry_after_s, told.retryable, told.sentence()) == (7.4, True, "Full. Try again in 7 s.")


def test_an_unknown_refusal_is_a_policy_error() -> None:
    class Novel(door.RefusedError):
        pass

    assert isinstance(map_browser_error(Novel("No."), URL), errors.PolicyError)


def test_the_next_step_for_a_host_that_does_not_exist_names_search() -> None:
    assert "`search`" in map_browser_error(door.NameNotResolvedError("There is no host named x."), URL).next_step
