"""What benchmarks of bulk reading share: a job as a process of its own, what befalls it, what came of it."""

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

from benchmarks.bulk.site import BulkSite, Manners
from benchmarks.common.contender import REPOSITORY
from benchmarks.common.cpu import Account

PER_HOST = 2
LIMIT_S = 7_200.0
_LOOK_S = 0.1


@dataclass(frozen=True, slots=True)
class Way:
    """How a job is run."""

    name: str
    arguments: tuple[str, ...]
    workers: Callable[[int], list[int]]
    """The workers to be killed, by the process of the job."""


@dataclass(slots=True)
class Found:
    """What came of one job."""

    title: str
    pages: int
    lost: int
    doubled: int
    failed: int
    manners: Manners
    exceeded: int
    seconds: float


class Bench:
    """Runs jobs against the site."""

    def __init__(self, site: BulkSite, folder: Path) -> None:
        self.site = site
        self._folder = folder
        self._count = 0

    def environment(self) -> dict[str, str]:
        """Variables of every process under test."""
        return {
            **os.environ,
            "SEARCH_MCP_TEST_HOSTS": self.site.variable,
            "SEARCH_MCP_DATA": str(self._folder / "data"),
            "SEARCH_MCP_CACHE_MB": "0",
            "SEARCH_MCP_LOG_LEVEL": "error",
        }

    def listed(self, pages: int) -> tuple[Path, list[str]]:
        """Write a file of URLs; return its path and the URLs."""
        urls = self.site.urls(pages)
        source = self._folder / f"urls-{pages}.txt"
        source.write_text("\n".join(urls))
        return source, urls

    def command(self, source: Path, way: Way, *more: str) -> tuple[list[str], Path]:
        """Return the command of a job in its own folder."""
        self._count += 1
        out = self._folder / f"out-{self._count}"
        words = [sys.executable, "-m", "scraper.cli.main", "bulk", str(source), "--out", str(out)]
        return [*words, "--format", "jsonl", *way.arguments, *more], out

    async def job(
        self,
        title: str,
        way: Way,
        pages: int,
        *,
        kills: Sequence[float] = (),
        cut: float | None = None,
        gap_s: float = 0.0,
    ) -> Found:
        """Run one job with what is to befall it."""
        source, urls = self.listed(pages)
        per_host = 1 if gap_s else PER_HOST
        command, out = self.command(source, way, "--per-host", str(per_host), "--gap", str(gap_s))
        await self.site.forget(at_once=per_host, gap_s=gap_s)
        began = time.monotonic()
        async with self.process(command) as process:
            for share in kills:
                await self._until(share * pages, process)
                for worker in way.workers(process.pid):
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(worker, signal.SIGKILL)
            if cut is not None:
                await self._until(cut * pages, process)
                process.kill()
            await asyncio.wait_for(process.wait(), LIMIT_S)
        if cut is not None:
            async with self.process(command) as process:
                await asyncio.wait_for(process.wait(), LIMIT_S)
        seconds = time.monotonic() - began
        manners = await self.site.manners()
        return _examined(title, urls, out, manners, seconds)

    @asynccontextmanager
    async def process(
        self, command: Sequence[str], account: Account | None = None
    ) -> AsyncIterator[asyncio.subprocess.Process]:
        """Run a process under test; it has ended on exit."""
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
            if (await self.site.manners()).hits >= hits:
                return
            await asyncio.sleep(_LOOK_S)


def _examined(title: str, urls: list[str], out: Path, manners: Manners, seconds: float) -> Found:
    seen: Counter[str] = Counter()
    failed = 0
    for file in sorted(out.glob("pages-*.jsonl")):
        with file.open(encoding="utf-8") as lines:
            for line in lines:
                row = json.loads(line)
                seen[row["url"]] += 1
                failed += row["error"] is not None
    lost = sum(url not in seen for url in urls)
    doubled = sum(count - 1 for count in seen.values())
    return Found(title, len(urls), lost, doubled, failed, manners, manners.exceeded, seconds)
