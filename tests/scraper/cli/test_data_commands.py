"""Commands that print the structured data, fields and rows of pages, or compare pages."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from scraper.render.page import LISTS
from tests.scraper.cli.in_process import command_output
from tests.site.running import Site

pytestmark = pytest.mark.browser


def test_the_lists_of_a_page_are_added_to_json(site: Site, here: dict[str, str]) -> None:
    output = command_output("fetch", site.url("/"), "--json", "--include", "links", "--include", "headings", env=here)
    page = json.loads(output.out)
    assert page["links"] and page["headings"] and "images" not in page
    output = command_output("fetch", site.url("/"), "--include", "links")
    assert (output.code, "--include needs --json" in output.err) == (2, True)
    output = command_output("fetch", site.url("/"), "--json", "--include", "links,images", env=here)
    assert {"links", "images"} <= json.loads(output.out).keys()
    output = command_output("fetch", site.url("/"), "--json", "--include", "pictures")
    assert output.code == 2 and all(name in output.err for name in LISTS)


def test_fields_that_are_not_json_are_named_as_the_option() -> None:
    output = command_output("extract-structured", "example.com", "--fields", "{price")
    assert (output.code, output.err) == (2, "--fields must be an object; the text is not valid JSON.\n")


def test_fields_are_read_by_name_from_several_pages(site: Site, here: dict[str, str]) -> None:
    pages = ("site.example/guide/tides", "site.example/guide/ferries")
    output = command_output("extract-structured", *pages, "--fields", "title, author", "--json", env=here)
    assert output.code == 0, output.err
    rows = json.loads(output.out)["pages"]
    assert [row["url"] for row in rows] == [f"http://{page}" for page in pages]
    assert all(set(row["values"]) == {"title", "author"} for row in rows)
    assert rows[0]["values"]["author"] == "Ada Quay"


def test_several_pages_without_fields_are_refused() -> None:
    output = command_output("extract-structured", "example.com", "example.org")
    assert output.code == 2 and "--fields" in output.err


def test_pages_are_compared(site: Site, here: dict[str, str]) -> None:
    urls = (site.url("/long/300"), site.url("/static/1"))
    output = command_output("compare", "note 217", *urls, "--format", "json", env=here)
    assert (output.code, output.err) == (0, "")
    compared = json.loads(output.out)
    assert compared["urls"] == list(urls) and "MARK-long-217" in compared["excerpts"][0]["excerpt"]


def test_compare_with_one_url_suggests_fetch(site: Site, here: dict[str, str]) -> None:
    output = command_output("compare", "note 217", site.url("/static/1"), env=here)
    assert (output.code, output.out) == (2, "")
    assert "use `search-mcp fetch`" in output.err


def test_the_data_of_a_page_are_printed_and_nothing_else(site: Site, here: dict[str, str]) -> None:
    url = site.url("/shop/injected")
    output = command_output("extract-structured", url, "--format", "json", env=here)
    assert (output.code, output.err) == (0, "")
    assert json.loads(output.out)["product"]["price"]["value"] == 49.9


def test_the_rows_of_a_list_are_written_as_csv(site: Site, here: dict[str, str], tmp_path: Path) -> None:
    file = tmp_path / "rows.csv"
    url = site.url("/shop/late-list")
    output = command_output("extract-structured", url, "--records", "-o", str(file), env=here)
    assert (output.code, output.out, output.err) == (0, "", "")
    header, first, *_ = file.read_text(encoding="utf-8").splitlines()
    assert header == "title,url,price,text" and first.startswith(f"Copper kettle,{site.url('/shop/item/0')},$40.50,")


def test_a_file_has_all_rows_and_the_warnings_are_on_stderr(site: Site, here: dict[str, str], tmp_path: Path) -> None:
    file, urls = tmp_path / "rows.csv", (site.url("/shop/long-list"), site.url("/shop/missing-page"))
    small = {**here, "SEARCH_MCP_MAX_ANSWER_TOKENS": "500"}
    part = command_output("extract-structured", urls[0], "--records", "--json", env=small)
    shown = json.loads(part.out)
    assert "records are left out" in shown["warnings"][-1]
    output = command_output("extract-structured", *urls, "--records", "-o", str(file), env=small)
    assert (output.code, output.out) == (1, "") and f"Warning: {urls[1]}: " in output.err
    assert len(shown["records"]) < 60 and len(file.read_text(encoding="utf-8").splitlines()) == 1 + 60


def test_rows_with_named_columns_are_written_as_csv(site: Site, here: dict[str, str], tmp_path: Path) -> None:
    file = tmp_path / "rows.csv"
    arguments = [site.url("/shop/late-list"), "--records", "--fields", '{"name": "", "cost": "", "sku": ""}']
    output = command_output("extract-structured", *arguments, "-o", str(file), env=here)
    assert (output.code, output.out) == (0, "")
    assert file.read_text(encoding="utf-8").splitlines()[:2] == ["name,cost,sku", "Copper kettle,$40.50,"]


def test_a_recipe_is_named_by_its_id_and_gets_a_second_example(site: Site, here: dict[str, str]) -> None:
    url = site.url("/shop/injected")
    first = command_output("extract-structured", url, "--example", '{"name": "Copper kettle"}', "--json", env=here)
    assert first.code == 0, first.err
    recipe = ("--recipe", json.loads(first.out)["recipe"]["id"])
    read = command_output("extract-structured", url, *recipe, "--json", env=here)
    assert json.loads(read.out)["values"] == {"name": "Copper kettle"}, read.err
    both = command_output("extract-structured", url, *recipe, "--example", '{"price": "49.90 EUR"}', env=here)
    assert both.code == 0, both.err
    assert "| name | Copper kettle |" in both.out and "| price | 49.90 EUR |" in both.out
    unknown = command_output("extract-structured", url, "--recipe", "0123456789ab", env=here)
    assert unknown.code == 2 and "no stored recipe 0123456789ab" in unknown.err


def test_data_that_cannot_be_read_is_a_sentence_on_stderr(site: Site, here: dict[str, str]) -> None:
    output = command_output("extract-structured", site.url("/status/404"), env=here)
    assert (output.code, output.out) == (1, "") and "404 Not Found" in output.err
