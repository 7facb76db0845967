"""Structured data of all syntaxes together: no failure affects another syntax, and all sizes are bounded."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from typing import Any

import pytest

from browsers.model import JsonResponse
from scraper.facts import product, structured
from scraper.model import StructuredData
from tests.growth import Hostile, hostile_inputs
from tests.scraper.extract.snapshots import URL, page, served

LD = '<script type="application/ld+json">{"@type": "Thing", "name": "Anchor"}</script>'
CUT = "there is more than the limits allow"


def extract(html: str, **more: Any) -> StructuredData:
    return structured.extract(page(html, **more))


def test_json_ld_has_relative_addresses_made_absolute_and_leaves_prose_alone() -> None:
    block = {
        "@type": "Product", "@id": "#kettle", "url": "/kettle",
        "image": ["a.jpg", {"url": "//cdn.example/b.jpg"}],
        "name": "/not an address", "sku": "/77", "logo": "data:image/png;base64,AA",
    }  # fmt: skip
    found = extract(f'<base href="/shop/"><script type="application/ld+json">{json.dumps(block)}</script>')
    (item,) = found.json_ld
    assert item["@id"] == "https://example.com/shop/#kettle"
    assert item["url"] == "https://example.com/kettle"
    assert item["image"] == ["https://example.com/shop/a.jpg", {"url": "https://cdn.example/b.jpg"}]
    assert (item["name"], item["sku"], item["logo"]) == ("/not an address", "/77", "data:image/png;base64,AA")


def test_microdata_has_the_shape_of_json_ld() -> None:
    found = extract(
        '<div itemscope itemtype="https://schema.org/Product"><h1 itemprop="name">Kettle</h1>'
        '<a itemprop="url" href="/kettle">it</a>'
        '<div itemprop="offers" itemscope itemtype="https://schema.org/Offer">'
        '<meta itemprop="price" content="9.50"></div><script>never()</script></div>'
    )
    assert found.microdata == (
        {
            "@context": "https://schema.org",
            "@type": "Product",
            "name": "Kettle",
            "url": "https://example.com/kettle",
            "offers": {"@context": "https://schema.org", "@type": "Offer", "price": "9.50"},
        },
    )


def test_microdata_that_refers_to_itself_comes_to_an_end() -> None:
    found = extract(
        '<div id="a" itemscope itemref="b"><b itemprop="name">A</b></div>'
        '<div id="b" itemscope itemprop="part" itemref="a"><b itemprop="name">B</b></div>' + LD
    )
    assert found.json_ld[0]["name"] == "Anchor"
    assert "A" in json.dumps(found.microdata)


def test_open_graph_and_twitter_cards_are_two_objects_of_one_list() -> None:
    found = extract(
        '<meta property="og:title" content="Kettle"><meta property="og:image" content="/a.jpg">'
        '<meta property="og:image" content="/b.jpg"><meta name="twitter:card" content="summary">'
        '<meta name="og:type" content="product"><meta property="product:price:amount" content="5">'
        '<meta name="viewport" content="width=1">'
    )
    graph, card = found.opengraph
    assert graph["og:image"] == ["https://example.com/a.jpg", "https://example.com/b.jpg"]
    assert (graph["og:title"], graph["og:type"], graph["product:price:amount"]) == ("Kettle", "product", "5")
    assert card == {"twitter:card": "summary"}


def test_properties_of_several_images_belong_to_the_image_before_them() -> None:
    html = "".join(
        f'<meta property="og:{name}" content="{content}">'
        for name, content in (
            ("image", "/a.jpg"), ("image", "/b.jpg"), ("image:width", "9"), ("image:alt", "B"),
            ("image", "/c.jpg"), ("image:width", "9"), ("title", "T"),
        )
    )  # fmt: skip
    (graph,) = extract(html).opengraph
    assert graph["og:image"] == [
        {"og:image": "https://example.com/a.jpg"},
        {"og:image": "https://example.com/b.jpg", "og:image:width": "9", "og:image:alt": "B"},
        {"og:image": "https://example.com/c.jpg", "og:image:width": "9"},
    ]
    assert graph["og:title"] == "T"


def test_rdfa_is_read_where_there_is_a_type_and_numbers_its_nodes_the_same_each_time() -> None:
    html = (
        '<div vocab="https://schema.org/" typeof="Event"><b property="name">Fair</b>'
        '<p property="location" typeof="Place"><i property="name">Pier</i></p></div>'
        '<nav role="navigation"></nav>'
    )
    found = extract(html)
    assert found.rdfa == extract(html).rdfa
    told = json.dumps(found.rdfa)
    assert "https://schema.org/Event" in told and "Pier" in told and "_:b0" in told
    assert "xhtml/vocab" not in told


def test_without_a_type_there_is_no_rdfa() -> None:
    assert extract('<meta property="og:title" content="x"><b property="name">y</b>').rdfa == ()


@pytest.mark.parametrize(
    ("broken", "warnings"),
    [
        (
            '<script type="application/ld+json">{"@type": </script>',
            ("json_ld: blocks that are not JSON were left out: 1.",),
        ),
        (
            '<script type="application/ld+json">no JSON</script>',
            ("json_ld: blocks that are not JSON were left out: 1.",),
        ),
        ('<div itemscope itemtype=":::"><a itemprop="url" href="http://[">x</a></div>', ()),
        (
            '<div vocab="::" prefix="a: b c:" typeof="x:y [z" about="http://[">x</div>',
            ("rdfa: it could not be read (ValueError).",),
        ),
        ('<meta property="og:image" content="http://[">', ()),
    ],
)
def test_failure_of_one_syntax_does_not_affect_the_others(broken: str, warnings: tuple[str, ...]) -> None:
    others = LD + '<meta property="og:title" content="Title"><div itemscope><b itemprop="name">Scoped</b></div>'
    found = extract(f"<html><head></head><body>{others}{broken}</body></html>")
    assert found.json_ld[0]["name"] == "Anchor"
    assert found.opengraph[0]["og:title"] == "Title"
    assert found.microdata[0] == {"name": "Scoped"}
    assert found.warnings == warnings


def test_microdata_with_a_url_that_cannot_be_parsed_keeps_its_other_properties() -> None:
    offer = "<p itemprop='offers' itemscope><link itemprop='url' href='http://['><b itemprop='price'>3</b></p>"
    found = extract(f"<div itemscope><img itemprop='image' src='//[x'><b itemprop='name'>Kettle</b>{offer}</div>")
    assert found.microdata == ({"name": "Kettle", "offers": {"price": "3"}},) and not found.warnings


def test_fetched_json_is_reported_within_bounds() -> None:
    responses = (
        JsonResponse("https://example.com/api", 200, '{"a": [1, NaN, "\\ud800"]}'),
        JsonResponse("https://example.com/bad", 200, "<html>"),
        JsonResponse("https://example.com/big", 200, '"' + "x" * 300_000 + '"'),
    )
    found = extract("<p>x</p>", json_responses=responses)
    first, big = found.xhr
    assert first == {"url": "https://example.com/api", "status": 200, "data": {"a": [1, None, "\ufffd"]}}
    assert big["data"] is None and big["too_large"] == 300_002


GROWING: dict[str, tuple[int, Callable[[int], str]]] = {
    "deep scopes": (5_000, lambda n: LD + '<div itemscope itemprop="a"><b itemprop="n">x</b>' * n),
    "many properties": (60_000, lambda n: LD + "<div itemscope>" + "<b itemprop=p>v</b>" * n),
}
CHEAP = {
    "nothing": "",
    "a file": "\x00\x01\ufffd" * 5_000,
    "a cut tag": LD + '<div itemscope itemtype="https://schema.org/Pro',
    "deep nesting": LD + "<div>" * 200_000,
    "many attributes": LD + "<div " + " ".join(f"a{number}=1" for number in range(200_000)) + ">x</div>",
    "references everywhere": LD
    + f'<div id="a">{"<b itemprop=p>v</b>" * 2_000}</div>{"<div itemscope itemref=a></div>" * 400}',
    "texts in texts": LD + f"<div itemscope>{'<div itemprop=p>' * 150}{'word ' * 60_000}{'</div>' * 150}</div>",
    "entities of entities": '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "ha">'
    '<!ENTITY b "&a;&a;&a;&a;&a;&a;">'
    '<!ENTITY c "&b;&b;&b;&b;&b;&b;&b;">]><html typeof="A"><body>&c;' + LD,
    "deep JSON": f'<script type="application/ld+json">{"[" * 900}{"]" * 900}</script>' + LD,
    "wide RDFa": LD + '<div vocab="https://schema.org/">' + '<p typeof="A"><b property="name">x</b></p>' * 8_000,
    "comments that never end": LD.replace("Anchor", "<!--" * 12_000).replace("Thing", "Product") + LD,
    "a value that never comes": LD + "<script>price:" + " " * 200_000 + "</script>",
    "half an object again and again": LD + "<script>" + 'var a = {"price": ' * 20_000 + "</script>",
}


def always(html: str) -> Callable[[], str]:
    return lambda: html


@hostile_inputs(GROWING, {name: always(html) for name, html in CHEAP.items()})
@pytest.mark.slow
def test_hostile_pages_cost_seconds_at_most_and_never_the_other_data(hostile: Hostile[str]) -> None:
    found = hostile.run(extract, limit_s=20)
    assert pickle.loads(pickle.dumps(found)) == found
    assert json.dumps(found.json_ld)
    if LD in hostile.value:
        assert {"@type": "Thing", "name": "Anchor"} in found.json_ld


def test_a_page_deeper_than_the_parser_goes_keeps_the_data_of_its_head() -> None:
    found = extract(f"<html><head>{LD}</head><body>{'<i>' * 10_000}")
    assert found.json_ld[0]["name"] == "Anchor"


def test_data_beyond_the_limits_is_omitted_with_a_warning() -> None:
    many = ",".join(f'{{"@type": "Thing", "name": "{"n" * 100}{number}"}}' for number in range(6_000))
    found = extract(f'<script type="application/ld+json">[{many}]</script>')
    assert 0 < len(found.json_ld) < 6_000
    assert any(CUT in warning for warning in found.warnings)


def test_read_simply_the_head_is_all_there_and_nothing_that_takes_long() -> None:
    html = LD + '<meta property="og:title" content="T"><div itemscope><b itemprop="name">x</b></div>'
    found = structured.extract(page(html), None)
    assert found.json_ld and found.opengraph
    assert not found.microdata and found.product is None


def test_text_that_is_no_page_holds_nothing() -> None:
    assert structured.extract(served("text/plain", "only words")) == StructuredData(url=URL)


def test_facts_that_cannot_be_read_lose_none_of_the_lists(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise KeyError("nobody has thought of it")

    monkeypatch.setattr(product, "extract_product", broken)
    found = extract(LD)
    assert found.json_ld[0]["name"] == "Anchor" and found.product is None
    assert any("KeyError" in warning for warning in found.warnings)
