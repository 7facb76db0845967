"""From what happened on the way to a page to what a user is told."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from browsers import errors as door
from scraper import errors

__all__ = ["translated"]

_T = TypeVar("_T")
_Kind = type[errors.ScraperError]

_KINDS: Mapping[type[door.BrowsersError], _Kind] = {
    door.BadScheme: errors.BadUrl,
    door.BlockedAddress: errors.PrivateAddress,
    door.UnsafePort: errors.Refused,
    door.Refused: errors.Refused,
    door.NameNotResolved: errors.HostDown,
    door.NameLookupTimeout: errors.HostDown,
    door.ConnectionRefused: errors.HostDown,
    door.HostUnreachable: errors.HostDown,
    door.ConnectTimeout: errors.HostDown,
    door.ConnectionClosed: errors.Unreachable,
    door.TlsFailed: errors.Unreachable,
    door.TooManyRedirects: errors.Unreachable,
    door.UpstreamProxyFailed: errors.Unreachable,
    door.Unreachable: errors.Unreachable,
    door.DeadlineExceeded: errors.TimedOut,
    door.TooLarge: errors.TooLarge,
    door.PageCrashed: errors.Broken,
    door.BrowserGone: errors.Broken,
    door.NoBrowser: errors.Broken,
}

_FOR_READERS: Mapping[type[door.BrowsersError], str] = {
    door.BadScheme: "Give an absolute http:// or https:// URL.",
    door.NameNotResolved: "Check the spelling of the host, or look for the page with `search`.",
    door.TlsFailed: "The connection would not be safe. Try the site's http:// address, or another source.",
    door.TooManyRedirects: "Try the address that the site redirects to, or another source.",
}
"""Where a reader of pages can do something else than the door knows of."""


def translated(error: door.BrowsersError, url: str) -> errors.ScraperError:
    """What a user is told of `error`, met on the way to `url`."""
    if isinstance(error, door.Busy):
        return errors.Overloaded(str(error), retry_after_s=error.retry_after_s, target=url)
    kind: _Kind = _entry(error, _KINDS, errors.Unreachable)
    if kind is errors.HostDown and error.redirected:
        # It was another host that could not be reached.
        kind = errors.Unreachable
    return kind(
        str(error),
        target=url,
        next_step=_entry(error, _FOR_READERS, error.next_step),
        retryable=error.retryable or isinstance(error, door.DeadlineExceeded),
    )


def _entry(error: door.BrowsersError, table: Mapping[type[door.BrowsersError], _T], otherwise: _T) -> _T:
    """The entry of the most particular class that has one."""
    return next((table[kind] for kind in type(error).__mro__ if kind in table), otherwise)
