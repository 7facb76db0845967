"""All forms of an instant answer, including the form without an answer."""

from __future__ import annotations

import json
from typing import Any

import pytest

from scraper.engines.model import InstantAnswer
from scraper.render.search import instant_answer_as_markdown as as_markdown
from scraper.search.instant_answers import build_request, parse
from tests.site.search_world import instant_article

EMPTY = {
    **dict.fromkeys(("Abstract", "AbstractText", "AbstractSource", "AbstractURL"), ""),
    **dict.fromkeys(("Answer", "AnswerType"), ""),
    **dict.fromkeys(("Definition", "Heading", "Infobox", "Redirect", "Type"), ""),
    "RelatedTopics": [],
    "Results": [],
    "meta": {"id": "just_another_test", "src_name": "hi there", "production_state": "offline"},
}


def read(**fields: Any) -> InstantAnswer:
    answer = parse(json.dumps(EMPTY | fields))
    assert answer is not None
    return answer


def test_the_form_is_that_of_the_contract() -> None:
    answer = parse(instant_article("The ferry"))
    assert answer is not None
    assert as_markdown("The ferry", answer) == (
        '## Instant Answer for "The ferry"\n\n'
        "### Abstract\nThe ferry is what the harbour is known for.\n\n"
        "**Source:** Wikipedia\n**URL:** https://en.wikipedia.org/wiki/Harbour\n\n"
        "### Related Topics\n- **Ferry** - A boat that comes back.\n\n#### See also\n- **Quay**\n\n"
        "_Source: DuckDuckGo Instant Answer API_"
    )


def test_the_placeholder_of_an_empty_answer_is_not_shown() -> None:
    assert as_markdown("xyzzy", read()) == (
        '## Instant Answer for "xyzzy"\n\nNo instant answer available for this query.\n\n'
        "_Source: DuckDuckGo Instant Answer API_"
    )


@pytest.mark.parametrize("text", ["", "not json", "[]", "{}", "null", "<html>"])
def test_text_that_is_no_response_gives_none(text: str) -> None:
    assert parse(text) is None


def test_an_answer_may_be_text_with_tags_or_an_object() -> None:
    assert read(Answer="6 <b>times</b> 7 &amp; more", AnswerType="calc").answer == "6 times 7 & more"
    assert read(Answer={"from": "calculator", "result": ""}).empty
    assert read(AbstractText="a vector<int> of x < y").abstract == "a vector<int> of x < y"


def test_ip_address_of_this_server_is_never_reported() -> None:
    assert read(Answer="Your IP address is 192.0.2.1", AnswerType="ip").empty


def test_where_a_bang_leads_is_shown() -> None:
    answer = read(Redirect="https://en.wikipedia.org/wiki/Rust")
    assert "### Redirect\nhttps://en.wikipedia.org/wiki/Rust" in as_markdown("!w rust", answer)


def test_a_title_glued_to_its_text_is_taken_from_the_link() -> None:
    topic = {"Result": "<a href='/A'>Anaheim Ducks</a>A professional team", "Text": "Anaheim DucksA professional team"}
    (found,) = read(RelatedTopics=[topic]).topics
    assert (found.title, found.text) == ("Anaheim Ducks", "A professional team")


def test_facts_are_those_for_people() -> None:
    content = [
        {"data_type": "string", "label": "Born", "value": "1815", "wiki_order": "1"},
        {"data_type": "instance", "label": "Instance of", "value": {"id": "Q5"}},
        {"data_type": "imdb_id", "label": "IMDb", "value": "nm1"},
        {"data_type": "list", "label": "Fields", "value": ["algebra", 7, None]},
        {"data_type": "coordinates", "label": "Where", "value": {"latitude": 1}},
        "nonsense",
    ]
    assert read(Infobox={"content": content}).facts == (("Born", "1815"), ("Fields", "algebra, 7"))


def test_fields_of_other_types_do_no_harm() -> None:
    odd: dict[str, object] = dict.fromkeys(EMPTY, 7) | {
        "RelatedTopics": [None, 3, {"Topics": [{}]}],
        "Infobox": {"content": 3},
    }
    answer = parse(json.dumps(odd))
    assert answer is not None and answer.empty


def test_the_request_follows_no_bang_and_runs_no_scripts() -> None:
    request = build_request("!w rust & more", "en-US")
    assert request.url.startswith("https://api.duckduckgo.com/?q=%21w+rust+%26+more&format=json")
    assert "no_redirect=1" in request.url and request.mode.value == "peek"
