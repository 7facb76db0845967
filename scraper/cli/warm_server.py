"""Warm server: run the commands of this user's clients in one process, with services that stay open between them.

The client that starts it binds the socket, and passes the listening socket and its path.
"""

import asyncio
import base64
import concurrent.futures
import contextlib
import contextvars
import io
import json
import logging
import os
import signal
import socket
import stat
import sys
import time
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

from scraper.background_tasks import on_signals
from scraper.cli import main as command_line
from scraper.cli.callers import LeaveServerError, RemoteCommand, ServicesCall, remote_command
from scraper.cli.tool_output import set_up_log
from scraper.cli.warm_client import peer_user, starting_lock
from scraper.server.lifecycle import ActiveCount, ServicesHolder, ServicesOpenError
from scraper.services import Services
from scraper.settings import Settings, setting_table
from scraper.settings.files import find_config_file
from scraper.tools.model import ToolAnswer

SERVICES_IDLE_S = 120.0
"""Seconds without a call or session after which browsers, driver and workers end."""
SERVER_IDLE_S = 900.0
"""Seconds without a call after which the server ends."""
SESSION_LIFETIME_S = 3_600.0
_USED_AT = "WARM_SERVER_USED_AT"
"""Variable with the time of the last call, by the clock of the machine, for a server that starts itself anew."""
_CHECK_S = 5.0
"""Seconds between two looks at idle services, and between two signs of life for a client."""
_REQUEST_S = 10.0
"""Seconds for the one line of a request."""
_REQUEST_BYTES = 1 << 26
_COMMANDS = 64
"""Commands that run at once; further ones wait for a thread."""
_DRAIN_S = 60.0
"""Seconds that the running commands have to finish when the server ends."""


class _CommandStream(io.TextIOBase):
    """Standard stream in which each command writes to its own answer; other text is discarded."""

    encoding = "utf-8"
    errors = "strict"

    def __init__(self, number: int) -> None:
        self._number = number

    def write(self, text: str) -> int:
        if (command := remote_command.get()) is not None and not command.is_over:
            command.printed.append((self._number, text + ""))
        return len(text)


class WarmServer:
    """Answer the clients of one socket until it is idle, stopped or replaced."""

    def __init__(self, listener: socket.socket, path: str) -> None:
        """Load the settings of the environment, or raise SettingsError."""
        self._listener = listener
        self._path = path
        self._folder = Path.cwd()
        self._settings = Settings.load(os.environ, {}, find_config_file())
        set_up_log(self._settings)
        for handler in logging.getLogger().handlers:
            handler.addFilter(is_wanted)
        os.chdir("/")
        self._has_relative_paths = Settings.load(os.environ, {}, find_config_file()) != self._settings
        self._seen: dict[str, Any] = {}
        with contextlib.suppress(OSError):  # the store reports it
            self._settings.data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._holder = self._new_holder()
        self._threads = concurrent.futures.ThreadPoolExecutor(_COMMANDS, thread_name_prefix="command")
        self._stop = asyncio.Event()
        self._active = ActiveCount()
        self._started_at = time.monotonic()
        self._used_at = float(os.environ.pop(_USED_AT, self._started_at))
        # Now, because the first command may come long after the settings were read.
        self._is_replaced()

    async def serve(self) -> None:
        """Answer clients, then close everything."""
        server = await asyncio.start_unix_server(self._answer, sock=self._listener, limit=_REQUEST_BYTES)
        inode = os.stat(self._path).st_ino
        with on_signals((signal.SIGTERM, signal.SIGINT), self._stop.set):
            while not self._stop.is_set() and self._idle_s() <= SERVER_IDLE_S:
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._stop.wait(), _CHECK_S)
                await self._close_idle_services()
            with contextlib.suppress(OSError), starting_lock(self._path):
                if os.stat(self._path).st_ino == inode:
                    os.unlink(self._path)
            server.close()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._active.none.wait(), _DRAIN_S)
            await self._holder.aclose()

    def _new_holder(self) -> ServicesHolder[Services]:
        def factory() -> AbstractAsyncContextManager[Services]:
            limits = {"session_idle_s": SERVER_IDLE_S, "session_lifetime_s": SESSION_LIFETIME_S, "session_id_bytes": 3}
            return Services.open(self._settings, is_lazy=True, browser_options=limits)

        return ServicesHolder(factory)

    def _idle_s(self) -> float:
        if self._active.count:
            self._used_at = time.monotonic()
        return time.monotonic() - self._used_at

    async def _close_idle_services(self) -> None:
        """Close the services after a while without a call or session, and start anew: modules hold 30 MB too."""
        services = self._holder.present()
        if services and self._idle_s() > SERVICES_IDLE_S and not services.browsers.acting.count:
            # A call that arrives meanwhile opens others.
            holder, self._holder = self._holder, self._new_holder()
            await holder.aclose()
            if not self._active.count and not self._stop.is_set():
                with contextlib.suppress(OSError):
                    os.chdir(self._folder)
                    # Clients wait longer for a server that was just started. New ones wait in the queue of the socket.
                    os.utime(self._path)
                    os.environ[_USED_AT] = str(self._used_at)
                    os.execv(sys.executable, sys.orig_argv)

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one client, with a space as a sign of life before and during the command."""
        with contextlib.closing(writer), contextlib.suppress(OSError, ValueError):
            if peer_user(writer.get_extra_info("socket")) != os.getuid():
                return
            async with asyncio.timeout(_REQUEST_S):
                request = json.loads(await reader.readline())
            self._used_at = time.monotonic()
            with self._active.add():
                answer = await self._run(request, reader, writer)
                writer.write(json.dumps(answer).encode())
                writer.close()
                async with asyncio.timeout(_DRAIN_S):
                    await writer.wait_closed()

    async def _run(self, request: dict[str, Any], reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> Any:
        """Return the answer to a request; without a code if its client must run it itself, for its `causes`."""
        folder, loop = Path(request["folder"]), asyncio.get_running_loop()
        if request["words"] == ["stop"]:
            self._stop.set()
        if request["words"] in (["start"], ["status"], ["stop"]):
            return self._status()
        if self._is_replaced():
            return {"causes": ["the code, configuration or data folder of the server was changed"]}
        if self._has_relative_paths and folder != self._folder:
            return {"causes": ["settings with relative paths are those of another folder"]}
        if not os.access(self._settings.data_dir, os.W_OK | os.X_OK):
            # A process of its own warns that nothing is kept.
            return {"causes": [f"{self._settings.data_dir} cannot be written"]}
        writer.write(b" ")
        gone: asyncio.Future[Any] = asyncio.ensure_future(reader.read(1))
        calls: list[concurrent.futures.Future[ToolAnswer]] = []

        def run(call: ServicesCall) -> ToolAnswer:
            """Run a call in the event loop, from the thread of its command, until the client is gone."""
            calls.append(asyncio.run_coroutine_threadsafe(self._call(call), loop))
            if gone.done():
                calls[-1].cancel()
            return calls[-1].result()

        command = RemoteCommand(folder, request["is_agent"], request["tree"], run, self._settings)
        if (sent := request.get("uploads")) is not None:
            command.uploads = {name: base64.b64decode(data) for name, data in sent.items()}
        context = contextvars.Context()
        work: asyncio.Future[Any] = loop.run_in_executor(
            self._threads, context.run, _run_command, command, request["words"]
        )
        while not work.done():
            await asyncio.wait({work, gone}, timeout=_CHECK_S, return_when=asyncio.FIRST_COMPLETED)
            if gone.done():
                for call in calls:
                    call.cancel()
                await asyncio.wait({work})
            writer.write(b" ")
        gone.cancel()
        return work.result()

    async def _call(self, call: ServicesCall) -> ToolAnswer:
        try:
            services = await self._holder.services()
        except ServicesOpenError:
            raise LeaveServerError({"causes": ["the services of the server do not open"]}) from None
        return await call(services)

    def _status(self) -> dict[str, int]:
        services = self._holder.present()
        sessions = 0 if services is None else services.browsers.acting.count
        age_s = round(time.monotonic() - self._started_at)
        return {"process": os.getpid(), "seconds": age_s, "commands": self._active.count - 1, "sessions": sessions}

    def _is_replaced(self) -> bool:
        """Return True, and stop, if code, configuration, secret files or data folder differ from those of the start."""
        modules = [one for name, one in list(sys.modules.items()) if name.startswith(("scraper.", "browsers."))]
        files = [getattr(one, "__file__", None) for one in modules]
        found = {file: _identity(file) for file in files if file}
        found["configuration"] = _identity(self._settings.config_file or find_config_file())
        found["data"] = _identity(self._settings.data_dir)
        # A client removes the socket of a server that hangs.
        found["socket"] = _identity(self._path)
        for setting in setting_table():
            if setting.secret and (file := os.environ.get(setting.file_variable)):
                found[setting.file_variable] = _identity(self._folder / file)
        if all(self._seen.setdefault(name, identity) == identity for name, identity in found.items()):
            return False
        self._stop.set()
        return True


def _run_command(command: RemoteCommand, words: list[str]) -> dict[str, Any]:
    """Run a command in the context of this thread, and return its answer; without a code if it must leave."""
    remote_command.set(command)
    try:
        code = command_line.run(words)
    except LeaveServerError as left:
        return left.args[0] if left.args else {}
    finally:
        command.is_over = True
    files = [(name, base64.b64encode(data).decode(), note) for name, data, note in command.files]
    return {"code": int(code), "printed": command.printed, "files": files}


def is_wanted(record: logging.LogRecord) -> bool:
    """Return False for a warning during a command with `--quiet`."""
    command = remote_command.get()
    return command is None or not command.is_quiet or record.levelno >= logging.ERROR


def _identity(path: str | Path | None) -> tuple[str, int, int, int] | None:
    """Return what changes if a file is edited or replaced, or a folder is replaced; None if there is none."""
    with contextlib.suppress(OSError):
        if path is not None:
            found = os.stat(path)
            changed = found.st_mtime_ns if stat.S_ISREG(found.st_mode) else 0
            return (str(path), found.st_dev, found.st_ino, changed)
    return None


def main() -> None:
    """Serve the clients of the socket in the arguments of this process."""
    number, path = sys.argv[1:3]
    listener = socket.socket(fileno=int(number))
    sys.stdout, sys.stderr = _CommandStream(0), _CommandStream(1)
    command_line.raise_open_files_limit()

    asyncio.run(WarmServer(listener, path).serve())
    # Threads of abandoned commands would delay the end.
    os._exit(0)


if __name__ == "__main__":
    main()
