"""Measure the cost of the egress proxy: CPU per megabyte and per page of forty resources, time per listener."""

from __future__ import annotations

import statistics
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field

from playwright.async_api import Browser, async_playwright

from benchmarks.common.command_line import Figures, Options, print_table
from benchmarks.egress.proxy_peer import HOSTS, Peer, proxy_peer
from browsers import BrowserSettings, Tier
from browsers.chromium.locate import find_chromium
from browsers.egress.proxy_server import EgressProxy

_MEGABYTES = 64
_WIRE_BYTES = 1 << 40
_LISTENERS = 200
_PAGE_LIMIT_MS = 30_000
_ROUNDS, _ROUNDS_QUICK = 25, 9


@dataclass(slots=True)
class _Laps:
    """Wall-clock and CPU milliseconds of the pages, with or without the proxy."""

    clock_ms: list[float] = field(default_factory=list)
    cpu_ms: list[float] = field(default_factory=list)


async def measure_cost(options: Options) -> Figures:
    """Measure megabytes, listeners and pages; pages alternate with a browser without the proxy."""
    async with proxy_peer() as peer:
        hosts = tuple((host, "127.0.0.1", peer.port) for host in HOSTS)
        egress = EgressProxy(BrowserSettings(test_hosts=hosts))
        try:
            figures = {
                "cpu_ms_per_mb": await _megabyte(egress, peer),
                "gate_ms": await _listener(egress),
                **await _pages(egress, peer, _ROUNDS_QUICK if options.quick else _ROUNDS),
            }
        finally:
            await egress.close()
    print_table("Cost of the proxy", ("", ""), figures.items())
    return figures


async def _megabyte(egress: EgressProxy, peer: Peer) -> float:
    listener = await egress.open_listener()
    listener.begin_visit(_WIRE_BYTES)
    laps = []
    for _ in range(5):
        before = time.process_time()
        await peer.read_through(listener.port, _MEGABYTES)
        laps.append((time.process_time() - before) * 1e3 / _MEGABYTES)
    await listener.close()
    return statistics.median(laps)


async def _listener(egress: EgressProxy) -> float:
    before = time.perf_counter()
    for _ in range(_LISTENERS):
        await (await egress.open_listener()).close()
    return (time.perf_counter() - before) * 1e3 / _LISTENERS


async def _pages(egress: EgressProxy, peer: Peer, rounds: int) -> Figures:
    direct, proxied = _Laps(), _Laps()
    async with _browsers(peer) as (without, with_proxy):
        for number in range(rounds + 1):
            await _page(without, None, number, direct)
            await _page(with_proxy, egress, number, proxied)
    # The first page of each is a warm-up.
    cpu = [statistics.median(laps.cpu_ms[1:]) for laps in (direct, proxied)]
    clock = [statistics.median(laps.clock_ms[1:]) for laps in (direct, proxied)]
    return {
        "page_cpu_ms": cpu[1] - cpu[0],
        "page_cpu_ms.with_driver": cpu[1],
        "page_ms": clock[1],
        "page_ms.direct": clock[0],
    }


async def _page(browser: Browser, egress: EgressProxy | None, number: int, laps: _Laps) -> None:
    listener = None if egress is None else await egress.open_listener()
    if listener is not None:
        listener.begin_visit(_WIRE_BYTES)
    context = await browser.new_context(proxy=None if listener is None else {"server": listener.proxy_server})
    page = await context.new_page()
    clock, cpu = time.perf_counter(), time.process_time()
    label = "direct" if listener is None else "proxied"
    await page.goto(f"http://{HOSTS[0]}/page/{label}/{number}", wait_until="load", timeout=_PAGE_LIMIT_MS)
    laps.clock_ms.append((time.perf_counter() - clock) * 1e3)
    laps.cpu_ms.append((time.process_time() - cpu) * 1e3)
    await context.close()
    if listener is not None:
        await listener.close()


@asynccontextmanager
async def _browsers(peer: Peer) -> AsyncIterator[tuple[Browser, Browser]]:
    """Open a plain browser that resolves the hosts by itself, and one that needs the proxy."""
    found = find_chromium(Tier.LIGHT, None) or find_chromium(Tier.FULL, None)
    assert found is not None, "no Chromium"
    rules = "--host-resolver-rules=" + ",".join(f"MAP {host} 127.0.0.1:{peer.port}" for host in HOSTS)
    async with async_playwright() as playwright, AsyncExitStack() as stack:
        pair = []
        for more in ([rules], []):
            browser = await playwright.chromium.launch(executable_path=found.executable, args=["--no-sandbox", *more])
            stack.push_async_callback(browser.close)
            pair.append(browser)
        yield pair[0], pair[1]
