"""Read with httpx and trafilatura, without a browser: the minimum cost of a plain page."""
# mypy: ignore-errors

from contextlib import asynccontextmanager

import httpx
import trafilatura

from benchmarks.peers.reading_loop import Reader, answer


class TrafilaturaReader(Reader):
    def __init__(self, client):
        self._client = client

    async def read(self, url, how):
        response = await self._client.get(url)
        response.raise_for_status()
        return trafilatura.extract(response.text, output_format="markdown", include_links=True) or ""


@asynccontextmanager
async def opened():
    async with httpx.AsyncClient(follow_redirects=True) as client:
        yield TrafilaturaReader(client)


if __name__ == "__main__":
    answer(opened)
