"""From what happened on the way to a page to what a user is told."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from browsers import errors as door
from scraper import errors

_T = TypeVar("_T")
_Kind = type[errors.ScraperError]

_KINDS: Mapping[type[door.BrowsersError], _Kind] = {
    door.BadSchemeError: errors.InvalidUrlError,
    door.BlockedAddressError: errors.PrivateAddressError,
    door.UnsafePortError: errors.PolicyError,
    door.RefusedError: errors.PolicyError,
    door.NameNotResolvedError: errors.HostDownError,
    door.NameLookupTimeoutError: errors.HostDownError,
    door.RefusedConnectionError: errors.HostDownError,
    door.HostUnreachableError: errors.HostDownError,
    door.ConnectTimeoutError: errors.HostDownError,
    door.ConnectionClosedError: errors.NetworkError,
    door.TlsFailedError: errors.NetworkError,
    door.TooManyRedirectsError: errors.NetworkError,
    door.UpstreamProxyError: errors.NetworkError,
    door.UnreachableError: errors.NetworkError,
    door.DeadlineExceededError: errors.FetchTimeoutError,
    door.TooLargeError: errors.ContentTooLargeError,
    door.PageCrashedError: errors.BrowserFailedError,
    door.BrowserGoneError: errors.BrowserFailedError,
    door.NoBrowserError: errors.BrowserFailedError,
}

_FOR_READERS: Mapping[type[door.BrowsersError], str] = {
    door.BadSchemeError: "Give an absolute http:// or https:// URL.",
    door.NameNotResolvedError: "Check the spelling of the host, or look for the page with `search`.",
    door.TlsFailedError: (
        "The connection would not be safe. Try the site's http:// address, or another source."
    ),
    door.TooManyRedirectsError: ("Try the address that the site redirects to, or another source."),
}
"""Where a reader of pages can do something else than the door knows of."""


def translated(error: door.BrowsersError, url: str) -> errors.ScraperError:
    """What a user is told of `error`, met on the way to `url`."""
    if isinstance(error, door.BusyError):
        return errors.OverloadedError(str(error), retry_after_s=error.retry_after_s, target=url)
    kind: _Kind = _entry(error, _KINDS, errors.NetworkError)
    if kind is errors.HostDownError and error.redirected:
        # It was another host that could not be reached.
        kind = errors.NetworkError
    return kind(
        str(error),
        target=url,
        next_step=_entry(error, _FOR_READERS, error.next_step),
        retryable=error.retryable or isinstance(error, door.DeadlineExceededError),
    )


def _entry(error: door.BrowsersError, table: Mapping[type[door.BrowsersError], _T], otherwise: _T) -> _T:
    """The entry of the most particular class that has one."""
    return next((table[kind] for kind in type(error).__mro__ if kind in table), otherwise)
