"""Testbed of the contract: servers over HTTP and stdio, and a site and search engines on loopback."""

from __future__ import annotations

import contextlib
import itertools
import json
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp
from mcp import Client, StdioServerParameters

from tests.scraper.process import REPOSITORY, Program, browsers_say, serving
from tests.site.engine_server import EngineSite, running_engines
from tests.site.running import Site, running_site

_PRODUCT = ("-m", "scraper.cli.main")
_READY_S = 45.0
_STARTS = 2
"""Attempts to start a server: one start may be slow on a busy machine."""
_MODERN = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "contract", "version": "1"},
}
_HEADERS = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
_PATHS = {"full": "/mcp", "pair": "/openai/mcp"}
_LIMIT = aiohttp.ClientTimeout(total=70)
_TOKENS = {"ann": "ann-token-of-the-contract", "bob": "bob-token-of-the-contract"}


@dataclass(frozen=True, slots=True)
class Answer:
    """Result of a tool as received by the client."""

    result: Mapping[str, Any]

    @property
    def content(self) -> list[dict[str, Any]]:
        """The content items."""
        items: list[dict[str, Any]] = self.result["content"]
        return items

    @property
    def text(self) -> str:
        """The text of the first item."""
        text: str = self.content[0]["text"]
        return text

    @property
    def data(self) -> Any:
        """The text parsed as JSON."""
        return json.loads(self.text)

    @property
    def is_error(self) -> bool:
        """True if the tool reports an error."""
        return bool(self.result.get("isError"))


@dataclass(slots=True)
class Testbed:
    """Servers, site and engines that checks use."""

    site: Site
    engines: EngineSite
    folder: Path
    http: aiohttp.ClientSession
    stack: contextlib.AsyncExitStack
    program: Program | None = None
    guarded: Program | None = None
    _numbers: itertools.count[int] = field(default_factory=lambda: itertools.count(1))

    async def start(self) -> None:
        """Start the server, or restart the running one."""
        if self.program is not None:
            self.program.process.terminate()
            await self.program.ended()
        self.program = await self.serve({})

    async def serve(self, extra: Mapping[str, str]) -> Program:
        """Start another server over HTTP and wait until it is ready; it ends with the testbed."""
        for _ in range(_STARTS - 1):
            with contextlib.suppress(TimeoutError):
                return await self._served(extra)
        return await self._served(extra)

    async def _served(self, extra: Mapping[str, str]) -> Program:
        env = {**self.variables(), **extra}
        async with contextlib.AsyncExitStack() as opened:
            opening = serving(*_PRODUCT, "serve", "--port", "0", env=env, limit_s=_READY_S)
            program = await opened.enter_async_context(opening)
            if "SEARCH_MCP_TOKENS_FILE" not in extra:
                await browsers_say(program.base, "ready", True, limit_s=_READY_S)
            self.stack.push_async_exit(opened.pop_all())
        return program

    def variables(self) -> dict[str, str]:
        """Return environment variables that map the hosts of the site and the engines."""
        hosts = (*self.site.test_hosts, *self.engines.test_hosts)
        known = {name for name, _, _ in self.engines.test_hosts}
        mapped = [
            f"{name}={address}:{port}"
            for name, address, port in hosts
            if name not in known or port == self.engines.port
        ]
        return {
            "SEARCH_MCP_TEST_HOSTS": ",".join(mapped),
            "SEARCH_MCP_TEST_KEY_PIN": self.engines.key_pin,
            "SEARCH_MCP_DATA": str(self.folder / "data"),
        }

    def new_words(self, about: str = "tidal power") -> str:
        """Return a query that was not used before."""
        return f"{about} {next(self._numbers)}"

    async def rpc(
        self, method: str, params: Mapping[str, Any], *, at: str = "full", token: str = "", name: str = ""
    ) -> dict[str, Any]:
        """Return the whole JSON-RPC response to one request of 2026-07-28."""
        program = self.guarded if token else self.program
        assert program is not None
        headers = {**_HEADERS, "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": method}
        if name:
            headers["Mcp-Name"] = name
        if token:
            headers["Authorization"] = f"Bearer {_TOKENS[token]}"
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": _MODERN}}
        url = program.base + _PATHS[at]
        async with self.http.post(url, headers=headers, json=message, timeout=_LIMIT) as answer:
            text = await answer.text()
        lines = [line.removeprefix("data:") for line in text.splitlines() if line.startswith("data:")]
        body: dict[str, Any] = json.loads(lines[-1] if lines else text)
        return body

    async def legacy(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        """Return the whole JSON-RPC response in a session of 2025-11-25; `initialize` opens it."""
        assert self.program is not None
        client = {"name": "contract", "version": "1"}
        first = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client}
        opened, session = await self._post(self.program.url, "initialize", first, {})
        if method == "initialize":
            return opened
        return (await self._post(self.program.url, method, params, {"Mcp-Session-Id": session}))[0]

    async def listed(self, messages: list[dict[str, Any]]) -> Any:
        """Return the response to a batch of messages, as a client of 2025-03-26 sends them."""
        assert self.program is not None
        headers = {**_HEADERS, "Mcp-Session-Id": "0" * 32}  # a session of another server, which this one continues
        async with self.http.post(self.program.url, headers=headers, json=messages, timeout=_LIMIT) as answer:
            return await answer.json()

    async def _post(
        self, url: str, method: str, params: Mapping[str, Any], headers: Mapping[str, str]
    ) -> tuple[dict[str, Any], str]:
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        sent = {**_HEADERS, **headers}
        async with self.http.post(url, headers=sent, json=message, timeout=_LIMIT) as answer:
            text = await answer.text()
            session = answer.headers.get("Mcp-Session-Id", "")
        lines = [line.removeprefix("data:") for line in text.splitlines() if line.startswith("data:")]
        return json.loads(lines[-1] if lines else text), session

    async def call(self, tool: str, /, *, at: str = "full", token: str = "", **arguments: Any) -> Answer:
        """Call a tool."""
        params = {"name": tool, "arguments": arguments}
        body = await self.rpc("tools/call", params, at=at, token=token, name=tool)
        if "error" in body:
            raise AssertionError(f"{tool}: {body['error']}")
        return Answer(body["result"])

    async def tools(self, *, at: str = "full") -> dict[str, dict[str, Any]]:
        """Return the tools by name, in their order."""
        listed = (await self.rpc("tools/list", {}, at=at))["result"]["tools"]
        return {tool["name"]: tool for tool in listed}

    @asynccontextmanager
    async def stdio(self, *arguments: str, **variables: str) -> AsyncIterator[Client]:
        """Open the SDK's client of a server over stdio, with its own settings."""
        command = StdioServerParameters(
            command=sys.executable,
            args=[*_PRODUCT, "stdio", *arguments],
            cwd=REPOSITORY,
            env={**self.variables(), "SEARCH_MCP_LOG_LEVEL": "error", **variables},
        )
        async with Client(command) as client:
            yield client


@asynccontextmanager
async def testbed(folder: Path) -> AsyncIterator[Testbed]:
    """Start site, engines and servers; stop them on exit."""
    async with contextlib.AsyncExitStack() as stack:
        site = stack.enter_context(running_site())
        engines = await stack.enter_async_context(running_engines())
        http = await stack.enter_async_context(aiohttp.ClientSession())
        bed = Testbed(site, engines, folder, http, stack)
        await bed.start()
        tokens = folder / "tokens"
        tokens.write_text("".join(f"{name}:{token}\n" for name, token in _TOKENS.items()))
        bed.guarded = await bed.serve(
            {"SEARCH_MCP_TOKENS_FILE": str(tokens), "SEARCH_MCP_DATA": str(folder / "guarded")}
        )
        yield bed
