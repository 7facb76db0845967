"""Send ten thousand mutated messages over each transport; count crashes, hangs and missing responses.

Over HTTP every message must have a response: JSON-RPC, 202 for a message that needs none, or an HTTP error.
Over stdio every recognizable request must have a response with its id, and every line that is not a message an
error. Each ping in between must have its own response.
Then send mutated heads of HTTP requests, and pass mutated URLs, pages, style sheets and documents to their parsers.
The variable FUZZ_SEED chooses other mutations; the exit code is 1 if any figure is not 0.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import tempfile
import time
from asyncio.subprocess import PIPE
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import aiohttp

from benchmarks.common.command_line import Figures, Goal, Options, print_goals, print_table, run
from benchmarks.fuzz.inputs import fuzz_heads, fuzz_parsers
from benchmarks.fuzz.mutations import mutate
from tests.scraper.process import Program, browsers_say, running, serving
from tests.scraper.server.wire import HEADERS, initialize, open_session

_MESSAGES = 10_000
_MESSAGES_QUICK = 600
_SEED = int(os.environ.get("FUZZ_SEED", "7031"))
_LIMIT_S = 20.0
_AT_ONCE = 8
_PING_EACH = 20
_START_S = 60.0
_MODERN_SHARE = 0.4
_INPUTS = 2_000
_INPUTS_QUICK = 100
_GOALS = (
    *(
        Goal(f"{transport}.{what}", at_most=0)
        for transport in ("http", "stdio")
        for what in ("hung", "unanswered", "crashed")
    ),
    *(
        Goal(f"{target}.{what}", at_most=0)
        for target in ("heads", "urls", "html", "css", "documents")
        for what in ("hung", "crashed")
    ),
)


async def measure(options: Options) -> Figures:
    """Send all messages over both transports."""
    messages = _MESSAGES_QUICK if options.quick else _MESSAGES
    figures: Figures = {"messages": messages}
    for transport, send in (("http", _over_http), ("stdio", _over_stdio)):
        with tempfile.TemporaryDirectory(prefix="benchmark-data-") as folder:
            started = time.monotonic()
            outcomes = await send(messages, {"SEARCH_MCP_DATA": folder, "SEARCH_MCP_LOG_LEVEL": "error"})
        print_table(f"{transport}, {time.monotonic() - started:.0f} s", ("", "messages"), sorted(outcomes.items()))
        figures |= {f"{transport}.{what}": outcomes[what] for what in ("hung", "unanswered", "crashed")}
    inputs = _INPUTS_QUICK if options.quick else _INPUTS
    results = fuzz_parsers(inputs, _SEED) | {"heads": await _send_heads(inputs)}
    for target, outcomes in results.items():
        print_table(target, ("", "inputs"), sorted(outcomes.items()))
        figures |= {f"{target}.{what}": outcomes[what] for what in ("hung", "crashed")}
    print_goals(figures, _GOALS)
    return figures


async def _send_heads(inputs: int) -> Counter[str]:
    with tempfile.TemporaryDirectory(prefix="benchmark-data-") as folder:
        async with _served({"SEARCH_MCP_DATA": folder}) as program:
            outcomes = await fuzz_heads(program, inputs, _SEED)
            async with aiohttp.ClientSession() as http, http.get(program.base + "/health") as answer:
                outcomes["crashed"] += answer.status != 200
            outcomes["crashed"] += _has_crashed(program)
    return outcomes


async def _over_http(messages: int, env: dict[str, str]) -> Counter[str]:
    outcomes: Counter[str] = Counter()
    async with _served(env) as program:
        timeout = aiohttp.ClientTimeout(total=_LIMIT_S)
        async with aiohttp.ClientSession(timeout=timeout) as http:
            numbers = iter(range(messages))

            async def work() -> None:
                # One session per client: an id may be in use only once in a session.
                session = await open_session(http, program.url)
                for number in numbers:
                    rng = random.Random(_SEED + number)
                    outcomes[await _post(http, program.url, session, rng)] += 1

            await asyncio.gather(*(work() for _ in range(_AT_ONCE)))
            async with http.get(program.base + "/health") as answer:
                outcomes["crashed"] += answer.status != 200
        outcomes["crashed"] += _has_crashed(program)
    return outcomes


def _has_crashed(program: Program) -> int:
    """Return 1 if the process has ended or logged a traceback, else 0."""
    log = "".join(program.said)
    for part in log.split("Traceback (most recent call last)")[1:4]:
        print(f"Traceback (most recent call last){part[:2_000]}")
    return int(program.process.returncode is not None or "Traceback" in log)


@asynccontextmanager
async def _served(env: dict[str, str]) -> AsyncIterator[Program]:
    # The line that announces the URL is logged at level info.
    env = {**env, "SEARCH_MCP_LOG_LEVEL": "info"}
    async with serving("-m", "scraper.cli.main", "serve", "--port", "0", env=env) as program:
        await browsers_say(program.base, "ready", True, limit_s=_START_S)
        yield program


async def _post(http: aiohttp.ClientSession, url: str, session: str, rng: random.Random) -> str:
    line = mutate(rng)
    headers = dict(HEADERS)
    if rng.random() < _MODERN_SHARE:
        headers |= _modern_headers(line)
    elif rng.random() < 0.8:
        headers["Mcp-Session-Id"] = rng.choice((session, session, session, "unknown-session"))
    try:
        async with http.post(url, headers=headers, data=line) as answer:
            return _classify(answer.status, await answer.text())
    except TimeoutError:
        return "hung"
    except aiohttp.ClientError as error:
        return f"crashed ({type(error).__name__})"


def _modern_headers(line: bytes) -> dict[str, str]:
    """Return the headers that a client of 2026-07-28 sends with this message."""
    headers = {"MCP-Protocol-Version": "2026-07-28"}
    message = _parse(line)
    if isinstance(message, dict):
        params = message.get("params")
        name = params.get("name", params.get("uri")) if isinstance(params, dict) else None
        for header, value in (("Mcp-Method", message.get("method")), ("Mcp-Name", name)):
            if isinstance(value, str) and value.isascii() and value.isprintable() and len(value) < 1_000:
                headers |= {header: value}
    return headers


def _classify(status: int, text: str) -> str:
    if status == 202:
        return "accepted"
    if status in {400, 404, 405, 413, 415} and not text.startswith(("{", "event", "data", ":")):
        return f"refused, {status}"
    lines = [line.removeprefix("data:") for line in text.splitlines() if line.startswith("data:")]
    for part in lines or [text]:
        parsed = _parse(part.encode())
        answers = parsed if isinstance(parsed, list) and parsed else [parsed]
        if all(isinstance(answer, dict) and ("result" in answer or "error" in answer) for answer in answers):
            return "result" if "result" in answers[0] else "error"
    return "unanswered"


async def _over_stdio(messages: int, env: dict[str, str]) -> Counter[str]:
    outcomes: Counter[str] = Counter()
    command = ("-m", "scraper.cli.main", "stdio")
    async with running(*command, env=env, stdin=PIPE, stdout=PIPE) as program:
        client = _StdioClient(program, outcomes)
        await client.ask(initialize(0))
        for number in range(messages):
            await client.send(mutate(random.Random(_SEED + number)))
            if number % _PING_EACH == 0:
                await client.check_pending()
        await client.check_pending()
        outcomes["crashed"] += _has_crashed(program)
    return outcomes


class _StdioClient:
    """Client over pipes that tracks requests and responses."""

    def __init__(self, program: Program, outcomes: Counter[str]) -> None:
        assert program.process.stdin is not None and program.process.stdout is not None
        self._in, self._out = program.process.stdin, program.process.stdout
        self._outcomes = outcomes
        self._pending: Counter[str] = Counter()
        self._pings = 0
        self._dead = False

    async def ask(self, message: Mapping[str, Any]) -> None:
        """Send a valid request and wait for its response."""
        await self._write(json.dumps(message).encode())
        await self._read_until(message["id"])

    async def send(self, line: bytes) -> None:
        """Send a mutated message."""
        self._pending[_expected_id(line)] += 1
        await self._write(line)

    async def check_pending(self) -> None:
        """Send a ping, wait for its response, and count requests that are still unanswered."""
        if self._dead:
            return
        self._pings += 1
        name = f"ping-{self._pings}"
        await self._write(json.dumps({"jsonrpc": "2.0", "id": name, "method": "ping"}).encode())
        await self._read_until(name)
        self._pending.pop("", None)
        self._outcomes["unanswered"] += self._pending.total()
        self._pending.clear()

    async def _write(self, line: bytes) -> None:
        if self._dead:
            return
        try:
            self._in.write(line + b"\n")
            async with asyncio.timeout(_LIMIT_S):
                await self._in.drain()
        except (ConnectionError, TimeoutError):
            self._dead = True
            self._outcomes["crashed"] += 1

    async def _read_until(self, name: object) -> None:
        """Read responses until that of `name` has arrived and no other is pending."""
        found = False
        try:
            async with asyncio.timeout(_LIMIT_S):
                while not found or any(self._pending[key] for key in self._pending if key):
                    found |= await self._read() == name
        except TimeoutError:
            if not found:
                self._outcomes["hung"] += 1
                self._dead = True

    async def _read(self) -> object:
        line = await self._out.readline()
        if not line:
            raise TimeoutError
        message = json.loads(line)
        if "method" in message:
            return None
        self._outcomes["result" if "result" in message else "error"] += 1
        key = _key(message.get("id"))
        if self._pending[key] > 0:
            self._pending[key] -= 1
        return message.get("id")


def _expected_id(line: bytes) -> str:
    """Return the id that a response must have; empty if none is required."""
    message = _parse(line)
    if message is _INVALID:
        return _key(None) if line.strip() else ""
    if not isinstance(message, dict):
        return _key(None)
    name, method = message.get("id"), message.get("method")
    if isinstance(method, str) and (type(name) is int or isinstance(name, str)):
        return _key(name)
    # The id is invalid, so the error has the id null. Some clients send a notification with an empty id.
    invalid_id = "id" in message and isinstance(method, str) and not method.startswith("notifications/")
    return _key(None) if invalid_id else ""


def _key(name: object) -> str:
    """Return the key of an id. A lone surrogate is replaced in responses, or their id is null: both have one key."""
    key = json.dumps(name)
    return "null" if "\\ud" in key or "\\ufffd" in key else key


_INVALID = object()


def _parse(line: bytes) -> Any:
    try:
        return json.loads(line.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return _INVALID


if __name__ == "__main__":
    run(__doc__ or "", measure, required=_GOALS)
