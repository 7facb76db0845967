"""Measure the cost of each kind of page, and the CPU that other processes left free during a job."""

from __future__ import annotations

import asyncio
import json
import os
import random
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.common.contender import REPOSITORY
from benchmarks.common.cpu import Account, open_account
from benchmarks.common.processes import pss_bytes, read_process
from benchmarks.scale_model.machine import Cost, Site
from benchmarks.scale_model.site import HOSTS, KINDS, latency_s, sizes, test_hosts

PER_HOST = 2
_SAMPLE_S = 0.5
_LIMIT_S = 9_000.0
_FEW, _MANY = 60, 600
"""Pages of two jobs: their difference gives the cost of pages, the rest is the cost of the start."""
_ONE_IN = 20
"""One page in this many is of another kind, about as in the list."""
_RENDERED = frozenset({"app"})
_SHUFFLE_SEED = 15


@dataclass(frozen=True, slots=True)
class Job:
    """Measurements of one job of the bulk runner."""

    pages: int
    seconds: float
    main_s: float
    """CPU of the main process of the job."""
    reader_s: float
    """CPU of its other Python processes."""
    total_s: float
    """CPU of all its processes."""
    pss_bytes: int
    cores_left: float
    """Cores that other processes left free, on average."""
    tried_again: int
    outcomes: int
    """Pages in its report."""


def sites_of(pages: int, skew: float, shares: Sequence[float]) -> list[Site]:
    """Return the hosts with their pages; the result is deterministic."""
    return [
        Site(latency_s(host), random.Random(host).choices(KINDS, shares, k=count))
        for host, count in enumerate(sizes(pages, len(HOSTS), skew))
    ]


def urls_of(sites: Sequence[Site], first: int = 0) -> list[str]:
    """Return the URLs of all pages, in a fixed shuffled order."""
    urls = [
        f"http://{HOSTS[host]}/{kind}/{first + number}"
        for host, site in enumerate(sites)
        for number, kind in enumerate(site.kinds)
    ]
    random.Random(_SHUFFLE_SEED).shuffle(urls)
    return urls


async def run_job(urls: Sequence[str], port: int) -> Job:
    """Read a list with the bulk runner in a separate process, and measure it."""
    with tempfile.TemporaryDirectory(prefix="benchmark-") as name, open_account() as account:
        folder = Path(name)
        (folder / "urls.txt").write_text("\n".join(urls))
        command = [sys.executable, "-m", "scraper.cli.main", "bulk", str(folder / "urls.txt"), "--out"]
        command += [str(folder / "out"), "--format", "jsonl", "--per-host", str(PER_HOST)]
        environment = {
            **os.environ,
            "SEARCH_MCP_TEST_HOSTS": test_hosts(port),
            "SEARCH_MCP_DATA": str(folder / "data"),
            "SEARCH_MCP_CACHE_MB": "0",
            "SEARCH_MCP_LOG_LEVEL": "error",
        }
        process = await asyncio.create_subprocess_exec(
            *account.command(command), cwd=REPOSITORY, env=environment, stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL,
        )  # fmt: skip
        account.adopt(process.pid)
        try:
            samples = await _sample_until_done(process, account)
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
        if process.returncode:
            raise SystemExit(f"the job ended with {process.returncode}")
        return samples.job(len(urls), json.loads((folder / "out" / "report.json").read_text()))


@dataclass(frozen=True, slots=True)
class Calibration:
    """Costs of the kinds of pages and of the start of a job."""

    costs: Mapping[str, Cost]
    """By kind of page."""
    start_s: float
    """CPU of a job before its first page."""
    pss_bytes: int


async def calibrate(port: int) -> Calibration:
    """Measure the cost of the start and of plain pages with two jobs, and of each other kind mixed with plain pages.

    In a job of their own, scripted pages cost a third less: many are rendered at once and no core is idle.
    """
    few = await run_job(_urls_of_kind("page", _FEW, 1_000_000), port)
    many = await run_job(_urls_of_kind("page", _MANY, 2_000_000), port)
    page = (_CpuTimes.of(many) - _CpuTimes.of(few)) / (_MANY - _FEW)
    start = _CpuTimes.of(few) - page * _FEW
    costs, pss = {"page": page.cost("page")}, many.pss_bytes
    for kind in sorted(set(KINDS) - {"page", "busy"}):
        urls = _urls_of_kind("page", _MANY, 3_000_000)
        others = len(urls) // _ONE_IN
        urls[::_ONE_IN] = _urls_of_kind(kind, others, 4_000_000)
        job = await run_job(urls, port)
        each = (_CpuTimes.of(job) - start - page * (_MANY - others)) / others
        costs[kind], pss = each.cost(kind), max(pss, job.pss_bytes)
    return Calibration(costs, max(0.0, start.total_s), pss)


@dataclass(frozen=True, slots=True)
class _CpuTimes:
    main_s: float
    browser_s: float
    reader_s: float

    @classmethod
    def of(cls, job: Job) -> _CpuTimes:
        return cls(job.main_s, job.total_s - job.main_s - job.reader_s, job.reader_s)

    @property
    def total_s(self) -> float:
        return self.main_s + self.browser_s + self.reader_s

    def cost(self, kind: str) -> Cost:
        return Cost(self.main_s, self.browser_s, self.reader_s, rendered=kind in _RENDERED)

    def __sub__(self, other: _CpuTimes) -> _CpuTimes:
        return _CpuTimes(self.main_s - other.main_s, self.browser_s - other.browser_s, self.reader_s - other.reader_s)

    def __truediv__(self, parts: float) -> _CpuTimes:
        return self * (1 / parts)

    def __mul__(self, times: float) -> _CpuTimes:
        # A reader process that has ended counts as browser CPU in the account: limit each part to 0.
        return _CpuTimes(*(max(0.0, part * times) for part in (self.main_s, self.browser_s, self.reader_s)))


def _urls_of_kind(kind: str, count: int, first: int) -> list[str]:
    return [f"http://{HOSTS[number % len(HOSTS)]}/{kind}/{first + number}" for number in range(count)]


@dataclass(slots=True)
class _Samples:
    started: float
    account: Account
    busy_at_start_s: float
    """CPU seconds that the machine had spent at the start."""
    main_s: float = 0.0
    reader_s: float = 0.0
    pss_bytes: int = 0
    total_s: float = 0.0
    seconds: float = 0.0
    others_s: float = 0.0

    def job(self, pages: int, report: dict[str, object]) -> Job:
        """Return the observations together with the report of the job."""
        this_run = report["this_run"]
        assert isinstance(this_run, dict)
        cores = os.cpu_count() or 1
        # The time after the last sample is only milliseconds.
        return Job(
            pages=pages,
            seconds=self.seconds,
            main_s=self.main_s,
            reader_s=self.reader_s,
            total_s=self.total_s,
            pss_bytes=self.pss_bytes,
            cores_left=cores - (self.others_s - self.total_s) / self.seconds,
            tried_again=int(this_run["tried_again"]),
            outcomes=int(this_run["pages"]),
        )


async def _sample_until_done(process: asyncio.subprocess.Process, account: Account) -> _Samples:
    """Sample a job until it has ended."""
    samples = _Samples(time.monotonic(), account, _machine_busy_s())
    while process.returncode is None:
        await asyncio.to_thread(_sample, samples, process.pid)
        try:
            await asyncio.wait_for(asyncio.shield(process.wait()), _SAMPLE_S)
        except TimeoutError:
            if time.monotonic() - samples.started > _LIMIT_S:
                raise
    samples.seconds = time.monotonic() - samples.started
    samples.total_s = account.usage().total_s
    samples.others_s = _machine_busy_s() - samples.busy_at_start_s
    return samples


def _sample(samples: _Samples, pid: int) -> None:
    main = read_process(pid)
    if main is None:
        return
    python_s = samples.account.usage().python_s
    if python_s >= samples.main_s + samples.reader_s:
        samples.main_s, samples.reader_s = main.own_s, python_s - main.own_s
    samples.pss_bytes = max(samples.pss_bytes, pss_bytes(samples.account.pids()))


def _machine_busy_s() -> float:
    """Return the CPU seconds spent since boot, including those stolen by a hypervisor."""
    fields = Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]
    user, nice, system, _idle, _waiting, interrupts, soft, stolen = map(int, fields)
    return (user + nice + system + interrupts + soft + stolen) / os.sysconf("SC_CLK_TCK")
