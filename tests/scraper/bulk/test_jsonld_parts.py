"""The parts cut out of a page give the same JSON-LD as the page."""

from __future__ import annotations

import pytest

from browsers.model import Snapshot
from scraper.bulk.page_reader import extract_json_ld_part
from scraper.facts import structured

THING = '{"@type": "Thing", "name": "a < b", "url": "/thing"}'
PAGES = {
    "plain": f'<p>x<script type="application/ld+json">{THING}</script>',
    "upper case": f"<SCRIPT TYPE='APPLICATION/LD+JSON'>{THING}</SCRIPT>",
    "without quotes": f"<script id=a type=application/ld+json data-x=1>{THING}</script>",
    "in a comment": f'<!-- <script type="application/ld+json">{THING}</script> --><p>x',
    "after a comment": f'<!-- a > b --><script type="application/ld+json">{THING}</script>',
    "in another script": f"<script>var x = '<script type=\"application/ld+json\">{THING}';</script>",
    "two": f'<script type="application/ld+json">{THING}</script>' * 2,
    "with a base": f'<base href="https://other.example/dir/"><script type="application/ld+json">{THING}</script>',
    "broken beside whole": '<script type="application/ld+json">{"@type": </script>'
    f'<script type="application/ld+json">{THING}</script>',
    "never closed": f'<p>x</p><script type="application/ld+json">{THING}',
    "in the body": f'<body><div><script type="application/ld+json;charset=utf-8">{THING}</script></div>',
    "only named": "<p>We write ld+json.</p>",
}


@pytest.mark.parametrize("name", PAGES)
def test_the_extracted_part_has_the_same_json_ld_as_the_page(name: str) -> None:
    whole = Snapshot("https://site.example/", "", 200, media_type="text/html", html=PAGES[name])
    part = extract_json_ld_part(whole.html)
    light = Snapshot("https://site.example/", "", 200, media_type="text/html", html=part)
    told = structured.extract_basic(light).json_ld if part else ()
    assert told == structured.extract_basic(whole).json_ld


def test_a_page_without_json_ld_has_an_empty_part() -> None:
    assert extract_json_ld_part("<p>words</p>" * 1_000) == ""


def test_a_tag_cut_at_the_end_of_the_page_is_left_out() -> None:
    script, cut = f'<script type="application/ld+json">{THING}</script>', '<script type="application/ld+json" id=a'
    assert extract_json_ld_part(f"<p>x</p>{cut}") == ""
    for end in (cut, '<base href="/dir'):
        assert extract_json_ld_part(f"{script}<p>x</p>{end}") == extract_json_ld_part(script)


@pytest.mark.parametrize("noise", ["<!--", "<script>", "<base ", "<script type=ld+json", "</script"])
def test_hostile_pages_are_scanned_in_linear_time(noise: str) -> None:
    html = noise * 200_000 + "ld+json"
    assert len(extract_json_ld_part(html)) <= len(html) + 100
