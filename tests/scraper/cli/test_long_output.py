"""What a coding agent gets of long answers: marks, a limit, and files that are described."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.scraper.cli.in_process import command_output
from tests.site.running import Site

pytestmark = pytest.mark.browser
MARK = re.compile(r"^<<<(end )?untrusted ([0-9a-f]{8,12})>>>$", re.MULTILINE)


@pytest.fixture
def agent(here: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Variables of a coding agent whose working folder is `tmp_path`."""
    monkeypatch.chdir(tmp_path)
    return here | {"CLAUDECODE": "1"}


def marks(text: str) -> list[tuple[str, str]]:
    return MARK.findall(text)


@pytest.mark.parametrize("is_json", [False, True])
def test_the_rest_of_a_long_answer_is_in_a_file_that_is_named(agent: dict[str, str], site: Site, is_json: bool) -> None:
    command = ("fetch", site.url("/long/2000"), "--max-tokens", "500", *(["--json"] if is_json else []))
    output = command_output(*command, env=agent)
    (file,) = Path(".search-mcp").glob("site-example-long-2000-*")
    assert output.code == 0 and str(file) in output.out and len(output.out) < 3_000
    assert file.suffix == (".json" if is_json else ".md") and len(file.read_text()) > 20_000
    # Every region that begins also ends.
    names = [name for end, name in marks(output.out) if not end]
    assert names == [name for end, name in marks(output.out) if end]
    again = command_output(*command, env=agent)
    assert again.code == 0 and len(list(Path(".search-mcp").iterdir())) == 2


def test_a_written_file_is_described_in_few_words(agent: dict[str, str], site: Site, tmp_path: Path) -> None:
    output = command_output("fetch", site.url("/long/2000"), "-o", "page.md", env=agent)
    assert output.code == 0 and output.out.startswith("page.md: about ") and len(output.out) < 400
    assert "MARK-long-1999" in (tmp_path / "page.md").read_text()
    assert command_output("fetch", site.url("/static/1"), "-o", "two.md", env=agent | {"CLAUDECODE": "0"}).out == ""


def test_text_that_imitates_marks_stays_inside(agent: dict[str, str], site: Site) -> None:
    for command in (("fetch", site.url("/acting/hostile")), ("browse", f"open {site.url('/acting/hostile')}")):
        output = command_output(*command, env=agent)
        found = marks(output.out)
        assert output.code == 0 and len(found) == 2 and len({name for _, name in found}) == 1, output.out
        assert "000000000000" in output.out and ("end ", "000000000000") not in found


def test_the_help_for_agents_has_no_settings() -> None:
    agent, person = (command_output("fetch", "--help", env=env).out for env in ({"CLAUDECODE": "1"}, {}))
    assert "--allow-nets" in person and "--allow-nets" not in agent and len(agent) < len(person) / 2
