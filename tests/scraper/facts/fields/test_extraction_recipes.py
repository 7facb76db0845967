"""One example teaches where values are; the recipe finds them on other pages and after a redesign, or does not fit."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from scraper.facts.fields import extraction, extraction_recipes
from scraper.facts.fields.model import FieldRequest, PageFields
from tests.growth import Hostile, hostile_inputs
from tests.scraper.extract.snapshots import page

EXAMPLE = {"name": "Copper kettle", "price": "$49.90", "maker": "Ada & Sons", "weight": "1.2 kg"}
SITE = "https://shop.example/item/"


def item(name: str, price: str, maker: str, weight: str, more: str = "") -> str:
    weight = f"<tr><th>Weight</th><td>{weight}</td></tr>" if weight else ""
    return (
        "<html><body><nav><a href='/'>Home</a> <a href='/all'>All items</a></nav><main class='item'>"
        f"<h1 class='title'>{name}</h1><p class='cost'>Now only {price}</p>"
        f"<table><tr><th>Maker</th><td>{maker}</td></tr>{weight}"
        f"</table><p>Sent within two days.</p>{more}</main><footer>All prices with tax</footer></body></html>"
    )


KETTLE = item("Copper kettle", "$49.90", "Ada &amp; Sons", "1.2 kg")
LAMP = item("Reading lamp", "$7.00", "Quay Ltd", "800 g")
LAMP_VALUES = {"name": "Reading lamp", "price": "$7.00", "maker": "Quay Ltd", "weight": "800 g"}
REDESIGNED = (
    "<html><body><header><a href='/'>Home</a> <a href='/all'>All items</a></header><div class='x1'><div class='x2'>"
    "<h1 class='big'>Reading lamp</h1><div class='sum'>Now only $7.00</div><dl><dt>Maker</dt><dd>Quay Ltd</dd>"
    "<dt>Weight</dt><dd>800 g</dd></dl><p>Sent within two days.</p></div></div>"
    "<div>All prices with tax</div></body></html>"
)


def by_example(html: str, example: Mapping[str, str], url: str = SITE + "1") -> PageFields:
    (found,) = extraction.extract([page(html, url)], FieldRequest(example=example))
    return found


def by_recipe(html: str, recipe: str, url: str = SITE + "2") -> PageFields:
    (found,) = extraction.extract([page(html, url)], FieldRequest(recipe=recipe))
    return found


@pytest.fixture(scope="module")
def recipe() -> str:
    return by_example(KETTLE, EXAMPLE).recipe


def test_an_example_gives_its_own_values_back() -> None:
    found = by_example(KETTLE, EXAMPLE)
    assert found.values == EXAMPLE
    assert {one.source for one in found.evidence.values()} == {"example"}


def test_a_recipe_reads_another_page_without_the_text_around_a_value(recipe: str) -> None:
    found = by_recipe(LAMP, recipe)
    assert found.values == LAMP_VALUES
    assert all(one.confidence > 0.9 for one in found.evidence.values()) and not found.warnings


def test_a_redesign_gives_likely_values_with_a_warning(recipe: str) -> None:
    found = by_recipe(REDESIGNED, recipe)
    assert found.values == LAMP_VALUES
    assert "not that of the recipe" in found.warnings[0]
    assert all(one.confidence < 0.95 for one in found.evidence.values())


@pytest.mark.parametrize("html", [LAMP, REDESIGNED], ids=["same design", "redesign"])
def test_a_recipe_of_version_1_reads_pages_as_a_new_one(html: str, recipe: str) -> None:
    # Revision 6e797f1d wrote the file.
    old = (Path(__file__).parent / "version_1/recipe.json").read_text()
    found = by_recipe(html, old)
    assert found.values == LAMP_VALUES and found.warnings == by_recipe(html, recipe).warnings
    assert json.loads(old)["version"] == 1


def book(name: str, publisher: str, day: str) -> str:
    """Return a page whose values have no labels."""
    return (
        f"<html><head><title>{name} | Books</title></head><body><div class='page'><div class='head'><p>Books</p></div>"
        f"<table class='main'><tr><td class='left'><div class='name'>{name}</div><div class='kind'>Paperback</div>"
        f"<div class='who'>{publisher}</div><div class='day'>{day}</div><div class='find'>Find it in a shop</div></td>"
        "</tr></table><div class='foot'><p>Terms of use</p></div></div></body></html>"
    )


def redesigned_book(name: str, publisher: str, day: str) -> str:
    """Return the page after a redesign: other names, some other tags, and the values after another part."""
    aside = "".join(f"<div class='x3'>{text}</div>" for text in ("Tell a Friend", "Privacy Policy", "July 4, 2012"))
    return (
        f"<html><head><title>{name} | Books</title></head><body><div class='x1'>"
        "<div class='x2'><p>Books</p><i>1,024 readers</i></div>"
        f"<div class='main'><div class='left'>{aside}</div></div><section class='main'><div class='left'><div>"
        f"<section class='x8'>{name}</section><section>Paperback</section><section class='x9'>{publisher}</section>"
        f"<section class='y1'>{day}</section><section>Find it in a shop</section></div></div></section>"
        "<div class='y2'><p>Terms of use</p></div></div></body></html>"
    )


def test_texts_near_a_value_and_the_page_title_find_it_after_a_redesign() -> None:
    old, new = ("Love at Noon", "Martin Press", "June 29, 2010"), ("The Tide", "Knopf House", "May 2, 2011")
    example = dict(zip(("name", "publisher", "day"), old, strict=True))
    found = by_recipe(redesigned_book(*new), by_example(book(*old), example).recipe)
    assert tuple(found.values.values()) == new


def by_second_example(html: str, recipe: str, example: Mapping[str, str]) -> PageFields:
    (found,) = extraction.extract([page(html, SITE + "2")], FieldRequest(recipe=recipe, example=example))
    return found


def tour(name: str, *facts: str) -> str:
    """Return a page whose facts have no labels; other pages have more or fewer of them."""
    rows = "".join(f"<p>{fact}</p>" for fact in facts)
    return f"<html><body><h1>{name}</h1><div class='facts'>{rows}</div><p>Book at the harbor.</p></body></html>"


TOURS = (
    tour("Ferry to Ona", "Every day", "Sails 09:15", "12 seats", "From Quay 4"),
    tour("Ferry to Vik", "Every day", "Guide on board", "Sails 10:40", "30 seats", "From Quay 1"),
    tour("Ferry to Alm", "Weekdays", "Dogs allowed", "Lunch on board", "Sails 07:05", "8 seats", "From Quay 2"),
)


def test_a_second_example_narrows_a_recipe_to_what_both_places_share() -> None:
    recipe = by_example(TOURS[0], {"time": "Sails 09:15"}).recipe
    assert by_recipe(TOURS[1], recipe).values == {"time": "Guide on board"}
    found = by_second_example(TOURS[1], recipe, {"time": "Sails 10:40"})
    assert found.values == {"time": "Sails 10:40"} and not found.warnings
    times = [by_recipe(html, found.recipe).values["time"] for html in TOURS]
    assert times == ["Sails 09:15", "Sails 10:40", "Sails 07:05"]


def test_a_recipe_keeps_three_examples_of_a_field_and_the_places_of_the_others() -> None:
    recipe = by_example(TOURS[0], {"time": "Sails 09:15", "name": "Ferry to Ona"}).recipe
    for html, time in zip((*TOURS[1:], *TOURS[:2]), ("10:40", "07:05", "09:15", "10:40"), strict=True):
        recipe = by_second_example(html, recipe, {"time": f"Sails {time}"}).recipe
    kept = json.loads(recipe)["fields"]
    assert len(kept["time"]) == 3 and kept["name"]["tags"][-1] == "h1"
    assert by_recipe(TOURS[2], recipe).values == {"time": "Sails 07:05", "name": "Ferry to Alm"}


def test_a_correction_replaces_a_place_that_has_another_value_on_its_page() -> None:
    def shop(name: str, list_price: str, price: str) -> str:
        return (
            f"<body><h1>{name}</h1><div class='old'><b>{list_price}</b></div><p>Sent at once</p>"
            f"<div class='new'><b>{price}</b></div></body>"
        )

    recipe = by_example(shop("Kettle", "$9.00", "$9.00"), {"price": "$9.00"}).recipe
    lamp = shop("Lamp", "$8.00", "$5.00")
    assert by_recipe(lamp, recipe).values == {"price": "$8.00"}
    corrected = by_second_example(lamp, recipe, {"price": "$5.00"}).recipe
    assert by_recipe(shop("Fork", "$3.00", "$2.00"), corrected).values == {"price": "$2.00"}


def test_an_example_of_the_new_design_makes_a_recipe_fit_both(recipe: str) -> None:
    lamp = {"name": "Reading lamp", "price": "$7.00", "maker": "Quay Ltd", "weight": "800 g"}
    both = by_second_example(REDESIGNED, recipe, lamp)
    assert both.values == lamp and not both.warnings
    for html in (LAMP, REDESIGNED):
        found = by_recipe(html, both.recipe)
        assert found.values == lamp and not found.warnings
        assert {one.confidence for one in found.evidence.values()} == {0.99}
    assert by_recipe(KETTLE, both.recipe).values == EXAMPLE
    assert by_recipe(
        "<body><h1>Tides</h1><p>Words about the sea.</p></body>", both.recipe, "https://other.example/"
    ).misfit


def test_fields_without_an_example_have_no_value_where_the_recipe_does_not_fit(recipe: str) -> None:
    article = "<body><h2>Tides</h2>" + "".join(f"<p>Words about the sea, part {n}.</p>" for n in range(9)) + "</body>"
    found = by_second_example(article, recipe, {"name": "Tides"})
    assert found.values == {"name": "Tides", "price": None, "maker": None, "weight": None} and not found.misfit
    assert "add them to the example" in found.warnings[0]
    assert by_recipe(LAMP, found.recipe).values["price"] == "$7.00"


def test_a_recipe_that_would_be_too_long_keeps_the_newest_example_only() -> None:
    def table(word: str) -> tuple[str, dict[str, str]]:
        rows = {f"field {number}": f"{word} {number} of the tables" for number in range(40)}
        names = " ".join(f"name-{letter}-of-the-row-of-cells" for letter in "abcdefghijklmnop")
        cells = "".join(f"<tr class='{names}'><td>{name}</td><td>{value}</td></tr>" for name, value in rows.items())
        return f"<body><table>{cells}</table></body>", rows

    html, rows = table("Value")
    recipe = by_example(html, rows).recipe
    for word in ("Text", "Sum"):
        html, rows = table(word)
        recipe = by_second_example(html, recipe, rows).recipe
        assert len(recipe) <= extraction_recipes.MAX_CHARACTERS
    assert by_recipe(html, recipe).values == rows
    assert isinstance(json.loads(recipe)["fields"]["field 0"], dict)


def test_a_recipe_does_not_fit_a_page_of_another_site(recipe: str) -> None:
    article = "<body><h1>Tides</h1>" + "".join(f"<p>Words about the sea, part {n}.</p>" for n in range(9)) + "</body>"
    for url in ("https://other.example/tides", "https://other.example/lamp"):
        found = by_recipe(article, recipe, url)
        assert not found.values and found.misfit
    assert not by_recipe(REDESIGNED, recipe, "https://other.example/lamp").values


def test_one_similar_place_of_two_fits_on_the_same_site_only() -> None:
    recipe = by_example(KETTLE, {"name": "Copper kettle", "weight": "1.2 kg"}).recipe
    news = "<html><body><nav><a href='/'>Home</a></nav><main class='item'><h1 class='title'>Tides</h1>" + "".join(
        f"<p>Words about the sea, part {n}, and about the moon that moves it.</p>" for n in range(9)
    )
    assert by_recipe(news, recipe).values["name"] == "Tides"
    assert by_recipe(news, recipe, "https://other.example/tides").misfit


def test_a_value_that_a_page_does_not_state_is_none(recipe: str) -> None:
    found = by_recipe(item("Reading lamp", "$7.00", "Quay Ltd", ""), recipe)
    assert found.values["weight"] is None and "weight" not in found.evidence
    assert found.values["maker"] == "Quay Ltd"


def test_several_pages_share_the_recipe_of_the_one_with_the_example() -> None:
    pages = [page(LAMP, SITE + "2"), page(KETTLE, SITE + "1")]
    found = extraction.extract(pages, FieldRequest(example=EXAMPLE))
    assert [one.values["name"] for one in found] == ["Reading lamp", "Copper kettle"]


def test_of_two_places_the_title_is_taken() -> None:
    more = "<aside><a href='/1'>Copper kettle</a></aside>"
    found = by_example(item("Copper kettle", "$49.90", "Ada", "1 kg", more), {"name": "Copper kettle"})
    assert json.loads(found.recipe)["fields"]["name"]["tags"][-1] == "h1"


def test_a_value_at_several_equal_places_is_reported() -> None:
    more = "<p>Code: <b>K 77</b></p><p>Spare part: <b>K 77</b></p>"
    html = item("Copper kettle", "$49.90", "Ada", "1 kg", more)
    assert "`code` is at several places" in by_example(html, {"code": "K 77"}).warnings[0]
    assert not by_example(html, {"name": "Copper kettle", "maker": "Ada"}).warnings


@pytest.mark.parametrize(
    ("value", "nearest"), [("$49.99", "Now only $49.90"), ("Nothing like it on this page at all", ""), ("•", "")]
)
def test_a_value_that_is_not_on_the_page_is_reported_with_the_nearest_text(value: str, nearest: str) -> None:
    found = by_example(KETTLE, {"price": value})
    assert not found.values and found.missing["price"] == nearest


@pytest.mark.parametrize("value", ["copper  kettle", "Copper\xa0kettle", "Copper kett…"])
def test_a_value_may_differ_in_spaces_case_and_a_cut_end(value: str) -> None:
    assert by_example(KETTLE, {"name": value}).values["name"] in ("Copper kettle", "Copper kett")


def test_a_value_may_be_in_digits_of_another_script() -> None:
    arabic = item("Copper kettle", "٤٩٫٩٠", "Ada", "1 kg").replace("Now only ", "")
    assert by_example(arabic, {"price": "49.90"}).values == {"price": "٤٩٫٩٠"}
    assert by_example(KETTLE, {"weight": "１.２ kg"}).values == {"weight": "1.2 kg"}


@pytest.mark.parametrize("hiding", ["<p hidden>{}</p>", "<script>var a = '{}'</script>", "<i data-a='{}'>x</i>"])
def test_hidden_text_scripts_and_attributes_hold_no_example(hiding: str) -> None:
    html = item("Lamp", "$1", "Ada", "1 kg", hiding.format("Secret value"))
    assert "field" in by_example(html, {"field": "Secret value"}).missing


def test_a_recipe_is_small_plain_data_and_survives_its_text(recipe: str) -> None:
    assert len(recipe) < 4_000
    assert extraction_recipes.to_text(extraction_recipes.from_text(recipe)) == recipe


@pytest.mark.parametrize(
    "broken",
    [
        "", "no json", "[]", "{}", '{"version":0}', '{"version":2,"host":"a","fields":{}}', "[" * 100_000,
        '{"version":2,"host":"a","fields":{"x":{"prefix":"","suffix":""}}}', "x" * 1_000_000,
        '{"version":2,"host":"a","fields":{"x":5}}', '{"version":1,"host":"a","fields":{"x":{}}}',
    ],
)  # fmt: skip
def test_a_forged_recipe_is_an_error_with_a_reason(broken: str) -> None:
    with pytest.raises(ValueError, match=r"it |has |is not a "):
        extraction_recipes.from_text(broken)


@pytest.mark.parametrize("name", ["tags", "names", "size", "position", "is_whole", "mask"])
def test_a_recipe_with_a_part_of_another_type_is_an_error(recipe: str, name: str) -> None:
    data = json.loads(recipe)
    data["fields"]["name"][name] = {"a": 1}
    with pytest.raises(ValueError, match=name):
        extraction_recipes.from_text(json.dumps(data))


@hostile_inputs(
    {
        "items": (10_000, lambda n: "<ul>" + "".join(f"<li>boat {at}<b>x</b></li>" for at in range(n)) + "</ul>"),
        "levels": (2_000, lambda n: "<div>sea <b>x</b>" * n),
        "cell": (1_000_000, lambda n: f"<table><tr><td>{'a ' * n}</td></tr></table>"),
    }
)
def test_hostile_pages_are_read_soon(hostile: Hostile[str]) -> None:
    learned = by_example(KETTLE, EXAMPLE).recipe
    hostile.run(lambda html: by_recipe(html, learned), limit_s=10)
