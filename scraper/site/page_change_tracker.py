"""Compare pages with stored earlier versions, also those of a watch list, each at its own interval."""

import asyncio
import contextlib
import hashlib
import itertools
import json
import math
import time
import zlib
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from importlib.metadata import version

import ada_url

from scraper import errors
from scraper.call_context import Deadline, ProgressCallback, ignore_progress
from scraper.errors import ScraperError
from scraper.model import REFRESH, Reading, ReadRequest
from scraper.reading.batch import read_all, read_with_other_urls
from scraper.reading.fetcher import Fetcher
from scraper.site.crawled_page import Soft404Page, link_texts
from scraper.site.model import PageChange
from scraper.site.page_changes import PageComparison, compare_pages, shares_blocks
from scraper.store.protocols import DatabaseUnavailableError
from scraper.store.record_logs import RecordExistsError, RecordLogs, StoredRecord
from scraper.urls import build_missing_url, host_of, page_key, parse_target

MAX_VERSIONS = 20
_MAX_VERSION_BYTES = 1_000_000
"""Compressed bytes of all versions of one page."""
PAGES_AT_ONCE = 4
_MAX_SAMPLES = 2
"""Pages of a site that are read besides its start page, to recognize that it answers every URL with one page."""
_MAX_LOOKS = 2
"""Further readings of a changed page, to recognize content that changes on each visit."""
_LOG = "versions:"
_GONE = frozenset({404, 410})
_RENDER = {"http": "http", "browser": "browser"}
"""Value of `render` by the method that read the earlier version; other methods use `auto`."""
READER = version("search-mcp")
"""Version of the reader. Another version may extract another text from the same page."""


@dataclass(frozen=True, slots=True)
class PageVersion:
    """One stored version of a page."""

    url: str
    """URL after redirects."""
    at: float
    method: str
    reader: str
    markdown: str
    """Markdown of the page, and facts that are not in it."""


class PageChangeTracker:
    """Compare pages with their stored versions."""

    def __init__(self, fetcher: Fetcher, records: RecordLogs) -> None:
        """Read pages with the fetcher; store versions in `records`."""
        self._fetcher = fetcher
        self._records = records

    async def compare(
        self,
        urls: Sequence[str],
        *,
        since: datetime | None = None,
        principal: str = "local",
        deadline_s: float = 55.0,
        progress: ProgressCallback | None = None,
    ) -> list[PageChange | errors.ScraperError]:
        """Read pages, compare each with an earlier version, and store the new versions.

        The earlier version is the newest one up to `since`, or the oldest if all are later; the latest if it is None.
        Return a change or an error for each URL, in their order.
        """

        async def compare_one(url: str, left_s: float) -> PageChange:
            return await self._compare_one(url, since, principal, Deadline.within(left_s))

        return await read_all(
            compare_one,
            urls,
            concurrency=PAGES_AT_ONCE,
            deadline=Deadline.within(deadline_s),
            progress=progress or ignore_progress,
        )

    async def _compare_one(self, url: str, since: datetime | None, principal: str, deadline: Deadline) -> PageChange:
        target = parse_target(url)
        log = _LOG + hashlib.blake2b(page_key(target).encode(errors="replace"), digest_size=16).hexdigest()
        try:
            records = await self._records.read(principal, log)
        except DatabaseUnavailableError:
            raise _store_error() from None
        latest = _load_version(records[-1].data) if records else None
        before = _choose_version(records, since)
        render = _RENDER.get(before.method, "auto") if before else "auto"

        async def read(url: str = target) -> Reading:
            request = ReadRequest(url, render=render, cache=REFRESH, principal=principal, deadline_s=deadline.left_s())
            return await self._fetcher.fetch(request)

        async def read_text() -> str:
            return _text_of(await read())

        try:
            reading = await read()
        except errors.HttpStatusError as error:
            if error.status in _GONE and before is not None:
                return PageChange(url, "gone", time.time(), before.at)
            raise
        _check_content(reading, target)
        new = PageVersion(reading.url, reading.retrieved_at.timestamp(), reading.method, READER, _text_of(reading))
        if before is not None and latest is not None and await _is_missing_page(target, reading, latest.markdown, read):
            return PageChange(url, "gone", time.time(), before.at)
        if latest is None or latest.markdown != new.markdown or latest.reader != new.reader:
            await self._store(principal, log, records, new)
        title = reading.document.title or ""
        if before is None:
            return PageChange(url, "first", new.at, title=title)
        if before.reader != new.reader and before.markdown != new.markdown:
            return PageChange(url, "reader_changed", new.at, before.at, title)
        comparison = await compare_readings(before.markdown, new.markdown, read_text, elapsed_s=new.at - before.at)
        is_moved = page_key(before.url) != page_key(new.url)
        status = "changed" if comparison.is_changed else "moved" if is_moved else "same"
        return PageChange(
            url, status, new.at, before.at, title, new.url if is_moved else "", comparison.changes, comparison.noise
        )

    async def _store(self, principal: str, log: str, records: Sequence[StoredRecord], new: PageVersion) -> None:
        data = zlib.compress(json.dumps(asdict(new), ensure_ascii=False).encode("utf-8", "replace"))
        number = records[-1].number + 1 if records else 0
        try:
            await self._records.append(principal, log, number, data)
            stored = (StoredRecord(number, new.at, data), *reversed(records))
            sizes = itertools.accumulate(len(record.data) for record in stored)
            for number, (record, size) in enumerate(zip(stored, sizes, strict=True)):
                if number == MAX_VERSIONS or (number and size > _MAX_VERSION_BYTES):
                    await self._records.delete(principal, log, below=record.number + 1)
                    break
        except RecordExistsError:
            pass  # Another call has just stored a version of the page.
        except DatabaseUnavailableError:
            raise _store_error() from None


def _check_content(reading: Reading, target: str) -> None:
    """Raise NoContentError for a page without text, which may be a failure of its site."""
    if not reading.document.text.strip():
        message = f"The page at {host_of(target)} shows no text, so it is not compared."
        raise errors.NoContentError(message, target=target, next_step="Try again later. The stored versions are kept.")


async def _is_missing_page(
    target: str, reading: Reading, latest: str, read: Callable[[str], Awaitable[Reading]]
) -> bool:
    """Return True if nothing of the latest version is left, and the site answers a missing URL with this page."""
    document = reading.document
    if latest == _text_of(reading) or await asyncio.to_thread(shares_blocks, latest, document.markdown):
        return False
    url = build_missing_url(ada_url.URL(reading.url).origin)
    try:
        missing = (await read(url)).document
    except errors.ScraperError:
        return False
    page = Soft404Page(url, missing.text, link_texts(missing))
    if not page.is_like(document.text, reading.url, link_texts(document)):
        return False
    if await _is_everywhere(page, target, reading, read):
        raise errors.MaintenancePageError(
            f"The site {ada_url.URL(target).host} answers the same page for every URL, so it may be in maintenance.",
            target=target,
            next_step="Try again later. The stored versions are kept.",
        )
    return True


async def _is_everywhere(
    page: Soft404Page, target: str, reading: Reading, read: Callable[[str], Awaitable[Reading]]
) -> bool:
    """Return True if the start page of a site and the pages to which it links are its page for missing URLs."""
    home = f"{ada_url.URL(reading.url).origin}/"
    known = {page_key(url) for url in (target, reading.url, home)}
    try:
        start = await read(home)
        if not page.is_like(start.document.text, start.url, link_texts(start.document)):
            return False
        if page_key(reading.url) == page_key(start.url) == page_key(home) != page_key(target):
            return False  # The site redirects missing URLs to its start page.
        for url in itertools.islice(_iter_other_pages(start, known), _MAX_SAMPLES):
            other = await read(url)
            if not page.is_like(other.document.text, other.url, link_texts(other.document)):
                return False
    except errors.ScraperError:
        return False
    return True


def _iter_other_pages(reading: Reading, known: set[str]) -> Iterator[str]:
    """Yield the links in the content of a page that lead to other pages of its site than `known`, each once."""
    host = page_key(reading.url).partition("/")[0]
    for link in reading.document.links:
        with contextlib.suppress(ValueError):
            key = page_key(link.url)
            if key not in known and key.partition("/")[0] == host:
                known.add(key)
                yield link.url


def _text_of(reading: Reading) -> str:
    """Return the Markdown of a page, and its facts that are not in it, such as the price on a button."""
    markdown = reading.document.markdown
    facts = (f"{name}: {value}" for name, value in reading.document.facts if str(value) not in markdown)
    return "\n\n".join((markdown, *facts))


async def compare_readings(
    old: str, new: str, read_again: Callable[[], Awaitable[str]], *, elapsed_s: float = 0.0
) -> PageComparison:
    """Compare two versions of a page, and read the page again up to twice if the changes may be noise.

    `elapsed_s` are the seconds between the versions.

    The second reading shows which parts differ on each visit. The third is made only if a short block replaced another
    or the second reading differs from the first, because two visits may get the same advertisement by chance.
    """
    comparison = await asyncio.to_thread(compare_pages, old, new, elapsed_s=elapsed_s)
    again: list[str] = []
    while len(again) < _MAX_LOOKS and comparison.is_changed:
        if again and not comparison.has_replacement:
            first_and_second = await asyncio.to_thread(compare_pages, new, again[0])
            if not first_and_second.is_changed:
                break
        try:
            again.append(await read_again())
        except errors.ScraperError:
            break
        comparison = await asyncio.to_thread(compare_pages, old, new, again, elapsed_s=elapsed_s)
    return comparison


def _store_error() -> errors.StoreUnavailableError:
    return errors.StoreUnavailableError(
        "The store of this server cannot be used, so pages cannot be compared with earlier versions.",
        next_step="See `search-mcp doctor`, or read the pages with `fetch`.",
    )


def _choose_version(records: Sequence[StoredRecord], since: datetime | None) -> PageVersion | None:
    """Return the newest version up to `since`; the oldest version if all are later."""
    if not records:
        return None
    limit = since.timestamp() if since else math.inf
    record = next((one for one in reversed(records) if one.written_at <= limit), records[0])
    return _load_version(record.data)


def _load_version(data: bytes) -> PageVersion:
    return PageVersion(**json.loads(zlib.decompress(data)))


_PRINCIPAL = "local"
_WATCH_LOG = "watch:"
_EARLY_SHARE = 0.05
"""Share of the interval by which a page may be checked early, because cron starts at slightly different times."""
_DEADLINE_S = 120.0
"""Seconds to read all pages that are due."""

Outcome = PageChange | ScraperError


@dataclass(frozen=True, slots=True)
class WatchedPage:
    """A page of the list with the time and status of its last check."""

    url: str
    every_s: int
    """Minimum seconds between two checks."""
    added_at: float
    checked_at: float = 0.0
    """Unix time of the last check, 0 before the first; `added_at` is one too."""
    status: str = "new"
    """Status of `PageChange`, `failed`, or `new` before the first check."""
    other_url: str = ""
    """URL that replaces `url` if only this one can be reached, for an address without a scheme."""

    def is_due(self, now: float) -> bool:
        """Return True if the interval since the last check has passed."""
        # A clock that was set back must not postpone a page.
        return now < self.checked_at or now - self.checked_at >= self.every_s * (1 - _EARLY_SHARE)


class WatchList:
    """Pages in the record logs of the local user, one log for each page."""

    def __init__(self, records: RecordLogs) -> None:
        """Keep the list in `records`."""
        self._records = records

    async def pages(self) -> list[WatchedPage]:
        """Return all pages of the list."""
        names = await self._records.list_logs(_PRINCIPAL, _WATCH_LOG)
        logs = [await self._records.read(_PRINCIPAL, name) for name in names]
        return [WatchedPage(**json.loads(rows[-1].data)) for rows in logs if rows]

    async def add(self, page: WatchedPage) -> WatchedPage:
        """Add a page, or replace its interval; return it with the URL that the list knows it by."""
        if any(known.url == page.other_url for known in await self.pages()):
            page = replace(page, url=page.other_url, other_url="")
        await self._write(page)
        return page

    async def remove(self, urls: Collection[str]) -> list[str]:
        """Remove the pages with these URLs; return those that were in the list."""
        found = sorted({page.url for page in await self.pages()}.intersection(urls))
        for url in found:
            await self._records.delete(_PRINCIPAL, _WATCH_LOG + url)
        return found

    async def check(
        self, tracker: PageChangeTracker, pages: Sequence[WatchedPage], now: float
    ) -> list[tuple[WatchedPage, Outcome]]:
        """Compare pages with their last versions and store the outcomes; return each page with its own."""
        compared = await _compare(tracker, pages)
        for stored, (page, outcome) in zip(pages, compared, strict=True):
            if page.url != stored.url:
                await self._records.delete(_PRINCIPAL, _WATCH_LOG + stored.url)
            if isinstance(outcome, ScraperError):
                checked = replace(page, checked_at=now, status="failed")
            else:
                checked = replace(page, checked_at=now, status=outcome.status, other_url="")
            await self._write(checked)
        return compared

    async def _write(self, page: WatchedPage) -> None:
        rows = await self._records.read(_PRINCIPAL, _WATCH_LOG + page.url)
        number = rows[-1].number + 1 if rows else 0
        await self._records.append(_PRINCIPAL, _WATCH_LOG + page.url, number, json.dumps(asdict(page)).encode())
        await self._records.delete(_PRINCIPAL, _WATCH_LOG + page.url, below=number)


async def _compare(tracker: PageChangeTracker, pages: Sequence[WatchedPage]) -> list[tuple[WatchedPage, Outcome]]:
    """Compare the pages; return each with the URL that could be reached, and its outcome."""
    slots, deadline = asyncio.Semaphore(PAGES_AT_ONCE), Deadline.within(_DEADLINE_S)

    async def compare_one(page: WatchedPage) -> tuple[WatchedPage, Outcome]:
        async def compare(others: Mapping[str, str]) -> tuple[str, Outcome]:
            url = others.get(page.url, page.url)
            (outcome,) = await tracker.compare([url], deadline_s=deadline.left_s())
            return url, outcome

        async with slots:
            url, outcome = await read_with_other_urls(compare, {page.url: page.other_url}, lambda one: dict([one]))
        if url != page.url and not isinstance(outcome, ScraperError):
            page = replace(page, url=url, other_url="")
        return page, outcome

    return await asyncio.gather(*map(compare_one, pages))
