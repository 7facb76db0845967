"""Hostile pages (long, deep or nonsensical): parsing ends soon and raises nothing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scraper.engines.model import EngineOutcome, EngineResponse
from scraper.engines.registry import ENGINES
from tests.growth import Hostile, hostile_inputs
from tests.scraper.engines.pages import FACES, ROWS, page, read

_SOON_S = 5.0
"""Real pages take 5 to 60 ms; this only proves that the time is bounded."""

_SIZE = 350_000
_LINK = "<div class='result'><h2><a href='https://h{0}.example/{0}'>Title {0}</a></h2><p>Text of {0}.</p></div>"


def _links(count: int) -> str:
    return "".join(_LINK.format(n) for n in range(count))


@hostile_inputs(
    {
        "links": (_SIZE // 100, _links),
        "bare links": (
            _SIZE // 40,
            lambda size: "".join(f"<a href='https://h{n}.example/'>t</a>" for n in range(size)),
        ),
        "deep": (30_000, lambda size: "<div>" * size + _links(50)),
        "deep rows": (200, lambda size: "".join("<div>" * 150 + _LINK.format(n) for n in range(size))),
        "nested links": (5_000, lambda size: "".join(f"<a href='https://h{n}.example/'><h2>" for n in range(size))),
        "one long text": (_SIZE // 15, lambda size: "<p>" + "no results for " * size),
        "many runs": (_SIZE // 13, lambda size: "<i>no</i><br>" * size),
        "long attributes": (_SIZE, lambda size: f"<a href='https://x.example/{'a' * size}'>t</a>" + _links(5)),
        "classes": (
            _SIZE // 7,
            lambda size: f"<div class='{'result ' * size}'><a class='result__a' href='https://x.example/'>t</a></div>",
        ),
        "unclosed": (5_000, lambda size: "<table><tr><td><a class='result-link' href='https://x.example/'>" * size),
    }
)
@pytest.mark.parametrize("engine", ["duckduckgo", "bing"])
def test_a_hostile_page_costs_bounded_time(engine: str, hostile: Hostile[str]) -> None:
    def parse(rows: str) -> EngineResponse:
        return read(engine, f"<title>x</title><div id='links'>{rows}</div>")

    assert len(hostile.run(parse, limit_s=_SOON_S).results) <= 200


@pytest.mark.parametrize("engine", ENGINES)
def test_broken_pages_are_taken(engine: str) -> None:
    html = page(engine)
    for cut in range(0, len(html), max(1, len(html) // 15)):
        assert read(engine, html[:cut]).outcome in EngineOutcome


@given(st.sampled_from(FACES), st.text(max_size=60), st.text(max_size=60), st.integers(0, 5_000))
def test_anything_written_into_a_page_is_taken(face: tuple[str, str], first: str, second: str, at: int) -> None:
    html = page(*face)
    response = read(face[0], html[: at % len(html)] + first + "<" + second + html[at % len(html) :])
    assert all(row.url.startswith(("http://", "https://")) and row.title for row in response.results)


@pytest.mark.parametrize("address", ["javascript:alert(1)", "data:text/html,x", "https://[", "", "//", "http://"])
def test_rows_that_lead_nowhere_are_left_out(address: str) -> None:
    html = page("startpage").replace(ROWS[0].url.replace("&", "&amp;"), address)
    assert [row.url for row in read("startpage", html).results] == [row.url for row in ROWS[1:]]


def test_invisible_characters_are_removed_from_titles_and_snippets() -> None:
    html = page("bing", "desktop").replace("Title number 1", "Ti\u200btle\u00ad num\ue001ber\u202e 1")
    assert read("bing", html).results[0].title == "Title number 1 of the page"
