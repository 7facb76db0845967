"""Read with free-search-mcp 0.16: `fetch_page`, without its MCP server, which only adds cost.

Its page cache is written but not read. It waits 0.4 to 1.1 s after each render, for which it has no setting. Its
environment variables raise the rate limit and allow private addresses.
"""
# mypy: ignore-errors

from contextlib import asynccontextmanager

from search_mcp.browser import pool
from search_mcp.fetcher import fetch_many, fetch_page

from benchmarks.peers.reading_loop import Reader, answer


class FreeSearchReader(Reader):
    async def read(self, url, how):
        return (await fetch_page(url, render=how, force_refresh=True)).content

    async def read_together(self, urls, how, at_once):
        return [getattr(page, "content", "") for page in await fetch_many(list(urls), render=how)]


@asynccontextmanager
async def opened():
    try:
        yield FreeSearchReader()
    finally:
        await pool.shutdown()


if __name__ == "__main__":
    answer(opened)
