"""Requests to each engine: its parameters for freshness, region, category and domains."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import parse_qs, urlsplit

import pytest

from browsers.model import Mode, Request
from scraper.engines.model import SearchQuery
from scraper.engines.registry import ENGINES
from tests.scraper.engines.pages import NOW, snapshot


def _parameters(request: Request) -> Mapping[str, str]:
    """Return the fields of a request, from its URL or form."""
    fields = {name: values[0] for name, values in parse_qs(urlsplit(request.url).query).items()}
    return fields | dict(request.form or {})


def _fields(engine: str, **query: object) -> Mapping[str, str]:
    return _parameters(ENGINES[engine].build_request(SearchQuery(text="rust async", **query), NOW))  # type: ignore[arg-type]


@pytest.mark.parametrize("engine", ENGINES)
def test_each_engine_has_its_own_site_profile(engine: str) -> None:
    request = ENGINES[engine].build_request(SearchQuery("a"), NOW)
    assert request.site_profile == f"engine-{engine}"
    assert request.mode is (Mode.PEEK if engine == "googlenews" else Mode.RENDER)


@pytest.mark.parametrize(
    ("engine", "field", "values"),
    [
        ("duckduckgo", "df", ("d", "w", "m", "y")),
        ("mojeek", "since", ("20261120", "20261114", "20261022", "20251121")),
        ("startpage", "with_date", ("d", "w", "m", "y")),
        ("brave", "tf", ("pd", "pw", "pm", "py")),
        ("bing", "filters", ('ex1:"ez1"', 'ex1:"ez2"', 'ex1:"ez3"', 'ex1:"ez5_20413_20778"')),
    ],
)
def test_freshness_in_the_engine_s_own_words(engine: str, field: str, values: tuple[str, ...]) -> None:
    spans = ("day", "week", "month", "year")
    assert tuple(_fields(engine, freshness=span)[field] for span in spans) == values
    assert field not in {name for name, value in _fields(engine).items() if value}


def test_freshness_of_news_and_of_baidu() -> None:
    assert _fields("googlenews", freshness="week")["q"] == "rust async when:7d"
    since = int(NOW.timestamp()) - 86_400
    assert _fields("baidu", freshness="day")["gpc"] == f"stf={since},{int(NOW.timestamp())}|stftype=1"


@pytest.mark.parametrize("engine", ["duckduckgo", "googlenews", "startpage", "brave", "bing"])
def test_hosts_are_named_to_engines_that_know_the_words(engine: str) -> None:
    fields = _fields(
        engine, include_domains=("python.org", "https://www.rust-lang.org/learn"), exclude_domains=("x.com",)
    )
    words = fields.get("q") or fields["query"]
    assert words == "rust async (site:python.org OR site:rust-lang.org) -site:x.com"


def test_mojeek_query_names_one_host_and_never_a_list() -> None:
    assert _fields("mojeek", include_domains=("python.org",))["q"] == "rust async site:python.org"
    assert _fields("mojeek", include_domains=("python.org", "x.org"))["q"] == "rust async"


def test_lists_longer_than_engines_take_are_left_to_the_filter() -> None:
    many = tuple(f"host{number}.example" for number in range(9))
    assert _fields("bing", include_domains=many)["q"] == "rust async"
    assert _fields("bing", exclude_domains=many)["q"].count("-site:") == 5


def test_kinds_of_pages() -> None:
    assert _fields("bing", category="pdf")["q"] == "rust async filetype:pdf"
    assert _fields("duckduckgo", category="github")["q"] == "rust async site:github.com"
    assert _fields("brave", category="blog")["q"] == "rust async blog"
    assert "site:arxiv.org OR" in _fields("startpage", category="paper")["query"]
    assert _fields("mojeek", category="news")["fmt"] == "news"
    assert _fields("startpage", category="news")["cat"] == "news"
    assert _fields("baidu", category="news")["tn"] == "news"
    assert urlsplit(ENGINES["brave"].build_request(SearchQuery("a", category="news"), NOW).url).path == "/news"
    assert urlsplit(ENGINES["bing"].build_request(SearchQuery("a", category="news"), NOW).url).path == "/news/search"


def test_the_caller_s_own_hosts_take_the_place_of_a_category_s() -> None:
    assert _fields("bing", category="forum", include_domains=("x.org",))["q"] == "rust async site:x.org"


def test_language_and_country() -> None:
    assert _fields("duckduckgo", language="de-AT")["kl"] == "at-de"
    assert _fields("duckduckgo", language="en-GB")["kl"] == "uk-en"
    assert _fields("duckduckgo", language="zh-Hant")["kl"] == "tw-tzh"
    assert (_fields("mojeek", language="fr")["lb"], _fields("mojeek", language="fr")["arc"]) == ("fr", "fr")
    assert _fields("googlenews", language="pt-BR")["ceid"] == "BR:pt-419"
    fields = _fields("bing", language="ja")
    assert (fields["mkt"], fields["setlang"], fields["cc"]) == ("ja-JP", "ja", "JP")
    assert _fields("startpage", language="nonsense!")["qsr"] == "en_US"


def test_safe_search_is_moderate() -> None:
    assert _fields("startpage")["qadf"] == "moderate"
    assert _fields("bing")["adlt"] == "moderate"


@pytest.mark.parametrize("more", [{}, {"freshness": "year"}, {"category": "news"}])
def test_bing_request_has_no_number_of_rows(more: dict[str, object]) -> None:
    # With such a parameter Bing returns rows about something else.
    assert not {"count", "num"} & set(_fields("bing", **more))


def test_bangs_do_not_lead_away() -> None:
    query = SearchQuery("!g cats")
    assert _parameters(ENGINES["duckduckgo"].build_request(query, NOW))["q"] == '"!g" cats'
    assert _parameters(ENGINES["brave"].build_request(query, NOW))["q"] == '"!g" cats'


def test_duckduckgo_has_two_other_ways() -> None:
    hosts = [urlsplit(ask(SearchQuery("a"), NOW).url).hostname for ask in ENGINES["duckduckgo"].fallbacks]
    assert hosts == ["lite.duckduckgo.com", "duckduckgo.com"]


def test_the_feed_of_bing_asks_the_same() -> None:
    page, feed = (
        ENGINES["bing"].build_request(SearchQuery("a"), NOW),
        ENGINES["bing"].fallbacks[0](SearchQuery("a"), NOW),
    )
    assert (feed.url, feed.mode) == (f"{page.url}&format=rss", Mode.PEEK)


def test_startpage_form_contains_the_code_of_its_home_page() -> None:
    home = snapshot("startpage", "<form id='search'><input name='sc' value='Q7Mt5TRq'></form>")
    form = ENGINES["startpage"].home_page_form
    assert form is not None
    request = form.build_request(home, SearchQuery("rust"), NOW)
    assert request is not None
    assert (request.method, _parameters(request)["sc"], _parameters(request)["query"]) == ("POST", "Q7Mt5TRq", "rust")
    assert form.build_request(snapshot("startpage", "<p>closed</p>"), SearchQuery("rust"), NOW) is None
