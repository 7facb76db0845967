"""Extract structured data, and requested fields and records, from rendered pages; store the recipes that repeat it."""

import asyncio
import contextlib
import hashlib
import json
import logging
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from browsers.model import Snapshot
from scraper import errors
from scraper.caching import DistributedSingleFlight, LoadRequest, ReadThrough
from scraper.call_context import Deadline, ProgressCallback, ignore_progress
from scraper.coordination.state import SharedState
from scraper.extract import worker_jobs
from scraper.facts.fields.model import MIN_FITTING, FieldRequest, PageFields
from scraper.model import REFRESH, StructuredData
from scraper.reading import visit_outcome
from scraper.reading.response_reader import VisitResult, run_in_worker
from scraper.reading.visit_outcome import VisitJob
from scraper.reading.visitor import PageVisitor, timeout_error
from scraper.settings import Settings
from scraper.store.protocols import DatabaseUnavailableError
from scraper.store.record_logs import RecordExistsError, RecordLogs, StoredRecord
from scraper.urls import host_of, parse_target, request_key
from scraper.workers import WorkerFailedError, WorkerPool

log = logging.getLogger(__name__)

_EXTRACT_LIMIT_S = 5.0
"""CPU seconds a page. All syntaxes and facts take 30 to 150 ms, fields 30 ms; a slower page is hostile."""
_SIMPLE_LIMIT_S = 3.0
"""CPU seconds for the extraction without microdata, RDFa and facts."""

_READABLE_DESPITE_BLOCK = frozenset({"consent", "login"})
"""Reasons of block pages whose HTML still contains the data of the page."""
_SIMPLE_WARNING = "The page is too complex: microdata, RDFa and facts were left out."


class StructuredReader:
    """Extract structured data for callers within a deadline."""

    def __init__(
        self,
        visitor: PageVisitor,
        workers: WorkerPool,
        settings: Settings | None = None,
        shared: SharedState | None = None,
    ) -> None:
        """Create the service; `shared` is None if there are no other servers."""
        self._visitor = visitor
        self._workers = workers
        self._service: ReadThrough[StructuredData] = ReadThrough(
            lambda data: data,
            join_others=DistributedSingleFlight(StructuredData, shared.claims if shared else None, settings).join,
        )

    async def close(self) -> None:
        """Cancel the pages that are being read."""
        await self._service.close()

    async def extract(
        self, url: str, *, principal: str = "local", deadline_s: float = 55.0, progress: ProgressCallback | None = None
    ) -> StructuredData:
        """Return the structured data of a rendered page.

        Raises:
            ScraperError: The page cannot be read; the message says why and what to do.
        """
        deadline = Deadline.within(deadline_s)
        job = VisitJob(request_key(parse_target(url)), "browser", principal, json_responses=True)
        load: LoadRequest[StructuredData] = LoadRequest(
            job, run=lambda _: self._load(job, deadline, progress or ignore_progress), label=job.host
        )
        try:
            return await self._service.read(load, REFRESH, deadline=deadline, progress=progress)
        except TimeoutError:
            raise timeout_error(job) from None

    async def _load(self, job: VisitJob, deadline: Deadline, progress: ProgressCallback) -> StructuredData:
        result = await self._visitor.visit(job, deadline, progress)
        snapshot = result.snapshot
        if not snapshot.is_html:
            # Errors are those of `fetch`. Text that is not a page has no structured data.
            visit_outcome.build_reading(snapshot, result.document, may_render=True, requested_url=job.url)
            raise errors.UnsupportedTypeError(
                f"{host_of(snapshot.url)} sent {errors.name_media_type(snapshot.media_type)}, not a page.",
                target=snapshot.requested_url,
                next_step="Only pages hold structured data: use `fetch` for text.",
            )
        data = await self._extract(result.snapshot, deadline)
        warnings = self._page_warnings(result, job, has_data=bool(data.json_ld or data.microdata or data.rdfa))
        return replace(data, warnings=(*warnings, *result.warnings, *data.warnings))

    def _page_warnings(self, result: VisitResult, job: VisitJob, *, has_data: bool) -> tuple[str, ...]:
        """Return warnings about the page; raise the error of a page that is empty or blocked and has no data."""
        try:
            reading = visit_outcome.build_reading(
                result.snapshot, result.document, may_render=True, requested_url=job.url
            )
        except errors.NoContentError:
            if has_data:
                return ()
            raise
        except errors.BlockedBySiteError as block:
            if block.reason in _READABLE_DESPITE_BLOCK and result.snapshot.status < 300 and has_data:
                return (f"{block} The data is of the page behind it.",)
            raise
        return reading.warnings

    async def _extract(self, snapshot: Snapshot, deadline: Deadline) -> StructuredData:
        """Return all data, or only the simple syntaxes if the full extraction fails or is too slow."""
        light = replace(snapshot, body=b"", frames=())
        try:
            return await run_in_worker(self._workers, worker_jobs.extract_structured, light, _EXTRACT_LIMIT_S, deadline)
        except WorkerFailedError as error:
            log.warning("structured data of %s extracted in part: %s", host_of(snapshot.url), error)
        try:
            data = await run_in_worker(
                self._workers, worker_jobs.extract_basic_structured, light, _SIMPLE_LIMIT_S, deadline
            )
        except WorkerFailedError as error:
            raise errors.ContentTooLargeError(
                f"The structured data of the page at {host_of(snapshot.url)} could not be read: {error}.",
                target=snapshot.requested_url,
                next_step="Use `fetch` for its text, or another source.",
            ) from error
        return replace(data, warnings=(_SIMPLE_WARNING, *data.warnings))


MAX_RECIPES = 200
"""Recipes of one principal. Above this, the oldest ones are deleted."""
_LOG = "recipes"
_ID_CHARS = 12
_MAX_TRIES = 5
"""Attempts to append while other calls do the same."""


class StoredRecipes:
    """Recipes in a record log of each principal."""

    def __init__(self, records: RecordLogs) -> None:
        """Use the record logs of the store."""
        self._records = records

    async def save(self, principal: str, recipe: str) -> str:
        """Store a recipe and return it with its id; return it unchanged if the store is unavailable."""
        recipe_id = hashlib.sha256(recipe.encode("utf-8", "replace")).hexdigest()[:_ID_CHARS]
        named = f'{{"id":"{recipe_id}",{recipe[1:]}'
        try:
            known = await self._records.read(principal, _LOG)
            if _find(known, recipe_id) is None:
                number = known[-1].number if known else 0
                for _ in range(_MAX_TRIES):
                    number += 1
                    with contextlib.suppress(RecordExistsError):
                        await self._records.append(principal, _LOG, number, named.encode("utf-8", "replace"))
                        break
                if len(known) >= MAX_RECIPES:
                    await self._records.delete(principal, _LOG, below=number - MAX_RECIPES + 1)
        except DatabaseUnavailableError:
            return recipe
        return named

    async def load(self, principal: str, recipe: str) -> str:
        """Return a recipe; one that consists of an id only is read from the store.

        Raises:
            InvalidArgumentError: The principal has no recipe with this id.
        """
        recipe_id = id_of(recipe)
        if not recipe_id:
            return recipe
        try:
            found = _find(await self._records.read(principal, _LOG), recipe_id)
        except DatabaseUnavailableError:
            found = None
        if found is None:
            raise errors.InvalidArgumentError(
                f"There is no stored recipe {recipe_id[:40]}: give the whole recipe, or one example again.",
                target="recipe",
            )
        return found


def is_recipe_id(text: str) -> bool:
    """Return True if a text has the form of the id of a stored recipe."""
    return len(text) == _ID_CHARS and not text.strip("0123456789abcdef")


def id_of(recipe: str) -> str:
    """Return the id of a recipe that consists of nothing else; an empty string for any other one."""
    data = json.loads(recipe) if recipe else {}
    is_id = set(data) == {"id"} and isinstance(data["id"], str)
    return str(data["id"]) if is_id else ""


def _find(records: Sequence[StoredRecord], recipe_id: str) -> str | None:
    texts = (one.data.decode("utf-8") for one in records)
    return next((text for text in texts if text.startswith(f'{{"id":{json.dumps(recipe_id)},')), None)


_RESERVE_S = 2.0
"""Seconds before the deadline reserved for extraction from the visited pages."""
_MAX_URL_CHARS = 200
_MAX_NAMES = 10


class FieldReader:
    """Extract fields and records from rendered pages; only recipes are stored."""

    def __init__(self, visitor: PageVisitor, workers: WorkerPool, recipes: StoredRecipes) -> None:
        """Visit pages with `visitor`, extract in `workers`, and store the recipes of the answers."""
        self._visitor = visitor
        self._workers = workers
        self._recipes = recipes

    async def read(
        self,
        urls: Sequence[str],
        request: FieldRequest,
        *,
        principal: str = "local",
        deadline_s: float = 55.0,
        progress: ProgressCallback | None = None,
    ) -> list[PageFields | errors.ScraperError]:
        """Return the requested fields of each page, or an error, in the order of the URLs.

        Raises:
            InvalidArgumentError: The recipe is an id that is not stored.
        """
        deadline = Deadline.within(deadline_s)
        request = replace(request, recipe=await self._recipes.load(principal, request.recipe))
        visit = partial(self._visit, principal=principal, deadline=deadline, progress=progress or ignore_progress)
        visited = await asyncio.gather(*(visit(url) for url in urls))
        snapshots = [one[0] for one in visited if not isinstance(one, errors.ScraperError)]
        try:
            found = iter(await extract_fields(self._workers, snapshots, request, deadline)) if snapshots else iter(())
        except errors.ScraperError as failure:
            return [one if isinstance(one, errors.ScraperError) else failure for one in visited]
        checked = [
            one if isinstance(one, errors.ScraperError) else check_fields(url, next(found), one[1])
            for url, one in zip(urls, visited, strict=True)
        ]
        recipes = {one.recipe for one in checked if isinstance(one, PageFields)} - {""}
        named = {recipe: await self._recipes.save(principal, recipe) for recipe in recipes}
        return [
            replace(one, recipe=named[one.recipe]) if isinstance(one, PageFields) and one.recipe else one
            for one in checked
        ]

    async def _visit(
        self, url: str, *, principal: str, deadline: Deadline, progress: ProgressCallback
    ) -> tuple[Snapshot, tuple[str, ...]] | errors.ScraperError:
        try:
            job = VisitJob(request_key(parse_target(url)), "browser", principal)
            try:
                async with asyncio.timeout(deadline.left_s(reserve_s=_RESERVE_S)):
                    result = await self._visitor.visit(job, deadline, progress)
            except TimeoutError:
                raise timeout_error(job) from None
            # This raises the errors of pages that are blocked or empty.
            reading = visit_outcome.build_reading(
                result.snapshot, result.document, may_render=True, requested_url=job.url
            )
            check_page_type(result.snapshot, url)
        except errors.ScraperError as error:
            return error
        return replace(result.snapshot, body=b""), (*reading.warnings, *result.warnings)


async def extract_fields(
    workers: WorkerPool, snapshots: Sequence[Snapshot], request: FieldRequest, deadline: Deadline
) -> Sequence[PageFields]:
    """Return the requested fields of rendered pages, extracted in a worker.

    Raises:
        ContentTooLargeError: The worker did not finish.
    """
    read = partial(worker_jobs.extract_fields, request=request)
    try:
        return await run_in_worker(workers, read, tuple(snapshots), _EXTRACT_LIMIT_S * len(snapshots), deadline)
    except WorkerFailedError as error:
        raise errors.ContentTooLargeError(
            f"The values of the page at {host_of(snapshots[0].url)} could not be read: {error}.",
            target=snapshots[0].requested_url,
            next_step="Use `fetch` for its text.",
        ) from error


def check_page_type(snapshot: Snapshot, url: str) -> None:
    """Raise UnsupportedTypeError unless the snapshot is an HTML page."""
    if not snapshot.is_html:
        raise errors.UnsupportedTypeError(
            f"{host_of(snapshot.url)} sent {errors.name_media_type(snapshot.media_type)}, not a page.",
            target=url,
            next_step="Use `read_doc` for files.",
        )


def check_fields(url: str, fields: PageFields, warnings: tuple[str, ...] = ()) -> PageFields | errors.ScraperError:
    """Return the fields of a page, or an error if nothing was found."""
    page = fields.url[:_MAX_URL_CHARS]
    if fields.missing:
        name, nearest = next(iter(fields.missing.items()))
        hint = f"; nearest: '{nearest[:80]}'" if nearest else ""
        return errors.ExampleNotFoundError(
            f"The example of `{name[:40]}` is not on {page}{hint}.",
            target=url,
            next_step="Give the value as the page shows it.",
        )
    if fields.misfit and not fields.unlisted:
        fitting = sum(similarity >= MIN_FITTING for similarity in fields.misfit)
        return errors.RecipeDoesNotFitError(
            f"The recipe does not fit {page}: {fitting} of {len(fields.misfit)} places found, "
            f"best {fields.misfit[-1]:.2f}.",
            target=url,
            next_step="Give one example from this page; with the recipe too, it fits both designs.",
        )
    if fields.unlisted:
        return errors.NoRecordsError(
            f"No list of records on {page} fits; not in the best one: "
            f"{', '.join(f'`{name[:40]}`' for name in fields.unlisted[:_MAX_NAMES])}.",
            target=url,
            next_step="Use `records` alone for the rows of its main list, or give an example of one row.",
        )
    if not fields.records and not fields.values:
        return errors.NoRecordsError(
            f"There is no list of records on {page}.", target=url, next_step="Use `fetch` for its text."
        )
    return replace(fields, warnings=(*warnings, *fields.warnings))
