"""Client of one Valkey or Redis server, with time limits and reconnection."""

import asyncio
import contextlib
import hashlib
import itertools
import logging
import math
import random
import secrets
import time
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from redis import exceptions as redis_errors
from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

from scraper.values.text import read_file, read_table

log = logging.getLogger(__name__)

_PARTS = read_file(__package__, "scripts.lua").split("\n--- ")[1:]
SCRIPTS: Mapping[str, str] = {name: text for name, _, text in (part.partition("\n") for part in _PARTS)}
_DIGESTS = {name: hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest() for name, text in SCRIPTS.items()}
"""SHA-1 digests of the scripts, by which the service calls them."""


Word = str | bytes | int | float

ASSUMED_SERVERS = 2
"""Servers assumed before the first count: an operator who configures shared state has more than one."""
COMMAND_S = 1.0
"""Seconds. Time limit of a command. A command takes 0.2 ms. With this limit, the farthest data center still answers in
time, and a service that is down costs one second once."""
CONNECT_S = 4.0
"""Seconds. Time limit of connecting, login and checks, which take several round trips."""
SLOWDOWN = 8
"""Multiple of the average command time, as the time limit on slow networks. A new connection takes four round trips,
and slow networks vary."""
HEARTBEAT_S = 3.0
FIRST_RETRY_S = 0.25
"""Seconds. Mean pause after the first failed attempt to connect; it doubles up to `LAST_RETRY_S`."""
LAST_RETRY_S = 3.0
"""Seconds. Maximum mean pause between two attempts to connect, as long as a heartbeat. With ten, one server of two
found the service eight seconds later than the other. The service was back after six, and meanwhile both servers read
the same pages."""
SLOW_S = 0.05
"""Seconds. A slower command delays a fetch noticeably."""
_CONNECTIONS = 32
_MAX_QUEUED = 4_000
"""Commands sent without waiting. Beyond this the newest are dropped; their keys expire by themselves."""
_PIPELINE = 64
_LAST_WEIGHT = 0.1

_FAILURES = (redis_errors.RedisError, OSError, TimeoutError)


class ValkeyUnavailableError(Exception):
    """Valkey is unreachable, too slow or refuses commands; the caller continues without shared state."""


class ValkeyClient:
    """Run scripts and commands and wait for their results; queue those without a result, and send them in order."""

    def __init__(self, url: str) -> None:
        """Use the service at `url`; connect on first use."""
        parts = urlsplit(url)
        address = parts.path if parts.scheme == "unix" else f"{parts.hostname}:{parts.port or 6379}"
        self.where = f"The shared state at {address}"
        self.name = secrets.token_hex(6)
        """Name of this server."""
        self.servers = ASSUMED_SERVERS
        """Number of servers last seen alive, including this one."""
        self.is_available = False
        """True if the service answered last time. Otherwise no caller waits for it."""
        self.problem: str | None = f"{self.where} has not answered yet."
        self.note: str | None = None
        self.command_s = math.nan
        self.on_heartbeat: Callable[[], Awaitable[None]] | None = None
        """Awaited when the service is found, and then with each heartbeat."""
        self.on_connected: Callable[[], None] = lambda: None
        """Called when the service is found, before any other command."""
        pool = BlockingConnectionPool.from_url(
            url.replace("valkey", "redis", 1) if url.startswith("valkey") else url,
            max_connections=_CONNECTIONS,
            timeout=CONNECT_S,
            # redis-py would use asyncio.wait_for, which before Python 3.12 can swallow a cancellation: a canceled call
            # would continue. Each command has a time limit of its own.
            socket_timeout=None,
            socket_connect_timeout=CONNECT_S,
            retry=Retry(NoBackoff(), 0),
            # The older protocol: a service that knows no other gets an error text of our own.
            protocol=2,
        )
        self._redis = Redis.from_pool(pool)
        # The type of a result depends on the command, which the annotations of redis-py cannot express.
        self._execute: Callable[..., Awaitable[Any]] = self._redis.execute_command
        self._queue: deque[tuple[Word, ...]] = deque()
        self._queued = asyncio.Event()
        self._lost = asyncio.Event()
        self._first = asyncio.Event()
        self._tasks = [asyncio.create_task(self._maintain()), asyncio.create_task(self._send_queue())]

    async def wait_connected(self, limit_s: float) -> None:
        """Wait until the service has answered or failed for the first time, at most `limit_s` seconds."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(limit_s):
                await self._first.wait()

    def key(self, kind: str, name: str) -> str:
        """Return the full name of a key; keys with equal text in the braces have the same hash slot."""
        return f"search-mcp:{kind}:{{{name}}}"

    async def run(self, script: str, keys: Sequence[str], *words: Word) -> Any:
        """Run a script and return its result.

        Raises ValkeyUnavailableError if Valkey is down, too slow or answers with an error.
        """
        arguments = (len(keys), *keys, *words)
        try:
            return await self.command("EVALSHA", _DIGESTS[script], *arguments)
        except redis_errors.NoScriptError:
            return await self.command("EVAL", SCRIPTS[script], *arguments)

    async def command(self, *words: Word) -> Any:
        """Run a command and return its result.

        Raises ValkeyUnavailableError if Valkey is down, too slow or answers with an error; NoScriptError passes.
        """
        if not self.is_available:
            raise ValkeyUnavailableError
        started_at = time.monotonic()
        try:
            async with asyncio.timeout(self._limit_s()):
                answer = await self._execute(*words)
        except redis_errors.NoScriptError:
            raise
        except _FAILURES as error:
            self._note_lost(error)
            raise ValkeyUnavailableError from None
        self._note_time(time.monotonic() - started_at)
        return answer

    def run_later(self, script: str, keys: Sequence[str], *words: Word) -> None:
        """Queue a script; it is lost if the service is down."""
        self.send("EVALSHA", _DIGESTS[script], len(keys), *keys, *words)

    def send(self, *words: Word) -> None:
        """Queue a command; it is lost if the service is down."""
        if self.is_available and len(self._queue) < _MAX_QUEUED:
            self._queue.append(words)
            self._queued.set()

    async def close(self) -> None:
        """Send the queue, within the limit of a command, and disconnect."""
        with contextlib.suppress(*_FAILURES):
            async with asyncio.timeout(self._limit_s()):
                while self.is_available and self._queue:
                    await self._send_batch()
        self.is_available = False
        for task in self._tasks:
            task.cancel()
        await asyncio.wait(self._tasks)
        with contextlib.suppress(*_FAILURES):
            async with asyncio.timeout(COMMAND_S):
                await self._redis.aclose()

    async def _maintain(self) -> None:
        pause_s = FIRST_RETRY_S
        while True:
            try:
                async with asyncio.timeout(CONNECT_S):
                    await self._connect()
            except (*_FAILURES, IncompatibleServiceError) as error:
                self._note_lost(error)
                # Servers that lost it together must not reconnect together.
                await asyncio.sleep(pause_s * random.uniform(0.5, 1.5))
                pause_s = min(2 * pause_s, LAST_RETRY_S)
                continue
            pause_s = FIRST_RETRY_S
            log.info("shared state usable: %s", self.where)
            self._lost.clear()
            self.is_available, self.problem = True, None
            self._first.set()
            self.on_connected()
            while self.is_available:
                if self.on_heartbeat is not None:
                    await self.on_heartbeat()
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(HEARTBEAT_S):
                        await self._lost.wait()

    async def _connect(self) -> None:
        info = await self._redis.info()
        version = str(info.get("redis_version", ""))
        if tuple(int(part) for part in version.split(".")[:2] if part.isdecimal()) < _LEAST_VERSION:
            least = ".".join(map(str, _LEAST_VERSION))
            raise IncompatibleServiceError(f"is version {version[:20] or 'unknown'}; {least} or newer is needed")
        if info.get("role") not in (None, "master"):
            raise IncompatibleServiceError("is a replica, which takes no writes")
        self.note = None
        is_evicting = str(info.get("maxmemory_policy", "")).startswith(("allkeys", "volatile"))
        if is_evicting and info.get("maxmemory") not in (0, "0", None):
            self.note = "It may evict what servers agreed on: set its maxmemory-policy to noeviction."
        loading = self._redis.pipeline(transaction=False)
        for text in SCRIPTS.values():
            loading.execute_command("SCRIPT", "LOAD", text)
        await loading.execute()
        started_at = time.monotonic()
        # It may answer but refuse writes.
        await self._redis.set(self.key("greeting", "all"), 1, px=1_000)
        self._note_time(time.monotonic() - started_at)

    async def _send_queue(self) -> None:
        while True:
            await self._queued.wait()
            try:
                async with asyncio.timeout(self._limit_s()):
                    await self._send_batch()
            except _FAILURES as error:
                self._note_lost(error)
            if not self._queue:
                self._queued.clear()

    async def _send_batch(self) -> None:
        pipeline = self._redis.pipeline(transaction=False)
        for _ in range(min(_PIPELINE, len(self._queue))):
            pipeline.execute_command(*self._queue.popleft())
        for answer in await pipeline.execute(raise_on_error=False):
            if isinstance(answer, _FAILURES):
                raise answer

    def _note_lost(self, error: Exception) -> None:
        problem = _describe_problem(error, self.where)
        if self.is_available or problem != self.problem:
            log.warning("continuing without the shared state: %s", problem)
        self.is_available, self.problem = False, problem
        self._queue.clear()
        self._lost.set()
        self._first.set()

    def _limit_s(self) -> float:
        usual_s = 0.0 if math.isnan(self.command_s) else self.command_s
        return min(CONNECT_S, max(COMMAND_S, SLOWDOWN * usual_s))

    def _note_time(self, seconds: float) -> None:
        usual = seconds if math.isnan(self.command_s) else self.command_s
        self.command_s = usual + _LAST_WEIGHT * (seconds - usual)


_LEAST_VERSION = (7, 0)
"""Oldest version that is tested."""

_PROBLEMS = read_table(__package__, "problems.toml")


class IncompatibleServiceError(Exception):
    """The service answers but cannot be used; the message says why."""


def _describe_problem(error: Exception, where: str) -> str:
    """Return the problem in one sentence without secrets; `where` names the service."""
    if isinstance(error, IncompatibleServiceError):
        return f"{where} {error}."
    classes = {one.__name__ for one in type(error).__mro__}
    by_text = (sentence for text, sentence in _PROBLEMS["by_text"].items() if text in str(error))
    by_type = (sentence for name, sentence in _PROBLEMS["by_type"].items() if name in classes)
    unknown = f"answers with an error ({type(error).__name__})"
    return f"{where} {next(itertools.chain(by_text, by_type), unknown)}."
