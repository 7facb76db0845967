"""Errors for callers of the tools.

Each error has its URL or argument (`target`), a message (`str(error)`), the next step and a stable `code` for programs.
`retryable` is True if the same call may succeed later. No message contains the private address of a host.
"""

import mimetypes
import re
from typing import Any

_FOLDERS = re.compile(r"(?<![\w:/.~-])/(?:[\w.+@~-]+/)*(?=[\w.+@~-])")


def hide_folders(text: str) -> str:
    """Remove the folders of paths from the text of a system error, because callers must not see them."""
    return _FOLDERS.sub("", text)


_OFFICE_TYPE = re.compile(
    r"application/(?:epub\+zip|vnd\.oasis\.opendocument\.[a-z]{1,20}"
    r"|vnd\.openxmlformats-officedocument\.[a-z]{1,20}\.[a-z]{1,20})"
)


def name_media_type(media_type: str) -> str:
    """Return a media type for an error. The rest of an unregistered one is cut: a site may write a sentence into it."""
    if not media_type:
        return "an unknown type"
    if _OFFICE_TYPE.fullmatch(media_type) or mimetypes.guess_extension(media_type, strict=False) is not None:
        return media_type
    first = media_type.partition("/")[0]
    return f"{first}/…" if first in _TOP_LEVEL_TYPES else "an unknown type"


_TOP_LEVEL_TYPES = frozenset("application audio font image message model multipart text video".split())


class ScraperError(Exception):
    """Base of all errors for callers."""

    code: str = "error"
    retryable: bool = False

    def __init_subclass__(cls, *, code: str = "", retryable: bool = False) -> None:
        """Set the code, which is that of the base class by default, and the default of `retryable`."""
        cls.code, cls.retryable = code or cls.code, retryable or cls.retryable

    def __init__(self, message: str, *, target: str = "", next_step: str = "", retryable: bool | None = None) -> None:
        """Store the message, the URL or argument, and the next step; `retryable` overrides that of the class."""
        super().__init__(message)
        self.target = target
        self.next_step = next_step
        if retryable is not None:
            self.retryable = retryable

    def sentence(self) -> str:
        """Return the message and the next step."""
        return f"{self} {self.next_step}".strip()


class BadRequestError(ScraperError, code="bad_request"):
    """An argument is invalid."""


class InvalidUrlError(BadRequestError, code="bad_url"):
    """The argument is not an absolute http(s) URL."""


class InvalidArgumentError(BadRequestError, code="bad_argument"):
    """An argument has an unknown name, a wrong type or a value out of range."""


class CrawlNotFoundError(BadRequestError, code="no_such_crawl"):
    """There is no crawl with this ID, or it was deleted."""


class SessionNotFoundError(BadRequestError, code="no_such_session"):
    """The caller has no session with this id, or it has ended."""


class ProfileNotFoundError(BadRequestError, code="no_such_profile"):
    """The caller has no login profile with this name that this server can read."""


class LocalFileNotFoundError(BadRequestError, code="not_found"):
    """There is no such file below the root of local files."""


class PolicyError(ScraperError, code="refused"):
    """A policy of the operator or of the site forbids the call."""


class PrivateAddressError(PolicyError, code="private_address"):
    """The URL leads to a host that is not public."""


class LocalReadsDisabledError(PolicyError, code="local_reads_disabled"):
    """The operator did not name a root of local files."""


class OutsideRootError(PolicyError, code="outside_root"):
    """The path is not a file below the root of local files."""


class RobotsDisallowedError(PolicyError, code="robots"):
    """The site's robots.txt forbids the page, and this server is configured to obey it."""

    def __init__(
        self, message: str, *, target: str = "", next_step: str = "", retry_after_s: float | None = None
    ) -> None:
        """Store the message; `retry_after_s` is set only if robots.txt could not be reached."""
        super().__init__(message, target=target, next_step=next_step, retryable=retry_after_s is not None)
        self.retry_after_s = retry_after_s


class RobotsUnreachableError(RobotsDisallowedError):
    """The site's robots.txt cannot be reached, and this server is configured to obey it."""


class NetworkError(ScraperError, code="unreachable"):
    """The network failed."""


class HostDownError(NetworkError):
    """The host of the URL has no address or accepts no connection; its other pages would fail too."""


class NameServerSilentError(HostDownError):
    """The name server did not answer in time; this says nothing about the host."""

    retryable = True


class OfflineError(NetworkError, code="no_network", retryable=True):
    """This machine reaches no host; every other URL would fail too."""


class FetchTimeoutError(NetworkError, code="timed_out", retryable=True):
    """The deadline passed without any content."""


class SiteRefusedError(ScraperError, code="blocked"):
    """The site refused the request."""


class LoginExpiredError(SiteRefusedError, code="login_expired"):
    """The site no longer accepts the login of a profile."""


class HttpStatusError(SiteRefusedError, code="http_error"):
    """The site answered with an error status."""

    def __init__(self, message: str, *, status: int, target: str = "", next_step: str = "") -> None:
        """Set the message and the status code, which decides if a retry makes sense."""
        super().__init__(
            message, target=target, next_step=next_step, retryable=status in {408, 425, 429, 500, 502, 503, 504}
        )
        self.status = status


class BlockedBySiteError(SiteRefusedError, code="walled"):
    """The site sent a block page; `reason` names its kind."""

    def __init__(self, message: str, *, reason: str, target: str = "", next_step: str = "") -> None:
        """Set the message and the kind of block page."""
        # A rate limit ends by itself.
        super().__init__(message, target=target, next_step=next_step, retryable=reason == "rate_limit")
        self.reason = reason


class UnreadableError(ScraperError, code="unreadable"):
    """The response has no readable content."""


class UnsupportedTypeError(UnreadableError, code="unsupported_type"):
    """The format of the response is not supported, or not by this tool."""


class ContentTooLargeError(UnreadableError, code="too_large"):
    """The content exceeds a limit."""


class NoContentError(UnreadableError, code="empty"):
    """The response has no content."""


class MaintenancePageError(UnreadableError, code="maintenance", retryable=True):
    """The site answers the same page for every URL."""


class NoRecordsError(UnreadableError, code="no_records"):
    """The page has no list of records."""


class ExampleNotFoundError(UnreadableError, code="example_not_found"):
    """A value of the example is not on the page."""


class RecipeDoesNotFitError(UnreadableError, code="recipe_does_not_fit"):
    """The page is not of the kind from which the recipe was learned."""


class EncryptedDocumentError(UnreadableError, code="encrypted"):
    """The document needs a password."""


class MalformedDocumentError(UnreadableError, code="malformed"):
    """The bytes do not have the format of the document."""

    def __init__(self, message: str, *, next_step: str = "", **rest: Any) -> None:
        """Store the message; without a next step, advise to look for another copy."""
        super().__init__(message, next_step=next_step or "Try once more, or look for another copy.", **rest)


class OcrNeededError(UnreadableError, code="ocr_needed"):
    """The pages are images without text."""


class ParserFailedError(UnreadableError, code="crash"):
    """The parser exceeded a limit or crashed; `code` is `timeout`, `out_of_memory` or `crash`."""


class OverloadedError(ScraperError, code="busy", retryable=True):
    """The server has no capacity for the call."""

    def __init__(self, message: str, *, retry_after_s: float, target: str = "") -> None:
        """Set the message and the seconds until a retry makes sense."""
        super().__init__(message, target=target, next_step=f"Try again in {retry_after_s:.0f} s.")
        self.retry_after_s = retry_after_s


class HostBusyError(OverloadedError, code="host_busy"):
    """The host must not be visited now, because of its limits; the server itself may be idle."""


class StoreUnavailableError(ScraperError, code="store_unavailable", retryable=True):
    """The store of this server is unavailable."""


class BrowserFailedError(ScraperError, code="browser_failed", retryable=True):
    """The browser failed."""


class InternalError(ScraperError, code="internal"):
    """The server has a bug; the details are in the log."""


def is_unreachable(outcome: object) -> bool:
    """Return True if an outcome is an error that another scheme of the URL may not have."""
    return isinstance(outcome, NetworkError | RobotsUnreachableError)


def format_error(error: Exception) -> str:
    """Return the text of an error; for an error of the operating system, its text and path."""
    if not isinstance(error, OSError) or not error.strerror:
        return str(error) or type(error).__name__
    return f"{error.strerror}: {error.filename}" if isinstance(error.filename, str) else error.strerror
