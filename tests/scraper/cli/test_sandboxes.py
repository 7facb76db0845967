"""Commands in a sandbox that forbids sockets, with a real filter of the kernel."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.growth import thorough
from tests.scraper.cli.conftest import SEARCH_MCP
from tests.scraper.cli.without_sockets import SUPPORTED
from tests.scraper.process import output_of
from tests.site.running import Site

pytestmark = [pytest.mark.browser, pytest.mark.skipif(not SUPPORTED, reason="the filter is for Linux")]
CONFINED = ("-m", "tests.scraper.cli.without_sockets")


@pytest.mark.parametrize("kind", ["all", thorough("unix")])
async def test_one_line_names_the_cause_and_the_setting(here: dict[str, str], kind: str) -> None:
    command = (*CONFINED, kind, sys.executable, *SEARCH_MCP, "fetch", "http://site.example/plain")
    output = await output_of(*command, env=here)
    assert (output.code, output.out, output.err.count("\n")) == (3, "", 1)
    assert "forbids sockets" in output.err and "sandbox.excludedCommands" in output.err


@pytest.mark.parametrize("words", [("doctor",), ("bulk", "urls.txt", "--out", "out"), thorough(("watch", "run"))])
async def test_commands_with_an_event_loop_of_their_own_say_the_same(
    here: dict[str, str], tmp_path: Path, words: tuple[str, ...]
) -> None:
    (tmp_path / "urls.txt").write_text("http://site.example/plain\n")
    words = tuple(str(tmp_path / word) if word in ("urls.txt", "out") else word for word in words)
    output = await output_of(*CONFINED, "all", sys.executable, *SEARCH_MCP, *words, env=here)
    assert (output.code, output.out, output.err.count("\n")) == (3, "", 1) and "forbids sockets" in output.err


async def test_a_stored_page_needs_neither_browser_nor_socket(site: Site, here: dict[str, str]) -> None:
    url = site.url("/static/1")
    first = await output_of(*SEARCH_MCP, "fetch", url, env=here)
    again = await output_of(*CONFINED, "unix", sys.executable, *SEARCH_MCP, "fetch", url, env=here)
    assert (again.code, again.out, again.err) == (0, first.out, "")
    newer = ("fetch", url, "--max-age-hours", "0")
    refused = await output_of(*CONFINED, "unix", sys.executable, *SEARCH_MCP, *newer, env=here)
    assert refused.code == 3 and "forbids sockets" in refused.err
