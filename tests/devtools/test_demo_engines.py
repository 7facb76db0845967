"""The command that serves test copies of the search engines."""

from __future__ import annotations

import re
from asyncio.subprocess import PIPE

import pytest
from click.testing import CliRunner

from devtools.demo_engines import main
from tests.scraper.process import running


async def test_demo_engines_prints_variables_and_stops_on_signal() -> None:
    async with running("-m", "devtools.demo_engines", stdout=PIPE) as program:
        await program.until("The engines are served")
        program.process.terminate()
        assert await program.ended() == 0
        assert program.process.stdout is not None
        output = (await program.process.stdout.read()).decode()
    assert re.search(r"^export SEARCH_MCP_TEST_KEY_PIN=\S{43}=$", output, re.MULTILINE)
    assert "html.duckduckgo.com=127.0.0.1:" in output


@pytest.mark.parametrize(
    ("mood", "problem"),
    [
        ("bing=gloomy", "There is no behavior 'gloomy'"),
        ("goggle=wall", "There is no engine 'goggle'"),
        ("bing", "written engine=mood"),
    ],
)
def test_an_unknown_mood_is_reported(mood: str, problem: str) -> None:
    output = CliRunner().invoke(main, ["--mood", mood])
    assert output.exit_code == 2 and problem in output.output
