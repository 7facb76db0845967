"""Read several pages at once, within one deadline, and addresses without a scheme by their likeliest URLs first."""

import asyncio
import itertools
import logging
import time
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from scraper import errors
from scraper.caching import CANCEL_LIMIT_S
from scraper.call_context import Deadline, ProgressCallback
from scraper.model import Reading
from scraper.urls import host_of, parse_target, request_key

log = logging.getLogger(__name__)

T = TypeVar("T")

PageOutcome = Reading | errors.ScraperError
ReadUrl = Callable[[str, float], Awaitable[Reading]]

_LAST_RESERVE_S = 0.5
"""Seconds before the deadline at which reading ends, so that a late page still returns its loaded part."""
_SLOW_PAGE_S = 8.0
"""Seconds. If a page takes longer, the next page in the list is read too, and the first to finish counts."""
_MIN_RETRY_S = 1.0
"""Seconds that must be left for a second call with other URLs."""
_TICK_S = 0.01
"""Seconds added to a wait, so that a page is already late when it is checked."""


def repeated_hosts(urls: Iterable[str]) -> frozenset[str]:
    """Return the hosts that occur in more than one URL."""
    pages = Counter(map(host_of, set(urls)))
    return frozenset(host for host, count in pages.items() if host and count > 1)


async def read_all(
    read: Callable[[str, float], Awaitable[T]],
    urls: Sequence[str],
    *,
    concurrency: int,
    deadline: Deadline,
    progress: ProgressCallback | None,
) -> list[T | errors.ScraperError]:
    """Read each URL once, `concurrency` at a time; return results of `read` or errors in the order of the URLs.

    `read` gets the URL from `parse_target` and the seconds left. URLs that are not read before the deadline get a
    timeout error.
    """
    outcomes: dict[str, T | errors.ScraperError] = {}
    targets: dict[str, str] = {}
    keys: list[str] = []
    for url in urls:
        try:
            target = parse_target(url)
        except errors.InvalidUrlError as error:
            keys.append(url)
            outcomes[url] = error
        else:
            keys.append(request_key(target))
            targets.setdefault(keys[-1], target)
    slots, done = asyncio.Semaphore(concurrency), itertools.count(1)

    async def read_one(target: str) -> T | errors.ScraperError:
        outcome: T | errors.ScraperError
        async with slots:
            try:
                outcome = await read(target, deadline.left_s(reserve_s=_LAST_RESERVE_S))
            except errors.ScraperError as error:
                outcome = error
        count = next(done)
        if progress is not None:
            progress(count, len(targets), f"read {count} of {len(targets)}: {host_of(target)}")
        return outcome

    if progress is not None:
        progress(0, len(targets), f"reading {len(targets)} pages")
    # No task group: a bug in one page must not cancel the others.
    tasks = {
        key: asyncio.create_task(read_one(target), name=f"batch {host_of(target)}") for key, target in targets.items()
    }
    try:
        if tasks:
            await asyncio.wait(tasks.values(), timeout=deadline.left_s())
    finally:
        await _cancel(tasks.values())
    if progress is not None and next(done) <= len(targets):
        progress(len(targets), len(targets), "out of time")
    for key, task in tasks.items():
        if not task.done() or task.cancelled():
            outcomes[key] = _timeout_error(targets[key], "the batch's time", ", or ask for fewer pages at once")
        else:
            outcomes[key] = _task_outcome(task, targets[key])
    return [outcomes[key] for key in keys]


async def read_with_replacements(
    read: ReadUrl,
    urls: Sequence[str],
    count: int,
    deadline: Deadline,
    *,
    patience_s: float = _SLOW_PAGE_S,
    on_read: Callable[[int, str], None] = lambda count, host: None,
) -> dict[str, PageOutcome]:
    """Read the first `count` URLs at once, and later ones in place of those that fail or take over `patience_s`.

    Return the outcome of each URL that was tried. `on_read` is called with the number of readings so far and the host
    of the last page tried.
    """
    outcomes: dict[str, PageOutcome] = {}
    pending = deque(urls)
    running: dict[asyncio.Task[Reading], tuple[str, float]] = {}
    """URL, and the time of the monotonic clock after which it is late."""

    def missing() -> int:
        return count - sum(isinstance(outcome, Reading) for outcome in outcomes.values())

    try:
        while missing() > 0 and deadline.left_s() > 0:
            now = time.monotonic()
            in_time = sum(late_at > now for _, late_at in running.values())
            for _ in range(min(missing() - in_time, len(pending))):
                url = pending.popleft()
                task = asyncio.ensure_future(read(url, deadline.left_s(reserve_s=_LAST_RESERVE_S)))
                running[task] = url, now + patience_s
            if not running:
                break
            waits_s = [late_at - now for _, late_at in running.values() if late_at > now]
            limit_s = min([*waits_s, deadline.left_s()]) + _TICK_S
            done, _ = await asyncio.wait(running, timeout=limit_s, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                url, _ = running.pop(task)
                outcomes[url] = _task_outcome(task, url)
                on_read(count - missing(), host_of(url))
    finally:
        if missing() > 0:
            late = (url for task, (url, _) in running.items() if not task.done())
            outcomes |= {url: _timeout_error(url, "the time for the whole answer") for url in late}
        await _cancel(running)
    return outcomes


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
    others = {
        url: other for url, other in other_urls.items() if other and errors.is_unreachable(before.get(_canonical(url)))
    }
    if not others or (deadline is not None and deadline.left_s() < _MIN_RETRY_S):
        return first
    second = await read(others)
    found = errors_of(second)
    after = [found.get(_canonical(other)) for other in others.values()]
    has_fewer = sum(map(errors.is_unreachable, after)) < len(others)
    return second if has_fewer or not any(isinstance(error, errors.HostDownError) for error in after) else first


def _canonical(url: str) -> str:
    try:
        return parse_target(url)
    except errors.InvalidUrlError:
        return url


async def _cancel(tasks: Iterable[asyncio.Task[Any]]) -> None:
    """Cancel the running tasks, and wait until they have released their tabs."""
    running = [task for task in tasks if not task.done()]
    for task in running:
        task.cancel()
    if running:
        await asyncio.wait(running, timeout=CANCEL_LIMIT_S)


def _task_outcome(
    task: asyncio.Task[T] | asyncio.Task[T | errors.ScraperError], target: str
) -> T | errors.ScraperError:
    error = task.exception()
    if error is None:
        return task.result()
    if isinstance(error, errors.ScraperError):
        return error
    log.error("internal error while reading %s", host_of(target), exc_info=error)
    return errors.InternalError(
        f"Reading the page at {host_of(target)} failed because of an internal error.",
        target=target,
        next_step="Its log says more. Try another source.",
    )


def _timeout_error(target: str, limit: str, advice: str = "") -> errors.FetchTimeoutError:
    message = f"The page at {host_of(target)} was not read before {limit} was up."
    return errors.FetchTimeoutError(message, target=target, next_step=f"Fetch it by itself{advice}.")
