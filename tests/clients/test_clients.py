"""Third-party clients over both transports: each lists the tools, reads a page and receives an error."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from scraper.tools import registry
from tests.clients.environments import NODE, OLD_SDK, PYTHON, Environment
from tests.clients.product import TRANSPORTS, Product, observe
from tests.clients.required import require_environment
from tests.site.running import Site

pytestmark = [pytest.mark.slow, pytest.mark.browser, pytest.mark.full_size]

PROGRAMS = Path(__file__).parent / "programs"
PYTHON_CLIENTS = [
    *((PYTHON, name) for name in ("fastmcp", "openai_agents", "pydantic_ai", "llama_index")),
    *((OLD_SDK, name) for name in ("sdk_1", "mcp_use", "langchain")),
]
LOOSE = 2
"""Tools with a free-form object, which a strict schema cannot express."""
WEBP = ("image/webp", "UklGR")
"""Type and beginning of a picture of `see`."""
NAMES = [tool.name for tool in registry.tools()]


def check(seen: dict[str, Any]) -> None:
    """Assert the observations that every client must have."""
    assert seen["tools"] == NAMES
    assert "<<<untrusted" in str(seen["good"])
    assert "static" in str(seen["good"]).lower()
    assert "http" in str(seen["bad"])
    assert "ftp" in str(seen["bad"])
    assert seen["is_error"] is True
    if "picture" in seen:
        media_type, beginning = seen["picture"]
        assert (media_type, beginning[:5]) == WEBP


@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize(
    ("environment", "name"),
    [pytest.param(environment, name, id=f"python-{name}") for environment, name in PYTHON_CLIENTS],
)
async def test_a_python_client_reads_a_page(
    served: Product, site: Site, environment: Environment, name: str, transport: str
) -> None:
    require_environment(environment)
    program = str(PROGRAMS / "python_clients.py")
    task = json.dumps(served.task(transport, site))
    seen = await observe((str(environment.python), program, name, task))
    check(seen)
    if name == "openai_agents":
        assert seen["strict"] >= len(NAMES) - LOOSE


@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize("name", ["sdk_2", "sdk_1", "vercel"])
async def test_a_node_client_reads_a_page(served: Product, site: Site, name: str, transport: str) -> None:
    require_environment(NODE)
    node, program = str(NODE.folder / "bin" / "node"), str(PROGRAMS / "node_clients.mjs")
    task = json.dumps(served.task(transport, site))
    check(await observe((node, program, name, task), NODE.node_folder))
