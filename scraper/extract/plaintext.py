"""Convert text responses that are not HTML: Markdown, plain text, code, JSON and feeds."""

from __future__ import annotations

import re

from browsers.model import Snapshot
from scraper.errors import UnsupportedTypeError, name_media_type
from scraper.extract import feeds
from scraper.html.dom.parsing import MARKUP_START, is_binary
from scraper.model import Document, Verdict, VerdictKind
from scraper.text import sanitize
from scraper.text.markdown_structure import fence, find_headings, format_json

_MAX_CHARACTERS = 4_000_000

_PAGE_TYPES = frozenset({"text/html", "application/xhtml+xml", "image/svg+xml"})
_PROSE_TYPES = frozenset({"text/plain", ""})
_LANGUAGES = dict(
    pair.split(":")
    for pair in "text/csv:csv text/tab-separated-values:tsv text/css:css text/javascript:javascript "
    "application/javascript:javascript application/x-javascript:javascript application/ecmascript:javascript "
    "application/yaml:yaml application/x-yaml:yaml text/yaml:yaml application/toml:toml application/x-sh:bash "
    "application/sql:sql application/x-ndjson:json application/jsonl:json application/graphql:graphql".split()
)
_DOCUMENT_TYPES = {
    "application/pdf": "PDF",
    "application/msword": "Word",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "DOCX",
    "application/vnd.oasis.opendocument.text": "OpenDocument",
    "application/rtf": "RTF",
    "application/epub+zip": "EPUB",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "XLSX",
    "application/vnd.openxmlformats-officedocument.presentationml.presentation": "PPTX",
}


def is_page(snapshot: Snapshot) -> bool:
    """Return True if a snapshot is HTML or a drawing with text.

    It was rendered, or its media type says so, or it is XML or has no type and begins with a tag of HTML.
    """
    if snapshot.rendered or snapshot.media_type in _PAGE_TYPES:
        return True
    return snapshot.media_type in ("", "application/xml", "text/xml") and bool(MARKUP_START.match(snapshot.html))


def read(snapshot: Snapshot) -> Document:
    """Return the document in a text response.

    Raises:
        UnsupportedTypeError: the response is not text.
    """
    media_type = snapshot.media_type
    text = snapshot.html or snapshot.body.decode("utf-8", "replace")
    is_known = media_type in _LANGUAGES or media_type in _PROSE_TYPES or media_type.startswith("text/")
    if not (is_known or _is_json(media_type) or _is_xml(media_type)) or (is_binary(text) and text):
        if kind := _DOCUMENT_TYPES.get(media_type):
            message = f"The URL leads to a document ({kind}, {media_type}), not to a page."
            step = "Use `read_doc` for it."
        else:
            kind = name_media_type(media_type) if media_type else "binary data"
            message = f"The URL leads to {kind}, which has no text to read."
            step = "Fetch the page that links to it, or another URL."
        raise UnsupportedTypeError(message, target=snapshot.url, next_step=step)
    text, controls = sanitize.clean(text[:_MAX_CHARACTERS].removeprefix("\ufeff"))
    if _is_xml(media_type) and (feed := feeds.read(text, snapshot.url)):
        return feed
    body = _format_text(media_type, text)
    return Document(
        url=snapshot.url,
        text=text.strip(),
        markdown=body,
        verdict=Verdict() if body else Verdict(VerdictKind.THIN, "empty"),
        outline=find_headings(body),
        controls_removed=controls,
    )


def _format_text(media_type: str, text: str) -> str:
    if not text.strip():
        return ""
    if media_type.endswith("markdown"):  # too long for the reader
        return text.strip()
    if media_type in _PROSE_TYPES:
        # Line breaks matter in code, tables and lists, but not in prose.
        has_layout = re.search(r"^(?: {2,}|\t)\S|[^.\s] {3,}\S|^[#*>|`~+-]", text, re.MULTILINE) is not None
        return fence(text.strip("\n"), "text") if has_layout else text.strip()
    if _is_json(media_type):
        # Escapes in JSON become characters.
        return fence(sanitize.clean(format_json(text))[0], "json")
    language = "xml" if _is_xml(media_type) else _LANGUAGES.get(media_type, "text")
    return fence(text.strip("\n"), language)


def _is_json(media_type: str) -> bool:
    return media_type in ("application/json", "text/json") or media_type.endswith("+json")


def _is_xml(media_type: str) -> bool:
    return media_type in ("application/xml", "text/xml") or media_type.endswith("+xml")
