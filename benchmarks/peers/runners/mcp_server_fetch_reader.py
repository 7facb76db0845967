"""Read with mcp-server-fetch: `fetch_url`, without its MCP server and without robots.txt.

With node on the path it runs Mozilla's Readability in a child process for each page, the default.
`--without-node` uses its cheaper and coarser extractor in pure Python.
"""
# mypy: ignore-errors

import sys
from contextlib import asynccontextmanager

from mcp_server_fetch.server import fetch_url

from benchmarks.peers.reading_loop import Reader, answer


class FetchServerReader(Reader):
    async def read(self, url, how):
        text, _ = await fetch_url(url, "benchmark", allow_private_ips=True)
        return text


@asynccontextmanager
async def opened():
    if "--without-node" in sys.argv:
        from readabilipy import simple_json

        simple_json.have_node = lambda: False
    yield FetchServerReader()


if __name__ == "__main__":
    answer(opened)
