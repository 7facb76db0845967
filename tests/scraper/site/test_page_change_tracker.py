"""Tests for changes of pages on a real server and in a real browser."""

from __future__ import annotations

import itertools
import json
import time
import zlib
from collections.abc import AsyncIterator
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from scraper import errors
from scraper.services import Services
from scraper.settings import Settings
from scraper.site import page_change_tracker
from scraper.site.model import PageChange
from scraper.tools.model import ToolAnswer, ToolCall
from tests.scraper.tools.calls import call_tool, data_of
from tests.site.traps.made_site import MadeSite, Prose, Response, build_page, missing, redirect
from tests.site.traps.serving import ServedSite, serving

pytestmark = pytest.mark.browser

WALL = (
    "<html><head><title>Just a moment...</title></head><body><div id='challenge-form'>Checking your browser before "
    "accessing this site. cf-browser-verification</div></body></html>"
)


CONSENT = (
    "<html><head><title>Before you continue</title></head><body><form><h1>We value your privacy</h1><p>We and our 84 "
    "partners store cookies on your device and process personal data. You can accept or reject them.</p>"
    "<button>Accept all</button><button>Reject all</button></form></body></html>"
)


class Journal(MadeSite):
    """One page whose state a test sets; each visit shows another advertisement and another count."""

    name = "journal"
    state = "text"
    price = "12 EUR"

    def build(self) -> None:
        """Add the page."""
        visits = itertools.count()
        text = Prose("journal").paragraphs()

        def page(query: dict[str, str]) -> Response:
            number = next(visits)
            if self.state == "gone":
                return Response(410, b"gone")
            if self.state == "error":
                return Response(500, b"error")
            if self.state == "wall":
                return Response(403, WALL.encode())
            if self.state == "consent":
                return Response(body=CONSENT.encode())
            if self.state == "new":
                return build_page("News", Prose("news").paragraphs())
            if self.state == "empty":
                return Response(body=b"")
            if self.state == "moved":
                return redirect("/new-place")
            advertisement = f"<p>{Prose(('ad', number)).title()} at our shop.</p>"
            price = f"<p>A ticket costs {self.price} for adults.</p>"
            body = f"{text}{advertisement}{price}<p>{number + 900} views</p>{text[:300]}</p>"
            return build_page("Journal", body)

        def moved(query: dict[str, str]) -> Response:
            self.state, before = "text", self.state
            response = page(query)
            self.state = before
            return response

        def article(query: dict[str, str]) -> Response:
            return self.answer_unknown("/article") if self.state == "soft" else page(query)

        def course(query: dict[str, str]) -> Response:
            offer = {"@type": "Offer", "price": self.price.split()[0], "priceCurrency": "EUR"}
            product = {"@context": "https://schema.org", "@type": "Product", "name": "Course", "offers": offer}
            script = f'<script type="application/ld+json">{json.dumps(product)}</script>'
            return build_page("Course", f"{text}<button>Book for {self.price}</button>", head=script)

        self.route("/", page)
        self.route("/course", course)
        self.route("/article", article)
        self.route("/new-place", moved)
        self.route(r"/[0-9a-f]+-does-not-exist/", lambda query: self.answer_unknown("/x"))
        self.route("/missing", lambda query: missing())

    def answer_unknown(self, url: str) -> Response:
        """Answer with a page for missing URLs that has status 200."""
        return build_page("Oh no", "<p>The text that you look for is not in this journal. Begin at its first page.</p>")


@dataclass(frozen=True, slots=True)
class World:
    """The journal and the services of a test, which is a caller of its own: versions belong to their caller."""

    made: Journal
    url: str
    app: Services
    principal: str

    async def compare(self, **options: Any) -> PageChange:
        """Compare the page of the journal with its last version."""
        return await compare(self.app, self.url, **{"principal": self.principal, **options})

    async def call(self, **arguments: Any) -> ToolAnswer:
        """Call the tool `changes`."""
        return await call(self.app, self.principal, **arguments)


async def compare(app: Services, url: str, **options: Any) -> PageChange:
    (outcome,) = await app.change_tracker.compare([url], **options)
    if isinstance(outcome, errors.ScraperError):
        raise outcome
    return outcome


async def call(app: Services, principal: str, **arguments: Any) -> ToolAnswer:
    return await call_tool(app, "changes", ToolCall(deadline_s=60, principal=principal), **arguments)


def opened(folder: Path, served: ServedSite) -> Any:
    return Services.open(Settings(data_dir=folder, test_hosts=served.test_hosts))


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def shared(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[World]:
    with serving(Journal) as (made, served):
        async with opened(tmp_path_factory.mktemp("shared"), served) as app:
            yield World(made, served.url, app, "")


@pytest.fixture
def world(shared: World, request: pytest.FixtureRequest) -> World:
    """Return the shared services for one test, and reset the journal."""
    shared.made.state, shared.made.price = Journal.state, Journal.price
    return replace(shared, principal=request.node.name)


async def test_an_edit_is_found_between_advertisements_and_counts(tmp_path: Path) -> None:
    with serving(Journal) as (made, served):
        async with opened(tmp_path, served) as app:
            assert (await compare(app, served.url)).status == "first"
            same = await compare(app, served.url)
            assert same.status == "same" and same.noise > 0
            made.price = "15 EUR"
            changed = await compare(app, served.url)
            assert changed.status == "changed"
            (change,) = changed.changes
            assert change.kind == "edited" and "12 EUR" in change.old and "15 EUR" in change.new
        # Another server continues from the store.
        async with opened(tmp_path, served) as app:
            assert (await compare(app, served.url)).status == "same"


async def test_a_price_that_only_a_button_shows_is_compared(world: World) -> None:
    world.made.price = "61 EUR"
    url = f"{world.url}course"
    assert (await compare(world.app, url, principal=world.principal)).status == "first"
    world.made.price = "64 EUR"
    changed = await compare(world.app, url, principal=world.principal)
    assert [(change.kind, change.old, change.new) for change in changed.changes] == [
        ("edited", "price: 61", "price: 64")
    ]


async def test_the_tool_marks_words_and_answers_each_url(world: World) -> None:
    urls = [world.url, f"{world.url}missing", "ftp://trap.example/"]
    first = await world.call(urls=urls, format="json")
    assert [row["status"] for row in data_of(first)["pages"]] == ["first", "failed", "failed"]
    assert [row.get("error_code") for row in data_of(first)["pages"]] == [None, "http_error", "bad_url"]
    world.made.price = "15 EUR"
    text = (await world.call(urls=urls)).text
    assert "~ A ticket costs [-12-] {+15+} EUR for adults." in text
    assert "Pages: 1 changed, 2 failed." in text and text.count("<<<untrusted") == 1


@pytest.mark.parametrize(
    ("state", "code"), [("error", "http_error"), ("wall", "walled"), ("consent", "walled"), ("empty", "empty")]
)
async def test_an_error_or_block_page_is_no_version(world: World, state: str, code: str) -> None:
    await world.compare()
    world.made.state = state
    with pytest.raises(errors.ScraperError) as raised:
        await world.compare()
    assert raised.value.code == code
    world.made.state = "text"
    assert (await world.compare()).status == "same"


async def test_a_page_that_is_gone_or_moved_says_so(world: World) -> None:
    await world.compare()
    world.made.state = "gone"
    assert (await world.compare()).status == "gone"
    world.made.state = "moved"
    moved = await world.compare()
    assert moved.status == "moved" and moved.new_url == f"{world.url}new-place"


async def test_a_page_for_missing_urls_is_gone_and_no_version(world: World) -> None:
    world = replace(world, url=f"{world.url}article")
    await world.compare()
    world.made.state = "soft"
    assert (await world.compare()).status == "gone"
    world.made.state = "text"
    assert (await world.compare()).status == "same"
    # A page that was replaced is no page for missing URLs.
    world.made.state = "new"
    assert (await world.compare()).status == "changed"


async def test_an_earlier_version_is_chosen_by_date(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    moments = [time.time() - 10 * 86_400, time.time() - 5 * 86_400]
    for price, moment in zip(("10 EUR", "12 EUR"), moments, strict=True):
        world.made.price = price
        monkeypatch.setattr(time, "time", lambda moment=moment: moment)
        await world.compare()
        monkeypatch.undo()
    world.made.price = "15 EUR"
    since = datetime.now(UTC) - timedelta(days=7)
    (change,) = (await world.compare(since=since)).changes
    assert "10 EUR" in change.old and "15 EUR" in change.new


async def test_versions_belong_to_their_caller(world: World) -> None:
    assert (await world.compare(principal="ann")).status == "first"
    assert (await world.compare(principal="bob")).status == "first"


async def test_the_number_of_versions_is_bounded(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_change_tracker, "MAX_VERSIONS", 3)
    for price in range(6):
        world.made.price = f"{price} EUR"
        await world.compare()
    (log,) = await world.app.store.records.list_logs(world.principal, "versions:")
    assert [record.number for record in await world.app.store.records.read(world.principal, log)] == [3, 4, 5]


async def test_of_a_thousand_versions_twenty_stay(world: World) -> None:
    await world.compare()
    records = world.app.store.records
    (log,) = await records.list_logs(world.principal, "versions:")
    (first,) = await records.read(world.principal, log)
    version = page_change_tracker._load_version(first.data)
    for number in range(1, 1_000):
        text = version.markdown.replace("12 EUR", f"{number + 1_000} EUR")
        data = zlib.compress(json.dumps(asdict(replace(version, markdown=text))).encode())
        await records.append(world.principal, log, number, data)
    oldest = await world.compare(since=datetime.fromtimestamp(first.written_at, UTC))
    assert oldest.status == "same"
    assert [record.number for record in await records.read(world.principal, log)] == list(range(981, 1_001))
    world.made.price = "15 EUR"
    oldest = await world.compare(since=datetime.fromtimestamp(first.written_at, UTC))
    assert ["1981 EUR" in change.old for change in oldest.changes] == [True]


async def test_another_reader_is_no_change(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_change_tracker, "READER", "0.0.1")
    await world.compare()
    monkeypatch.undo()
    world.made.price = "15 EUR"
    assert (await world.compare()).status == "reader_changed"
    assert (await world.compare()).status == "same"


@pytest.mark.parametrize("since", ["yesterday", "2026-13-01"])
async def test_a_wrong_date_is_explained(tmp_path: Path, since: str) -> None:
    async with Services.open(Settings(data_dir=tmp_path), is_lazy=True) as app:
        answer = await call(app, "local", urls=["http://a.example/"], since=since)
        assert answer.is_error and "since" in answer.text


async def test_an_unusable_store_is_reported(tmp_path: Path) -> None:
    (tmp_path / "records.sqlite").mkdir()
    with serving(Journal) as (_, served):
        async with opened(tmp_path, served) as app:
            answer = await call(app, "local", urls=[served.url])
            assert answer.is_error and "The store of this server cannot be used" in answer.text
