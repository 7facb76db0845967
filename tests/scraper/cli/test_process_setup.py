"""The commands where standard input or output are closed, full, or of another time."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

import pytest

from tests.growth import full_size, thorough
from tests.scraper.cli.conftest import SEARCH_MCP
from tests.scraper.cli.in_process import command_output
from tests.scraper.process import Output, output_of, running
from tests.site.running import Site

RUN_MAIN = "from scraper.cli.main import main; sys.argv[0] = 'search-mcp'; main()"
INTERRUPTED = """
import os, signal, sys

class Input:
    def __iter__(self):
        os.kill(os.getpid(), signal.SIGINT)
        yield ""

sys.stdin = Input()
"""
CLOSING = "import os, sys; os.close({}); os.execv(sys.executable, [sys.executable, *sys.argv[1:]])"


async def without(descriptor: int, *arguments: str, env: dict[str, str]) -> Output:
    """Run a command with this descriptor closed."""
    return await output_of("-c", CLOSING.format(descriptor), *SEARCH_MCP, *arguments, env=env)


@pytest.mark.parametrize("arguments", [(), thorough(("stdio",), id="stdio")])
async def test_with_closed_stdin_the_server_exits(here: dict[str, str], arguments: tuple[str, ...]) -> None:
    assert await without(0, *arguments, env=here) == Output(0, "", "")


async def test_a_list_of_urls_from_nowhere_is_an_empty_one(here: dict[str, str]) -> None:
    output = await without(0, "fetch-batch", "-", env=here)
    assert output.code == 2
    assert "Give at least one URL" in output.err


@pytest.mark.browser
@pytest.mark.parametrize("descriptor", [0, full_size(2, id="stderr")])
async def test_a_page_is_printed_without_the_other_streams(site: Site, here: dict[str, str], descriptor: int) -> None:
    output = await without(descriptor, "fetch", site.url("/static/1"), env=here)
    assert (output.code, output.err) == (0, "")
    assert "MARK-static-0" in output.out


async def test_without_a_temporary_folder_the_error_is_one_line(here: dict[str, str]) -> None:
    program = "import sys, tempfile; tempfile._candidate_tempdir_list = list; " + RUN_MAIN
    output = await output_of("-c", program, "fetch", "http://site.example/", env=here)
    assert (output.code, output.out) == (1, "")
    assert output.err.startswith("Error: Pages cannot be read on this machine: ") and "temporary" in output.err
    assert "Errno" not in output.err
    assert output.err.count("\n") == 1


@pytest.mark.parametrize(("is_terminal", "shown"), [(True, b"Canceled."), thorough(False, b"")])
async def test_an_interrupted_command_says_so_on_a_terminal(is_terminal: bool, shown: bytes) -> None:
    reader, writer = os.openpty() if is_terminal else os.pipe()
    command = (sys.executable, "-c", INTERRUPTED + RUN_MAIN, "fetch-batch", "-")
    process = await asyncio.create_subprocess_exec(*command, stderr=writer)
    code = await process.wait()
    # click ends the line of ^C.
    output = os.read(reader, 4_096)
    os.close(writer)
    os.close(reader)
    assert (code, output.translate(None, b"\r\n")) == (130, shown)


async def test_closed_standard_output_is_harmless(here: dict[str, str], note: str) -> None:
    assert await without(1, "read-doc", note, env=here) == Output(0, "", "")


async def test_letters_that_the_output_cannot_hold_are_shown_by_their_numbers(
    here: dict[str, str], tmp_path: Path
) -> None:
    file = tmp_path / "harbour.md"
    file.write_text("海港\n", encoding="utf-8")
    output = await output_of(*SEARCH_MCP, "read-doc", str(file), env=here | {"PYTHONIOENCODING": "latin-1"})
    assert output == Output(0, "\\u6d77\\u6e2f\n", "")


@pytest.mark.parametrize("unbuffered", ["", full_size("1", id="unbuffered")])
@pytest.mark.parametrize(
    "arguments", [("engines",), thorough(("serve", "-h"), id="serve"), full_size(("cache", "stats"), id="cache")]
)
async def test_a_full_output_device_is_reported_in_one_line(
    here: dict[str, str], arguments: tuple[str, ...], unbuffered: str
) -> None:
    full = os.open("/dev/full", os.O_WRONLY)
    env = here | {"PYTHONUNBUFFERED": unbuffered}
    async with running(*SEARCH_MCP, *arguments, env=env, stdout=full) as program:
        os.close(full)
        assert await program.ended() == 1
    assert program.said == ["Error: The answer cannot be written: No space left on device.\n"]


PROGRAM = """
import resource, sys
soft, hard = map(int, sys.argv[1:])
resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
from scraper.cli.main import raise_open_files_limit
raise_open_files_limit()
print(*resource.getrlimit(resource.RLIMIT_NOFILE))
"""


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ((256, 9_000), (8_192, 9_000)),
        thorough((256, 512), (512, 512), id="512"),
        thorough((9_000, 9_000), (9_000, 9_000), id="9,000"),
    ],
)
async def test_as_many_are_allowed_as_are_of_use(before: tuple[int, int], after: tuple[int, int]) -> None:
    output = await output_of("-c", PROGRAM, *map(str, before))
    assert (output.out.split(), output.err) == ([str(number) for number in after], "")


async def test_the_command_line_raises_it() -> None:
    program = (
        "import os, resource\n"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (200, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))\n"
        "from scraper.cli import main\n"
        "main.run = lambda _: resource.getrlimit(resource.RLIMIT_NOFILE)[0] > 200\n"
        "main.main()\n"
    )
    assert (await output_of("-c", program)).code == 1


@pytest.mark.parametrize("agent", ["0", "1"])
def test_a_deleted_working_folder_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, agent: str) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    output = command_output("fetch", "example.com", "-o", "page.md", env={"SEARCH_MCP_AGENT": agent})
    assert (output.code, output.out) == (1, "")
    assert output.err == "Error: The working folder does not exist any more. Change to another one.\n"
