"""Parse sitemaps, sitemap indexes, feeds and lists of URLs, also damaged ones, in bounded memory.

Sitemaps are scanned for their elements and not parsed as XML: sites serve sitemaps with bare `&`, cut files and text
before the declaration, and no entity is ever expanded. Source of the format: sitemaps.org/protocol.html.
"""

import html
import json
import re
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from urllib.parse import urlsplit

import webencodings

from scraper.text.sanitize import clean_line
from scraper.urls import join_url

MAX_BYTES = 52_428_800
"""Bytes of a file after decompression that are read. sitemaps.org allows no more."""
MAX_ENTRIES = 100_000
"""URLs that are read from one file. sitemaps.org allows 50,000."""
_MAX_BLOCK = 20_000
_MAX_TITLE = 300
_MAX_URL = 2_000
_FEED_CHARACTERS = 4_000_000
_CHUNK = 1 << 20
_GZIP = b"\x1f\x8b"
_GZIP_LAYERS = 2
"""Some servers compress a `.gz` file once more."""

_FEED_START = re.compile(r"<(?:rss|feed|rdf:RDF)[\s>]", re.IGNORECASE)
_OPENING = re.compile(r"<((?:[\w-]+:)?)(url|sitemap)(?:\s[^<>]*)?>", re.IGNORECASE)
_MODIFIED, _TITLE, _TRANSLATION = (
    re.compile(rf"<{element}", re.IGNORECASE)
    for element in (
        r"(?:[\w-]+:)?lastmod\s*>\s*(?:<!\[CDATA\[)?\s*(\d{4}-\d\d-\d\d)",
        r"(?:news:)?title\s*>([^<]*(?:<!\[CDATA\[[^\]]*)?)",
        r"(?:[\w-]+:)?link\s[^>]*>",
    )
)
_DECLARED = re.compile(rb"\s*<\?xml[^>]*\sencoding\s*=\s*[\"']([\w.:-]+)")
_LANGUAGE = re.compile(r"""\shreflang\s*=\s*["']([\w-]+)["']""", re.IGNORECASE)
_TARGET = re.compile(r"""\shref\s*=\s*["']([^"'<>]+)["']""", re.IGNORECASE)
_URL_LINE = re.compile(r"https?://\S+", re.IGNORECASE)
_MARKDOWN_LINK = re.compile(r"^[ \t]*[-*+][ \t]+\[([^\]\n]{1,300})\]\([ \t]*([^)\s]{1,2000})", re.MULTILINE)
_ROBOTS_LINE = re.compile(r"^[^\S\n]*sitemap[^\S\n]*:[^\S\n]*([^\s#]+)", re.IGNORECASE | re.MULTILINE)


@dataclass(frozen=True, slots=True)
class SitemapEntry:
    """One URL that a site lists."""

    url: str
    modified: str = ""
    """Date of the last change, YYYY-MM-DD, as the site states it."""
    title: str = ""
    language: str = ""
    """Its own language, if the site lists its translations beside it."""


@dataclass(frozen=True, slots=True)
class SitemapFile:
    """Content of a sitemap, an index, a feed or a text list."""

    entries: tuple[SitemapEntry, ...] = ()
    sitemaps: tuple[str, ...] = ()
    """URLs of further sitemaps in an index."""
    is_cut: bool = False
    """True if the file is longer than the limits, or a feed has as many entries as are read."""

    @property
    def is_empty(self) -> bool:
        """True if the file lists nothing: it is none of these formats."""
        return not self.entries and not self.sitemaps


def parse_sitemap(data: bytes, url: str) -> SitemapFile:
    """Return the entries of a sitemap, feed or list; nothing for other content, such as an error page."""
    stream = _Decompressed(data)
    chunks = _decode(stream)
    head = next(chunks, "").lstrip("\ufeff \t\r\n")
    if head[:20].lower().startswith(("<!doctype html", "<html")):
        return SitemapFile()
    if _FEED_START.search(head[:4_096]):
        return _read_feed(chain((head,), chunks), url)
    if head.startswith("{"):
        return _read_json_feed(chain((head,), chunks), url)
    if not head.startswith("<"):
        if urlsplit(url).path.endswith("/llms.txt"):
            return _read_markdown_list(_join(chain((head,), chunks)), url)
        lines = _read_lines(chain((head,), chunks))
        is_cut = stream.is_cut or len(lines) > MAX_ENTRIES
        return SitemapFile(tuple(map(SitemapEntry, lines[:MAX_ENTRIES])), is_cut=is_cut)
    entries: list[SitemapEntry] = []
    sitemaps: dict[str, None] = {}
    for prefix, kind, block in _find_blocks(chain((head,), chunks)):
        # Images and videos beside the URL have another prefix.
        location = re.search(rf"<{prefix}loc(?:\s[^<>]*)?>([^<]*(?:<!\[CDATA\[[^\]]*)?)", block, re.IGNORECASE)
        absolute = _find_url(location.group(1), url) if location else ""
        if not absolute:
            continue
        if len(entries) + len(sitemaps) >= MAX_ENTRIES:
            return SitemapFile(tuple(entries), tuple(sitemaps), is_cut=True)
        if kind == "sitemap":
            sitemaps[absolute] = None
        else:
            modified, title = _MODIFIED.search(block), _TITLE.search(block)
            name = html.unescape(title.group(1).replace("<![CDATA[", "").strip()) if title else ""
            language = _find_language(absolute, block) if "hreflang" in block else ""
            date = modified.group(1) if modified else ""
            entries.append(SitemapEntry(absolute, date, clean_line(name, _MAX_TITLE), language))
    return SitemapFile(tuple(entries), tuple(sitemaps), is_cut=stream.is_cut)


def find_sitemaps(robots: str, url: str) -> list[str]:
    """Return the sitemaps listed in the text of a robots.txt at `url`; none if it is an HTML page."""
    text = robots.lstrip("\ufeff \t\r\n").replace("\r", "\n")
    if text.startswith("<"):
        return []
    named = (join_url(url, match.group(1)) for match in _ROBOTS_LINE.finditer(text))
    return list(dict.fromkeys(address for address in named if _URL_LINE.match(address)))


class _Decompressed:
    """Chunks of a file without its gzip layers, at most `MAX_BYTES` of each layer."""

    def __init__(self, data: bytes) -> None:
        self.is_cut = False
        self._data = data

    def __iter__(self) -> Iterator[bytes]:
        chunks = iter(self._data[at : at + _CHUNK] for at in range(0, len(self._data), _CHUNK))
        return self._gunzip(chunks, _GZIP_LAYERS)

    def _gunzip(self, chunks: Iterator[bytes], layers: int) -> Iterator[bytes]:
        """Decompress up to `layers` layers; data after a damaged part is lost."""
        chunks = self._limit(chunks)
        first = next(chunks, b"")
        chunks = chain((first,), chunks)
        return self._gunzip(_inflate(chunks), layers - 1) if layers and first.startswith(_GZIP) else chunks

    def _limit(self, chunks: Iterator[bytes]) -> Iterator[bytes]:
        left = MAX_BYTES
        for chunk in chunks:
            yield chunk[:left]
            left -= len(chunk)
            if left <= 0:
                self.is_cut = True
                return


def _inflate(chunks: Iterator[bytes]) -> Iterator[bytes]:
    inflater = zlib.decompressobj(16 + zlib.MAX_WBITS)
    try:
        for chunk in chunks:
            piece = inflater.decompress(chunk, _CHUNK)
            yield piece
            while inflater.unconsumed_tail:
                yield inflater.decompress(inflater.unconsumed_tail, _CHUNK)
    except zlib.error:
        return


def _decode(chunks: Iterable[bytes]) -> Iterator[str]:
    """Return the text of a file by its byte order mark, else in the encoding that it declares, else in UTF-8."""
    chunks = iter(chunks)
    first = next(chunks, b"")
    declared = _DECLARED.match(first[:_MAX_URL])
    encoding = webencodings.lookup(declared[1].decode()) if declared else None
    if encoding is None or encoding.name.startswith("utf-16"):  # a declaration that is readable is not UTF-16
        encoding = webencodings.UTF8
    return iter(webencodings.iter_decode(chain((first,), chunks), encoding)[0])


def _find_blocks(chunks: Iterator[str]) -> Iterator[tuple[str, str, str]]:
    """Yield prefix, name and text of each element `url` and `sitemap` outside of comments."""
    rest, is_comment = "", False
    prefix, kind = "", ""
    for chunk in chunks:
        text = rest + chunk
        at = 0
        for opening in _OPENING.finditer(text):
            block = text[at : opening.start()]
            if kind and not is_comment:
                yield prefix, kind, block[:_MAX_BLOCK]
            is_comment = _is_in_comment(block, is_comment)
            prefix, kind, at = opening[1].lower(), opening[2].lower(), opening.end()
        rest = text[at:]
        if len(rest) > _MAX_BLOCK:
            if kind and not is_comment:
                yield prefix, kind, rest[:_MAX_BLOCK]
            is_comment, kind = _is_in_comment(rest, is_comment), ""
            # An opening tag may be cut by the end of the chunk.
            rest = rest[-_MAX_BLOCK:]
    if kind and not is_comment:
        yield prefix, kind, rest[:_MAX_BLOCK]


def _is_in_comment(block: str, is_comment: bool) -> bool:
    begin, end = block.rfind("<!--"), block.rfind("-->")
    return begin > end or (is_comment and end < 0)


def _find_url(text: str, base: str) -> str:
    address = text.replace("<![CDATA[", "").strip()
    if "&" in address:
        address = html.unescape(address)
    absolute = address if _URL_LINE.match(address) else join_url(base, address) if address else ""
    return absolute if len(absolute) <= _MAX_URL and _URL_LINE.fullmatch(absolute) else ""


def _find_language(url: str, block: str) -> str:
    """Return the language of an entry, which is the translation with its own URL; "" if there is none."""
    for tag in _TRANSLATION.findall(block):
        language, target = _LANGUAGE.search(tag), _TARGET.search(tag)
        if language and target and html.unescape(target.group(1)) == url:
            return language.group(1).lower()
    return ""


def _read_markdown_list(text: str, url: str) -> SitemapFile:
    """Return the links of a list in Markdown (llmstxt.org): `- [name](URL): notes`."""
    found = ((_find_url(match[2], url), clean_line(match[1], _MAX_TITLE)) for match in _MARKDOWN_LINK.finditer(text))
    return SitemapFile(tuple(SitemapEntry(url, title=title) for url, title in found if url)[:MAX_ENTRIES])


def _read_lines(chunks: Iterator[str]) -> list[str]:
    lines: list[str] = []
    rest = ""
    for chunk in chunks:
        *complete, rest = (rest + chunk).splitlines() or [""]
        lines += [line.strip() for line in complete if _URL_LINE.fullmatch(line.strip())]
        rest = rest[-_MAX_URL:]
        if len(lines) > MAX_ENTRIES:
            return lines
    return [*lines, rest.strip()] if _URL_LINE.fullmatch(rest.strip()) else lines


def _join(chunks: Iterator[str]) -> str:
    """Return the text of a feed, with one character more than is read if it is longer."""
    text = ""
    for chunk in chunks:
        text += chunk
        if len(text) > _FEED_CHARACTERS:
            break
    return text[: _FEED_CHARACTERS + 1]


def _read_json_feed(chunks: Iterator[str], url: str) -> SitemapFile:
    """Return the entries of a JSON Feed (jsonfeed.org/version/1.1)."""
    try:
        items = json.loads(_join(chunks))["items"]
        entries = [
            SitemapEntry(address, title=clean_line(str(item.get("title") or ""), _MAX_TITLE))
            for item in items[:MAX_ENTRIES]
            if (address := _find_url(str(item.get("url") or item.get("external_url") or item.get("id") or ""), url))
        ]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return SitemapFile()
    return SitemapFile(tuple(entries))


def _read_feed(chunks: Iterator[str], url: str) -> SitemapFile:
    from scraper.extract import feeds

    text = _join(chunks)
    document = feeds.read(text[:_FEED_CHARACTERS], url)
    links = document.links if document is not None else ()
    is_cut = len(text) > _FEED_CHARACTERS or len(links) >= feeds.MAX_ENTRIES
    return SitemapFile(tuple(SitemapEntry(link.url, title=link.text) for link in links), is_cut=is_cut)
