"""Every difficult page is complete when it counts as ready."""

from __future__ import annotations

import asyncio
import contextlib
from itertools import starmap

import pytest
import pytest_asyncio

from browsers import Browsers, Mode, VisitLimits
from browsers.errors import BrowsersError
from browsers.navigation import readiness
from browsers.navigation import visit as visit_module
from tests.browsers.visits import UNANSWERED, await_answers, await_frames, marks, until, visit
from tests.growth import full_size, thorough
from tests.site.running import Site
from tests.site.server import all_pages

pytestmark = pytest.mark.browser

RUNAWAYS = ["/loop", "/alerts", "/popups", "/prompt"]
MORE_RUNAWAYS = ["/loop-late", "/loop-microtask", "/alerts-endless"]

TRIES = 3
"""Attempts. A page counts as ready after a fraction of a second of idle time, and a busy machine may stall
as long. A wrong rule fails every time."""

AT_ONCE = 4
"""Pages visited at once. They mostly wait: 80 of them take 40 s one after the other."""
AWKWARD = [(page.url, page.marks) for page in all_pages() if page.marks]
OFTEN = AWKWARD[::2]
"""Half of the pages, evenly spread over their kinds, which `make test` visits. `make test-all` and CI visit all."""


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def first_look(browsers: Browsers, site: Site) -> dict[str, int]:
    """Visit the pages of OFTEN, a few at once; return the number of marker words in each."""
    found: dict[str, int] = {}
    turns = asyncio.Semaphore(AT_ONCE)

    async def look(path: str) -> None:
        async with turns:
            with contextlib.suppress(BrowsersError):  # the test of this page tries once more
                found[path] = marks(await visit(browsers, site, path))

    with pytest.MonkeyPatch.context() as patch:
        await_frames(patch)
        await asyncio.gather(*(look(path) for path, _ in OFTEN if path in UNANSWERED))
        await_answers(patch)
        await asyncio.gather(*(look(path) for path, _ in OFTEN if path not in UNANSWERED))
    return found


@pytest.mark.usefixtures("time_to_scroll")
@pytest.mark.parametrize(("path", "expected"), [*OFTEN, *starmap(thorough, AWKWARD[1::2])])
async def test_difficult_page_is_complete(
    first_look: dict[str, int], browsers: Browsers, site: Site, path: str, expected: int, request: pytest.FixtureRequest
) -> None:
    if path not in UNANSWERED:
        request.getfixturevalue("time_to_answer")
    found = first_look.get(path, 0)
    for _ in range(TRIES - (path in first_look)):
        if found < expected:
            found = marks(await visit(browsers, site, path))
    assert found >= expected


async def test_a_script_that_waits_for_cpu_time_is_not_ended_as_an_endless_loop(
    browsers: Browsers, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The loop takes longer than the limit of an idle machine.
    monkeypatch.setattr(readiness, "SAMPLE_LIMIT_S", 0.5)
    monkeypatch.setattr(readiness, "measure_slowdown", lambda: 40.0)
    snapshot = await visit(browsers, site, "/loop-long")
    assert "AFTER-THE-LOOP" in snapshot.html and marks(snapshot) == 10


@pytest.mark.parametrize("path", [*RUNAWAYS, *map(thorough, MORE_RUNAWAYS)])
async def test_text_of_an_endless_page_is_captured(browsers: Browsers, site: Site, path: str) -> None:
    snapshot = await visit(browsers, site, path)
    assert snapshot.rendered
    assert marks(snapshot) == 10


NEVER_IDLE = ("/reload-loop", "/dom-growth", "/request-flood")
NEVER_IDLE_TOO = ("/meta-loop", "/history-loop", "/request-flood-apart")


@pytest.mark.parametrize(
    ("path", "readiness_s"),
    [
        (NEVER_IDLE[0], 3.0),
        *(thorough(path, 3.0) for path in NEVER_IDLE[1:]),
        *(full_size(path, 8.0, id=f"{path}-8.0") for path in (*NEVER_IDLE, *NEVER_IDLE_TOO)),
    ],
)
async def test_page_that_is_never_idle_ends_at_its_limit(
    browsers: Browsers, site: Site, path: str, readiness_s: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Allow the capture to take long on a busy machine.
    monkeypatch.setattr(visit_module, "CAPTURE_LIMIT_S", 60.0)
    snapshot = await visit(browsers, site, path, deadline_s=90.0, limits=VisitLimits(readiness_s=readiness_s))
    assert snapshot.status == 200
    assert snapshot.timing.total_s < 90


@pytest.mark.parametrize("path", ["/reload-loop", "/meta-loop"])
async def test_reloading_page_is_stopped(browsers: Browsers, site: Site, path: str) -> None:
    before = site.hits(path)
    await visit(browsers, site, path, deadline_s=90.0)
    # One more request may be in flight when the limit of five is exceeded.
    assert site.hits(path) - before <= 7


@pytest.mark.parametrize(("mode", "times"), [(Mode.AUTO, 1), (Mode.RENDER, 2)])
async def test_page_that_exhausts_memory_is_read_unrendered(
    browsers: Browsers, site: Site, mode: Mode, times: int
) -> None:
    before = site.hits("/heap-hog")
    snapshot = await visit(browsers, site, "/heap-hog", mode)
    assert marks(snapshot) == 10
    assert not snapshot.complete
    assert site.hits("/heap-hog") - before <= times


async def test_no_page_is_prefetched(browsers: Browsers, site: Site) -> None:
    snapshot = await visit(browsers, site, "/ahead")
    assert marks(snapshot) == 10
    await until(lambda: site.hits("/ahead/preload") > 0)
    assert not site.hits("/ahead/rules-prefetch") + site.hits("/ahead/rules-prerender")
