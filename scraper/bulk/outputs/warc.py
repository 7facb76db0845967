"""Output in the format WARC: responses as served, the rendered DOM and the Markdown.

A page has up to four records with one URI. `response`: the response of the server with its body decoded. `conversion`:
the rendered DOM as HTML, and the Markdown. `metadata`: the row without its text; a page that could not be read may have
this record only. Each record is a gzip member of its own.
"""

import http
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from urllib.parse import quote

from browsers.model import Snapshot
from scraper.bulk.model import MissingExtraError, PageOutcome
from scraper.bulk.outputs.files import RowOutput, row_to_dict

try:
    from warcio.recordbuilder import RecordBuilder
    from warcio.recordloader import ArcWarcRecord
    from warcio.statusandheaders import StatusAndHeaders
    from warcio.warcwriter import WARCWriter
except ImportError:
    raise MissingExtraError("--format warc", "warcio", "--format jsonl") from None

_DROPPED_HEADERS = frozenset({"content-encoding", "transfer-encoding", "content-length"})
"""Headers that describe the encoded body; the stored body is decoded."""
_NO_LINE_BREAKS = str.maketrans("\r\n\0", "   ")


class WarcOutput(RowOutput):
    """Write `pages-NNNNN.warc.gz`. A file of 1 GB is the usual size, recommended by the format."""

    suffix = ".warc.gz"
    needs_snapshots = True

    def _encode(self, outcomes: Sequence[PageOutcome]) -> bytes:
        buffer = io.BytesIO()
        writer = WARCWriter(buffer, gzip=True)
        if not self._file.offset:
            about = {"software": "search-mcp", "format": "WARC File Format 1.0"}
            writer.write_record(writer.create_warcinfo_record(self._file.path.name, about))
        for outcome in outcomes:
            for record in _make_records(writer, outcome):
                writer.write_record(record)
        return buffer.getvalue()


def _make_records(builder: RecordBuilder, outcome: PageOutcome) -> Iterator[ArcWarcRecord]:
    row, snapshot = outcome.row, outcome.snapshot
    uri = row.final_url or row.url
    if not uri or not uri.isascii() or not uri.isprintable() or " " in uri:
        # An invalid line of the list may contain anything.
        uri = "urn:x-line:" + quote(uri, errors="replace")
    headers = {"WARC-Date": row.fetched_at.strftime("%Y-%m-%dT%H:%M:%SZ")} if row.fetched_at else {}
    if snapshot is not None and (snapshot.body or not snapshot.rendered):
        response = builder.create_warc_record(
            uri,
            "response",
            payload=io.BytesIO(snapshot.body),
            length=len(snapshot.body),
            http_headers=_http_headers(snapshot),
            warc_headers_dict=headers | ({"WARC-Truncated": "length"} if snapshot.truncated else {}),
        )
        yield response
        headers = headers | {"WARC-Refers-To": response.rec_headers.get_header("WARC-Record-ID")}
    if snapshot is not None and snapshot.rendered:
        yield _make_text_record(builder, uri, "conversion", "text/html; charset=utf-8", snapshot.html, headers)
    if row.markdown is not None:
        yield _make_text_record(builder, uri, "conversion", "text/markdown; charset=utf-8", row.markdown, headers)
    fields = row_to_dict(row)
    del fields["markdown"]
    metadata = json.dumps(fields, ensure_ascii=False)
    yield _make_text_record(builder, uri, "metadata", "application/json", metadata, headers)


def _make_text_record(
    builder: RecordBuilder, uri: str, kind: str, media_type: str, text: str, headers: Mapping[str, str]
) -> ArcWarcRecord:
    data = text.encode("utf-8", "replace")
    return builder.create_warc_record(
        uri,
        kind,
        payload=io.BytesIO(data),
        length=len(data),
        warc_content_type=media_type,
        warc_headers_dict=dict(headers),
    )


def _http_headers(snapshot: Snapshot) -> StatusAndHeaders:
    try:
        phrase = http.HTTPStatus(snapshot.status).phrase
    except ValueError:
        phrase = ""
    headers = [(name, _encode_value(value)) for name, value in snapshot.headers.items() if name not in _DROPPED_HEADERS]
    headers.append(("content-length", str(len(snapshot.body))))
    return StatusAndHeaders(f"{snapshot.status} {phrase}".strip(), headers, protocol="HTTP/1.1")


def _encode_value(value: str) -> str:
    """Return the value of a header in ASCII: the library fails on some other characters, such as those before "="."""
    text = value.translate(_NO_LINE_BREAKS)
    return "".join(one if one.isascii() else quote(one, errors="replace") for one in text)
