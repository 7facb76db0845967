"""A job waits while there is no network, and loses no page."""

from __future__ import annotations

import asyncio
import logging
import socket
from pathlib import Path

import pytest

from scraper import errors
from scraper.bulk import page_dispatcher
from scraper.bulk.job import BulkJob
from scraper.bulk.model import Format, JobPage, OutputRow, PageOutcome
from scraper.bulk.page_dispatcher import NETWORK_PAUSE_S, RetryPolicy
from scraper.bulk.page_reader import PageResult
from scraper.bulk.run import read_locally, run_bulk
from scraper.settings import Settings
from tests.browsers.egress.proxies import Proxy
from tests.browsers.egress.wire import served, settled
from tests.scraper.bulk.jobs import order_of, rows_in
from tests.site.running import Site

PAUSE_S = 0.2


def test_attempts_without_a_network_are_not_counted() -> None:
    tries = RetryPolicy()
    page = JobPage(1, "http://a.example/1", "a.example")
    missing = errors.OfflineError("This machine has no network.")
    assert [tries.get_retry_delay_s(page, missing) for _ in range(50)] == [NETWORK_PAUSE_S] * 50
    assert tries.get_site_error(page) is None
    assert tries.pop_tries(page) == 0


async def test_a_job_waits_for_the_proxy_and_reads_every_page(
    tmp_path: Path, site: Site, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(page_dispatcher, "NETWORK_PAUSE_S", PAUSE_S)
    monkeypatch.setattr(page_dispatcher, "NETWORK_PAUSE_S", PAUSE_S)
    caplog.set_level(logging.WARNING, page_dispatcher.__name__)
    with socket.create_server(("127.0.0.1", 0)) as reserved:
        port = reserved.getsockname()[1]
    urls = [f"http://host{number}.example/static/{number}" for number in range(12)]
    settings = Settings(proxy=f"http://127.0.0.1:{port}", data_dir=tmp_path / "data", robots="obey")
    job = asyncio.create_task(run_bulk(order_of(tmp_path, urls), settings))
    await settled(lambda: "Pages wait" in caplog.text or job.done())
    await asyncio.sleep(3 * PAUSE_S)
    assert not job.done()
    async with served(Proxy(site.port, open_to_all=True).http, port):
        await job
    rows = rows_in(tmp_path / "out", Format.JSONL)
    assert sorted(row["url"] for row in rows) == sorted(urls)
    assert [row["status"] for row in rows] == [200] * len(urls)
    assert caplog.text.count("Pages wait") == 1
    assert caplog.text.count("The network is back.") == 1


async def test_one_page_is_tried_while_there_is_no_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_dispatcher, "NETWORK_PAUSE_S", 0.01)
    monkeypatch.setattr(page_dispatcher, "NETWORK_PAUSE_S", 0.01)
    at_once: list[int] = []
    running = 0

    async def read(page: JobPage) -> PageResult:
        nonlocal running
        running += 1
        at_once.append(running)
        await asyncio.sleep(0.005)
        running -= 1
        outcome = PageOutcome(page, OutputRow(page.url), 0.0)
        if len(at_once) < 20:
            return PageResult(outcome, None, errors.OfflineError("This machine has no network."))
        return PageResult(outcome, 1.0)

    urls = [f"http://host{number}.example/" for number in range(40)]
    async with BulkJob.open(order_of(tmp_path, urls)) as job:
        await read_locally(job, read, asyncio.Event(), concurrency=lambda: 8)
        assert "waiting for the network" not in job.stats.format_line(0.0)
    assert max(at_once[:8]) == 8
    assert set(at_once[9:20]) == {1}
    assert max(at_once[20:]) > 1
    assert len(at_once) == 40 + 19
