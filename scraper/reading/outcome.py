"""Turn the result of a visit into a reading, or into the error that tells the caller what to do next."""

from __future__ import annotations

import email.utils
import http
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import TypeVar

from browsers import errors as door
from browsers.model import Snapshot
from browsers.navigation.response import parse_content_length
from scraper import errors
from scraper.model import Document, Reading, VerdictKind
from scraper.urls import host_of, same_site

PAUSE_S = 0.5
"""Before a failing site is asked again, when it names no time itself."""

_WITHOUT_CONTENT = frozenset({204, 205, 304})
_PASSING = frozenset({408, 425, 500, 502, 503, 504})
"""Statuses that are often over at the next request."""
_JUDGES_BROWSERS = frozenset({"captcha", "challenge", "denied", "proof_of_work"})
"""Walls that may let another browser in; the others stand before everyone."""

_PDF_MARK = b"%PDF-"
_DOCUMENT_TYPES = (
    "application/pdf",
    "application/msword",
    "application/rtf",
    "application/epub+zip",
    "application/vnd.ms-",
    "application/vnd.openxmlformats-",
    "application/vnd.oasis.opendocument.",
)

_TEXT_FORMATS = frozenset({"csv", "eml", "feed", "html", "ipynb", "json", "markdown", "text", "txt", "xml"})

_UNASKED = 'The page shows next to nothing without its scripts: use render="auto" or "browser".'
_PERHAPS_MORE = 'Parts of the page may come by its scripts; to have them use render="auto" or "browser".'
_UNRENDERED = "The page is too large to be rendered: this is what the server sent, before any script ran."
_CUT_UNRENDERED = "It was not rendered: this is what had come, before any script ran."

_WALLS = {
    "captcha": "asks for a captcha",
    "challenge": "checks browsers before it lets them in",
    "consent": "shows a consent dialog instead of the page",
    "denied": "does not let this reader in",
    "javascript": "asks for JavaScript, which was on",
    "login": "asks for a login",
    "proof_of_work": "makes browsers work before it lets them in",
    "rate_limit": "limits how often it may be asked",
}
_LATER = "Try later, or another source."
_WALL_STEPS = {
    "login": "The page is not public: look for another source.",
}
_STATUS_STEPS = {
    401: "The page asks for a login: look for another source.",
    402: "The page asks for payment: look for another source.",
    403: "The site refuses to show it to this reader: look for another source.",
    404: "Check the address, or look for the page with `search`.",
    410: "The page was removed: look for it with `search`.",
    451: "The page is withheld for legal reasons: look for another source.",
}


def build_reading(snapshot: Snapshot, document: Document, *, may_render: bool, requested_url: str) -> Reading:
    """The reading that a visit came to; `may_render`: it was to be rendered where that helps.

    Raises:
        Walled, HttpError, Empty, Malformed, UnsupportedType, TimedOut: there is no content; it says why.
    """
    check_content(snapshot, document)
    if _is_file(snapshot, document):
        raise _unsupported(snapshot)
    if may_render and not document.markdown.strip():
        raise _blank(snapshot)
    return Reading(
        document=document,
        url=snapshot.url,
        requested_url=requested_url,
        status=snapshot.status,
        method="browser" if snapshot.rendered else "http",
        cached=False,
        retrieved_at=datetime.now(UTC),
        truncated=snapshot.truncated,
        warnings=tuple(_warnings(snapshot, document, may_render, requested_url)),
    )


def check_content(snapshot: Snapshot, document: Document) -> None:
    """Whether the site gave what was asked for, page or document.

    Raises:
        Walled, HttpError, Empty: it did not; the sentence says why.
    """
    if document.verdict.kind is VerdictKind.BLOCKED:
        raise _walled(snapshot, document)
    if snapshot.status in _WITHOUT_CONTENT or (
        _is_success(snapshot) and not (snapshot.body or snapshot.html)
    ):
        raise _nothing_sent(snapshot)
    if not _is_success(snapshot):
        raise _http_error(snapshot)


def redirect_warnings(snapshot: Snapshot, requested_url: str) -> Iterator[str]:
    """What is to be said of the way to a response, whatever was read in it."""
    if snapshot.url != requested_url and not same_site(requested_url, snapshot.url):
        yield f"Redirected to another site: {host_of(snapshot.url)}."
    if snapshot.truncated:
        yield "The page was cut off: it is larger, or came more slowly, than the limits allow."


def document_hint(reading: Reading) -> str:
    """What `fetch` says of a document, which has a tool of its own; empty for pages and texts."""
    kind = reading.document.format
    if reading.method != "document" or kind is None or kind in _TEXT_FORMATS:
        return ""
    return f"This is a document ({kind.upper()}): `read_doc` is the tool for it, and can select its pages."


def may_admit_full_browser(snapshot: Snapshot, document: Document) -> bool:
    """Whether another browser could be let in where this one was not."""
    verdict = document.verdict
    if verdict.kind is VerdictKind.BLOCKED:
        return verdict.reason in _JUDGES_BROWSERS
    return snapshot.status == 403


def retry_pause_s(snapshot: Snapshot) -> float | None:
    """After which pause the same request may fare better; None: it would not, or the site says no number."""
    asked = parse_retry_after_s(snapshot)
    if snapshot.status in _PASSING:
        return PAUSE_S if asked is None else asked
    return asked if snapshot.status == 429 else None


def is_cacheable(snapshot: Snapshot, reading: Reading) -> bool:
    """Whether the same page would read the same tomorrow: nothing half done is kept."""
    document = reading.document
    whole = snapshot.complete and not snapshot.truncated
    return whole and document.verdict.ok and not document.degraded


def _is_success(snapshot: Snapshot) -> bool:
    return 200 <= snapshot.status < 300


def _is_file(snapshot: Snapshot, document: Document) -> bool:
    """Whether what came is no text, whatever it is declared to be."""
    if not snapshot.html and not snapshot.is_html:
        return True
    return document.verdict.reason == "binary" or snapshot.body.startswith(_PDF_MARK)


def parse_retry_after_s(snapshot: Snapshot) -> float | None:
    """How long the site asks to be left alone; None when it does not say."""
    value = snapshot.headers.get("retry-after", "").strip()
    if re.fullmatch(r"[0-9]{1,9}", value):
        return float(value)
    try:
        moment = email.utils.parsedate_to_datetime(value).astimezone(UTC)
    except (ValueError, TypeError, IndexError, OverflowError):
        # Years and zones beyond the calendar are no moment.
        return None
    return max(0.0, (moment - datetime.now(UTC)).total_seconds())


def _span(seconds: float) -> str:
    """A time in the unit that people would use."""
    for unit, size in (("s", 1), ("min", 60), ("h", 3_600)):
        if seconds < 120 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds / 86_400:,.0f} days"


def _warnings(snapshot: Snapshot, document: Document, may_render: bool, requested_url: str) -> Iterator[str]:
    yield from redirect_warnings(snapshot, requested_url)
    if not snapshot.complete and snapshot.rendered:
        yield "The page was still loading when it was read: parts may be missing."
    elif not snapshot.complete:
        yield "The page could not be rendered in time: this is what the server sent, before any script ran."
    elif snapshot.is_html and not snapshot.rendered and document.verdict.kind is VerdictKind.THIN:
        hollow = document.verdict.reason == "hollow"
        unrendered = _CUT_UNRENDERED if snapshot.truncated else _UNRENDERED
        yield unrendered if may_render else _PERHAPS_MORE if hollow else _UNASKED
    if document.degraded:
        yield "The page is too complex to be read in full detail: navigation may be mixed into the text."


def _nothing_sent(snapshot: Snapshot) -> errors.UnreadableError:
    if snapshot.status not in _WITHOUT_CONTENT and _declares_content(snapshot):
        return errors.MalformedDocumentError(
            f"{host_of(snapshot.url)} answered {_status_words(snapshot.status)}, "
            "but its body cannot be decoded.",
            target=snapshot.requested_url,
            next_step="Its answer is damaged: try again later, or another source.",
        )
    return errors.NoContentError(
        f"{host_of(snapshot.url)} answered {_status_words(snapshot.status)} without any content.",
        target=snapshot.requested_url,
        next_step="There is nothing to read at this address: try another one.",
    )


def _declares_content(snapshot: Snapshot) -> bool:
    """Whether the headers speak of a body; the browser hands none on that it cannot decode."""
    headers = snapshot.headers
    return bool(parse_content_length(headers)) or "chunked" in headers.get("transfer-encoding", "").lower()


def _blank(snapshot: Snapshot) -> errors.ScraperError:
    host, target = host_of(snapshot.url), snapshot.requested_url
    if not snapshot.complete:
        return errors.FetchTimeoutError(
            f"The page at {host} had nothing to show when the time was up.",
            target=target,
            next_step="Try again later, or another source.",
        )
    if snapshot.truncated:
        return errors.NoContentError(
            f"The page at {host} was cut off before any text of it had come.",
            target=target,
            next_step="Try again later, or another source.",
        )
    return errors.NoContentError(
        f"The page at {host} shows no text of its own.",
        target=target,
        next_step="It may need a login or an action of its user: try another source.",
    )


def _unsupported(snapshot: Snapshot) -> errors.UnsupportedTypeError:
    # Some servers call every file a page.
    declared = "application/pdf" if snapshot.body.startswith(_PDF_MARK) else snapshot.media_type
    media_type = declared or "application/octet-stream"
    readable = media_type.startswith(_DOCUMENT_TYPES)
    return errors.UnsupportedTypeError(
        f"{host_of(snapshot.url)} sent a file of type {media_type}, not a page.",
        target=snapshot.requested_url,
        next_step="Use `read_doc` for it." if readable else "Only pages and text can be read.",
    )


def _walled(snapshot: Snapshot, document: Document) -> errors.BlockedBySiteError:
    reason = document.verdict.reason
    what = _WALLS.get(reason, _WALLS["denied"])
    status = "" if _is_success(snapshot) else _status_words(snapshot.status)
    return errors.BlockedBySiteError(
        f"{host_of(snapshot.url)} {what}{_noted(status)}.",
        reason=reason or "blocked",
        target=snapshot.requested_url,
        next_step=_limits_step(snapshot) if reason == "rate_limit" else _WALL_STEPS.get(reason, _LATER),
    )


def _http_error(snapshot: Snapshot) -> errors.HttpStatusError:
    status = snapshot.status
    return errors.HttpStatusError(
        # Nothing of the page's own words: an error stands outside the region that is marked as the web's.
        f"{host_of(snapshot.url)} answered {_status_words(status)}.",
        status=status,
        target=snapshot.requested_url,
        next_step=_status_step(snapshot),
    )


def _status_step(snapshot: Snapshot) -> str:
    status = snapshot.status
    if status == 429:
        return _limits_step(snapshot)
    if status >= 500:
        return _asked_pause(snapshot) or "The site is failing: try again later, or another source."
    return _STATUS_STEPS.get(status, "Check the address, or try another source.")


def _limits_step(snapshot: Snapshot) -> str:
    return _asked_pause(snapshot) or "The site limits how often it may be asked: try again in a few minutes."


def _asked_pause(snapshot: Snapshot) -> str:
    wait_s = parse_retry_after_s(snapshot)
    return "" if wait_s is None else f"The site asks to try again in {_span(wait_s)}."


def _status_words(status: int) -> str:
    try:
        return f"{status} {http.HTTPStatus(status).phrase}"
    except ValueError:
        return str(status)


def _noted(*notes: str) -> str:
    """Notes in brackets; nothing where there are none."""
    told = ", ".join(note for note in notes if note)
    return f" ({told})" if told else ""


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


def map_browser_error(error: door.BrowsersError, url: str) -> errors.ScraperError:
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
