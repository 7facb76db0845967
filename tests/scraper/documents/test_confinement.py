"""Every reader works in the real confinement, where nothing can be loaded anymore: no module, codec or file."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from scraper.documents.dispatcher import find_reader, list_readers
from scraper.documents.model import ParseRequest
from scraper.documents.sniff import sniff_kind
from scraper.workers import single_use
from scraper.workers.single_use import SingleUseProcesses
from tests.scraper.documents.builders import docx, drawn_pdf, epub, odf, picture, text_at, xlsx, zipped
from tests.scraper.documents.ole.compound_builder import compound_file
from tests.scraper.documents.ole.test_readers import doc, presentation, record, workbook_until_2003
from tests.scraper.documents.test_slides import presentation as pptx

# Forty processes that load their modules anew. Tests of the tools read documents in the confinement too.
pytestmark = pytest.mark.thorough

_PAGES = Path(__file__).parents[1] / "extract/pages"
_PDF = drawn_pdf([text_at(60, 300, "A line of the log that is long enough")])
_DOCX = docx("<w:p><w:r><w:t>Words</w:t></w:r></w:p>")
_SHEET = (
    '<table:table table:name="S"><table:table-row><table:table-cell><text:p>a</text:p></table:table-cell>'
    "</table:table-row></table:table>"
)
_SLIDE = "<draw:page><draw:frame><draw:text-box><text:p>Words</text:p></draw:text-box></draw:frame></draw:page>"
_CARDS = "".join(
    f'<li class="card"><a href="/kettle/{number}"><h3>Kettle {number}</h3></a><p class="price">{number},99 €</p>'
    f"<p>It holds {number} liters of water and boils them soon.</p></li>"
    for number in range(20)
)
_SHOP = f"<title>Kettles</title><nav><a href=/>Home</a></nav><main><h1>Kettles</h1><ul>{_CARDS}</ul></main>"
_PRODUCT = (
    '<script type="application/ld+json">{"@type": "Product", "name": "Kettle", "offers": {"price": "49"}}</script>'
    '<main itemscope itemtype="https://schema.org/Recipe"><h1 itemprop="name">Tea</h1>'
    + "<p>Boil the water, add the leaves, and wait for some minutes.</p>" * 9
    + "<math><mi>a</mi></math><pre><code class=language-python>x = 1</code></pre></main>"
)
_MAIL = (
    "From: a@b.c\nTo: d@e.f\nSubject: =?koi8-r?b?8NLJ18XU?=\nMIME-Version: 1.0\n"
    "Content-Type: multipart/mixed; boundary=x\n\n--x\nContent-Type: text/html\n\n<p>body</p>\n"
    f"--x\nContent-Type: text/html\nContent-Disposition: attachment; filename=a.html\n\n{_SHOP}\n--x--\n"
)
_SAVED = (
    "From: <Saved by Blink>\nSnapshot-Content-Location: https://a.example/\nSubject: Kettles\nMIME-Version: 1.0\n"
    "Content-Type: multipart/related; boundary=x\n\n--x\nContent-Type: text/html\n"
    f"Content-Location: https://a.example/\n\n{_SHOP}\n--x--\n"
)
_MESSAGE = {"__properties_version1.0": bytes(32), "__substg1.0_0037001F": "The plan".encode("utf-16-le")}

_DOCUMENTS: Mapping[str, tuple[bytes, str]] = {
    "PDF": (_PDF, "A line of the log"),
    "Word": (_DOCX, "Words"),
    "Excel": (xlsx(("Sheet", '<row r="1"><c r="A1"><v>7</v></c></row>')), "## Sheet"),
    "PowerPoint": (pptx(), "# The Title"),
    "Word until 2003": (doc("Some words\r"), "Some words"),
    "Excel until 2003": (workbook_until_2003([("Town", "Height"), ("Porto", 3.5)]), "| Porto | 3.5 |"),
    "PowerPoint until 2003": (presentation([record(0x0FA8, b"Plain bytes")], b"", b""), "Plain bytes"),
    "Outlook": (compound_file(_MESSAGE), "The plan"),
    "EPUB": (epub({"a.xhtml": "<p>Words</p>"}), "Words"),
    "OpenDocument text": (odf("text", "<text:p>Words</text:p>"), "Words"),
    "OpenDocument sheet": (odf("spreadsheet", _SHEET), "## S"),
    "OpenDocument slides": (odf("presentation", _SLIDE), "Words"),
    "RTF": (b"{\\rtf1 Words}", "Words"),
    "Apple": (zipped({"Index/Document.iwa": b"x", "QuickLook/Preview.pdf": _PDF}), "A line of the log"),
    "Windows text": ("größere Wörter, voilà".encode("cp1252"), "größere Wörter"),
    "Russian text": ("Привет, дорогие друзья моря".encode("koi8-r"), "Привет"),
    "Japanese text": ("東京の港から出た船は戻らない".encode("shift_jis"), "東京の港"),
    "text in UTF-32": ("Words of four bytes".encode("utf-32"), "Words of four bytes"),
    "Markdown": (b"---\ntitle: A\n---\n\n# Head\n", "# Head"),
    "CSV": (b"a;b\n1;2\n3;4\n", "| 3 | 4 |"),
    "JSON": (b'{"a": 1}', '"a": 1'),
    "notebook": (b'{"nbformat": 4, "cells": [{"cell_type": "markdown", "source": "# Head"}]}', "# Head"),
    "XML": (b"<?xml version='1.0'?><tides><tide>high</tide></tides>", "<tide>high</tide>"),
    "feed": (b"<rss><channel><item><title>One</title></item></channel></rss>", "## One"),
    "FictionBook": (b"<FictionBook><body><section><p>Words</p></section></body></FictionBook>", "Words"),
    "transcript": (b'<transcript><text start="1" dur="2">Words of it</text></transcript>', "Words of it"),
    "image": (picture("WEBP", 7), "7 x 7 pixels"),
    "small page": (b"<html><body><main><h1>Head</h1><p>Words</p></main></body></html>", "# Head"),
    "page of products": (_SHOP.encode(), "Kettle 7"),
    "page of a product": (_PRODUCT.encode(), "Boil the water"),
    "article": ((_PAGES / "article.html").read_bytes(), ""),
    "lists and code": ((_PAGES / "lists-and-code.html").read_bytes(), ""),
    "tables": ((_PAGES / "tables.html").read_bytes(), ""),
    "email": (_MAIL.encode(), "Kettle 7"),
    "saved page": (_SAVED.encode(), "Kettle 7"),
    "zip": (zipped({"a.html": _SHOP, "b.docx": _DOCX, "c.pdf": _PDF, "d.txt": "Plain"}), "Kettle 7"),
}
_NAMES = {"Markdown": "a.md", "CSV": "a.csv"}


@pytest.fixture(scope="module")
def answers() -> dict[str, dict[str, Any]]:
    """Return the answer for each document, and for each further way to read one."""
    requests = {label: (data, ParseRequest(name=_NAMES.get(label, ""))) for label, (data, _) in _DOCUMENTS.items()}
    requests["PDF, plain"] = _PDF, ParseRequest(plain_reader=True)
    requests["PDF as a picture"] = _PDF, ParseRequest(picture_of=1)
    requests["Word, plain"] = _DOCX[:-30], ParseRequest(plain_reader=True)
    return _run("parse", requests)


def _run(job: str, requests: Mapping[str, tuple[bytes, ParseRequest]]) -> dict[str, dict[str, Any]]:
    """Run a watched job for each request, each in a process of its own."""

    async def run_all() -> list[dict[str, Any]]:
        processes = SingleUseProcesses(2, keep_warm=False)
        runs = (processes.run(asdict(request), data) for data, request in requests.values())
        try:
            return await asyncio.gather(*runs)
        finally:
            await processes.close()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(single_use, "JOB", f"tests.scraper.documents.watched_job:{job}")
        return dict(zip(requests, asyncio.run(run_all()), strict=True))


def test_every_reader_reads_in_the_confinement(answers: Mapping[str, dict[str, Any]]) -> None:
    kinds = {sniff_kind(data, name=_NAMES.get(label, "")) for label, (data, _) in _DOCUMENTS.items()}
    assert {find_reader(kind) for kind in kinds} == set(list_readers())
    for label, answer in answers.items():
        words = _DOCUMENTS[label][1] if label in _DOCUMENTS else ""
        assert "picture" in answer or words in answer.get("parsed", {}).get("markdown", ""), (label, answer)


def test_no_reader_wants_a_module_or_a_file_after_the_confinement(answers: Mapping[str, dict[str, Any]]) -> None:
    assert {label: answer["late"] for label, answer in answers.items() if answer["late"]} == {}


def test_readers_load_all_modules_that_their_functions_import() -> None:
    documents = {label: (_DOCUMENTS[label][0], ParseRequest()) for label in ("PDF", "article", "zip")}
    unloaded = _run("list_unloaded", documents)
    # The facts of a page are not read from a file.
    assert {name for late in unloaded.values() for name in late} <= {"scraper.facts.structured"}, unloaded
