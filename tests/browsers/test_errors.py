"""Codes of errors are names for logs and metrics, which do not change with the names of classes."""

from __future__ import annotations

from browsers import errors

CODES = set(
    "BrowsersError Refused BadScheme BlockedAddress UnsafePort Unreachable NameNotResolved NameLookupTimeout NoNetwork "
    "ConnectionRefused HostUnreachable ConnectTimeout ConnectionClosed TlsFailed TooManyRedirects UpstreamProxyFailed "
    "TargetNotFound UnknownSession LoginExpired DeadlineExceeded TooLarge PageCrashed PageLimit BrowserGone Busy "
    "NoBrowser".split()
)


def test_codes_of_errors_are_stable() -> None:
    kinds = [
        kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, errors.BrowsersError)
    ]
    assert {kind.code for kind in kinds} == CODES
    assert len(kinds) == len(CODES)
