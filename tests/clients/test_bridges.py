"""Bridges make commands of the tools: mcporter and mcp2cli list them, read a page and report an error."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from scraper.tools import registry
from tests.clients.environments import BRIDGES
from tests.clients.product import Product, run_client
from tests.clients.required import require_environment
from tests.site.running import Site

pytestmark = [pytest.mark.slow, pytest.mark.browser, pytest.mark.full_size]


def commands(name: str, product: Product, url: str) -> tuple[list[str], list[str]]:
    """Return the arguments of a bridge that list the tools, and that fetch a page, of a server over stdio."""
    server = shlex.join([product.command["command"], *product.command["args"]])
    if name == "mcporter":
        return ["list", "--stdio", server, "--json"], ["call", "--stdio", server, "fetch", f"url={url}"]
    return ["--mcp-stdio", server, "--list"], ["--mcp-stdio", server, "fetch", "--url", url]


@pytest.mark.parametrize("name", ["mcporter", "mcp2cli"])
async def test_a_bridge_lists_the_tools_and_reads_a_page(
    served: Product, site: Site, name: str, tmp_path: Path
) -> None:
    require_environment(BRIDGES)
    program = BRIDGES.command(name) if name == "mcporter" else (str(BRIDGES.folder / "bin" / name),)
    env = {**served.command["env"], "HOME": str(tmp_path)}
    listing, reading = commands(name, served, site.url("/static/7"))
    code, out, err = await run_client((*program, *listing), tmp_path, env)
    assert code == 0, err
    # mcp2cli names them as commands.
    assert not [tool.name for tool in registry.tools() if tool.name not in out.replace("-", "_")]
    code, out, err = await run_client((*program, *reading), tmp_path, env)
    assert code == 0 and "MARK-static-7" in out and "<<<untrusted" in out, out + err
    reading[-1] = reading[-1].replace(site.url("/static/7"), "ftp://site.example/")
    code, out, err = await run_client((*program, *reading), tmp_path, env)
    assert "ftp" in out + err and "http" in out + err
