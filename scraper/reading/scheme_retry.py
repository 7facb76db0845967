"""Read addresses without a scheme: by their likeliest URLs first, then by those with the other scheme."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TypeVar

from scraper.call_context import Deadline
from scraper.errors import HostDownError, InvalidUrlError, is_unreachable
from scraper.urls import parse_target

T = TypeVar("T")

_MIN_RETRY_S = 1.0
"""Seconds that must be left for a second call."""


async def read_with_other_urls(
    read: Callable[[Mapping[str, str]], Awaitable[T]],
    other_urls: Mapping[str, str],
    errors_of: Callable[[T], Mapping[str, object]],
    deadline: Deadline | None = None,
) -> T:
    """Read URLs; if some cannot be reached, read once more with their other URLs, and return the better result.

    The second result is better if it has fewer such errors, or if each host accepted the connection.

    Args:
        read: Reads the URLs, with the replacements in its argument.
        other_urls: Other URL of each URL, see `scraper.urls.guess_urls`; empty without one.
        errors_of: Returns the errors in a result by canonical URL.
        deadline: No second call is made less than a second before it.
    """
    first = await read({})
    before = errors_of(first)
    others = {url: other for url, other in other_urls.items() if other and is_unreachable(before.get(_canonical(url)))}
    if not others or (deadline is not None and deadline.left_s() < _MIN_RETRY_S):
        return first
    second = await read(others)
    errors = errors_of(second)
    after = [errors.get(_canonical(other)) for other in others.values()]
    has_fewer = sum(map(is_unreachable, after)) < len(others)
    return second if has_fewer or not any(isinstance(error, HostDownError) for error in after) else first


def _canonical(url: str) -> str:
    try:
        return parse_target(url)
    except InvalidUrlError:
        return url
