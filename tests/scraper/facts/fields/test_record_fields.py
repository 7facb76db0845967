"""Records with requested columns: by names, by the values of one record, and by a recipe."""

from __future__ import annotations

import json
from typing import Any

import pytest

from scraper.facts.fields import extraction
from scraper.facts.fields.model import FieldRequest, PageFields
from tests.growth import Hostile, hostile_inputs
from tests.scraper.extract.snapshots import page

BOATS = (("Anchor", "5 m", "red", "$40.50"), ("Barge", "9 m", "blue", "$41.50"), ("Cutter", "", "green", "$42.50"),
         ("Dinghy", "3 m", "", "$43.50"), ("Ferry", "80 m", "white", ""))  # fmt: skip


def boat(name: str, length: str, color: str, price: str) -> str:
    sale = "<span>New</span>" if name == "Barge" else ""
    return (
        f'<li class="boat-card">{sale}<h3 class="boat-name"><a href="/boats/{name}">{name} of the north</a></h3>'
        f"<s class='price'>$99.00</s> <b class='price'>{price}</b>"
        f"<dl><dt>Length</dt><dd>{length}</dd><dt>Color</dt><dd>{color}</dd></dl>"
        f'<p class="intro">The {name} is a boat that people use on the sea every day of the week.</p></li>'
    )


SHOP = f"<body><main><h1>Boats</h1><ul>{''.join(boat(*row) for row in BOATS)}</ul></main></body>"
NEWS = "".join(
    f'<div class="story"><a href="/news/{name}">{name} sails again, and everybody came to the harbor</a>'
    f'<span class="author">By {name} Quay</span><p>Long words about the {name}, its crew and its way home.</p></div>'
    for name in ("Hoy", "Ketch", "Lugger", "Yawl")
)
TWO_LISTS = SHOP.replace("</main>", f"</main><section><h2>News</h2>{NEWS}</section>")


def records(html: str, **request: Any) -> PageFields:
    (found,) = extraction.extract([page(html)], FieldRequest(**{"records": True, **request}))
    return found


def column(found: PageFields, name: str) -> list[str | None]:
    return [row[name] for row in found.records]


def test_rows_have_the_named_fields_and_null_where_a_record_has_none() -> None:
    found = records(SHOP, fields={"name": "", "link": "", "color": "", "boat length": "", "voltage": ""})
    assert [tuple(row) for row in found.records] == [("name", "link", "color", "boat length", "voltage")] * 5
    assert found.records[1] == {
        "name": "Barge of the north", "link": "https://example.com/boats/Barge", "color": "blue",
        "boat length": None, "voltage": None,
    }  # fmt: skip
    assert column(found, "color") == ["red", "blue", "green", None, "white"]
    assert column(records(SHOP, fields={"boat length": "length"}), "boat length") == ["5 m", "9 m", None, "3 m", "80 m"]
    assert found.evidence["color"].source == "label" and "voltage" not in found.evidence
    assert any("voltage" in warning for warning in found.warnings)


def test_the_list_is_the_one_whose_columns_fit_the_fields() -> None:
    assert records(TWO_LISTS).records[0]["title"] == "Anchor of the north"
    found = records(TWO_LISTS, fields={"headline": "", "author": ""})
    assert column(found, "author") == ["By Hoy Quay", "By Ketch Quay", "By Lugger Quay", "By Yawl Quay"]
    assert column(records(TWO_LISTS, fields={"title": "", "price": ""}), "price")[0] == "$40.50"


def test_fields_that_fit_no_list_are_named_and_no_rows_are_invented() -> None:
    found = records(TWO_LISTS, fields={"voltage": "", "iban": ""})
    assert found.unlisted == ("voltage", "iban") and not found.records


def item_list(names: tuple[str, ...], **more: Any) -> str:
    items = [
        {"name": f"{name} of the north", "url": f"/{at}", "sku": f"B-{at}", "offers": {"price": f"{at}9.50"}, **more}
        for at, name in enumerate(names, 1)
    ]
    elements = [{"@type": "ListItem", "position": at, "item": item} for at, item in enumerate(items, 1)]
    data = json.dumps({"@type": "ItemList", "itemListElement": elements})
    return f"<script type='application/ld+json'>{data}</script>"


def test_the_data_of_a_page_come_before_its_text() -> None:
    html = SHOP.replace("<main>", item_list(("Ferry", "Anchor", "Barge", "Cutter", "Dinghy"), color="pink") + "<main>")
    fields = {"name": "", "sku": "", "price": "", "color": "", "boat length": "length", "link": ""}
    found = records(html, fields=fields)
    assert column(found, "sku") == ["B-2", "B-3", "B-4", "B-5", "B-1"] and column(found, "price")[0] == "29.50"
    assert column(found, "color") == ["pink"] * 5 and column(found, "boat length")[0] == "5 m"
    assert column(found, "link")[0] == "https://example.com/boats/Anchor"
    assert (found.evidence["sku"].source, found.evidence["sku"].confidence) == ("json_ld", 0.9)
    (again,) = extraction.extract([page(html)], FieldRequest(recipe=found.recipe))
    assert again.records == found.records
    with_example = records(html, fields={"sku": ""}, example={"price": "$41.50"})
    assert column(with_example, "sku") == column(found, "sku") and column(with_example, "price")[0] == "$40.50"


@pytest.mark.parametrize(
    "data",
    [
        item_list(("Anchor", "Barge", "Cutter")),
        item_list(("Galley", "Hoy", "Ketch", "Lugger", "Yawl")),
        item_list(("Anchor", "Barge", "Cutter", "Dinghy", "Ferry"))
        + item_list(("Ferry", "Dinghy", "Cutter", "Barge", "Anchor")),
    ],
)
def test_data_that_lack_records_or_contradict_each_other_are_not_used(data: str) -> None:
    found = records(SHOP.replace("<main>", f"{data}<main>"), fields={"name": "", "sku": "", "price": ""})
    assert "sku" not in found.evidence and column(found, "price")[0] == "$40.50"


def test_state_in_scripts_has_columns_that_the_page_does_not_show() -> None:
    boats = [{"title": f"{name} of the north", "year": 1990 + at} for at, (name, *_) in enumerate(BOATS)]
    state = f"<script type='application/json'>{json.dumps({'props': {'boats': boats}})}</script>"
    found = records(SHOP.replace("<main>", f"{state}<main>"), fields={"name": "", "year": ""})
    assert column(found, "year") == ["1990", "1991", "1992", "1993", "1994"]
    assert found.evidence["year"].source == "fetched_json"


def test_two_fields_never_share_a_column() -> None:
    found = records(SHOP, fields={"title": "", "name": "", "headline": ""})
    filled = [name for name in found.records[0] if any(column(found, name))]
    assert len(filled) == len({tuple(column(found, name)) for name in filled})


def test_an_example_of_one_record_names_the_columns_of_all() -> None:
    example = {"boat": "Barge of the north", "size": "9 m", "now": "$41.50", "before": "$99.00", "page": "/boats/Barge"}
    example["page"] = "https://example.com/boats/Barge"
    found = records(TWO_LISTS, example=example)
    assert found.records[1] == example
    assert column(found, "size") == ["5 m", "9 m", None, "3 m", "80 m"]
    assert column(found, "now") == ["$40.50", "$41.50", "$42.50", "$43.50", None]
    assert column(found, "boat")[4] == "Ferry of the north"
    assert {one.source for one in found.evidence.values()} == {"example"} and not found.warnings


def test_a_value_inside_a_text_is_cut_out_of_the_texts_of_all_records() -> None:
    found = records(TWO_LISTS, example={"who": "Lugger Quay", "story": "Lugger sails again"})
    assert column(found, "who") == ["Hoy Quay", "Ketch Quay", "Lugger Quay", "Yawl Quay"]
    assert column(found, "story")[0] == "Hoy sails again"


def test_fields_with_an_example_have_its_values_where_they_are_given() -> None:
    found = records(SHOP, fields={"price": "", "color": ""}, example={"price": "$99.00", "name": "Ferry of the north"})
    assert found.records[0] == {"price": "$99.00", "color": "red", "name": "Anchor of the north"}
    assert {name: one.source for name, one in found.evidence.items()} == {
        "price": "example", "color": "label", "name": "example",
    }  # fmt: skip


def test_an_example_whose_values_are_in_no_common_record_names_the_ones_that_are_missing() -> None:
    found = records(SHOP, example={"name": "Barge of the north", "price": "$41.50", "color": "red"})
    assert found.unlisted == ("color",) and not found.records and not found.missing
    found = records(SHOP, example={"name": "Barge of the north", "price": "$41.51"})
    assert found.missing == {"price": "$41.50"} and not found.records


def test_an_example_in_two_lists_says_so() -> None:
    twice = SHOP.replace(
        "</main>", f"</main><div><div>{NEWS.replace('Hoy sails', 'Anchor of the north sails')}</div></div>"
    )
    assert not records(twice, example={"name": "Barge of the north"}).warnings
    found = records(twice, example={"name": "Anchor of the north"})
    assert len(found.records) == 5 and "2 lists of the page contain the example" in found.warnings[0]


def test_a_value_at_two_places_of_its_record_is_the_one_named_like_the_field_or_is_reported() -> None:
    rows = "".join(
        f"<li><a href=/{n}>Boat number {n}</a><i class=used>${n}.00</i><i class=fresh>${n + n // 2}.00</i></li>"
        for n in range(1, 6)
    )
    html = f"<body><main><ul>{rows}</ul></main></body>"
    assert column(records(html, example={"fresh": "$1.00"}), "fresh")[4] == "$7.00"
    assert column(records(html, example={"used": "$1.00"}), "used")[4] == "$5.00"
    found = records(html, example={"amount": "$1.00"})
    assert "`amount` is at several places" in found.warnings[0]
    assert not records(html, example={"amount": "$6.00"}).warnings


def test_hidden_text_is_no_value_of_a_record() -> None:
    html = SHOP.replace("<dt>Color</dt>", '<dd style="display:none">Secret 7</dd><dt>Color</dt>')
    html = html.replace('<p class="intro">', '<p hidden class="voltage">230 V</p><p class="intro">')
    assert records(html, fields={"voltage": ""}).unlisted == ("voltage",)
    assert records(html, example={"name": "Secret 7"}).unlisted == ("name",)
    assert "Secret" not in str(records(html, fields={"name": "", "length": ""}).records)


def test_the_next_page_of_a_list_is_read_by_the_recipe() -> None:
    found = records(SHOP, fields={"color": ""}, example={"name": "Barge of the north", "price": "$41.50"})
    more = [("Galley", "7 m", "pink", "$1.50"), ("Hoy", "8 m", "gold", "$2.50"), ("Ketch", "2 m", "black", "$3.50")]
    html = f"<body><div>{NEWS}</div><main><h1>Boats</h1><ul>{''.join(boat(*row) for row in more)}</ul></main></body>"
    (again,) = extraction.extract([page(html)], FieldRequest(recipe=found.recipe))
    assert again.records[0] == {"color": "pink", "name": "Galley of the north", "price": "$1.50"}
    (other,) = extraction.extract([page(f"<body><main>{NEWS}</main></body>")], FieldRequest(recipe=found.recipe))
    assert other.misfit and not other.records and not other.unlisted


def test_an_example_may_come_from_any_of_several_pages() -> None:
    more = [("Galley", "7 m", "pink", "$1.50"), ("Hoy", "8 m", "gold", "$2.50"), ("Ketch", "2 m", "black", "$3.50")]
    other = f"<body><main><h1>Boats</h1><ul>{''.join(boat(*row) for row in more)}</ul></main></body>"
    request = FieldRequest(records=True, example={"name": "Hoy of the north", "price": "$2.50"})
    first, second = extraction.extract([page(SHOP), page(other)], request)
    assert first.records[0] == {"name": "Anchor of the north", "price": "$40.50"}
    assert [row["price"] for row in second.records] == ["$1.50", "$2.50", "$3.50"]


@pytest.mark.parametrize(
    "columns",
    [{"a": {"usual": "secret"}}, {"a": {"path": "x"}}, {"a": {"path": [1]}}, {"a": 1}, {"a": {"label": 1}}, {}],
)
def test_a_forged_recipe_of_records_is_refused(columns: dict[str, Any]) -> None:
    text = json.dumps({"version": 2, "host": "a", "records": columns})
    with pytest.raises(ValueError, match=r"has no|is not"):
        extraction.extract([page(SHOP)], FieldRequest(recipe=text))


@hostile_inputs(
    {
        "records": (2_000, lambda n: "<ul>" + "<li><i>$1</i> <b class=color>red</b> Anchor</li>" * n + "</ul>"),
        "levels": (500, lambda n: "<ul>" + f"<li>{'<div>' * n}<b>Anchor</b> $1{'</div>' * n}</li>" * 4 + "</ul>"),
        "items": (
            2_000,
            lambda n: (
                item_list(tuple(f"Boat {at}" for at in range(n)), color="red")
                + "<ul>"
                + "".join(f"<li><a href=/{at}>Boat {at} of the north</a> at sea</li>" for at in range(n))
                + "</ul>"
            ),
        ),
        "parts": (2_000, lambda n: "<ul>" + f"<li>{'<i>$1</i> Anchor <p>red</p>' * n}</li>" * 4 + "</ul>"),
    }
)
def test_hostile_lists_are_read_soon(hostile: Hostile[str]) -> None:
    request: dict[str, Any] = {"fields": {"name": "", "color": ""}, "example": {"a": "$1", "b": "Anchor"}}
    hostile.run(lambda html: records(f"<body>{html}</body>", **request), limit_s=5.0)
