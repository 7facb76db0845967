"""Run browse steps in browser sessions, with the rate limits and the reader of `fetch`, and make login profiles.

A profile is made by a person who signs in in a window, or from a file of Playwright.
"""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path, PurePath

from browsers import errors as browser_errors
from browsers.acting.page_requests import ActingMode
from browsers.acting.page_tools import PageToolsMode
from browsers.acting.sessions import ActingRequest, ActingResult, UrlPermission
from browsers.acting.step_parser import LOCAL_FILE, PICTURE_VERB, Step, StepSyntaxError, parse_steps
from browsers.acting.step_runner import StepOutcome
from browsers.client import Browsers
from browsers.login_state import Login, LoginState, LoginStateError, covers_host
from browsers.model import ScreenshotKind, ScreenshotRequest, Tier
from scraper import errors
from scraper.call_context import AskUser, Deadline
from scraper.coordination.state import SharedState
from scraper.model import PageScreenshots, Reading
from scraper.reading import visit_outcome
from scraper.reading.batch import read_with_other_urls
from scraper.reading.documents.local_files import LocalFiles
from scraper.reading.response_reader import RenderDecider
from scraper.reading.screenshots import NO_IMAGES
from scraper.reading.visitor import PageVisitor
from scraper.settings import Settings
from scraper.store import login_profiles
from scraper.store.login_profiles import PROFILE_NAME_PATTERN, LoginProfiles, ProfileKeyError, ProfileNotReadableError
from scraper.store.protocols import DatabaseUnavailableError
from scraper.urls import host_of, parse_address, parse_target, request_key
from scraper.workers import WorkerPool

log = logging.getLogger(__name__)

_StepRun = tuple[tuple[Step, ...], ActingResult]
"""Steps with the URLs that were opened, and their outcomes."""
_MAX_UPLOAD_BYTES = 10_000_000
_READ_RESERVE_S = 5.0
"""Seconds of a call reserved for reading the page after the steps."""


@dataclass(frozen=True, slots=True)
class BrowsedStep:
    """Outcome of one step, with the reading of the page if the step was `read`."""

    outcome: StepOutcome
    reading: Reading | errors.ScraperError | None = None


@dataclass(frozen=True, slots=True)
class BrowseResult:
    """Outcomes of the steps of one call, up to the first failed one."""

    session: str
    """ID of the session for the next call; empty if it has ended."""
    is_new: bool
    steps: tuple[BrowsedStep, ...]

    @property
    def error(self) -> str:
        """Reason why the last step failed; empty if it succeeded."""
        return self.steps[-1].outcome.error if self.steps else ""

    @property
    def failure(self) -> errors.ScraperError | None:
        """Error of the last step, if its page could not be loaded."""
        return _failure_of(self.steps[-1].outcome) if self.steps else None


@dataclass(frozen=True, slots=True)
class BrowseSteps:
    """Valid steps with canonical URLs."""

    steps: tuple[Step, ...]
    other_urls: Mapping[str, str]
    """URL that is opened if its key cannot be reached, for each address without a scheme."""


def check_steps(sources: Sequence[str], *, has_session: bool) -> BrowseSteps:
    """Parse the steps of a call; URLs may lack a scheme.

    Raises:
        InvalidArgumentError: A step is invalid, or a new session does not begin with `open`.
        InvalidUrlError: A URL is not a web URL.
    """
    try:
        steps = parse_steps(list(sources))
    except StepSyntaxError as error:
        raise errors.InvalidArgumentError(f"steps: {error}.", target="steps") from None
    if not has_session and steps[0].verb != "open":
        raise errors.InvalidArgumentError(
            f"steps: {steps[0].verb} needs a page.",
            target="steps",
            next_step="Begin with `open URL`, or pass the session of an earlier call.",
        )
    other_urls: dict[str, str] = {}
    for at, step in enumerate(steps):
        if step.verb == "open":
            url, other = parse_address(step.text.strip('"'))
            steps[at] = replace(step, text=url)
            if other:
                other_urls[url] = other
    return BrowseSteps(tuple(steps), other_urls)


def _canonical(url: str) -> str:
    return request_key(parse_target(url.strip('"')))


class BrowseRunner:
    """Run the browse steps of callers in sessions, and read pages with login profiles."""

    def __init__(
        self,
        browsers: Browsers,
        visitor: PageVisitor,
        workers: WorkerPool,
        logins: LoginProfiles,
        settings: Settings,
        shared: SharedState,
    ) -> None:
        """Open tabs in `browsers` within the rate limits of `visitor`, and read pages in `workers`.

        `shared` knows the number of servers.
        """
        self._browsers = browsers
        self._shared = shared
        self._visitor = visitor
        self._workers = workers
        self._logins = logins
        self._mode = ActingMode(settings.acting)
        self._files = LocalFiles(settings.document_root, _MAX_UPLOAD_BYTES)
        self._page_tools = PageToolsMode(settings.page_tools)
        self._language = settings.language

    async def run(
        self,
        steps: BrowseSteps,
        session: str | None,
        *,
        principal: str,
        deadline_s: float,
        profile: str | None = None,
        ask: AskUser | None = None,
        owner: str = "",
        may_act: bool = True,
        files: Mapping[str, bytes] | None = None,
    ) -> BrowseResult:
        """Run steps in a session of the caller, or in a new one, and read the page for each `read` step.

        `ask` asks the person before the first write on a site. Sessions of the caller with another `owner` are not
        found. Without `may_act`, nothing is changed on sites, whatever the settings allow. Files to upload that are not
        among `files` are read below the document root.

        Raises:
            ScraperError: There is no such session or profile, the profile cannot be used, or no tab can be opened.
        """
        if profile is not None and session is not None:
            raise errors.InvalidArgumentError(
                "profile belongs to a new session.",
                target="profile",
                next_step="Leave out session to begin one, or profile to go on with it.",
            )
        mode = self._mode if may_act else ActingMode.READ
        if profile is not None and mode is ActingMode.READ:
            raise errors.PolicyError(
                f"Profile {profile} was not used: SEARCH_MCP_ACTING=read takes no steps with a login.",
                target="profile",
                next_step="Read with `fetch`, or ask the operator to set SEARCH_MCP_ACTING=act.",
            )
        deadline = Deadline.within(deadline_s)
        login = None if profile is None else await self._load_login(profile, principal)
        complete = [await self._with_file(step, files or {}) for step in steps.steps]
        request = self._request(complete, session, principal, deadline, login=login, ask=ask)
        request = replace(request, principal=principal + owner, mode=mode, page_tools=self._page_tools)
        _, done = await self._run_with_other_urls(request, steps.other_urls, deadline)
        browsed = [BrowsedStep(one, await self._read(one, deadline)) for one in done.outcomes]
        return BrowseResult(done.session_id, done.is_new, tuple(browsed))

    async def read_with_profile(self, url: str, profile: str, *, principal: str, deadline_s: float) -> Reading:
        """Return a page as a person who is signed in sees it. It is never cached.

        Raises:
            ScraperError: There is no such profile, its login has expired, it is for other hosts, or there is no page.
        """
        deadline = Deadline.within(deadline_s)
        target = _canonical(url)
        for step in await self._visit_with_profile(target, profile, Step("read", "read"), principal, deadline):
            if step.page is not None:
                page = replace(step.page, requested_url=target)
                reading = await self._read(replace(step, page=page), deadline)
                if isinstance(reading, Reading):
                    return reading
                if reading is not None:
                    raise reading
        raise errors.BrowserFailedError(f"{target} was not read.", target=target)

    async def picture_with_profile(
        self, url: str, profile: str, picture: ScreenshotRequest, *, principal: str, deadline_s: float
    ) -> PageScreenshots:
        """Return the pictures of a page as a person who is signed in sees it. They are never cached.

        Raises:
            ScraperError: As `read_with_profile`; no element matches the target, the page shows a cookie of the profile,
                or the picture is MHTML, which may contain such cookies.
        """
        if picture.kind is ScreenshotKind.MHTML and picture.target is None:
            raise errors.InvalidArgumentError(
                "mhtml is not written with a profile: the file may contain its cookies.",
                target="what",
                next_step="Use pdf.",
            )
        target, step = _canonical(url), Step(PICTURE_VERB, PICTURE_VERB, picture=picture)
        outcomes = await self._visit_with_profile(target, profile, step, principal, Deadline.within(deadline_s))
        return _pictures_of(outcomes, target)

    async def picture_of_session(
        self, session: str, picture: ScreenshotRequest, *, principal: str, deadline_s: float, ask: AskUser | None = None
    ) -> PageScreenshots:
        """Return the pictures of the page of a session as it is now. The page is neither loaded nor scrolled.

        Raises:
            ScraperError: There is no such session, the target is not in the window, the page shows a cookie of its
                login, or the picture is not of the window. The scripts of the page would notice other pictures.
        """
        if picture.kind is not ScreenshotKind.WINDOW and picture.target is None:
            raise errors.InvalidArgumentError(
                f"{picture.kind.value} is not taken of a session, because its page would change.",
                target="what",
                next_step="Scroll with `browse` and take the window, or pass url.",
            )
        step = Step(PICTURE_VERB, PICTURE_VERB, picture=replace(picture, keeps_page=True))
        done = await self._run(self._request([step], session, principal, Deadline.within(deadline_s), ask=ask))
        _raise_failure(done.outcomes, "the page")
        return _pictures_of(done.outcomes, "the page")

    async def _visit_with_profile(
        self, url: str, profile: str, last: Step, principal: str, deadline: Deadline
    ) -> tuple[StepOutcome, ...]:
        """Open a URL with a login in a session of its own, run one more step, and return the outcomes."""
        steps = (Step(f"open {url}", "open", text=url), last, Step("close", "close"))
        login = await self._load_login(profile, principal)
        request = self._request(steps, None, principal, deadline, login=login)
        done = await self._run(replace(request, mode=ActingMode.READ, follows_redirects=True))
        _raise_failure(done.outcomes, url)
        return done.outcomes

    def _request(
        self,
        steps: Sequence[Step],
        session: str | None,
        principal: str,
        deadline: Deadline,
        *,
        login: Login | None = None,
        ask: AskUser | None = None,
    ) -> ActingRequest:
        return ActingRequest(
            tuple(steps),
            session,
            principal,
            self._mode,
            self._permission(principal, deadline),
            self._language,
            deadline_s=max(1.0, deadline.left_s() - _READ_RESERVE_S),
            login=login,
            ask=ask if self._mode is ActingMode.ACT else None,
        )

    async def _with_file(self, step: Step, files: Mapping[str, bytes]) -> Step:
        """Return an `upload` step with the content of its file, of `files` or below the document root."""
        if step.verb != "upload" or step.data is not None:
            return step
        data = files.get(step.text)
        if data is None:
            data = (await asyncio.to_thread(self._files.read, step.text)).data
        return replace(step, text=PurePath(step.text).name, data=data, way=LOCAL_FILE)

    async def _load_login(self, name: str, principal: str) -> Login:
        try:
            found = await self._logins.load(principal, name) if PROFILE_NAME_PATTERN.fullmatch(name) else None
        except DatabaseUnavailableError:
            raise errors.StoreUnavailableError("The store of profiles cannot be used.", target="profile") from None
        except (ProfileKeyError, ProfileNotReadableError):
            log.warning("profile not readable: its key or its row has changed")
            found = None
        if found is None:
            # The same error for the profile of another caller: its existence is a secret.
            own = ", ".join(await self.profile_names(principal)) or "none"
            raise errors.ProfileNotFoundError(
                f"There is no profile {name!r} that this server can read. Existing ones: {own}.",
                target="profile",
                next_step="Sign in with `search-mcp login NAME --hosts HOST`; `search-mcp profiles` lists them.",
            )
        return Login(found.info.name, found.info.hosts, found.state)

    async def profile_names(self, principal: str, host: str | None = None) -> list[str]:
        """Return the names of the profiles of a caller, of those for a host; none if the store cannot be used."""
        with contextlib.suppress(DatabaseUnavailableError):
            found = await self._logins.list_all(principal)
            return [info.name for info in found if host is None or covers_host(info.hosts, host)]
        return []

    def _permission(self, principal: str, deadline: Deadline) -> UrlPermission:
        @asynccontextmanager
        async def permission(url: str) -> AsyncIterator[tuple[str, ...]]:
            try:
                async with self._visitor.politeness.permission(url, principal, deadline) as warnings:
                    yield warnings
            except errors.ScraperError as error:
                raise browser_errors.RefusedError(str(error), url=url, next_step=error.next_step) from error

        return permission

    async def _run_with_other_urls(
        self, request: ActingRequest, other_urls: Mapping[str, str], deadline: Deadline
    ) -> _StepRun:
        """Run steps; if a URL cannot be opened and has another one, continue with that."""
        done: ActingResult | None = None

        async def run(others: Mapping[str, str]) -> _StepRun:
            nonlocal done
            if done is None:
                done = await self._run(request)
                return request.steps, done
            at = len(done.outcomes) - 1
            failed = request.steps[at]
            rest = replace(
                request,
                steps=(replace(failed, text=others[failed.text]), *request.steps[at + 1 :]),
                session_id=done.session_id or None,
                deadline_s=max(1.0, deadline.left_s() - _READ_RESERVE_S),
            )
            steps, second = await self._run_with_other_urls(rest, other_urls, deadline)
            outcomes = (*done.outcomes[:at], *second.outcomes)
            return (*request.steps[:at], *steps), replace(second, outcomes=outcomes, is_new=done.is_new)

        return await read_with_other_urls(run, other_urls, _open_errors)

    async def _run(self, request: ActingRequest) -> ActingResult:
        try:
            return await self._browsers.acting.run(request)
        except browser_errors.UnknownSessionError as error:
            servers = self._shared.status().servers
            several = f"This server shares its state with {servers - 1} others" if servers > 1 else "Behind a balancer"
            next_step = f"{error.next_step} {several}: each caller must stay at one server (docs/scale.md)."
            raise errors.SessionNotFoundError(str(error), target="session", next_step=next_step) from None
        except browser_errors.BrowsersError as error:
            raise visit_outcome.map_browser_error(error, request.steps[0].text) from error

    async def _read(self, step: StepOutcome, deadline: Deadline) -> Reading | errors.ScraperError | None:
        """Return the reading of a `read` step's page, or its error; None for other steps."""
        if step.page is None:
            return None
        decider = RenderDecider(self._workers, deadline, on_render=lambda: None)
        try:
            result = await decider.read_result(step.page)
            return visit_outcome.build_reading(
                result.snapshot, result.document, may_render=True, requested_url=step.page.requested_url
            )
        except errors.ScraperError as error:
            return error


def _open_errors(run: _StepRun) -> dict[str, errors.ScraperError | None]:
    """Return the error of the last step by its URL, if it is an `open` after which the session can continue."""
    steps, result = run
    at = len(result.outcomes) - 1
    if at < 0 or steps[at].verb != "open" or (at and not result.session_id):
        return {}
    return {steps[at].text: _failure_of(result.outcomes[at])}


def _failure_of(outcome: StepOutcome) -> errors.ScraperError | None:
    """Return the error of a step whose page could not be loaded, or None."""
    if outcome.failure is None:
        return None
    if isinstance(cause := outcome.failure.__cause__, errors.ScraperError):
        return cause
    return visit_outcome.map_browser_error(outcome.failure, outcome.failure.url)


def _raise_failure(outcomes: Sequence[StepOutcome], name: str) -> None:
    """Raise a ScraperError if a step failed; its message calls the page `name`."""
    for step in outcomes:
        if step.failure is not None:
            raise visit_outcome.map_browser_error(step.failure, name) from step.failure
        if step.error:
            raise errors.BrowserFailedError(f"{name} cannot be read: {step.error}.", target=name)


def _pictures_of(outcomes: Sequence[StepOutcome], name: str) -> PageScreenshots:
    """Return the pictures in the outcomes of a call, with the notices of all its steps as warnings."""
    page = next((step.page for step in outcomes if step.page is not None), None)
    if page is None:
        raise errors.BrowserFailedError(f"{name} was not rendered.", target=name)
    warnings = [f"{notice[0].upper()}{notice[1:]}" for step in outcomes for notice in step.notices]
    if page.tier is Tier.LIGHT:
        warnings.append(NO_IMAGES)
    return PageScreenshots(page.url, page.status, "", page.pictures, tuple(warnings))


_SIGN_IN_S = 900.0


def check_profile_name(name: str) -> None:
    """Raise InvalidArgumentError if a profile cannot have this name."""
    if PROFILE_NAME_PATTERN.fullmatch(name) is None:
        raise errors.InvalidArgumentError(
            f"{name[:80]!r} is not a profile name: use letters, digits, dots and hyphens.", target="name"
        )


def parse_hosts(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the canonical hosts, each once and without `www.`.

    Raises:
        InvalidArgumentError: A name is not a host, or there are not 1 to `MAX_HOSTS` hosts.
    """
    hosts = []
    for name in names:
        if "/" in name or ":" in name or "*" in name or "." not in name.strip("."):
            raise errors.InvalidArgumentError(f"{name!r} is not a host, such as shop.example.", target="hosts")
        hosts.append(host_of(parse_target(f"https://{name}/")).removeprefix("www."))
    if not 1 <= len(hosts) <= login_profiles.MAX_HOSTS:
        raise errors.InvalidArgumentError(f"hosts takes 1 to {login_profiles.MAX_HOSTS} hosts.", target="hosts")
    return tuple(dict.fromkeys(hosts))


async def sign_in(settings: Settings, url: str, hosts: tuple[str, ...], *, limit_s: float = _SIGN_IN_S) -> LoginState:
    """Return the login that a person makes in a visible window, which ends when the window is closed.

    Raises:
        ScraperError: The window does not open, or the page cannot be loaded.
    """
    try:
        async with Browsers(replace(settings.browser_settings(), visible=True)) as browsers:
            return await browsers.sign_in(url, hosts, limit_s=limit_s)
    except browser_errors.BrowsersError as error:
        raise visit_outcome.map_browser_error(error, url) from error


def import_login_state(file: Path, hosts: tuple[str, ...]) -> LoginState:
    """Return the login of hosts in a storage state of Playwright.

    Raises:
        InvalidArgumentError: The file cannot be read, or is not a storage state.
    """
    try:
        return LoginState.parse(file.read_text("utf-8"), hosts)
    except (OSError, UnicodeDecodeError) as error:
        raise errors.InvalidArgumentError(f"{file} cannot be read: {errors.format_error(error)}.") from None
    except LoginStateError as error:
        raise errors.InvalidArgumentError(
            f"{file}: {error}.", next_step="Write it with `context.storage_state(path=...)` of Playwright."
        ) from None
