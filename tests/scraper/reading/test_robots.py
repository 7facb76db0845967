"""robots.txt: which pages may be read, how long the file is cached, and the errors of callers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import cast

import pytest

from browsers import Browsers
from browsers import errors as browser_errors
from browsers.model import Mode, RedirectHop, Request, Snapshot
from scraper import errors
from scraper.call_context import Deadline
from scraper.model import ReadRequest
from scraper.reading import robots
from scraper.reading.fetcher import Fetcher
from scraper.reading.robots import RobotsFiles, RobotsRules
from scraper.settings import Settings
from scraper.store.protocols import PageStore
from scraper.workers import WorkerPool
from tests.scraper.reading.fakes import CountingPages, ScriptedWorkers

RULES = """
User-agent: other-bot
Disallow: /

User-agent: *
Disallow: /private
Disallow: /private/deep
Allow: /private/open
"""
SLOWLY = "User-agent: *\nCrawl-delay: 2"
SITE = "http://example.org"
Enough = Callable[[Snapshot], object]


class RobotsBrowsers:
    """Fake `Browsers`: serve a robots.txt or a replacement for it, and the same page everywhere else."""

    def __init__(self, text: str = RULES, status: int = 200) -> None:
        self.text, self.status = text, status
        self.fault: browser_errors.BrowsersError | None = None
        self.page_fault: browser_errors.BrowsersError | None = None
        self.leads_to: str | None = None
        self.robots: list[Request] = []
        self.pages: list[Request] = []

    async def visit(self, request: Request, enough: Enough | None = None) -> Snapshot:
        await asyncio.sleep(0)
        if request.url.endswith("/robots.txt"):
            self.robots.append(request)
            if self.fault is not None:
                raise self.fault
            return Snapshot(request.url, request.url, self.status, {}, "text/plain", self.text.encode(), self.text)
        self.pages.append(request)
        if self.page_fault is not None:
            raise self.page_fault
        html = "<p>Served.</p>"
        url = self.leads_to or request.url
        hops = (RedirectHop(request.url, 302, url),) if self.leads_to else ()
        snapshot = Snapshot(url, request.url, 200, {}, "text/html", html.encode(), html, hops=hops)
        assert enough is not None
        await enough(snapshot)  # type: ignore[misc]
        return snapshot


def fetcher(client: RobotsBrowsers, policy: str = "obey", gap_s: float = 0.0) -> Fetcher:
    settings = Settings(robots=policy, host_gap_s=gap_s)
    return Fetcher(
        cast(Browsers, client), cast(WorkerPool, ScriptedWorkers()), cast(PageStore, CountingPages()), settings
    )


async def refusal(reads: Fetcher, path: str) -> errors.ScraperError:
    with pytest.raises(errors.ScraperError) as refused:
        await reads.fetch(ReadRequest(SITE + path, deadline_s=20))
    return refused.value


class KeptTexts:
    """A shared cache of files that several servers fetched."""

    def __init__(self) -> None:
        self._kept: dict[str, bytes] = {}

    async def get(self, key: str) -> bytes | None:
        return self._kept.get(key)

    def put(self, key: str, value: bytes, keep_s: float) -> None:
        self._kept[key] = value


def robots_of(client: RobotsBrowsers, texts: KeptTexts | None = None) -> RobotsFiles:
    async def fetch_file(request: Request, deadline: Deadline) -> Snapshot:
        return await client.visit(request)

    return RobotsFiles(fetch_file, texts)


class TestTheRules:
    @pytest.mark.parametrize(
        ("path", "rule"),
        [("/", None), ("/private", "/private"), ("/private/deep/x?y", "/private/deep"), ("/private/open/x", None)],
    )
    def test_the_longest_matching_rule_decides_and_is_named(self, path: str, rule: str | None) -> None:
        assert RobotsRules(RULES).find_disallow_rule(SITE + path) == rule

    def test_the_group_of_this_program_has_priority_over_the_general_one(self) -> None:
        rules = RobotsRules(RULES + "\nUser-agent: Search-MCP\nDisallow: /ours\n")
        assert (
            rules.find_disallow_rule(SITE + "/ours") == "/ours" and rules.find_disallow_rule(SITE + "/private") is None
        )
        assert rules.gap_s is None

    @pytest.mark.parametrize(
        ("value", "path"),
        [
            ("/*.pdf$", "/a/b.pdf"),
            ("/caf%C3%A9", "/caf%c3%a9/menu"),
            ("/café", "/caf%C3%A9"),
            ("/x?id=", "/x?id=7"),
            ("*/print", "/any/print"),
        ],
    )
    @pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
    def test_a_rule_is_named_as_written(self, value: str, path: str, end: str) -> None:
        lines = ("User-agent: *", *(f"Disallow: /other/{number}*x" for number in range(300)), f"Disallow: {value}")
        assert RobotsRules(end.join(lines)).find_disallow_rule(SITE + path) == value

    def test_one_of_many_rules_is_named(self) -> None:
        rules = RobotsRules("User-agent: *\n" + "".join(f"Disallow: /p{'/' * n}\n" for n in range(2_000)))
        assert rules.find_disallow_rule(SITE + "/p//") == "/p//"

    def test_a_url_that_ai_may_not_use_is_forbidden_if_wishes_are_obeyed(self) -> None:
        text = "User-agent: *\nContent-Usage: /paid ai-input=n\nContent-Signal: search=yes"
        for obeys in (False, True):
            rules = RobotsRules(text, obeys_wishes=obeys)
            assert (rules.allows(SITE + "/paid/x"), rules.allows(SITE + "/free")) == (not obeys, True)

    def test_crawl_delay_is_parsed_and_limited(self) -> None:
        assert RobotsRules(SLOWLY).gap_s == 2
        assert RobotsRules("User-agent: *\nCrawl-delay: 86400").gap_s == 120

    @pytest.mark.parametrize(
        "text", ["", "<!doctype html><p>Not found", "\x00\xff", "Disallow: /", "User-agent: *\nDisallow:"]
    )
    def test_a_file_without_rules_allows_everything(self, text: str) -> None:
        assert RobotsRules(text).find_disallow_rule(SITE + "/x") is None


class TestObey:
    async def test_a_forbidden_page_is_not_visited_and_the_error_names_rule_and_setting(self) -> None:
        client = RobotsBrowsers()
        error = await refusal(fetcher(client), "/private/x")
        assert isinstance(error, errors.RobotsDisallowedError) and not error.retryable and error.code == "robots"
        assert error.sentence() == (
            "The robots.txt of example.org forbids reading it (Disallow: /private). "
            "This server obeys robots.txt (SEARCH_MCP_ROBOTS=obey): look for another source."
        )
        assert not client.pages

    async def test_a_byte_order_mark_is_ignored(self) -> None:
        reads = fetcher(RobotsBrowsers("\ufeffUser-agent: *\nDisallow: /private"))
        assert isinstance(await refusal(reads, "/private"), errors.RobotsDisallowedError)

    async def test_an_allowed_page_has_no_warning(self) -> None:
        client = RobotsBrowsers()
        reading = await fetcher(client).fetch(ReadRequest(SITE + "/open"))
        assert reading.warnings == () and len(client.pages) == 1

    async def test_the_file_is_fetched_once_without_rendering(self) -> None:
        client = RobotsBrowsers("User-agent: *\nDisallow: /private")
        reads = fetcher(client)
        await asyncio.gather(*(reads.fetch(ReadRequest(f"{SITE}/{number}")) for number in range(5)))
        assert len(client.robots) == 1
        request = client.robots[0]
        assert request.mode is Mode.PEEK and request.limits.hops == 5 and request.limits.body_bytes == 500 * 1024

    async def test_each_origin_has_its_own_file(self) -> None:
        client = RobotsBrowsers()
        reads = fetcher(client)
        for site in ("http://example.org", "https://example.org", "http://example.org:8080"):
            await reads.fetch(ReadRequest(site + "/x"))
        assert [request.url for request in client.robots] == [
            "http://example.org/robots.txt", "https://example.org/robots.txt",
            "http://example.org:8080/robots.txt",
        ]  # fmt: skip

    async def test_a_redirect_to_a_forbidden_page_is_refused(self) -> None:
        client = RobotsBrowsers()
        client.leads_to = SITE + "/private/x"
        assert isinstance(await refusal(fetcher(client), "/open"), errors.RobotsDisallowedError)

    async def test_a_redirected_page_that_is_forbidden_is_not_returned_as_served(self) -> None:
        class Crashing(RobotsBrowsers):
            async def visit(self, request: Request, enough: Enough | None = None) -> Snapshot:
                snapshot = await super().visit(request, enough)
                if request.url.endswith("/robots.txt"):
                    return snapshot
                raise browser_errors.PageCrashedError("It crashed while it was rendered.")

        client = Crashing()
        client.leads_to = SITE + "/private/x"
        assert isinstance(await refusal(fetcher(client), "/open"), errors.RobotsDisallowedError)

    async def test_the_crawl_delay_is_observed(self) -> None:
        reads = fetcher(RobotsBrowsers(SLOWLY))
        await reads.fetch(ReadRequest(SITE + "/1"))
        with pytest.raises(errors.HostBusyError, match="are 2 s apart"):
            await reads.fetch(ReadRequest(SITE + "/2", deadline_s=1))

    async def test_the_crawl_delay_is_known_after_the_first_request(self) -> None:
        reads = fetcher(RobotsBrowsers(SLOWLY))
        assert reads.gap_s(SITE) is None
        await reads.fetch(ReadRequest(SITE + "/1"))
        assert reads.gap_s(SITE) == 2
        assert reads.gap_s("http://other.example/") is None
        assert fetcher(RobotsBrowsers(), "off", gap_s=3.0).gap_s(SITE) == 3


class TestWarn:
    async def test_a_forbidden_page_is_read_with_a_warning(self) -> None:
        reading = await fetcher(RobotsBrowsers(), "warn").fetch(ReadRequest(SITE + "/private/x"))
        assert reading.document.text == "Served."
        assert reading.warnings == ("The robots.txt of example.org forbids reading it (Disallow: /private).",)

    async def test_off_requests_no_file(self) -> None:
        client = RobotsBrowsers()
        assert (await fetcher(client, "off").fetch(ReadRequest(SITE + "/private/x"))).warnings == ()
        assert not client.robots


class TestFilesThatAreNotThere:
    @pytest.mark.parametrize("status", [400, 401, 403, 404, 410, 429])
    async def test_a_client_error_allows_everything(self, status: int) -> None:
        await fetcher(RobotsBrowsers(status=status)).fetch(ReadRequest(SITE + "/private/x"))

    @pytest.mark.parametrize("status", [500, 502, 503])
    async def test_a_server_error_forbids_everything(self, status: int) -> None:
        error = await refusal(fetcher(RobotsBrowsers(status=status)), "/")
        assert isinstance(error, errors.RobotsDisallowedError)
        assert f"cannot be reached, so it may not be read. The server answered {status}." in str(error)
        assert error.retryable and error.retry_after_s is not None and 290 < error.retry_after_s < 310
        assert "try again in" in error.next_step

    async def test_an_unreachable_host_forbids_everything(self) -> None:
        client = RobotsBrowsers()
        client.fault = browser_errors.ConnectTimeoutError("example.org does not answer.")
        assert "example.org does not answer." in str(await refusal(fetcher(client), "/"))

    @pytest.mark.parametrize(
        ("kind", "passes"),
        [
            (browser_errors.NameLookupTimeoutError, True),
            (browser_errors.ConnectionClosedError, True),
            (browser_errors.DeadlineExceededError, True),
            (browser_errors.NameNotResolvedError, False),
        ],
    )
    async def test_another_server_knows_if_a_retry_can_help(
        self, kind: type[browser_errors.BrowsersError], passes: bool
    ) -> None:
        client, texts = RobotsBrowsers(), KeptTexts()
        client.fault = kind("No robots.txt of example.org.")
        for _ in range(2):
            said = await robots_of(client, texts).decide(SITE + "/1", "local", Deadline.within(20))
            assert not said.allowed and (said.retry_after_s is not None) == passes
        assert len(client.robots) == 1

    async def test_too_many_redirects_allow_everything(self) -> None:
        client = RobotsBrowsers()
        client.fault = browser_errors.TooManyRedirectsError("It redirects more than 5 times.")
        await fetcher(client).fetch(ReadRequest(SITE + "/private/x"))

    async def test_an_internal_error_is_reported_and_not_cached(self) -> None:
        client, faults = RobotsBrowsers(), browser_errors.BrowserGoneError("The browser died.")
        reads = fetcher(client)
        client.fault = faults
        assert isinstance(await refusal(reads, "/"), errors.BrowserFailedError)
        client.fault = None
        await reads.fetch(ReadRequest(SITE + "/"))

    @pytest.mark.parametrize("kind", [browser_errors.BlockedAddressError, browser_errors.UnsafePortError])
    async def test_a_redirect_of_robots_txt_to_a_forbidden_address_allows_everything(
        self, kind: type[browser_errors.RefusedError]
    ) -> None:
        client = RobotsBrowsers()
        client.fault = kind("The address that example.org redirects to is none of ours.")
        reads = fetcher(client)
        await reads.fetch(ReadRequest(SITE + "/private/1"))
        await reads.fetch(ReadRequest(SITE + "/private/2"))
        assert len(client.robots) == 1

    async def test_a_site_at_a_forbidden_address_is_reported_as_such(self) -> None:
        client = RobotsBrowsers()
        client.fault = client.page_fault = browser_errors.BlockedAddressError("example.org is not public.")
        assert isinstance(await refusal(fetcher(client), "/"), errors.PrivateAddressError)


class TestTime:
    @pytest.fixture
    def now(self, monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
        """Return a function that sets the clock to a number of seconds after the start."""
        moment = [1_800_000_000.0]
        monkeypatch.setattr("time.time", lambda: moment[0])

        def later(seconds: float) -> None:
            moment[0] = 1_800_000_000.0 + seconds

        return later

    async def test_a_file_is_cached_for_a_day(self, now: Callable[[float], None]) -> None:
        client = RobotsBrowsers("User-agent: *\nDisallow: /private")
        reads = fetcher(client)
        await reads.fetch(ReadRequest(SITE + "/1"))
        now(86_000)
        await reads.fetch(ReadRequest(SITE + "/2"))
        assert len(client.robots) == 1
        now(87_000)
        await reads.fetch(ReadRequest(SITE + "/3"))
        assert len(client.robots) == 2

    async def test_an_old_file_applies_for_a_month_while_it_is_unreachable(self, now: Callable[[float], None]) -> None:
        client = RobotsBrowsers("User-agent: *\nDisallow: /private")
        reads = fetcher(client)
        await reads.fetch(ReadRequest(SITE + "/1"))
        client.status = 503
        now(2 * 86_400)
        await reads.fetch(ReadRequest(SITE + "/2"))
        assert isinstance(await refusal(reads, "/private"), errors.RobotsDisallowedError)
        now(31 * 86_400)
        await reads.fetch(ReadRequest(SITE + "/private"))

    async def test_a_file_that_was_never_reached_is_requested_again_soon(self, now: Callable[[float], None]) -> None:
        client = RobotsBrowsers(status=503)
        reads = fetcher(client)
        await refusal(reads, "/1")
        await refusal(reads, "/1")
        assert len(client.robots) == 1
        now(301)
        client.status = 200
        await reads.fetch(ReadRequest(SITE + "/1"))
        assert len(client.robots) == 2

    @pytest.mark.parametrize(("ahead_s", "asked"), [(0, 1), (250, 1), (100 * 86_400, 2)])
    async def test_the_file_of_another_server_is_used_if_its_clock_agrees(
        self, now: Callable[[float], None], ahead_s: float, asked: int
    ) -> None:
        client, texts = RobotsBrowsers(), KeptTexts()
        now(ahead_s)
        await robots_of(client, texts).decide(SITE + "/1", "local", Deadline.within(20))
        now(0)
        for _ in range(2):
            ours = robots_of(client, texts)
            assert not (await ours.decide(SITE + "/private", "local", Deadline.within(20))).allowed
        assert len(client.robots) == asked

    @pytest.mark.parametrize(("name", "bound"), [("MAX_FILES", 2), ("MAX_CHARACTERS", 2 * len(RULES))])
    async def test_the_least_recently_used_files_are_evicted(
        self, monkeypatch: pytest.MonkeyPatch, name: str, bound: int
    ) -> None:
        monkeypatch.setattr(robots, name, bound)
        client = RobotsBrowsers()
        ours = robots_of(client)
        for host in ("a", "b", "a", "c", "a", "b"):
            await ours.decide(f"http://{host}.example/1", "local", Deadline.within(20))
        asked = [request.url[7] for request in client.robots]
        assert asked == ["a", "b", "c", "b"]
