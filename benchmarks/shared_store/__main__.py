"""The store in PostgreSQL under load: a million pages found by their words, eight servers that write at once.

Starts a real server from the system's packages. The made pages (see made_texts) take long to write down and
to index, so their folder is kept and used again. Times are of the machine as it is. Beside them stands how
many of the first hits are those that SQLite finds.
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
from benchmarks.common.synthetic_texts import MadeTexts
from benchmarks.shared_store.table import (
    DATABASE,
    LANGUAGE,
    LIMIT_BYTES,
    PAGE_CHARS,
    SLOW_WAIT_MS,
    filled_server,
    made_entry,
    opened,
)
from scraper.store.postgres import schema
from scraper.store.postgres.pages import PostgresPageStore
from scraper.store.protocols import CacheScope, PageStore
from scraper.store.sqlite.pages import SqlitePageStore
from tests.scraper.store.postgres_server import PostgresServer, missing

_PAGES, _PAGES_QUICK = 1_000_000, 50_000
_SEARCHES = 300
"""Twice so many, none again: the first as after a start, when all is read from the disk; the later ones with
the table and the index that rank pages in memory, as in a server that has run for a while."""
_WARMING = 30
_WRITERS = 8
_WRITTEN_EACH, _WRITTEN_EACH_QUICK = 400, 100
_SHARED_EVERY = 10
"""Of what a writer keeps, one in so many is a page that all of them keep."""
_LONE_PAGES, _LONE_PAGES_QUICK = 3_000, 1_000
_FIRST_PAGES = 1_000
"""Put beforehand: after a start they cost twice as much, as the index is read from the disk leaf by leaf."""
_COMPARED, _COMPARED_QUICK = 20_000, 5_000
_COMPARED_QUERIES = 100
_NOBODY: frozenset[str] = frozenset()
_WAITED = re.compile(r"(?:still waiting for|acquired) .* after ([\d.]+) ms")

_GOALS = (Goal("search_p95_ms", at_most=50), Goal("put_ms", at_most=5), Goal("lock_waits_above_100_ms", at_most=0))


async def measure(options: Options) -> Figures:
    """Fill, search, compare, write from eight servers."""
    if reason := missing():
        raise FileNotFoundError(reason)
    count = _PAGES_QUICK if options.quick else _PAGES
    async with filled_server(count) as (server, figures):
        figures |= await _searches(server)
        figures |= await _compared(server, _COMPARED_QUICK if options.quick else _COMPARED)
        figures |= await _lone_writer(server, _LONE_PAGES_QUICK if options.quick else _LONE_PAGES)
        figures |= await _writers(server, _WRITTEN_EACH_QUICK if options.quick else _WRITTEN_EACH)
    print_table("The store in PostgreSQL", ("", "measured"), sorted(figures.items()))
    print_goals(figures, _GOALS)
    return figures


async def _searches(server: PostgresServer) -> Figures:
    queries = list(MadeTexts(LANGUAGE).queries(_WARMING + 2 * _SEARCHES))
    warming, first, later = queries[:_WARMING], queries[_WARMING:-_SEARCHES], queries[-_SEARCHES:]
    async with opened(server.url(DATABASE)) as pages:
        for query in warming:  # connections are made, and the index's upper pages read
            await _searched(pages, query)
        cold = sorted([await _searched(pages, query) for query in first])
        warmed_s = await _warmed(server)
        before_s = _cpu_s(server)
        times = sorted([await _searched(pages, query) for query in later])
        spent_s = _cpu_s(server) - before_s
        got = sorted([await _got(pages, 1 + 997 * at) for at in range(_SEARCHES)])
    return {
        "warmed_s": warmed_s,
        "search_first_p95_ms": 1000 * percentile(cold, 0.95),
        "search_p50_ms": 1000 * percentile(times, 0.5),
        "search_p95_ms": 1000 * percentile(times, 0.95),
        "search_most_ms": 1000 * times[-1],
        "search_cpu_ms": 1000 * spent_s / len(times),
        "get_p95_ms": 1000 * percentile(got, 0.95),
    }


async def _warmed(server: PostgresServer) -> float:
    """Seconds until PostgreSQL has read into its memory what searches rank by; see docs/store.md."""
    began = time.perf_counter()
    url = server.url(DATABASE)
    await server.say("CREATE EXTENSION IF NOT EXISTS pg_prewarm", url)
    for name in ("words_by_vector", "words"):
        await server.say(f"SELECT pg_prewarm('{schema.SCHEMA_NAME}.{name}')", url)
    return time.perf_counter() - began


def _cpu_s(server: PostgresServer) -> float:
    """Seconds of CPU of the database's living processes and of this one, whatever else the machine does."""
    spent = [process.own_s for process in tree(server.pid)]
    return time.process_time() + sum(spent)


async def _searched(pages: PageStore, query: str) -> float:
    began = time.perf_counter()
    found = await pages.search(query, principal="local", allowed=_NOBODY, limit=10)
    assert found.usable, "a search was not answered"
    return time.perf_counter() - began


async def _got(pages: PageStore, number: int) -> float:
    began = time.perf_counter()
    key = f"https://example.org/{number}"
    await pages.get(key, scope=CacheScope(), methods=("http",), max_age_s=1e9, allowed=_NOBODY)
    return time.perf_counter() - began


async def _compared(server: PostgresServer, count: int) -> Figures:
    """How many of SQLite's first ten hits are among PostgreSQL's, and whether both find the same pages."""
    made = MadeTexts(LANGUAGE)
    await server.say("DROP DATABASE IF EXISTS compared")
    await server.say("CREATE DATABASE compared")
    queries = list(MadeTexts(LANGUAGE).queries(_COMPARED_QUERIES))
    with tempfile.TemporaryDirectory() as folder:
        sqlite = SqlitePageStore(Path(folder), limit_bytes=LIMIT_BYTES)
        async with opened(server.url("compared")) as shared:
            for first in range(0, count, 100):
                for number in range(first, first + 100):
                    entry = made_entry(number, made.page(PAGE_CHARS))
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
    found = await pages.search(query, principal="local", allowed=_NOBODY, limit=10)
    return {hit.url for hit in found.hits}


async def _lone_writer(server: PostgresServer, count: int) -> Figures:
    """One server that keeps pages in a table of a million, a search beside every hundred."""
    made = MadeTexts(LANGUAGE)
    queries = list(made.queries(_SEARCHES))
    searching_s: list[float] = []
    async with opened(server.url(DATABASE)) as pages:
        await pages.stats()
        first_s = 0.0
        for at in range(0, _FIRST_PAGES, 100):
            first_s += await _put_hundred(pages, made, 10_000_000 + at)
        before_s, spent_s = _cpu_s(server), 0.0
        for at in range(0, count, 100):
            spent_s += await _put_hundred(pages, made, 11_000_000 + at)
            searching_s.append(await _searched(pages, queries[at // 100 % _SEARCHES]))
        lost = (await pages.stats()).lost
        used_s = _cpu_s(server) - before_s
    return {
        "put_and_search_cpu_ms": 1000 * used_s / count,
        "put_ms": 1000 * spent_s / count,
        "put_first_ms": 1000 * first_s / _FIRST_PAGES,
        "search_between_puts_p95_ms": 1000 * percentile(sorted(searching_s), 0.95),
        "lost": float(lost),
    }


async def _put_hundred(pages: PostgresPageStore, made: MadeTexts, number: int) -> float:
    """Seconds until they are in the database."""
    entries = [made_entry(number + one, made.page(PAGE_CHARS), CacheScope("writer")) for one in range(100)]
    began = time.perf_counter()
    for entry in entries:
        pages.put(entry)
    await pages.flush()
    return time.perf_counter() - began


_WRITE = """
import asyncio, sys
from benchmarks.shared_store import write_for_a_while
asyncio.run(write_for_a_while(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))
"""


async def write_for_a_while(url: str, writer: int, count: int) -> None:
    """Keep pages, some of which others keep too; say how many were lost, and seconds for a page."""
    made = MadeTexts(LANGUAGE)
    made.begin_at(1_000 + writer)
    spent_s = 0.0
    async with opened(url) as pages:
        await pages.stats()
        for first in range(0, count, 50):
            entries = []
            for at in range(first, first + 50):
                base = 20_000_000 if at % _SHARED_EVERY == 0 else 30_000_000 + writer * 1_000_000
                entries.append(made_entry(base + at, made.page(PAGE_CHARS), CacheScope("writer")))
            began = time.perf_counter()
            for entry in entries:
                pages.put(entry)
            await pages.flush()
            spent_s += time.perf_counter() - began
        stats = await pages.stats()
    print(json.dumps({"lost": stats.lost + stats.waiting, "seconds": spent_s / count}))


async def _writers(server: PostgresServer, count: int) -> Figures:
    """Eight servers that write at once, one that searches beside them, and how long any waits for a lock."""
    log_path = server.folder / "log"
    log_start = log_path.stat().st_size
    began = time.perf_counter()
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
    said = [json.loads(out) for out, _ in await ended]
    spent_s = time.perf_counter() - began
    logged = [float(found) for found in _WAITED.findall(log_path.read_text()[log_start:])]
    return {
        "lock_wait_ms": max([await watching, *logged]),
        "lock_waits_above_100_ms": float(len([wait for wait in logged if wait > SLOW_WAIT_MS])),
        "writers_lost": float(sum(one["lost"] for one in said)),
        "writers_put_ms": 1000 * max(one["seconds"] for one in said) / _WRITERS,
        "writers_pages_per_s": _WRITERS * count / spent_s,
    }


async def _longest_wait_ms(server: PostgresServer, until: asyncio.Future[list[tuple[bytes, bytes]]]) -> float:
    """Of waits for locks, by looking every ten milliseconds; the log has those above a hundred exactly."""
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
