"""The server side of the workers works without features that only Linux has, as on macOS."""

from __future__ import annotations

import os
import signal
import sys
from dataclasses import asdict
from pathlib import Path

import pytest

from scraper.documents.model import ParseRequest
from scraper.workers import NoWorkerError, WorkerPool, sandbox, single_use
from tests.scraper.workers import jobs

pytestmark = pytest.mark.own_processes


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pretend that the system is not Linux."""
    monkeypatch.setattr(sys, "platform", "darwin")

    def nobody_tells(_: str) -> int:
        raise FileNotFoundError

    monkeypatch.setattr(single_use, "_read_resident_bytes", nobody_tells)


@pytest.mark.usefixtures("elsewhere")
async def test_calls_are_made_and_a_killed_worker_is_replaced() -> None:
    async with WorkerPool(1, preload=()) as workers:
        first = await workers.run(jobs.pid)
        os.kill(first, signal.SIGKILL)
        assert await workers.run(jobs.pid) != first


@pytest.mark.usefixtures("elsewhere")
@pytest.mark.parametrize("preload", ["scraper.no_such_module", "tests.scraper.workers.jobs:allow_no_more_processes"])
async def test_a_failed_start_is_detected_before_its_time_limit(preload: str) -> None:
    async with WorkerPool(1, preload=(preload,)) as broken:
        with pytest.raises(NoWorkerError, match="the worker died"):
            await broken.run(jobs.pid)


@pytest.mark.usefixtures("elsewhere")
async def test_a_document_is_read() -> None:
    shots = single_use.SingleUseProcesses(1, keep_warm=False)
    answer = await shots.run(asdict(ParseRequest()), b"{\\rtf1 Words}")
    await shots.close()
    assert "Words" in str(answer["parsed"])


@pytest.mark.usefixtures("elsewhere")
def test_missing_parts_of_the_sandbox_are_listed() -> None:
    assert sandbox.find_missing_protections() == ("a bar to new privileges", "Landlock", "a filter of system calls")
    sandbox.confine()
    assert Path(__file__).read_bytes()
