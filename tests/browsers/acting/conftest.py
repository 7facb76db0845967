"""Fixtures of the tests of sessions."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from browsers import Browsers
from tests.browsers.acting.scripts import Actor, run_steps
from tests.site.running import Site


@pytest.fixture
def browsers(browsers_of_a_tier: Browsers) -> Browsers:
    """Return browsers of one tier: each test runs in both, and `make test` runs only the light one."""
    return browsers_of_a_tier


@pytest.fixture
async def actor(browsers: Browsers, site: Site) -> AsyncIterator[Actor]:
    """Return a caller whose session ends with the test."""
    one = Actor(browsers, site)
    yield one
    if one.session is not None:
        await run_steps(browsers, ["close"], session=one.session)
