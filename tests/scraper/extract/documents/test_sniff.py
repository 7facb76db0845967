"""A file is what its bytes say, whatever it is called."""

from __future__ import annotations

import pytest

from scraper.extract.documents.sniff import Kind, kind_of
from tests.scraper.extract.documents import made
from tests.scraper.soon import soon

OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 504


def ole(stream: str) -> bytes:
    return OLE + stream.encode("utf-16-le") + b"\0" * 64


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (made.drawn_pdf([made.text_at(50, 50, "a")]), Kind.PDF),
        (b"\r\n" * 20 + made.drawn_pdf([]), Kind.PDF),
        (made.docx("<w:p/>"), Kind.DOCX),
        (made.xlsx(("A", "")), Kind.XLSX),
        (made.epub({"a.xhtml": "<p>a</p>"}), Kind.EPUB),
        (made.odf("text", ""), Kind.ODT),
        (made.odf("spreadsheet", ""), Kind.ODS),
        (made.odf("presentation", ""), Kind.ODP),
        (made.zipped({"a.txt": "a"}), Kind.ARCHIVE),
        (made.docx("<w:p/>")[:-40], Kind.DOCX),
        (ole("WordDocument"), Kind.DOC),
        (ole("PowerPoint Document"), Kind.PPT),
        (ole("Workbook"), Kind.XLS),
        (ole("EncryptedPackage"), Kind.LOCKED_OFFICE),
        (ole("Something"), Kind.BINARY),
        (b"{\\rtf1 a}", Kind.RTF),
        (b"<!-- a --><!DOCTYPE html><title>a</title>", Kind.HTML),
        (b"<!-- a -->\n<!-- b --> <?xml version='1.0'?> <html>", Kind.HTML),
        (b"<html><!-- %PDF-1.4 --><body>a</body></html>", Kind.HTML),
        (b'<?xml version="1.0"?><rss version="2.0"><channel/></rss>', Kind.FEED),
        (b'<feed xmlns="http://www.w3.org/2005/Atom"/>', Kind.FEED),
        (b'<?xml version="1.0"?><log/>', Kind.XML),
        (b'<svg xmlns="http://www.w3.org/2000/svg"/>', Kind.IMAGE),
        (b'{"a": [1, 2]}', Kind.JSON),
        (b"[1, 2]", Kind.JSON),
        (b'{"nbformat": 4, "cells": [{"cell_type": "code"}]}', Kind.NOTEBOOK),
        (b"From: a@b.c\nTo: d@e.f\nSubject: g\n\nh", Kind.EMAIL),
        (b"\x89PNG\r\n\x1a\n" + b"\0" * 30, Kind.IMAGE),
        (b"RIFF\0\0\0\0WEBPVP8 ", Kind.IMAGE),
        (b"\x1f\x8b\x08" + b"\0" * 30, Kind.ARCHIVE),
        (b"Only plain text.\n", Kind.TEXT),
        ("plain words".encode("utf-16-le"), Kind.TEXT),
        ("\ufeffplain words".encode("utf-16"), Kind.TEXT),
        (bytes(range(256)) * 8, Kind.BINARY),
        (b"", Kind.EMPTY),
        (b" \n ", Kind.EMPTY),
    ],
)
def test_bytes_tell_the_kind(data: bytes, kind: Kind) -> None:
    assert kind_of(data) is kind


@pytest.mark.parametrize(
    "data", [b"<!--a-->" * 26 + b"x", b"<!--" * 9_999, b"<?xml>" * 9_999, b"<" * 9_999, b"From:\n" * 9_999]
)
def test_a_hostile_file_is_told_soon(data: bytes) -> None:
    with soon():  # the first took eight seconds when its comments could be read in many ways
        kind_of(data)


def test_a_name_or_a_declared_type_cannot_make_a_pdf_of_a_text() -> None:
    assert kind_of(b"plain words", media_type="application/pdf", name="a.pdf") is Kind.TEXT
    assert kind_of(made.drawn_pdf([]), media_type="text/plain", name="a.docx") is Kind.PDF


def test_among_texts_names_and_types_choose() -> None:
    assert kind_of(b"a,b\n1,2\n", name="A.CSV") is Kind.CSV
    assert kind_of(b"a,b\n1,2\n", media_type="text/csv; charset=utf-8") is Kind.CSV
    assert kind_of(b"# a\n", name="readme.md") is Kind.MARKDOWN
    assert kind_of(b"a,b\n1,2\n") is Kind.TEXT
