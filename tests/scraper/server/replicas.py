"""Servers that take each other's place behind a proxy, and clients of both eras that call all the while."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Any

import aiohttp

from tests.deploy.proxies import CALL_HEADER, Proxy
from tests.ports import free_port
from tests.scraper.process import Program, serving
from tests.scraper.server.wire import HEADERS, body_of, call, modern_call, open_session

LEGACY = "2025-11-25"
_CALL_S = 60.0
_CUT_SOON_S = 30.0
"""How long after a death the proxy may take to tell clients on a loaded machine; calls may take longer."""
_SESSION_GONE = frozenset({400, 404})
"""What a server says to a session that it does not know or a request that lacks one."""


@dataclass(frozen=True, slots=True)
class Death:
    """The end of a server."""

    address: str
    begun_at: float
    over_at: float


class Replicas:
    """Servers at ports of their own, each of which can be ended and begun again."""

    def __init__(self, command: Sequence[str], env_of: Env) -> None:
        self.ports: list[int] = []
        self._command = command
        self._env_of = env_of
        self._names = itertools.count()
        self._programs: dict[int, Program] = {}
        self._stack = AsyncExitStack()

    def program(self, number: int) -> Program:
        """Return the process of one server."""
        return self._programs[self.ports[number]]

    def log_lines(self) -> list[str]:
        """Return the output lines of all running servers."""
        return [line for program in self._programs.values() for line in program.said]

    async def begin(self, port: int = 0) -> None:
        """Start a server, at a port of another before it or at a new one."""
        program = await self._stack.enter_async_context(
            serving(*self._command, f"--port={port or free_port()}", env=self._env_of(next(self._names)))
        )
        port = int(program.base.rsplit(":", 1)[1])
        self._programs[port] = program
        if port not in self.ports:
            self.ports.append(port)

    async def begin_again(self, number: int) -> None:
        """Start a server anew where it was."""
        await self.begin(self.ports[number])

    async def revive(self) -> None:
        """Start anew those that have ended."""
        ended = [port for port in self.ports if self._programs[port].process.returncode is not None]
        await asyncio.gather(*(self.begin(port) for port in ended))

    async def kill(self, number: int) -> Death:
        """End a server as a power failure would."""
        begun_at = time.monotonic()
        self.program(number).process.kill()
        await self.program(number).ended()
        return Death(f"127.0.0.1:{self.ports[number]}", begun_at, time.monotonic())

    async def close(self) -> None:
        """End them all."""
        await self._stack.aclose()


Env = Callable[[int], dict[str, str]]
"""What a server is told, by how many were started before it."""


@contextlib.asynccontextmanager
async def replicas(*command: str, count: int = 2, env_of: Env = lambda _: {}) -> AsyncIterator[Replicas]:
    """So many servers of one command."""
    servers = Replicas(command, env_of)
    try:
        await asyncio.gather(*(servers.begin() for _ in range(count)))
        yield servers
    finally:
        await servers.close()


@dataclass(frozen=True, slots=True)
class CallOutcome:
    """One call and what became of it."""

    name: str
    """As in the proxy's log."""
    begun_at: float
    ended_at: float
    status: int
    """0: the connection was cut."""
    text: str
    is_error: bool

    @property
    def answered(self) -> bool:
        """Whether a tool answered, be it that it is busy."""
        return self.status == 200 and not self.is_error

    @property
    def of_session(self) -> bool:
        """Whether the client was told that its session is none."""
        return self.status in _SESSION_GONE


@dataclass(frozen=True, slots=True)
class Answered:
    """All calls of a crowd."""

    calls: tuple[CallOutcome, ...]

    @property
    def failed(self) -> tuple[CallOutcome, ...]:
        """Those without an answer of a tool."""
        return tuple(one for one in self.calls if not one.answered)

    def lost(self, proxy: Proxy, death: Death) -> tuple[CallOutcome, ...]:
        """Those that failed although they were not in flight on the server that died."""
        passed = proxy.routed_requests()

        def in_flight(one: CallOutcome) -> bool:
            if one.begun_at > death.over_at:
                return False
            if (asked := passed.get(one.name)) is not None:
                return asked.servers[-1:] == (death.address,)
            # A client's connection that has served before is cut by haproxy without a word, also in its log.
            return one.status == 0 and death.begun_at <= one.ended_at <= death.over_at + _CUT_SOON_S

        return tuple(one for one in self.failed if not in_flight(one))


Ask = Callable[[int], tuple[str, dict[str, Any]]]
"""Tool and arguments of a call, by its number."""


@contextlib.asynccontextmanager
async def callers(url: str, count: int, ask: Ask, *, pause_s: float = 0.0) -> AsyncIterator[Crowd]:
    """Let so many clients, every other of the older era, call until the block asks what they were told."""
    crowd, numbers = Crowd(), itertools.count()
    async with AsyncExitStack() as stack:
        clients = await asyncio.gather(*(_client(stack, url, legacy=bool(one % 2)) for one in range(count)))
        crowd.tasks = [
            asyncio.create_task(_calling(http, url, session, ask, numbers, crowd, pause_s)) for http, session in clients
        ]
        try:
            yield crowd
        finally:
            for task in crowd.tasks:
                task.cancel()
            await asyncio.gather(*crowd.tasks, return_exceptions=True)


class Crowd:
    """Clients that call; called itself, it lets them end their last call, and says what all were told."""

    def __init__(self) -> None:
        self.told: list[CallOutcome] = []
        self.stop = asyncio.Event()
        self.tasks: list[asyncio.Task[None]] = []

    async def __call__(self) -> Answered:
        self.stop.set()
        await asyncio.gather(*self.tasks)
        return Answered(tuple(self.told))

    async def goes_on(self, calls: int) -> None:
        """Return when so many more of their calls have ended."""
        wanted = len(self.told) + calls
        async with asyncio.timeout(_CALL_S):
            while len(self.told) < wanted:  # noqa: ASYNC110 - they are no one task
                await asyncio.sleep(0.02)


async def _client(stack: AsyncExitStack, url: str, *, legacy: bool) -> tuple[aiohttp.ClientSession, str | None]:
    """Open a client with its own connections, and its session if its era has one."""
    timeout = aiohttp.ClientTimeout(total=_CALL_S)
    http = await stack.enter_async_context(aiohttp.ClientSession(timeout=timeout))
    return http, await open_session(http, url) if legacy else None


async def _calling(
    http: aiohttp.ClientSession,
    url: str,
    session: str | None,
    ask: Ask,
    numbers: itertools.count[int],
    crowd: Crowd,
    pause_s: float,
) -> None:
    while not crowd.stop.is_set():
        crowd.told.append(await _said(http, url, session, next(numbers), ask))
        if pause_s:
            await asyncio.sleep(pause_s)


async def _said(http: aiohttp.ClientSession, url: str, session: str | None, number: int, ask: Ask) -> CallOutcome:
    tool, arguments = ask(number)
    if session is None:
        headers, message = modern_call(tool, arguments)
    else:
        headers = {**HEADERS, "Mcp-Session-Id": session, "MCP-Protocol-Version": LEGACY}
        message = call(tool, arguments)
    name, begun = f"c{number}", time.monotonic()
    status, text, is_error = await _answer(http, url, {**headers, CALL_HEADER: name}, message)
    return CallOutcome(name, begun, time.monotonic(), status, text, is_error)


async def _answer(
    http: aiohttp.ClientSession, url: str, headers: dict[str, str], message: object
) -> tuple[int, str, bool]:
    """Status, text, and whether it is an error."""
    try:
        async with http.post(url, headers=headers, json=message) as answer:
            if answer.status != 200:
                return answer.status, await answer.text(), True
            body = await body_of(answer)
    except (aiohttp.ClientError, ValueError, TimeoutError) as error:
        return 0, repr(error), True
    if "error" in body:
        return 200, body["error"]["message"], True
    result = body["result"]
    return 200, result["content"][0]["text"], bool(result.get("isError"))
