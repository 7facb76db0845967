"""Give inputs to the product as production does, in this process where no browser is needed.

This is the only module of the cases that imports the product.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from aiohttp import web

from benchmarks.cases.model import Case
from benchmarks.cases.text_checks import Answer
from benchmarks.common.contender import REPOSITORY
from browsers.chromium import locate
from browsers.http.charset import decode
from browsers.model import Snapshot, Tier
from browsers.navigation.response import is_text_type, sniff_media_type
from scraper.documents.model import ParseRequest
from scraper.documents.sniff import is_document
from scraper.engines.model import EngineOutcome, EngineResponse, EngineResult
from scraper.engines.registry import ENGINES
from scraper.errors import ScraperError
from scraper.extract import worker_jobs
from scraper.facts.fields.model import FieldRequest, PageFields
from scraper.model import Document, StructuredData
from scraper.reading import visit_outcome
from scraper.reading.documents.parser import DocumentParser, build_document
from scraper.reading.fields import check_fields
from scraper.search.argument_validation import parse_domains
from scraper.search.fusion import EngineRanking, MergedResult, ResultFilters, fuse_rankings
from scraper.store.index_model import DEFAULT_INDEX, IndexDocument
from scraper.store.index_service import IndexService
from scraper.workers.single_use import SingleUseProcesses

_HTML = "text/html; charset=utf-8"
_DOCUMENT_LIMIT_S = 60.0
_FETCH_LIMIT_S = 120.0
_MAX_ERROR = 300
_HITS = 100


@dataclass(frozen=True, slots=True)
class Product:
    """The product with one process for documents."""

    _parser: DocumentParser

    async def read(self, case: Case, name: str) -> Answer:
        """Return what `read_doc` makes of a document, or `fetch` of a page."""
        try:
            if case.area == "documents":
                return await self._read_document(case.read(name), ParseRequest(name=name), name)
            if case.data.get("needs_browser"):
                return await _fetch(case)
            return await self._read_page(case, name)
        except Exception as error:  # a crash is a refusal too
            return Answer(error=f"error_code: {getattr(error, 'code', type(error).__name__)}. {error}")

    async def _read_page(self, case: Case, name: str) -> Answer:
        snapshot, declared = _snapshot(case, name)
        if is_document(snapshot.body, snapshot.media_type):
            request = ParseRequest(media_type=declared, name=snapshot.url.rpartition("/")[2], url=snapshot.url)
            return await self._read_document(snapshot.body, request, snapshot.url)
        document = worker_jobs.read(snapshot)
        reading = visit_outcome.build_reading(snapshot, document, may_render=False, requested_url=snapshot.url)
        return _answer(reading.document, reading.warnings)

    async def _read_document(self, data: bytes, request: ParseRequest, source: str) -> Answer:
        parsed = await self._parser.parse(data, request, limit_s=_DOCUMENT_LIMIT_S, source=source)
        return _answer(build_document(parsed, source), parsed.warnings)


@asynccontextmanager
async def open_product() -> AsyncIterator[Product]:
    """Open the product; end its process on exit."""
    processes = SingleUseProcesses(1)
    try:
        yield Product(DocumentParser(processes))
    finally:
        await processes.close()


def has_browser() -> bool:
    """Return True if Chromium is installed."""
    return any(locate.find_chromium(tier, None) is not None for tier in Tier)


def extract_structured(case: Case, name: str) -> StructuredData:
    """Return the structured data and facts of a page."""
    snapshot = _snapshot(case, name)[0]
    try:
        return worker_jobs.extract_structured(snapshot)
    except Exception as error:  # a worker that crashes gives no data
        return StructuredData(snapshot.url, warnings=(f"crash: {error!r}",))


def extract_fields(case: Case, name: str) -> PageFields | ScraperError:
    """Return the fields or records of a page that a case requests."""
    snapshot = _snapshot(case, name)[0]
    request = FieldRequest(records=bool(case.data.get("records")), fields=case.data.get("fields") or {})
    try:
        return check_fields(snapshot.url, worker_jobs.extract_fields((snapshot,), request)[0])
    except Exception as error:  # a worker that crashes gives no fields
        return ScraperError(repr(error))


def parse_results(case: Case, name: str, now: datetime) -> EngineResponse:
    """Return the rows of a saved result page."""
    engine, snapshot = ENGINES[case.data["engine"]], _snapshot(case, name)[0]
    try:
        return engine.parse(snapshot, now)
    except Exception as error:  # a worker that crashes gives no rows
        return EngineResponse(EngineOutcome.ERROR, detail=repr(error))


def merge_urls(urls: Sequence[str]) -> list[str]:
    """Return the URLs that remain when each is the result of another engine."""
    return [page.best.url for page in _fuse(urls)]


def filter_urls(urls: Sequence[str], domains: Mapping[str, str]) -> list[str]:
    """Return the results that remain under `include_domains` or `exclude_domains`, each with one domain."""
    conditions = {name: parse_domains(name, [domain]) for name, domain in domains.items()}
    filters = ResultFilters(
        include_domains=conditions.get("include_domains", ()), exclude_domains=conditions.get("exclude_domains", ())
    )
    kept = {page.best.url for page in filters.apply(_fuse(urls), datetime.now())[0]}
    return [url for url in urls if url in kept]


async def search_documents(documents: Mapping[str, str], queries: Sequence[str]) -> dict[str, list[str]]:
    """Return the ids of the documents that `search_index` finds for each query, best first."""
    found: dict[str, list[str]] = {}
    with tempfile.TemporaryDirectory(prefix="benchmark-") as folder:
        service = IndexService(Path(folder))
        try:
            for doc_id, text in documents.items():
                await service.add(DEFAULT_INDEX, IndexDocument(doc_id, text), principal="local")
            for query in queries:
                hits = await service.search(DEFAULT_INDEX, query, principal="local", limit=_HITS)
                found[query] = [hit.doc_id for hit in hits.hits]
        finally:
            await service.close()
    return found


def _fuse(urls: Sequence[str]) -> tuple[MergedResult, ...]:
    # Different titles and engines: only the URLs can make two results equal.
    return fuse_rankings(
        [
            EngineRanking(f"engine {number}", f"family {number}", (EngineResult(1, f"Title {number}", url),))
            for number, url in enumerate(urls)
        ]
    )


def _snapshot(case: Case, name: str) -> tuple[Snapshot, str]:
    """Return an input as the browser returns it without rendering, and its declared type."""
    data = case.read(name)
    declared = case.data.get("type", "" if data.startswith(b"<?xml") else _HTML)
    media_type = declared.split(";")[0].strip().lower() or sniff_media_type(data)
    is_text = is_text_type(media_type) or media_type.endswith("xml")
    url, status = case.data["url"], case.data.get("status", 200)
    html = decode(data, declared) if is_text else ""
    return Snapshot(url, url, status, {"content-type": declared}, media_type, data, html), declared


def _answer(document: Document, warnings: Sequence[str]) -> Answer:
    facts = {
        "title": document.title, "author": document.author, "format": document.format, "pages": document.page_count,
        "published": document.published.isoformat() if document.published else None,
    }  # fmt: skip
    return Answer(document.markdown, facts, warnings)


async def _fetch(case: Case) -> Answer:
    """Return the answer of the command `fetch` to a page of a local site."""
    async with _site(case) as (host, port):
        with tempfile.TemporaryDirectory(prefix="benchmark-") as store:
            settings = {
                "SEARCH_MCP_TEST_HOSTS": f"{host}=127.0.0.1:{port}",
                "SEARCH_MCP_ALLOW_NETS": "127.0.0.0/8,::1/128",
                "SEARCH_MCP_DATA": store,
                "SEARCH_MCP_CACHE_HOURS": "0",
                "SEARCH_MCP_LOG_LEVEL": "ERROR",
            }
            command = [sys.executable, "-m", "scraper.cli.main", "fetch", case.data["url"], "--format", "json"]
            process = await asyncio.create_subprocess_exec(
                *command,
                *("--render", case.data.get("render", "auto")),
                env={**os.environ, **settings},
                cwd=REPOSITORY,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
            )
            try:
                out, err = await asyncio.wait_for(process.communicate(), _FETCH_LIMIT_S)
            finally:
                if process.returncode is None:
                    process.kill()
    if process.returncode:
        return Answer(error=(err or out).decode(errors="replace").strip()[-_MAX_ERROR:])
    found: dict[str, Any] = json.loads(out)
    facts = {"title": found.get("title"), "author": found.get("author"), "published": found.get("published_date")}
    return Answer(found.get("content") or "", facts, found.get("warnings") or ())


@asynccontextmanager
async def _site(case: Case) -> AsyncIterator[tuple[str, int]]:
    """Serve the files of a case; yield the host of its URL and the port."""
    parts = urlsplit(case.data["url"])
    main = {"file": case.data["file"], "type": case.data.get("type", _HTML)}
    files: Mapping[str, Mapping[str, str]] = {parts.path: main, **case.data.get("extra", {})}

    async def respond(request: web.Request) -> web.Response:
        found = files.get(request.path)
        if found is None:
            return web.Response(status=404, text="not found")
        return web.Response(body=case.read(found["file"]), headers={"Content-Type": found["type"]})

    application = web.Application()
    application.router.add_get("/{path:.*}", respond)
    runner = web.AppRunner(application, access_log=None)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        yield parts.netloc, runner.addresses[0][1]
    finally:
        await runner.cleanup()
