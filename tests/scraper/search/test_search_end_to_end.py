"""End-to-end searches in a real browser: URL, block pages, result page, rows, fused list."""

from __future__ import annotations

import pytest

from browsers import Browsers
from scraper.model import REFRESH, ReadRequest
from scraper.reading.fetcher import Fetcher
from scraper.search.argument_validation import SearchRequest
from scraper.search.searcher import Searcher
from scraper.settings import Settings
from scraper.store.protocols import NullPageStore
from scraper.workers import WorkerPool
from tests.growth import thorough
from tests.scraper.search.conftest import MakeSearcher
from tests.site.engine_pages import EngineRow
from tests.site.engine_server import EngineSite

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("engines_have_time")]

QUERY = "tidal power cost"


async def test_three_engines_are_queried_and_merged(searcher: Searcher, engine_site: EngineSite, caller: str) -> None:
    answer = await searcher.search(SearchRequest(QUERY, principal=caller))
    assert {asked.engine for asked in engine_site.asked} == {"duckduckgo", "mojeek", "googlenews"}
    assert answer.engines == ("duckduckgo", "mojeek", "googlenews")
    assert answer.errors == {} and answer.hint is None and not answer.cached
    assert len(answer.results) == 10
    # Page 0 is found by all three, by Google News under an opaque URL.
    first = next(row for row in answer.results if row.url.endswith("/0"))
    assert set(first.engines) == {"duckduckgo", "mojeek", "googlenews"}
    assert first.source == "Harbour Review"
    scores = [row.score for row in answer.results]
    assert scores == sorted(scores, reverse=True)
    assert not any("shop.example" in row.url for row in answer.results)


async def test_requests_look_like_those_of_the_engine_page(
    searcher: Searcher, engine_site: EngineSite, caller: str
) -> None:
    await searcher.search(SearchRequest(QUERY, engines=["duckduckgo"], freshness="week", principal=caller))
    (asked,) = engine_site.asked
    assert (asked.host, asked.method, asked.query) == ("html.duckduckgo.com", "POST", QUERY)
    assert asked.fields["df"] == "w"
    assert asked.headers["Referer"] == "https://html.duckduckgo.com/"
    assert "Headless" not in asked.headers["User-Agent"]


@pytest.mark.parametrize("engine", ["startpage", "bing", *map(thorough, ("brave", "baidu"))])
async def test_optional_engines_are_parsed(
    searcher: Searcher, engine_site: EngineSite, engine: str, caller: str
) -> None:
    answer = await searcher.search(SearchRequest(QUERY, engines=[engine], principal=caller))
    assert answer.errors == {}
    assert len(answer.results) == 10
    assert all(row.url.startswith("https://") and ".example/read/" in row.url for row in answer.results)


class TestWalls:
    @pytest.mark.parametrize(("engine", "wall"), [("mojeek", "altcha"), thorough("startpage", "anubis")])
    async def test_a_block_page_that_clears_itself_is_waited_for_once(
        self, searcher: Searcher, engine_site: EngineSite, engine: str, wall: str, caller: str
    ) -> None:
        engine_site.moods[engine] = wall
        first = await searcher.search(SearchRequest(QUERY, engines=[engine], principal=caller))
        assert first.errors == {} and len(first.results) == 10
        assert [f"{wall}-clearance" in asked.cookies for asked in engine_site.asked] == [False, True]
        engine_site.asked.clear()
        await searcher.search(SearchRequest("another", engines=[engine], principal=caller))
        assert [f"{wall}-clearance" in asked.cookies for asked in engine_site.asked] == [True]

    async def test_consent_is_refused_once(self, searcher: Searcher, engine_site: EngineSite, caller: str) -> None:
        engine_site.moods["googlenews"] = "consent"
        answer = await searcher.search(SearchRequest(QUERY, engines=["googlenews"], principal=caller))
        assert answer.errors == {} and len(answer.results) == 10
        assert [asked.cookies.get("SOCS") for asked in engine_site.asked] == [None, "refused"]

    async def test_a_permanent_block_is_named_and_the_others_answer(
        self, searcher: Searcher, engine_site: EngineSite, caller: str
    ) -> None:
        engine_site.moods["baidu"] = "wall"
        answer = await searcher.search(SearchRequest(QUERY, engines=["baidu", "mojeek"], principal=caller))
        assert answer.errors == {"baidu": "captcha"}
        assert len(answer.results) == 10
        assert len(engine_site.of("baidu")) == 1

    async def test_a_blocking_engine_is_not_queried_again(
        self, searcher: Searcher, engine_site: EngineSite, caller: str
    ) -> None:
        engine_site.moods["baidu"] = "wall"
        await searcher.search(SearchRequest(QUERY, engines=["baidu"], principal=caller))
        answer = await searcher.search(SearchRequest("another", engines=["baidu"], principal=caller))
        assert answer.errors == {"baidu": "captcha"} and not answer.results
        assert answer.hint is not None and "baidu for 1 min" in answer.hint
        assert len(engine_site.of("baidu")) == 1

    async def test_duckduckgo_is_tried_by_all_its_pages(
        self, searcher: Searcher, engine_site: EngineSite, caller: str
    ) -> None:
        engine_site.moods |= {"html.duckduckgo.com": "wall", "lite.duckduckgo.com": "wall"}
        answer = await searcher.search(SearchRequest(QUERY, engines=["duckduckgo"], principal=caller))
        assert [asked.host for asked in engine_site.asked] == [
            "html.duckduckgo.com", "lite.duckduckgo.com", "duckduckgo.com",
        ]  # fmt: skip
        assert answer.errors == {} and len(answer.results) == 10

    async def test_the_code_of_a_request_is_read_from_the_home_page(
        self, searcher: Searcher, engine_site: EngineSite, caller: str
    ) -> None:
        engine_site.moods["startpage"] = "code"
        answer = await searcher.search(SearchRequest(QUERY, engines=["startpage"], principal=caller))
        assert [asked.method for asked in engine_site.asked] == ["GET", "POST"]
        assert answer.errors == {} and len(answer.results) == 10

    async def test_a_rate_limit_is_named(self, searcher: Searcher, engine_site: EngineSite, caller: str) -> None:
        engine_site.moods["brave"] = "limited"
        answer = await searcher.search(SearchRequest(QUERY, engines=["brave"], principal=caller))
        assert answer.errors == {"brave": "rate_limited"}


class TestWhatIsNoAnswer:
    async def test_no_results_are_not_an_error(self, searcher: Searcher, engine_site: EngineSite, caller: str) -> None:
        engine_site.moods |= dict.fromkeys(("duckduckgo", "mojeek", "googlenews"), "none")
        answer = await searcher.search(SearchRequest(QUERY, principal=caller))
        assert not answer.results and answer.errors == {}
        assert answer.hint is not None and answer.hint.startswith("Nothing found: ")

    async def test_decoys_are_dropped(self, searcher: Searcher, engine_site: EngineSite, caller: str) -> None:
        engine_site.moods["bing"] = "decoys"
        answer = await searcher.search(
            SearchRequest("popular times of the harbour museum", engines=["bing"], principal=caller)
        )
        assert answer.errors == {"bing": "off_topic"} and not answer.results

    async def test_an_engine_with_decoys_is_queried_once_more_without_cookies(
        self, searcher: Searcher, engine_site: EngineSite, caller: str
    ) -> None:
        engine_site.moods["bing"] = "suspicious"
        for words in (QUERY, "popular times of the harbour museum"):
            answer = await searcher.search(SearchRequest(words, engines=["bing"], principal=caller))
            assert answer.errors == {} and len(answer.results) > 5
        assert ["seen" in asked.cookies for asked in engine_site.of("bing")] == [False, True, False]

    async def test_a_hanging_engine_does_not_fail_the_search(
        self, searcher: Searcher, engine_site: EngineSite, caller: str
    ) -> None:
        engine_site.moods["mojeek"] = "hang"
        for deadline_s in (3.0, 9.0, 27.0):
            answer = await searcher.search(
                SearchRequest(
                    QUERY, engines=["mojeek", "brave"], deadline_s=deadline_s, principal=caller, cache=REFRESH
                )
            )
            # On a busy machine the engine that answers may need more time too.
            if "brave" not in answer.errors:
                break
        assert answer.errors == {"mojeek": "timeout"}
        assert len(answer.results) == 10

    async def test_a_broken_connection_is_named(self, searcher: Searcher, engine_site: EngineSite, caller: str) -> None:
        engine_site.moods["mojeek"] = "broken"
        answer = await searcher.search(SearchRequest(QUERY, engines=["mojeek"], principal=caller))
        assert answer.errors == {"mojeek": "unreachable"}

    async def test_a_changed_layout_is_parsed_by_shape_and_reported(
        self, searcher: Searcher, engine_site: EngineSite, caller: str
    ) -> None:
        engine_site.moods["mojeek"] = "redrawn"
        answer = await searcher.search(SearchRequest(QUERY, engines=["mojeek"], principal=caller))
        assert answer.errors == {"mojeek": "layout_changed"}
        assert len(answer.results) == 10


async def test_more_results_are_requested_by_the_form_of_the_engine(
    searcher: Searcher, engine_site: EngineSite, caller: str
) -> None:
    answer = await searcher.search(SearchRequest(QUERY, engines=["duckduckgo"], max_results=15, principal=caller))
    assert len(answer.results) == 15
    following = engine_site.asked[1]
    assert following.fields["vqd"] == "4-123456789" and following.fields["s"] == "10"


async def test_a_google_news_link_redirects_to_the_publisher(
    searcher: Searcher,
    engine_site: EngineSite,
    engine_browsers: Browsers,
    engine_settings: Settings,
    workers: WorkerPool,
    caller: str,
) -> None:
    answer = await searcher.search(SearchRequest(QUERY, engines=["googlenews"], principal=caller))
    wrapped = answer.results[0]
    assert wrapped.url.startswith("https://news.google.com/rss/articles/")
    fetcher = Fetcher(engine_browsers, workers, NullPageStore(), engine_settings)
    reading = await fetcher.fetch(ReadRequest(wrapped.url, principal=caller))
    await fetcher.close()
    assert reading.url.startswith("https://harbour.example/read/")
    assert reading.document.title == wrapped.title


async def test_filters_are_sent_to_the_engine_and_applied_again(
    searcher: Searcher, engine_site: EngineSite, caller: str
) -> None:
    answer = await searcher.search(
        SearchRequest(QUERY, engines=["mojeek"], include_domains=["https://www.atlas.example/x"], principal=caller)
    )
    assert engine_site.asked[0].query == f"{QUERY} site:atlas.example"
    assert {row.url.split("/")[2] for row in answer.results} == {"atlas.example"}


async def test_clearance_cookies_are_per_caller(
    make_searcher: MakeSearcher, engine_site: EngineSite, caller: str
) -> None:
    engine_site.moods["startpage"] = "anubis"
    searcher = make_searcher()
    for name in (caller, f"{caller} of another"):
        await searcher.search(SearchRequest(QUERY, engines=["startpage"], principal=name))
    cleared = ["anubis-clearance" in asked.cookies for asked in engine_site.asked]
    assert cleared == [False, True, False, True]


async def test_queries_of_any_kind_reach_the_engine_unchanged(
    searcher: Searcher, engine_site: EngineSite, caller: str
) -> None:
    engine_site.rows["mojeek"] = [EngineRow("A page", f"https://a{n}.example/", f"Text {n}.") for n in range(3)]
    for query in ('"exact words" -other', "天気 東京 明日", "🦆 pond", "a&b=c #d %20 +e", "c++ > c"):
        await searcher.search(SearchRequest(query, engines=["mojeek"], principal=caller))
    assert [asked.query for asked in engine_site.asked] == [
        '"exact words" -other', "天気 東京 明日", "🦆 pond", "a&b=c #d %20 +e", "c++ > c",
    ]  # fmt: skip
