"""One server runs the commands of a coding agent; whatever happens to it, each command is answered."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest

from scraper.cli import warm_client
from tests.growth import thorough
from tests.scraper.cli.warm import ENTRY, Warm, warm_commands
from tests.scraper.process import REPOSITORY, SOON_S, alive, chromium_of, until
from tests.site.running import Site

pytestmark = [pytest.mark.browser, pytest.mark.own_processes, pytest.mark.slow]


@pytest.fixture
def warm(here: dict[str, str]) -> Iterator[Warm]:
    with warm_commands(here) as warm:
        yield warm


def plain(text: str) -> str:
    """Return an answer without the random ids of its marks, which change estimates of tokens, and ages."""
    return re.sub(r"untrusted [0-9a-f]{8}>|about [0-9,]+ tokens|[0-9]+ s ago", "", text)


@pytest.mark.parametrize("commands", [slice(5), thorough(slice(13), id="all")])
async def test_an_answer_is_that_of_a_process_of_its_own(warm: Warm, site: Site, commands: slice) -> None:
    url, long = site.url("/static/1"), site.url("/long/2000")
    every = [
        ("fetch", url),
        ("fetch", url, "--marked"),
        ("fetch", site.url("/status/404")),
        ("fetch", "--unknown"),
        ("fetch", long, "--json"),
        ("fetch", url, "--json"),
        ("fetch", url, "--question", "Which ferry left?", "--tokens", "300"),
        ("fetch", site.url("/acting/hostile")),
        ("fetch", "127.0.0.1:1"),
        ("fetch-batch", url, site.url("/static/2")),
        ("fetch", long, "--json"),
        ("extract-structured", site.url("/shop/marks"), "--json"),
        ("map", site.url("/static/1"), "--start", "x"),
    ]
    for command in every[commands]:
        here, there = await warm.run(*command, "--no-daemon"), await warm.run(*command)
        assert (there.code, plain(there.out), plain(there.err)) == (here.code, plain(here.out), plain(here.err)), (
            command
        )
    assert warm.status()["process"] == warm.servers()[0].pid and len(warm.servers()) == 1
    files = {file.name: file.read_text() for file in (warm.folder / "work" / ".search-mcp").iterdir()}
    assert len(files) >= 2 and all(len(text) > 1_000 for name, text in files.items() if name != ".gitignore")


async def test_files_are_written_by_the_command(warm: Warm, site: Site) -> None:
    work, url = warm.folder / "work", site.url("/static/1")
    output = await warm.run("fetch", url, "-o", "page.md")
    assert (
        output.code == 0
        and output.out.startswith("page.md: about ")
        and "MARK-static-1" in (work / "page.md").read_text()
    )
    picture = await warm.run("see", url, "-o", "page.png")
    assert picture.code == 0 and (work / "page.png").read_bytes().startswith(b"\x89PNG")
    full = await warm.run("fetch", url, "-o", "/dev/full", env={"CLAUDECODE": "0", "SEARCH_MCP_DAEMON": "yes"})
    assert full.code == 1 and full.err == "Error: /dev/full cannot be written: No space left on device.\n"
    assert (await warm.run("fetch", url, "-o", "no/page.md")).err.endswith("The folder of no/page.md does not exist.\n")
    assert (await warm.run("fetch", url, "-o", "../page.md")).code == 3
    (work / "note.md").write_text("The moon pulls.")
    assert "moon" in (await warm.run("read-doc", "note.md")).out
    assert len(warm.servers()) == 1


async def test_eight_first_commands_start_one_server(warm: Warm, site: Site) -> None:
    answers = await asyncio.gather(*(warm.run("fetch", site.url(f"/static/{number}")) for number in range(8)))
    for number, answer in enumerate(answers):
        assert answer.code == 0 and f"volume {number}\n" in answer.out, answer.err
    assert len(warm.servers()) == 1


async def test_nothing_is_left_of_a_killed_server_and_the_next_command_is_answered(warm: Warm, site: Site) -> None:
    await warm.run("fetch", site.url("/spa/1"), "--render", "browser")
    processes = warm.processes()
    assert chromium_of(warm.servers()[0])
    warm.servers()[0].kill()
    await until(lambda: not alive(processes), limit_s=SOON_S)
    again = await warm.run("fetch", site.url("/static/1"), "--max-age-hours", "0")
    assert again.code == 0 and "MARK-static-1" in again.out and len(warm.servers()) == 1


async def test_a_command_whose_server_is_killed_is_answered_here(warm: Warm, site: Site) -> None:
    command = await warm.start_hanging("fetch", site.url("/api/hang"), env={"SEARCH_MCP_TOOL_TIMEOUT": "10"})
    warm.servers()[0].kill()
    _, error = await command.communicate()
    assert command.returncode == 4 and b"Traceback" not in error and not warm.servers()


async def test_a_killed_browser_is_replaced(warm: Warm, site: Site) -> None:
    await warm.run("fetch", site.url("/spa/1"), "--render", "browser")
    browsers = chromium_of(warm.servers()[0])
    for browser in browsers:
        browser.kill()
    again = await warm.run("fetch", site.url("/spa/2"), "--render", "browser")
    assert again.code == 0 and len(warm.servers()) == 1


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
async def test_the_end_of_a_command_cancels_its_call(warm: Warm, site: Site, number: signal.Signals) -> None:
    command = await warm.start_hanging("fetch", site.url("/api/hang"))
    command.send_signal(number)
    assert await command.wait() == (-9 if number == signal.SIGKILL else 130)
    await until(lambda: warm.status()["commands"] == 0, limit_s=SOON_S)


@pytest.mark.thorough
async def test_a_moved_data_folder_and_a_changed_configuration_have_another_server(warm: Warm, site: Site) -> None:
    config = warm.folder / "config.toml"
    config.write_text("")
    variables, url = {"SEARCH_MCP_CONFIG": str(config)}, site.url("/static/1")
    await warm.run("fetch", url, env=variables)
    (first,) = warm.servers()
    shutil.move(warm.folder / "data", warm.folder / "moved")
    assert (await warm.run("fetch", url, env=variables)).code == 0 and (warm.folder / "data").is_dir()
    await until(lambda: not alive([first]), limit_s=SOON_S)
    await warm.run("fetch", url, env=variables)
    (second,) = warm.servers()
    config.write_text('allow_nets = "10.0.0.0/8"\n')
    assert (await warm.run("fetch", url, env=variables)).code == 0
    await until(lambda: not alive([second]), limit_s=SOON_S)
    await warm.run("fetch", url, env=variables | {"SEARCH_MCP_LANGUAGE": "de"})
    await warm.run("fetch", url, env=variables)
    assert len(warm.servers()) == 2


@pytest.mark.parametrize("secret", [False, pytest.param(True, marks=pytest.mark.thorough)])
async def test_a_configuration_is_that_of_the_first_command_too(warm: Warm, site: Site, secret: bool) -> None:
    config, key = warm.folder / "config.toml", warm.folder / "key"
    config.write_text('acting = "act"\n' if secret else "")
    key.write_text(base64.b64encode(bytes(32)).decode())
    variables = {"SEARCH_MCP_CONFIG": str(config), "SEARCH_MCP_PROFILE_KEY_FILE": str(key)}
    await warm.run("server", "start", env=variables)
    (server,) = warm.servers()
    if secret:
        key.write_text(base64.b64encode(bytes(range(32))).decode())
    else:
        config.write_text('acting = "act"\n')
    acted = await warm.run("act", f"open {site.url('/acting/form')}", env=variables)
    assert acted.code == 0, acted.err
    assert "no warm server ran it: the code, configuration or data folder" in acted.err
    await until(lambda: not alive([server]), limit_s=SOON_S)


@pytest.mark.thorough
async def test_each_command_warns_that_nothing_is_kept(warm: Warm, site: Site) -> None:
    file = warm.folder / "data"
    file.write_text("")
    for _ in range(2):
        output = await warm.run("fetch", site.url("/static/1"), env={"SEARCH_MCP_LOG_LEVEL": "warning"})
        assert output.code == 0 and "continuing without the cache" in output.err


async def test_all_servers_are_shown_and_stopped(warm: Warm) -> None:
    assert (await warm.run("server", "stop", "--all")).code == 1
    for language in ("de", "fr"):
        await warm.run("server", "start", env={"SEARCH_MCP_LANGUAGE": language})
    shown = (await warm.run("server", "status", "--all", "--json")).out.splitlines()
    assert {json.loads(line)["process"] for line in shown} == {server.pid for server in warm.servers()}
    assert len(shown) == 2 and (await warm.run("server", "stop", "--all")).code == 0
    await until(lambda: not warm.processes(), limit_s=SOON_S)


async def test_two_versions_at_once_have_two_servers(warm: Warm, site: Site) -> None:
    other = warm.folder / "other"
    other.mkdir()
    for package in ("scraper", "browsers"):
        (other / package).symlink_to(REPOSITORY / package)
    versions = [{"PYTHONPATH": str(REPOSITORY)}, {"PYTHONPATH": str(other)}]
    for version in versions:
        for _ in range(2):
            assert "volume 1\n" in (await warm.run("fetch", site.url("/static/1"), env=version)).out
    assert len(warm.servers()) == 2
    opened = await warm.run("browse", f"open {site.url('/acting/form')}", env=versions[0])
    session = re.findall(r"^Session (\w+):", opened.out, re.MULTILINE)[0]
    codes = [(await warm.run("browse", "--session", session, "look", env=version)).code for version in versions]
    assert codes == [0, 5]


@pytest.mark.parametrize("inodes", [1, 2])
def test_a_command_is_answered_where_the_runtime_folder_has_no_space(warm: Warm, site: Site, inodes: int) -> None:
    full = warm.folder / "full"
    full.mkdir(mode=0o700)
    mount = f"mount -t tmpfs -o mode=700,nr_inodes={inodes} tmpfs {full}"
    if (
        not shutil.which("unshare")
        or subprocess.run(["unshare", "-rm", "sh", "-c", mount], capture_output=True).returncode
    ):
        pytest.skip("this machine mounts no file system for tests")
    command = shlex.join([sys.executable, *ENTRY, "browse", f"open {site.url('/acting/form')}"])
    made = f"mkdir -m 700 {full}/search-mcp;" if inodes > 1 else ""
    output = subprocess.run(
        ["unshare", "-rm", "sh", "-c", f"{mount}; {made} {command}"],
        env={**os.environ, "PYTHONPATH": str(REPOSITORY), **warm.variables, "XDG_RUNTIME_DIR": str(full)},
        cwd=warm.folder / "work",
        capture_output=True,
        text=True,
    )
    assert output.returncode == 0 and 'textbox "Name"' in output.stdout and not warm.servers()
    assert "no warm server ran it: " in output.stderr and "No space left" in output.stderr


async def test_the_server_is_started_shown_and_stopped(warm: Warm) -> None:
    assert (await warm.run("server", "status")).code == 1
    started = await warm.run("server", "start", "--json")
    assert json.loads(started.out)["process"] == warm.servers()[0].pid
    assert (await warm.run("server", "stop")).code == 0
    await until(lambda: not warm.processes(), limit_s=SOON_S)
    assert [file.name for file in (warm.folder / "run" / "search-mcp").iterdir()] == ["lock"]


@pytest.mark.thorough
async def test_commands_of_people_have_processes_of_their_own(warm: Warm, site: Site) -> None:
    for variables in ({"CLAUDECODE": "0"}, {"SEARCH_MCP_DAEMON": "no"}):
        assert (await warm.run("fetch", site.url("/static/1"), env=variables)).code == 0
    assert not warm.servers() and not list((warm.folder / "run").iterdir())


async def test_an_idle_server_ends_its_browsers_and_then_itself(
    warm: Warm, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    def start(listener: int, path: str) -> None:
        limits = "w.SERVICES_IDLE_S, w.SERVER_IDLE_S, w._CHECK_S = 2, 12, .2"
        code = f"import scraper.cli.warm_server as w; {limits}; w.main()"
        command = [sys.executable, "-P", "-c", code, str(listener), path, "scraper.cli.warm_server", path]
        variables = os.environ | warm.variables
        started.append(subprocess.Popen(command, pass_fds=(listener,), start_new_session=True, env=variables))

    started: list[subprocess.Popen[bytes]] = []
    for name, value in warm.variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(warm_client, "_start", start)
    warm_client.connect().close()
    await warm.run("fetch", site.url("/spa/1"), "--render", "browser")
    (server,) = warm.servers()
    await until(lambda: not alive(server.children(recursive=True)), limit_s=SOON_S)
    # It has started itself anew, without the modules of the browsers.
    await until(lambda: server.memory_info().rss < 80_000_000, limit_s=SOON_S)
    again = await warm.run("browse", f"open {site.url('/acting/found')}", "--marked")
    assert re.search("^Session .* it ends (12 s|15 min) after", again.out, re.MULTILINE)
    assert again.code == 0 and warm.servers() == [server]
    await asyncio.sleep(4)
    assert chromium_of(server), "the browser of an open session stays"
    await until(lambda: started[0].poll() is not None, limit_s=60)
    assert [file.name for file in (warm.folder / "run" / "search-mcp").iterdir()] == ["lock"]


@pytest.mark.full_size
async def test_three_hundred_calls_at_once_are_answered(warm: Warm, site: Site) -> None:
    url = site.url("/static/1")
    await warm.run("fetch", url)
    answers = await asyncio.gather(*(warm.run("fetch", url) for _ in range(300)))
    assert {plain(answer.out) for answer in answers} == {plain(answers[0].out)} and answers[0].code == 0
    assert len(warm.servers()) == 1


def session_of(text: str) -> str:
    found = re.search(r"^Session ([0-9a-f]{6}): go on with --session \1", text, re.MULTILINE)
    assert found, text
    return found[1]


async def test_sessions_go_on_in_their_working_tree_only(warm: Warm, site: Site) -> None:
    other = warm.folder / "other"
    other.mkdir()
    (warm.folder / "work" / ".git").mkdir()
    (warm.folder / "work" / "part").mkdir()
    session = session_of((await warm.run("browse", f"open {site.url('/acting/form')}")).out)
    typed = await warm.run("browse", "--session", session, 'type "Name" = Ann', cwd=warm.folder / "work" / "part")
    assert typed.code == 0 and '= "Ann"' in typed.out and "Session" not in typed.out
    for lost in (
        await warm.run("browse", "--session", session, "look", cwd=other),
        await warm.run("browse", "--session", "abcdef", "look"),
        await warm.run("browse", "--session", session, "look", "--no-daemon"),
    ):
        assert (lost.code, lost.out) == (5, "") and "search-mcp browse" in lost.err
    opened = [await warm.run("browse", f"open {site.url('/acting/found')}") for _ in range(3)]
    assert [(await warm.run("browse", "--session", session_of(one.out), "look")).code for one in opened] == [0] * 3
    assert (await warm.run("browse", "--session", session, "look")).code == 5
    (server,) = warm.servers()
    server.kill()
    assert (await warm.run("browse", "--session", session_of(opened[0].out), "look")).code == 5


async def test_browse_reads_and_act_sends(warm: Warm, site: Site) -> None:
    url = site.url("/acting/form")
    for variables, code in (({}, 3), ({"SEARCH_MCP_ACTING": "act"}, 0)):
        opened = await warm.run("browse", f"open {url}", env=variables)
        session = session_of(opened.out)
        sent = await warm.run("browse", "--session", session, 'click "Order"', env=variables)
        assert sent.code == 3 and "`search-mcp act` may do it" in sent.err
        acted = await warm.run("act", "--session", session, 'type "Name" = Ann', 'click "Order"', env=variables)
        assert acted.code == code, acted.err
        assert ("received POST Ann" in acted.out) is (code == 0)


async def test_the_client_reads_the_file_that_a_step_of_a_session_uploads(warm: Warm, site: Site) -> None:
    work = warm.folder / "work"
    (work / "note.md").write_text("The moon pulls.")
    variables = {"SEARCH_MCP_ACTING": "act", "SEARCH_MCP_DOCUMENT_ROOT": str(work)}
    session = session_of((await warm.run("act", f"open {site.url('/acting/files')}", env=variables)).out)
    sent = await warm.run("act", "--session", session, 'upload "Scan" = note.md', "look log", env=variables)
    assert sent.code == 0 and "note.md" in sent.out and "The moon pulls." in sent.out, sent
    missing = await warm.run("act", "--session", session, 'upload "Scan" = none.md', env=variables)
    assert missing.code == 1 and "none.md cannot be read: No such file" in missing.err
    outside = await warm.run("act", "--session", session, 'upload "Scan" = ../run', env=variables)
    assert outside.code != 0 and "cannot be read" not in outside.err
