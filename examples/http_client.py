"""Read several pages with one call to a running server.

python examples/http_client.py URL ...

MCP_URL is the server's address. SEARCH_MCP_TOKEN is sent if it is set.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

URL = os.environ.get("MCP_URL", "http://127.0.0.1:8000/mcp")
TOKEN = os.environ.get("SEARCH_MCP_TOKEN")
LIMIT_S = 60
"""Seconds. The server answers within 55 by itself."""


async def main(urls: list[str]) -> int:
    """Print title and length of each page; return 1 if the call failed."""
    headers = {"Authorization": f"Bearer {TOKEN}"} if TOKEN else {}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=LIMIT_S) as http,
        Client(streamable_http_client(URL, http_client=http)) as client,
    ):
        result = await client.call_tool("fetch_batch", {"urls": urls, "format": "json"})
        text = "".join(part.text for part in result.content if part.type == "text")
        if result.is_error:
            print(text, file=sys.stderr)
            return 1
        # A page that failed has an error instead of content, and does not fail the others.
        for page in json.loads(text):
            print(page["url"], page["error"] or f"{page['title']}: {page['content'][:60]!r}")
        return 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main(sys.argv[1:])))
