"""Canonical keys of URLs, which are equal for different URLs of one page. They are only compared, never visited."""

from __future__ import annotations

import re
from urllib.parse import parse_qsl, quote, unquote_to_bytes, urlencode

import ada_url

_MOBILE_LABELS = frozenset({"www", "m", "mobile", "amp"})
_INDEX_PAGE = re.compile(r"/(?:index|default)\.(?:html?|php|aspx?|jsp)$", re.IGNORECASE)
_AMP_SUFFIX = re.compile(r"/amp/?$")
_AMP_CACHE_HOST = re.compile(r"(?:^|\.)cdn\.ampproject\.org$")
_AMP_CACHE_PATH = re.compile(r"^/(?:c|v|i)/(?:s/)?")
_GOOGLE_AMP_PATH = re.compile(r"^/amp/(?:s/)?")
_GOOGLE_HOST = re.compile(r"^(?:www\.)?google\.[a-z.]{2,6}$")
_SLASHES = re.compile(r"/{2,}")
_UNRESERVED = re.compile(rb"%([0-9A-Fa-f]{2})")
_NEWS_WRAPPER = re.compile(r"^https://news\.google\.com/(?:rss/)?(?:articles|read)/")

_TRACKING = frozenset(
    "gclid gclsrc dclid gbraid wbraid fbclid msclkid yclid twclid ttclid igshid mc_cid mc_eid _hsenc _hsmi "
    "mkt_tok ref ref_src ref_url spm wfr for cmpid ocid oc si sca_esv srsltid".split()
)
"""Query parameters that identify the source of a visit."""
_TRACKING_FAMILIES = ("utm_", "vero_", "oly_")
_AMP_PARAMETERS = frozenset({("amp", "1"), ("amp", ""), ("outputtype", "amp")})


def url_dedup_key(url: str) -> str:
    """Return the key of a URL, or the text itself if it is not an http(s) URL."""
    try:
        parsed = ada_url.URL(url)
    except ValueError:
        return url.strip()
    if parsed.protocol not in {"http:", "https:"}:
        return url.strip()
    inner = _unwrap_amp_cache(parsed)
    if inner is not None:
        return url_dedup_key(inner)
    port = f":{parsed.port}" if parsed.port and parsed.port not in {"80", "443"} else ""
    query = _normalize_query(parsed.search.removeprefix("?"))
    # A fragment that selects a page of an application counts; others select a place in the page.
    fragment = parsed.hash.partition(":~:")[0] if parsed.hash.startswith(("#!", "#/")) else ""
    return f"{_normalize_host(parsed.hostname)}{port}{_normalize_path(parsed.pathname)}{query}{fragment}"


def host_key(url: str) -> str:
    """Return the host without www, m, mobile and amp; empty if there is none."""
    try:
        return _normalize_host(ada_url.URL(url).hostname)
    except ValueError:
        return ""


def is_google_news_redirect(url: str) -> bool:
    """Return True for a redirect URL of Google News: only a browser can find its target."""
    return _NEWS_WRAPPER.match(url) is not None


def _normalize_host(host: str) -> str:
    labels = host.rstrip(".").split(".")
    return ".".join([*(label for label in labels[:-2] if label not in _MOBILE_LABELS), *labels[-2:]])


def _unwrap_amp_cache(parsed: ada_url.URL) -> str | None:
    """Return the publisher's URL in a URL of an AMP cache, or None."""
    host, path = parsed.hostname, parsed.pathname
    if _AMP_CACHE_HOST.search(host) and _AMP_CACHE_PATH.match(path):
        return "https://" + _AMP_CACHE_PATH.sub("", path) + parsed.search
    if _GOOGLE_HOST.match(host) and _GOOGLE_AMP_PATH.match(path):
        return "https://" + _GOOGLE_AMP_PATH.sub("", path) + parsed.search
    return None


def _normalize_path(path: str) -> str:
    path = _UNRESERVED.sub(_decode_unreserved, path.encode()).decode()
    return _AMP_SUFFIX.sub("", _INDEX_PAGE.sub("/", _SLASHES.sub("/", path))).rstrip("/")


def _decode_unreserved(match: re.Match[bytes]) -> bytes:
    """Decode the escape of a letter, digit or -._~; write others in upper case."""
    raw = unquote_to_bytes(match.group())
    plain = raw.isalnum() or raw in b"-._~"
    return raw if plain and raw.isascii() else match.group().upper()


def _normalize_query(query: str) -> str:
    pairs = [
        (name, value)
        for name, value in parse_qsl(query, keep_blank_values=True)
        if name.lower() not in _TRACKING
        and not name.lower().startswith(_TRACKING_FAMILIES)
        and (name.lower(), value.lower()) not in _AMP_PARAMETERS
    ]
    return "?" + urlencode(sorted(pairs), quote_via=quote) if pairs else ""
