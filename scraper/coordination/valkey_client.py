"""Client of one Valkey or Redis server, with time limits and reconnection."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import math
import random
import re
import time
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from typing import Any
from urllib.parse import urlsplit

from redis import exceptions as redis_errors
from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

from scraper.coordination.lua_scripts import ALL, LuaScript

log = logging.getLogger(__name__)


Word = str | bytes | int | float

COMMAND_S = 1.0
"""A command takes 0.2 ms; so the farthest data centre still answers, and a dead one costs one second once."""
GREETING_S = 4.0
"""Connecting, logging in and looking around are several round trips."""
PATIENCE = 8
"""So many times as long as usual a command may take: with its connection to be made first it is four round
trips, and a line that is slow is so by fits."""
BEAT_S = 3.0
FIRST_RETRY_S = 0.25
LAST_RETRY_S = 3.0
"""As often as a server says that it lives. With ten, one server of two knew eight seconds later than the
other that it was back after six, and both read the same pages meanwhile."""
SLOW_S = 0.05
"""From here on the shared state costs a fetch more than its own work."""
CONNECTIONS = 32
QUEUED = 4_000
"""Of what is told without waiting: beyond, the newest is dropped and runs out by itself."""
PIPELINE = 64
MEMORY = 0.1
"""Weight of the last command in the usual length."""

_FAILURES = (redis_errors.RedisError, OSError, TimeoutError)


class ValkeyUnavailableError(Exception):
    """The service did not answer: go on alone."""


class ValkeyClient:
    """Runs scripts."""

    def __init__(self, url: str, prefix: str = "search-mcp:") -> None:
        self.where = _place(url)
        self.there = False
        """Whether it answered last time; nobody waits for it while it is not."""
        self.problem: str | None = f"{self.where} has not answered yet."
        self.note: str | None = None
        self.command_s = math.nan
        self.on_beat: Callable[[], Awaitable[None]] = _nothing
        """Awaited when it is found, and then again and again."""
        self.on_back: Callable[[], None] = lambda: None
        """Called when it is found, before anybody else asks it."""
        self._prefix = prefix
        self._redis = _client(url)
        # Its own annotations are of no use here: what a command returns depends on the command.
        self._execute: Callable[..., Awaitable[Any]] = self._redis.execute_command
        self._queue: deque[tuple[Word, ...]] = deque()
        self._queued = asyncio.Event()
        self._lost = asyncio.Event()
        self._first = asyncio.Event()
        self._tasks = [asyncio.create_task(self._keep()), asyncio.create_task(self._tell())]

    async def wait_connected(self, limit_s: float) -> None:
        """Return when it has answered or failed for the first time."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(limit_s):
                await self._first.wait()

    def key(self, kind: str, name: str) -> str:
        """The full name of a key; the braces keep together what belongs together."""
        return f"{self._prefix}{kind}:{{{name}}}"

    async def run(self, script: LuaScript, keys: Sequence[str], *words: Word) -> Any:
        """What a script returns.

        Raises:
            Away: it did not answer.
        """
        if not self.there:
            raise ValkeyUnavailableError
        begun = time.monotonic()
        try:
            async with asyncio.timeout(self._limit_s()):
                answer = await self._evaluated(script, keys, words)
        except _FAILURES as error:
            self._lose(error)
            raise ValkeyUnavailableError from None
        self._took(time.monotonic() - begun)
        return answer

    async def ask(self, *words: Word) -> Any:
        """What a plain command returns.

        Raises:
            Away: it did not answer.
        """
        if not self.there:
            raise ValkeyUnavailableError
        try:
            async with asyncio.timeout(self._limit_s()):
                return await self._execute(*words)
        except _FAILURES as error:
            self._lose(error)
            raise ValkeyUnavailableError from None

    def later(self, script: LuaScript, keys: Sequence[str], *words: Word) -> None:
        """Run a script soon, in the order of these calls; lost when the service is away."""
        self.tell("EVALSHA", script.digest, len(keys), *keys, *words)

    def tell(self, *words: Word) -> None:
        """Send a plain command soon."""
        if self.there and len(self._queue) < QUEUED:
            self._queue.append(words)
            self._queued.set()

    async def close(self) -> None:
        """Send what is queued, within the limit of a command, and let go."""
        with contextlib.suppress(*_FAILURES):
            async with asyncio.timeout(self._limit_s()):
                while self.there and self._queue:
                    await self._send()
        self.there = False
        for task in self._tasks:
            task.cancel()
        await asyncio.wait(self._tasks)
        with contextlib.suppress(*_FAILURES):
            async with asyncio.timeout(COMMAND_S):
                await self._redis.aclose()

    async def _evaluated(self, script: LuaScript, keys: Sequence[str], words: Sequence[Word]) -> Any:
        try:
            return await self._execute("EVALSHA", script.digest, len(keys), *keys, *words)
        except redis_errors.NoScriptError:
            return await self._execute("EVAL", script.text, len(keys), *keys, *words)

    async def _keep(self) -> None:
        """Find it, stay in touch, and begin anew when it is lost."""
        pause_s = FIRST_RETRY_S
        while True:
            try:
                async with asyncio.timeout(GREETING_S):
                    await self._greet()
            except (*_FAILURES, IncompatibleServiceError) as error:
                self._lose(error)
                # Servers that lost it together must not come back together.
                await asyncio.sleep(pause_s * random.uniform(0.5, 1.5))
                pause_s = min(2 * pause_s, LAST_RETRY_S)
                continue
            pause_s = FIRST_RETRY_S
            self._find()
            await self._stay()

    async def _greet(self) -> None:
        info = await self._redis.info()
        refuse_unfit(info)
        self.note = note_of(info)
        loading = self._redis.pipeline(transaction=False)
        for script in ALL:
            loading.execute_command("SCRIPT", "LOAD", script.text)
        await loading.execute()
        begun = time.monotonic()
        # It may answer and yet take no writes.
        await self._redis.set(self.key("greeting", "all"), 1, px=1_000)
        self._took(time.monotonic() - begun)

    async def _stay(self) -> None:
        while self.there:
            await self.on_beat()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(BEAT_S):
                    await self._lost.wait()

    async def _tell(self) -> None:
        while True:
            await self._queued.wait()
            try:
                async with asyncio.timeout(self._limit_s()):
                    await self._send()
            except _FAILURES as error:
                self._lose(error)
            if not self._queue:
                self._queued.clear()

    async def _send(self) -> None:
        """Send what stands in front of the queue, at one go."""
        line = self._redis.pipeline(transaction=False)
        for _ in range(min(PIPELINE, len(self._queue))):
            line.execute_command(*self._queue.popleft())
        for answer in await line.execute(raise_on_error=False):
            if isinstance(answer, _FAILURES):
                raise answer

    def _find(self) -> None:
        log.info("shared state usable: %s", self.where)
        self._lost.clear()
        self.there, self.problem = True, None
        self._first.set()
        self.on_back()

    def _lose(self, error: Exception) -> None:
        problem = problem_of(error, self.where)
        if self.there or problem != self.problem:
            log.warning("going on without the shared state: %s", problem)
        self.there, self.problem = False, problem
        self._queue.clear()
        self._lost.set()
        self._first.set()

    def _limit_s(self) -> float:
        """How long a command may take."""
        usual_s = 0.0 if math.isnan(self.command_s) else self.command_s
        return min(GREETING_S, max(COMMAND_S, PATIENCE * usual_s))

    def _took(self, seconds: float) -> None:
        usual = seconds if math.isnan(self.command_s) else self.command_s
        self.command_s = usual + MEMORY * (seconds - usual)


def _client(url: str) -> Redis:
    pool = BlockingConnectionPool.from_url(
        url.replace("valkey", "redis", 1) if url.startswith("valkey") else url,
        max_connections=CONNECTIONS,
        timeout=GREETING_S,
        # Its own time limit is asyncio.wait_for, which before Python 3.12 can swallow a cancellation: a call
        # that was cancelled would go on. Ours stand around each command.
        socket_timeout=None,
        socket_connect_timeout=GREETING_S,
        retry=Retry(NoBackoff(), 0),
        # The older protocol: what answers may know no other, and is then told so in our own words.
        protocol=2,
    )
    return Redis.from_pool(pool)


def _place(url: str) -> str:
    """Host and port, without user and password."""
    parts = urlsplit(url)
    if parts.scheme == "unix":
        return f"The shared state at {parts.path}"
    return f"The shared state at {parts.hostname}:{parts.port or 6379}"


async def _nothing() -> None:
    return


LEAST_VERSION = (7, 0)
"""The oldest that our tests run on."""

_SENTENCES: tuple[tuple[type[Exception], str], ...] = (
    (redis_errors.AuthenticationError, "refuses the user or the password of SEARCH_MCP_SHARED_URL"),
    (redis_errors.NoPermissionError, "does not allow this user the commands that are needed"),
    (redis_errors.OutOfMemoryError, "is full: maxmemory is reached and its policy evicts nothing"),
    (redis_errors.ReadOnlyError, "is a replica, which takes no writes"),
    (redis_errors.BusyLoadingError, "is still loading its data"),
    (redis_errors.InvalidResponse, "answers, but not as Valkey or Redis do"),
    (redis_errors.MaxConnectionsError, "is asked too much at once"),
    (TimeoutError, "does not answer in time"),
    (redis_errors.TimeoutError, "does not answer in time"),
    (redis_errors.ConnectionError, "cannot be reached, or broke the connection off"),
    (OSError, "cannot be reached, or broke the connection off"),
)
_WORDS = (
    (re.compile(r"^(NOAUTH|WRONGPASS)|without any password configured"), _SENTENCES[0][1]),
    (re.compile(r"^(MOVED|CLUSTERDOWN|CROSSSLOT)"), "is part of a cluster, which is not supported"),
    (re.compile(r"^MISCONF"), "takes no writes: it cannot save to its disk"),
    (re.compile(r"unknown command", re.IGNORECASE), "does not know the commands that are needed"),
    (re.compile(r"CERTIFICATE_VERIFY_FAILED"), "has a certificate that cannot be trusted"),
    (re.compile(r"DB index"), "has no database of the number in SEARCH_MCP_SHARED_URL"),
    (re.compile(r"OOM command"), _SENTENCES[2][1]),
)
_EVICTING = re.compile(r"allkeys|volatile")


class IncompatibleServiceError(Exception):
    """It answers, and cannot be used; the message says why."""


def problem_of(error: Exception, where: str) -> str:
    """One sentence; `where` names the service without its secrets."""
    if isinstance(error, IncompatibleServiceError):
        return f"{where} {error}."
    said = str(error)
    for pattern, sentence in _WORDS:
        if pattern.search(said):
            return f"{where} {sentence}."
    for kind, sentence in _SENTENCES:
        if isinstance(error, kind):
            return f"{where} {sentence}."
    return f"{where} answers with an error ({type(error).__name__})."


def refuse_unfit(info: dict[str, object]) -> None:
    """Look at what the service says of itself.

    Raises:
        Unfit: it is too old, or a replica.
    """
    version = str(info.get("redis_version", ""))
    numbers = tuple(int(part) for part in re.findall(r"[0-9]+", version)[:2])
    if numbers < LEAST_VERSION:
        least = ".".join(map(str, LEAST_VERSION))
        raise IncompatibleServiceError(f"is version {version[:20] or 'unknown'}; {least} or newer is needed")
    if info.get("role") not in (None, "master"):
        raise IncompatibleServiceError("is a replica, which takes no writes")


def note_of(info: dict[str, object]) -> str | None:
    """What the operator should change although it works."""
    if _EVICTING.match(str(info.get("maxmemory_policy", ""))) and info.get("maxmemory") not in (0, "0", None):
        return "It may evict what servers agreed on: set its maxmemory-policy to noeviction."
    return None
