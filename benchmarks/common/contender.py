"""Start a contender of a benchmark, let it read pages, and measure the CPU of its processes."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.common.cpu import Account, Usage, open_account

_START_LIMIT_S = 90.0
_LAP_LIMIT_S = 280.0
_STOP_LIMIT_S = 10.0
_POLL_S = 0.02
_LINE_LIMIT_BYTES = 64 * 1024 * 1024

REPOSITORY = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, slots=True)
class Contender:
    """Command of a reader. If it is the client of a server, only the server is measured."""

    name: str
    command: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    server: tuple[str, ...] = ()
    ready_url: str = ""


@dataclass(frozen=True, slots=True)
class Reading:
    """URLs to read, and options of the contender."""

    urls: tuple[str, ...]
    how: str = ""
    at_once: int = 2
    together: bool = False
    """Read all URLs in one call, if the contender has a batch call."""
    trailing_s: float = 0.3
    """Seconds to wait for work after the response (closing contexts, warming tabs), which is part of the cost."""


@dataclass(frozen=True, slots=True)
class Lap:
    """Measurements of one reading."""

    pages: int
    seconds: float
    usage: Usage
    client_s: float
    latencies: tuple[float, ...]
    failures: tuple[tuple[str, str], ...]


class Running:
    """A running contender."""

    def __init__(
        self, process: asyncio.subprocess.Process, account: Account, client: Account | None, log: Path
    ) -> None:
        self._process = process
        self.account = account
        self._client = client
        self._log = log

    async def read(self, reading: Reading) -> Lap:
        """Let the contender read, and return the measurements."""
        before, client_before = self.account.usage(), self._client_s()
        request = {"read": reading.urls, "how": reading.how, "at_once": reading.at_once, "together": reading.together}
        reply = await self._ask(request)
        await asyncio.sleep(reading.trailing_s)
        return Lap(
            pages=len(reading.urls),
            seconds=reply["seconds"],
            usage=self.account.usage() - before,
            client_s=self._client_s() - client_before,
            latencies=tuple(reply["latencies"]),
            failures=tuple((url, what) for url, what in reply["failures"]),
        )

    async def counts(self, pattern: str) -> list[int]:
        """Return the number of distinct matches of a pattern in each text of the last reading."""
        return list((await self._ask({"count": pattern}))["counts"])

    async def texts(self) -> list[str]:
        """Return the texts of the last reading."""
        return list((await self._ask({"give": True}))["texts"])

    async def ready(self) -> None:
        """Wait for the first line of output."""
        await self._answer(_START_LIMIT_S)

    async def _ask(self, request: Mapping[str, Any]) -> dict[str, Any]:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(request).encode() + b"\n")
        await self._process.stdin.drain()
        return await self._answer(_LAP_LIMIT_S)

    async def _answer(self, limit_s: float) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = await asyncio.wait_for(self._process.stdout.readline(), limit_s)
        if not line:
            raise RuntimeError(f"The contender ended. End of its log:\n{_log_tail(self._log)}")
        reply: dict[str, Any] = json.loads(line)
        return reply

    def _client_s(self) -> float:
        return self._client.usage().total_s if self._client is not None else 0.0


@asynccontextmanager
async def running(contender: Contender) -> AsyncIterator[Running]:
    """Run a contender; end all its processes on exit."""
    async with AsyncExitStack() as stack:
        scratch = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="benchmark-")))
        account = stack.enter_context(open_account())
        client: Account | None = None
        if contender.server:
            await stack.enter_async_context(
                running_server(
                    contender.server, contender.environment, account, contender.ready_url, scratch / "server.log"
                )
            )
            client = stack.enter_context(open_account())
        reader = await stack.enter_async_context(
            process_in(contender.command, contender.environment, client or account, scratch / "reader.log", piped=True)
        )
        started = Running(reader, account, client, scratch / "reader.log")
        await started.ready()
        yield started


@asynccontextmanager
async def running_server(
    command: Sequence[str], environment: Mapping[str, str], account: Account, ready_url: str, log: Path
) -> AsyncIterator[asyncio.subprocess.Process]:
    """Run a server inside an account; wait until `ready_url` answers, and stop the server on exit."""
    async with process_in(command, environment, account, log, piped=False) as process:
        await wait_until_ready(ready_url, process, log)
        yield process


async def wait_until_ready(
    url: str, process: asyncio.subprocess.Process, log: Path, limit_s: float = _START_LIMIT_S
) -> None:
    """Poll a URL until it returns any status but 503.

    Raises:
        RuntimeError: the process ended, or the limit passed without a response.
    """
    deadline = time.monotonic() + limit_s
    while time.monotonic() < deadline and process.returncode is None:
        if await asyncio.to_thread(_answers, url):
            return
        await asyncio.sleep(_POLL_S)
    raise RuntimeError(f"{url} did not answer. End of the server's log:\n{_log_tail(log)}")


@asynccontextmanager
async def process_in(
    command: Sequence[str], environment: Mapping[str, str], account: Account, log: Path, *, piped: bool
) -> AsyncIterator[asyncio.subprocess.Process]:
    """Run a command inside an account; end all processes of the account on exit."""
    with log.open("wb") as opened:
        process = await asyncio.create_subprocess_exec(
            *account.command(command),
            cwd=REPOSITORY,
            env={**os.environ, **environment},
            stdin=asyncio.subprocess.PIPE if piped else asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE if piped else opened,
            stderr=opened,
            limit=_LINE_LIMIT_BYTES,
            start_new_session=True,
        )
    account.adopt(process.pid)
    try:
        yield process
    finally:
        await _stop(process, account)


async def _stop(process: asyncio.subprocess.Process, account: Account) -> None:
    """Close its stdin or send TERM, then kill the remaining processes of the account."""
    if process.stdin is not None:
        process.stdin.close()
    elif process.returncode is None:
        process.terminate()
    with suppress(TimeoutError):
        await asyncio.wait_for(process.wait(), _STOP_LIMIT_S)
    deadline = time.monotonic() + _STOP_LIMIT_S
    while (pids := account.pids()) and time.monotonic() < deadline:
        for pid in pids:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        await asyncio.sleep(_POLL_S)


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=2):
            return True
    except urllib.error.HTTPError as error:
        return error.code != 503
    except OSError:
        return False


def _log_tail(log: Path) -> str:
    return log.read_text(errors="replace")[-2000:]
