"""`doctor` tells a person whether this machine can serve."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Any

import pytest

from scraper.cli import doctor, doctor_checks
from scraper.cli.doctor_checks import CheckLevel
from scraper.settings import Settings
from tests.browsers.chromium.machines import program
from tests.ports import free_port
from tests.scraper.cli.in_process import command_output
from tests.scraper.process import output_of


@pytest.mark.browser
def test_a_machine_with_chromium_can_serve(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # What a loaded machine may take for a browser's start and a page.
    monkeypatch.setattr(doctor_checks, "_LOCAL_LIMIT_S", 100.0)
    env = {
        "SEARCH_MCP_DATA": str(tmp_path / "data"),
        "SEARCH_MCP_PORT": "0",
        "SEARCH_MCP_NOPE": "1",
        "SEARCH_MCP_DOCUMENT_ROOT": str(tmp_path),
    }
    output = command_output("doctor", env=env)
    assert output.code == 0, output.out + output.err
    assert "[ok] Chromium" in output.out
    assert "A page that needs JavaScript was read" in output.out
    assert "sandbox" in output.out
    assert "[ok] Tools of pages work in browse" in output.out
    assert f"Pages are cached in {tmp_path / 'data'}" in output.out
    assert "Documents are read in processes" in output.out
    assert f"Local documents are read from {tmp_path}" in output.out
    assert "[!!] Unknown variable SEARCH_MCP_NOPE is ignored." in output.out
    assert output.out.rstrip().endswith("This machine can serve.")
    assert "Traceback" not in output.err


@pytest.mark.parametrize("there", [False, True])
def test_a_path_that_leads_to_no_chromium_is_named_with_its_setting(tmp_path: Path, there: bool) -> None:
    wrong = program(tmp_path / "wrong", "echo an editor") if there else tmp_path / "wrong"
    env = {"SEARCH_MCP_LIGHT_CHROMIUM": str(wrong), "SEARCH_MCP_DATA": str(tmp_path), "SEARCH_MCP_PORT": "0"}
    output = command_output("doctor", env=env)
    assert output.code == 1
    assert (
        f"[no] SEARCH_MCP_LIGHT_CHROMIUM names {wrong}, which is not a Chromium that starts\n"
        "     Correct the path, or remove the setting: Chromium is then found automatically"
    ) in output.out
    assert "install-browser" not in output.out.replace("install-browser --fonts", "")
    assert output.out.rstrip().endswith("This machine cannot serve yet.")


@pytest.mark.parametrize("command", [("serve", "--port", "0"), ("fetch", "https://example.org/")])
def test_a_wrong_path_is_reported_by_its_check(tmp_path: Path, command: tuple[str, ...]) -> None:
    env = {"SEARCH_MCP_FULL_CHROMIUM": str(tmp_path / "gone"), "SEARCH_MCP_DATA": str(tmp_path)}
    output = command_output(*command, env=env)
    assert output.code in {1, 2}
    assert f"SEARCH_MCP_FULL_CHROMIUM={tmp_path / 'gone'}: there is no program at that path." in output.err
    assert "install" not in output.err and "Traceback" not in output.err


@pytest.mark.browser
async def test_without_the_web_the_remedy_is_the_network(tmp_path: Path) -> None:
    nowhere = (("example.com", "127.0.0.1", free_port()),)
    (found,) = await doctor_checks.read_web_page(Settings(data_dir=tmp_path, test_hosts=nowhere))
    assert found.level is CheckLevel.POOR
    assert found.text.startswith("The web could not be reached: ") and "search" not in found.text
    assert "network" in found.remedy and "SEARCH_MCP_PROXY" in found.remedy


async def test_without_a_temporary_folder_the_remedy_is_printed(tmp_path: Path) -> None:
    program = "import tempfile; tempfile._candidate_tempdir_list = list; from scraper.cli.main import main; main()"
    env = {"SEARCH_MCP_DATA": str(tmp_path), "SEARCH_MCP_PORT": "0"}
    output = await output_of("-c", program, "doctor", env=env)
    assert output.code == 1 and "Traceback" not in output.err
    assert "[no] Pages cannot be read on this machine: No usable temporary directory" in output.out
    assert "TMPDIR" in output.out
    assert output.out.rstrip().endswith("This machine cannot serve yet.")


@pytest.mark.parametrize(("manager", "mend"), [("apt-get", "install-browser --fonts"), ("dnf", "Noto CJK")])
def test_fonts_that_are_missing_are_named_with_what_brings_them_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, manager: str, mend: str
) -> None:
    program(tmp_path / manager)
    program(tmp_path / "fc-list", "exit 0")
    monkeypatch.setenv("PATH", str(tmp_path))
    (found,) = doctor_checks.check_fonts()
    assert found.text == "No font for Chinese, Japanese, Korean, emoji"
    assert mend in found.remedy


@pytest.mark.parametrize(("asked", "coloured"), [("", True), ("1", False)])
def test_who_asks_for_no_colour_gets_none(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], asked: str, coloured: bool
) -> None:
    monkeypatch.setenv("NO_COLOR", asked)
    monkeypatch.setattr("click.utils.should_strip_ansi", lambda *_: False)
    doctor._show([doctor_checks.good_finding("There it is")])
    assert ("\x1b[" in capsys.readouterr().out) is coloured


def test_a_port_at_an_address_of_ipv6_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    families: list[int] = []

    def create(address: tuple[str, int], *, family: int) -> socket.socket:
        families.append(family)
        # This machine may have no IPv6.
        return socket.socket()

    monkeypatch.setattr(socket, "create_server", create)
    (found,) = doctor_checks.check_port(Settings(host="::1", port=0))
    assert found.text.startswith("::1 port 0 is free") and families == [socket.AF_INET6]


def test_a_port_in_use_is_reported_briefly() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        (found,) = doctor_checks.check_port(Settings(port=taken.getsockname()[1]))
    assert found.level is CheckLevel.POOR
    assert found.text.endswith(": Address already in use")


@pytest.mark.parametrize(
    ("given", "level", "output"),
    [
        ({}, CheckLevel.GOOD, "Only programs on this machine may call"),
        ({"host": "0.0.0.0"}, CheckLevel.BAD, "would not start: Refusing to listen on 0.0.0.0 without a token"),
        ({"host": "0.0.0.0", "token": "0123456789abcdef"}, CheckLevel.GOOD, "Callers must send a token"),
        ({"host": "0.0.0.0", "allow_unauthenticated": True}, CheckLevel.POOR, "Everyone who reaches 0.0.0.0 may call"),
        ({"token": "two words"}, CheckLevel.BAD, "a token must consist of visible ASCII characters"),
        ({"issuer": "https://login.example"}, CheckLevel.BAD, "SEARCH_MCP_ISSUER needs SEARCH_MCP_ISSUER_KEYS"),
    ],
)
def test_the_allowed_callers_are_reported(given: dict[str, Any], level: CheckLevel, output: str) -> None:
    (found,) = doctor_checks.check_callers(Settings(**given))
    assert found.level is level and output in found.text


def test_a_short_token_is_reported() -> None:
    _, found = doctor_checks.check_callers(Settings(token="0123456789abcde"))
    assert found.level is CheckLevel.POOR
    assert found.text == "The token of default has fewer than 16 characters, so it may be guessed"


def test_a_secret_in_a_file_is_shown_as_its_path() -> None:
    (found,) = doctor_checks.check_configuration({"SEARCH_MCP_TOKEN_FILE": "/run/secrets/token"})
    assert found.text == "SEARCH_MCP_TOKEN_FILE=/run/secrets/token"


def test_invalid_settings_are_reported(tmp_path: Path) -> None:
    output = command_output("doctor", env={"SEARCH_MCP_PROXY": "ftp://proxy"})
    assert output.code == 2
    assert "[no] The settings cannot be used: SEARCH_MCP_PROXY=(not shown)" in output.out


def test_a_closed_proxy_is_reported_without_password(tmp_path: Path) -> None:
    arguments = ("--proxy", "http://user:hunter2@127.0.0.1:9", "--data", str(tmp_path), "--port", "0")
    output = command_output("doctor", *arguments)
    assert output.code == 1
    assert "[no] The proxy at 127.0.0.1:9 does not answer: Connection refused\n" in output.out
    assert "hunter2" not in output.out + output.err
