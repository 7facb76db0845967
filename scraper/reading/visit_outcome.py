"""Convert the result of a visit to a reading, or to an error with a next step for the caller."""

import email.utils
import http
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

from browsers import errors as browser_errors
from browsers.model import ScreenshotRequest, Snapshot, VisitLimits
from browsers.navigation.response import parse_content_length
from scraper import errors
from scraper.model import WHOLE_PAGE, Document, PagePart, Reading, VerdictKind
from scraper.urls import host_of, same_site
from scraper.values.text import format_duration, read_table
from scraper.wishes import read_price
from scraper.words.matcher import WordPattern


@dataclass(frozen=True, slots=True)
class VisitJob:
    """URL and options of a visit; equal jobs can share one visit."""

    url: str
    """Canonical URL."""
    render: str
    """`auto`, `http` or `browser`, as in `ReadRequest`."""
    principal: str
    limits: VisitLimits = field(default_factory=VisitLimits)
    json_responses: bool = False
    """True to capture the JSON that the page fetches while it renders."""
    conditions: tuple[tuple[str, str], ...] = ()
    """Request headers for revalidation."""
    picture: ScreenshotRequest | None = None
    refuses_consent: bool = False
    part: PagePart = WHOLE_PAGE
    is_beginning: bool = False
    """As in `ReadRequest`."""
    is_bulk: bool = field(default=False, compare=False, repr=False)
    """True if visits of other callers have priority."""
    batch: str | None = field(default=None, compare=False, repr=False)
    """Name of the batch that the visit belongs to. It affects how the page is visited, not the result."""

    @property
    def host(self) -> str:
        """Host of the URL."""
        return host_of(self.url)


PAUSE_S = 0.5
"""Seconds before a retry after a server error without Retry-After."""

_WITHOUT_CONTENT = frozenset({204, 205, 304})
_TEMPORARY = frozenset({408, 425, 500, 502, 503, 504})
"""Status codes that often change at the next request."""
_BROWSER_DEPENDENT = frozenset({"captcha", "challenge", "denied", "proof_of_work"})
"""Reasons of block pages that may admit another browser; other block pages block all browsers."""

_SHORT_TEXT_CHARS = 400
"""Characters. A shorter page that was rendered without some third parties may lack content."""
_AD_BLOCKER = WordPattern(r"\b{blocks.ad_blocker}")
_LOADING = WordPattern(r"\W*{blocks.loading}")
_LOADING_CHARS = 60
"""Characters of a page that only says that it loads."""
_AD_BLOCKER_CHARS = 3_000
"""Characters at the beginning of a text that are searched for a request to turn off an ad blocker."""

_PDF_SIGNATURE = b"%PDF-"

_TEXT_FORMATS = frozenset({"csv", "eml", "feed", "html", "ipynb", "json", "markdown", "text", "txt", "xml"})

_TEXTS = read_table(__package__, "visit_outcome.toml")
_DOCUMENT_TYPES = tuple(_TEXTS["document_types"].split())
_BLOCK_TEXTS, _NEXT_STEPS, _UNRENDERED = _TEXTS["blocks"], _TEXTS["next_steps"], _TEXTS["unrendered"]
_LATER = "Try later, or another source."


def build_reading(snapshot: Snapshot, document: Document, *, may_render: bool, requested_url: str) -> Reading:
    """Return the reading of a visit; `may_render` is True if the page was allowed to be rendered.

    Raises:
        ScraperError: An error of `check_content`.
        UnsupportedTypeError: The response is a file that is not a page.
        NoContentError: The page was allowed to be rendered, and has no text.
        FetchTimeoutError: The page was allowed to be rendered, and had no text before the deadline.
    """
    check_content(snapshot, document)
    if _is_file(snapshot, document):
        raise _unsupported_error(snapshot)
    if may_render and not document.markdown.strip():
        raise _blank_error(snapshot)
    return Reading(
        document=document,
        url=snapshot.url,
        requested_url=requested_url,
        status=snapshot.status,
        method="browser" if snapshot.rendered else "http",
        cached=False,
        retrieved_at=datetime.now(UTC),
        truncated=snapshot.truncated,
        warnings=tuple(_build_warnings(snapshot, document, may_render, requested_url)),
    )


def check_content(snapshot: Snapshot, document: Document) -> None:
    """Raise an error unless the response has readable content.

    Raises:
        BlockedBySiteError: The response is a block page.
        HttpStatusError: The status is an error.
        NoContentError: The response has no content.
        MalformedDocumentError: The body cannot be decoded.
    """
    if document.verdict.kind is VerdictKind.BLOCKED:
        raise _blocked_error(snapshot, document)
    if snapshot.status in _WITHOUT_CONTENT or (_is_success(snapshot) and not (snapshot.body or snapshot.html)):
        raise _no_content_error(snapshot)
    if not _is_success(snapshot):
        raise _status_error(snapshot)


def is_loading(snapshot: Snapshot, document: Document) -> bool:
    """Return True if a rendered page has no text but that it loads."""
    text = document.text.strip()
    return snapshot.rendered and len(text) <= _LOADING_CHARS and _LOADING.match(text) is not None


def response_warnings(snapshot: Snapshot, requested_url: str) -> Iterator[str]:
    """Yield warnings about redirects to other sites and about truncation."""
    if snapshot.url != requested_url and not same_site(requested_url, snapshot.url):
        yield f"Redirected to another site: {host_of(snapshot.url)}."
    if snapshot.truncated:
        yield "The page was cut off: it is larger, or came more slowly, than the limits allow."


def document_hint(reading: Reading) -> str:
    """Return the hint of `fetch` to use `read_doc` for a document; empty for pages and texts."""
    kind = reading.document.format
    if reading.method != "document" or kind is None or kind in _TEXT_FORMATS:
        return ""
    return f"This is a document ({kind.upper()}): `read_doc` is the tool for it, and can select its pages."


def may_admit_full_browser(snapshot: Snapshot, document: Document) -> bool:
    """Return True if the site blocked this browser but may admit the full one."""
    verdict = document.verdict
    if verdict.kind is VerdictKind.BLOCKED:
        return verdict.reason in _BROWSER_DEPENDENT
    return snapshot.status == 403


def may_need_third_parties(snapshot: Snapshot, document: Document) -> bool:
    """Return True if a page may lack content because requests to third parties were refused."""
    if not snapshot.rendered or not snapshot.refused_hosts or document.verdict.reason in _BROWSER_DEPENDENT:
        return False
    text = document.text
    is_short = len(text) < _SHORT_TEXT_CHARS
    return not document.verdict.ok or is_short or _AD_BLOCKER.search(text[:_AD_BLOCKER_CHARS]) is not None


def retry_pause_s(snapshot: Snapshot) -> float | None:
    """Return the seconds after which a retry may succeed; None if no retry makes sense."""
    requested_s = parse_retry_after_s(snapshot)
    if snapshot.status in _TEMPORARY:
        return PAUSE_S if requested_s is None else requested_s
    return requested_s if snapshot.status == 429 else None


def is_cacheable(snapshot: Snapshot, reading: Reading) -> bool:
    """Return True if the reading is complete and may be stored."""
    is_complete = snapshot.complete and not snapshot.truncated and not reading.document.is_part
    return is_complete and reading.document.verdict.ok and not reading.document.degraded


def _is_success(snapshot: Snapshot) -> bool:
    return 200 <= snapshot.status < 300


def _is_file(snapshot: Snapshot, document: Document) -> bool:
    """Return True if the body is not text, whatever its declared type."""
    if not snapshot.html and not snapshot.is_html:
        return True
    return document.verdict.reason == "binary" or snapshot.body.startswith(_PDF_SIGNATURE)


def parse_retry_after_s(snapshot: Snapshot) -> float | None:
    """Return the seconds of the Retry-After header, or None without a valid one."""
    value = snapshot.headers.get("retry-after", "").strip()
    if value.isascii() and value.isdecimal() and len(value) < 10:
        return float(value)
    try:
        moment = email.utils.parsedate_to_datetime(value).astimezone(UTC)
    except (ValueError, TypeError, IndexError, OverflowError):
        # No date, or one with a year or a zone beyond the calendar.
        return None
    return max(0.0, (moment - datetime.now(UTC)).total_seconds())


def _build_warnings(snapshot: Snapshot, document: Document, may_render: bool, requested_url: str) -> Iterator[str]:
    yield from response_warnings(snapshot, requested_url)
    if not snapshot.complete and snapshot.rendered:
        yield "The page was still loading when it was read: parts may be missing."
    elif snapshot.exceeded_limit:
        yield _UNRENDERED["exceeded_limit"].format(limit=snapshot.exceeded_limit)
    elif not snapshot.complete:
        yield "The page could not be rendered in time: this is what the server sent, before any script ran."
    elif snapshot.is_html and not snapshot.rendered and document.verdict.kind is VerdictKind.THIN:
        reason = document.verdict.reason
        name = ("truncated" if snapshot.truncated else "too_large") if may_render else reason
        yield _UNRENDERED.get(name, _UNRENDERED["thin"])
    if is_loading(snapshot, document):
        yield "The page only says that it loads, also when it was read again: its content did not come."
    if document.withheld_characters:
        yield (
            f"The page displays a part of its article ({len(document.text):,} of {document.withheld_characters:,} "
            "characters): the rest is for paying readers."
        )
    if document.torn_parts:
        yield (
            f"Here and there ({document.torn_parts:,}), the text lacks words that stand beside it on the page, such as "
            "the value of a label: compare it with a picture of the page (see)."
        )
    if document.degraded:
        yield "The page is too complex to be read in full detail: navigation may be mixed into the text."


def _no_content_error(snapshot: Snapshot) -> errors.UnreadableError:
    headers = snapshot.headers
    is_chunked = "chunked" in headers.get("transfer-encoding", "").lower()
    if snapshot.status not in _WITHOUT_CONTENT and (is_chunked or parse_content_length(headers)):
        # The browser drops a body that it cannot decode.
        return errors.MalformedDocumentError(
            f"{host_of(snapshot.url)} answered {_format_status(snapshot.status)}, but its body cannot be decoded.",
            target=snapshot.requested_url,
            next_step="Its answer is damaged: try again later, or another source.",
        )
    return errors.NoContentError(
        f"{host_of(snapshot.url)} answered {_format_status(snapshot.status)} without any content.",
        target=snapshot.requested_url,
        next_step="There is nothing to read at this address: try another one.",
    )


def _blank_error(snapshot: Snapshot) -> errors.ScraperError:
    host, target, next_step = host_of(snapshot.url), snapshot.requested_url, "Try again later, or another source."
    if not snapshot.complete:
        message = f"The page at {host} had no content when the time was up."
        return errors.FetchTimeoutError(message, target=target, next_step=next_step)
    message = f"The page at {host} was cut off before any text was received."
    if not snapshot.truncated:
        message = f"The page at {host} shows no text of its own."
        next_step = "It may need a login or an action of its user: try another source."
    return errors.NoContentError(message, target=target, next_step=next_step)


def _unsupported_error(snapshot: Snapshot) -> errors.UnsupportedTypeError:
    # Some servers declare every file as a page.
    declared = "application/pdf" if snapshot.body.startswith(_PDF_SIGNATURE) else snapshot.media_type
    media_type = declared or "application/octet-stream"
    readable = media_type.startswith(_DOCUMENT_TYPES)
    return errors.UnsupportedTypeError(
        f"{host_of(snapshot.url)} sent a file of type {errors.name_media_type(media_type)}, not a page.",
        target=snapshot.requested_url,
        next_step="Use `read_doc` for it." if readable else "Only pages and text can be read.",
    )


def _blocked_error(snapshot: Snapshot, document: Document) -> errors.BlockedBySiteError:
    reason = document.verdict.reason
    problem = _BLOCK_TEXTS.get(reason, _BLOCK_TEXTS["denied"])
    status = "" if _is_success(snapshot) else f" ({_format_status(snapshot.status)})"
    return errors.BlockedBySiteError(
        f"{host_of(snapshot.url)} {problem}{status}.",
        reason=reason or "blocked",
        target=snapshot.requested_url,
        next_step=_rate_limit_step(snapshot) if reason == "rate_limit" else _NEXT_STEPS.get(reason, _LATER),
    )


def _status_error(snapshot: Snapshot) -> errors.HttpStatusError:
    status = snapshot.status
    next_step = _NEXT_STEPS.get(str(status), "Check the address, or try another source.")
    if status == 429:
        next_step = _rate_limit_step(snapshot)
    elif status >= 500:
        next_step = _retry_after_text(snapshot) or "The site is failing: try again later, or another source."
    asks = read_price(snapshot.headers, snapshot.html) if status == 402 else None
    return errors.HttpStatusError(
        # No text of the page but a price: errors stand outside of the region that is marked as untrusted.
        f"{host_of(snapshot.url)} answered {_format_status(status)}{f', and asks for {asks}' if asks else ''}.",
        status=status,
        target=snapshot.requested_url,
        next_step=next_step,
    )


def _rate_limit_step(snapshot: Snapshot) -> str:
    return _retry_after_text(snapshot) or "The site limits the rate of requests: try again in a few minutes."


def _retry_after_text(snapshot: Snapshot) -> str:
    wait_s = parse_retry_after_s(snapshot)
    return "" if wait_s is None else f"The site asks to try again in {format_duration(wait_s)}."


def _format_status(status: int) -> str:
    try:
        return f"{status} {http.HTTPStatus(status).phrase}"
    except ValueError:
        return str(status)


_ERROR_TYPES: Mapping[type, type[errors.ScraperError]] = {
    getattr(browser_errors, name): getattr(errors, kind) for name, kind in _TEXTS["errors"].items()
}
_ERROR_STEPS = {getattr(browser_errors, name): step for name, step in _TEXTS["error_steps"].items()}


def map_browser_error(error: browser_errors.BrowsersError, url: str) -> errors.ScraperError:
    """Return the error for the caller that corresponds to an error of the browser client."""
    if isinstance(error, browser_errors.BusyError):
        return errors.OverloadedError(str(error), retry_after_s=error.retry_after_s, target=url)
    classes = type(error).__mro__
    kind = next((_ERROR_TYPES[one] for one in classes if one in _ERROR_TYPES), errors.NetworkError)
    if issubclass(kind, errors.HostDownError) and error.redirected:
        # The host of a redirect could not be reached.
        kind = errors.NetworkError
    return kind(
        # Only the errors of the machine's own browser name files.
        errors.hide_folders(str(error)) if kind is errors.BrowserFailedError else str(error),
        target=url,
        next_step=next((_ERROR_STEPS[one] for one in classes if one in _ERROR_STEPS), error.next_step),
        retryable=error.retryable or isinstance(error, browser_errors.DeadlineExceededError),
    )
