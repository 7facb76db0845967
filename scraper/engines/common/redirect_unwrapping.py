"""Decode the redirect URLs with which engines count clicks."""

from __future__ import annotations

import base64
import binascii
import re
from urllib.parse import SplitResult, parse_qs, unquote

from scraper.urls import is_web_url, split_url

_MAX_WRAPPINGS = 4
_MAX_CHARS = 16_000
_ENGINES = ("duckduckgo.com", "bing.com", "brave.com", "ecosia.org", "qwant.com", "startpage.com", "yahoo.com")

_WRAPPING_PATH = re.compile(
    r"^/(?:link|url|l/|l$|ck/a|goto|aclk|aclick|a/redirect|clck/|rss/articles/|read/|articles/)|/RU=", re.IGNORECASE
)
_FIELDS = ("uddg", "url", "u", "q", "imgrefurl", "target", "to", "dest", "destination")
_YAHOO = re.compile(r"/RU=([^/]+)(?:/R[A-Z]=|$)")
_NEWS_ID = re.compile(r"^/(?:rss/)?(?:articles|read)/([\w-]+=*)")
_GOOGLE_NEWS = "news.google.com"
_OPAQUE = b"AU_yqL"
_HTTP_BYTES = re.compile(rb"https?://[\x21-\x7e]+")


def unwrap_redirect(url: str) -> str:
    """Return the target of a redirect URL if it can be decoded, else the URL."""
    for _ in range(_MAX_WRAPPINGS):
        parts = split_url(url) if len(url) <= _MAX_CHARS else None
        inner = _inside(parts) if parts is not None else ""
        if not is_web_url(inner):
            return url
        url = inner
    return url


def is_opaque_redirect(url: str) -> bool:
    """Return True if an unwrapped URL is still a redirect that only a visit resolves: Google News, Google, Baidu."""
    parts = split_url(url)
    if parts is None:
        return False
    host = _host(parts)
    if host == _GOOGLE_NEWS:
        return _NEWS_ID.match(parts.path) is not None
    if host == "baidu.com":
        return parts.path == "/link" and "url=" in parts.query
    return _is_google(host) and parts.path == "/goto"


def _inside(parts: SplitResult) -> str:
    host = _host(parts)
    if host == _GOOGLE_NEWS:
        match = _NEWS_ID.match(parts.path)
        return _from_news_id(match.group(1)) if match else ""
    if host == "r.search.yahoo.com" or host.endswith(".search.yahoo.com"):
        match = _YAHOO.search(parts.path)
        return unquote(match.group(1)) if match else ""
    if host == "bing.com" and parts.path == "/ck/a":
        target = _field(parts, "u")  # `a1` and URL-safe base64 without padding
        return _decoded(target[2:]).decode("utf-8", "replace") if target.startswith("a1") else ""
    if host == "duckduckgo.com" and parts.path.rstrip("/") == "/l":
        return _field(parts, "uddg")
    if (_is_google(host) and parts.path in {"/url", "/imgres", "/search/url"}) or (
        _WRAPPING_PATH.search(parts.path) and _is_engine(host)
    ):
        return next((value for name in _FIELDS if is_web_url(value := _field(parts, name))), "")
    return ""


def _from_news_id(identity: str) -> str:
    """Return the URL in an old Google News article id (base64 of protocol buffers), or ""; new ids contain none."""
    payload = _decoded(identity)
    if not payload.startswith(b"\x08\x13\x22") or _OPAQUE in payload[:12]:
        return ""
    # The length takes one byte below 128, else two; an AMP URL may follow after D2 01.
    start, length = (5, payload[3] & 0x7F | payload[4] << 7) if payload[3] & 0x80 else (4, payload[3])
    match = _HTTP_BYTES.fullmatch(payload[start : start + length])
    return match.group().decode("ascii") if match else ""


def _decoded(text: str) -> bytes:
    text = text.rstrip("=")
    try:
        return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except (binascii.Error, ValueError):
        return b""


def _field(parts: SplitResult, name: str) -> str:
    try:
        return parse_qs(parts.query, max_num_fields=100).get(name, [""])[0]
    except ValueError:
        return ""


def _host(parts: SplitResult) -> str:
    return (parts.hostname or "").removeprefix("www.")


def _is_google(host: str) -> bool:
    return re.fullmatch(r"(?:[a-z]+\.)?google(?:\.com?)?(?:\.[a-z]{2,3})?", host) is not None


def _is_engine(host: str) -> bool:
    return any(host == engine or host.endswith(f".{engine}") for engine in _ENGINES) or "yandex" in host
