"""What a user can be told, and what to do next.

    ScraperError
        BadRequest          the caller's argument
            BadUrl              not an absolute http(s) URL; a query is told of `search`
            BadArgument         unknown name, wrong type, out of range
            NoSuchFile          nothing of that name beneath the root of local files
        Refused             our policy said no
            PrivateAddress      the URL leads to a host that is not public
            LocalReadsDisabled  local files are not read unless the operator says where
            RobotsRefused       the site's robots.txt said no, and the operator obeys it
            OutsideRoot         a local file that is not beneath the operator's root, or no file at all
        Unreachable         the network said no
            HostDown            the URL's own host has no address, or takes no connection
            TimedOut            the deadline passed with nothing to show
        Blocked             the site said no
            HttpError           the site answered with an error status
            Walled              captcha, consent, login, rate limit: named in `reason`
        Unreadable          it came, but there is nothing to read in it
            UnsupportedType     not a page; the message names the media type
            TooLarge            over the limits
            Empty               the answer has no content
            Encrypted           a document that asks for a password
            Malformed           a document whose bytes are not what they seem
            OcrNeeded           pictures of pages: there are no letters in it
            ParserFailed        its reader went over a limit or crashed; `code` says which
        Overloaded          we are full; carries `retry_after_s`
            HostBusy            the host must not be asked now: politeness, or its own wish
        Broken              our own browser failed, twice
        Internal            a fault of ours

Each carries the URL or argument it is about (`target`), one sentence (`str(error)`), the next step, a stable
`code` for programs, and whether a retry can help. No message names a private address that a name led to.
"""

from __future__ import annotations


class ScraperError(Exception):
    """Root of the tree."""

    code: str = "error"
    retryable: bool = False

    def __init__(
        self, message: str, *, target: str = "", next_step: str = "", retryable: bool | None = None
    ) -> None:
        super().__init__(message)
        self.target = target
        self.next_step = next_step
        if retryable is not None:
            self.retryable = retryable

    def sentence(self) -> str:
        """What happened and what to do next, for a person or a model."""
        return f"{self} {self.next_step}".strip()


class BadRequestError(ScraperError):
    """The caller's argument."""

    code = "bad_request"


class InvalidUrlError(BadRequestError):
    """Not an absolute http(s) URL."""

    code = "bad_url"


class InvalidArgumentError(BadRequestError):
    """Unknown name, wrong type, out of range."""

    code = "bad_argument"


class LocalFileNotFoundError(BadRequestError):
    """Nothing of that name beneath the root of local files."""

    code = "not_found"


class PolicyError(ScraperError):
    """Our policy said no; there is no other way in."""

    code = "refused"


class PrivateAddressError(PolicyError):
    """The URL leads to a host that is not public."""

    code = "private_address"


class LocalReadsDisabledError(PolicyError):
    """Local files are not read unless the operator says where."""

    code = "local_reads_disabled"


class OutsideRootError(PolicyError):
    """A local file that is not beneath the operator's root, or is no file."""

    code = "outside_root"


class RobotsDisallowedError(PolicyError):
    """The site's robots.txt does not let the page be read, and the operator obeys it."""

    code = "robots"

    def __init__(
        self, message: str, *, target: str = "", next_step: str = "", retry_after_s: float | None = None
    ) -> None:
        """`retry_after_s`: when a file that could not be reached is asked for again; None: it said no."""
        super().__init__(message, target=target, next_step=next_step, retryable=retry_after_s is not None)
        self.retry_after_s = retry_after_s


class NetworkError(ScraperError):
    """The network said no."""

    code = "unreachable"


class HostDownError(NetworkError):
    """The URL's own host has no address, or takes no connection: its other pages would fare alike."""


class FetchTimeoutError(NetworkError):
    """The deadline passed with nothing to show."""

    code = "timed_out"
    retryable = True


class SiteRefusedError(ScraperError):
    """The site said no."""

    code = "blocked"


class HttpStatusError(SiteRefusedError):
    """The site answered with an error status."""

    code = "http_error"

    def __init__(self, message: str, *, status: int, target: str = "", next_step: str = "") -> None:
        super().__init__(
            message,
            target=target,
            next_step=next_step,
            retryable=status in {408, 425, 429, 500, 502, 503, 504},
        )
        self.status = status


class BlockedBySiteError(SiteRefusedError):
    """A wall stands in front of the page; `reason` names it."""

    code = "walled"

    def __init__(self, message: str, *, reason: str, target: str = "", next_step: str = "") -> None:
        # A site that limits how often it is asked lets the same call in later, page of its own or none.
        super().__init__(message, target=target, next_step=next_step, retryable=reason == "rate_limit")
        self.reason = reason


class UnreadableError(ScraperError):
    """It came, but there is nothing to read in it."""

    code = "unreadable"


class UnsupportedTypeError(UnreadableError):
    """Not a page."""

    code = "unsupported_type"


class ContentTooLargeError(UnreadableError):
    """Over the limits."""

    code = "too_large"


class NoContentError(UnreadableError):
    """The answer has no content."""

    code = "empty"


class EncryptedDocumentError(UnreadableError):
    """A document that asks for a password."""

    code = "encrypted"


class MalformedDocumentError(UnreadableError):
    """A document whose bytes are not what they seem."""

    code = "malformed"


class OcrNeededError(UnreadableError):
    """Pictures of pages: there are no letters in it."""

    code = "ocr_needed"


class ParserFailedError(UnreadableError):
    """A document's reader went over a limit or crashed; `code` is `timeout`, `out_of_memory` or `crash`."""

    code = "crash"


class OverloadedError(ScraperError):
    """We are full."""

    code = "busy"
    retryable = True

    def __init__(self, message: str, *, retry_after_s: float, target: str = "") -> None:
        super().__init__(message, target=target, next_step=f"Try again in {retry_after_s:.0f} s.")
        self.retry_after_s = retry_after_s


class HostBusyError(OverloadedError):
    """The host must not be asked now; not a word of how busy we are ourselves."""

    code = "host_busy"


class BrowserFailedError(ScraperError):
    """Our own browser failed."""

    code = "browser_failed"
    retryable = True


class InternalError(ScraperError):
    """A fault of ours; the details are in the log."""

    code = "internal"


def plainly(error: Exception) -> str:
    """What went wrong, as a person would say it: of the system's errors the words and the path alone."""
    if not isinstance(error, OSError) or not error.strerror:
        return str(error) or type(error).__name__
    path = error.filename
    return error.strerror if not isinstance(path, str) else f"{error.strerror}: {path}"
