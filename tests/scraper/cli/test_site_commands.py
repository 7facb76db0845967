"""The command `crawl` with wrong addresses, and interrupted."""

from __future__ import annotations

import json
import re
import signal
from pathlib import Path

import pytest

from tests.scraper.cli.in_process import command_output
from tests.scraper.cli.test_watch_commands import variables
from tests.scraper.process import output_of, running, until
from tests.site.traps.made_site import text_file
from tests.site.traps.ordinary import Robots
from tests.site.traps.serving import serving

START_S = 120.0
"""Seconds. A browser on a loaded machine starts in less."""


class Slow(Robots):
    """A site that asks for pauses, so that a crawl of it does not end before a signal."""

    def build(self) -> None:
        """Add the pause."""
        self.route("/robots.txt", lambda query: text_file("User-agent: *\nCrawl-delay: 1\n"))
        super().build()


def test_a_wrong_address_is_explained_before_a_folder_is_made(tmp_path: Path) -> None:
    output = command_output("crawl", "example.com", "ftp://example.com", "--out", str(tmp_path / "out"))
    assert output.code == 2 and "`ftp:` URLs are not fetched" in output.err
    assert not (tmp_path / "out").exists()


@pytest.mark.browser
async def test_an_interrupted_crawl_prints_the_command_that_continues_it(tmp_path: Path) -> None:
    with serving(Slow) as (made, served):
        env = variables(tmp_path, served)
        async with running("-m", "scraper.cli.main", "crawl", served.url, env=env) as program:
            await until(lambda: any(path in served.requests for path in made.pages), limit_s=START_S)
            program.process.send_signal(signal.SIGINT)
            assert await program.ended() == 130
            said = "".join(program.said)
        assert "Traceback" not in said
        found = re.search(r"search-mcp (crawl --crawl=\S+)", said)
        assert found is not None, said
        answer = await output_of("-m", "scraper.cli.main", *found[1].split(), "--max-pages", "1", "--json", env=env)
        assert answer.code == 0, answer.err
        assert json.loads(answer.out)["read"] >= 2


@pytest.mark.thorough
@pytest.mark.browser
async def test_a_crawl_interrupted_before_its_first_page_prints_no_command(tmp_path: Path) -> None:
    with serving(Robots) as (_, served):
        env = variables(tmp_path, served)
        async with running("-m", "scraper.cli.main", "crawl", served.url, env=env) as program:
            await until(lambda: bool(program.said) or bool(served.requests), limit_s=START_S)
            program.process.send_signal(signal.SIGINT)
            assert await program.ended() == 130
            said = "".join(program.said)
    assert "Traceback" not in said and "--crawl" not in said
    assert "Canceled before the first page was read." in said
