"""When a command uses the warm server, which server, and what it does without one."""

from __future__ import annotations

import contextlib
import io
import logging
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from scraper.cli import callers, main, reading_commands, warm_client, warm_server
from scraper.cli.callers import LeaveServerError, RemoteCommand, remote_command
from scraper.cli.setting_options import load_settings
from scraper.tools.model import ToolAnswer
from tests.scraper.process import REPOSITORY


@pytest.fixture
def runtime(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Return the private folder of sockets, of an agent whose servers do not start."""
    folder = Path(tempfile.mkdtemp(dir="/tmp"))
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(folder))
    monkeypatch.setenv("CLAUDECODE", "1")
    monkeypatch.setattr(warm_client, "_start", lambda *_: None)
    monkeypatch.setattr(warm_client, "causes", causes := list[str]())
    monkeypatch.setattr(reading_commands, "causes", causes)
    yield folder / "search-mcp"
    shutil.rmtree(folder)


@pytest.fixture
def remote(tmp_path: Path) -> Iterator[RemoteCommand]:
    """Run a command as the warm server does."""

    def run(call: Any) -> ToolAnswer:
        return ToolAnswer("Called.")

    command = RemoteCommand(tmp_path, True, "tree", run, load_settings({}))
    token = remote_command.set(command)
    yield command
    remote_command.reset(token)


def test_only_the_standard_library_is_loaded() -> None:
    code = "import sys; from scraper.cli import warm_client; print(*sys.modules)"
    output = subprocess.run([sys.executable, "-c", code], cwd=REPOSITORY, capture_output=True, text=True, check=True)
    loaded = {name.partition(".")[0] for name in output.stdout.split()}
    assert not loaded & {"click", "asyncio", "dataclasses", "pathlib", "typing_extensions", "browsers", "logging"}
    assert [name for name in output.stdout.split() if name.startswith("scraper.")] == [
        "scraper.cli",
        "scraper.cli.warm_client",
    ]


@pytest.mark.parametrize(
    ("words", "variables"),
    [
        ([], {}),
        (["version"], {}),
        (["index", "list"], {}),
        (["fetch", "-"], {}),
        (["fetch", "example.com", "--no-daemon"], {}),
        (["fetch", "--help"], {}),
        (["fetch", "example.com"], {"SEARCH_MCP_DAEMON": "no"}),
        (["fetch", "example.com"], {"CLAUDECODE": "0"}),
    ],
)
def test_these_commands_use_no_server(
    runtime: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], variables: dict[str, str]
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert warm_client.run(words) is None and not runtime.exists()


def test_a_server_that_does_not_start_leaves_the_command_here(runtime: Path) -> None:
    handlers = signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGHUP)
    for _ in range(2):
        # The second one finds a socket without a listener.
        assert warm_client.run(["browse", "open example.com"]) is None
    assert [file.suffix for file in sorted(runtime.iterdir())] == [".sock", ""]
    # A signal ends its imports without a traceback.
    assert (signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGHUP)) == handlers


def test_a_full_queue_of_a_server_that_hangs_leaves_the_command_here(runtime: Path) -> None:
    path = warm_client.socket_path()
    with socket.socket(socket.AF_UNIX) as listener, socket.socket(socket.AF_UNIX) as first:
        listener.bind(path)
        listener.listen(0)
        first.connect(path)
        assert warm_client.run(["fetch", "example.com"]) is None


def test_a_server_that_hangs_is_left_soon_and_replaced(runtime: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = Path(warm_client.socket_path())
    monkeypatch.setattr(warm_client, "_START_S", 0.0)
    monkeypatch.setattr(warm_client, "_SILENCE_S", 0.05)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen()
        assert warm_client.run(["fetch", "example.com"]) is None
    assert not path.exists()


def test_a_fourth_server_is_not_started(runtime: Path, capsys: pytest.CaptureFixture[str]) -> None:
    warm_client.socket_path()
    with contextlib.ExitStack() as stack:
        for name in ("one", "two", "three", "stale"):
            listener = stack.enter_context(socket.socket(socket.AF_UNIX))
            listener.bind(str(runtime / f"{name}.sock"))
            if name != "stale":
                listener.listen()
        assert warm_client.run(["fetch", "example.com"]) is None
        assert {file.stem for file in runtime.glob("*.sock")} == {"one", "two", "three"}
        # The session of this process ends with it, and each error says why.
        assert main.run(["browse", "--session", "3fa92c", "look"]) == 5 and main.run(["browse", "look"]) == 2
        lines = capsys.readouterr().err.splitlines()
        assert all("3 warm servers of other settings run" in line and "server stop" in line for line in lines[:2])


def test_a_lock_that_another_process_keeps_leaves_the_command_here(
    runtime: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = warm_client.socket_path()
    monkeypatch.setattr(warm_client, "_LOCK_TRIES", 2)
    with warm_client.starting_lock(path):
        assert warm_client.run(["fetch", "example.com"]) is None
    assert "keeps" in warm_client.causes[0] and not Path(path).exists()


@pytest.mark.parametrize("words", [["fetch", "a.example"], ["fetch", "a.example", "-o", "a.md"]])
def test_a_closed_pipe_cancels_a_command_without_a_file(words: list[str]) -> None:
    code = (
        "import socket, sys; from scraper.cli.warm_client import ask; "
        f"peer = socket.socket(fileno=int(sys.argv[1])); peer.settimeout(0.5); ask(peer, {{'words': {words}}})"
    )
    ours, theirs = socket.socketpair()
    command = [sys.executable, "-c", code, str(ours.fileno())]
    with ours, theirs:
        process = subprocess.Popen(
            command, cwd=REPOSITORY, stdout=subprocess.PIPE, stderr=subprocess.PIPE, pass_fds=(ours.fileno(),)
        )
        assert process.stdout is not None
        process.stdout.close()
        _, error = process.communicate()
    assert process.returncode == 1 and (b"TimeoutError" in error) is ("-o" in words)


def test_a_quiet_command_gets_no_warnings_of_the_server(remote: RemoteCommand) -> None:
    levels = (logging.WARNING, logging.ERROR)
    records = [logging.LogRecord("scraper", level, "", 1, "text", None, None) for level in levels]
    assert list(map(warm_server.is_wanted, records)) == [True, True]
    remote.is_quiet = True
    assert list(map(warm_server.is_wanted, records)) == [False, True]


@pytest.mark.skipif(sys.platform != "linux" or os.getuid() != 0, reason="only root of Linux makes such a network")
def test_a_sandbox_with_another_network_has_another_server(runtime: Path) -> None:
    code = "from scraper.cli import warm_client; print(warm_client.socket_path())"
    command = ["unshare", "--net", sys.executable, "-c", code]
    if subprocess.run(["unshare", "--net", "true"], check=False).returncode:
        pytest.skip("this container forbids it")
    inside = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=True).stdout.strip()
    assert Path(inside).parent == runtime and inside != warm_client.socket_path()


def test_ctrl_c_ends_the_printing(runtime: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(_: Any) -> int:
        raise KeyboardInterrupt

    ours, theirs = socket.socketpair()
    monkeypatch.setattr(warm_client, "connect", lambda: ours)
    monkeypatch.setattr(warm_client, "deliver", interrupt)
    theirs.sendall(b'{"code": 0}')
    theirs.shutdown(socket.SHUT_WR)
    with theirs:
        assert warm_client.run(["fetch", "example.com"]) == 130


@pytest.mark.parametrize("mode", [0o755, 0o770])
def test_a_folder_that_others_can_use_is_refused(runtime: Path, mode: int) -> None:
    runtime.mkdir()
    runtime.chmod(mode)
    with pytest.raises(PermissionError, match="not a private folder"):
        warm_client.socket_path()
    assert warm_client.run(["fetch", "example.com"]) is None and not list(runtime.iterdir())


def test_a_link_or_a_file_is_no_folder(runtime: Path, tmp_path: Path) -> None:
    runtime.symlink_to(tmp_path)
    with pytest.raises(PermissionError):
        warm_client.socket_path()


@pytest.mark.skipif(os.getuid() != 0, reason="only root gives folders away")
def test_a_folder_of_another_user_is_refused(runtime: Path) -> None:
    runtime.mkdir(mode=0o700)
    os.chown(runtime, 12_345, -1)
    assert warm_client.run(["fetch", "example.com"]) is None and not list(runtime.iterdir())


def test_the_socket_of_another_user_is_refused(runtime: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(warm_client.socket_path())
        listener.listen()
        monkeypatch.setattr(warm_client, "peer_user", lambda _: os.getuid() + 1)
        assert warm_client.run(["fetch", "example.com"]) is None
        peer, _ = listener.accept()
        assert peer.recv(1) == b""
        peer.close()


def test_the_user_of_a_peer_is_known() -> None:
    one, other = socket.socketpair()
    with one, other:
        assert warm_client.peer_user(one) == os.getuid()


@pytest.mark.parametrize("runtime_folder", ["/proc/none", "/dev/null", "/tmp/" + "long" * 40])
def test_a_folder_that_cannot_be_used_leaves_the_command_here(
    runtime: Path, monkeypatch: pytest.MonkeyPatch, runtime_folder: str
) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", runtime_folder)
    assert warm_client.run(["fetch", "example.com"]) is None


_VARIABLES = {
    "data": "SEARCH_MCP_DATA",
    "home": "HOME",
    "postgres": "PGPASSWORD",
    "authority": "SSL_CERT_FILE",
    "agent": "SEARCH_MCP_AGENT",
}


@pytest.mark.parametrize("changed", ["code", "data", "home", "postgres", "authority", "agent"])
def test_other_code_data_or_settings_have_another_server(
    runtime: Path, monkeypatch: pytest.MonkeyPatch, changed: str
) -> None:
    before = warm_client.socket_path()
    if changed == "code":
        monkeypatch.setattr(warm_client, "__file__", "/elsewhere/warm_client.py")
    else:
        name = _VARIABLES[changed]
        monkeypatch.setenv(name, "/elsewhere")
    assert (warm_client.socket_path() == before) is (changed == "agent")


@pytest.mark.parametrize(
    ("sent", "shown"),
    [
        ('{"causes": ["the data folder was changed"]}', "no warm server ran it: the data folder was changed. "),
        ("{}", ""),
    ],
)
def test_a_session_is_lost_for_a_cause_if_the_server_leaves_the_command_here(
    runtime: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], sent: str, shown: str
) -> None:
    ours, theirs = socket.socketpair()
    monkeypatch.setattr(warm_client, "connect", lambda: ours)
    theirs.sendall(sent.encode())
    theirs.shutdown(socket.SHUT_WR)
    words = ["browse", "--session", "abcdef", "look"]
    with theirs:
        assert warm_client.run(words) is None
    assert main.run(words) == 5
    assert (shown or "flags of settings begin one") in capsys.readouterr().err


@pytest.mark.parametrize(("sent", "code"), [(b"", None), (b" ", 5)])
def test_steps_are_never_repeated(
    runtime: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], sent: bytes, code: int | None
) -> None:
    ours, theirs = socket.socketpair()
    monkeypatch.setattr(warm_client, "connect", lambda: ours)
    theirs.sendall(sent)
    theirs.shutdown(socket.SHUT_WR)
    with theirs:
        assert warm_client.run(["act", 'click "Buy"']) == code
    assert ("may have been done" in capsys.readouterr().err) is (code == 5)


@pytest.mark.parametrize(
    "words",
    [
        ["fetch", "example.com", "--language", "de"],
        ["fetch", "example.com", "--max-answer-tokens", "900"],
        ["fetch-batch", "-f", "urls.txt"],
        ["browse", "-f", "steps.txt"],
        ["extract-structured", "example.com", "--recipe", "recipe.json"],
        ["read-doc", "note.md"],
    ],
)
def test_files_and_settings_of_a_command_leave_the_server(
    remote: RemoteCommand, tmp_path: Path, words: list[str]
) -> None:
    for name in ("urls.txt", "steps.txt", "recipe.json", "note.md"):
        (tmp_path / name).write_text("The moon pulls.")
    with pytest.raises(LeaveServerError):
        main.run(words)
    assert not remote.printed and not remote.files


def test_the_client_reads_the_files_of_a_session(remote: RemoteCommand, tmp_path: Path) -> None:
    steps = ["browse", "--session", "3fa92c", 'upload "Scan" = note.md', 'upload "Scan" = ../secret.md']
    assert main.run(steps) == 0
    remote.settings = replace(remote.settings, document_root=tmp_path)
    with pytest.raises(LeaveServerError) as needed:
        main.run(steps)
    assert needed.value.args == ({"read": {"note.md": str(tmp_path / "note.md")}},)
    assert main.run(["browse", "--session", "3fa92c", 'upload "Scan" = note.txt: Tides.']) == 0
    remote.uploads = {"note.md": b"The moon pulls."}
    assert main.run(steps) == 0


def test_a_file_that_the_client_cannot_upload_is_named(tmp_path: Path) -> None:
    large = tmp_path / "large.bin"
    large.write_bytes(bytes(10_000_001))
    for path, cause in ((tmp_path / "none.md", "No such file"), (large, "too large")):
        with pytest.raises(SystemExit, match=f"{path.name} cannot be read: .*{cause}"):
            warm_client.read_files({"a": str(path)})


def test_the_server_writes_no_file(remote: RemoteCommand, tmp_path: Path) -> None:
    assert main.run(["search", "tides", "-o", "found.md"]) == 0
    assert [name for name, _, _ in remote.files] == ["found.md"] and not list(tmp_path.iterdir())
    assert not Path("found.md").exists()
    assert main.run(["search", "tides", "-o", "../found.md"]) == 3
    (tmp_path / "folder").mkdir()
    assert main.run(["search", "tides", "-o", "folder"]) == 2
    assert callers.locate("a/b") == tmp_path / "a" / "b"


def test_a_closed_pipe_is_no_error_of_the_command() -> None:
    answer = "{'files': [], 'printed': [(0, 'x' * 1_000_000)], 'code': 0}"
    code = f"from scraper.cli.warm_client import deliver; deliver({answer})"
    pipe = subprocess.PIPE
    process = subprocess.Popen([sys.executable, "-c", code], cwd=REPOSITORY, stdout=pipe, stderr=pipe)
    assert process.stdout is not None and process.stderr is not None
    process.stdout.close()
    assert process.wait() == 1 and process.stderr.read() == b""
    process.stderr.close()


def test_letters_that_the_terminal_lacks_are_escaped(monkeypatch: pytest.MonkeyPatch) -> None:
    buffer = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(buffer, "ascii"))
    monkeypatch.setattr(sys, "stderr", io.TextIOWrapper(io.BytesIO(), "ascii"))
    assert warm_client.deliver({"files": [], "printed": [[0, "ä\ud800"]], "code": 0}) == 0
    assert buffer.getvalue() == b"\\xe4\\ud800"
