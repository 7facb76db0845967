"""Result pages of every engine in all their variants."""

from __future__ import annotations

import pickle
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from scraper.engines.model import DEFAULT_ENGINES, EngineOutcome
from scraper.engines.registry import ENGINES
from tests.scraper.engines.pages import FACES, ROWS, page, read, renamed
from tests.site.engine_pages import EngineRow
from tests.site.engine_refusals import none_page, wall_page

_AD = EngineRow(
    "Buy this now", "https://shop.example/", "Advertisements lead here and nowhere else in the world.", ad=True
)


@pytest.mark.parametrize(("engine", "face"), FACES)
def test_rows_are_read_in_order_with_their_own_addresses(engine: str, face: str) -> None:
    response = read(engine, page(engine, face))
    assert response.outcome is EngineOutcome.OK
    assert [row.rank for row in response.results] == list(range(1, len(ROWS) + 1))
    assert [(row.title, row.url, row.snippet) for row in response.results] == [
        (row.title, row.url, row.snippet) for row in ROWS
    ]
    assert not response.layout_changed


@pytest.mark.parametrize(("engine", "face"), FACES)
def test_advertisements_are_never_rows(engine: str, face: str) -> None:
    response = read(engine, page(engine, face, (_AD, *ROWS[:3], _AD, *ROWS[3:])))
    assert [row.title for row in response.results] == [row.title for row in ROWS]


_DATED = [face for face in FACES if face not in {("mojeek", ""), ("duckduckgo", "lite")}]


@pytest.mark.parametrize(("engine", "face"), _DATED)
def test_a_date_in_front_of_the_snippet_is_cut_off_and_read(engine: str, face: str) -> None:
    rows = tuple(replace(row, date="May 20, 2024" if engine != "baidu" else "2024年5月20日") for row in ROWS)
    response = read(engine, page(engine, face, rows))
    assert {row.date for row in response.results} == {datetime(2024, 5, 20, tzinfo=UTC)}
    assert [row.snippet for row in response.results] == [row.snippet for row in ROWS]


@pytest.mark.parametrize(("engine", "face"), FACES)
def test_rows_are_found_by_shape_when_every_class_has_another_name(engine: str, face: str) -> None:
    response = read(engine, renamed(page(engine, face, (_AD, *ROWS))))
    assert [(row.title, row.url) for row in response.results] == [(row.title, row.url) for row in ROWS]
    # DuckDuckGo's main variant is parsed by attributes, so renamed classes do not matter.
    assert response.layout_changed is (face != "drawn")


@pytest.mark.parametrize("engine", ["mojeek", "bing", "startpage", "brave"])
def test_a_page_of_two_rows_is_read(engine: str) -> None:
    response = read(engine, page(engine, rows=ROWS[:2]))
    assert [row.url for row in response.results] == [row.url for row in ROWS[:2]]


def test_two_rows_are_found_by_shape_where_nothing_else_looks_like_a_list() -> None:
    response = read("mojeek", renamed(page("mojeek", rows=ROWS[:2])))
    assert [row.url for row in response.results] == [row.url for row in ROWS[:2]]
    assert response.layout_changed


@pytest.mark.parametrize("engine", ENGINES)
def test_an_empty_answer_is_none(engine: str) -> None:
    response = read(engine, none_page(engine))
    assert (response.outcome, response.results) == (EngineOutcome.NONE, ())


@pytest.mark.parametrize("engine", ENGINES)
def test_an_empty_answer_is_none_even_when_its_classes_have_other_names(engine: str) -> None:
    assert read(engine, renamed(none_page(engine))).outcome is EngineOutcome.NONE


@pytest.mark.parametrize("engine", ENGINES)
def test_each_wall_has_a_name_and_a_reason(engine: str) -> None:
    response = read(engine, wall_page(engine))
    assert (response.outcome, response.detail) == (EngineOutcome.BLOCKED, "captcha")
    assert response.clears_itself is (engine in {"mojeek", "startpage", "brave"})


def test_advertisements_above_an_empty_answer_do_not_make_it_an_answer() -> None:
    note = "<div class='result web-result result--no-result'><h2>No more results found for x.</h2></div>"
    html = page("duckduckgo", "html", (_AD, _AD)).replace("<div id='links'>", f"<div id='links'>{note}")
    assert read("duckduckgo", html).outcome is EngineOutcome.NONE


def test_request_for_the_next_page_submits_the_form_unchanged() -> None:
    following = read("duckduckgo", page("duckduckgo", "html")).next
    assert following is not None
    assert (following.url, following.method) == ("https://html.duckduckgo.com/html/", "POST")
    assert dict(following.form or {})["vqd"] == "4-123456789"
    assert dict(following.form or {})["s"] == "10"


def test_the_next_page_is_where_its_link_leads() -> None:
    following = read("mojeek", page("mojeek")).next
    assert following is not None
    assert following.url == "https://www.mojeek.com/search?q=a%20query&s=11"


def test_rows_of_modules_and_rows_within_rows_are_not_results() -> None:
    links = "<a href='https://inner.example/deep' class='title'><div class='title'>A deep link</div></a>"
    cluster = f"<div class='snippet' data-type='web'>{links}</div>"
    html = page("brave").replace("<div class='generic-snippet'>", f"{cluster}<div class='generic-snippet'>", 1)
    assert [row.url for row in read("brave", html).results] == [row.url for row in ROWS]


def test_hidden_rows_are_ignored() -> None:
    trap = (
        "<li class='b_algo' data-x-hidden=''><h2><a href='https://trap.example/'>A trap for robots</a></h2>"
        "<p>Nobody sees this row in a browser window, and nobody should be led there.</p></li>"
    )
    html = page("bing", "desktop").replace("<ol id='b_results'>", f"<ol id='b_results'>{trap}")
    assert [row.url for row in read("bing", html).results] == [row.url for row in ROWS]


@pytest.mark.parametrize(
    "address", ["http://nourl.ubs.baidu.com/12", "javascript:alert(1)", "/link?url=a", " ", "http://[::1"]
)
def test_a_row_of_baidu_whose_true_address_is_no_page_leads_where_its_link_does(address: str) -> None:
    module = EngineRow("A module", address, "It stands among the results and is no page of the web.")
    response = read("baidu", page("baidu", "web", (ROWS[0], module, *ROWS[1:])))
    (led,) = (row.url for row in response.results if row.title == "A module")
    assert led == "http://www.baidu.com/link?url=token2"


def test_white_space_around_the_target_url_of_baidu_is_removed() -> None:
    rows = tuple(replace(row, url=f" {row.url}\n") for row in ROWS)
    assert [row.url for row in read("baidu", page("baidu", "web", rows)).results] == [row.url for row in ROWS]


def test_news_carry_publisher_date_and_related_headlines() -> None:
    rows = (EngineRow("A headline", "https://news.google.com/rss/articles/CBMiX0FVX3lxTA", source="The Paper"),)
    (row,) = read("googlenews", page("googlenews", rows=rows)).results
    assert (row.title, row.source) == ("A headline - The Paper", "The Paper")
    assert row.source_url == "https://news.google.com"
    assert row.date == datetime(2026, 7, 14, 3, 33, 16, tzinfo=UTC)
    assert row.snippet == ""


def test_the_feed_of_bing_is_read_as_its_page() -> None:
    items = "".join(
        f"<item><title>{row.title}</title><link>{row.url.replace('&', '&amp;')}</link>"
        f"<description>{row.snippet}</description><pubDate>Mon, 20 May 2024 00:00:00 GMT</pubDate></item>"
        for row in ROWS
    )
    response = read("bing", f"<?xml version='1.0'?><rss version='2.0'><channel>{items}</channel></rss>")
    assert [(row.title, row.url, row.snippet) for row in response.results] == [
        (row.title, row.url, row.snippet) for row in ROWS
    ]


def test_responses_travel_between_processes() -> None:
    response = read("duckduckgo", page("duckduckgo", "html"))
    assert pickle.loads(pickle.dumps(response)) == response


def test_registry_holds_all_engines_and_three_defaults() -> None:
    assert list(ENGINES) == ["duckduckgo", "mojeek", "googlenews", "startpage", "brave", "bing", "baidu"]
    assert all(engine.name == name for name, engine in ENGINES.items())
    assert DEFAULT_ENGINES == ("duckduckgo", "mojeek", "googlenews")
