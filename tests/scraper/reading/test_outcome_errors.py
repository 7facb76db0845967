"""Every error of a visit becomes one error with a message for the user."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from browsers import errors as browser_errors
from scraper import errors
from scraper.reading.visit_outcome import map_browser_error

URL = "https://example.org/page"

TOLD: dict[type[browser_errors.BrowsersError], tuple[type[errors.ScraperError], bool]] = {
    browser_errors.BadSchemeError: (errors.InvalidUrlError, False),
    browser_errors.BlockedAddressError: (errors.PrivateAddressError, False),
    browser_errors.UnsafePortError: (errors.PolicyError, False),
    browser_errors.NoNetworkError: (errors.OfflineError, True),
    browser_errors.NameNotResolvedError: (errors.HostDownError, False),
    browser_errors.NameLookupTimeoutError: (errors.NameServerSilentError, True),
    browser_errors.RefusedConnectionError: (errors.HostDownError, True),
    browser_errors.HostUnreachableError: (errors.HostDownError, True),
    browser_errors.ConnectTimeoutError: (errors.HostDownError, True),
    browser_errors.ConnectionClosedError: (errors.NetworkError, True),
    browser_errors.TlsFailedError: (errors.NetworkError, False),
    browser_errors.TooManyRedirectsError: (errors.NetworkError, False),
    browser_errors.UpstreamProxyError: (errors.NetworkError, False),
    browser_errors.DeadlineExceededError: (errors.FetchTimeoutError, True),
    browser_errors.TooLargeError: (errors.ContentTooLargeError, False),
    browser_errors.PageCrashedError: (errors.BrowserFailedError, True),
    browser_errors.TargetNotFoundError: (errors.InvalidArgumentError, False),
    browser_errors.PageLimitError: (errors.BrowserFailedError, True),
    browser_errors.BrowserGoneError: (errors.BrowserFailedError, True),
    browser_errors.NoBrowserError: (errors.BrowserFailedError, False),
}


def leaves(
    kind: type[browser_errors.BrowsersError] = browser_errors.BrowsersError,
) -> Iterator[type[browser_errors.BrowsersError]]:
    below = [child for child in kind.__subclasses__() if child.__module__ == browser_errors.__name__]
    if not below:
        yield kind
    for child in below:
        yield from leaves(child)


def test_every_browser_error_is_in_this_test() -> None:
    # A crash is also an error of its own, although it has a subclass. Only `browse` has sessions.
    elsewhere = {browser_errors.BusyError, browser_errors.UnknownSessionError, browser_errors.ExpiredLoginError}
    assert {*leaves(), browser_errors.PageCrashedError} == {*TOLD, *elsewhere}


@pytest.mark.parametrize("kind", TOLD)
def test_an_error_keeps_its_message_url_and_retryable(kind: type[browser_errors.BrowsersError]) -> None:
    told = map_browser_error(kind("It happened.", url="https://elsewhere.example/"), URL)
    assert (type(told), told.retryable) == TOLD[kind]
    assert told.target == URL
    assert told.sentence().startswith("It happened. ") and told.next_step


def test_an_unreachable_redirect_target_is_not_a_failure_of_the_host() -> None:
    error = browser_errors.RefusedConnectionError("elsewhere.example refused the connection.")
    error.redirected = True
    assert type(map_browser_error(error, URL)) is errors.NetworkError


def test_busy_has_the_retry_time() -> None:
    told = map_browser_error(browser_errors.BusyError("Full.", retry_after_s=7.4), URL)
    assert isinstance(told, errors.OverloadedError)
    assert (told.retry_after_s, told.retryable, told.sentence()) == (7.4, True, "Full. Try again in 7 s.")


def test_an_expired_login_names_the_command() -> None:
    told = map_browser_error(browser_errors.ExpiredLoginError("shop", url=URL), URL)
    assert isinstance(told, errors.LoginExpiredError)
    assert told.sentence() == "The login of profile shop has expired. Run: search-mcp login shop --hosts HOST"


def test_callers_do_not_learn_the_folders_of_the_server() -> None:
    error = browser_errors.NoBrowserError("Chromium at /opt/secret/chromium does not start: it crashed.")
    assert str(map_browser_error(error, URL)) == "Chromium at chromium does not start: it crashed."


def test_an_unknown_refusal_is_a_policy_error() -> None:
    class Novel(browser_errors.RefusedError):
        pass

    assert isinstance(map_browser_error(Novel("No."), URL), errors.PolicyError)


def test_the_next_step_for_a_host_that_does_not_exist_names_search() -> None:
    assert (
        "`search`" in map_browser_error(browser_errors.NameNotResolvedError("There is no host named x."), URL).next_step
    )
