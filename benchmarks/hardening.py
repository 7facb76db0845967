"""Attack a running server: hoarding pages, floods, heads without a token, hidden text and hidden characters.

`renderer_mb` is the resident memory of the largest renderer while twelve pages hoard memory. `neighbor_factor_one`
and `neighbor_factor` are the slowest of the neighbors' medians beside one hoarding page, and beside one of all
hostile pages, divided by the median alone just before. `heads_mb` is the growth of the server by request heads of 50
MB in total, and `half_heads_s` the seconds until `/health` answers beside 1,500 incomplete heads. `invisible_bits`
counts the bits of 256 that the worst invisible code point carries through. `index_bytes_per_char` is the memory of a
named index by characters of its texts. `hidden.rendered`, `hidden.auto` and `hidden.served` count hidden texts that
pass; `hidden.lost` and `hidden.more_rendered` need `--corpora`. `detectors.light` and the soak test need a run in
full size.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import os
import random
import statistics
import string
import tempfile
import threading
import time
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import aiohttp

from benchmarks import hidden_rules, hidden_text, noisy_neighbor, soak
from benchmarks.common.command_line import Figures, Goal, Options, print_goals, print_table, run
from benchmarks.common.processes import command_of, tree
from benchmarks.common.wire_client import ERAS, WireClient, wire_client
from benchmarks.stealth import __main__ as stealth
from scraper.store.index_model import IndexDocument
from scraper.store.index_service import IndexService
from scraper.text.markdown_structure import clean_markdown
from tests.scraper.process import Program, browsers_say, serving
from tests.site.hoards import HOARDING
from tests.site.running import Site, running_site

_START_S = 60.0
_SAMPLE_S = 0.02
_ALONE = 7
_BESIDE = 5
_HEADS = 1_500
_HEAD_BYTES = 50_000_000
_BITS = 256
_QUICK_STEP = 10
"""With `--quick`, every tenth page of the corpora is read."""
_SEED = 29
_VOCABULARY = 50_000
_INDEX_TEXTS = 3_000
_INDEX_WORDS = 1_000
_MEGABYTE = 1_000_000
_GOALS = (
    Goal("renderer_mb", at_most=700),
    Goal("neighbor_factor_one", at_most=2),
    Goal("neighbor_factor", at_most=3),
    Goal("heads_mb", at_most=20),
    Goal("half_heads_s", at_most=1),
    Goal("hidden.rendered", at_most=1),
    Goal("hidden.auto", at_most=3),
    Goal("hidden.lost", at_most=0.001),
    Goal("hidden.more_rendered", at_most=0.03),
    Goal("invisible_bits", at_most=0),
    Goal("index_bytes_per_char", at_most=4),
    Goal("detectors.light", at_most=1),
    Goal("soak.pss", at_most=1.1),
    Goal("soak.left", at_most=0),
)


async def measure(options: Options) -> Figures:
    """Run all attacks that this version has."""
    figures: Figures = {"invisible_bits": _invisible_bits(), "index_bytes_per_char": await _index_bytes_per_char()}
    with (
        running_site() as site,
        running_site() as hostile_site,
        tempfile.TemporaryDirectory(prefix="benchmark-data-") as folder,
    ):
        env = {
            "SEARCH_MCP_TEST_HOSTS": hostile_site.test_hosts_variable,
            "SEARCH_MCP_ALLOW_NETS": "127.0.0.0/8",
            "SEARCH_MCP_DATA": folder,
        }
        async with serving("-m", "scraper.cli.main", "serve", "--port", "0", env=env) as program:
            await browsers_say(program.base, "ready", True, limit_s=_START_S)
            figures |= await _heads(program)
            async with wire_client(program.url, ERAS[0]) as one, wire_client(program.url, ERAS[0]) as other:
                figures |= await _hidden(hostile_site, one)
                figures |= await _pages(program, site, hostile_site, one, other, options.quick)
    if options.corpora is not None:
        figures |= hidden_rules.measure_cost(options.corpora, _QUICK_STEP if options.quick else 1)
    if not options.quick:
        soaked = await soak.measure(options, soak.VISITS_OF_AN_HOUR)
        figures |= {
            key: value for key, value in (await stealth.measure(options)).items() if key.startswith("detectors.")
        }
        figures |= {"soak.pss": soaked["pss_ratio"], "soak.left": soaked["left_over"]}
    print_goals(figures, _GOALS)
    return figures


async def _pages(
    program: Program, site: Site, hostile_site: Site, normal: WireClient, hostile: WireClient, quick: bool
) -> Figures:
    """Read a plain page that needs its script, alone and beside each hostile page."""
    numbers = itertools.count()

    async def read() -> float:
        started = time.monotonic()
        outcome = await normal.call("fetch", {"url": site.direct(f"/spa/{next(numbers)}"), "render": "browser"})
        if outcome.is_error:
            raise RuntimeError(f"The normal page failed: {outcome.text[:200]}")
        return time.monotonic() - started

    async def factor(path: str) -> float:
        # The speed of a shared machine changes within minutes.
        alone = statistics.median([await read() for _ in range(_ALONE)])
        url = hostile_site.url(f"{path}?for={next(numbers)}")
        attack = asyncio.create_task(hostile.call("fetch", {"url": url, "render": "browser"}))
        try:
            beside = [await read() for _ in range(_BESIDE)]
            await attack
        finally:
            attack.cancel()
        return statistics.median(beside) / alone

    await read()
    with _largest_renderer(program.process.pid) as largest:
        hoarding = {path: await factor(path) for path in (HOARDING[:3] if quick else HOARDING)}
    others = {path: await factor(path) for path in (("/console-endless", "/url-flood") if quick else _other_pages())}
    print_table("Neighbor beside a hostile page", ("page", "factor"), list((hoarding | others).items()))
    return {
        "renderer_mb": largest[0] / _MEGABYTE,
        "neighbor_factor_one": max(hoarding.values()),
        "neighbor_factor": max([*hoarding.values(), *others.values()]),
    }


def _other_pages() -> tuple[str, ...]:
    more = ("/console-endless", "/url-flood", "/request-flood-apart", "/alerts", "/throws", "/loop-late", "/leave")
    others = ("/wasm-hog", "/meta-loop", "/loop-long", "/scroll-endless", "/alerts-again", "/worker-crowd")
    return (*noisy_neighbor.HOSTILE, *more, *others)


@contextlib.contextmanager
def _largest_renderer(root: int) -> Iterator[list[int]]:
    """Measure the largest resident size of a renderer below the process, in the only entry of the list."""
    largest, done = [0], threading.Event()

    def sample() -> None:
        while not done.wait(_SAMPLE_S):
            for process in tree(root):
                if "--type=renderer" in command_of(process.pid):
                    largest[0] = max(largest[0], _resident_bytes(process.pid))

    thread = threading.Thread(target=sample)
    thread.start()
    try:
        yield largest
    finally:
        done.set()
        thread.join()


def _resident_bytes(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, IndexError):
        return 0


async def _heads(program: Program) -> Figures:
    """Send heads that never end, and many that are incomplete."""
    address = urlsplit(program.base)
    assert address.hostname is not None and address.port is not None
    before = _resident_bytes(program.process.pid)
    with contextlib.suppress(OSError):
        _, writer = await asyncio.open_connection(address.hostname, address.port)
        writer.write(b"POST /mcp HTTP/1.1\r\nHost: localhost\r\n")
        line = b"X-Field: " + b"x" * 1_000 + b"\r\n"
        with contextlib.closing(writer):
            for _ in range(_HEAD_BYTES // len(line)):
                writer.write(line)
                await writer.drain()
    grown = _resident_bytes(program.process.pid) - before
    async with contextlib.AsyncExitStack() as stack:
        for _ in range(_HEADS):
            try:
                _, writer = await asyncio.open_connection(address.hostname, address.port)
            except OSError:
                continue
            stack.callback(writer.close)
            writer.write(b"GET /health HTTP/1.1\r\nHost: loc")
        started = time.monotonic()
        async with aiohttp.ClientSession() as http, http.get(program.base + "/health") as answer:
            await answer.read()
        seconds = time.monotonic() - started
    return {"heads_mb": grown / _MEGABYTE, "half_heads_s": seconds}


async def _hidden(site: Site, client: WireClient) -> Figures:
    """Count the hidden texts that each way to read lets through."""
    samples = [one for one in await asyncio.to_thread(hidden_text.read_samples, site) if not one.visible]
    figures: Figures = {"hidden.samples": len(samples)}
    for key, render in (("hidden.rendered", "browser"), ("hidden.auto", "auto"), ("hidden.served", "http")):
        pages = {one.page for one in samples}
        calls = {page: await client.call("fetch", {"url": site.url(page), "render": render}) for page in pages}
        through = [one for one in samples if one.marker in calls[one.page].text.replace("\\", "")]
        print_table(f"Hidden texts that pass with render={render}", ("text",), [(one.name,) for one in through])
        figures[key] = len(through)
    return figures


async def _index_bytes_per_char() -> float:
    """Return the growth of this process by an index in memory, divided by the characters of its texts."""
    words = random.Random(_SEED)
    vocabulary = ["".join(words.choices(string.ascii_lowercase, k=words.randint(2, 12))) for _ in range(_VOCABULARY)]
    ranks = [1 / rank for rank in range(1, _VOCABULARY + 1)]
    with tempfile.TemporaryDirectory(prefix="benchmark-indexes-") as folder:
        indexes = IndexService(Path(folder))
        await indexes.add("default", IndexDocument("first", "loads the modules"), principal="local")
        await indexes.search("default", "modules", principal="local", limit=1)
        before, chars = _resident_bytes(os.getpid()), 0
        for number in range(_INDEX_TEXTS):
            text = " ".join(words.choices(vocabulary, ranks, k=_INDEX_WORDS))
            await indexes.add("default", IndexDocument(str(number), text), principal="local")
            chars += len(text)
        grown = _resident_bytes(os.getpid()) - before
        await indexes.close()
    return grown / chars


def _invisible_bits() -> float:
    """Return the most bits of a message that any invisible code point carries through the reader."""
    codes = (code for code in range(0x110000) if unicodedata.category(chr(code)) in {"Cf", "Cn", "Zs"})
    ignorable = (0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, *range(0x180B, 0x1810), 0x3164, 0xFFA0, *range(0xFE00, 0xFE10))
    survived = 0
    for code in {*codes, *ignorable, *range(0xE0000, 0xE1000)} - {0x20}:
        character = chr(code)
        # A few bits as a sample; the whole message only if any of them survives, as character or as white space.
        sample = clean_markdown(f"a{character}bc{character}{character}d {character} e")[0]
        if sample.replace("a bc d e", "abcd e") != "abcd e":
            bits = clean_markdown(f"a {character} " * _BITS)[0]
            survived = max(survived, bits.count(character), bits.count("  "))
    return survived


if __name__ == "__main__":
    run(__doc__ or "", measure)
