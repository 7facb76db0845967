"""Pages that take more memory or send more messages than a page may: they end, and their neighbors do not notice."""

from __future__ import annotations

import asyncio
import contextlib
import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from browsers import Browsers, Mode, VisitLimits
from browsers.cdp import session
from browsers.chromium import renderer_limits
from browsers.chromium.renderer_limits import command_line, list_tree_pids
from browsers.navigation import readiness
from browsers.navigation import visit as visit_module
from tests.browsers.visits import marks, visit
from tests.growth import full_size, thorough
from tests.site.running import Site

# A page that fills memory slowly on a busy machine must not count as one in an endless loop.
pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("unhurried")]

HOARDING = ("/canvas-hog", "/buffer-hog")
MOST_BYTES = 900_000_000
"""600 MB, and what a page fills on a busy machine until the next check. Without a limit it is several gigabytes."""


@contextlib.contextmanager
def measured_renderers() -> Iterator[list[int]]:
    """Measure the resident bytes of the largest renderer of this process, in the only entry of the list."""
    largest, done = [0], threading.Event()

    def measure() -> None:
        while not done.wait(0.02):
            for pid in list_tree_pids(os.getpid()):
                if b"--type=renderer" in command_line(pid):
                    with contextlib.suppress(OSError, IndexError):
                        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
                        largest[0] = max(largest[0], pages * os.sysconf("SC_PAGE_SIZE"))

    thread = threading.Thread(target=measure)
    thread.start()
    try:
        yield largest
    finally:
        done.set()
        thread.join()


@pytest.mark.parametrize("mode", [Mode.AUTO, thorough(Mode.RENDER)])
@pytest.mark.parametrize("path", HOARDING)
async def test_hoarding_page_is_ended_and_returned_as_served(
    browsers: Browsers, site: Site, path: str, mode: Mode
) -> None:
    before = site.hits(path)
    with measured_renderers() as largest:
        snapshot = await visit(browsers, site, path, mode)
    assert (snapshot.rendered, snapshot.complete, marks(snapshot)) == (False, False, 10)
    assert 100_000_000 < largest[0] < MOST_BYTES
    # Rendered once only: it would exceed the limit again.
    assert site.hits(path) - before <= (1 if mode is Mode.AUTO else 2)


async def test_hoarding_page_names_its_limit(browsers: Browsers, site: Site) -> None:
    snapshots = [await visit(browsers, site, "/buffer-hog", Mode.AUTO) for _ in range(2)]
    assert "memory" in {snapshot.exceeded_limit for snapshot in snapshots}


@pytest.mark.parametrize("path", ["/worker-hog", thorough("/wasm-hog")])
async def test_other_memory_of_a_page_has_the_same_limit(browsers: Browsers, site: Site, path: str) -> None:
    with measured_renderers() as largest:
        snapshot = await visit(browsers, site, path, Mode.AUTO)
    assert marks(snapshot) == 10
    assert largest[0] < MOST_BYTES


@pytest.mark.thorough
async def test_neighbors_of_hoarding_pages_are_read(browsers: Browsers, site: Site) -> None:
    hostile = [asyncio.create_task(visit(browsers, site, path, host="host1.example")) for path in HOARDING]
    for number in range(4):
        snapshot = await visit(browsers, site, f"/spa/{number}", host="host2.example")
        assert snapshot.complete
        assert not snapshot.exceeded_limit
    for snapshot in await asyncio.gather(*hostile):
        assert not snapshot.rendered


async def test_page_with_many_threads_gets_the_lowest_priority(browsers: Browsers, site: Site) -> None:
    def lowered() -> int:
        pids = [pid for pid in list_tree_pids(os.getpid()) if b"--type=renderer" in command_line(pid)]
        return sum(os.getpriority(os.PRIO_PROCESS, pid) == 19 for pid in pids)

    crowd = asyncio.create_task(visit(browsers, site, "/worker-crowd", host="host1.example"))
    while not crowd.done() and not lowered():  # noqa: ASYNC110
        await asyncio.sleep(0.05)
    assert lowered() == 1
    assert (await visit(browsers, site, "/spa/1", host="host2.example")).complete
    crowd.cancel()


@pytest.mark.thorough
async def test_page_that_floods_the_pipe_is_dropped(
    browsers: Browsers, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, "MAX_EVENT_BYTES", 5_000_000)
    snapshot = await visit(browsers, site, "/url-flood", Mode.AUTO)
    assert (snapshot.exceeded_limit, snapshot.rendered, marks(snapshot)) == ("messages to the browser", False, 10)
    assert (await visit(browsers, site, "/spa/1")).complete


async def test_number_of_events_of_a_page_is_limited(
    browsers: Browsers, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, "MAX_EVENTS", 1_000)
    snapshot = await visit(browsers, site, "/request-flood", Mode.AUTO)
    assert (snapshot.exceeded_limit, marks(snapshot)) == ("messages to the browser", 10)


@pytest.mark.thorough
@pytest.mark.parametrize("readiness_s", [4.0, full_size(8.0, id="8.0")])
async def test_console_flood_leaves_the_browser_usable(browsers: Browsers, site: Site, readiness_s: float) -> None:
    limits = VisitLimits(readiness_s=readiness_s)
    flood = asyncio.create_task(visit(browsers, site, "/console-endless", host="host1.example", limits=limits))
    assert (await visit(browsers, site, "/spa/1", host="host2.example")).complete
    assert marks(await flood) == 10


async def test_page_that_fills_the_browser_is_ended(
    browsers: Browsers, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(renderer_limits, "_FLOOD_BYTES", 500_000)
    monkeypatch.setattr(renderer_limits, "_MAX_FLOODS", 1)
    snapshot = await visit(browsers, site, "/console-endless", Mode.AUTO)
    assert (snapshot.exceeded_limit, snapshot.rendered, marks(snapshot)) == ("memory", False, 10)


async def test_page_that_does_not_answer_is_returned_as_served(
    browsers: Browsers, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(readiness, "_BUSY_LIMIT_S", 0.0)
    snapshot = await visit(browsers, site, "/spa/1", Mode.AUTO)
    assert (snapshot.exceeded_limit, snapshot.rendered, snapshot.complete) == ("time", False, False)


@pytest.mark.parametrize(
    ("mode", "limit_s"),
    [(Mode.AUTO, 1.0), full_size(Mode.AUTO, 8.0, id="8 s"), full_size(Mode.RENDER, 8.0, id="render")],
)
async def test_page_with_endless_dialogs_is_returned(
    browsers: Browsers, site: Site, monkeypatch: pytest.MonkeyPatch, mode: Mode, limit_s: float
) -> None:
    # Dialogs open until all have passed.
    monkeypatch.setattr(readiness, "SAMPLE_LIMIT_S", limit_s)
    monkeypatch.setattr(visit_module, "CAPTURE_LIMIT_S", limit_s)
    # The end of the page's scripts often ends one of the visit, too.
    snapshot = await visit(browsers, site, "/alerts-again", mode, limits=VisitLimits(readiness_s=limit_s))
    assert marks(snapshot) >= 1
    assert snapshot.exceeded_limit in ("", "dialogs", "messages to the browser", "time")
