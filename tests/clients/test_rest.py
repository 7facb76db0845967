"""The REST interface against schemathesis, and through a client generated from its OpenAPI document."""

from __future__ import annotations

import asyncio
import json
import os
from asyncio.subprocess import PIPE, STDOUT
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.clients.environments import REST
from tests.clients.required import require_environment
from tests.scraper.process import START_S, Program, serving
from tests.site.running import Site

pytestmark = [pytest.mark.slow, pytest.mark.browser, pytest.mark.full_size]

PROGRAMS = Path(__file__).parent / "programs"
TOKEN = "a-token-of-the-tests"
EXAMPLES = 10
"""Generated calls of each operation, besides those of its boundary values."""
LIMIT_S = 250


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def program(site: Site, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Program]:
    """Start the product with its REST interface and a token."""
    env = {
        "SEARCH_MCP_TEST_HOSTS": site.test_hosts_variable,
        "SEARCH_MCP_DATA": str(tmp_path_factory.mktemp("rest")),
        "SEARCH_MCP_TOKEN": TOKEN,
        "SEARCH_MCP_REST": "yes",
    }
    async with serving("-m", "scraper.cli.main", "serve", "--port", "0", env=env, limit_s=START_S) as started:
        yield started


async def output_of(folder: Path, *command: str, **variables: str) -> tuple[int | None, str]:
    """Run a program of the environment in a folder; return its exit code and output."""
    path = f"{REST.folder / 'bin'}{os.pathsep}{os.environ['PATH']}"
    env = {**os.environ, "PATH": path, "NO_PROXY": "127.0.0.1", **variables}
    process = await asyncio.create_subprocess_exec(*command, cwd=folder, env=env, stdout=PIPE, stderr=STDOUT)
    async with asyncio.timeout(LIMIT_S):
        output, _ = await process.communicate()
    return process.returncode, output.decode(errors="replace")


async def test_schemathesis_finds_no_failure(program: Program, tmp_path: Path) -> None:
    require_environment(REST)
    code, output = await output_of(
        tmp_path,
        str(REST.folder / "bin" / "st"),
        "--config-file",
        str(PROGRAMS / "schemathesis.toml"),
        "run",
        f"{program.base}/v1/openapi.json",
        "--header",
        f"Authorization: Bearer {TOKEN}",
        "--max-examples",
        str(EXAMPLES),
        "--seed",
        "1",
        "--no-color",
    )
    assert code == 0, output[-5_000:]
    assert "Tested: 37" in output


async def test_a_generated_client_reads_pages(program: Program, site: Site, tmp_path: Path) -> None:
    require_environment(REST)
    document = tmp_path / "openapi.json"
    fetched = await output_of(
        tmp_path,
        str(REST.python),
        "-c",
        "import sys, urllib.request as web; "
        "call = web.Request(sys.argv[1], headers={'Authorization': 'Bearer ' + sys.argv[2]}); "
        "open('openapi.json', 'wb').write(web.urlopen(call).read())",
        f"{program.base}/v1/openapi.json",
        TOKEN,
    )
    assert fetched == (0, "")
    code, output = await output_of(
        tmp_path, str(REST.folder / "bin" / "openapi-python-client"), "generate", "--path", str(document)
    )
    assert code == 0 and "Warning" not in output, output
    code, output = await output_of(
        tmp_path,
        str(REST.python),
        str(PROGRAMS / "generated_client.py"),
        program.base,
        site.url("/rich"),
        site.url("/status/404"),
        TOKEN,
        PYTHONPATH=str(tmp_path / "search-mcp-client"),
    )
    assert code == 0, output
    seen = json.loads(output)
    assert seen["error_code"] == "http_error" and "duckduckgo" in seen["engines"]
    assert "A list" in seen["headings"] and "| Ship | Tons |" in seen["text"] and seen["title"]
