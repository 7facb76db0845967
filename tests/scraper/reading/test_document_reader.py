"""Documents by URL and by path: read once, paged from memory or the cache, separated by principal."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest
import pytest_asyncio

from browsers import Browsers
from browsers.model import Mode, VisitLimits
from scraper import errors
from scraper.model import DocumentRequest, ReadRequest
from scraper.reading.document_reader import DocumentReader
from scraper.reading.documents.parser import DocumentParser
from scraper.reading.fetcher import Fetcher
from scraper.settings import Settings
from scraper.store.protocols import PageStore
from scraper.workers import WorkerPool
from scraper.workers.single_use import SingleUseProcesses
from tests.growth import thorough
from tests.scraper.documents import builders
from tests.scraper.documents.builders import drawn_pdf, text_at
from tests.scraper.reading.fakes import CountingPages, ScriptedBrowsers, ScriptedWorkers

PDF = drawn_pdf(*([text_at(60, 300, f"This is what stands on page {n} of it")] for n in (1, 2, 3)))
URL = "https://site.example/paper.pdf"


class Harness:
    """A document reader over fake browsers that serve one file."""

    def __init__(
        self, shots: SingleUseProcesses, body: bytes = PDF, media_type: str = "application/pdf", **settings: Any
    ) -> None:
        html = body.decode("latin-1") if media_type.startswith("text/") else ""
        self.client = ScriptedBrowsers(
            body=body, media_type=media_type, html=html, headers={"content-type": media_type}
        )
        self.pages = CountingPages()
        made = replace(Settings(), **settings)
        parser = DocumentParser(shots)
        workers = ScriptedWorkers()
        pages = cast(PageStore, self.pages)
        self.fetcher = Fetcher(cast(Browsers, self.client), cast(WorkerPool, workers), pages, made, documents=parser)
        self.reader = DocumentReader(self.fetcher, parser, pages, made)

    async def text(self, source: str = URL, **wanted: Any) -> str:
        reading = await self.reader.read(DocumentRequest(source, **wanted))
        return reading.document.markdown


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def shots() -> AsyncIterator[SingleUseProcesses]:
    opened = SingleUseProcesses(2)
    yield opened
    await opened.close()


async def test_a_document_is_fetched_by_one_peek_with_larger_limits(shots: SingleUseProcesses) -> None:
    harness = Harness(shots)
    reading = await harness.reader.read(DocumentRequest(URL))
    assert reading.document.format == "pdf"
    assert reading.document.page_count == 3
    assert "page 2 of it" in reading.document.text
    assert "<!--" not in reading.document.text
    (request,) = harness.client.requests
    assert request.mode is Mode.PEEK
    assert request.limits.body_bytes == 50_000_000 > VisitLimits().body_bytes


async def test_paging_fetches_nothing_again_and_the_cache_serves_later_readers(shots: SingleUseProcesses) -> None:
    harness = Harness(shots)
    first = await harness.reader.read(DocumentRequest(URL))
    again = await harness.reader.read(DocumentRequest(URL))
    assert (first.cached, again.cached) == (False, True)
    assert again.document == first.document
    assert len(harness.client.requests) == 1
    ((_, key, method),) = harness.pages.entries
    assert (key, method) == (URL, "document")
    later = DocumentReader(harness.fetcher, DocumentParser(shots), cast(PageStore, harness.pages), Settings())
    assert (await later.read(DocumentRequest(URL))).cached
    assert len(harness.client.requests) == 1


async def test_beginning_and_pages_of_a_long_document_are_read_alone_with_one_request(
    shots: SingleUseProcesses,
) -> None:
    harness = Harness(shots, drawn_pdf(*([text_at(60, 300, f"Ferry of day {n}")] for n in range(1, 121))))
    first = await harness.reader.read(DocumentRequest(URL), start=0)
    assert "day 36" in first.document.markdown and "day 37" not in first.document.markdown
    assert "Pages 37 to 120 of 120" in first.warnings[0]
    assert (await harness.reader.read(DocumentRequest(URL), start=10)).document == first.document
    some = await harness.reader.read(DocumentRequest(URL, pages=(90, 91)))
    assert "day 91" in some.document.markdown and "day 100" not in some.document.markdown
    assert not harness.pages.entries
    rest = await harness.reader.read(DocumentRequest(URL), start=len(first.document.markdown))
    assert "day 120" in rest.document.markdown and not rest.warnings
    assert (await harness.reader.read(DocumentRequest(URL, pages=(90,)))).document == rest.document
    assert len(harness.client.requests) == len(harness.pages.entries) == 1


async def test_a_document_is_not_returned_to_another_principal(shots: SingleUseProcesses) -> None:
    harness = Harness(shots)
    await harness.text(principal="one")
    await harness.text(principal="two")
    assert len(harness.client.requests) == 2


async def test_a_document_with_a_password_is_not_stored(shots: SingleUseProcesses) -> None:
    harness = Harness(shots)
    await harness.text(password="secret")
    assert not harness.pages.entries
    await harness.text(password="secret")
    assert len(harness.client.requests) == 1
    await harness.text(password="another")
    assert len(harness.client.requests) == 2


async def test_fetch_reads_a_document_and_names_the_tool_for_it(shots: SingleUseProcesses) -> None:
    harness = Harness(shots)
    reading = await harness.fetcher.fetch(ReadRequest(URL))
    assert "page 3 of it" in reading.document.markdown
    assert "`read_doc` is the tool" in reading.warnings[0]


async def test_fetch_reads_the_beginning_of_a_long_document_and_names_the_rest(shots: SingleUseProcesses) -> None:
    harness = Harness(shots, drawn_pdf(*([text_at(60, 300, f"Ferry of day {n}")] for n in range(1, 121))))
    reading = await harness.fetcher.fetch(ReadRequest(URL, is_beginning=True))
    assert "day 36" in reading.document.markdown and "day 37" not in reading.document.markdown
    assert any("Pages 37 to 120 of 120 are not read yet" in warning for warning in reading.warnings)
    assert not harness.pages.entries
    assert "day 120" in (await harness.fetcher.fetch(ReadRequest(URL))).document.markdown


async def test_read_doc_does_not_return_the_hint_of_fetch(shots: SingleUseProcesses) -> None:
    harness = Harness(shots)
    await harness.fetcher.fetch(ReadRequest(URL))
    reading = await harness.reader.read(DocumentRequest(URL))
    assert reading.cached and not any("read_doc" in warning for warning in reading.warnings)
    other = Harness(shots)
    await other.reader.read(DocumentRequest(URL))
    fetched = await other.fetcher.fetch(ReadRequest(URL))
    assert fetched.cached and "`read_doc` is the tool" in fetched.warnings[0]
    assert len(harness.client.requests) == len(other.client.requests) == 1


async def test_a_page_is_read_like_fetch_with_a_hint(shots: SingleUseProcesses) -> None:
    harness = Harness(shots, b"<p>Served.</p>", "text/html")
    reading = await harness.reader.read(DocumentRequest("https://site.example/"))
    assert reading.document.markdown == "Served."
    assert "`fetch` is the tool" in reading.warnings[-1]
    visits = len(harness.client.requests)
    await harness.reader.read(DocumentRequest("https://site.example/"))
    assert len(harness.client.requests) == visits


async def test_a_page_declared_as_a_document_is_read_with_a_warning(shots: SingleUseProcesses) -> None:
    harness = Harness(shots, b"<html><body><h1>Sign in</h1><p>Please sign in first.</p></body></html>")
    reading = await harness.reader.read(DocumentRequest(URL))
    assert "Please sign in first." in reading.document.markdown
    assert "web page, although it was sent as application/pdf" in reading.warnings[-1]


@pytest.mark.parametrize(
    ("length", "error", "words"),
    [
        ("60000000", errors.ContentTooLargeError, "larger than the 50 MB"),
        ("3000000", errors.NetworkError, r"only in part \(0.0 of 3.0 MB\)"),
        ("", errors.NetworkError, "ended early or was too slow"),
        ("9" * 5000, errors.NetworkError, "ended early or was too slow"),
        ("\N{SUPERSCRIPT TWO}", errors.NetworkError, "ended early or was too slow"),
    ],
)
async def test_an_incomplete_document_is_an_error_with_its_reason(
    shots: SingleUseProcesses, length: str, error: type[errors.ScraperError], words: str
) -> None:
    harness = Harness(shots)
    harness.client._more |= {"truncated": True, "headers": {"content-length": length}}
    with pytest.raises(error, match=words):
        await harness.text()


async def test_a_document_over_the_limit_of_fetch_names_read_doc(shots: SingleUseProcesses) -> None:
    harness = Harness(shots)
    harness.client._more |= {"truncated": True, "headers": {"content-length": "40000000"}}
    with pytest.raises(errors.ContentTooLargeError) as raised:
        await harness.fetcher.fetch(ReadRequest(URL))
    assert "`read_doc` takes larger documents" in raised.value.next_step


async def test_an_error_status_of_the_site_is_reported(shots: SingleUseProcesses) -> None:
    harness = Harness(shots)
    harness.client._more["status"] = 404
    with pytest.raises(errors.HttpStatusError):
        await harness.text()


async def test_local_files_are_read_by_path_and_again_when_they_change(
    shots: SingleUseProcesses, tmp_path: Path
) -> None:
    harness = Harness(shots, document_root=tmp_path)
    (tmp_path / "a.csv").write_text("town,people\nBergen,290")
    assert await harness.text("a.csv") == "| town | people |\n| --- | --- |\n| Bergen | 290 |"
    assert (await harness.reader.read(DocumentRequest("a.csv"))).cached
    (tmp_path / "a.csv").write_text("town,people\nPorto,230000")
    assert "Porto" in await harness.text("a.csv")
    assert not harness.pages.entries
    assert not harness.client.requests


@pytest.mark.parametrize(
    "name", ["C:log.txt", " first.txt", *map(thorough, ("notes: today.txt", "last.txt ", "a%20b.txt"))]
)
async def test_a_local_file_is_found_by_its_exact_name(shots: SingleUseProcesses, tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("the words in it")
    harness = Harness(shots, document_root=tmp_path)
    assert await harness.text(name) == "the words in it"
    with pytest.raises(errors.ScraperError):
        await Harness(shots).text(name)


@pytest.mark.parametrize("source", ["file:///etc/passwd", "FILE:/etc/passwd", " file://localhost/etc/passwd"])
async def test_file_urls_are_always_refused(shots: SingleUseProcesses, tmp_path: Path, source: str) -> None:
    both: tuple[dict[str, Any], ...] = ({}, {"document_root": tmp_path})
    for settings in both:
        with pytest.raises(errors.PolicyError, match="file:// URLs are always refused"):
            await Harness(shots, **settings).text(source)


async def test_local_paths_are_refused_without_a_root(shots: SingleUseProcesses) -> None:
    with pytest.raises(errors.LocalReadsDisabledError, match="local file reads are disabled"):
        await Harness(shots).text("papers/a.pdf")


async def test_other_schemes_are_refused(shots: SingleUseProcesses) -> None:
    with pytest.raises(errors.InvalidUrlError):
        await Harness(shots).text("ftp://site.example/a.pdf")


async def test_attached_documents_of_all_kinds_are_read_in_the_sandbox(shots: SingleUseProcesses) -> None:
    files: dict[str, str | bytes] = {
        "a.docx": builders.docx("<w:p><w:r><w:t>Words of Word</w:t></w:r></w:p>"),
        "b.xlsx": builders.xlsx(("Towns", '<row r="1"><c r="A1"><v>17</v></c></row>')),
        "c.pdf": builders.drawn_pdf([builders.text_at(60, 100, "Words of a page")]),
        "d.epub": builders.epub({"one.xhtml": "<p>Words of a book</p>"}),
        "e.rtf": rb"{\rtf1 Words of RTF}",
        "f.odt": builders.odf("text", "<text:p>Words of a text</text:p>"),
        "g.html": "<html><body><p>Words of a page</p></body></html>",
    }
    markdown = await Harness(shots, builders.zipped(files), "application/zip").text()
    assert "not read" not in markdown
    assert [name for name in ("Word", "RTF", "a book", "a text", "a page") if f"Words of {name}" not in markdown] == []
