"""Rows as WARC: responses as they were served, what was rendered and read of them beside it.

A page is up to four records under one address. `response`: what the server sent, content decoding undone.
`conversion`: the rendered DOM as HTML, and the Markdown that was read. `metadata`: the row without its text;
a page that could not be read has this one alone. Each record is a gzip member of its own.
"""

from __future__ import annotations

import http
import io
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from urllib.parse import quote

from browsers.model import Snapshot
from scraper.bulk.errors import MissingExtraError
from scraper.bulk.model import OutputPosition, OutputRow, PageOutcome
from scraper.bulk.outputs.files import AppendOnlyFile, RollingOutput
from scraper.bulk.outputs.jsonl import as_object

try:
    from warcio.recordbuilder import RecordBuilder
    from warcio.recordloader import ArcWarcRecord
    from warcio.statusandheaders import StatusAndHeaders
    from warcio.warcwriter import WARCWriter
except ImportError:
    raise MissingExtraError("--format warc", "warcio") from None

FILE_BYTES = 1 << 30
"""The usual size of a WARC file (the format's own recommendation)."""
_UNDONE = frozenset({"content-encoding", "transfer-encoding", "content-length"})
"""Headers that tell of a body as it travelled; here it is as it was meant."""
_BREAKS = re.compile(r"[\r\n\x00]+")
_OTHER_LETTERS = re.compile(r"[^\x00-\x7f]+")
"""Headers are ASCII. The library encodes most others itself, and fails at some: those with a semicolon, and
an equals sign behind the letters."""
_PLAIN = re.compile(r"[!-~]+")


class WarcOutput(RollingOutput):
    """The `Output` protocol over `pages-NNNNN.warc.gz`."""

    wants_snapshots = True

    def __init__(self, folder: Path, place: OutputPosition, *, file_bytes: int = FILE_BYTES) -> None:
        super().__init__(folder, place, ".warc.gz", _encoded, file_bytes)


def _encoded(outcomes: Sequence[PageOutcome], file: AppendOnlyFile) -> bytes:
    buffer = io.BytesIO()
    writer = WARCWriter(buffer, gzip=True)
    if not file.offset:
        writer.write_record(_head(writer, file.path.name))
    for outcome in outcomes:
        for record in _records(writer, outcome):
            writer.write_record(record)
    return buffer.getvalue()


def _head(builder: RecordBuilder, name: str) -> ArcWarcRecord:
    about = {"software": "search-mcp", "format": "WARC File Format 1.0"}
    return builder.create_warcinfo_record(name, about)


def _records(builder: RecordBuilder, outcome: PageOutcome) -> Iterator[ArcWarcRecord]:
    row, snapshot = outcome.row, outcome.snapshot
    address = _address(row.final_url or row.url)
    headers = {"WARC-Date": _date(row)} if row.fetched_at else {}
    first = ""
    if snapshot is not None and (snapshot.body or not snapshot.rendered):
        response = builder.create_warc_record(
            address,
            "response",
            payload=io.BytesIO(snapshot.body),
            length=len(snapshot.body),
            http_headers=_http_headers(snapshot),
            warc_headers_dict=headers | ({"WARC-Truncated": "length"} if snapshot.truncated else {}),
        )
        first = response.rec_headers.get_header("WARC-Record-ID")
        yield response
    refers = headers | ({"WARC-Refers-To": first} if first else {})
    if snapshot is not None and snapshot.rendered:
        yield _text(builder, address, "text/html; charset=utf-8", snapshot.html, refers)
    if row.markdown is not None:
        yield _text(builder, address, "text/markdown; charset=utf-8", row.markdown, refers)
    yield _about(builder, address, row, refers)


def _text(
    builder: RecordBuilder, address: str, media_type: str, text: str, headers: Mapping[str, str]
) -> ArcWarcRecord:
    data = text.encode("utf-8", "replace")
    return builder.create_warc_record(
        address,
        "conversion",
        payload=io.BytesIO(data),
        length=len(data),
        warc_content_type=media_type,
        warc_headers_dict=dict(headers),
    )


def _about(builder: RecordBuilder, address: str, row: OutputRow, headers: Mapping[str, str]) -> ArcWarcRecord:
    told = as_object(row)
    del told["markdown"]
    data = json.dumps(told, ensure_ascii=False).encode("utf-8", "replace")
    return builder.create_warc_record(
        address,
        "metadata",
        payload=io.BytesIO(data),
        length=len(data),
        warc_content_type="application/json",
        warc_headers_dict=dict(headers),
    )


def _http_headers(snapshot: Snapshot) -> StatusAndHeaders:
    try:
        phrase = http.HTTPStatus(snapshot.status).phrase
    except ValueError:
        phrase = ""
    kept = [
        (name, _OTHER_LETTERS.sub(_quoted, _BREAKS.sub(" ", value)))
        for name, value in snapshot.headers.items()
        if name not in _UNDONE
    ]
    kept.append(("content-length", str(len(snapshot.body))))
    return StatusAndHeaders(f"{snapshot.status} {phrase}".strip(), kept, protocol="HTTP/1.1")


def _quoted(letters: re.Match[str]) -> str:
    return quote(letters[0], errors="replace")


def _address(url: str) -> str:
    """What stands in a header: a line of the list that is no URL may hold anything."""
    return url if _PLAIN.fullmatch(url) else "urn:x-line:" + quote(url, errors="replace")


def _date(row: OutputRow) -> str:
    assert row.fetched_at is not None
    return row.fetched_at.strftime("%Y-%m-%dT%H:%M:%SZ")
