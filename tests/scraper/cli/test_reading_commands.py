"""Commands that read pages and documents, as a person or a script uses them."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import signal
import sys
from asyncio.subprocess import DEVNULL, PIPE
from pathlib import Path

import psutil
import pytest

from tests.growth import full_size
from tests.scraper.cli.conftest import SEARCH_MCP
from tests.scraper.cli.in_process import command_output
from tests.scraper.documents.builders import drawn_pdf, text_at
from tests.scraper.process import START_S, alive, chromium_of, output_of, running, until
from tests.site.running import Site

pytestmark = pytest.mark.browser


async def test_a_page_is_printed_and_nothing_else(site: Site, here: dict[str, str]) -> None:
    output = await output_of(*SEARCH_MCP, "fetch", site.url("/static/1"), env=here)
    assert (output.code, output.err) == (0, "")
    assert "static" in output.out
    assert output.out.endswith("\n")


@pytest.mark.full_size
def test_the_text_is_whole_and_without_header_and_marks(site: Site, here: dict[str, str]) -> None:
    url = site.url("/long/2000")
    output = command_output("fetch", url, env=here)
    marked = command_output("fetch", url, "--marked", env=here)
    assert "MARK-long-1999" in output.out and "untrusted" not in output.out and "URL:" not in output.out
    # An agent gets the part that fits an answer.
    assert marked.out.startswith("URL: ") and "<<<untrusted" in marked.out and "MARK-long-1999" not in marked.out
    assert output.out.startswith("#")


@pytest.mark.full_size
def test_an_address_without_a_scheme_is_tried_with_https_then_http(site: Site, here: dict[str, str]) -> None:
    address = site.url("/static/1").removeprefix("http://")
    output = command_output("fetch", address, "--json", env=here)
    assert output.code == 0 and json.loads(output.out)["url"] == site.url("/static/1")


@pytest.mark.thorough
def test_a_step_opens_an_address_without_a_scheme_and_its_failure_has_no_marks(
    site: Site, here: dict[str, str]
) -> None:
    address = site.url("/acting/list").removeprefix("http://").replace("/", ":80/", 1)
    steps = (f"open {address}", 'press "Show more"')
    output = command_output("browse", *steps, env=here)
    assert output.code == 2 and "Acting list" in output.err and "use click for a button" in output.err
    assert "untrusted" not in output.err and "Session" not in output.err and not output.err.endswith("characters:\n")


@pytest.mark.thorough
def test_each_open_step_tries_https_then_http_and_earlier_steps_run_once(site: Site, here: dict[str, str]) -> None:
    steps = ("open site.example/acting/list", 'click "Show more"', "open other.example/plain", "open nowhere.invalid")
    output = command_output("browse", *steps, "--acting", "act", env=here)
    assert "http://site.example/acting/list" in output.err and "http://other.example/plain" in output.err
    assert output.err.count("step 2") == 1 and 'step 4 ("open nowhere.invalid") failed' in output.err
    assert output.code == 4


def test_a_file_is_not_taken_for_a_host(note: str) -> None:
    output = command_output("fetch", note)
    assert output.code == 2 and f"search-mcp read-doc '{note}'" in output.err


@pytest.mark.parametrize("command", ["fetch", "read-doc"])
def test_a_url_longer_than_file_names_may_be_is_no_file(command: str) -> None:
    output = command_output(command, f"http://nowhere.invalid/{'a' * 300}.pdf")
    assert output.code == 4 and "nowhere.invalid" in output.err


def test_if_both_schemes_fail_the_error_is_of_the_one_that_reached_the_host(site: Site, here: dict[str, str]) -> None:
    output = command_output("fetch", "site.example/redirect-loop", env=here)
    assert output.code == 4 and "redirect" in output.err and "TLS" not in output.err


@pytest.mark.thorough
def test_json_of_steps_names_no_session_because_it_has_ended(site: Site, here: dict[str, str]) -> None:
    output = command_output("browse", f"open {site.url('/plain')}", "--json", env=here)
    result = json.loads(output.out)["result"]
    assert output.code == 0 and "step 1" in result and "Session" not in result


def test_the_hint_for_a_private_address_names_the_option() -> None:
    output = command_output("fetch", "localhost:8080")
    assert output.code == 3 and "--allow-nets 127.0.0.0/8" in output.err and "operator" not in output.err


def test_a_robots_file_that_cannot_be_reached_with_https_is_read_with_http(site: Site, here: dict[str, str]) -> None:
    output = command_output("fetch", "site.example/plain", "--robots", "obey", env=here)
    assert output.code == 0 and output.out, output.err


@pytest.mark.full_size
def test_a_failed_step_has_marks_if_they_are_requested(site: Site, here: dict[str, str]) -> None:
    steps = (f"open {site.url('/acting/list')}", 'press "Show more"')
    assert "<<<untrusted" in command_output("browse", *steps, "--marked", env=here).err


def test_a_crawl_needs_a_url_or_an_id() -> None:
    for words in ((), ("example.com", "--crawl", "a")):
        output = command_output("crawl", *words)
        assert output.code == 2 and "a URL to start a crawl, or --crawl ID" in output.err


@pytest.mark.parametrize("root", [True, False])
def test_a_file_is_read_if_its_name_looks_like_a_host(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, root: bool
) -> None:
    (tmp_path / "notes.md").write_text("The tide turns.")
    monkeypatch.chdir(tmp_path)
    output = command_output("read-doc", "notes.md", *(["--document-root", "."] if root else []))
    assert (output.code, output.out) == (0, "The tide turns.\n"), output.err


def test_a_file_of_the_document_root_of_the_environment_is_read(tmp_path: Path) -> None:
    (tmp_path / "film.srt").write_text("1\n00:00:01,000 --> 00:00:02,000\nThe tide turns.")
    output = command_output("read-doc", "film.srt", env={"SEARCH_MCP_DOCUMENT_ROOT": str(tmp_path)})
    assert output.code == 0 and "The tide turns.\n" in output.out, output.err


@pytest.mark.parametrize("name", ["film.srt", "plan.ics", "paper.tex", "mail.eml"])
def test_a_missing_file_is_no_host(name: str) -> None:
    output = command_output("read-doc", name)
    assert output.code == 2 and f"There is no file {name}." in output.err


def test_each_address_of_a_list_is_tried_with_https_then_http(site: Site, here: dict[str, str]) -> None:
    bare, whole = site.url("/static/1").removeprefix("http://"), site.url("/static/2", "host1.example")
    output = command_output("fetch-batch", bare, whole, "site.example", "--json", env=here)
    rows = json.loads(output.out)
    assert [row["url"] for row in rows] == [site.url("/static/1"), whole, site.url("/")]
    assert [row["error"] for row in rows] == [None] * 3, rows


@pytest.mark.parametrize("command", [("crawl", "--max-pages", "1"), full_size(("changes",), id="changes")])
def test_commands_for_sites_try_https_then_http_too(site: Site, here: dict[str, str], command: tuple[str, ...]) -> None:
    output = command_output(*command, "site.example", "--json", env=here)
    assert output.code == 0 and '"url":"http://site.example' in output.out, output.err


def test_an_answer_is_written_to_a_file(site: Site, here: dict[str, str], tmp_path: Path) -> None:
    file = tmp_path / "page.md"
    output = command_output("fetch", site.url("/static/1"), "-o", str(file), env=here)
    assert (output.code, output.out, output.err) == (0, "", "")
    assert "MARK-static-0" in file.read_text() and file.read_text().endswith("\n")


def test_a_failed_page_leaves_the_earlier_file(site: Site, here: dict[str, str], tmp_path: Path) -> None:
    file = tmp_path / "out" / "page.md"
    file.parent.mkdir()
    file.write_text("earlier")
    output = command_output("fetch", site.url("/wall/forbidden"), "-o", str(file), env=here)
    assert (output.code, output.out) == (3, "")
    assert "403" in output.err and "Traceback" not in output.err
    assert file.read_text() == "earlier" and os.listdir(file.parent) == ["page.md"]


def test_a_file_on_a_full_disk_is_reported_in_one_line(here: dict[str, str], note: str) -> None:
    output = command_output("read-doc", note, "-o", "/dev/full", env=here)
    assert (output.code, output.err) == (1, "Error: /dev/full cannot be written: No space left on device.\n")


def test_a_missing_folder_is_reported_before_a_page_is_read(tmp_path: Path) -> None:
    output = command_output("fetch", "https://site.example/", "-o", str(tmp_path / "none" / "page.md"))
    assert output.code == 2 and "does not exist" in output.err


@pytest.mark.parametrize(
    ("path", "code"), [("/status/404", 1), full_size("/status/500", 1, id="500"), full_size("/status/429", 3, id="429")]
)
def test_the_exit_code_names_the_kind_of_failure(site: Site, here: dict[str, str], path: str, code: int) -> None:
    assert command_output("fetch", site.url(path), env=here).code == code


def test_a_host_that_does_not_exist_is_no_network(here: dict[str, str]) -> None:
    output = command_output("fetch", "http://none.invalid/", env=here)
    assert (output.code, output.out) == (4, "") and "`search-mcp search`" in output.err


def test_errors_in_json_name_commands(here: dict[str, str]) -> None:
    output = command_output("fetch-batch", "http://none.invalid/", "--json", env=here)
    assert output.code == 4 and "`search-mcp search`" in json.loads(output.out)[0]["error"]


@pytest.mark.full_size
def test_errors_in_marked_json_name_tools(here: dict[str, str]) -> None:
    marked = command_output("fetch-batch", "http://none.invalid/", "--json", "--marked", env=here)
    assert "`search`" in json.loads(marked.out)[0]["error"]


@pytest.mark.full_size
def test_a_batch_without_a_page_has_the_code_of_its_failures(site: Site, here: dict[str, str]) -> None:
    urls = (site.url("/wall/forbidden"), site.url("/status/429", "host1.example"))
    assert command_output("fetch-batch", *urls, env=here).code == 3


def test_a_local_document_needs_no_setting(here: dict[str, str], note: str) -> None:
    output = command_output("read-doc", note, env=here)
    assert (output.code, output.out, output.err) == (0, "# Tides\n\nThe moon pulls.\n", "")


_PAGE = b"<title>Tides</title><main><h1>Tides</h1>" + b"<p>The moon pulls at the water of the sea.</p>" * 9
_PDF = drawn_pdf([text_at(60, 300, "The moon pulls at the water")])


@pytest.mark.parametrize(
    ("command", "data"),
    [("fetch", _PAGE), ("fetch", _PDF), ("read-doc", _PAGE), ("read-doc", b"The moon pulls at the water.")],
)
def test_a_document_is_read_from_standard_input(here: dict[str, str], command: str, data: bytes) -> None:
    output = command_output(command, "-", env=here, stdin=data)
    assert (output.code, output.err) == (0, "") and "The moon pulls at the water" in output.out


def test_options_for_the_web_and_input_that_is_empty_or_too_large_are_refused(here: dict[str, str]) -> None:
    output = command_output("fetch", "-", "--render", "browser", env=here, stdin=_PAGE)
    assert output.code == 2 and "need a URL" in output.err
    assert "The file is empty" in command_output("fetch", "-", env=here).err
    large = command_output("read-doc", "-", "--document-mb", "1", env=here, stdin=b"words " * 200_000)
    assert large.code != 0 and "larger than the 1 MB" in large.err


@pytest.mark.parametrize("source", ["none.pdf", "./none.pdf", "none/at all"])
def test_a_missing_document_is_named(here: dict[str, str], source: str) -> None:
    output = command_output("read-doc", source, env=here)
    assert output.code == 2 and f"There is no file {source}." in output.err


def test_a_page_that_needs_javascript_is_rendered(site: Site, here: dict[str, str]) -> None:
    output = command_output("fetch", site.url("/timer"), "--render", "browser", "--format=json", env=here)
    page = json.loads(output.out)
    assert output.code == 0
    assert page["method"] == "browser"
    assert "timer" in page["content"]


@pytest.mark.full_size
def test_start_and_length_cut_a_page(site: Site, here: dict[str, str]) -> None:
    arguments = ("fetch", site.url("/static/1"), "--start", "100", "--length", "300", "--format", "json")
    output = command_output(*arguments, env=here)
    assert 0 < len(json.loads(output.out)["content"]) <= 300


def test_fetch_of_a_query_suggests_search(here: dict[str, str]) -> None:
    output = command_output("fetch", "weather in Berlin", env=here)
    assert (output.code, output.out) == (2, "")
    assert "`search-mcp search`" in output.err


def test_many_pages_come_from_words_a_file_and_stdin(site: Site, here: dict[str, str], tmp_path: Path) -> None:
    file = tmp_path / "urls"
    file.write_text(f"# pages\n\n{site.url('/static/2')}\n")
    arguments = ("fetch-batch", site.url("/static/1"), "-", "-f", str(file), "--format", "json")
    output = command_output(*arguments, env=here, stdin=site.url("/static/3").encode() + b"\n")
    assert (output.code, output.err) == (0, "")
    assert [page["url"][-1] for page in json.loads(output.out)] == ["1", "3", "2"]


def test_a_page_that_fails_does_not_fail_its_batch(site: Site, here: dict[str, str]) -> None:
    urls = (site.url("/static/1"), site.url("/wall/forbidden"))
    output = command_output("fetch-batch", *urls, "--json", env=here)
    assert output.code == 1
    first, second = json.loads(output.out)
    assert not first.get("error")
    assert "403" in json.dumps(second["error"])


@pytest.mark.parametrize("number", [signal.SIGINT, full_size(signal.SIGTERM, id="SIGTERM")])
async def test_an_interrupted_call_leaves_no_browser(site: Site, here: dict[str, str], number: signal.Signals) -> None:
    url = site.url("/slow-answer/25000")
    async with running(*SEARCH_MCP, "fetch", url, env=here, stdin=DEVNULL, stdout=PIPE) as program:
        process = psutil.Process(program.process.pid)
        await until(lambda: not site.open("/slow-answer/25000"))  # of the one before
        await until(lambda: site.open("/slow-answer/25000"), limit_s=START_S)
        chromium = chromium_of(process)
        assert chromium
        program.process.send_signal(number)
        assert await program.ended() == 130
        assert "Traceback" not in "".join(program.said)
    await until(lambda: not alive(chromium))


async def test_a_pipe_that_breaks_is_no_noise(here: dict[str, str], note: str) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    async with running(*SEARCH_MCP, "read-doc", note, env=here, stdout=writing) as program:
        os.close(writing)
        assert await program.ended() == 1
        assert program.said == []


async def test_an_unwritable_answer_is_reported_in_one_line(here: dict[str, str], note: str) -> None:
    full = os.open("/dev/full", os.O_WRONLY)
    async with running(*SEARCH_MCP, "read-doc", note, env=here, stdout=full) as program:
        os.close(full)
        assert await program.ended() == 1
    assert program.said == ["Error: The answer cannot be written: No space left on device.\n"]


async def on_terminal(*arguments: str, env: dict[str, str]) -> tuple[int | None, bytes, bytes]:
    """Run a command whose stderr is a terminal; return its exit code, its stdout and what the terminal showed."""
    master, slave = os.openpty()
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, *SEARCH_MCP, *arguments),
        env={**os.environ, **env, "TERM": "xterm"},
        stdin=DEVNULL,
        stdout=PIPE,
        stderr=slave,
    )
    os.close(slave)
    # Read while it runs: what a terminal holds unread is soon full, and who writes more to it waits.
    reading = asyncio.create_task(asyncio.to_thread(_shown, master))
    try:
        async with asyncio.timeout(START_S):
            out, _ = await process.communicate()
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()
        shown = await reading
        os.close(master)
    return process.returncode, out, shown


async def test_a_terminal_sees_a_bar_on_stderr_alone_below_log_lines(site: Site, here: dict[str, str]) -> None:
    env = here | {"SEARCH_MCP_LOG_LEVEL": "warning"}
    code, out, shown = await on_terminal("fetch-batch", site.url("/static/1"), site.url("/static/2"), env=env)
    assert code == 0
    assert b"\x1b" not in out
    # The total is known before the first page is read, and the last state is complete.
    counts = re.findall(rb"(\d+)/(\d+|\?)", shown)
    assert counts[0] == (b"0", b"2") and counts[-1] == (b"2", b"2")
    # The line before is erased, and the bar is drawn again below.
    line = re.search(rb"(?:^|\n|\x1b\[2K)WARNING [^\r\n]*TEST HOSTS[^\x1b]*\r\n", shown)
    assert line is not None and b"2/2" in shown[line.end() :]


def _shown(terminal: int) -> bytes:
    """All that is written to a terminal until its other end is closed."""
    shown = b""
    with contextlib.suppress(OSError):
        while chunk := os.read(terminal, 65_536):
            shown += chunk
    return shown
