"""Client of an MCP server over streamable HTTP in a separate process, like the host of an agent."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from mcp import Client
from mcp.types import CallToolResult, TextContent

from benchmarks.peers.reading_loop import Reader, answer


class McpReader(Reader):
    """Reader that calls the tools `fetch` and `fetch_batch`; `how` is their argument `render`."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def read(self, url: str, how: str) -> str:
        """Return the page as Markdown."""
        return _text(await self._client.call_tool("fetch", {"url": url, "render": how, "force_refresh": True}))

    async def read_together(self, urls: Sequence[str], how: str, at_once: int) -> list[str]:
        """Return the content of each page of a batch; the server decides about concurrency."""
        arguments = {"urls": list(urls), "render": how, "format": "json"}
        entries = json.loads(_text(await self._client.call_tool("fetch_batch", arguments)))
        texts = {entry["url"]: entry.get("content", "") for entry in entries}
        return [texts.get(url, "") for url in urls]


def _text(result: CallToolResult) -> str:
    text = "\n".join(block.text for block in result.content if isinstance(block, TextContent))
    if result.is_error:
        raise RuntimeError(text)
    return text


@asynccontextmanager
async def _opened() -> AsyncIterator[Reader]:
    async with Client(sys.argv[1]) as client:
        yield McpReader(client)


if __name__ == "__main__":
    answer(_opened)
