"""Read the response of a main document, paused before it is committed: status, headers, media type and body."""

import asyncio
import base64
import re
import zlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Self

import ada_url

from browsers.cdp.session import CommandFailedError, Event, Session


def parse_content_length(headers: Mapping[str, str]) -> int | None:
    """Return the `Content-Length` in bytes, or None if it is missing or invalid. Names are in lower case."""
    length = headers.get("content-length", "").strip()
    # More digits are not a valid length. Python does not parse more than 4,300.
    return int(length) if length.isascii() and length.isdecimal() and len(length) <= 18 else None


def resolve_location(base: str, location: str) -> str:
    """Resolve a `Location` header as browsers do, without credentials of its own; return an invalid one trimmed."""
    try:
        target, origin = ada_url.URL(location, base), ada_url.URL(base)
    except ValueError:
        return location.strip()
    if (target.username, target.password) not in (("", ""), (origin.username, origin.password)):
        target.username = target.password = ""
    return str(target.href)


_TEXT_TYPES = ("text/", "application/json", "application/xml", "application/javascript", "application/yaml")
_TEXT_SUFFIXES = ("+json", "+xml", "markdown")
_HTML_TAG = re.compile(
    rb"<(?:(?:!doctype html|html|head|script|iframe|h1|div|font|table|a|style|title|b|body|br|p)[\s>]|!--)"
)
"""Tags by which browsers detect HTML (MIME Sniffing, section 7.1), in lower case."""


def is_text_type(media_type: str) -> bool:
    """Return True if a body of this media type is text."""
    return media_type.startswith(_TEXT_TYPES) or media_type.endswith(_TEXT_SUFFIXES)


def sniff_media_type(data: bytes) -> str:
    """Detect the media type of a body without one: HTML, PDF, text or binary, a part of MIME Sniffing (section 7.1)."""
    head = data[:512].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if _HTML_TAG.match(head):
        return "text/html"
    if head.startswith(b"%pdf-"):
        return "application/pdf"
    return "text/plain" if data and b"\0" not in data[:512] else "application/octet-stream"


_PACKED = (b"\x1f\x8b\x08", b"\x78\x01", b"\x78\x9c", b"\x78\xda")
"""First bytes of gzip (RFC 1952, 2.3.1) and zlib (RFC 1950, 2.2); no text begins so."""
_BODYLESS = frozenset({204, 205, 304})
_REDIRECTS = frozenset({301, 302, 303, 307, 308})

_MEDIA_TYPE = re.compile(r"\s*([a-z0-9!#$&^_.+-]{1,40}/[a-z0-9!#$&^_.+-]{1,100})\s*(?:[;,]|$)", re.IGNORECASE)
"""RFC 6838, 4.2. Browsers ignore invalid types, and error messages must not contain arbitrary text."""
_UNKNOWN_TYPES = frozenset({"application/unknown", "unknown/unknown"})
"""Browsers sniff the content of these types (MIME Sniffing, section 7)."""

_READ_BYTES = (2 * 1024, 16 * 1024, 64 * 1024, 256 * 1024)
"""Bytes of successive reads. A read answers only when full or at the end, so slow bodies begin with small reads."""

DELIVERY_S = 1.0
"""Seconds for the browser to deliver received data after the connection has ended."""

TRANSFER_HEADERS = frozenset({"content-encoding", "content-length", "transfer-encoding"})
"""Headers that are wrong for a body that was read and is handed back decoded."""


def _by_name(raw: Iterable[tuple[str, str]]) -> MappingProxyType[str, str]:
    """Map lower-case names to values without cookies: the first value counts; directives for robots add up."""
    headers: dict[str, str] = {}
    for written, value in raw:
        name = written.lower()
        separator = {"link": ", ", "x-robots-tag": "\n"}.get(name)
        headers[name] = (
            f"{headers[name]}{separator}{value}" if separator and name in headers else headers.get(name, value)
        )
    headers.pop("set-cookie", None)
    return MappingProxyType(headers)


@dataclass(frozen=True, slots=True)
class PausedResponse:
    """One response of the main frame: paused at the response stage (`of`), or already received (`of_received`)."""

    request_id: str
    url: str
    status: int
    raw_headers: tuple[tuple[str, str], ...]
    headers: MappingProxyType[str, str]
    """Values by lower-case name. The first of repeated headers counts. Cookies are left out."""
    loader_id: str = ""
    """Loader id of the document that it may become, or empty if unknown."""

    @classmethod
    def of(cls, event: Event) -> Self:
        """Create it from a `Fetch.requestPaused` event at the response stage."""
        headers = tuple((h["name"], h["value"]) for h in event.get("responseHeaders", ()))
        url = event["request"]["url"] + event["request"].get("urlFragment", "")
        status, loader_id = event["responseStatusCode"], event.get("networkId", "")
        return cls(event["requestId"], url, status, headers, _by_name(headers), loader_id)

    @classmethod
    def of_received(cls, event: Event) -> Self:
        """Create it from a `Network.responseReceived` event of a document that was not paused."""
        response = event["response"]
        headers = ((name, value) for name, values in response["headers"].items() for value in values.split("\n"))
        return cls("", response["url"], response["status"], (), _by_name(headers), event["loaderId"])

    @property
    def location(self) -> str | None:
        """Target of a redirect as written, or None if it does not redirect."""
        # Browsers ignore an empty location and show the body.
        return self.headers.get("location") or None if self.status in _REDIRECTS else None

    @property
    def content_type(self) -> str:
        """Content-Type as sent, or empty if missing."""
        return self.headers.get("content-type", "")

    @property
    def media_type(self) -> str:
        """Media type in lower case without parameters, or empty if missing or invalid."""
        declared = _MEDIA_TYPE.match(self.content_type)
        media_type = declared[1].lower() if declared else ""
        return "" if media_type in _UNKNOWN_TYPES else media_type

    @property
    def is_page(self) -> bool:
        """True if a browser would show it as a page. Undeclared content counts as a page until it is read."""
        if "attachment" in self.headers.get("content-disposition", "").lower():
            return False
        return self.media_type in {"", "text/html", "application/xhtml+xml"} and self.status not in _BODYLESS

    @property
    def known_bytes(self) -> int | None:
        """Decoded size in bytes, or None if unknown, as for a compressed body."""
        encoded = self.headers.get("content-encoding", "identity").strip().lower() not in {"", "identity"}
        return None if encoded else parse_content_length(self.headers)


@dataclass(frozen=True, slots=True)
class ResponseBody:
    """Body of a response. A `streamed` body must be handed back to the browser before it can be rendered."""

    data: bytes = b""
    truncated: bool = False
    streamed: bool = False


async def read_body(
    session: Session, response: PausedResponse, cap_bytes: int, limit_s: float, cut: Callable[[], None]
) -> ResponseBody:
    """Read the decoded body of a paused response up to a size limit and a time limit.

    `cut` closes its connection: before that, the browser delivers nothing of a body that stalls. Raises
    CommandFailedError if the connection ended before any of the body came, and TimeoutError if none of the body came
    in time.
    """
    if response.status in _BODYLESS:
        return ResponseBody()
    was_cut = False

    def end() -> None:
        nonlocal was_cut
        was_cut = True
        cut()

    ending = asyncio.get_running_loop().call_later(limit_s, end)
    try:
        body = await _read(session, response, cap_bytes, limit_s + DELIVERY_S)
    except CommandFailedError:
        if was_cut:
            raise TimeoutError from None
        raise
    finally:
        ending.cancel()
    if was_cut and not body.data:
        raise TimeoutError
    return decompress(replace(body, truncated=True) if was_cut else body, response, cap_bytes)


def decompress(body: ResponseBody, response: PausedResponse, cap_bytes: int) -> ResponseBody:
    """Return a page that the server compressed without declaring it as the page; other bodies as they are."""
    if not body.data.startswith(_PACKED) or not (response.is_page or response.media_type.startswith("text/")):
        return body
    unpacker = zlib.decompressobj(47)
    try:
        data = unpacker.decompress(body.data, cap_bytes)
    except zlib.error:
        return body
    return ResponseBody(data, body.truncated or not unpacker.eof, streamed=True)


async def _read(session: Session, response: PausedResponse, cap_bytes: int, limit_s: float) -> ResponseBody:
    known = response.known_bytes
    if known is None or known > cap_bytes:
        return await _read_stream(session, response, cap_bytes, limit_s)
    answer = await session.send("Fetch.getResponseBody", requestId=response.request_id, limit_s=limit_s)
    data = _decode_body(answer, "body")
    # After a broken connection the body is shorter than declared.
    return ResponseBody(data, truncated=len(data) < known)


async def _read_stream(session: Session, response: PausedResponse, cap_bytes: int, limit_s: float) -> ResponseBody:
    handle = (await session.send("Fetch.takeResponseBodyAsStream", requestId=response.request_id))["stream"]
    pieces: list[bytes] = []
    total = 0
    try:
        async with asyncio.timeout(limit_s):
            while total <= cap_bytes:
                size = _READ_BYTES[min(len(pieces), len(_READ_BYTES) - 1)]
                answer = await session.start("IO.read", handle=handle, size=size)
                pieces.append(_decode_body(answer, "data"))
                total += len(pieces[-1])
                if answer["eof"]:
                    return ResponseBody(b"".join(pieces), streamed=True)
    except (CommandFailedError, TimeoutError):
        if not total:
            raise
    finally:
        session.post("IO.close", handle=handle)
    return ResponseBody(b"".join(pieces)[:cap_bytes], truncated=True, streamed=True)


def _decode_body(answer: Event, key: str) -> bytes:
    text = str(answer[key])
    return base64.b64decode(text) if answer.get("base64Encoded") else text.encode("utf-8", "surrogatepass")
