"""search-mcp in one process: `Browsers.visit` alone, in the mode `peek` or `render`."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from benchmarks.peers.reading_loop import Reader, answer
from browsers import Browsers, BrowserSettings, Mode, Request

_QUEUE = 1000
_LOOPBACK = "127.0.0.0/8"


class OwnReader(Reader):
    """Reader that visits pages."""

    def __init__(self, browsers: Browsers) -> None:
        self._browsers = browsers

    async def read(self, url: str, how: str) -> str:
        """Return the HTML of the page with its frames."""
        snapshot = await self._browsers.visit(Request(url, mode=Mode(how)))
        return "\n".join((snapshot.html, *(frame.html for frame in snapshot.frames)))


@asynccontextmanager
async def _opened() -> AsyncIterator[Reader]:
    settings = BrowserSettings(allow_nets=(_LOOPBACK,), queue_limit=_QUEUE)
    async with Browsers(settings) as browsers:
        yield OwnReader(browsers)


if __name__ == "__main__":
    answer(_opened)
