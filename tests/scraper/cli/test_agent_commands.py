"""Guides for coding agents, compared with the real commands, and the skill that announces them."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import click
import pytest

from scraper.cli.client_config import FOLDERS, find_other_stubs
from scraper.cli.doctor_checks import check_skills
from scraper.cli.exit_codes import ExitCode
from scraper.cli.files import MAX_PRINTED_TOKENS
from scraper.cli.main import group
from scraper.cli.warm_server import SERVER_IDLE_S
from scraper.search.research import MAX_COMPARED_URLS
from scraper.settings import Settings
from scraper.text.token_estimate import estimate
from scraper.tools.registry import all_tools
from scraper.tools.skills import GUIDES, read_guide
from tests.scraper.cli.in_process import command_output

ROOT = Path(__file__).parents[3]
STUB = ROOT / "skills" / "search-mcp" / "SKILL.md"


@pytest.mark.parametrize("name", [*GUIDES, "stub"])
def test_commands_and_options_of_the_guides_exist(name: str) -> None:
    text = read_guide(name)
    assert estimate(text) <= (250 if name == "stub" else 1_000)
    shown = re.findall(r"^ {4}(search-mcp .+?)(?: +#.*)?$|`(search-mcp [^`]+)`", text, re.MULTILINE)
    assert shown
    for line in (first or second for first, second in shown):
        words = shlex.split(line)[1:]
        command: click.Command = group
        context = click.Context(group, **group.context_settings)
        while isinstance(command, click.Group) and words and words[0] != "COMMAND":
            command = command.get_command(context, words.pop(0)) or pytest.fail(line)
        options = {option for one in command.params for option in one.opts}
        assert {word for word in words if word.startswith("-") and word != "-"} <= options, line
        if command.name == "skill" and words:
            assert words[0] in GUIDES


def test_exit_codes_of_the_guide_are_those_of_the_commands() -> None:
    codes = read_guide("core").replace("\n", " ").partition("Exit codes: ")[2].partition(".")[0]
    # Only the person runs `watch` and interrupts.
    assert set(re.findall(r"\b(\d) ", codes)) == {str(int(code)) for code in ExitCode if code < ExitCode.CHANGED}
    lost = re.findall(r"Exit code (\d) means that it is lost", read_guide("acting").replace("\n", " "))
    assert lost == [str(int(ExitCode.SESSION_LOST))]


def test_numbers_of_the_guides_and_the_documentation_are_right() -> None:
    texts = {name: " ".join(read_guide(name).split()) for name in [*GUIDES, "stub"]}
    assert f"At most {MAX_PRINTED_TOKENS:,} tokens are printed" in texts["core"]
    assert f"ends {SERVER_IDLE_S / 60:.0f} minutes after its last command" in texts["acting"]
    assert "up to five URLs and a question" in texts["core"] and MAX_COMPARED_URLS == 5
    (tool,) = (tool for tool in all_tools(Settings()) if tool.name == "extract_structured")
    further = tool.input_schema["properties"]["urls"]["maxItems"]
    assert "of up to ten pages" in texts["data"] and further == 10 - 1
    docs = " ".join((ROOT / "docs" / "clients.md").read_text().split())
    for name, pattern in (("stub", r"a stub of (\d+) tokens"), ("core", r"`search-mcp skill core` \((\d+) tokens\)")):
        (stated,) = re.findall(pattern, docs)
        assert abs(int(stated) - estimate(read_guide(name))) <= 10
    assert f"at most {MAX_PRINTED_TOKENS:,} tokens" in docs


def test_the_stub_is_valid_and_lies_where_other_programs_look() -> None:
    text = STUB.read_text()
    assert text == read_guide("stub")
    fields = dict(line.split(": ", 1) for line in text.split("---\n")[1].splitlines())
    assert (
        fields["name"] == STUB.parent.name
        and len(fields["description"]) <= 1_024
        and len(fields["compatibility"]) <= 500
    )
    plugin = json.loads((ROOT / ".claude-plugin" / "plugin.json").read_text())
    assert (
        plugin["name"] == "search-mcp" and f'version = "{plugin["version"]}"' in (ROOT / "pyproject.toml").read_text()
    )


@pytest.mark.parametrize("target", [*FOLDERS, "own"])
def test_the_skill_is_written_after_a_question(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, target: str) -> None:
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    file = FOLDERS.get(target, Path("own")) / "search-mcp" / "SKILL.md"
    refused = command_output("skill", "--write", target, stdin=b"n\n")
    assert refused.code == 1 and "+name: search-mcp" in refused.out and not file.exists()
    written = command_output("skill", "--write", target, stdin=b"y\n")
    assert written.code == 0 and file.read_text() == read_guide("stub")
    assert "up to date" in command_output("skill", "--write", target).out and not list(find_other_stubs())
    for_user = command_output("skill", "--write", target, "--user", "--yes", env={"CLAUDECODE": "1"})
    assert for_user.code == (0 if target == "own" else 3)
    if target in FOLDERS:
        file.write_text("old")
        assert [one.resolve() for one in find_other_stubs()] == [file.resolve()]
        (finding,) = check_skills()
        command = finding.remedy.partition("search-mcp ")[2].split()
        assert command_output(*command, "--yes").code == 0 and not list(find_other_stubs())


def test_guides_are_listed_and_printed() -> None:
    assert all(f"search-mcp skill {name}: " in command_output("skill").out for name in GUIDES)
    assert command_output("skill", "core", env={"CLAUDECODE": "1"}).out == read_guide("core")
    assert command_output("skill", "other").code == 2
