"""Visit pages within rate limits, with retries and the right browser."""

import asyncio
import logging
from dataclasses import asdict, replace

from cachetools import TTLCache

from browsers import errors as browser_errors
from browsers.client import Browsers
from browsers.model import Mode, Request, Snapshot, ThirdParties, Tier, VisitLimits
from scraper import errors
from scraper.call_context import Deadline, ProgressCallback
from scraper.coordination.state import SharedState
from scraper.extract.worker_jobs import read_site_markdown
from scraper.model import WHOLE_PAGE
from scraper.reading import visit_outcome
from scraper.reading.politeness import MAX_COOLDOWN_WAIT_S, PolitenessPolicy
from scraper.reading.response_reader import (
    READ_LIMIT_S,
    RenderDecider,
    VisitResult,
    has_site_markdown_only,
    run_in_worker,
)
from scraper.reading.visit_outcome import VisitJob
from scraper.settings import Settings
from scraper.workers import WorkerFailedError, WorkerPool

log = logging.getLogger(__name__)

READ_RESERVE_S = 3.0
"""Seconds before the deadline reserved to read the response."""
_READ_RESERVE_SHARE = 0.2
"""Upper bound of `READ_RESERVE_S` as a share of the time left."""
_FULL_TIER_S = 86_400.0
"""Seconds for which a host gets the full browser first: block pages change, so the usual one is tried after a day."""
_MAX_FULL_TIER_HOSTS = 1_000
_THIRD_PARTIES_S = 86_400.0
"""Seconds for which the required third parties of a host are cached."""
_MAX_THIRD_PARTY_HOSTS = 10_000
MAX_VAIN_VISITS = 3
"""Visits of a host with all third parties that brought no more text; after them there is none in `_THIRD_PARTIES_S`."""
_THIRD_PARTIES_GAIN = 1.2
"""Ratio of the text lengths with all and without some third parties; above it, the host needs all of them."""

_FOREIGN = 'Lines of the site\'s Markdown that are not on the page: {}, the first "{}"'
_NOT_COMPARED = "The site's Markdown could not be compared with the page, which has almost no text without its scripts."
_MIN_MARKDOWN, _MAX_FOREIGN = 80, 160
_VALIDATORS = frozenset({"etag", "last-modified"})

_ASK = (("Accept", "text/markdown, text/html;q=0.9, */*;q=0.8"),)

_MODES = {"auto": Mode.AUTO, "http": Mode.PEEK, "browser": Mode.RENDER}


class PageVisitor:
    """Visit pages within rate limits, with retries and the full browser for sites that block the usual one."""

    def __init__(self, browsers: Browsers, workers: WorkerPool, settings: Settings, shared: SharedState) -> None:
        """Use the browsers for visits and the workers for extraction."""
        self.politeness = PolitenessPolicy(browsers.visit, settings, shared)
        self._browsers = browsers
        self._workers = workers
        self._language = settings.language
        self._usual_tier = Tier(settings.tier)
        self._full_tier_hosts: TTLCache[str, None] = TTLCache(_MAX_FULL_TIER_HOSTS, _FULL_TIER_S)
        self._has_full_tier = True
        self._third_party_hosts: TTLCache[str, None] = TTLCache(_MAX_THIRD_PARTY_HOSTS, _THIRD_PARTIES_S)
        self._has_site_markdown = settings.markdown == "alternates"
        self._asks_for_markdown = settings.markdown == "ask"
        self._without_markdown: TTLCache[str, None] = TTLCache(_MAX_THIRD_PARTY_HOSTS, _THIRD_PARTIES_S)
        """Hosts with a page whose Markdown could not be used."""
        self._vain_visits: TTLCache[str, int] = TTLCache(_MAX_THIRD_PARTY_HOSTS, _THIRD_PARTIES_S)

    async def visit(self, job: VisitJob, deadline: Deadline, progress: ProgressCallback) -> VisitResult:
        """Visit a page; if it blocks the usual browser, try the full one once.

        A page that lacks content is visited again with its third parties, and one behind a consent dialog again with
        the dialog refused.

        Raises:
            ScraperError: There was no response.
        """
        # Only the full tier loads images.
        needs_full_tier = job.host in self._full_tier_hosts or job.picture is not None
        tier = Tier.FULL if needs_full_tier else self._usual_tier
        result = await self._visit_with_retry(job, tier, deadline, progress)
        if self._takes_site_markdown(job) and has_site_markdown_only(result.snapshot, result.document):
            return await self._read_site_markdown(job, result, tier, deadline, progress)
        if (
            visit_outcome.may_need_third_parties(result.snapshot, result.document)
            and job.host not in self._third_party_hosts
            and self._vain_visits.get(job.host, 0) < MAX_VAIN_VISITS
        ):
            result = await self._try_third_parties(job, result, deadline, progress)
        is_behind_consent = result.document.verdict.reason == "consent" and result.snapshot.html
        if is_behind_consent and job.render != "http":
            return await self._refuse_consent(job, result, deadline, progress)
        if not visit_outcome.may_admit_full_browser(result.snapshot, result.document):
            return result
        if result.snapshot.tier is not Tier.LIGHT or not self._has_full_tier:
            return result
        try:
            full = await self._visit_once(job, Tier.FULL, deadline, progress)
        except errors.ScraperError:
            return result
        if full.snapshot.tier is not Tier.FULL:
            self._has_full_tier = False
        elif not visit_outcome.may_admit_full_browser(full.snapshot, full.document):
            self._full_tier_hosts[job.host] = None
        return full

    async def load_file(self, url: str, principal: str, deadline: Deadline, limits: VisitLimits) -> Snapshot:
        """Return the response of a canonical URL as served, within rate limits, without extraction.

        Raises:
            ScraperError: There was no response.
        """
        request = Request(
            url,
            mode=Mode.PEEK,
            principal=principal,
            language=self._language,
            limits=limits,
            deadline_s=deadline.left_s(),
        )
        try:
            async with self.politeness.permission(url, principal, deadline):
                snapshot = await self._browsers.visit(request)
        except browser_errors.BrowsersError as error:
            raise visit_outcome.map_browser_error(error, url) from error
        await self.politeness.check_redirect(snapshot, principal, deadline)
        return snapshot

    async def _try_third_parties(
        self, job: VisitJob, result: VisitResult, deadline: Deadline, progress: ProgressCallback
    ) -> VisitResult:
        """Visit the page again with all third parties, and cache for its host if this gives more text."""
        self._third_party_hosts[job.host] = None
        try:
            other = await self._visit_once(job, result.snapshot.tier, deadline, progress)
        except errors.ScraperError:
            other = result
        if len(other.document.text) > _THIRD_PARTIES_GAIN * len(result.document.text):
            log.debug("%s needs its third parties", job.host)
            return other
        self._third_party_hosts.pop(job.host, None)
        self._vain_visits[job.host] = self._vain_visits.get(job.host, 0) + 1
        return result

    def _takes_site_markdown(self, job: VisitJob) -> bool:
        is_whole = job.render == "auto" and job.part == WHOLE_PAGE and job.picture is None
        is_plain = not (job.conditions or job.json_responses)
        return self._has_site_markdown and is_whole and is_plain and job.host not in self._without_markdown

    async def _read_site_markdown(
        self, job: VisitJob, result: VisitResult, tier: Tier, deadline: Deadline, progress: ProgressCallback
    ) -> VisitResult:
        """Return the Markdown that a thin page names for itself; if it has less text than the page, render the page."""
        page, url = result.snapshot, result.document.site_markdown
        try:
            found = await self.load_file(url, job.principal, deadline, job.limits)
            document, foreign = await run_in_worker(
                self._workers, read_site_markdown, (found, replace(page, body=b"")), READ_LIMIT_S, deadline
            )
            least = max(_MIN_MARKDOWN, len(result.document.text))
            if found.status == 200 and document.verdict.ok and len(document.text) >= least:
                document = replace(document, url=page.url, site_markdown=found.url, is_site_markdown=True)
                warnings = [*result.warnings]
                if foreign is None:
                    warnings.append(_NOT_COMPARED)
                elif foreign:
                    warnings.append(_FOREIGN.format(len(foreign), foreign[0][:_MAX_FOREIGN]))
                # The validators are those of the page, which may stay while its Markdown changes.
                headers = {name: text for name, text in page.headers.items() if name not in _VALIDATORS}
                page = replace(page, headers=headers)
                return replace(result, snapshot=page, document=document, warnings=tuple(warnings))
        except (errors.ScraperError, WorkerFailedError) as error:
            log.debug("the Markdown of a page of %s was not read: %s", job.host, error)
        self._without_markdown[job.host] = None
        return await self._visit_once(job, tier, deadline, progress)

    async def _refuse_consent(
        self, job: VisitJob, result: VisitResult, deadline: Deadline, progress: ProgressCallback
    ) -> VisitResult:
        """Visit the page again and refuse its consent dialog; return the first result if that brings no content."""
        refusing = replace(job, render="browser", refuses_consent=True, conditions=())
        try:
            other = await self._visit_once(refusing, Tier.FULL, deadline, progress)
        except errors.ScraperError:
            return result
        if not other.document.verdict.ok:
            return result
        return replace(other, warnings=(*other.warnings, *other.snapshot.consent))

    async def _visit_with_retry(
        self, job: VisitJob, tier: Tier, deadline: Deadline, progress: ProgressCallback
    ) -> VisitResult:
        """Visit a page, and retry once after a pause if the failure of the site may be temporary, or if it loads."""
        asks = self._asks_for_markdown and job.render != "browser"
        asking = replace(job, conditions=(*job.conditions, *_ASK)) if asks else job
        result = await self._visit_once(asking, tier, deadline, progress)
        if asks and result.snapshot.status in (406, 415):
            result = await self._visit_once(job, tier, deadline, progress)
        pause_s = visit_outcome.retry_pause_s(result.snapshot)
        if visit_outcome.is_loading(result.snapshot, result.document):
            # Alone: what earlier pages of a batch did predicts nothing about it.
            pause_s, job = visit_outcome.PAUSE_S, replace(job, batch=None)
        if pause_s is None or pause_s > min(MAX_COOLDOWN_WAIT_S, deadline.left_s() / 2):
            return result
        await asyncio.sleep(pause_s)
        try:
            return await self._visit_once(job, tier, deadline, progress)
        except errors.HostBusyError:
            # No second turn comes in time: the first response is the result.
            return result

    async def _visit_once(
        self, job: VisitJob, tier: Tier, deadline: Deadline, progress: ProgressCallback
    ) -> VisitResult:
        """Visit a page and read the response; if rendering fails, return the page as served."""
        decider = RenderDecider(
            self._workers,
            deadline,
            on_render=lambda: progress(0, 1, f"rendering {job.host}"),
            part=job.part,
            is_bulk=job.is_bulk,
            takes_site_markdown=self._takes_site_markdown(job),
        )
        async with self.politeness.permission(job.url, job.principal, deadline) as warnings:
            snapshot = await self._load(job, tier, deadline, decider)
        final = snapshot or decider.served_result().snapshot
        more = await self.politeness.check_redirect(final, job.principal, deadline)
        if job.part.wait_for and not final.complete:
            more = (*more, f'The page was not ready in time: is wait_for="{job.part.wait_for[:100]}" right?')
        result = decider.served_result() if snapshot is None else await decider.read_result(snapshot)
        return replace(result, warnings=tuple(dict.fromkeys((*warnings, *more))))

    async def _load(self, job: VisitJob, tier: Tier, deadline: Deadline, decider: RenderDecider) -> Snapshot | None:
        """Return the response, or None if rendering failed and the page as served has text."""
        reserve_s = min(READ_RESERVE_S, deadline.left_s() * _READ_RESERVE_SHARE)
        # A person sees consent dialogs and chats too.
        needs_dialogs = job.picture is not None or job.refuses_consent
        third_parties = ThirdParties.NO_TRACKERS if needs_dialogs else ThirdParties.CONTENT_ONLY
        if job.host in self._third_party_hosts:
            third_parties = ThirdParties.ALL
        request = Request(
            job.url,
            tier=tier,
            mode=_MODES[job.render],
            principal=job.principal,
            language=self._language,
            wait=job.part.wait_for,
            json_responses=job.json_responses,
            headers=dict(job.conditions),
            deadline_s=deadline.left_s(reserve_s=reserve_s),
            third_parties=third_parties,
            picture=job.picture,
            refuses_consent=job.refuses_consent,
            limits=job.limits,
            batch=job.batch,
            is_bulk=job.is_bulk,
        )
        # The browser client enforces the deadline of the request; this is a second line of defense.
        limit_s = (request.deadline_s + deadline.left_s()) / 2
        try:
            async with asyncio.timeout(limit_s):
                snapshot = await self._browsers.visit(request, decider.is_enough)
        except (browser_errors.BrowsersError, TimeoutError) as error:
            _log(job, tier, rendered=False, outcome=getattr(error, "code", type(error).__name__))
            if decider.has_text and not isinstance(error, browser_errors.RefusedError):
                return None
            if decider.served is not None:
                # The response may still request a cooldown of its host.
                await self.politeness.throttle.note_response(decider.served)
            if isinstance(error, TimeoutError):
                raise timeout_error(job) from error
            raise visit_outcome.map_browser_error(error, job.url) from error
        # Stages that the visit did not reach took no time; they are left out.
        stages = {
            f"{name.removesuffix('_s')}_ms": round(seconds * 1000)
            for name, seconds in asdict(snapshot.timing).items()
            if seconds
        }
        _log(job, snapshot.tier, status=snapshot.status, rendered=snapshot.rendered, **stages)
        return snapshot


def timeout_error(job: VisitJob) -> errors.FetchTimeoutError:
    """Return the error for a page that was not read before the deadline."""
    return errors.FetchTimeoutError(
        f"The page at {job.host} was not read in time.", target=job.url, next_step="Try again later, or another source."
    )


def _log(job: VisitJob, tier: Tier, **fields: object) -> None:
    """Log one line per visit, without path and query, which may be private."""
    log.info("visit", extra={"fields": {"host": job.host, "render": job.render, "tier": tier.value, **fields}})
