"""Values of fields by name: machine-readable data first, then labels, names, formats and titles; never invented."""

from __future__ import annotations

import json

import pytest

from scraper.facts.fields import extraction
from scraper.facts.fields.field_names import FieldName
from scraper.facts.fields.model import FieldRequest, PageFields
from tests.growth import Hostile, hostile_inputs
from tests.scraper.extract.snapshots import page

LD = """<script type="application/ld+json">{"@type": "Book", "name": "The Tide", "isbn": "9780306406157",
"author": {"@type": "Person", "name": "Ada Quay"}, "offers": {"@type": "Offer", "price": "12.50"}}</script>"""
BOOK = """<html><head><title>The Tide - Books</title></head><body><nav><a href='/'>Home</a></nav><main><h1>The Tide</h1>
<table><tr><th>Author</th><td>Ben Mole</td></tr><tr><th>Pages</th><td>320</td></tr></table>
<dl><dt>Publisher:</dt><dd>Pier Press</dd></dl><p>ISBN-13: 978-0-306-40615-7</p><p><b>Released</b> June 29, 2010</p>
<p itemprop="price" class="cost">$14.90</p><p hidden>Language: Latin</p></main></body></html>"""


def by_name(html: str, **fields: str) -> PageFields:
    (found,) = extraction.extract([page(html)], FieldRequest(fields=fields))
    return found


@pytest.mark.parametrize(
    ("name", "hint", "value", "source"),
    [
        ("title", "", "The Tide", "title"),
        ("author", "", "Ben Mole", "label"),
        ("writer", "written by author", "Ben Mole", "label"),
        ("pages", "", "320", "label"),
        ("publisher", "", "Pier Press", "label"),
        ("isbn_13", "", "978-0-306-40615-7", "label"),
        ("release_date", "", "June 29, 2010", "label"),
    ],
)
def test_a_visible_value_is_found_by_name(name: str, hint: str, value: str, source: str) -> None:
    found = by_name(BOOK, **{name: hint})
    assert found.values == {name: value}
    assert found.evidence[name].source == source and 0.5 < found.evidence[name].confidence < 1


def test_machine_readable_data_of_the_page_come_first() -> None:
    found = by_name(LD + BOOK, author="", price="", isbn="")
    assert found.values == {"author": "Ada Quay", "price": "12.50", "isbn": "9780306406157"}
    assert {one.source for one in found.evidence.values()} == {"json_ld"}


@pytest.mark.parametrize("graph", ["{}", "[{}]", '{{"@graph": {}}}', '[{{"@graph": [[{}]]}}]'])
def test_an_item_is_found_in_a_graph_of_any_shape(graph: str) -> None:
    item = '{"@type": "Book", "name": "The Tide", "isbn": "9780306406157"}'
    block = f'{{"@graph": {graph.format(item)}}}'
    found = by_name(f"<script type='application/ld+json'>{block}</script>{BOOK}", isbn="")
    assert found.evidence["isbn"].source == "json_ld"


def test_a_value_that_a_label_contradicts_has_little_confidence_and_an_alternative() -> None:
    found = by_name(LD + BOOK, author="", isbn="").evidence
    assert (found["author"].confidence, found["author"].alternatives) == (0.45, ("Ben Mole",))
    assert (found["isbn"].confidence, found["isbn"].alternatives) == (0.9, ())


def test_the_facts_of_a_product_come_before_its_raw_data() -> None:
    item = {
        "@type": "Product", "name": "The Tide", "brand": {"name": "Pier"},
        "offers": [
            {"price": "50.00", "priceCurrency": "GBP", "availability": "https://schema.org/InStock"},
            {"price": "50.00", "priceCurrency": "GBP", "availability": "https://schema.org/InStock"},
        ],
    }  # fmt: skip
    html = f"<script type='application/ld+json'>{json.dumps(item)}</script>{BOOK}"
    found = by_name(html, price="", currency="", availability="", brand="")
    assert found.values == {"price": "50", "currency": "GBP", "availability": "InStock", "brand": "Pier"}
    assert found.evidence["price"].source == "json_ld"
    recipe = {
        "@type": "Recipe",
        "name": "The Tide",
        "totalTime": "PT30M",
        "recipeIngredient": ["1 egg", "2 cups of milk"],
    }
    html = f"<script type='application/ld+json'>{json.dumps(recipe)}</script>{BOOK}"
    values = by_name(html, total_time="", ingredients="").values
    assert values == {"total_time": "PT30M", "ingredients": "1 egg, 2 cups of milk"}


def test_data_of_another_thing_than_the_page_are_not_used() -> None:
    assert by_name(LD.replace("The Tide", "Another book") + BOOK, author="").values == {"author": "Ben Mole"}


NESTED = {
    "@type": "JobPosting", "title": "The Tide", "jobLocation": {"address": {"addressLocality": "Quayton"}},
    "baseSalary": {"currency": "USD", "value": {"minValue": 80000, "maxValue": 120000, "unitText": "YEAR"}},
    "address": {"streetAddress": "Pier 9", "postalCode": "4711", "addressLocality": "Quayton", "addressCountry": "NO"},
    "openingHoursSpecification": [
        {"dayOfWeek": ["Monday", "Tuesday"], "opens": "11:00", "closes": "22:00"},
        {"dayOfWeek": "Saturday", "opens": "12:00", "closes": "23:00"},
    ],
    "aggregateRating": {"ratingValue": 87, "bestRating": 100}, "fee": {"price": 30, "priceCurrency": "EUR"},
    "birthPlace": {"postOfficeBoxNumber": "77", "postalCode": "4711", "addressLocality": "Quayton"},
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("salary", "USD 80000-120000 / YEAR"),
        ("location", "Quayton"),
        ("birth place", "77, 4711 Quayton"),
        ("rating", "87/100"),
        ("fee", "EUR 30"),
        ("address", "Pier 9, 4711 Quayton, NO"),
        ("opening hours", "Monday, Tuesday 11:00-22:00; Saturday 12:00-23:00"),
    ],
)
def test_nested_values_are_whole(name: str, value: str) -> None:
    html = f"<script type='application/ld+json'>{json.dumps(NESTED)}</script>{BOOK}"
    assert by_name(html, **{name: ""}).values == {name: value}


@pytest.mark.parametrize(("shown", "value"), [("<td>T-9</td>", "T-9"), ("<td></td>", None)])
def test_the_label_of_a_model_beats_the_title(shown: str, value: str | None) -> None:
    html = BOOK.replace("<tr><th>Pages", f"<tr><th>Model</th>{shown}</tr><tr><th>Pages")
    assert by_name(html, model="").values == {"model": value}


@pytest.mark.parametrize(
    "rows",
    [
        "<ul><li><b>Hull:</b> oak</li><li><b>Color:</b> </li></ul><p>Made by hand.</p>",
        "<div><p><i>Hull:</i><i>oak</i></p><p><i>Color:</i><i></i></p></div><p>Made by hand.</p>",
        "<table><tr><th>Color</th><td></td></tr><tr><th>Hull</th><td>oak</td></tr></table>",
    ],
)
def test_an_empty_place_of_a_value_stays_empty(rows: str) -> None:
    found = by_name(f"<h1>The Tide</h1>{rows}", color="", hull="")
    assert found.values == {"color": None, "hull": "oak"}
    assert "The page shows the label of `color` without a value." in found.warnings


STATE = """<script id=state type=application/json>{"props": {"book": {"title": "The Tide", "binding": "Cloth"},
"other": {"title": "The Tide and more", "binding": "Paper"}}}</script>"""


def test_state_in_scripts_is_read_if_its_object_has_the_title() -> None:
    found = by_name(STATE + BOOK, binding="")
    assert found.values == {"binding": "Cloth"} and found.evidence["binding"].source == "fetched_json"
    assert by_name(STATE.replace("The Tide", "Ebb") + BOOK, binding="").values == {"binding": None}


@pytest.mark.parametrize("name", ["作者", "Πλάτος", "مؤلف", "class", "None"])
def test_names_of_any_script_and_reserved_words_match_their_label(name: str) -> None:
    label = f"<dl><dt>{name}:</dt><dd>Pier Press</dd></dl></main>"
    assert by_name(BOOK.replace("</main>", label), **{name: ""}).values == {name: "Pier Press"}


@pytest.mark.parametrize("name", ["language", "weight", "phone", "class", "作者", "x" * 200, "1", "-"])
def test_what_the_page_does_not_state_is_none(name: str) -> None:
    found = by_name(BOOK, **{name: ""})
    assert found.values == {name: None} and not found.evidence


def test_a_value_ends_where_the_next_label_begins() -> None:
    page = "<body><h1>The Tide</h1><p>Author: Ada Quay Translator: Ben Mole</p><p>ISBN: 0306406152 Stock: 3</p></body>"
    assert by_name(page, author="").values == {"author": "Ada Quay"}


def test_marks_alone_are_no_value() -> None:
    page = "<body><h1>The Tide</h1><p><b>Publisher</b> <span>(</span><a href='/more'>more</a>)</p></body>"
    assert by_name(page, publisher="").values["publisher"] != "("


def test_a_qualifier_of_its_own_element_is_no_part_of_a_title() -> None:
    page = "<head><title>The Tide (1994)</title></head><body><h1>The Tide <span>(1994)</span></h1></body>"
    assert by_name(page, title="").values == {"title": "The Tide"}
    whole = page.replace("<span>", "").replace("</span>", "")
    assert by_name(whole, title="").values == {"title": "The Tide (1994)"}


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("<p>Call us: <span>(555) 010-4477</span></p>", "fax"),
        ("<p>You save <b>$5.00</b></p>", "price"),
        ("<p>Written to <a href=mailto:ada@pier.example>ada@pier.example</a></p>", "email"),
    ],
)
def test_the_only_value_of_a_format_is_no_value_of_a_field_without_its_label(text: str, name: str) -> None:
    assert by_name(f"<body><h1>Pier Press</h1>{text}</body>", **{name: ""}).values == {name: None}


def test_of_equal_candidates_that_near_the_heading_is_the_value() -> None:
    other = "".join(f"<p>Words of another book, part {n}</p>" for n in range(20))
    price = "<div><b>Price:</b> <span>${}</span></div>"
    page = f"<body>{price.format(20)}{other}<h1>The Tide</h1>{price.format(12)}</body>"
    assert by_name(page, price="").values == {"price": "$12"}


def test_a_field_that_two_values_fit_equally_well_is_null_and_both_are_named() -> None:
    words = "".join(f"<p>Words about two boats, part {n}</p>" for n in range(20))
    rows = f"<ul><li>Weight: 3 kg</li><li>Weight: 5 kg</li></ul>{words}"
    found = by_name(f"<body><h1>Two boats</h1>{rows}</body>", weight="", part="")
    assert found.values["weight"] is None and "weight" not in found.evidence
    assert "'3 kg' and '5 kg'" in found.warnings[0]
    same = by_name(f"<body><h1>Two boats</h1>{rows.replace('5 kg', '3 kg')}</body>", weight="")
    assert same.values == {"weight": "3 kg"} and same.evidence["weight"].confidence > 0.9


def test_the_answer_has_a_recipe_of_the_places_that_it_used() -> None:
    found = by_name(BOOK, author="", publisher="")
    (again,) = extraction.extract([page(BOOK)], FieldRequest(recipe=found.recipe))
    assert again.values == found.values
    assert "`example`" in found.warnings[0]


def test_a_page_without_text_has_no_values() -> None:
    assert by_name("<body></body>", title="").values == {"title": None}


@pytest.mark.parametrize(
    ("name", "label", "least", "most"),
    [
        ("isbn_13", "ISBN-13", 0.8, 1), ("isbn_13", "ISBN-10", 0, 0.5), ("datePublished", "date published", 0.9, 1),
        ("price", "Costs", 0, 0.3), ("author", "by", 0.6, 0.8), ("author", "The history of the city of Rome", 0, 0.2),
    ],
)  # fmt: skip
def test_names_match_labels_by_words_and_synonyms(name: str, label: str, least: float, most: float) -> None:
    assert least <= FieldName(name).match(label) <= most


@hostile_inputs(
    {
        "labels": (5_000, lambda n: "".join(f"<p><b>Price {at}:</b> ${at}</p>" for at in range(n))),
        "levels": (2_000, lambda n: "<div>price <b>x</b>" * n),
        "items": (30_000, lambda n: "".join(f"<i>Price: ${at}</i>" for at in range(n))),
        "cell": (1_000_000, lambda n: f"<table><tr><th>Price</th><td>{'a ' * n}</td></tr></table>"),
    }
)
def test_hostile_pages_are_read_soon(hostile: Hostile[str]) -> None:
    hostile.run(lambda html: by_name(html, price="", title=""), limit_s=15)
