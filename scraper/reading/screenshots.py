"""Take pictures of pages, and cache the latest in memory so that callers can ask for other parts."""

import secrets
from collections import Counter

from cachetools import TTLCache

from browsers.model import Screenshot, ScreenshotKind, ScreenshotRequest, Tier
from scraper import errors
from scraper.caching import LoadRequest, MemoryCache, ReadThrough
from scraper.call_context import Deadline, ProgressCallback, ignore_progress
from scraper.model import CachePolicy, PageScreenshots, Reuse, VerdictKind
from scraper.reading.visit_outcome import VisitJob
from scraper.reading.visitor import PageVisitor, timeout_error
from scraper.urls import parse_target

_FILES_S = 600.0
"""Seconds for which a stored file can be read as a resource."""
MAX_FILES_BYTES = 50_000_000
"""Bytes of the stored files of all callers. Above this, the oldest file of the caller with most bytes is deleted."""

NO_IMAGES = (
    "The images of the page were not loaded: only the headless shell is installed here. "
    "The operator can run `search-mcp install-browser`."
)


class ScreenshotReader:
    """Take pictures of pages; warn if only the headless shell is installed, which does not load images."""

    def __init__(self, visitor: PageVisitor) -> None:
        """Visit pages with `visitor`."""
        self._visitor = visitor
        self._service: ReadThrough[PageScreenshots] = ReadThrough(
            lambda found: found, memory=MemoryCache(lambda found: sum(len(one.data) for one in found.pictures))
        )
        self._files: TTLCache[str, tuple[str, Screenshot]] = TTLCache(
            MAX_FILES_BYTES, _FILES_S, getsizeof=lambda file: len(file[1].data)
        )
        """Principal and file by id."""

    async def close(self) -> None:
        """Cancel the visits in progress."""
        await self._service.close()

    async def take(
        self,
        url: str,
        request: ScreenshotRequest,
        *,
        principal: str = "local",
        deadline_s: float = 55.0,
        progress: ProgressCallback | None = None,
    ) -> PageScreenshots:
        """Return the pictures of a page; pictures of the last minutes come from memory.

        Raises:
            ScraperError: The page cannot be loaded, is not a page, or does not contain the target element.
        """
        job = VisitJob(parse_target(url), "browser", principal, picture=request)
        deadline = Deadline.within(deadline_s)
        load: LoadRequest[PageScreenshots] = LoadRequest(
            job,
            run=lambda _: self._load(job, deadline, progress or ignore_progress),
            memory_key=job,
            is_private=True,
            label=job.host,
        )
        try:
            policy = CachePolicy(reuse=Reuse.IN_MEMORY)
            return await self._service.read(load, policy, deadline=deadline, progress=progress)
        except TimeoutError:
            raise timeout_error(job) from None

    def keep_file(self, picture: Screenshot, principal: str) -> str:
        """Store a file for a caller and return its id.

        Raises:
            ContentTooLargeError: The file exceeds `MAX_FILES_BYTES`.
        """
        size = len(picture.data)
        if size > MAX_FILES_BYTES:
            raise errors.ContentTooLargeError(
                f"The file has {size:,} bytes, more than {MAX_FILES_BYTES:,}.",
                next_step="Take a picture of the window instead.",
            )
        self._files.expire()
        while self._files.currsize + size > MAX_FILES_BYTES:
            self._delete_largest(principal, size)
        identifier = secrets.token_hex(16)
        self._files[identifier] = principal, picture
        return identifier

    def _delete_largest(self, principal: str, size: int) -> None:
        """Delete the oldest file of the caller with most bytes, counting a new file of `principal`."""
        files = list(self._files.items())
        sizes = Counter({principal: size})
        for _, (owner, picture) in files:
            sizes[owner] += len(picture.data)
        largest = max({owner for _, (owner, _) in files}, key=sizes.__getitem__)
        del self._files[next(identifier for identifier, (owner, _) in files if owner == largest)]

    def get_file(self, identifier: str, principal: str) -> Screenshot | None:
        """Return a file that was stored for this caller, or None."""
        owner, picture = self._files.get(identifier, ("", None))
        return picture if owner == principal else None

    async def _load(self, job: VisitJob, deadline: Deadline, progress: ProgressCallback) -> PageScreenshots:
        result = await self._visitor.visit(job, deadline, progress)
        snapshot, verdict = result.snapshot, result.document.verdict
        assert job.picture is not None
        if not snapshot.pictures and snapshot.is_html:
            raise errors.BrowserFailedError(
                f"The page at {job.host} was not rendered in time.",
                target=job.url,
                next_step="Try again, or use `fetch`.",
            )
        if not snapshot.pictures:
            raise errors.UnsupportedTypeError(
                f"{job.host} sent {errors.name_media_type(snapshot.media_type)}, not a page.",
                target=job.url,
                next_step="Use `read_doc` for documents.",
            )
        warnings = [*result.warnings, *snapshot.consent]
        if snapshot.status >= 400:
            warnings.append(f"The site answered with status {snapshot.status}.")
        if verdict.kind is VerdictKind.BLOCKED:
            warnings.append(f"This seems to be a block page ({verdict.reason}), not the page itself.")
        if snapshot.tier is Tier.LIGHT and job.picture.kind is not ScreenshotKind.MHTML:
            warnings.append(NO_IMAGES)
        return PageScreenshots(
            snapshot.url, snapshot.status, result.document.title or "", snapshot.pictures, tuple(warnings)
        )
