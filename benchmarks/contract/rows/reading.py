"""Rows of the nine tools: `fetch`, `fetch_batch`, `read_doc`."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from benchmarks.contract.rows.row import Check, Row, seen
from benchmarks.contract.rows.world import World
from tests.scraper.extract.documents.builders import docx

_PAGE_KEYS = {
    "url", "title", "content", "method", "truncated", "tokens_estimated", "author", "published_date",
    "sitename",
}  # fmt: skip
_DOC_KEYS = {"content", "title", "format", "total_chars", "start", "returned_chars", "truncated"}
_PDF = "/document/log.pdf"


async def _page(world: World, path: str, **arguments: Any) -> dict[str, Any]:
    data: dict[str, Any] = (await world.call("fetch", url=world.site.url(path), format="json", **arguments)).data
    return data


async def _reader(world: World) -> str:
    text = (await world.call("fetch", url=world.site.url("/rich"))).text
    clean = "Subscribe to our letter" not in text and "<article>" not in text
    return seen(clean and "| Ship | Tons |" in text and "## A list" in text, "headings, tables; no aside, no tags")


async def _header(world: World) -> str:
    head = (await world.call("fetch", url=world.site.url("/rich"))).text.partition("<<<untrusted")[0]
    return seen(all(f"{name}: " in head for name in ("URL", "Method", "Tokens")), head)


async def _fetch_json(world: World) -> str:
    data = await _page(world, "/rich")
    return seen(data.keys() >= _PAGE_KEYS and data["author"] == "Ada Quay", list(data))


async def _render(world: World) -> str:
    found = {}
    for mode in ("auto", "browser", "http"):
        answer = await world.call("fetch", url=world.site.url("/spa/7"), render=mode, format="json")
        found[mode] = not answer.is_error and "MARK-" in answer.data["content"]
    return seen(found == {"auto": True, "browser": True, "http": False}, f"content is there: {found}")


async def _cached(world: World) -> str:
    states = [(await _page(world, "/static/21"))["cached"] for _ in range(2)]
    return seen(states == [False, True], f"cached: {states}")


async def _refreshed(world: World) -> str:
    await _page(world, "/static/22")
    before = world.site.hits("/static/22")
    states = [
        (await _page(world, "/static/22", force_refresh=True))["cached"],
        (await _page(world, "/static/22", max_age_hours=0))["cached"],
    ]
    hits = world.site.hits("/static/22") - before
    return seen(states == [False, False] and hits == 2, f"cached {states}, {hits} new requests at the site")


async def _query_as_url(world: World) -> str:
    answer = await world.call("fetch", url="what is a tide")
    return seen(answer.is_error and "search" in answer.text, answer.text)


async def _batch(world: World) -> str:
    urls = [world.site.url(path) for path in ("/static/31", "/status/404", "/static/32")]
    text = (await world.call("fetch_batch", urls=urls)).text
    places = [text.find(mark) for mark in ("volume 31", "404", "volume 32")]
    return seen(places == sorted(places) and -1 not in places and "\n---\n" in text, f"in order at {places}")


async def _batch_json(world: World) -> str:
    urls = [world.site.url(path) for path in ("/static/31", "/status/404", "/static/32")]
    answer = await world.call("fetch_batch", urls=urls, format="json")
    states = [bool(entry["error"]) for entry in answer.data]
    return seen(states == [False, True, False] and not answer.is_error, answer.data[1]["error"])


async def _parallel(world: World) -> str:
    urls = [world.site.url("/slow-answer/2000", f"host{number}.example") for number in range(1, 6)]
    begun = time.perf_counter()
    data = (await world.call("fetch_batch", urls=urls, render="http", format="json")).data
    seconds = time.perf_counter() - begun
    read = sum(not entry["error"] for entry in data)
    return seen(read == 5 and seconds < 8, f"5 pages of 2 s each in {seconds:.1f} s")


async def _empty_batch(world: World) -> str:
    answer = await world.call("fetch_batch", urls=[])
    return seen(answer.is_error and "urls" in answer.text, answer.text)


async def _doc(world: World, **arguments: Any) -> dict[str, Any]:
    data: dict[str, Any] = (await world.call("read_doc", source=world.site.url(_PDF), format="json", **arguments)).data
    return data


async def _pdf(world: World) -> str:
    data = await _doc(world)
    return seen(data["format"] == "pdf" and "MARK-pdf-9" in data["content"], data["content"][:60])


async def _doc_markdown(world: World) -> str:
    text = (await world.call("read_doc", source=world.site.url(_PDF))).text
    head = text.partition("<<<untrusted")[0]
    return seen("Format: pdf" in head and "MARK-pdf-0" in text, head)


async def _doc_json(world: World) -> str:
    data = await _doc(world)
    return seen(data.keys() >= _DOC_KEYS, list(data))


async def _paging(world: World) -> str:
    whole = (await _doc(world))["content"]
    parts, start = [], 0
    while (part := await _doc(world, start=start, length=50))["returned_chars"]:
        parts.append(part["content"])
        start = part["start"] + part["returned_chars"]
    return seen("".join(parts) == whole, f"{len(parts)} parts of 50 characters join to {len(whole)}")


async def _past_the_end(world: World) -> str:
    data = await _doc(world, start=1_000_000)
    told = (data["returned_chars"], data["start"] == data["total_chars"], data["truncated"])
    return seen(told == (0, True, False), told)


async def _negative_start(world: World) -> str:
    data = await _doc(world, start=-5)
    return seen(data["start"] == 0 and data["returned_chars"], f"start={data['start']}")


async def _negative_length(world: World) -> str:
    answer = await world.call("read_doc", source=world.site.url(_PDF), length=-1)
    return seen(answer.is_error and "length" in answer.text, answer.text)


async def _local_disabled(world: World) -> str:
    answer = await world.call("read_doc", source="notes.txt")
    told = "local file reads are disabled" in answer.text.lower()
    return seen(answer.is_error and told, answer.text)


async def _file_url(world: World) -> str:
    answer = await world.call("read_doc", source="file:///etc/passwd")
    return seen(answer.is_error and "root:" not in answer.text, answer.text)


async def _local(world: World) -> str:
    """Files beneath the root, and what leads out of it."""
    root = _root(world.folder)
    told = {}
    async with world.stdio(SEARCH_MCP_DOCUMENT_ROOT=str(root)) as client:
        for source in ("notes.txt", str(root / "report.docx"), "../outside.txt", f"file://{root}/notes.txt"):
            answer = await client.call_tool("read_doc", {"source": source})
            text = answer.content[0].text  # type: ignore[union-attr]
            told[source.rpartition("/")[2] + (" refused" if answer.is_error else "")] = "MARK" in text
    expected = {"notes.txt": True, "report.docx": True, "outside.txt refused": False, "notes.txt refused": False}
    return seen(told == expected, told)


def _root(folder: Path) -> Path:
    root = folder / "documents"
    root.mkdir(exist_ok=True)
    (root / "notes.txt").write_text("MARK in a note.\n" * 5)
    (root / "report.docx").write_bytes(docx("<w:p><w:r><w:t>MARK in a report.</w:t></w:r></w:p>"))
    (folder / "outside.txt").write_text("MARK outside.")
    return root


async def _schemas(world: World) -> str:
    tools = await world.tools()
    expected = {
        "fetch": {"url", "render", "force_refresh", "max_age_hours", "format"},
        "fetch_batch": {"urls", "render", "format"},
        "read_doc": {"source", "start", "length", "format"},
    }
    missing = {name: known - tools[name]["inputSchema"]["properties"].keys() for name, known in expected.items()}
    return seen(not any(missing.values()), f"missing: {missing}")


def _row(paragraph: str, requirement: str, check: Check) -> Row:
    return Row("001", paragraph, requirement, check)


ROWS = (
    _row("fetch, fetch_batch, read_doc: Args", "all arguments are there", _schemas),
    _row("fetch", "the main content as Markdown, navigation stripped", _reader),
    _row("fetch: Returns", "markdown: a header with URL, render method, token count", _header),
    _row("fetch: Returns", "json: the nine fields", _fetch_json),
    _row("fetch: Args", "render: auto and browser read a page of scripts, http does not", _render),
    _row("fetch: Common mistakes", "pages are kept", _cached),
    _row("fetch: Args", "force_refresh and max_age_hours=0 read anew", _refreshed),
    _row("fetch: Common mistakes", "a search query instead of a URL is told", _query_as_url),
    _row("fetch_batch: Returns", "markdown: sections in order, rules between, errors inline", _batch),
    _row("fetch_batch: Returns", "json: one entry a URL, error on failures, no exception", _batch_json),
    _row("fetch_batch", "in parallel", _parallel),
    _row("fetch_batch: Args", "an empty list is told", _empty_batch),
    _row("read_doc: Best for", "a remote PDF", _pdf),
    _row("read_doc: Returns", "markdown: text with a small header", _doc_markdown),
    _row("read_doc: Returns", "json: the seven fields", _doc_json),
    _row("read_doc: Common mistakes", "start = start + returned_chars pages without gap", _paging),
    _row("read_doc: Common mistakes", "past the end: nothing, not truncated", _past_the_end),
    _row("read_doc: Args", "a negative start is 0", _negative_start),
    _row("read_doc: Args", "a negative length is refused", _negative_length),
    _row("read_doc: Security", "local files are disabled by default, and it says so", _local_disabled),
    _row("read_doc: Security", "file:// is always refused", _file_url),
    _row("read_doc: Security", "beneath the root only; relative from there; DOCX and text", _local),
)
