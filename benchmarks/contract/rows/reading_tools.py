"""Requirements for `fetch`, `fetch_batch`, `read_doc`."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from benchmarks.contract.rows.row import Check, Row, require
from benchmarks.contract.rows.testbed import Testbed
from tests.scraper.documents.builders import docx

_PAGE_KEYS = {
    "url", "title", "content", "method", "truncated", "tokens_estimated", "author", "published_date",
    "sitename",
}  # fmt: skip
_DOC_KEYS = {"content", "title", "format", "total_chars", "start", "returned_chars", "truncated"}
_PDF = "/document/log.pdf"


async def _page(testbed: Testbed, path: str, **arguments: Any) -> dict[str, Any]:
    data: dict[str, Any] = (await testbed.call("fetch", url=testbed.site.url(path), format="json", **arguments)).data
    return data


async def _reader(testbed: Testbed) -> str:
    text = (await testbed.call("fetch", url=testbed.site.url("/rich"))).text
    clean = "Subscribe to our letter" not in text and "<article>" not in text
    return require(
        clean and "| Ship | Tons |" in text and "## A list" in text, "headings and tables; no aside, no tags"
    )


async def _header(testbed: Testbed) -> str:
    head = (await testbed.call("fetch", url=testbed.site.url("/rich"))).text.partition("<<<untrusted")[0]
    return require(all(f"{name}: " in head for name in ("URL", "Method", "Tokens")), head)


async def _fetch_json(testbed: Testbed) -> str:
    data = await _page(testbed, "/rich")
    return require(data.keys() >= _PAGE_KEYS and data["author"] == "Ada Quay", list(data))


async def _render(testbed: Testbed) -> str:
    found = {}
    for mode in ("auto", "browser", "http"):
        answer = await testbed.call("fetch", url=testbed.site.url("/spa/7"), render=mode, format="json")
        found[mode] = not answer.is_error and "MARK-" in answer.data["content"]
    return require(found == {"auto": True, "browser": True, "http": False}, f"content found: {found}")


async def _cached(testbed: Testbed) -> str:
    states = [(await _page(testbed, "/static/21"))["cached"] for _ in range(2)]
    return require(states == [False, True], f"cached: {states}")


async def _refreshed(testbed: Testbed) -> str:
    await _page(testbed, "/static/22")
    before = testbed.site.hits("/static/22")
    states = [
        (await _page(testbed, "/static/22", force_refresh=True))["cached"],
        (await _page(testbed, "/static/22", max_age_hours=0))["cached"],
    ]
    hits = testbed.site.hits("/static/22") - before
    return require(states == [False, False] and hits == 2, f"cached {states}, {hits} new requests at the site")


async def _query_as_url(testbed: Testbed) -> str:
    answer = await testbed.call("fetch", url="what is a tide")
    return require(answer.is_error and "search" in answer.text, answer.text)


async def _batch(testbed: Testbed) -> str:
    urls = [testbed.site.url(path) for path in ("/static/31", "/status/404", "/static/32")]
    text = (await testbed.call("fetch_batch", urls=urls)).text
    places = [text.find(mark) for mark in ("volume 31", "404", "volume 32")]
    return require(places == sorted(places) and -1 not in places and "\n---\n" in text, f"in order at {places}")


async def _batch_json(testbed: Testbed) -> str:
    urls = [testbed.site.url(path) for path in ("/static/31", "/status/404", "/static/32")]
    answer = await testbed.call("fetch_batch", urls=urls, format="json")
    states = [bool(entry["error"]) for entry in answer.data]
    return require(states == [False, True, False] and not answer.is_error, answer.data[1]["error"])


async def _parallel(testbed: Testbed) -> str:
    urls = [testbed.site.url("/slow-answer/2000", f"host{number}.example") for number in range(1, 6)]
    started = time.perf_counter()
    data = (await testbed.call("fetch_batch", urls=urls, render="http", format="json")).data
    seconds = time.perf_counter() - started
    read = sum(not entry["error"] for entry in data)
    return require(read == 5 and seconds < 8, f"5 pages of 2 s each in {seconds:.1f} s")


async def _empty_batch(testbed: Testbed) -> str:
    answer = await testbed.call("fetch_batch", urls=[])
    return require(answer.is_error and "urls" in answer.text, answer.text)


async def _doc(testbed: Testbed, **arguments: Any) -> dict[str, Any]:
    data: dict[str, Any] = (
        await testbed.call("read_doc", source=testbed.site.url(_PDF), format="json", **arguments)
    ).data
    return data


async def _pdf(testbed: Testbed) -> str:
    data = await _doc(testbed)
    return require(data["format"] == "pdf" and "MARK-pdf-9" in data["content"], data["content"][:60])


async def _doc_markdown(testbed: Testbed) -> str:
    text = (await testbed.call("read_doc", source=testbed.site.url(_PDF))).text
    head = text.partition("<<<untrusted")[0]
    return require("Format: pdf" in head and "MARK-pdf-0" in text, head)


async def _doc_json(testbed: Testbed) -> str:
    data = await _doc(testbed)
    return require(data.keys() >= _DOC_KEYS, list(data))


async def _paging(testbed: Testbed) -> str:
    whole = (await _doc(testbed))["content"]
    parts, start = [], 0
    while (part := await _doc(testbed, start=start, length=50))["returned_chars"]:
        parts.append(part["content"])
        start = part["start"] + part["returned_chars"]
    return require("".join(parts) == whole, f"{len(parts)} parts of 50 characters join to {len(whole)}")


async def _past_the_end(testbed: Testbed) -> str:
    data = await _doc(testbed, start=1_000_000)
    state = (data["returned_chars"], data["start"] == data["total_chars"], data["truncated"])
    return require(state == (0, True, False), state)


async def _negative_start(testbed: Testbed) -> str:
    data = await _doc(testbed, start=-5)
    return require(data["start"] == 0 and data["returned_chars"], f"start={data['start']}")


async def _negative_length(testbed: Testbed) -> str:
    answer = await testbed.call("read_doc", source=testbed.site.url(_PDF), length=-1)
    return require(answer.is_error and "length" in answer.text, answer.text)


async def _local_disabled(testbed: Testbed) -> str:
    answer = await testbed.call("read_doc", source="notes.txt")
    disabled = "local file reads are disabled" in answer.text.lower()
    return require(answer.is_error and disabled, answer.text)


async def _file_url(testbed: Testbed) -> str:
    answer = await testbed.call("read_doc", source="file:///etc/passwd")
    return require(answer.is_error and "root:" not in answer.text, answer.text)


async def _local(testbed: Testbed) -> str:
    """Read files below the root; reject paths outside it."""
    root = _root(testbed.folder)
    results = {}
    async with testbed.stdio(SEARCH_MCP_DOCUMENT_ROOT=str(root)) as client:
        for source in ("notes.txt", str(root / "report.docx"), "../outside.txt", f"file://{root}/notes.txt"):
            answer = await client.call_tool("read_doc", {"source": source})
            text = answer.content[0].text  # type: ignore[union-attr]
            results[source.rpartition("/")[2] + (" rejected" if answer.is_error else "")] = "MARK" in text
    expected = {"notes.txt": True, "report.docx": True, "outside.txt rejected": False, "notes.txt rejected": False}
    return require(results == expected, results)


def _root(folder: Path) -> Path:
    root = folder / "documents"
    root.mkdir(exist_ok=True)
    (root / "notes.txt").write_text("MARK in a note.\n" * 5)
    (root / "report.docx").write_bytes(docx("<w:p><w:r><w:t>MARK in a report.</w:t></w:r></w:p>"))
    (folder / "outside.txt").write_text("MARK outside.")
    return root


async def _schemas(testbed: Testbed) -> str:
    tools = await testbed.tools()
    expected = {
        "fetch": {"url", "render", "force_refresh", "max_age_hours", "format"},
        "fetch_batch": {"urls", "render", "format"},
        "read_doc": {"source", "start", "length", "format"},
    }
    missing = {name: known - tools[name]["inputSchema"]["properties"].keys() for name, known in expected.items()}
    return require(not any(missing.values()), f"missing: {missing}")


def _row(paragraph: str, requirement: str, check: Check) -> Row:
    return Row("001", paragraph, requirement, check)


ROWS = (
    _row("fetch, fetch_batch, read_doc: Args", "all arguments exist", _schemas),
    _row("fetch", "the main content as Markdown, navigation stripped", _reader),
    _row("fetch: Returns", "markdown: a header with URL, render method, token count", _header),
    _row("fetch: Returns", "json: the nine fields", _fetch_json),
    _row("fetch: Args", "render: auto and browser read a scripted page, http does not", _render),
    _row("fetch: Common mistakes", "pages are cached", _cached),
    _row("fetch: Args", "force_refresh and max_age_hours=0 read again", _refreshed),
    _row("fetch: Common mistakes", "a search query instead of a URL is an error with advice", _query_as_url),
    _row("fetch_batch: Returns", "markdown: sections in order, rules between, errors inline", _batch),
    _row("fetch_batch: Returns", "json: one entry per URL, with error on failures, no exception", _batch_json),
    _row("fetch_batch", "in parallel", _parallel),
    _row("fetch_batch: Args", "an empty list is an error", _empty_batch),
    _row("read_doc: Best for", "a remote PDF", _pdf),
    _row("read_doc: Returns", "markdown: text with a small header", _doc_markdown),
    _row("read_doc: Returns", "json: the seven fields", _doc_json),
    _row("read_doc: Common mistakes", "start = start + returned_chars pages without gap", _paging),
    _row("read_doc: Common mistakes", "past the end: empty, not truncated", _past_the_end),
    _row("read_doc: Args", "a negative start is 0", _negative_start),
    _row("read_doc: Args", "a negative length is an error", _negative_length),
    _row("read_doc: Security", "local files are disabled by default, with a message", _local_disabled),
    _row("read_doc: Security", "file:// is always rejected", _file_url),
    _row("read_doc: Security", "only below the root, relative to it; DOCX and text", _local),
)
