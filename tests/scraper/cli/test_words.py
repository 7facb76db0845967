"""What the command answers before any browser is needed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from scraper.cli.main import group
from scraper.settings import FILE_ONLY, setting_table
from tests.browsers.chromium.machines import program
from tests.growth import thorough
from tests.scraper.cli.conftest import SEARCH_MCP
from tests.scraper.cli.in_process import command_output
from tests.scraper.process import output_of
from tests.scraper.server.wire import initialize

COMMANDS = ("serve", "stdio", "fetch", "fetch-batch", "research", "compare", "install-browser", "doctor")


@pytest.mark.parametrize("flag", ["-h", "--help"])
@pytest.mark.parametrize("command", [(), *((command,) for command in COMMANDS)])
def test_every_command_explains_itself(command: tuple[str, ...], flag: str) -> None:
    output = command_output(*command, flag)
    assert (output.code, output.err) == (0, "")
    assert output.out.startswith("Usage: search-mcp")


def test_help_names_every_command() -> None:
    output = command_output("-h")
    assert all(f"\n  {name} " in output.out for name in group.commands)


def test_help_of_serve_names_every_setting_and_its_variable() -> None:
    output = command_output("serve", "-h")
    for setting in setting_table():
        assert (setting.flag in output.out) is (setting.variable in output.out) is (setting.name not in FILE_ONLY)


async def test_the_version_is_one_line() -> None:
    output = await output_of(*SEARCH_MCP, "--version")
    assert output.code == 0
    assert output.out.startswith("search-mcp ")
    assert output.out.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("nothing",), "No such command"),
        (("fetch",), "Missing argument"),
        (("fetch-batch",), "Give at least one URL"),
        (("fetch", "http://x.example", "--render", "magic"), "is not one of"),
        (("serve", "--port", "100000"), "give a whole number from 0 to 65535"),
        (("serve", "--prot", "1"), "No such option"),
        (("serve", "--port", "0", "--tools", "ftech"), 'did you mean "fetch"?'),
        (("stdio", "--tools", "ftech"), 'did you mean "fetch"?'),
        (("fetch", "http://x.example", "--proxy", "http://proxy"), "--proxy=(not shown) cannot be used"),
    ],
)
def test_wrong_usage_exits_with_two_and_a_reason(arguments: tuple[str, ...], reason: str) -> None:
    output = command_output(*arguments)
    assert (output.code, output.out) == (2, "")
    assert reason in output.err
    assert "Traceback" not in output.err


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("fetch", "weather in Berlin"), "search"),
        (
            ("fetch", "https://example.org/", "--length", "900", "--json", "--start", "-1"),
            "--start must be a whole number",
        ),
        (("research", "tides", "--depth", "99"), "--depth must be a whole number from 1 to 8"),
        (("read-doc", "https://example.org/a.pdf", "--pages", "all"), "--pages must be numbers and ranges"),
        (("compare", "which one", "https://example.org/"), "compare takes 2 to 5 different URLs, not 1."),
        (("extract-structured", "file:///etc/passwd"), "http"),
    ],
)
def test_arguments_are_looked_at_before_a_browser_is(arguments: tuple[str, ...], reason: str, tmp_path: Path) -> None:
    mark = tmp_path / "started"
    chromium = program(tmp_path / "chromium", f"touch {mark}; echo Chromium 156.0.8078.79")
    env = {name: str(chromium) for name in ("SEARCH_MCP_LIGHT_CHROMIUM", "SEARCH_MCP_FULL_CHROMIUM")}
    output = command_output(*arguments, env=env | {"SEARCH_MCP_DATA": str(tmp_path / "data")})
    assert (output.code, output.out) == (2, "")
    assert reason in output.err and "Traceback" not in output.err
    assert not mark.exists() and not (tmp_path / "data").exists()


@pytest.mark.parametrize(("words", "stdin"), [(("-f", "FILE"), b""), (("-",), b"\xff\xfeh\x00")])
async def test_a_binary_url_list_is_reported_in_one_line(words: tuple[str, ...], stdin: bytes, tmp_path: Path) -> None:
    file = tmp_path / "urls"
    file.write_bytes(b"\xff\xfeh\x00")
    named = [str(file) if word == "FILE" else word for word in words]
    env = {"PYTHONUTF8": "1", "PYTHONIOENCODING": "utf-8:strict"}
    output = await output_of(*SEARCH_MCP, "fetch-batch", *named, stdin=stdin, env=env)
    assert (output.code, output.out) == (2, "")
    assert output.err.endswith("Error: The list of URLs cannot be read: it is not UTF-8 text.\n")


def test_a_list_of_another_system_is_read_alike(tmp_path: Path) -> None:
    file = tmp_path / "urls"
    file.write_bytes("\ufeff# no URL\r\none word\r\n\r\n  another word \r\n".encode())
    output = command_output("fetch-batch", "-f", str(file), "--batch-limit", "1")
    assert "not 2" in output.err


def test_a_wrong_variable_is_reported() -> None:
    output = command_output("serve", env={"SEARCH_MCP_PORT": "many"})
    assert (output.code, output.out) == (2, "")
    assert "SEARCH_MCP_PORT='many' cannot be used" in output.err


def test_an_open_address_without_a_token_is_one_line_and_exit_code_one() -> None:
    output = command_output("serve", "--host", "0.0.0.0", "--port", "0")
    assert (output.code, output.out) == (1, "")
    assert output.err.startswith("Error: Refusing to listen on 0.0.0.0 without a token")
    assert output.err.count("\n") == 1


@pytest.mark.parametrize("command", [(), thorough(("stdio",), id="stdio")])
async def test_without_a_terminal_it_speaks_the_protocol(command: tuple[str, ...]) -> None:
    output = await output_of(*SEARCH_MCP, *command, stdin=json.dumps(initialize()).encode() + b"\n")
    assert output.code == 0
    assert json.loads(output.out)["result"]["serverInfo"]["name"] == "search-mcp"


async def test_an_unknown_variable_is_reported_and_ignored() -> None:
    output = await output_of(*SEARCH_MCP, stdin=b"", env={"SEARCH_MCP_PROT": "1"})
    assert output.code == 0
    assert 'Unknown variable SEARCH_MCP_PROT is ignored (did you mean "SEARCH_MCP_PORT"?).' in output.err
