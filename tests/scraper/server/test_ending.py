"""All together it may take twelve seconds."""

from __future__ import annotations

from scraper.server.ending import LAST_BYTES_S, last_bytes_s


def test_whoever_was_silent_through_a_long_drain_is_waited_for_no_longer_than_the_whole_may_take() -> None:
    assert last_bytes_s(0) == last_bytes_s(8) == LAST_BYTES_S
    assert 0 < last_bytes_s(60) <= last_bytes_s(10) < 0.5
    for waited_s in range(11):  # the rest of the twelve is for the browsers
        assert waited_s + last_bytes_s(waited_s) < 10.5
