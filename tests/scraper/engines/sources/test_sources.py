"""Tests for the sources: requests, answers in their documented formats, and refusals."""

from __future__ import annotations

import json
import pickle
from collections.abc import Mapping
from datetime import UTC, datetime
from urllib.parse import parse_qs, urlsplit

import pytest

from browsers.model import Mode, Snapshot
from scraper.engines.model import SOURCE_CATEGORIES, SOURCE_NAMES, EngineOutcome, EngineResponse, SearchQuery
from scraper.engines.sources import SOURCES
from scraper.search.fusion import EngineRanking, fuse_rankings
from tests.scraper.engines.sources.answers import BODIES as MADE
from tests.scraper.engines.sources.answers import EXPECTED
from tests.scraper.engines.sources.recorded_answers import INDEX, RECORDED, ROWS

NOW = datetime(2026, 5, 1, tzinfo=UTC)
BODIES = {name: MADE.get(name) or RECORDED[name] for name in SOURCES}
QUERY = SearchQuery("tidal power & waves", language="de-DE", contact="me@example.org")
EMPTY = {
    "arxiv": '<feed xmlns="http://www.w3.org/2005/Atom"></feed>',
    "semanticscholar": '{"total": 0, "offset": 0}',
    "gdelt": "{}",
    "dblp": '<result><hits total="0"></hits></result>',
}


def ask(name: str, body: str, status: int = 200, headers: Mapping[str, str] | None = None) -> EngineResponse:
    """Parse an answer of a source, in the form in which a worker gets it."""
    source = SOURCES[name]
    url = source.build_request(QUERY, NOW).url
    parse = pickle.loads(pickle.dumps(source.parse))
    response = parse(Snapshot(url, url, status, headers=headers or {}, body=body.encode(), html=body), NOW)
    assert isinstance(response, EngineResponse)
    return response


def test_every_source_has_a_name_a_category_and_an_answer() -> None:
    assert list(SOURCES) == list(SOURCE_NAMES) and set(SOURCES) == set(MADE) | set(ROWS)
    assert set(MADE) == set(EXPECTED) and set(INDEX) - set(ROWS) == {"wikidata-maxlag"}
    asked = {source.category for source in SOURCES.values() if not source.is_by_name}
    assert asked == {*SOURCE_CATEGORIES, "paper", "forum"}


@pytest.mark.parametrize("name", EXPECTED)
def test_an_answer_is_read(name: str) -> None:
    response = ask(name, BODIES[name])
    assert response.outcome is EngineOutcome.OK
    (row,) = response.results
    title, url, facts = EXPECTED[name]
    assert (row.rank, row.title, row.url) == (1, title, url)
    assert facts.items() <= dict(row.facts).items()
    assert "<" not in row.snippet


@pytest.mark.parametrize("name", SOURCES)
def test_the_request_is_one_of_the_api(name: str) -> None:
    request = SOURCES[name].build_request(QUERY, NOW)
    parts = urlsplit(request.url)
    assert parts.scheme == "https" and request.mode is Mode.PEEK and request.limits.body_bytes <= 5_000_000
    assert "tidal" in request.url and " " not in request.url
    assert len(parse_qs(parts.query, strict_parsing=True)) >= 1


@pytest.mark.parametrize("name", ["crates", "wikipedia", "wikidata", "openlibrary"])
def test_sources_that_ask_for_it_get_a_name_and_a_contact(name: str) -> None:
    request = SOURCES[name].build_request(QUERY, NOW)
    assert request.headers["User-Agent"] == "search-mcp (me@example.org)"
    assert SOURCES[name].build_request(SearchQuery("tide"), NOW).headers["User-Agent"] == "search-mcp"


def test_crossref_is_asked_for_works_and_gets_the_contact() -> None:
    assert "filter=type%3Ajournal-article%2C" in SOURCES["crossref"].build_request(QUERY, NOW).url
    assert "mailto=me%40example.org" in SOURCES["crossref"].build_request(QUERY, NOW).url
    assert "mailto" not in SOURCES["crossref"].build_request(SearchQuery("tide"), NOW).url


@pytest.mark.parametrize("name", SOURCES)
@pytest.mark.parametrize(
    ("status", "outcome", "detail"),
    [
        (429, EngineOutcome.BLOCKED, "rate_limited"),
        (403, EngineOutcome.BLOCKED, "refused"),
        (500, EngineOutcome.ERROR, "http_500"),
    ],
)
def test_a_refusal_is_named(name: str, status: int, outcome: EngineOutcome, detail: str) -> None:
    response = ask(name, BODIES[name], status)
    assert (response.outcome, response.detail) == (outcome, detail)


@pytest.mark.parametrize(
    ("name", "status", "body", "headers"),
    [
        ("github", 403, '{"message": "API rate limit exceeded"}', {"x-ratelimit-remaining": "0"}),
        ("stackexchange", 400, '{"error_id": 502, "error_name": "throttle_violation"}', {}),
        ("stackexchange", 502, '{"error_id": 502, "error_name": "throttle_violation"}', {}),
        ("github", 403, '{"message": "You have exceeded a secondary rate limit."}', {"retry-after": "60"}),
        ("gdelt", 200, "Please limit requests to one every 5 seconds or contact us for larger queries.", {}),
        ("wikidata", 200, RECORDED["wikidata-maxlag"], {}),
        ("wikipedia", 200, '{"error": {"code": "ratelimited", "info": "Too many requests."}}', {}),
    ],
)
def test_other_refusals_of_too_many_requests_are_recognized(
    name: str, status: int, body: str, headers: dict[str, str]
) -> None:
    response = ask(name, body, status, headers)
    assert (response.outcome, response.detail) == (EngineOutcome.BLOCKED, "rate_limited")


def test_a_backoff_of_stack_exchange_is_a_pause() -> None:
    data = json.loads(BODIES["stackexchange"]) | {"backoff": 10}
    response = ask("stackexchange", json.dumps(data))
    assert (response.outcome, response.pause_s) == (EngineOutcome.OK, 10.0)
    assert ask("stackexchange", BODIES["stackexchange"]).pause_s == 0.0


@pytest.mark.parametrize("name", SOURCES)
@pytest.mark.parametrize(
    "body",
    [
        "",
        "<html><body>Sorry</body></html>",
        "null",
        "{",
        '{"message": 1}',
        '"text"',
        "[" * 100_000,
        '[{"a": 1}, 2, null]',
    ],
)
def test_other_answers_are_a_changed_layout(name: str, body: str) -> None:
    response = ask(name, body)
    assert response.outcome is EngineOutcome.ERROR and response.detail == "layout_changed"


@pytest.mark.parametrize("name", [name for name in SOURCES if name != "youtube"])
def test_an_empty_answer_is_no_result(name: str) -> None:
    if name in EMPTY:
        body = EMPTY[name]
    else:
        data = json.loads(BODIES[name])
        holder = data
        while isinstance(holder, dict) and not any(isinstance(value, list) for value in holder.values()):
            holder = next(one for one in holder.values() if isinstance(one, dict) and "[" in json.dumps(one))
        if isinstance(holder, list):
            data = []
        else:
            holder.update({key: [] for key, value in holder.items() if isinstance(value, list)})
        body = json.dumps(data)
    assert ask(name, body).outcome is EngineOutcome.NONE


def test_journal_and_abstract_are_found_where_the_apis_have_them() -> None:
    (medical,) = ask("europepmc", BODIES["europepmc"]).results
    assert (medical.source, medical.snippet) == ("Ocean", "Aim Low water.")
    (open_one,) = ask("openalex", BODIES["openalex"]).results
    assert open_one.snippet == "Low water after high water"


def test_an_error_of_arxiv_is_no_paper() -> None:
    entry = (
        "<id>http://arxiv.org/api/errors#incorrect_id_format</id><title>Error</title><summary>incorrect id</summary>"
    )
    body = f'<feed xmlns="http://www.w3.org/2005/Atom"><entry>{entry}</entry></feed>'
    assert ask("arxiv", body).outcome is EngineOutcome.ERROR


def test_a_comparison_is_no_markup() -> None:
    data = json.loads(BODIES["datacite"])
    (text, _) = data["data"][0]["attributes"]["descriptions"]
    text["description"] = "Low water (p<0.05), <b>high</b>er water (p > 0.1).<br/>H<sub>2</sub>O"
    (row,) = ask("datacite", json.dumps(data)).results
    assert row.snippet == "Low water (p<0.05), higher water (p > 0.1). H2O"


@pytest.mark.parametrize(
    ("rest", "number"), [("42?x=1", "42"), ("42#7", "42"), ("42/how", "42"), ("tagged/tides", ""), ("", "")]
)
def test_the_key_of_a_question_is_its_number(rest: str, number: str) -> None:
    data = json.loads(BODIES["stackexchange"])
    data["items"][0]["link"] = f"https://a.example/questions/{rest}"
    (row,) = ask("stackexchange", json.dumps(data)).results
    assert row.key == (f"question:a.example/{number}" if number else "")


def test_papers_of_one_arxiv_id_have_one_key_in_any_case() -> None:
    body = BODIES["arxiv"].replace("abs/2401.00001v2", "abs/math.GT/0309136v1")
    data = json.loads(BODIES["datacite"])
    data["data"][0]["attributes"]["doi"] = data["data"][0]["id"] = "10.48550/arXiv.math.gt/0309136"
    (one,), (other,) = ask("arxiv", body).results, ask("datacite", json.dumps(data)).results
    assert one.key == other.key == "arxiv:math.gt/0309136"


def test_bad_rows_cost_only_themselves() -> None:
    data = json.loads(BODIES["crates"])
    data["crates"] = [None, {"name": 5}, {"description": "no name"}, *data["crates"], "text"]
    assert [row.title for row in ask("crates", json.dumps(data)).results] == ["tides"]


@pytest.mark.parametrize("name", ["crossref", "europepmc", "openalex"])
def test_one_paper_twice_in_an_answer_is_one_result(name: str) -> None:
    data = json.loads(BODIES[name])
    rows = data
    for key in {"crossref": ("message", "items"), "europepmc": ("resultList", "result")}.get(name, ("results",)):
        rows = rows[key]
    rows.append(rows[0] | {"URL": "https://other.example/", "id": "https://openalex.org/W2", "title": rows[0]["title"]})
    results = ask(name, json.dumps(data)).results
    assert len(results) == 2
    (merged,) = fuse_rankings([EngineRanking(name, name, results)])
    assert merged.engines == (name,)


def test_a_consent_page_of_youtube_is_a_wall() -> None:
    response = ask("youtube", '<form action="https://consent.youtube.com/save"></form>')
    assert (response.outcome, response.detail) == (EngineOutcome.BLOCKED, "consent")


def test_one_paper_of_several_sources_is_one_result_with_all_facts() -> None:
    names = ("crossref", "europepmc", "openalex")
    rankings = [EngineRanking(name, name, ask(name, BODIES[name]).results) for name in names]
    (merged,) = fuse_rankings(rankings)
    assert merged.engines == names
    facts = dict(merged.facts)
    assert facts["cited_by"] == 7 and facts["pmid"] == "123"
