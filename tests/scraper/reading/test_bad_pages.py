"""Invalid and oversized pages through real workers: each gives a document or one typed error."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable

import pytest

from browsers.http.charset import decode
from browsers.model import Snapshot
from scraper.call_context import Deadline
from scraper.errors import ScraperError
from scraper.extract import worker_jobs
from scraper.extract.reader import MAX_CHARACTERS
from scraper.facts import structured
from scraper.model import Document, StructuredData
from scraper.reading import response_reader
from scraper.reading.response_reader import RenderDecider
from scraper.workers import WorkerFailedError, WorkerPool
from tests.growth import thorough
from tests.scraper.extract.snapshots import URL, WORDS
from tests.scraper.workers import jobs

WITHIN_S = 60.0
"""Reader, and plain way after it, on a machine that is busy; alone eight seconds."""


def page(html: str, media_type: str = "text/html", body: bytes | None = None) -> Snapshot:
    body = html.encode("utf-8", "replace") if body is None else body
    return Snapshot(URL, URL, 200, media_type=media_type, html=html, body=body)


def _laughs(root: str) -> str:
    entities = "".join(f'<!ENTITY {chr(98 + n)} "{("&" + chr(97 + n) + ";") * 10}">' for n in range(10))
    return f'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "ha">{entities}]><{root}><p>&k;</p>after</{root}>'


def _cycle() -> str:
    item = "<div itemscope id=a itemref=b itemtype=https://schema.org/Thing><p itemprop=x>after</p></div>"
    return item + item.replace("id=a itemref=b", "id=b itemref=a") + f"<p>{WORDS}</p>"


def _decoded(body: bytes, content_type: str) -> Snapshot:
    """Return a page decoded from bytes as in `Browsers`."""
    return page(decode(body, content_type), body=body)


PAGES: dict[str, Callable[[], Snapshot]] = {
    "empty": lambda: page(""),
    "blank": lambda: page(" \n\t "),
    "binary given as HTML": lambda: page(bytes(range(256)).decode("latin-1") * 500),
    "a picture given as HTML": lambda: page("\x89PNG\r\n\x1a\n" + "\x00\ufffd" * 5_000),
    "truncated in a tag": lambda: page(f"<html><body><p>{WORDS}</p><p>after</p><a href='/x"),
    "truncated in a script": lambda: page(f"<body><p>{WORDS} after</p><script>let a = '"),
    "200,000 nested divs": lambda: page("<div>" * 200_000 + "after"),
    "500,000 attributes": lambda: page(
        "<div " + " ".join(f"a{n}=1" for n in range(500_000)) + f">{WORDS}</div><p>after"
    ),
    "one line of 50 MB": lambda: page("<p>after " + "word " * 10_000_000),
    "surrogates and replaced bytes": lambda: page(f"<p>{WORDS}\ud800\udfff\ufffd after</p>"),
    "invalid UTF-8": lambda: _decoded(
        f"<p>{WORDS}".encode() + b"\xff\xfe\x80 \xc3 \xf0\x9f after</p>", "text/html; charset=utf-8"
    ),
    "a charset that is none": lambda: _decoded(
        f"<meta charset=klingon><p>{WORDS} après after</p>".encode(), "text/html; charset=x-none"
    ),
    "UTF-16 declared, UTF-8 sent": lambda: _decoded(
        f"<meta charset=utf-16><p>{WORDS} après after</p>".encode(), "text/html; charset=utf-16le"
    ),
    "another charset declared": lambda: _decoded(
        f"<meta charset=gbk><p>{WORDS} после after</p>".encode("cp1251"), "text/html; charset=shift_jis"
    ),
    "JSON-LD that is not JSON": lambda: page(
        f"<script type=application/ld+json>{{not: json</script><p>{WORDS} after</p>"
    ),
    "JSON-LD without end": lambda: page(
        "<script type=application/ld+json>" + '{"a":[' * 100_000 + f"</script><p>{WORDS} after</p>"
    ),
    "microdata in a circle": lambda: page(_cycle()),
    "a billion laughs as a page": lambda: page(_laughs("html")),
    "a billion laughs as a feed": lambda: page(_laughs("rss"), "application/rss+xml"),
    "a billion laughs as XML": lambda: page(_laughs("x"), "application/xml"),
    "JSON that is none": lambda: page('{"a": ', "application/json"),
    "JSON without end": lambda: page("[" * 1_000_000, "application/json"),
}

SILENT = ("empty", "blank", "binary", "a picture", "a billion", "JSON that", "JSON without end")
"""Pages without text that would have to be extracted."""


@pytest.fixture(scope="module")
async def workers() -> AsyncIterator[WorkerPool]:
    async with WorkerPool(2) as pool:
        yield pool


def judge(workers: WorkerPool) -> RenderDecider:
    return RenderDecider(workers, Deadline.within(WITHIN_S), on_render=lambda: None)


COSTLY = {"200,000 nested divs", "one line of 50 MB"}


@pytest.mark.parametrize("name", [thorough(name) if name in COSTLY else name for name in PAGES])
async def test_a_bad_page_gives_a_document_or_one_typed_error(workers: WorkerPool, name: str) -> None:
    try:
        async with asyncio.timeout(WITHIN_S):
            document = await judge(workers).read(PAGES[name]())
    except ScraperError as error:
        assert str(error) and name.startswith(SILENT)
        return
    assert isinstance(document, Document)
    assert len(document.markdown) <= MAX_CHARACTERS
    assert "after" in document.text or name.startswith(SILENT)


@pytest.mark.parametrize("name", [name for name in PAGES if "JSON" in name or "laughs" in name or "micro" in name])
async def test_structured_data_of_a_bad_page_is_read_or_reported(workers: WorkerPool, name: str) -> None:
    snapshot = PAGES[name]()
    try:
        found = await workers.run(structured.extract, snapshot, limit_s=WITHIN_S)
    except (ScraperError, WorkerFailedError) as error:
        assert str(error)
    else:
        assert isinstance(found, StructuredData)


@pytest.mark.parametrize(
    ("delay", "is_enough"), [("", True), ("<meta http-equiv=refresh content='1; url=/end'>", False)]
)
async def test_a_short_page_that_moves_on_is_rendered(workers: WorkerPool, delay: str, is_enough: bool) -> None:
    url = "https://site.example/"
    page = Snapshot(url, url, 200, media_type="text/html", html=f"<title>Wait</title>{delay}<p>Please wait a bit.</p>")
    assert await judge(workers).is_enough(page) is is_enough


@pytest.mark.thorough
async def test_bad_pages_do_not_affect_good_pages(workers: WorkerPool) -> None:
    good = page(f"<main><h1>Tide table</h1><p>{WORDS}</p></main>")
    names = ("200,000 nested divs", "500,000 attributes", "a billion laughs as XML")
    snapshots = [one for name in names for one in (good, PAGES[name](), good)]
    readings = await asyncio.gather(*(judge(workers).read(one) for one in snapshots), return_exceptions=True)
    assert not [one for one in readings if isinstance(one, BaseException) and not isinstance(one, ScraperError)]
    whole = [one for one, snapshot in zip(readings, snapshots, strict=True) if snapshot is good]
    assert all(isinstance(one, Document) and WORDS.strip() in one.text for one in whole)
    assert not any(isinstance(one, Document) and one.degraded for one in whole)


@pytest.mark.parametrize("trouble", [jobs.hang_on, jobs.die_on, jobs.swell_on, jobs.break_on])
async def test_the_fallback_reader_is_used_when_the_reader_fails(
    workers: WorkerPool, trouble: Callable[[Snapshot], Document], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(response_reader, "READ_LIMIT_S", 1.0)
    monkeypatch.setattr(worker_jobs, "read", trouble)
    document = await judge(workers).read(page(f"<title>Log</title><nav>Menu</nav><p>{WORDS} after</p>"))
    assert document.degraded
    assert document.title == "Log"
    assert "after" in document.text
