"""All together it may take twelve seconds."""

from __future__ import annotations

from scraper.server.lifecycle.shutdown_budget import LAST_BYTES_S, last_bytes_s
from scraper.settings import Settings

ALL_TOGETHER_S = 12.0
FORCE_AND_BROWSERS_S = 2.1
"""What was measured at most between the last bytes and the end of the process."""


def test_whoever_was_silent_through_a_long_drain_is_waited_for_no_longer_than_the_whole_may_take() -> None:
    assert last_bytes_s(0) == last_bytes_s(7) == LAST_BYTES_S
    drain_s = Settings().drain_s
    assert 0 < last_bytes_s(60) <= last_bytes_s(drain_s) < 0.5
    for tenths in range(round(10 * drain_s) + 1):
        assert tenths / 10 + last_bytes_s(tenths / 10) < ALL_TOGETHER_S - FORCE_AND_BROWSERS_S
