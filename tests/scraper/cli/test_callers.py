"""What a coding agent may not do by flags and paths of a command, and what a person may."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from scraper.cli.main import group
from scraper.cli.warm_client import AGENT_VARIABLES
from scraper.settings import setting_table
from tests.scraper.cli.in_process import command_output

DOCS = Path(__file__).parents[3] / "docs" / "clients.md"
LOOSENING = {
    "--allow-nets": "127.0.0.1/32",
    "--config": "other.toml",
    "--data": "elsewhere",
    "--full-chromium": "/bin/true",
    "--host-gap": "0",
    "--proxy": "http://127.0.0.1:1",
    "--robots": "off",
    "--test-hosts": "a.example=127.0.0.1:1",
}


@pytest.fixture
def agent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Variables of a coding agent whose working folder is `tmp_path/work`."""
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    return {"CLAUDECODE": "1", "XDG_CONFIG_HOME": str(tmp_path / "config"), "SEARCH_MCP_DATA": str(tmp_path / "data")}


@pytest.mark.parametrize("flag", LOOSENING)
def test_an_agent_does_not_loosen_rules_by_flags(agent: dict[str, str], flag: str) -> None:
    variables = agent | {"SEARCH_MCP_AGENT_FLAGS": "yes"}
    output = command_output("fetch", "example.com", flag, LOOSENING[flag], env=variables)
    assert (output.code, output.out) == (3, "") and output.err.startswith(f"Error: {flag} is for the person")


@pytest.mark.parametrize("variable", AGENT_VARIABLES)
def test_an_agent_acts_by_no_flag(variable: str) -> None:
    output = command_output("browse", "open example.com", "--acting", "act", env={variable: "1"})
    assert output.code == 3 and "--acting is for the person" in output.err


def test_a_refusal_proposes_agents_no_flag(agent: dict[str, str]) -> None:
    for arguments in (
        ("fetch", "{}"),
        ("fetch", "{}", "--marked"),
        ("fetch-batch", "{}", "--marked"),
        ("changes", "{}"),
        ("browse", "open {}"),
    ):
        output = command_output(*(one.format("http://127.0.0.1:8080/") for one in arguments), env=agent)
        text = output.out + output.err
        assert output.code == 3 and "not on the public internet" in text and "Only the person" in text, arguments
        assert "ALLOW_NETS" not in text and "--allow-nets" not in text, arguments


@pytest.mark.parametrize(("name", "flag"), [("stdio", "--toolsets"), ("serve", "--port"), ("serve", "--host")])
def test_an_agent_starts_servers_with_flags_that_loosen_nothing(agent: dict[str, str], name: str, flag: str) -> None:
    refused = command_output(name, flag, "none", "--acting", "act", env=agent)
    assert refused.code == 3 and "--acting is for the person" in refused.err


def test_each_locked_flag_is_one_of_the_commands() -> None:
    flags = {option for command in group.commands.values() for one in command.params for option in one.opts}
    assert LOOSENING.keys() <= flags and LOOSENING.keys() <= {setting.flag for setting in setting_table()}


@pytest.mark.parametrize(
    "arguments",
    [
        ("read-doc", "{outside}"),
        ("read-doc", "../secret.md"),
        ("read-doc", "link.md"),
        ("fetch-batch", "-f", "{outside}"),
        ("browse", "-f", "{outside}"),
        ("bulk", "{outside}", "--out", "pages"),
        ("index", "add", "notes", "{outside}"),
        ("extract-structured", "example.com", "--recipe", "{outside}"),
        ("engines", "-o", "{outside}"),
        ("engines", "-o", "link.md"),
        ("see", "example.com", "-o", "../page.png"),
        ("login", "shop", "--hosts", "shop.example", "--import", "{outside}"),
        ("client", "cursor", "--write", "--yes", "--file", "{outside}"),
        ("client", "cursor", "--write", "--yes"),
        ("client", "codex", "--write", "--yes"),
    ],
)
def test_an_agent_uses_no_file_outside_its_working_folder(
    agent: dict[str, str], tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    secret = tmp_path / "secret.md"
    secret.write_text("The moon pulls.")
    Path("link.md").symlink_to(secret)
    variables = agent | {"HOME": str(tmp_path / "home")}
    output = command_output(*(one.format(outside=secret) for one in arguments), env=variables)
    assert not (tmp_path / "home").exists()
    assert output.code == 3 and "outside the working folder" in output.err and "moon" not in output.out + output.err
    assert secret.read_text() == "The moon pulls."


def test_a_file_below_the_working_folder_is_read(agent: dict[str, str]) -> None:
    Path("note.md").write_text("The moon pulls.")
    assert "moon" in command_output("read-doc", "note.md", env=agent).out


@pytest.mark.parametrize("allowed", [True, False])
def test_only_the_configuration_file_of_the_user_allows_agents_everything(
    agent: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, allowed: bool
) -> None:
    monkeypatch.setattr("scraper.cli.callers.sys.platform", "linux")
    monkeypatch.setattr("pwd.getpwuid", lambda _: SimpleNamespace(pw_dir=str(tmp_path / "home")))
    (tmp_path / "secret.md").write_text("The moon pulls.")
    for folder, value in (("home/.config", allowed), ("config", not allowed)):
        file = tmp_path / folder / "search-mcp" / "config.toml"
        file.parent.mkdir(parents=True)
        file.write_text(f"agent_flags = {json.dumps(value)}\n")
    output = command_output("read-doc", "../secret.md", "--data", str(tmp_path / "other"), env=agent)
    assert ("moon" in output.out) is allowed and output.code == (0 if allowed else 3)


@pytest.mark.parametrize("value", ["", "0", "no"])
def test_a_variable_that_is_off_means_no_agent(tmp_path: Path, value: str) -> None:
    (tmp_path / "note.md").write_text("The moon pulls.")
    assert "moon" in command_output("read-doc", str(tmp_path / "note.md"), env={"CLAUDECODE": value}).out


def test_the_docs_list_the_variables_of_agents() -> None:
    text = DOCS.read_text()
    assert all(f"`{name}`" in text for name in AGENT_VARIABLES)
