"""Tools that behave as the protocol layer needs to see them: slow, silent, holding something, failing.

`python -m tests.scraper.server.stand_in stdio|http [--flag=value ...]` serves them.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from scraper.coordination.state import SharedState
from scraper.server import entrypoints
from scraper.server.access import ServerStartError
from scraper.server.telemetry import logs
from scraper.settings import Settings
from scraper.store.factory import Store
from scraper.store.index_service import IndexService
from scraper.store.protocols import NullPageStore
from scraper.store.sqlite.record_logs import open_record_logs
from scraper.tools.model import Tool, ToolAnswer, ToolCall
from tests.scraper.store.memory_search_cache import MemorySearchCache


@dataclass
class Status:
    """As much of the browsers' state as the probes look at."""

    ready: bool = True
    active: int = 0
    queued: int = 0
    queue_s: float = 0.0
    longest_wait_s: float = 0.0
    rendering: int = 0
    restarts: int = 0
    refused_hosts: int = 0
    browsers: tuple[Any, ...] = ()


class Browsers:
    """Counts what tools hold, as the real ones count visits."""

    def __init__(self) -> None:
        self.state = Status()

    def status(self) -> Status:
        """Return the status."""
        return self.state


class App:
    """As much of the real one as the server touches."""

    def __init__(self) -> None:
        self.browsers = Browsers()
        self.pages = NullPageStore()
        self.shared = SharedState()
        records = open_record_logs(Path(os.devnull))
        self.store = Store(self.pages, MemorySearchCache(), IndexService(Path(os.devnull)), records)

    @classmethod
    @contextlib.asynccontextmanager
    async def open(cls) -> AsyncIterator[Any]:
        """Open and close like the real one; the last word on stderr says that it was closed.

        Its type is Any, because it stands for `Services`.
        """
        try:
            yield cls()
        finally:
            await asyncio.sleep(0.05)
            print("app closed", file=sys.stderr, flush=True)

    def start_soon(self) -> None:
        """Start nothing: there is no browser."""

    @contextlib.contextmanager
    def visit(self) -> Iterator[None]:
        """Hold a tab while the block runs."""
        self.browsers.state.active += 1
        try:
            yield
        finally:
            self.browsers.state.active -= 1


async def _echo(_app: App, arguments: Mapping[str, Any], call: ToolCall) -> ToolAnswer:
    return ToolAnswer(json.dumps({"arguments": arguments, "principal": call.principal}))


async def _slow(app: App, arguments: Mapping[str, Any], call: ToolCall) -> ToolAnswer:
    """Hold a tab for a while, or until a file is there; giving it back takes a moment, as with a page."""
    with app.visit():
        steps = round(arguments.get("seconds", 60) * 10)
        try:
            for step in range(steps):
                if os.path.exists(arguments.get("until", "")):
                    return ToolAnswer("done as told")
                if call.progress and not arguments.get("silent"):
                    call.progress(step, steps, f"step {step}")
                await asyncio.sleep(0.1)
        except asyncio.CancelledError:
            await asyncio.sleep(0.1)
            raise
        return ToolAnswer(f"done {steps}")


async def _data(_app: App, _arguments: Mapping[str, Any], _call: ToolCall) -> ToolAnswer:
    return ToolAnswer('{"a": 1}', {"a": 1})


async def _items(_app: App, _arguments: Mapping[str, Any], _call: ToolCall) -> ToolAnswer:
    return ToolAnswer("[1, 2]", [1, 2])


async def _fails(_app: App, _arguments: Mapping[str, Any], _call: ToolCall) -> ToolAnswer:
    return ToolAnswer("The page is gone (HTTP 410). Try another.", is_error=True)


async def _noisy(_app: App, _arguments: Mapping[str, Any], _call: ToolCall) -> ToolAnswer:
    """Write where only the protocol may write, ourselves and from a child."""
    print("noise by print")
    os.write(1, b"noise by write\n")
    child = await asyncio.create_subprocess_exec("/bin/sh", "-c", "echo noise by a child; cat")
    await child.wait()
    return ToolAnswer("quiet")


async def _asks(_app: App, arguments: Mapping[str, Any], call: ToolCall) -> ToolAnswer:
    """Ask as often as told."""
    if call.ask is None:
        return ToolAnswer("The client cannot ask the person.")
    answers = [await call.ask(f"question {number}") for number in range(int(arguments.get("seconds", 1)))]
    return ToolAnswer(json.dumps(answers))


def _tool(name: str, run: Any, data_schema: Mapping[str, Any] | None = None) -> Tool:
    properties = {"seconds": {"type": "number"}, "until": {"type": "string"}, "silent": {"type": "boolean"}}
    schema = {"type": "object", "properties": properties, "additionalProperties": False}
    return Tool(name, name.title(), f"Stand-in {name}.", schema, run, data_schema=data_schema)


TOOLS = (
    _tool("echo", _echo),
    _tool("slow", _slow),
    _tool("data", _data, {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}),
    _tool("items", _items, {"type": "array", "items": {"type": "integer"}}),
    _tool("fails", _fails),
    _tool("noisy", _noisy),
    replace(_tool("asks", _asks), asks=True),
)


def main() -> None:
    """Serve the stand-ins as the product serves its tools."""
    kind, *flags = sys.argv[1:]
    given = dict(flag.removeprefix("--").split("=", 1) for flag in flags)
    settings = Settings.load({}, {"port": 0, **given})
    logs.configure(settings.log_level, settings.log_format)
    serve: Any = {"http": entrypoints.serve_http, "stdio": entrypoints.serve_stdio}[kind]
    try:
        asyncio.run(serve(settings, TOOLS, App.open, version="1.2.3"))
    except ServerStartError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
