"""What the command answers before any browser is needed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from scraper.cli.main import group
from scraper.settings import setting_table
from tests.browsers.chromium.machines import program
from tests.scraper.cli.conftest import SEARCH_MCP
from tests.scraper.cli.in_process import command_output
from tests.scraper.process import output_of
from tests.scraper.server.wire import initialize

COMMANDS = ("serve", "stdio", "fetch", "fetch-batch", "research", "compare", "install-browser", "doctor")


@pytest.mark.parametrize("flag", ["-h", "--help"])
@pytest.mark.parametrize("command", [(), *((command,) for command in COMMANDS)])
def test_every_command_explains_itself(command: tuple[str, ...], flag: str) -> None:
    told = command_output(*command, flag)
    assert (told.code, told.err) == (0, "")
    assert told.out.startswith("Usage: search-mcp")


def test_help_names_every_command() -> None:
    told = command_output("-h")
    assert all(f"\n  {name} " in told.out for name in group.commands)


def test_help_of_serve_names_every_setting_and_its_variable() -> None:
    told = command_output("serve", "-h")
    for setting in setting_table():
        assert setting.flag in told.out
        assert setting.variable in told.out


async def test_the_version_is_one_line() -> None:
    told = await output_of(*SEARCH_MCP, "--version")
    assert told.code == 0
    assert told.out.startswith("search-mcp ")
    assert told.out.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("nothing",), "No such command"),
        (("fetch",), "Missing argument"),
        (("fetch-batch",), "Give at least one URL"),
        (("fetch", "http://x.example", "--render", "magic"), "is not one of"),
        (("serve", "--port", "100000"), "give a whole number from 0 to 65535"),
        (("serve", "--prot", "1"), "No such option"),
        (("serve", "--port", "0", "--tools", "ftech"), "did you mean fetch?"),
        (("stdio", "--tools", "ftech"), "did you mean fetch?"),
        (("fetch", "http://x.example", "--proxy", "http://proxy"), "--proxy=(not shown) cannot be used"),
    ],
)
def test_a_wrong_call_is_told_why_and_exits_with_two(arguments: tuple[str, ...], reason: str) -> None:
    told = command_output(*arguments)
    assert (told.code, told.out) == (2, "")
    assert reason in told.err
    assert "Traceback" not in told.err


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("fetch", "weather in Berlin"), "search"),
        (("fetch", "https://example.org/", "--length", "0"), "length must be a whole number from 1 to"),
        (("research", "tides", "--depth", "99"), "depth must be a whole number from 1 to 8"),
        (("read-doc", "https://example.org/a.pdf", "--pages", "all"), "pages must be numbers and ranges"),
        (("compare", "which one", "https://example.org/"), "compare takes 2 to 5 different URLs, not 1."),
        (("extract-structured", "file:///etc/passwd"), "http"),
    ],
)
def test_arguments_are_looked_at_before_a_browser_is(arguments: tuple[str, ...], reason: str, tmp_path: Path) -> None:
    mark = tmp_path / "started"
    chromium = program(tmp_path / "chromium", f"touch {mark}; echo Chromium 156.0.8078.79")
    env = {name: str(chromium) for name in ("SEARCH_MCP_LIGHT_CHROMIUM", "SEARCH_MCP_FULL_CHROMIUM")}
    told = command_output(*arguments, env=env | {"SEARCH_MCP_DATA": str(tmp_path / "data")})
    assert (told.code, told.out) == (1, "")
    assert reason in told.err and "Traceback" not in told.err
    assert not mark.exists() and not (tmp_path / "data").exists()


@pytest.mark.parametrize(("words", "stdin"), [(("-f", "FILE"), b""), (("-",), b"\xff\xfeh\x00")])
async def test_a_list_of_urls_that_is_no_text_is_told_in_a_line(
    words: tuple[str, ...], stdin: bytes, tmp_path: Path
) -> None:
    file = tmp_path / "urls"
    file.write_bytes(b"\xff\xfeh\x00")
    named = [str(file) if word == "FILE" else word for word in words]
    env = {"PYTHONUTF8": "1", "PYTHONIOENCODING": "utf-8:strict"}
    told = await output_of(*SEARCH_MCP, "fetch-batch", *named, stdin=stdin, env=env)
    assert (told.code, told.out) == (2, "")
    assert told.err.endswith("Error: The list of URLs cannot be read: it is not UTF-8 text.\n")


def test_a_list_of_another_system_is_read_alike(tmp_path: Path) -> None:
    file = tmp_path / "urls"
    file.write_bytes("\ufeff# no URL\r\none word\r\n\r\n  another word \r\n".encode())
    told = command_output("fetch-batch", "-f", str(file), "--batch-limit", "1")
    assert "not 2" in told.err


def test_a_wrong_variable_is_told_too() -> None:
    told = command_output("serve", env={"SEARCH_MCP_PORT": "many"})
    assert (told.code, told.out) == (2, "")
    assert "SEARCH_MCP_PORT='many' cannot be used" in told.err


def test_an_open_address_without_a_token_is_one_line_and_exit_code_one() -> None:
    told = command_output("serve", "--host", "0.0.0.0", "--port", "0")
    assert (told.code, told.out) == (1, "")
    assert told.err.startswith("Error: Refusing to listen on 0.0.0.0 without a token")
    assert told.err.count("\n") == 1


@pytest.mark.parametrize("command", [(), ("stdio",)])
async def test_without_a_terminal_it_speaks_the_protocol(command: tuple[str, ...]) -> None:
    told = await output_of(*SEARCH_MCP, *command, stdin=json.dumps(initialize()).encode() + b"\n")
    assert told.code == 0
    assert json.loads(told.out)["result"]["serverInfo"]["name"] == "search-mcp"


async def test_an_unknown_variable_is_told_and_does_no_harm() -> None:
    told = await output_of(*SEARCH_MCP, stdin=b"", env={"SEARCH_MCP_PROT": "1"})
    assert told.code == 0
    assert "Unknown variable SEARCH_MCP_PROT is ignored. Did you mean SEARCH_MCP_PORT?" in told.err
