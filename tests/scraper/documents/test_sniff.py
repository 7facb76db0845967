"""The format of a file is detected from its bytes, whatever its name or declared type."""

from __future__ import annotations

import pytest

from scraper.documents.sniff import DocumentKind, is_document, sniff_kind
from tests.scraper.documents import builders
from tests.scraper.documents.ole.compound_builder import compound_file
from tests.scraper.soon import soon


def ole(*streams: str) -> bytes:
    return compound_file(dict.fromkeys(streams, b"x"))


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (builders.drawn_pdf([builders.text_at(50, 50, "a")]), DocumentKind.PDF),
        (b"\r\n" * 20 + builders.drawn_pdf([]), DocumentKind.PDF),
        (b"junk " * 5_000 + builders.drawn_pdf([]), DocumentKind.PDF),
        (b"\0" * 3_000 + builders.drawn_pdf([]), DocumentKind.PDF),
        (b"words " * 1_000 + b"%PDF-1.7 is a signature " * 100, DocumentKind.TEXT),
        (b"\x1f\x8b" + b"\0" * 3_000 + builders.drawn_pdf([]), DocumentKind.ARCHIVE),
        (builders.docx("<w:p/>"), DocumentKind.DOCX),
        (builders.xlsx(("A", "")), DocumentKind.XLSX),
        (builders.epub({"a.xhtml": "<p>a</p>"}), DocumentKind.EPUB),
        (builders.odf("text", ""), DocumentKind.ODT),
        (builders.odf("spreadsheet", ""), DocumentKind.ODS),
        (builders.odf("presentation", ""), DocumentKind.ODP),
        (builders.zipped({"a.txt": "a"}), DocumentKind.ARCHIVE),
        (builders.docx("<w:p/>")[:-40], DocumentKind.DOCX),
        (ole("WordDocument"), DocumentKind.DOC),
        (ole("PowerPoint Document"), DocumentKind.PPT),
        (ole("Workbook"), DocumentKind.XLS),
        (ole("EncryptedPackage"), DocumentKind.LOCKED_OFFICE),
        (ole("Something"), DocumentKind.BINARY),
        (ole("MBD0018/WordDocument", "Workbook"), DocumentKind.XLS),
        (ole("WORKBOOK"), DocumentKind.XLS),
        (ole("worddocument"), DocumentKind.DOC),
        (ole("__attach_version1.0_#00000000/WordDocument", "__properties_version1.0"), DocumentKind.MSG),
        (ole("Storage/Workbook"), DocumentKind.BINARY),
        (ole("WordDocument")[:1_024], DocumentKind.DAMAGED_OFFICE),
        (b"{\\rtf1 a}", DocumentKind.RTF),
        (b"<!-- a --><!DOCTYPE html><title>a</title>", DocumentKind.HTML),
        (b"<!-- a -->\n<!-- b --> <?xml version='1.0'?> <html>", DocumentKind.HTML),
        (b"<html><!-- %PDF-1.4 --><body>a</body></html>", DocumentKind.HTML),
        (b'<?xml version="1.0"?><rss version="2.0"><channel/></rss>', DocumentKind.FEED),
        (b'<feed xmlns="http://www.w3.org/2005/Atom"/>', DocumentKind.FEED),
        (b'<?xml version="1.0"?><log/>', DocumentKind.XML),
        (b'<svg xmlns="http://www.w3.org/2000/svg"/>', DocumentKind.IMAGE),
        (b'{"a": [1, 2]}', DocumentKind.JSON),
        (b"[1, 2]", DocumentKind.JSON),
        (b'{"nbformat": 4, "cells": [{"cell_type": "code"}]}', DocumentKind.NOTEBOOK),
        (b"From: a@b.c\nTo: d@e.f\nSubject: g\n\nh", DocumentKind.EMAIL),
        (b"\x89PNG\r\n\x1a\n" + b"\0" * 30, DocumentKind.IMAGE),
        (b"RIFF\0\0\0\0WEBPVP8 ", DocumentKind.IMAGE),
        (b"\x1f\x8b\x08" + b"\0" * 30, DocumentKind.ARCHIVE),
        (b"Only plain text.\n", DocumentKind.TEXT),
        ("plain words".encode("utf-16-le"), DocumentKind.TEXT),
        ("\ufeffplain words".encode("utf-16"), DocumentKind.TEXT),
        (bytes(range(256)) * 8, DocumentKind.BINARY),
        (b"", DocumentKind.EMPTY),
        (b" \n ", DocumentKind.EMPTY),
    ],
)
def test_kind_is_detected_from_bytes(data: bytes, kind: DocumentKind) -> None:
    assert sniff_kind(data) is kind


@pytest.mark.parametrize(
    "data", [b"<!--a-->" * 26 + b"x", b"<!--" * 9_999, b"<?xml>" * 9_999, b"<" * 9_999, b"From:\n" * 9_999]
)
def test_detection_is_fast_for_hostile_files(data: bytes) -> None:
    with soon():  # the first took eight seconds when its comments could match in many ways
        sniff_kind(data)


def test_name_and_declared_type_cannot_make_a_pdf_of_a_text() -> None:
    assert sniff_kind(b"plain words", media_type="application/pdf", name="a.pdf") is DocumentKind.TEXT
    assert sniff_kind(builders.drawn_pdf([]), media_type="text/plain", name="a.docx") is DocumentKind.PDF


def test_names_and_declared_types_distinguish_text_formats() -> None:
    assert sniff_kind(b"a,b\n1,2\n", name="A.CSV") is DocumentKind.CSV
    assert sniff_kind(b"a,b\n1,2\n", media_type="text/csv; charset=utf-8") is DocumentKind.CSV
    assert sniff_kind(b"# a\n", name="readme.md") is DocumentKind.MARKDOWN
    assert sniff_kind(b"a,b\n1,2\n") is DocumentKind.TEXT


def test_documents_are_distinguished_from_pages_and_texts() -> None:
    assert is_document(b"%PDF-1.7\n", "text/html")
    assert not is_document(b"<html><body>a</body></html>", "application/pdf")
    assert not is_document(b"a,b\n", "text/csv")
