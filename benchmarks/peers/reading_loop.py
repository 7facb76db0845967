r"""Loop of a contender in a separate process: reads URLs on request and reports measurements as JSON lines.

Environments of peers import this module too, so it uses only the standard library.

    -> {"read": [URL, ...], "how": "http", "at_once": 2, "together": false}
    <- {"seconds": 1.2, "latencies": [...], "failures": [[URL, "what"], ...]}
    -> {"count": "MARK-\\w+-\\d+"}
    <- {"counts": [60, ...]}          distinct matches in each text of the last reading
    -> {"give": true}
    <- {"texts": ["...", ...]}

The process ends when stdin closes.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, TextIO

_PAGE_LIMIT_S = 60.0
_BATCH_LIMIT_S = 240.0
_SCRIPT = re.compile(r"<script\b.*?</script>", re.DOTALL | re.IGNORECASE)
"""Scripts of a page, which do not count as its text."""


class Reader:
    """Interface of a reader of pages."""

    async def read(self, url: str, how: str) -> str:
        """Return the text of one page."""
        raise NotImplementedError

    async def read_together(self, urls: Sequence[str], how: str, at_once: int) -> list[str]:
        """Return the texts of several pages from one call; the default reads each page on its own."""
        return await _gather(lambda url: self.read(url, how), urls, at_once)


def answer(opened: Callable[[], AbstractAsyncContextManager[Reader]]) -> None:
    """Answer requests until stdin closes."""
    # Redirect the output of contenders to stderr: only responses may reach stdout.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8", buffering=1)
    os.dup2(2, 1)
    asyncio.run(_answer_requests(opened, answers))


async def _answer_requests(opened: Callable[[], AbstractAsyncContextManager[Reader]], answers: TextIO) -> None:
    async with opened() as reader:
        answers.write('{"ready": true}\n')
        texts: list[str] = []
        while line := await asyncio.to_thread(sys.stdin.readline):
            request = json.loads(line)
            if "read" in request:
                texts, reply = await _read_pages(reader, request)
            elif "give" in request:
                reply = {"texts": texts}
            else:
                reply = {"counts": [_count(request["count"], text) for text in texts]}
            answers.write(json.dumps(reply) + "\n")


def _count(pattern: str, text: str) -> int:
    """Count distinct matches, without scripts and Markdown escapes."""
    return len(set(re.findall(pattern, _SCRIPT.sub("", text).replace("\\", ""))))


async def _read_pages(reader: Reader, request: dict[str, Any]) -> tuple[list[str], dict[str, Any]]:
    urls, how, at_once = request["read"], request["how"], request["at_once"]
    latencies: list[float] = []
    failures: list[tuple[str, str]] = []

    async def one(url: str) -> str:
        started = time.perf_counter()
        # Peers may raise any exception, which is then the result.
        try:
            return await asyncio.wait_for(reader.read(url, how), _PAGE_LIMIT_S)
        except Exception as error:
            failures.append((url, repr(error)[:300]))
            return ""
        finally:
            latencies.append(time.perf_counter() - started)

    started = time.perf_counter()
    if request.get("together"):
        texts = await asyncio.wait_for(reader.read_together(urls, how, at_once), _BATCH_LIMIT_S)
    else:
        texts = await _gather(one, urls, at_once)
    seconds = time.perf_counter() - started
    return texts, {"seconds": seconds, "latencies": latencies, "failures": failures}


async def _gather(read: Callable[[str], Any], urls: Sequence[str], at_once: int) -> list[str]:
    texts = [""] * len(urls)
    waiting = iter(enumerate(urls))

    async def work() -> None:
        for index, url in waiting:
            texts[index] = await read(url)

    await asyncio.gather(*(work() for _ in range(at_once)))
    return texts
