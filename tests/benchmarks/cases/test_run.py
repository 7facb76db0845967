"""Cases of each area through the product, and the figures of an area."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.cases import browser, facts, search, site, text_cases
from benchmarks.cases.loading import load_cases
from benchmarks.cases.model import FORM_NOTES, Case, CaseResult, Judgment, area_figures
from benchmarks.cases.product import open_product
from benchmarks.common.contender import REPOSITORY
from scraper.extract import worker_jobs

_OFFER = '{"@type": "Offer", "price": "12.50", "priceCurrency": "EUR"}'
_PRODUCT = (
    '<html><head><title>Rope</title><script type="application/ld+json">{"@context": "https://schema.org", '
    f'"@type": "Product", "name": "Rope", "sku": "R1", "offers": {_OFFER}}}</script></head>'
    "<body><h1>Rope</h1><p>A strong rope of hemp for boats and barns, made by hand.</p></body></html>"
)
_TABLE = "Ship,Length\nAnna,120 m\n"


def _case(area: str, data: dict[str, Any], **texts: str) -> Case:
    return Case(area, "one", Path(), {"url": "https://shop.example/rope", **data}, texts)


async def _judgments(case: Case) -> dict[str, Judgment]:
    runners = {"facts": facts.run, "search": search.run, "pages": text_cases.run, "documents": text_cases.run}
    async with open_product() as product:
        result = await runners[case.area](case, product)
    return {judgment.expectation: judgment for judgment in result.judgments}


async def test_a_wrong_fact_is_silent_if_it_is_certain_and_a_missing_one_is_not() -> None:
    expect = {"product": {"price": 12.5, "sku": "R2", "brand": "Knot"}}
    found = await _judgments(_case("facts", {"expect": expect}, **{"page.html": _PRODUCT}))
    assert {name: (one.holds, one.is_silent) for name, one in found.items()} == {
        "product.price = 12.5": (True, False),
        'product.sku = "R2"': (False, True),
        'product.brand = "Knot"': (False, False),
    }


async def test_every_kind_of_expectation_on_records_is_counted() -> None:
    rows = "".join(
        f"<li class='card'><h3><a href='/p/{name}'>{name} knot</a></h3><p class='price'>£{price}.00</p></li>"
        for name, price in (("Reef", 10), ("Bowline", 20), ("Sheet", 30), ("Clove", 40))
    )
    page = f"<html><head><title>Knots</title></head><body><main><h1>Knots</h1><ul>{rows}</ul></main></body></html>"
    expect = {
        "rows": 4,
        "titles": ["Reef knot", "Bowline knot", "Sheet knot", "Clove knot"],
        "prices": ["£10.00", "£20.00", "£30.00", "£41.00"],
        "price_by_title": {"Reef knot": "£10.00", "Clove knot": None},
        "next": "https://shop.example/rope?page=2",
    }
    found = await _judgments(_case("facts", {"records": True, "expect": expect}, **{"page.html": page}))
    assert [one.holds for one in found.values()].count(True) == 3
    assert {name.split(" = ")[0] for name, one in found.items() if not one.holds} == {
        "prices", "price of Clove knot", "next",
    }  # fmt: skip


async def test_an_unknown_expectation_is_an_error() -> None:
    with pytest.raises(ValueError, match="unknown expectations: colour"):
        await _judgments(_case("facts", {"expect": {"colour": "red"}}, **{"page.html": _PRODUCT}))


async def test_rows_of_a_result_page_are_compared_by_the_parts_that_a_case_states() -> None:
    row = "<li><h2><a class='title' href='https://a.example/{0}'>Title {0}</a></h2><p class='s'>Some words.</p></li>"
    page = f"<html><body><ul class='results-standard'>{row.format(1)}{row.format(2)}</ul></body></html>"
    expect = {"rows": ["https://a.example/1", {"title": "Title 2", "snippet": "Other words."}], "without": ["/2"]}
    found = await _judgments(_case("search", {"engine": "mojeek", "expect": expect}, **{"page.html": page}))
    assert [one.holds for one in found.values()] == [True, True, False, True, False]
    assert [one.is_silent for one in found.values()] == [False, False, True, False, True]


@pytest.mark.parametrize(
    ("words", "number"),
    [("1 row", 2), ("the same 5 rows with relative links", 2), ("none", 2), ("blocked captcha", 2), ("as shown", 0)],
)
async def test_plain_words_of_a_search_are_understood(words: str, number: int) -> None:
    page = "<html><body><p>No page of results.</p></body></html>"
    found = await _judgments(_case("search", {"engine": "mojeek", "expect": words}, **{"page.html": page}))
    assert len(found) == number


async def test_urls_domains_and_questions_have_their_own_forms() -> None:
    pairs = {"must_differ": [["https://a.example/1", "https://a.example/2"]], "should_equal": []}
    filters = {"rows": ["https://a.example/", "https://b.example/"], "include_domains": {"a.example": []}}
    index = {"documents": {"one": "tide tables", "two": "bread"}, "queries": {"tide": ["one"], "bread": ["one"]}}
    holds = [
        one.holds for data in (pairs, filters, index) for one in (await _judgments(_case("search", data))).values()
    ]
    assert holds == [True, False, True, False]


async def test_pages_and_documents_are_read_as_in_production() -> None:
    page = {"file": "a.html", "expect": [{"has": "A strong rope of hemp"}]}
    table = {"file": "a.csv", "expect": [{"cells": ["Anna", "120 m"]}, {"meta": {"format": "csv"}}]}
    found = await _judgments(_case("pages", page, **{"a.html": _PRODUCT}))
    found |= await _judgments(_case("documents", table, **{"a.csv": _TABLE}))
    assert [one.holds for one in found.values()] == [True, True, True]


async def test_a_case_without_its_input_counts_nowhere() -> None:
    async with open_product() as product:
        result = await text_cases.run(_case("documents", {"file": "absent.pdf", "expect": [{"has": "x"}]}), product)
    judged = CaseResult(_case("documents", {}), [Judgment("a", True), Judgment("b", False, is_silent=True)])
    assert result.not_run == "no input"
    assert text_cases.judge(result.case, {}).absent == ["absent.pdf"]
    assert area_figures("documents", [result, judged]) == {
        "documents.cases": 1, "documents.not_run": 1, "documents.expectations": 2, "documents.held": 0.5,
        "documents.cases_right": 0, "documents.silent": 50.0,
    }  # fmt: skip


def test_the_warnings_that_announce_nothing_are_warnings_of_the_product() -> None:
    sources = [file.read_text(encoding="utf-8") for file in (REPOSITORY / "scraper").rglob("*.py")]
    assert [note for note in FORM_NOTES if not any(note in source for source in sources)] == []


async def test_a_crash_fails_the_expectations_and_is_not_silent(monkeypatch: pytest.MonkeyPatch) -> None:
    def crash(*_: object) -> None:
        raise RecursionError

    for name in ("read", "extract_structured", "extract_fields"):
        monkeypatch.setattr(worker_jobs, name, crash)
    expect = {"product": {"price": 5}, "fields": {"size": "L"}, "author": "Ada"}
    found = await _judgments(_case("facts", {"expect": expect}, **{"page.html": _PRODUCT}))
    assert [(one.holds, one.is_silent) for one in found.values()] == [(False, False)] * 3


def test_extra_cases_are_a_folder_or_a_list_and_rows_of_the_harness_belong_to_the_main_folder(tmp_path: Path) -> None:
    words = {"engine": "bing", "url": "https://www.bing.com/search?q=x", "expect": "some rows"}
    for folder in ("main", "more"):
        (tmp_path / folder / "search" / "V10-brave-own").mkdir(parents=True)
        (tmp_path / folder / "search" / "V10-brave-own" / "case.json").write_text(json.dumps(words))
    listed = [{"area": "pages", "name": "inline", "file": "a.html", "files": {"a.html": "<p>x</p>"}, "expect": []}]
    (tmp_path / "list.json").write_text(json.dumps(listed))
    main, extra = load_cases(tmp_path / "main", tmp_path / "more")
    assert len(main.data["expect"]["rows"]) == 3
    assert extra.data["expect"] == "some rows"
    inline = load_cases(tmp_path / "main", tmp_path / "list.json")[1]
    assert (inline.area, inline.read("a.html")) == ("pages", b"<p>x</p>")


def test_each_text_of_a_browser_case_is_one_expectation() -> None:
    case = _case("browser", {"expect": {"contains": ["Sent", "Paid"], "not_contains": ["failed"]}})
    found = browser.judge(case, "step 2: Sent").judgments
    assert [(one.holds, one.is_silent) for one in found] == [(True, False), (False, True), (True, False)]
    assert not any(one.holds for one in browser.judge(case, "").judgments)


def test_a_run_of_a_site_is_judged_at_each_host_and_a_crawl_that_ends_early_is_not_done() -> None:
    urls = ("http://a.example/1", "http://a.example/caf%C3%A9")
    answer = site.Answer(dict.fromkeys(map(site.normalize, urls), "One"), last={"done": True, "left": 3, "read": 9})
    run = {"tool": "crawl", "pages": ["/{1..2}"], "without": ["/3"], "titles": {"/café": "One"}, "reads": 8}
    found = site.judge(run, "a.example", answer)
    assert [(one.holds, one.is_silent) for one in found] == [
        (False, True), (True, False), (True, False), (False, True), (False, True),
    ]  # fmt: skip
    refused = site.judge({**run, "or_error": True}, "a.example", site.Answer(error="No such pattern"))
    assert [one.holds for one in refused] == [True]


def test_a_folder_with_expectations_in_words_is_a_case_with_the_runs_of_the_harness(tmp_path: Path) -> None:
    (tmp_path / "site" / "similar").mkdir(parents=True)
    assert [(case.area, len(site.runs_of(case))) for case in load_cases(tmp_path)] == [("site", 1)]
