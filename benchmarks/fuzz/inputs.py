"""Mutated inputs of parsers: URLs, pages, style sheets, documents and heads of HTTP requests, from small seeds."""

from __future__ import annotations

import asyncio
import random
import time
from collections import Counter
from collections.abc import Callable
from importlib import resources
from urllib.parse import urlsplit

from lxml import html

from browsers.model import Snapshot
from scraper.documents.dispatcher import dispatch as read_document
from scraper.documents.model import ParseRequest
from scraper.errors import MalformedDocumentError, ScraperError
from scraper.extract import reader
from scraper.html.page.css_rules import find_hidden_by_rules
from scraper.urls import parse_target
from tests.scraper.process import Program

_URL = "https://example.org/"
_SLOW_S = 2.0
"""Seconds of CPU. The seeds take milliseconds."""
_ANSWER_S = 20.0
"""Seconds. The server ends an incomplete request after 10."""
_CONNECTIONS = 16
_PIECES = (
    *(
        b"\0",
        b"\xff",
        b"\xed\xa0\x80",
        b"\xf4\x90\x80\x80",
        b"\xe2\x80\xae",
        b"<",
        b">",
        b"&#x110000;",
        b"<!--",
        b"]]>",
    ),
    *(b"{", b"}", b"(", b")", b"/*", b"\\", b'"', b"'", b";", b":", b"@", b"%", b"%00", b"\r\n", b"\r\n\r\n", b"\t"),
    *(
        b"9" * 400,
        b"-1",
        b"1e999",
        b"A" * 5_000,
        b"<div>" * 300,
        b"a{" * 300,
        b"(" * 500,
        b"var(--c)",
        b":has(",
        b":is(",
    ),
    *(b"Content-Length: 99999999999999999999\r\n", b"Transfer-Encoding: chunked, x\r\n", b"Host: \0\r\n", b" \r\n"),
    *(b"endobj", b"stream", b"/Kids[2 0 R]", b"\\u-99999999?", b"\\bin9999 ", b"--b\r\n", b"=?x?b?AA?="),
)

Outcomes = Counter[str]


def fuzz_parsers(inputs: int, seed: int) -> dict[str, Outcomes]:
    """Pass mutated inputs to each parser in this process. Count those that raise other errors, or take too long."""
    targets: tuple[tuple[str, tuple[str, ...], Callable[[bytes], object]], ...] = (
        ("urls", ("urls.txt",), lambda data: parse_target(data.decode("utf-8", "surrogateescape"))),
        ("html", ("page.html",), _read_page),
        ("css", ("sheet.css",), _match_style_sheet),
        ("documents", ("table.csv", "letter.rtf", "letter.eml", "page.pdf"), _read_document),
    )
    return {name: _fuzz(parse, seeds, inputs, seed) for name, seeds, parse in targets}


async def fuzz_heads(program: Program, inputs: int, seed: int) -> Outcomes:
    """Send mutated requests over connections of their own. Count those that the server neither answers nor closes."""
    address, outcomes = urlsplit(program.base), Outcomes()
    numbers = iter(range(inputs))
    (request,) = _read_seeds(("head.http",))
    request = request.replace(b"\n", b"\r\n")

    async def work() -> None:
        for number in numbers:
            connection = await asyncio.open_connection(address.hostname, address.port)
            try:
                async with asyncio.timeout(_ANSWER_S):
                    outcomes[await _exchange(*connection, mutate_bytes(request, random.Random(seed + number)))] += 1
            except TimeoutError:
                outcomes["hung"] += 1
            finally:
                connection[1].close()

    await asyncio.gather(*(work() for _ in range(_CONNECTIONS)))
    return outcomes


async def _exchange(source: asyncio.StreamReader, sink: asyncio.StreamWriter, data: bytes) -> str:
    try:
        sink.write(data)
        sink.write_eof()
        answer = await source.read(12)
    except ConnectionError:
        return "closed"
    return answer[9:12].decode("ascii", "replace") or "closed"


def mutate_bytes(data: bytes, rng: random.Random) -> bytes:
    """Return the data with one to six changes."""
    for _ in range(rng.randint(1, 6)):
        at, size = rng.randint(0, len(data)), rng.choice((0, 0, 1, 4, 40))
        match rng.randrange(4):
            case 0:
                data = data[:at] + rng.choice(_PIECES) + data[at + size :]
            case 1:
                data = data[:at] + bytes(rng.randrange(256) for _ in range(rng.randint(1, 4))) + data[at + size :]
            case 2:
                end = min(len(data), at + rng.randint(1, 200))
                data = data[:end] + data[at:end] * rng.choice((1, 1, 30)) + data[end:]
            case _:
                data = data[:at] if rng.random() < 0.2 else data[:at] + data[at + rng.randint(1, 60) :]
    return data


def _fuzz(parse: Callable[[bytes], object], seeds: tuple[str, ...], inputs: int, seed: int) -> Outcomes:
    outcomes, sources = Outcomes(), _read_seeds(seeds)
    for number in range(inputs):
        rng = random.Random(seed + number)
        data = mutate_bytes(rng.choice(sources), rng)
        started = time.process_time()
        try:
            parse(data)
            outcomes["read"] += 1
        except ScraperError:
            outcomes["refused"] += 1
        except Exception as error:
            print(f"{seeds[0]}, input {seed + number}: {type(error).__name__}: {error}"[:300])
            outcomes["crashed"] += 1
        if time.process_time() - started > _SLOW_S:
            print(f"{seeds[0]}, input {seed + number}: {time.process_time() - started:.1f} s")
            outcomes["hung"] += 1
    return outcomes


def _read_seeds(names: tuple[str, ...]) -> list[bytes]:
    folder = resources.files("benchmarks.fuzz") / "corpus"
    seeds = [(folder / name).read_bytes() for name in names]
    return seeds[0].splitlines() if names == ("urls.txt",) else seeds


def _read_page(data: bytes) -> object:
    return reader.read(Snapshot(_URL, _URL, 200, media_type="text/html", html=data.decode("utf-8", "replace")))


def _match_style_sheet(data: bytes) -> object:
    root = html.fromstring(
        "<html><body><p class='x y' id=x data-a=bc>text</p><div class=gone><b>b</b></div></body></html>"
    )
    return find_hidden_by_rules(root, [data.decode("utf-8", "replace")])


def _read_document(data: bytes) -> object:
    """Read a document as its process does, which reports a document that is nested too deeply."""
    try:
        return read_document(data, ParseRequest())
    except RecursionError as error:
        raise MalformedDocumentError("It is nested too deeply.") from error
