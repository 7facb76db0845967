"""The public suite, with the requirements of both eras, on the product's own server."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.clients.environments import NODE
from tests.clients.required import require_environment
from tests.conformance.suite import REQUIREMENTS, SCORED, TASKS, run_suite
from tests.scraper.process import Program, serving

pytestmark = [pytest.mark.slow, pytest.mark.browser, pytest.mark.full_size]


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def server(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Program]:
    """Start the product's server with the fixtures of the suite."""
    require_environment(NODE)
    folder = tmp_path_factory.mktemp("conformance")
    async with serving("-m", "tests.conformance.server", f"--data_dir={folder}") as program:
        yield program


@pytest.mark.parametrize("requirements", REQUIREMENTS)
async def test_every_scored_scenario_passes(server: Program, requirements: str) -> None:
    verdict = await run_suite(server.url, requirements)
    assert verdict.failed == (), verdict.said
    assert len(verdict.passed) == SCORED[requirements], verdict.said
    tasks = {name: holds for name, holds in verdict.unscored if name.startswith("tasks-")}
    assert all(tasks.values()) and len(tasks) == TASKS[requirements], verdict.said


async def test_the_fixtures_are_listed_with_the_products_own_tools(server: Program) -> None:
    from mcp import Client

    async with Client(server.url) as client:
        names = {tool.name for tool in (await client.list_tools()).tools}
        assert {"search", "fetch", "test_simple_text"} <= names
