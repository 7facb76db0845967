"""Measure the PostgreSQL store under load: full-text search in a million pages, eight concurrent writers.

The benchmark starts a real server from the system's packages. Synthetic pages (benchmarks.common.synthetic_texts)
take long to write and index, so their folder is reused. It also compares the first results with those of SQLite.
"""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import asyncpg

from benchmarks.common.command_line import Figures, Goal, Options, print_goals, print_table, run
from benchmarks.common.contender import REPOSITORY
from benchmarks.common.processes import tree
from benchmarks.common.rounds import percentile
from benchmarks.common.synthetic_texts import SyntheticTexts
from benchmarks.shared_store.table import (
    DATABASE,
    LANGUAGE,
    LIMIT_BYTES,
    PAGE_CHARS,
    SLOW_WAIT_MS,
    filled_server,
    make_entry,
    open_store,
)
from scraper.store.postgres import database as schema
from scraper.store.postgres.stores import PostgresPageStore
from scraper.store.protocols import CacheScope, PageStore
from scraper.store.sqlite.pages import SqlitePageStore
from tests.scraper.store.postgres_server import PostgresServer, missing

_PAGES, _PAGES_QUICK = 1_000_000, 50_000
_SEARCHES = 300
"""Searches of each of two series without repeated queries. The first series runs as after a start, with all data
on disk; the second with the table and the index for ranking in memory, as in a server that has run for a while."""
_WARM_UP = 30
_WRITERS = 8
_WRITTEN_EACH, _WRITTEN_EACH_QUICK = 400, 100
_SHARED_EVERY = 10
"""One page in this many is written by all writers."""
_LONE_PAGES, _LONE_PAGES_QUICK = 3_000, 1_000
_FIRST_PAGES = 1_000
"""Pages put before the measurement: after a start they cost twice as much, because the index is on disk."""
_COMPARED, _COMPARED_QUICK = 20_000, 5_000
_COMPARED_QUERIES = 100
_NO_PRINCIPALS: frozenset[str] = frozenset()
_WAITED = re.compile(r"(?:still waiting for|acquired) .* after ([\d.]+) ms")

_GOALS = (Goal("search_p95_ms", at_most=50), Goal("put_ms", at_most=5), Goal("lock_waits_above_100_ms", at_most=0))


async def measure(options: Options) -> Figures:
    """Fill the store, search, compare with SQLite, and write from eight servers."""
    if reason := missing():
        raise FileNotFoundError(reason)
    count = _PAGES_QUICK if options.quick else _PAGES
    async with filled_server(count) as (server, figures):
        figures |= await _searches(server)
        figures |= await _compare_with_sqlite(server, _COMPARED_QUICK if options.quick else _COMPARED)
        figures |= await _one_writer(server, _LONE_PAGES_QUICK if options.quick else _LONE_PAGES)
        figures |= await _writers(server, _WRITTEN_EACH_QUICK if options.quick else _WRITTEN_EACH)
    print_table("The store in PostgreSQL", ("", "measured"), sorted(figures.items()))
    print_goals(figures, _GOALS)
    return figures


async def _searches(server: PostgresServer) -> Figures:
    queries = list(SyntheticTexts(LANGUAGE).queries(_WARM_UP + 2 * _SEARCHES))
    warming, first, later = queries[:_WARM_UP], queries[_WARM_UP:-_SEARCHES], queries[-_SEARCHES:]
    async with open_store(server.url(DATABASE)) as pages:
        for query in warming:  # opens the connections and reads the upper pages of the index
            await _time_search(pages, query)
        cold = sorted([await _time_search(pages, query) for query in first])
        warmed_s = await _load_into_memory(server)
        before_s = _cpu_s(server)
        times = sorted([await _time_search(pages, query) for query in later])
        elapsed_s = _cpu_s(server) - before_s
        got = sorted([await _time_get(pages, 1 + 997 * at) for at in range(_SEARCHES)])
    return {
        "warmed_s": warmed_s,
        "search_first_p95_ms": 1000 * percentile(cold, 0.95),
        "search_p50_ms": 1000 * percentile(times, 0.5),
        "search_p95_ms": 1000 * percentile(times, 0.95),
        "search_most_ms": 1000 * times[-1],
        "search_cpu_ms": 1000 * elapsed_s / len(times),
        "get_p95_ms": 1000 * percentile(got, 0.95),
    }


async def _load_into_memory(server: PostgresServer) -> float:
    """Load the data for ranking into memory (see docs/store.md); return the seconds."""
    started = time.perf_counter()
    url = server.url(DATABASE)
    await server.say("CREATE EXTENSION IF NOT EXISTS pg_prewarm", url)
    for name in ("words_by_vector", "words"):
        await server.say(f"SELECT pg_prewarm('{schema.SCHEMA_NAME}.{name}')", url)
    return time.perf_counter() - started


def _cpu_s(server: PostgresServer) -> float:
    """Return the CPU seconds of the live processes of the database and of this process."""
    spent = [process.own_s for process in tree(server.pid)]
    return time.process_time() + sum(spent)


async def _time_search(pages: PageStore, query: str) -> float:
    started = time.perf_counter()
    found = await pages.search(query, principal="local", allowed=_NO_PRINCIPALS, limit=10)
    assert found.usable, "a search failed"
    return time.perf_counter() - started


async def _time_get(pages: PageStore, number: int) -> float:
    started = time.perf_counter()
    key = f"https://example.org/{number}"
    await pages.get(key, scope=CacheScope(), methods=("http",), max_age_s=1e9, allowed=_NO_PRINCIPALS)
    return time.perf_counter() - started


async def _compare_with_sqlite(server: PostgresServer, count: int) -> Figures:
    """Return the overlap of the first ten results of SQLite and PostgreSQL, as intersection over union."""
    texts = SyntheticTexts(LANGUAGE)
    await server.say("DROP DATABASE IF EXISTS compared")
    await server.say("CREATE DATABASE compared")
    queries = list(SyntheticTexts(LANGUAGE).queries(_COMPARED_QUERIES))
    with tempfile.TemporaryDirectory() as folder:
        sqlite = SqlitePageStore(Path(folder), limit_bytes=LIMIT_BYTES)
        async with open_store(server.url("compared")) as shared:
            for first in range(0, count, 100):
                for number in range(first, first + 100):
                    entry = make_entry(number, texts.page(PAGE_CHARS))
                    sqlite.put(entry)
                    shared.put(entry)
                await sqlite.flush()
                await shared.flush()
            same, of = 0, 0
            for query in queries:
                one, other = await _first_hits(sqlite, query), await _first_hits(shared, query)
                same, of = same + len(one & other), of + len(one | other)
        await sqlite.close()
    await server.say("DROP DATABASE compared")
    return {"same_hits_as_sqlite": same / of}


async def _first_hits(pages: PageStore, query: str) -> set[str]:
    found = await pages.search(query, principal="local", allowed=_NO_PRINCIPALS, limit=10)
    return {hit.url for hit in found.hits}


async def _one_writer(server: PostgresServer, count: int) -> Figures:
    """Put pages into a table of a million from one server, with a search after every hundred."""
    texts = SyntheticTexts(LANGUAGE)
    queries = list(texts.queries(_SEARCHES))
    searching_s: list[float] = []
    async with open_store(server.url(DATABASE)) as pages:
        await pages.stats()
        first_s = 0.0
        for at in range(0, _FIRST_PAGES, 100):
            first_s += await _put_hundred(pages, texts, 10_000_000 + at)
        before_s, elapsed_s = _cpu_s(server), 0.0
        for at in range(0, count, 100):
            elapsed_s += await _put_hundred(pages, texts, 11_000_000 + at)
            searching_s.append(await _time_search(pages, queries[at // 100 % _SEARCHES]))
        lost = (await pages.stats()).lost
        used_s = _cpu_s(server) - before_s
    return {
        "put_and_search_cpu_ms": 1000 * used_s / count,
        "put_ms": 1000 * elapsed_s / count,
        "put_first_ms": 1000 * first_s / _FIRST_PAGES,
        "search_between_puts_p95_ms": 1000 * percentile(sorted(searching_s), 0.95),
        "lost": float(lost),
    }


async def _put_hundred(pages: PostgresPageStore, texts: SyntheticTexts, number: int) -> float:
    """Put a hundred pages; return the seconds until they are in the database."""
    entries = [make_entry(number + one, texts.page(PAGE_CHARS), CacheScope("writer")) for one in range(100)]
    started = time.perf_counter()
    for entry in entries:
        pages.put(entry)
    await pages.flush()
    return time.perf_counter() - started


_WRITE = """
import asyncio, sys
from benchmarks.shared_store.__main__ import write_pages
asyncio.run(write_pages(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))
"""


async def write_pages(url: str, writer: int, count: int) -> None:
    """Put pages, some of which other writers put too; print the lost pages and the seconds per page."""
    texts = SyntheticTexts(LANGUAGE)
    texts.begin_at(1_000 + writer)
    elapsed_s = 0.0
    async with open_store(url) as pages:
        await pages.stats()
        for first in range(0, count, 50):
            entries = []
            for at in range(first, first + 50):
                base = 20_000_000 if at % _SHARED_EVERY == 0 else 30_000_000 + writer * 1_000_000
                entries.append(make_entry(base + at, texts.page(PAGE_CHARS), CacheScope("writer")))
            started = time.perf_counter()
            for entry in entries:
                pages.put(entry)
            await pages.flush()
            elapsed_s += time.perf_counter() - started
        stats = await pages.stats()
    print(json.dumps({"lost": stats.lost + stats.waiting, "seconds": elapsed_s / count}))


async def _writers(server: PostgresServer, count: int) -> Figures:
    """Write from eight servers at the same time; return speed, lost pages and lock waits."""
    log_path = server.folder / "log"
    log_start = log_path.stat().st_size
    started = time.perf_counter()
    writers = [
        await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", _WRITE, server.url(DATABASE), str(number), str(count)),
            cwd=REPOSITORY,
            stdout=subprocess.PIPE,
        )
        for number in range(_WRITERS)
    ]
    ended = asyncio.gather(*(writer.communicate() for writer in writers))
    watching = asyncio.create_task(_longest_wait_ms(server, ended))
    outcome = [json.loads(out) for out, _ in await ended]
    elapsed_s = time.perf_counter() - started
    logged = [float(found) for found in _WAITED.findall(log_path.read_text()[log_start:])]
    return {
        "lock_wait_ms": max([await watching, *logged]),
        "lock_waits_above_100_ms": float(len([wait for wait in logged if wait > SLOW_WAIT_MS])),
        "writers_lost": float(sum(one["lost"] for one in outcome)),
        "writers_put_ms": 1000 * max(one["seconds"] for one in outcome) / _WRITERS,
        "writers_pages_per_s": _WRITERS * count / elapsed_s,
    }


async def _longest_wait_ms(server: PostgresServer, until: asyncio.Future[list[tuple[bytes, bytes]]]) -> float:
    """Return the longest lock wait, sampled every ten milliseconds; the log has waits above a hundred exactly."""
    connection = await asyncpg.connect(server.url(DATABASE))
    longest = 0.0
    while not until.done():
        waited = await connection.fetchval(
            "SELECT 1000 * extract(epoch FROM max(clock_timestamp() - waitstart)) FROM pg_locks WHERE NOT granted"
        )
        longest = max(longest, float(waited or 0.0))
        await asyncio.sleep(0.01)
    await connection.close()
    return longest


if __name__ == "__main__":
    run(__doc__ or "", measure)
