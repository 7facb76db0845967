"""Lists of records: found by shape, with their columns and the next page; none where there is no list."""

from __future__ import annotations

from typing import Any

import pytest

from scraper.facts.fields import extraction
from scraper.facts.fields.model import FieldRequest, PageFields
from scraper.facts.fields.record_lists import MAX_RECORDS
from scraper.facts.fields.text_leaves import ElementTexts
from scraper.html.page.page_tree import build_page_tree
from tests.growth import Hostile, hostile_inputs
from tests.scraper.extract.snapshots import page

NAMES = ("Anchor", "Barge", "Cutter", "Dinghy", "Ferry")
MENU = (
    "<nav><ul>"
    + "".join(f'<li><a href="/{name}">{name}</a></li>' for name in "Home News About Contact".split())
    + "</ul></nav>"
)


def records(html: str, **more: Any) -> PageFields:
    (found,) = extraction.extract([page(html, **more)], FieldRequest(records=True))
    return found


def card(name: str, number: int) -> str:
    return (
        f'<div class="card item-{number}"><a href="/boats/{number}"><img src="/{number}.jpg"></a>'
        f'<h3><a href="/boats/{number}">{name} of the north</a></h3>'
        f"<del>$ {number}99.00</del> <span>${number}49.90</span>"
        f"<time>2024-05-0{number}</time><p>This {name} is a boat that people use on the sea every day.</p></div>"
    )


CARDS = "".join(card(name, number) for number, name in enumerate(NAMES, 1))


def test_rows_of_a_list_have_title_address_price_date_picture_and_text() -> None:
    found = records(f"<body>{MENU}<main><h1>Boats</h1>{CARDS}</main></body>")
    assert len(found.records) == 5
    assert found.records[1] == {
        "title": "Barge of the north",
        "url": "https://example.com/boats/2",
        "price": "$249.90",
        "date": "2024-05-02",
        "image": "https://example.com/2.jpg",
        "text": "This Barge is a boat that people use on the sea every day.",
    }


TABLE_ROWS = (("Anna", "Quayton", "120 m"), ("Berta", "Pierburg", "88 m"), ("Cara", "Molehaven", "140 m"))


@pytest.mark.parametrize("cell", ["th", "td"])
def test_a_small_table_has_its_columns_without_headers_and_names_of_groups(cell: str) -> None:
    head = "".join(f"<{cell}>{name}</{cell}>" for name in ("Ship", "Port", "Length"))
    rows = ["".join(f"<td>{value}</td>" for value in row) for row in TABLE_ROWS]
    rows.insert(1, "<td colspan=3><b>Monday</b></td>")
    html = f"<h1>Dues</h1><table>{''.join(f'<tr>{row}</tr>' for row in (head, *rows))}</table>"
    expected = [{"title": ship, "Port": port, "Length": length} for ship, port, length in TABLE_ROWS]
    assert list(records(html).records) == expected


SHIPS = {"ship": "", "port": "", "length": ""}
HEAD = "<tr><th>Ship<th>Port<th>Length</tr>"


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ("<tr><td>Anna<td>Quayton<td>120 m", TABLE_ROWS[:1]),
        (
            "<tr><td>Anna<td rowspan=2>Quayton<td>120 m<tr><td>Dora<td>65 m<tr><td>Cara<td>Molehaven<td>140 m",
            (TABLE_ROWS[0], ("Dora", "Quayton", "65 m"), TABLE_ROWS[2]),
        ),
        (
            "".join(f"<tr><td>{'<td>'.join(row)}" for row in TABLE_ROWS) + "<tfoot><tr><td>Sum<td><td>348 m</tfoot>",
            TABLE_ROWS,
        ),
    ],
    ids=["one row", "cell of two rows", "row of sums"],
)
def test_rows_of_a_table_have_the_requested_columns(rows: str, expected: tuple[tuple[str, ...], ...]) -> None:
    html = f"<h1>Dues</h1><table>{HEAD}{rows}</table>"
    (found,) = extraction.extract([page(html)], FieldRequest(records=True, fields=SHIPS))
    assert [tuple(row.values()) for row in found.records] == list(expected)


def test_rows_have_the_price_and_not_that_of_a_unit_or_an_old_one() -> None:
    prices = (
        "<small>$1.50/oz</small> $45.00", "$45.00 <small>($1.50/oz)</small>", "<s>$60.00</s> $45.00",
        "1 kg = $9.00 / $45.00", "<del>$60</del><ins>$45.00</ins>", "4 payments of $9.00 or $45.00",
    )  # fmt: skip
    pattern = "<li class=c><h3><a href=/{0}>Thing {0}</a></h3><p class=price>{1}</p>"
    cards = "".join(pattern.format(number, text) for number, text in enumerate(prices))
    assert [row["price"] for row in records(f"<ul>{cards}</ul>").records] == ["$45.00"] * len(prices)
    round_prices = ("149:-", "129,-", "1 299:-")
    for form in (pattern, "<li class=c><h3><a href=/{0}>Thing {0}</a></h3><b>{1}</b>"):
        cards = "".join(form.format(number, text) for number, text in enumerate(round_prices))
        assert [row["price"] for row in records(f"<ul>{cards}</ul>").records] == list(round_prices)


def test_a_record_may_be_several_rows_of_a_table() -> None:
    rows = "".join(
        f'<tr><td>{n}.</td><td><a href="/{n}">{name} sails again</a></td></tr>'
        f'<tr><td></td><td class="snippet">A long report about the {name} and its crew on the sea.</td></tr>'
        f'<tr><td></td><td class="site">site{n}.example</td></tr>'
        for n, name in enumerate(NAMES, 1)
    )
    found = records(f"<body>{MENU}<table>{rows}</table></body>")
    assert [row["title"] for row in found.records] == [f"{name} sails again" for name in NAMES]
    assert found.records[0]["text"] == "A long report about the Anchor and its crew on the sea."


def test_cells_of_a_grid_are_one_list() -> None:
    half = len(NAMES) // 2 + 1
    cells = [card(name, number) for number, name in enumerate((*NAMES, "Galley"), 1)]
    grid = f'<div class="row">{"".join(cells[:half])}</div><div class="row">{"".join(cells[half:])}</div>'
    assert len(records(f"<body><main>{grid}</main></body>").records) == 6


def test_sections_of_one_list_are_joined() -> None:
    cells = [card(name, number) for number, name in enumerate((*NAMES, "Galley", "Hoy", "Ketch"), 1)]
    sections = f"<section><h2>New</h2>{''.join(cells[:3])}</section><div><div>{''.join(cells[3:])}</div></div>"
    assert len(records(f"<body><main>{sections}</main></body>").records) == 8


def test_records_without_heading_and_link_have_their_first_text_as_title() -> None:
    cards = "".join(
        f"<div class=card><img src=/{n}.jpg><div>${n}9</div><div>{name} sandals</div><div>{n}ft long</div></div>"
        for n, name in enumerate(NAMES, 1)
    )
    found = records(f"<body><main><div>{cards}<div class=card><img src=/9.jpg></div></div></main></body>")
    assert [row["title"] for row in found.records if "title" in row] == [f"{name} sandals" for name in NAMES]
    assert [row.get("price") for row in found.records][:2] == ["$19", "$29"]
    assert not any("ft" in row.get("price", "") for row in records(f"<main>{cards.replace('$', '')}</main>").records)


def test_an_amount_named_price_comes_before_other_amounts() -> None:
    gift = "<p>Includes a gift of <span>$7.00</span> for every boat</p>"
    cards = CARDS.replace("<del>", f"{gift}<del>").replace("<span>", '<span class="boat-price">')
    cards = cards.replace('<span class="boat-price">$7.00', "<span>$7.00")
    assert records(f"<body><main>{cards}</main></body>").records[1]["price"] == "$249.90"


def test_an_amount_after_words_of_an_old_price_is_used_only_if_there_is_no_other() -> None:
    old = "<i class=reader-text>Original price was: $90.00.</i> <i class=reader-text>Current price is: $70.00.</i>"
    cards = CARDS.replace("<del>", f"{old}<del>").replace("<span>", "<span hidden>")
    assert records(f"<body><main>{cards}</main></body>").records[1]["price"] == "$70.00"
    cards = cards.replace(" <i class=reader-text>Current price is: $70.00.</i>", "")
    assert records(f"<body><main>{cards}</main></body>").records[1]["price"] == "$90.00"


def test_the_title_is_the_heading_and_its_link_the_more_specific_one() -> None:
    def repository(owner: str, name: str) -> str:
        tags = "".join(f"<a href='/topics/{name}-{n}'>{name} and other things {n}</a>" for n in range(8))
        heading = f"<h3><a href='/{owner}'>{owner}</a> / <a href='/{owner}/{name}'>{name}</a></h3>"
        return f"<article class=card><div>{heading}</div><p>A library for {name} and more.</p>{tags}</article>"

    found = records(f"<body><main>{''.join(repository(name.lower(), f'sail{name}') for name in NAMES)}</main></body>")
    assert [row["title"] for row in found.records][:2] == ["anchor/sailAnchor", "barge/sailBarge"]
    assert found.records[0]["url"] == "https://example.com/anchor/sailAnchor"


def test_a_link_with_the_target_of_the_picture_comes_before_ratings_and_offers() -> None:
    rows = "".join(
        f"<li class=item><a href=/p/{n}><img src=/{n}.jpg></a><a href=/p/{n}><span>{name} bluetooth loudspeaker with a "
        f"battery for the whole day, protected from water and dust, in black and white</span></a>"
        f"<a href=/reviews/{n}>4.{n} out of 5 stars 24,{n}00</a><a href=/p/{n}>{n} offers from $2{n}.90</a></li>"
        for n, name in enumerate(NAMES, 1)
    )
    found = records(f"<body><main><ol>{rows}</ol></main></body>")
    assert all(row["title"].startswith(f"{name} bluetooth") for row, name in zip(found.records, NAMES, strict=True))
    assert found.records[1]["url"] == "https://example.com/p/2"


def test_reviews_and_questions_for_consent_are_not_the_main_list() -> None:
    words = "I bought this boat last year and I am very happy with it, because it sails well in every weather. " * 5
    reviews = "".join(
        f"<div class=review><p>{words} {name}</p><a href=#{name}>read more</a></div>" for name in NAMES[:3]
    )
    boats = [f"{name} {kind}" for kind in ("old", "new", "big", "wet") for name in NAMES]
    goods = "".join(
        f"<div class=good><a href=/{n}><img src=/{n}.jpg></a><a href=/{n}>{boat} boat and a long life</a> "
        f"<b>$4{n}.00</b></div>"
        for n, boat in enumerate(boats)
    )
    found = records(f"<body><main><div>{goods}</div><section>{reviews}</section></main></body>")
    assert found.records[0]["title"] == "Anchor old boat and a long life" and len(found.records) == 20
    consent = "".join(
        f"<div class=part><h4>{name} cookies</h4><p>These cookies let us count visits, so that we can measure the "
        f"speed of our site and improve it for everybody who visits it. <a href=/{name}>List of partners</a></p></div>"
        for name in ("Needed", "Speed", "Target", "Social", "Other", "More", "Many", "Last", "Two", "One", "Six", "Ten")
    )
    links = "".join(f"<a class=tile href=/{name}><img src=/{name}.jpg><i>{name} of the sea</i></a>" for name in NAMES)
    found = records(f"<body><main><div>{links}</div></main><div><div id=onetrust-sdk>{consent}</div></div></body>")
    assert [row["title"] for row in found.records] == [f"{name} of the sea" for name in NAMES]


def test_names_of_a_layout_around_main_do_not_make_a_list_secondary() -> None:
    menu = "<ul class=menu>" + "".join(f"<li><a href=/{n}>{n} boats and more</a> text</li>" for n in NAMES) + "</ul>"
    page = f"<body><div class=content-sidebar-wrap><main>{CARDS}</main></div>{menu}</body>"
    assert records(page).records[0]["title"] == "Anchor of the north"


@pytest.mark.parametrize(
    "pager",
    [
        '<a href="/list?page=1" rel="prev">1</a> 2 <a href="/list?page=3" rel="next">More</a>',
        '<a href="/list?page=1">1</a> <b>2</b> <a href="/list?page=3">3</a> <a href="/list?page=4">4</a>',
        '<a href="/list?page=3">Next »</a>',
        '<a href="/list?page=3">Older posts</a>',
        '<a href="/list?page=3">Następna</a>',
        '<a href="/list?page=3" aria-label="Next page"><svg></svg></a>',
    ],
)
def test_the_next_page_is_found_by_relation_number_and_word(pager: str) -> None:
    found = records(f"<body>{CARDS}<p>{pager}</p></body>", url="https://example.com/list?page=2")
    assert found.next_page == "https://example.com/list?page=3"


@pytest.mark.parametrize(
    "pager",
    [
        "<a href='/list/k1'>1</a><b>2</b><a href='/list/k3'>3</a><a href='/list/k4'>4</a>",
        "<i><a href='/list/k1'>1</a></i><i class=active><a href='#'>2</a></i><i><a href='/list/k3'>3</a></i>",
        "<a href='/list/k1'>١</a> <a aria-current=page href='/list/k2'>٢</a> <a href='/list/k3'>٣</a>",
        "<a class=pager__prev href='/list/k1'><svg></svg></a><a class=pager__next href='/list/k3'><svg></svg></a>",
        "<a title='Go to previous page' href='/list/k1'></a><a title='Go to next page' href='/list/k3'></a>",
    ],
)
def test_the_next_page_is_found_by_the_row_of_numbers_and_by_names(pager: str) -> None:
    assert records(f"<body>{CARDS}<div>{pager}</div></body>", url="https://e.com/list/k2").next_page[-8:] == "/list/k3"


def test_years_and_days_of_a_calendar_are_no_pages() -> None:
    years = "<p><a href='/2022'>2022</a> <b>2023</b> <a href='/2024'>2024</a></p>"
    days = "<table><tr><td><a href='/1'>1</a></td><td>2</td><td><a href='/3'>3</a></td></tr></table>"
    assert records(f"<body>{CARDS}{years}{days}</body>").next_page == ""


@pytest.mark.parametrize(
    "html",
    [
        "",
        "<p>One sentence without any list.</p>",
        "<ul><li><a href='/a'>First boat of two</a></li><li><a href='/b'>Second boat of two</a></li></ul>",
        "<div><h3>About</h3><p>We make boats.</p></div><div><h3>Visit</h3><p>We are open until noon.</p></div>",
    ],
)
def test_a_page_without_a_list_has_no_records(html: str) -> None:
    assert records(f"<body>{html}</body>").records == ()


def test_two_cards_are_a_list_with_a_warning() -> None:
    found = records(f"<body>{MENU}<main>{card('Anchor', 1)}{card('Barge', 2)}</main></body>")
    assert [row["title"] for row in found.records] == ["Anchor of the north", "Barge of the north"]
    assert "no longer list" in found.warnings[0]


@pytest.mark.parametrize("place", [0, 3])
@pytest.mark.parametrize(("target", "count"), [("/boats/9", 6), ("https://ads.example/", 5)])
def test_a_card_of_another_shape_is_a_record_if_it_leads_to_the_site(place: int, target: str, count: int) -> None:
    texts = "<p>Best of all.</p><p>Made by one person.</p><img src=/a.jpg><b>$ 9.00</b>"
    cards = [card(name, number) for number, name in enumerate(NAMES, 1)]
    hero = f"<div class='card lead'><div><h2><a href='{target}'>Galley</a></h2>{texts}</div></div>"
    cards.insert(place, hero)
    titles = [row["title"] for row in records(f"<body><main>{''.join(cards)}</main></body>").records]
    assert len(titles) == count and (titles[place] == "Galley") == (count == 6)


def test_a_card_of_two_links_without_classes_is_one_record() -> None:
    cards = "".join(f"<li><a href='/b/{n}'><h2>{n}</h2> <i>$9</i></a><a href='?add={n}'>Add</a></li>" for n in NAMES)
    assert [row["title"] for row in records(f"<body><ul>{cards}</ul></body>").records] == list(NAMES)


def _boxes(head: str, cell: str, row: str = "{}") -> str:
    names = row.format("".join(head.format(name) for name in ("Ship", "Port", "Length")))
    return names + "".join(row.format("".join(map(cell.format, cells))) for cells in TABLE_ROWS)


@pytest.mark.parametrize(
    "grid",
    [
        _boxes("<i role=columnheader>{}</i>", "<i role=cell>{}</i>", "<div role=row>{}</div>").join(
            ("<div role=grid>", "</div>")
        ),
        _boxes("<i role=columnheader>{}</i>", "<i role=gridcell>{}</i>").join(("<div role=table>", "</div>")),
        _boxes("<div><b>{}</b></div>", "<div>{}</div>", "<div class=row>{}</div>").join(("<div>", "</div>")),
        _boxes("<span>{}</span>", "<span>{}</span>", "<div class=row>{}</div>").join(("<div>", "</div>")),
        _boxes("<div class=head>{}</div>", "<div class=cell>{}</div>").join(("<div>", "</div>")),
    ],
)
def test_grids_of_boxes_have_the_columns_of_their_headers(grid: str) -> None:
    fields = {"length": "", "ship": ""}
    (found,) = extraction.extract([page(f"<body><main>{grid}</main></body>")], FieldRequest(True, fields))
    assert [(row["ship"], row["length"]) for row in found.records] == [(ship, size) for ship, _, size in TABLE_ROWS]


def test_of_two_equal_lists_one_is_returned_without_the_other() -> None:
    found = records(f"<body><section>{CARDS}</section><section class='b'>{CARDS}</section></body>")
    assert len(found.records) in (5, 10)
    assert found.records[:5] == records(f"<body><section>{CARDS}</section></body>").records


def test_nested_lists_give_the_records_and_not_their_tags() -> None:
    tagged = CARDS.replace("</p></div>", "</p><ul><li><a href='/t'>sail</a></li><li>sea</li><li>wood</li></ul></div>")
    found = records(f"<body><main>{tagged}</main></body>")
    assert [row["title"] for row in found.records] == [f"{name} of the north" for name in NAMES]


def test_hidden_text_is_in_no_row() -> None:
    hidden = CARDS.replace("<p>", "<p hidden>Buy the other boat, it is much better than this one is</p><p>")
    found = records(f"<body><main>{hidden}</main></body>")
    assert len(found.records) == 5 and not any("other boat" in value for row in found.records for value in row.values())


def test_an_endless_list_is_cut_with_a_warning() -> None:
    rows = "".join(f"<li><a href='/{n}'>Boat number {n}</a> of the harbor</li>" for n in range(5_000))
    found = records(f"<body><ul>{rows}</ul></body>")
    assert len(found.records) == MAX_RECORDS and "may be longer" in found.warnings[0]


def test_a_page_of_too_many_elements_is_read_in_part() -> None:
    found = records("<body>" + "<i>a</i>" * 31_000 + "</body>")
    assert "30,000 elements" in found.warnings[0]


@hostile_inputs(
    {
        "items": (20_000, lambda n: "<ul>" + "<li><a href='/a'>boat</a> at sea</li>" * n + "</ul>"),
        "levels": (2_000, lambda n: "<div>sea <b>x</b>" * n),
        "cell": (1_000_000, lambda n: f"<table><tr><td>{'a ' * n}</td></tr></table>"),
        "shapes": (5_000, lambda n: "".join(f"<div>{'<i>a</i>' * (at % 50)}<p>b</p></div>" for at in range(n))),
    }
)
def test_hostile_pages_are_read_soon(hostile: Hostile[str]) -> None:
    hostile.run(records, limit_s=10)


def test_the_text_of_an_element_is_that_of_its_parts_with_single_spaces() -> None:
    text = ElementTexts(build_page_tree(page("<body><p>a <b>b</b>\n c&nbsp;d<sup>2</sup>, <i>e</i>.</p></body>")))
    assert text.text(text.body) == "a b c d 2, e."


def test_titles_of_a_table_are_those_of_one_column() -> None:
    rows = "".join(
        f"<tr><td>{place}<td>{name}<td>{town}" for place, name, town in (("1", "Ada", "London"), ("2", "Bo", "Paris"))
    )
    html = f"<h1>Winners</h1><table><tr><th>Place<th>Name<th>Town{rows}</table>"
    assert [row["title"] for row in records(html).records] == ["Ada", "Bo"]


@pytest.mark.parametrize("name", ["list", "list-item", "standard", "regular"])
def test_the_name_of_a_record_with_several_amounts_is_not_that_of_an_old_price(name: str) -> None:
    cards = "".join(
        f"<div class={name}><h3><a href=/{number}>Lamp {number}</a></h3><del>${number}9.90</del> ${number}8.50</div>"
        for number in range(1, 5)
    )
    found = records(f"<h1>Lamps</h1><div class=list>{cards}</div>").records
    assert [row["price"] for row in found] == ["$18.50", "$28.50", "$38.50", "$48.50"]
