"""Valid and broken JSON-LD blocks, as found on real pages."""

from __future__ import annotations

import pytest

from scraper.facts.syntaxes import jsonld
from tests.growth import Hostile, hostile_inputs

GOOD = '{"@type": "Product", "name": "Kettle"}'


def names(*blocks: str) -> list[object]:
    return [value.get("name") for value in jsonld.read(blocks)[0]]


@pytest.mark.parametrize(
    "block",
    [
        GOOD,
        f"[{GOOD}]",
        f"[[], [[{GOOD}]]]",
        '<!-- {"@type": "Product", "name": "Kettle"} -->',
        '//<![CDATA[\n{"@type": "Product", "name": "Kettle"}\n//]]>',
        '/*<![CDATA[*/{"@type": "Product", "name": "Kettle"}/*]]>*/',
        '/* shop */ {"@type": "Product", // kind\n "name": "Kettle",}',
        '{"@type": "Product", "name": "Kettle",};',
        "{'@type': 'Product', 'name': 'Kettle'}",
        "{&quot;@type&quot;: &quot;Product&quot;, &quot;name&quot;: &quot;Kettle&quot;}",
        "\ufeff" + GOOD + "\n",
        '{"@type": "Product", "name": "Kettle", "description": "it\\\'s \\x hot"}',
        '{"@type": "Product", "description": "for 24" pots and "hot" ones", "name": "Kettle"}',
        '{"@type": "Product", "name": "Kettle", "sku": , "mpn": }',
        "{“@type”: “Product”, “name”: “Kettle”}",
        '{<br />"@type": "Product",<br />"name": "Kettle"}',
    ],
)
def test_a_block_is_read_in_whatever_wrapping(block: str) -> None:
    assert names(block) == ["Kettle"]


def test_control_characters_in_a_text_stay_in_it() -> None:
    assert names('{"name": "two\nlines\tand a tab"}') == ["two\nlines\tand a tab"]


def test_several_objects_in_one_block_are_all_read() -> None:
    assert names('{"name": "one"}\n{"name": "two"}, {"name": "three"};') == ["one", "two", "three"]


def test_an_address_is_no_comment() -> None:
    ((item,), _) = jsonld.read(['{"url": "https://a.example//b", "name": "x",}'])
    assert item["url"] == "https://a.example//b"


def test_a_broken_block_loses_only_itself_and_is_counted() -> None:
    found, broken = jsonld.read(['{"name": "one"}', '{"name": ', "nothing at all", "", '{"name": "two"}'])
    assert [value["name"] for value in found] == ["one", "two"]
    assert broken == 2


def test_an_empty_block_is_not_broken_and_needs_no_repair(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jsonld, "_MAX_REPAIRED_PER_PAGE", 50)
    found, broken = jsonld.read(["[]" + " " * 40 + "[[]]", f"//\n{GOOD}"])
    assert broken == 0 and [value["name"] for value in found] == ["Kettle"]


@hostile_inputs(
    {
        "lists": (200_000, lambda n: "[" * n),
        "objects": (100_000, lambda n: '{"a":' * n),
        "commas": (400_000, lambda n: '{"a":"' + "x," * n),
    }
)
def test_hostile_block_is_abandoned_quickly(hostile: Hostile[str]) -> None:
    assert hostile.run(lambda block: names(block, GOOD), limit_s=5) == ["Kettle"]


def test_items_are_found_in_graphs_outer_ones_first() -> None:
    block = '{"@graph": [{"@type": "WebPage", "author": {"@type": "Person"}}, {"@type": ["Article", "x"]}]}'
    assert [jsonld.type_names(item) for item in jsonld.read_items([block])] == [
        ["WebPage"],
        ["Article", "x"],
        ["Person"],
    ]


def test_a_number_of_thousands_of_digits_does_not_lose_its_block() -> None:
    found, broken = jsonld.read([f'{{"@type": "Product", "name": "Kettle", "gtin": {"9" * 5_000}}}'])
    assert broken == 0 and found[0]["name"] == "Kettle"


def test_numbers_with_leading_zeros_stay_texts() -> None:
    ((item,), _) = jsonld.read(['{"@type": "Product", "sku": 00123, "mpn": undefined, "price": 0.5}'])
    assert item == {"@type": "Product", "sku": "00123", "mpn": None, "price": 0.5}


@hostile_inputs(
    {
        "escaped quotes": (90_000, lambda n: '{"@type":"' + '\\"' * n),
        "quotes": (190_000, lambda n: '{"@type":' + '"' * n),
        "words": (30_000, lambda n: '{"@type":"a" ' + 'x "y" ' * n),
        "fields": (14_000, lambda n: '{"@type":"a",' * n),
        "curly quotes": (20_000, lambda n: "{“@type”" * n),
        "spaces": (190_000, lambda n: '{"@type":"P"' + " " * n + "x"),
    }
)
def test_mending_takes_no_longer_than_a_block_is_long(hostile: Hostile[str]) -> None:
    assert hostile.run(lambda block: names(*[block] * 3, GOOD), limit_s=5)[-1] == "Kettle"
