"""Virtual time of a page in a real browser."""

from __future__ import annotations

import pytest

from browsers import Browsers
from tests.browsers.visits import marks, visit
from tests.site.running import Site

pytestmark = pytest.mark.browser


async def test_virtual_time_runs_only_due_timers(browsers: Browsers, site: Site) -> None:
    snapshot = await visit(browsers, site, "/session")
    assert marks(snapshot) == 10
    assert ">Your time is up" not in snapshot.html
    assert snapshot.html.count("<p>") == 10


async def test_virtual_time_stops_during_requests(browsers: Browsers, site: Site) -> None:
    snapshot = await visit(browsers, site, "/patient")
    assert marks(snapshot) == 12
