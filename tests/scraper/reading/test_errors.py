"""Each thing that can go wrong on the way has one thing that a user is told."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from browsers import errors as door
from scraper import errors
from scraper.reading.errors import translated

URL = "https://example.org/page"

TOLD = {
    door.BadScheme: (errors.BadUrl, False),
    door.BlockedAddress: (errors.PrivateAddress, False),
    door.UnsafePort: (errors.Refused, False),
    door.NameNotResolved: (errors.HostDown, False),
    door.NameLookupTimeout: (errors.HostDown, True),
    door.ConnectionRefused: (errors.HostDown, True),
    door.HostUnreachable: (errors.HostDown, True),
    door.ConnectTimeout: (errors.HostDown, True),
    door.ConnectionClosed: (errors.Unreachable, True),
    door.TlsFailed: (errors.Unreachable, False),
    door.TooManyRedirects: (errors.Unreachable, False),
    door.UpstreamProxyFailed: (errors.Unreachable, False),
    door.DeadlineExceeded: (errors.TimedOut, True),
    door.TooLarge: (errors.TooLarge, False),
    door.PageCrashed: (errors.Broken, True),
    door.BrowserGone: (errors.Broken, True),
    door.NoBrowser: (errors.Broken, False),
}


def leaves(kind: type[door.BrowsersError] = door.BrowsersError) -> Iterator[type[door.BrowsersError]]:
    below = [child for child in kind.__subclasses__() if child.__module__ == door.__name__]
    if not below:
        yield kind
    for child in below:
        yield from leaves(child)


def test_every_leaf_of_the_doors_tree_is_in_this_test() -> None:
    assert set(leaves()) == {*TOLD, door.Busy}


@pytest.mark.parametrize("kind", TOLD)
def test_an_error_keeps_its_sentence_its_url_and_whether_a_retry_helps(
    kind: type[door.BrowsersError],
) -> None:
    told = translated(kind("It happened.", url="https://elsewhere.example/"), URL)
    assert (type(told), told.retryable) == TOLD[kind]
    assert told.target == URL
    assert told.sentence().startswith("It happened. ") and told.next_step


def test_a_host_to_which_a_living_one_redirects_says_nothing_of_that_one() -> None:
    error = door.ConnectionRefused("elsewhere.example refused the connection.")
    error.redirected = True
    assert type(translated(error, URL)) is errors.Unreachable


def test_busy_carries_the_time_to_come_back() -> None:
    told = translated(door.Busy("Full.", retry_after_s=7.4), URL)
    assert isinstance(told, errors.Overloaded)
    assert (told.retry_after_s, told.retryable, told.sentence()) == (7.4, True, "Full. Try again in 7 s.")


def test_a_refusal_of_a_kind_unknown_here_stays_a_refusal() -> None:
    class Novel(door.Refused):
        pass

    assert isinstance(translated(Novel("No."), URL), errors.Refused)


def test_the_next_step_for_a_host_that_does_not_exist_names_search() -> None:
    assert "`search`" in translated(door.NameNotResolved("There is no host named x."), URL).next_step
