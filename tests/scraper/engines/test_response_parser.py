"""Classification of responses: a block page is never an empty answer, and an unknown page is an error."""

from __future__ import annotations

import re

import pytest

from browsers.model import RedirectHop
from scraper.engines import response_parser
from scraper.engines.model import EngineOutcome
from scraper.engines.registry import ENGINES
from scraper.engines.result_page import EngineRow
from tests.scraper.engines.pages import NOW, ROWS, page, read, renamed, snapshot
from tests.site.engine_refusals import none_page


def test_words_of_walls_in_results_make_no_wall() -> None:
    words = "captcha, unusual traffic, are you a robot, verify you are human, 429 Too Many Requests, Anubis"
    html = page("bing", "desktop").replace("Snippet 1", words).replace("Title number 2", "Just a moment...")
    assert read("bing", html).outcome is EngineOutcome.OK


@pytest.mark.parametrize(
    ("inside", "is_lost"),
    [
        ("<a href='https://a.example/'>Ads</a>", False),
        ("<a href='https://a.example/'><div><span>Реклама</span></div></a>", False),
        ("<span>Sponsored</span>", True),
        ("<div><div>Ad</div></div>", True),
    ],
)
def test_a_row_is_lost_for_a_label_outside_of_links_only(inside: str, is_lost: bool) -> None:
    html = page("bing", "desktop").replace("</li>", f"{inside}</li>", 1)
    assert len(read("bing", html).results) == len(ROWS) - is_lost


@pytest.mark.parametrize(
    ("url", "is_lost"),
    [
        ("https://www.bing.com/webmasters/help/guidelines", False),
        ("https://www.bing.com/maps", False),
        ("https://www.bing.com/images/search?q=tide", True),
        ("/search?q=other", True),
    ],
)
def test_pages_of_the_engine_may_be_results_but_searches_are_not(url: str, is_lost: bool) -> None:
    html = re.sub(r"(<h2><a [^>]*href=)(['\"]).*?\2", rf"\1'{url}'", page("bing", "desktop"), count=1)
    assert len(read("bing", html).results) == len(ROWS) - is_lost


def test_a_wall_s_script_beside_results_makes_no_wall_even_when_the_markup_is_unknown() -> None:
    script = "<script src='https://challenges.cloudflare.com/turnstile/v0/api.js'></script>"
    html = renamed(page("bing", "desktop")).replace("</body>", f"{script}</body>")
    response = read("bing", html)
    assert (response.outcome, response.layout_changed) == (EngineOutcome.OK, True)


@pytest.mark.parametrize("query", ["captcha", "429 too many requests", "access denied", "just a moment..."])
def test_the_name_of_a_wall_as_a_query_makes_an_empty_answer_no_wall(query: str) -> None:
    box = f"<form><input name='q' value='{query}'></form>"
    html = none_page("bing", query).replace("<body>", f"<body>{box}")
    assert read("bing", html).outcome is EngineOutcome.NONE


@pytest.mark.parametrize(
    "page_of_none",
    [
        "<h2>Oops! Not many great matches came back for your search</h2>",
        "<p>Sorry, no results were found for <b>xyzzy</b></p>",
        "<p>Your search - <em>xyzzy</em> - did not match any documents.</p>",
        "<p>Unfortunately we didn’t find any results for “xyzzy”</p>",
        "<p>抱歉，没有找到与“xyzzy”相关的网页。</p>",
        "<p>Keine Ergebnisse für xyzzy</p>",
        "<p>По вашему запросу ничего не нашлось</p>",
    ],
)
def test_any_engine_s_sentence_that_nothing_was_found_is_understood(page_of_none: str) -> None:
    links = "".join(f"<a href='/{n}'>Link {n}</a> <a href='https://help{n}.example/'>Help</a>" for n in range(9))
    response = response_parser.parse_response(snapshot("brave", f"<nav>{links}</nav>{page_of_none}"), NOW)
    assert response.outcome is EngineOutcome.NONE


@pytest.mark.parametrize(
    "html",
    [
        "<title>Captcha - Brave Search</title><form action='/search/captcha'></form>",
        "<title>Brave Search</title><p>Your request has been flagged as being suspicious.</p>",
        "<title>Just a moment...</title><p>Please wait</p>",
        "<title>x</title><div id='px-captcha'></div>",
        "<title>x</title><iframe src='https://geo.captcha-delivery.com/captcha/?a=1'></iframe>",
        "<title>x</title><script src='https://hcaptcha.com/1/api.js'></script>",
        "<title>Verifying your browser…</title><p>One moment</p>",
    ],
)
def test_walls_that_any_engine_could_put_up_are_walls(html: str) -> None:
    response = response_parser.parse_response(snapshot("brave", html), NOW)
    assert (response.outcome, response.detail) == (EngineOutcome.BLOCKED, "captcha")


def test_more_results_that_there_are_not_make_no_empty_answer() -> None:
    html = renamed(page("mojeek")).replace("</body>", "<p>No more results.</p></body>")
    assert read("mojeek", html).outcome is EngineOutcome.OK


def test_a_status_without_rows_is_a_wall_and_with_rows_is_none() -> None:
    assert read("brave", "<p>Slow down</p>", status=429).detail == "rate_limited"
    assert read("brave", page("brave"), status=429).outcome is EngineOutcome.OK


def test_a_redirect_to_a_captcha_is_a_wall() -> None:
    hops = (RedirectHop("https://www.baidu.com/s?wd=a", 302, "https://wappass.baidu.com/static/captcha/?ak=1"),)
    response = ENGINES["baidu"].parse(snapshot("baidu", "<p>...</p>", hops=hops), NOW)
    assert (response.outcome, response.detail) == (EngineOutcome.BLOCKED, "captcha")


def test_consent_page_is_a_block_page() -> None:
    form = "<form action='https://consent.google.com/save'><button>Reject all</button></form>"
    response = read("googlenews", f"<title>Before you continue</title>{form}")
    assert (response.outcome, response.detail) == (EngineOutcome.BLOCKED, "consent")


def test_unknown_page_is_an_error_and_never_none() -> None:
    for engine in ENGINES:
        response = read(engine, "<title>Welcome</title><p>Nothing to see here, move along.</p>")
        assert (response.outcome, response.detail) == (EngineOutcome.ERROR, "layout_changed")


def test_an_empty_body_is_an_error() -> None:
    for engine in ENGINES:
        assert read(engine, "").outcome is EngineOutcome.ERROR


def test_a_body_that_was_never_decompressed_is_unreadable() -> None:
    mojibake = bytes(range(256)).decode("utf-8", "replace") * 40
    response = read("duckduckgo", mojibake)
    assert (response.outcome, response.detail) == (EngineOutcome.ERROR, "unreadable")


def test_a_frame_whose_scripts_have_not_run_is_not_rendered() -> None:
    response = read("duckduckgo", page("duckduckgo", "main"))
    assert (response.outcome, response.detail) == (EngineOutcome.ERROR, "not_rendered")


def test_a_failing_server_is_an_error_with_its_status() -> None:
    response = read("mojeek", "<title>Oops</title><p>Something broke.</p>", status=500)
    assert (response.outcome, response.detail) == (EngineOutcome.ERROR, "http_500")


def test_rows_for_a_relaxed_query_are_marked_as_loosened() -> None:
    note = '<p>No results found for <strong>"a b c"</strong>.</p>'
    response = read("bing", page("bing", "desktop").replace("<ol id='b_results'>", f"{note}<ol id='b_results'>"))
    assert (response.outcome, response.loosened, len(response.results)) == (EngineOutcome.OK, True, len(ROWS))


def test_any_engine_s_page_is_read_without_knowing_it() -> None:
    known = snapshot("startpage", renamed(page("startpage")))
    response = response_parser.parse_response(known, NOW)
    assert [row.url for row in response.results] == [row.url for row in ROWS]
    assert not response.layout_changed


def _rows(count: int, snippet: str = "A text.", first: int = 0) -> list[EngineRow]:
    return [EngineRow(f"Title {n}", f"https://site{n}.example/", snippet) for n in range(first, first + count)]


def test_selectors_that_lose_many_rows_or_all_texts_give_way_to_shape() -> None:
    assert response_parser.choose_rows(_rows(4), _rows(10)) == (_rows(10), True)
    assert response_parser.choose_rows(_rows(10, ""), _rows(10)) == (_rows(10), True)
    assert response_parser.choose_rows([], _rows(3)) == (_rows(3), True)


def test_selectors_are_believed_where_both_agree_or_shape_sees_little() -> None:
    assert response_parser.choose_rows(_rows(8), _rows(10)) == (_rows(8), False)
    assert response_parser.choose_rows(_rows(2), _rows(2, first=50)) == (_rows(2), False)
    assert response_parser.choose_rows([], []) == ([], False)


def test_readings_of_different_addresses_raise_the_alarm() -> None:
    assert response_parser.choose_rows(_rows(10), _rows(10, first=50)) == (_rows(10), True)
