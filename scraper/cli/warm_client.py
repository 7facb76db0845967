"""Client of the warm server: send it a command, start it if needed, and print the answer.

Standard library only, because the imports of the commands take longer than a warm answer.
"""

import contextlib
import errno
import fcntl
import hashlib
import json
import os
import select
import signal
import socket
import stat
import struct
import sys
import time
from collections.abc import Iterator, Sequence
from typing import Any

AGENT_VARIABLES = (
    "AI_AGENT CLAUDECODE CODEX_SANDBOX CODEX_SANDBOX_NETWORK_DISABLED CURSOR_AGENT GEMINI_CLI SEARCH_MCP_AGENT"
).split()
"""Variables that coding agents set for their commands. Sources: the documentation of each agent, and the package
detect-agent of Vercel, November 2026."""
SWITCH = "SEARCH_MCP_DAEMON"
_COMMANDS = frozenset(
    "act browse changes compare extract extract-structured fetch fetch-batch instant-answer map read-doc research "
    "search see web-search".split()
)
"""Commands that the server runs; those that read standard input or files leave it, as do flags of settings and help."""
_STEPS = ("act", "browse")
"""Commands that are not repeated, because their steps may change something on a site."""
_NAMES = ("HOME", "PLAYWRIGHT_BROWSERS_PATH", "TZ", "XDG_CACHE_HOME", "XDG_CONFIG_HOME")
_PREFIXES = ("SEARCH_MCP_", "PG", "SSL_CERT_")
"""Variables that the server reads: settings, PostgreSQL's client, certificate authorities."""
_OFF = ("", "0", "no", "false")
_START_S, _SILENCE_S = 30.0, 10.0
"""Seconds for the first byte of a server that was just started, and of an older one: longer, and it hangs."""
_SIGNS_S = 15.0
"""Seconds between further bytes: one is sent every five."""
_LOCK_TRIES = 250
"""Tries, 20 ms apart, for the lock, which a healthy process holds for some milliseconds."""
MAX_SERVERS = 3
_TEMPORARY = "/tmp"  # noqa: S108 - the folder in it must be private
_QUEUE = 512
"""Connections that wait while the server is started."""
_MAX_UPLOAD = 10_000_000
"""Bytes. Tools upload no larger file either."""
SESSION_LOST = 5
causes: list[str] = []
"""Why no server ran the command of this process, if it tried one."""


def is_set(name: str) -> bool:
    """Return True if a variable is set and not off."""
    return os.environ.get(name, "").lower() not in _OFF


def run(words: Sequence[str]) -> int | None:
    """Return the exit code of a command that the server ran, or None if this process must run it."""
    is_agent = any(map(is_set, AGENT_VARIABLES))
    is_wanted = is_set(SWITCH) if os.environ.get(SWITCH) else is_agent
    name = words[0].replace("_", "-") if words else ""
    if not is_wanted or name not in _COMMANDS or not {"-", "-h", "--help", "--no-daemon"}.isdisjoint(words):
        return None
    if sys.stdout is None or sys.stderr is None:
        return None
    received = bytearray()
    numbers = [one for one in (signal.SIGTERM, signal.SIGHUP) if signal.getsignal(one) is signal.SIG_DFL]
    try:
        for number in numbers:
            signal.signal(number, signal.default_int_handler)
        request = {"words": words, "folder": os.getcwd(), "tree": _working_tree(), "is_agent": is_agent}
        answer = _exchange(request, received)
        if "code" in answer:
            return deliver(answer)
        causes.extend(answer.get("causes", ()))
    except KeyboardInterrupt:
        if sys.stderr.isatty():
            print("Canceled.", file=sys.stderr)
        return 130
    except (OSError, ValueError) as error:
        if isinstance(error, TimeoutError):
            # A server that hangs ends when it goes on without its socket; the next command starts another.
            with contextlib.suppress(OSError), starting_lock(path := socket_path()):
                os.unlink(path)
        if received and name in _STEPS:
            text = "The warm server ended during the steps, so its sessions are lost. Some steps may have been done:"
            print(f"Error: {text} look at the site before you repeat them.", file=sys.stderr)
            return SESSION_LOST
        causes.append(str(error) or type(error).__name__)
    for number in numbers:
        signal.signal(number, signal.SIG_DFL)
    return None


def _exchange(request: dict[str, Any], received: bytearray) -> Any:
    """Return the answer to a command; if the server needs files, send the command again with them."""
    received.clear()
    with connect() as peer:
        answer = ask(peer, request, received)
    return _exchange({**request, "uploads": read_files(answer["read"])}, received) if "read" in answer else answer


def socket_path() -> str:
    """Return the path of the socket for this code, data and settings, or raise OSError if the folder is not private."""
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    folder = os.path.join(runtime, "search-mcp") if runtime else f"{_TEMPORARY}/search-mcp-run-{os.getuid()}"
    with contextlib.suppress(FileExistsError):
        os.mkdir(folder, 0o700)
    found = os.lstat(folder)
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or stat.S_IMODE(found.st_mode) & 0o077:
        raise PermissionError(f"{folder} is not a private folder of this user")
    ignored = (SWITCH, "SEARCH_MCP_AGENT")
    settings = {name for name in os.environ if name.startswith(_PREFIXES)}.union(_NAMES).difference(ignored)
    values = [(name, os.environ.get(name)) for name in sorted(settings)]
    # A sandbox may have a network of its own; the server must not lend it another one, nor have its.
    network = os.stat("/proc/self/ns/net").st_ino if os.path.exists("/proc/self/ns/net") else 0
    key = json.dumps([sys.executable, sys.version, __file__, network, values])
    return os.path.join(folder, hashlib.sha256(key.encode()).hexdigest()[:16] + ".sock")


def connect(*, may_start: bool = True) -> socket.socket:
    """Return a connection to the server, started if needed; raise OSError if there is none."""
    path = socket_path()
    try:
        return connect_to(path)
    except (FileNotFoundError, ConnectionRefusedError):
        if not may_start:
            raise
    with starting_lock(path):
        with contextlib.suppress(FileNotFoundError, ConnectionRefusedError):
            return connect_to(path)
        if (count := len(find_servers(path))) >= MAX_SERVERS:
            raise OSError(
                f"{count} warm servers of other settings run. Use the variables of one of them, wait until one ends "
                "(15 minutes without a command), or end one with its variables: search-mcp server stop"
            )
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(path)
            os.chmod(path, 0o600)
            # It listens before the server is started, so that no client has to wait or try again.
            listener.listen(_QUEUE)
            _start(listener.fileno(), path)
        return connect_to(path)


def find_servers(path: str) -> list[str]:
    """Return the sockets with a server beside a socket, under the lock, and remove those without one."""
    folder = os.path.dirname(path)
    found = [os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(".sock")]
    for other in found[:]:
        with socket.socket(socket.AF_UNIX) as peer:
            peer.setblocking(False)
            if peer.connect_ex(other) == errno.ECONNREFUSED:
                os.unlink(other)
                found.remove(other)
    return found


@contextlib.contextmanager
def starting_lock(path: str) -> Iterator[None]:
    """Hold the lock for the start and end of servers during the block; raise OSError if another process keeps it."""
    with open(os.path.join(os.path.dirname(path), "lock"), "w") as lock:
        for _ in range(_LOCK_TRIES):
            with contextlib.suppress(BlockingIOError):
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            time.sleep(0.02)
        else:
            raise OSError(f"another process keeps {lock.name} locked")  # no TimeoutError: no server hangs
        yield


def _start(listener: int, path: str) -> None:
    import subprocess

    # -P: the working folder may contain modules of others.
    command = [sys.executable, "-P", "-m", "scraper.cli.warm_server", str(listener), path]
    null = subprocess.DEVNULL
    subprocess.Popen(command, stdin=null, stdout=null, stderr=null, pass_fds=(listener,), start_new_session=True)


def connect_to(path: str) -> socket.socket:
    """Return a connection to the server of a socket, or raise OSError."""
    peer = socket.socket(socket.AF_UNIX)
    try:
        # Set first: a server that hangs may have a full queue.
        peer.settimeout(_START_S if time.time() - os.stat(path).st_mtime < _START_S else _SILENCE_S)
        peer.connect(path)
        if peer_user(peer) != os.getuid():
            raise PermissionError(f"{path} is the socket of another user")
    except BaseException:
        peer.close()
        raise
    return peer


def peer_user(peer: Any) -> int:
    """Return the id of the user at the other end of a Unix socket."""
    if sys.platform == "linux":
        return int(struct.unpack("3i", peer.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[1])
    # LOCAL_PEERCRED of macOS and the BSDs: version, user and groups.
    return int(struct.unpack_from("Ii", peer.getsockopt(0, 1, 76))[1])


def ask(peer: socket.socket, request: dict[str, Any], received: bytearray | None = None) -> Any:
    """Return the answer to a request, whose bytes go to `received`; raise OSError or ValueError if there is none.

    Exit if standard output was closed and no file is written. The server then cancels the command.
    """
    received = bytearray() if received is None else received
    peer.sendall(json.dumps(request).encode() + b"\n")
    events = select.poll()
    events.register(peer, select.POLLIN)
    is_pipe = stat.S_IFMT(os.fstat(1).st_mode) in (stat.S_IFIFO, stat.S_IFSOCK)
    if is_pipe and not any(word.startswith(("-o", "--output")) for word in request["words"]):
        events.register(1, 0)  # the end of standard output is reported always
    while ready := dict(events.poll((peer.gettimeout() or -1) * 1_000)):
        if peer.fileno() not in ready:
            sys.exit(1)
        if not (chunk := peer.recv(1 << 20)):
            return json.loads(received) or {}
        received += chunk
        peer.settimeout(_SIGNS_S)
    raise TimeoutError("the warm server hangs")


def read_files(paths: dict[str, str]) -> dict[str, str]:
    """Return the content of files by name in base64, read with the rights of this process; exit if one is missing."""
    from base64 import b64encode

    files = {}
    for name, path in paths.items():
        try:
            with open(path, "rb") as file:
                data = file.read(_MAX_UPLOAD + 1)
            if len(data) > _MAX_UPLOAD:
                raise OSError(errno.EFBIG, os.strerror(errno.EFBIG))
        except OSError as error:
            sys.exit(f"Error: {path} cannot be read: {error.strerror}.")
        files[name] = b64encode(data).decode()
    return files


def _working_tree() -> str:
    """Return the folder of the repository around the working folder, or the working folder."""
    folder = here = os.getcwd()
    while not os.path.exists(os.path.join(folder, ".git")):
        if (parent := os.path.dirname(folder)) == folder:
            return here
        folder = parent
    return folder


def deliver(answer: dict[str, Any]) -> int:
    """Write the files of an answer with the rights of this process, print its texts, and return the exit code."""
    notes: dict[str, str] = {}
    try:
        for name, content, note in answer["files"]:
            from base64 import b64decode

            from scraper.cli.output_files import keep_file, replace_file

            notes[note] = (keep_file if note else replace_file)(name, b64decode(content)) or note
    except OSError as error:
        print(f"Error: {name} cannot be written: {error.strerror or error}.", file=sys.stderr)
        return 1
    streams = (sys.stdout, sys.stderr)
    try:
        for stream in streams:
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
        for number, text in answer["printed"]:
            streams[number].write(notes.get(text, text))
        sys.stdout.flush()
    except OSError as error:
        if not isinstance(error, BrokenPipeError):
            print(f"Error: The answer cannot be written: {error.strerror}.", file=sys.stderr)
        # Python would try to write the buffered output again at exit.
        os._exit(1)
    return int(answer["code"]) or int(any(note != kept for note, kept in notes.items()))
