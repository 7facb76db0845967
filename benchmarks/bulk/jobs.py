"""Run bulk jobs in separate processes, kill them or their workers, and count the pages in their output."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.bulk.site import BulkSite, RequestStats
from benchmarks.common.contender import REPOSITORY
from benchmarks.common.cpu import Account

PER_HOST = 2
LIMIT_S = 7_200.0
_POLL_S = 0.1


@dataclass(frozen=True, slots=True)
class RunMode:
    """A way to run a job: on one machine or on a cluster."""

    name: str
    arguments: tuple[str, ...]
    workers: Callable[[int], list[int]]
    """Return the process ids of the workers to kill, from the process id of the job."""


@dataclass(slots=True)
class JobResult:
    """Result of one job."""

    title: str
    pages: int
    lost: int
    doubled: int
    failed: int
    request_stats: RequestStats
    exceeded: int
    seconds: float


class Bench:
    """Run bulk jobs against the site."""

    def __init__(self, site: BulkSite, folder: Path) -> None:
        self.site = site
        self._folder = folder
        self._count = 0

    def environment(self) -> dict[str, str]:
        """Return the environment variables of every process under test."""
        return {
            **os.environ,
            "SEARCH_MCP_TEST_HOSTS": self.site.variable,
            "SEARCH_MCP_DATA": str(self._folder / "data"),
            "SEARCH_MCP_CACHE_MB": "0",
            "SEARCH_MCP_LOG_LEVEL": "error",
        }

    def write_urls(self, pages: int) -> tuple[Path, list[str]]:
        """Write a file of URLs; return its path and the URLs."""
        urls = self.site.urls(pages)
        source = self._folder / f"urls-{pages}.txt"
        source.write_text("\n".join(urls))
        return source, urls

    def command(self, source: Path, mode: RunMode, *more: str) -> tuple[list[str], Path]:
        """Return the command of a job in its own folder."""
        out = self._make_folder()
        command = [sys.executable, "-m", "scraper.cli.main", "bulk", str(source), "--out", str(out)]
        return [*command, "--format", "jsonl", *mode.arguments, *more], out

    async def job(
        self,
        title: str,
        mode: RunMode,
        pages: int,
        *,
        kills: Sequence[float] = (),
        cut: float | None = None,
        gap_s: float = 0.0,
    ) -> JobResult:
        """Run one job and inject faults.

        `kills` are the shares of the pages after which the workers are killed. `cut` is the share after which the
        whole job is killed and then continued. `gap_s` is the time between two requests to one host.
        """
        source, urls = self.write_urls(pages)
        per_host = 1 if gap_s else PER_HOST
        command, out = self.command(source, mode, "--per-host", str(per_host), "--gap", str(gap_s))
        await self.site.reset(at_once=per_host, gap_s=gap_s)
        started = time.monotonic()
        async with self.process(command) as process:
            for share in kills:
                await self._until(share * pages, process)
                for worker in mode.workers(process.pid):
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(worker, signal.SIGKILL)
            if cut is not None:
                await self._until(cut * pages, process)
                process.kill()
            await asyncio.wait_for(process.wait(), LIMIT_S)
        if cut is not None:
            async with self.process(command) as process:
                await asyncio.wait_for(process.wait(), LIMIT_S)
        seconds = time.monotonic() - started
        request_stats = await self.site.request_stats()
        return _read_output(title, urls, out, request_stats, seconds)

    async def crawl(self, title: str, mode: RunMode, hosts: int) -> JobResult:
        """Crawl some sites of a hundred pages each."""
        sites = self.site.crawled_urls(hosts)
        out = self._make_folder()
        command = [sys.executable, "-m", "scraper.cli.main", "crawl", *(urls[0] for urls in sites)]
        command += ["--out", str(out), "--out-format", "jsonl", "--per-host", str(PER_HOST), *mode.arguments]
        await self.site.reset(at_once=PER_HOST)
        started = time.monotonic()
        async with self.process(command) as process:
            await asyncio.wait_for(process.wait(), LIMIT_S)
        seconds = time.monotonic() - started
        pages = [url for urls in sites for url in urls]
        return _read_output(title, pages, out, await self.site.request_stats(), seconds)

    def _make_folder(self) -> Path:
        self._count += 1
        return self._folder / f"out-{self._count}"

    @asynccontextmanager
    async def process(
        self, command: Sequence[str], account: Account | None = None
    ) -> AsyncIterator[asyncio.subprocess.Process]:
        """Run a process under test; end it on exit."""
        process = await asyncio.create_subprocess_exec(
            *(account.command(command) if account is not None else command),
            cwd=REPOSITORY,
            env=self.environment(),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
        )
        if account is not None:
            account.adopt(process.pid)
        try:
            yield process
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()

    async def _until(self, hits: float, process: asyncio.subprocess.Process) -> None:
        while process.returncode is None:
            if (await self.site.request_stats()).hits >= hits:
                return
            await asyncio.sleep(_POLL_S)


def _read_output(title: str, urls: list[str], out: Path, request_stats: RequestStats, seconds: float) -> JobResult:
    counts: Counter[str] = Counter()
    failed = 0
    for file in sorted(out.glob("pages-*.jsonl")):
        with file.open(encoding="utf-8") as lines:
            for line in lines:
                row = json.loads(line)
                counts[row["url"]] += 1
                failed += row["error"] is not None
    lost = sum(url not in counts for url in urls)
    doubled = sum(count - 1 for count in counts.values())
    return JobResult(title, len(urls), lost, doubled, failed, request_stats, request_stats.exceeded, seconds)
