"""Tests for crawls of real MCP clients in both protocol eras: progress, cancellation, continuation, tasks."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
from asyncio.subprocess import PIPE
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters

from tests.scraper.process import REPOSITORY, running
from tests.scraper.server.pipe import ask
from tests.scraper.server.wire import ERAS, modern, text_of
from tests.site.traps.ordinary import Robots
from tests.site.traps.serving import ServedSite, serving

pytestmark = [pytest.mark.browser, pytest.mark.full_size]

PRODUCT = ("-m", "scraper.cli.main", "stdio")
TASKS: dict[str, Any] = {"io.modelcontextprotocol/tasks": {}}
QUIET_S = 2.0
"""Seconds in which a canceled crawl would make several requests."""


def variables(served: ServedSite, folder: Path) -> dict[str, str]:
    hosts = ",".join(f"{name}={address}:{port}" for name, address, port in served.test_hosts)
    return {"SEARCH_MCP_TEST_HOSTS": hosts, "SEARCH_MCP_DATA": str(folder), "SEARCH_MCP_HOST_GAP": "0.1"}


async def rest(served: ServedSite) -> None:
    """Wait until no request comes anymore; fail if that takes longer than some seconds."""
    for _ in range(5):
        before = served.requests.total()
        await asyncio.sleep(QUIET_S)
        if served.requests.total() == before:
            return
    raise AssertionError("the crawl goes on")


@pytest.mark.parametrize("era", ERAS)
async def test_a_crawl_reports_its_progress_and_continues_after_a_cancellation(tmp_path: Path, era: str) -> None:
    with serving(Robots) as (made, served):
        command = StdioServerParameters(
            command=sys.executable, args=[*PRODUCT], cwd=REPOSITORY, env=variables(served, tmp_path)
        )
        steps: list[tuple[float, float | None, str | None]] = []

        enough = asyncio.Event()

        async def note(progress: float, total: float | None, message: str | None) -> None:
            steps.append((progress, total, message))
            if total == 100 and progress >= 3:
                enough.set()

        async def crawl(client: Client, **arguments: Any) -> dict[str, Any]:
            answer = await client.call_tool("crawl", {**arguments, "format": "json"}, progress_callback=note)
            assert not answer.is_error
            data: dict[str, Any] = json.loads(text_of(answer))
            return data

        async with Client(command, mode=era) as client:
            first = await crawl(client, url=served.url, max_pages=4)
            assert steps[-1] == (4, 4, "read 4, kept 4: trap.example")
            call = asyncio.create_task(crawl(client, crawl=first["crawl"], max_pages=100))
            await enough.wait()
            call.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await call
            await rest(served)
            read = served.requests.total()
            last = await crawl(client, crawl=first["crawl"], max_pages=100)
            assert last["done"] and last["kept"] == len(made.pages) + 1
            # Only the pages that were being read at the cancellation are read again.
            assert served.requests.total() > read
            again = [path for path, count in served.requests.items() if count > 1 and path != "/robots.txt"]
            assert len(again) <= 4


async def test_a_crawl_that_was_canceled_as_a_task_continues_by_the_id_of_the_task(tmp_path: Path) -> None:
    with serving(Robots) as (made, served):
        async with running(*PRODUCT, env=variables(served, tmp_path), stdin=PIPE, stdout=PIPE) as program:

            async def send(method: str, **params: Any) -> dict[str, Any]:
                message = modern(method, params)[1]
                message["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"] = {"extensions": TASKS}
                result: dict[str, Any] = (await ask(program, message))["result"]
                return result

            async def start(**arguments: Any) -> str:
                task = await send("tools/call", name="crawl", arguments={**arguments, "format": "json"})
                assert task["resultType"] == "task"
                return str(task["taskId"])

            async def follow(task_id: str, *, pages: int = 1_000) -> dict[str, Any]:
                """Return the state when the task ends or has read so many pages."""
                state: dict[str, Any] = {"status": "working"}
                while state["status"] == "working" and _count(state) < pages:
                    await asyncio.sleep(0.2)
                    state = await send("tasks/get", taskId=task_id)
                return state

            task_id = await start(url=served.url, max_pages=100)
            assert (await follow(task_id, pages=5))["status"] == "working"
            await send("tasks/cancel", taskId=task_id)
            await rest(served)
            assert (await follow(task_id))["status"] == "cancelled"
            state = await follow(await start(crawl=task_id, max_pages=100))
            assert state["status"] == "completed"
            assert "structuredContent" not in state["result"]
            answer = json.loads(state["result"]["content"][0]["text"])
            assert answer["done"] and answer["kept"] == len(made.pages) + 1


def _count(state: dict[str, Any]) -> int:
    """Return the number of pages in the message of a task."""
    return int(state.get("statusMessage", "0").split()[0].rstrip(":"))
