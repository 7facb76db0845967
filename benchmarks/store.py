"""Measure the SQLite store under load: search in 100,000 pages during writes, named indexes, and kill -9.

Pages and queries are synthetic (benchmarks.common.synthetic_texts); there is no network. Compare only figures of
one run, because times depend on the machine. Named indexes are compared with tantivy and whoosh in the same run.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

import apsw

from benchmarks.common.command_line import Figures, Goal, Options, print_goals, print_table, run
from benchmarks.common.contender import REPOSITORY
from benchmarks.common.rounds import percentile
from benchmarks.common.synthetic_texts import SyntheticTexts
from benchmarks.peers.launch import peer_python
from scraper.model import Document, Reading
from scraper.store.index_model import IndexDocument
from scraper.store.index_service import IndexService
from scraper.store.protocols import CacheScope, PageEntry
from scraper.store.sqlite.pages import FILE_NAME, SqlitePageStore

_PAGES, _PAGES_QUICK = 100_000, 10_000
_PAGE_CHARS = 5_000
_AT_ONCE = 100
_SEARCHES = 300
_DOCUMENTS, _DOCUMENTS_QUICK = 50_000, 5_000
_DOCUMENT_WORDS = 100
_KILLS, _KILLS_QUICK = 50, 5
_KILL_AFTER_S = (0.05, 0.5)
_LIMIT_BYTES = 10_000_000_000
_NO_PRINCIPALS: frozenset[str] = frozenset()
_PEERS = ("tantivy", "whoosh")

_GOALS = (
    Goal("search_p95_ms", at_most=20),
    Goal("inserts_per_s", at_least=1_000),
    Goal("open_ms", at_most=200),
    Goal("file_per_text", at_most=1.6),
    Goal("index_search_p95_ms", at_most=10),
    Goal("lost_after_kill", at_most=0),
)


async def measure(options: Options) -> Figures:
    """Fill the store, search, reopen it, and kill writers."""
    pages, documents = (_PAGES_QUICK, _DOCUMENTS_QUICK) if options.quick else (_PAGES, _DOCUMENTS)
    with tempfile.TemporaryDirectory(prefix="benchmark-") as scratch:
        figures = await _measure_pages(Path(scratch) / "pages", pages)
        figures |= await _measure_index(Path(scratch) / "indexes", documents)
        figures["lost_after_kill"], figures["kills"] = await asyncio.to_thread(
            _measure_kills, Path(scratch) / "killed", _KILLS_QUICK if options.quick else _KILLS
        )
    print_table("The store", ("", "measured"), sorted(figures.items()))
    print_goals(figures, _GOALS)
    return figures


async def _measure_pages(folder: Path, count: int) -> Figures:
    texts_source = SyntheticTexts(1)
    pages = SqlitePageStore(folder, limit_bytes=_LIMIT_BYTES)
    await pages.flush()
    queries = list(texts_source.queries(_SEARCHES))
    chars, elapsed_s, search_times = 0, 0.0, []
    for start in range(0, count, _AT_ONCE):
        entries = [_entry(start + at, texts_source.page(_PAGE_CHARS)) for at in range(_AT_ONCE)]
        chars += sum(len(entry.reading.document.text) for entry in entries)
        started = time.perf_counter()
        for entry in entries:
            pages.put(entry)
        # One search runs during every hundred writes.
        searching = asyncio.ensure_future(_time_search(pages, queries[(start // _AT_ONCE) % _SEARCHES]))
        await pages.flush()
        elapsed_s += time.perf_counter() - started
        search_times.append(await searching)
    lost = (await pages.stats()).lost
    times = [await _time_search(pages, query) for query in queries]
    await pages.close()
    return {
        "inserts_per_s": count / elapsed_s,
        "search_while_writing_p95_ms": 1000 * percentile(sorted(search_times), 0.95),
        "search_p50_ms": 1000 * percentile(sorted(times), 0.5),
        "search_p95_ms": 1000 * percentile(sorted(times), 0.95),
        "open_ms": 1000 * await _time_open(folder),
        "file_per_text": (folder / FILE_NAME).stat().st_size / chars,
        "pages": count,
        "pages_lost": lost,
    }


async def _time_search(pages: SqlitePageStore, query: str) -> float:
    started = time.perf_counter()
    found = await pages.search(query, principal="local", allowed=_NO_PRINCIPALS, limit=10)
    assert found.usable
    return time.perf_counter() - started


async def _time_open(folder: Path) -> float:
    """Open an existing file; return the seconds until the first lookup is answered."""
    started = time.perf_counter()
    pages = SqlitePageStore(folder, limit_bytes=_LIMIT_BYTES)
    key = "https://example.org/1"
    cached = await pages.get(key, scope=CacheScope(), methods=("http",), max_age_s=1e9, allowed=_NO_PRINCIPALS)
    elapsed_s = time.perf_counter() - started
    assert cached is not None
    await pages.close()
    return elapsed_s


def _entry(number: int, text: str) -> PageEntry:
    url = f"https://example.org/{number}"
    document = Document(url=url, title=text[:40], text=text, markdown=text)
    reading = Reading(document, url, url, 200, "http", cached=False, retrieved_at=datetime.now(UTC))
    return PageEntry(CacheScope(), url, reading)


async def _measure_index(folder: Path, count: int) -> Figures:
    texts_source = SyntheticTexts(2)
    texts = [texts_source.text(_DOCUMENT_WORDS) for _ in range(count)]
    queries = list(texts_source.queries(_SEARCHES))
    indexes = IndexService(folder)
    started = time.perf_counter()
    for number, text in enumerate(texts):
        await indexes.add("default", IndexDocument(str(number), text), principal="local")
    filled_s = time.perf_counter() - started
    times = []
    for query in queries:
        started = time.perf_counter()
        await indexes.search("default", query, principal="local", limit=10)
        times.append(time.perf_counter() - started)
    await indexes.close()
    figures = {
        "index_adds_per_s": count / filled_s,
        "index_search_p50_ms": 1000 * percentile(sorted(times), 0.5),
        "index_search_p95_ms": 1000 * percentile(sorted(times), 0.95),
    }
    for peer in _PEERS:
        figures |= _peer_figures(peer, texts, queries)
    return figures


def _peer_figures(peer: str, texts: list[str], queries: list[str]) -> Figures:
    """Run the same texts and queries in the environment of the peer."""
    done = subprocess.run(
        [str(peer_python("indexes")), str(REPOSITORY / "benchmarks/peers/runners/text_indexes.py"), peer],
        input=json.dumps({"texts": texts, "queries": queries}),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        print(f"{peer} failed: {done.stderr.strip().splitlines()[-1:]}", file=sys.stderr)
        return {}
    result = json.loads(done.stdout)
    return {
        f"{peer}.adds_per_s": len(texts) / result["filled_s"],
        f"{peer}.search_p95_ms": 1000 * percentile(sorted(result["times_s"]), 0.95),
    }


_WRITE = """
import asyncio, sys
from pathlib import Path
from benchmarks.store import acknowledge_pages
asyncio.run(acknowledge_pages(Path(sys.argv[1]), int(sys.argv[2])))
"""


async def acknowledge_pages(folder: Path, first: int) -> None:
    """Write pages endlessly; print the number of pages after each flush."""
    texts_source = SyntheticTexts(first)
    pages = SqlitePageStore(folder, limit_bytes=_LIMIT_BYTES)
    number = first
    while True:
        batch = [_entry(number + at, texts_source.page(_PAGE_CHARS)) for at in range(10)]
        for entry in batch:
            pages.put(entry)
        await pages.flush()
        number += len(batch)
        print(number, flush=True)


def _measure_kills(folder: Path, kills: int) -> tuple[float, float]:
    """Return the number of acknowledged pages lost by kill -9, and the number of kills."""
    lost, first = 0, 0
    for kill in range(kills):
        with subprocess.Popen(
            [sys.executable, "-c", _WRITE, str(folder), str(first)], cwd=REPOSITORY, stdout=subprocess.PIPE
        ) as writer:
            assert writer.stdout is not None
            acknowledged = int(writer.stdout.readline())
            low, high = _KILL_AFTER_S
            time.sleep(low + (high - low) * kill / max(1, kills))
            os.kill(writer.pid, signal.SIGKILL)
            numbers = writer.stdout.read().split()
            acknowledged = int(numbers[-1]) if numbers else acknowledged
        lost += asyncio.run(_missing(folder, first, acknowledged))
        first = acknowledged
    return float(lost), float(kills)


async def _missing(folder: Path, first: int, beyond: int) -> int:
    pages = SqlitePageStore(folder, limit_bytes=_LIMIT_BYTES)
    missing = 0
    for number in range(first, beyond):
        key = f"https://example.org/{number}"
        cached = await pages.get(key, scope=CacheScope(), methods=("http",), max_age_s=1e9, allowed=_NO_PRINCIPALS)
        missing += cached is None
    await pages.close()
    return missing + (0 if _is_sound(folder) else 1)


def _is_sound(folder: Path) -> bool:
    """Return True if the file passes SQLite's integrity check."""
    connection = apsw.Connection(str(folder / FILE_NAME))
    try:
        return bool(connection.execute("PRAGMA integrity_check").get == "ok")
    finally:
        connection.close()


if __name__ == "__main__":
    run(__doc__ or "", measure)
