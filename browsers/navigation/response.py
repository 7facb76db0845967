"""Main document at its response stage: status, headers and body are known and nothing is committed."""

from __future__ import annotations

import asyncio
import base64
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from browsers.cdp.session import CommandFailedError, Event, Session

_LENGTH = re.compile(r"\s*([0-9]{1,18})\s*")
"""More digits are no length of anything; Python does not read more than 4,300."""


def parse_content_length(headers: Mapping[str, str]) -> int | None:
    """The `Content-Length`; None where there is none that could be."""
    found = _LENGTH.fullmatch(headers.get("content-length", ""))
    return int(found[1]) if found else None


TEXT_TYPES = ("text/", "application/json", "application/xml", "application/javascript", "application/yaml")
TEXT_SUFFIXES = ("+json", "+xml")
_PAGE = re.compile(
    rb"<(?:(?:!doctype html|html|head|script|iframe|h1|div|font|table|a|style|title|b|body|br|p)[\s>]|!--)"
)
"""What browsers take for a page (MIME Sniffing, section 7.1), in lower case."""


def is_text_type(media_type: str) -> bool:
    """Whether a body of this type is letters, to be decoded."""
    return media_type.startswith(TEXT_TYPES) or media_type.endswith(TEXT_SUFFIXES)


def sniff_media_type(data: bytes) -> str:
    """The type of a body that came without one: a page, text, or neither."""
    head = data[:512].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if _PAGE.match(head):
        return "text/html"
    if head.startswith(b"%pdf-"):
        return "application/pdf"
    return "text/plain" if data and b"\0" not in data[:512] else "application/octet-stream"


BODYLESS = frozenset({204, 205, 304})
REDIRECTS = frozenset({301, 302, 303, 307, 308})

_MEDIA_TYPE = re.compile(r"\s*([a-z0-9!#$&^_.+-]{1,40}/[a-z0-9!#$&^_.+-]{1,100})\s*(?:[;,]|$)", re.IGNORECASE)
"""RFC 6838, 4.2. What is no type is none to browsers; and who is told the type reads no sentence there."""
_UNDECLARED = frozenset({"application/unknown", "unknown/unknown"})
"""Browsers look at the content of these (MIME Sniffing, section 7)."""

READ_BYTES = (2 * 1024, 16 * 1024, 64 * 1024, 256 * 1024)
"""A read answers only when it is full or the body ends, so slow bodies are begun with small ones."""

HANDING_ON_S = 1.0
"""How long the browser may take to give what had come, once the connection has ended."""

NOT_PASSED_ON = frozenset({"content-encoding", "content-length", "transfer-encoding"})
"""Headers of the wire form: wrong for a body that was read out and is handed back decoded."""


@dataclass(frozen=True, slots=True)
class PausedResponse:
    """One response of the main frame, held at the response stage."""

    request_id: str
    url: str
    status: int
    raw_headers: tuple[tuple[str, str], ...]
    headers: MappingProxyType[str, str]
    """By name in lower case; of repeated ones the first, except cookies, which are left out."""
    loader_id: str = ""
    """Of the document that it may become; empty where that is not told."""

    @classmethod
    def of(cls, event: Event) -> PausedResponse:
        """From a `Fetch.requestPaused` event at the response stage."""
        headers = tuple((h["name"], h["value"]) for h in event.get("responseHeaders", ()))
        url = event["request"]["url"] + event["request"].get("urlFragment", "")
        by_name: dict[str, str] = {}
        for name, value in headers:
            by_name.setdefault(name.lower(), value)
        by_name.pop("set-cookie", None)
        status, loader_id = event["responseStatusCode"], event.get("networkId", "")
        return cls(event["requestId"], url, status, headers, MappingProxyType(by_name), loader_id)

    @classmethod
    def told(cls, event: Event) -> PausedResponse:
        """From a `Network.responseReceived` event of a document that was not held."""
        response = event["response"]
        headers = {name.lower(): value.split("\n", 1)[0] for name, value in response["headers"].items()}
        headers.pop("set-cookie", None)
        by_name = MappingProxyType(headers)
        return cls("", response["url"], response["status"], (), by_name, event["loaderId"])

    @property
    def location(self) -> str | None:
        """Where it redirects to, as written; None when it does not."""
        # An empty one leads nowhere: browsers show what came with it.
        return self.headers.get("location") or None if self.status in REDIRECTS else None

    @property
    def content_type(self) -> str:
        """As sent; empty when the site did not say."""
        return self.headers.get("content-type", "")

    @property
    def media_type(self) -> str:
        """In lower case, without parameters; empty when the site did not say, or said what is no type."""
        declared = _MEDIA_TYPE.match(self.content_type)
        media_type = declared[1].lower() if declared else ""
        return "" if media_type in _UNDECLARED else media_type

    @property
    def is_page(self) -> bool:
        """Whether a browser would show it as a page: undeclared content is taken for one until read."""
        if "attachment" in self.headers.get("content-disposition", "").lower():
            return False
        return self.media_type in {"", "text/html", "application/xhtml+xml"} and self.status not in BODYLESS

    @property
    def known_bytes(self) -> int | None:
        """Decoded size, where the headers tell: a compressed body's is not known, and may be a bomb's."""
        encoded = self.headers.get("content-encoding", "identity").strip().lower() not in {"", "identity"}
        return None if encoded else parse_content_length(self.headers)


@dataclass(frozen=True, slots=True)
class ResponseBody:
    """A response's body; `streamed` ones must be handed back to the browser to be rendered."""

    data: bytes = b""
    truncated: bool = False
    streamed: bool = False


async def read_body(
    session: Session, response: PausedResponse, cap_bytes: int, limit_s: float, cut: Callable[[], None]
) -> ResponseBody:
    """Read the body of a paused response, decoded, up to a cap; what has come by `limit_s` is kept.

    `cut` ends its connection: of a body that stalls the browser gives nothing before.

    Raises:
        CommandFailed: the connection ended before anything of the body came.
        TimeoutError: nothing of it came in time.
    """
    if response.status in BODYLESS:
        return ResponseBody()
    was_cut = False

    def end() -> None:
        nonlocal was_cut
        was_cut = True
        cut()

    ending = asyncio.get_running_loop().call_later(limit_s, end)
    try:
        body = await _read(session, response, cap_bytes, limit_s + HANDING_ON_S)
    except CommandFailedError:
        if was_cut:
            raise TimeoutError from None
        raise
    finally:
        ending.cancel()
    if was_cut and not body.data:
        raise TimeoutError
    return replace(body, truncated=True) if was_cut else body


async def _read(session: Session, response: PausedResponse, cap_bytes: int, limit_s: float) -> ResponseBody:
    known = response.known_bytes
    if known is None or known > cap_bytes:
        return await _read_stream(session, response, cap_bytes, limit_s)
    answer = await session.send("Fetch.getResponseBody", requestId=response.request_id, limit_s=limit_s)
    data = _decoded(answer, "body")
    # A connection that broke off leaves a body shorter than was promised.
    return ResponseBody(data, truncated=len(data) < known)


async def _read_stream(
    session: Session, response: PausedResponse, cap_bytes: int, limit_s: float
) -> ResponseBody:
    taken = await session.send("Fetch.takeResponseBodyAsStream", requestId=response.request_id)
    handle, total = taken["stream"], 0
    pieces: list[bytes] = []
    try:
        async with asyncio.timeout(limit_s):
            while total <= cap_bytes:
                size = READ_BYTES[min(len(pieces), len(READ_BYTES) - 1)]
                answer = await session.start("IO.read", handle=handle, size=size)
                pieces.append(_decoded(answer, "data"))
                total += len(pieces[-1])
                if answer["eof"]:
                    return ResponseBody(b"".join(pieces), streamed=True)
    except (CommandFailedError, TimeoutError):
        if not total:
            raise
    finally:
        session.post("IO.close", handle=handle)
    return ResponseBody(b"".join(pieces)[:cap_bytes], truncated=True, streamed=True)


def _decoded(answer: Event, key: str) -> bytes:
    text = str(answer[key])
    return base64.b64decode(text) if answer.get("base64Encoded") else text.encode("utf-8", "surrogatepass")
