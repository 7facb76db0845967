"""The title of a page, chosen from its headings, its title element and its social cards."""

from __future__ import annotations

import pytest

from tests.scraper.extract.snapshots import WORDS, read

SITE = "<meta property=og:site_name content='The Daily'>"


def test_titles_come_from_the_heading_that_agrees_with_the_head() -> None:
    html = (
        "<title>How to read the web | The Example Times</title><h1>The Example Times</h1>"
        f"<main><h1>How to read the web</h1><p>{WORDS}</p></main>"
    )
    assert read(html).title == "How to read the web"


@pytest.mark.parametrize(
    ("head", "title"),
    [
        ("<title>A long enough title - Site</title>", "A long enough title"),
        ("<title>Only this</title>", "Only this"),
        ("<title>a</title><meta property=og:title content='From the graph'>", "From the graph"),
        ("<title> spaced\n  out\u200b </title>", "spaced out"),
        ("<title>T &amp; U</title>", "T & U"),
        ("<meta property=og:title content='T &amp;amp; U'>", "T & U"),
        ("<title>How the tides work in a bay - The Example Daily News</title>", "How the tides work in a bay"),
        (
            "<title>Tides in a bay - The Example Daily News of Today</title>",
            "Tides in a bay - The Example Daily News of Today",
        ),
        ("<title>Tides - How they work</title>", "Tides - How they work"),
        ("<title>How the tides work: a short story</title>", "How the tides work: a short story"),
        ("<title>How the tides work : a story</title>", "How the tides work : a story"),
        (f"{SITE}<title>The Daily | How tides work in the bay</title>", "How tides work in the bay"),
        (f"{SITE}<title>How tides work_The Daily</title>", "How tides work"),
        ("<title>Nations &bull; View topic - Football - 2025: a season</title>", "Football - 2025: a season"),
        ("<title>潮の満ち引きの仕組み ｜日報</title>", "潮の満ち引きの仕組み"),
        ("", None),
    ],
)
def test_titles_without_a_heading_come_from_the_head_without_the_site(head: str, title: str | None) -> None:
    assert read(f"<head>{head}</head><main><p>{WORDS}</p></main>").title == title


@pytest.mark.parametrize(
    ("heading", "title"),
    [
        ("Models<a href='#m'>¶</a>", "Models"),
        ("Models\N{LINK SYMBOL}", "Models"),
        ("Setup<a href='#s'>\uf0c1</a>", "Setup"),
        ("<a href='#a'>#</a> axios", "axios"),
        ("<a href='#a'>§</a> 3 Scope <a href='#a'>#</a>", "3 Scope"),
        ("Introduction to C#", "Introduction to C#"),
        ("C#<a href='#c'>#</a>", "C#"),
    ],
)
def test_a_heading_loses_the_link_to_itself(heading: str, title: str) -> None:
    assert read(f"<title>{title}</title><main><h1>{heading}</h1><p>{WORDS}</p></main>").title == title


def test_a_whole_site_keeps_its_name() -> None:
    front = f"{SITE}<title>The Daily | News, weather and tides for the bay</title><p>{WORDS}</p>"
    assert read(front, url="https://example.com/").title == "The Daily | News, weather and tides for the bay"


@pytest.mark.parametrize(
    ("head", "headings", "title"),
    [
        ("<title>Types - The Book</title>", "<h1>The Book</h1><h2>Types</h2>", "Types"),
        ("<title>Types - The Book</title>", "<h1>The Book</h1><h2>Other</h2>", "The Book"),
        ("<title>Recipe - Eggs, fried</title>", "<h2>Recipe</h2><h1>Eggs, fried</h1>", "Eggs, fried"),
        ("<title>The Daily | How tides work</title>", "<h1>The Daily</h1><h1>How tides work</h1>", "How tides work"),
        (f"{SITE}<title>The Daily | Tide</title>", "<h1>The Daily</h1><h1>Tide</h1>", "Tide"),
        ("<title>How tides work | News</title>", "<h1>How tides work</h1><h1>News</h1>", "How tides work"),
        ("<title>量子力学_百度百科</title>", "<h1>量子力学</h1>", "量子力学"),
    ],
)
def test_the_heading_of_the_site_gives_way_to_one_below_it(head: str, headings: str, title: str) -> None:
    assert read(f"{head}<main>{headings}<p>{WORDS}</p></main>").title == title


@pytest.mark.parametrize(
    ("title", "card", "url", "heading", "expected"),
    [
        ("Tides | Bay", "The Daily", "", "Tides", "Tides"),
        ("Tides | Bay", "Learn all about seas", "https://e.com/", "Menu", "Tides"),
        ("Tides | Bay", "Learn all about seas", "", "Tides", "Tides"),
        ("Tides | The Times", "Tides", "", "The Times", "Tides"),
        ("Tides | Bay", "Learn all about seas", "https://e.com/tides", "Menu", "Learn all about seas"),
        ("Tides | Bay", "Learn all about seas", "https://[", "Menu", "Learn all about seas"),
    ],
)
def test_a_card_that_all_pages_share_is_no_title(title: str, card: str, url: str, heading: str, expected: str) -> None:
    metas = f"{SITE}<meta property=og:title content='{card}'><meta property=og:url content='{url}'>"
    assert read(f"<title>{title}</title>{metas}<h1>{heading}</h1><p>{WORDS}</p>").title == expected


def test_of_a_front_page_the_card_is_the_title() -> None:
    metas = "<meta property=og:title content='The Daily'><meta property=og:url content='https://example.com/'>"
    html = f"{SITE}{metas}<title>Home</title><h1>News of today</h1><p>{WORDS}</p>"
    assert read(html, url="https://example.com/").title == "The Daily"


def test_a_title_is_one_line_of_bounded_length() -> None:
    title = read("<title>" + "word\n" * 10_000 + "</title><p>x</p>").title
    assert title is not None
    assert len(title) <= 300 and "\n" not in title


def test_label_before_the_headline_is_not_part_of_it() -> None:
    head = '<meta property="og:title" content="On the shape of kettles">'
    heading = "<h1><span>Title:</span>On the shape of kettles</h1>"
    assert read(f"<head>{head}</head><body>{heading}<p>{WORDS}</p></body>").title == "On the shape of kettles"


def test_a_heading_that_shares_no_word_with_the_head_is_not_the_title() -> None:
    head = "<title>The shape of kettles</title>"
    assert read(f"<head>{head}</head><body><h1>Menu</h1><p>{WORDS}</p></body>").title == "The shape of kettles"


@pytest.mark.parametrize(
    "heading", ["The long<br>road", "<div>The long</div><div>road</div>", "<p>The</p><b>long</b><p>road</p>"]
)
def test_lines_of_a_headline_are_parted(heading: str) -> None:
    page = f"<title>The long road - Site</title><main><h1>{heading}</h1><p>{WORDS}</p></main>"
    assert read(page).title == "The long road"


def test_a_heading_that_is_all_before_the_first_mark_is_the_title_however_long_the_rest() -> None:
    rest = "Learn the language of the web - The Example Documentation (3.1)"
    body = f"<main><h1>Flexbox<a href='#f'>¶</a></h1><p>{WORDS}</p></main>"
    assert read(f"<title>Flexbox — {rest}</title>{body}").title == "Flexbox"
    assert read(f"<title>The Daily — {rest}</title>{SITE}{body.replace('Flexbox', 'The Daily')}").title != "The Daily"
    assert read(f"<title>Flexbox — {rest}</title>{body}", url="https://example.com/").title != "Flexbox"


@pytest.mark.parametrize(
    ("title", "headings", "expected"),
    [
        (
            "A kettle that leaks in the ki... - Forum",
            "<h1>Forum</h1><h1>A kettle that leaks in the kitchen</h1>",
            "kitchen",
        ),
        ("We offer the best kettles of…", "<h1>One</h1><h1>Two</h1>", "kettles of…"),
        ("And then …", "", "And then …"),
    ],
)
def test_a_title_that_was_cut_gives_way_to_the_heading(title: str, headings: str, expected: str) -> None:
    found = read(
        f"<title>{title}</title><body>{headings}<main><p>{WORDS}</p></main>", url="https://example.org/a"
    ).title
    assert found is not None
    assert found.endswith(expected)


@pytest.mark.parametrize(
    "heading",
    [
        "<span class=article__kicker>Umwelt</span><span class=article__title>Klima in Gefahr</span>",
        "<small class='c-headline__kicker c-kicker'>Umwelt:</small>Klima in Gefahr",
        "<a class=eyebrow href=/x>Umwelt</a> Klima in Gefahr",
    ],
)
def test_the_kicker_of_a_headline_is_not_part_of_the_title(heading: str) -> None:
    document = read(f"<title>Klima in Gefahr - Zeitung</title><main><h1>{heading}</h1><p>{WORDS}</p></main>")
    assert document.title == "Klima in Gefahr"


def test_a_heading_that_is_only_a_kicker_stays_the_title() -> None:
    document = read(f"<title>Umwelt - Zeitung</title><main><h1><b class=kicker>Umwelt</b></h1><p>{WORDS}</p></main>")
    assert document.title == "Umwelt"


@pytest.mark.parametrize(
    ("head", "heading", "url", "title"),
    [
        ("<title>Forum - All about kitchens</title>", "Rust on an iron pan", "/r/12/rust_on_an_iron_pan", None),
        ("<title>Overview - Kettle Server</title>", "Experimental features", "/docs/experimental/", None),
        ("<title>Example</title>", "Rust on an iron pan", "/share/12", None),
        (f"{SITE}<title>The Daily</title>", "Rust on an iron pan", "/share/12", None),
        ("<title>Example</title>", "Welcome", "/index.html", "Example"),
        ("<title>Pans of iron - The Daily</title>", "Rust on a kettle", "/rust-and-pans", "Pans of iron"),
        ("<title>Pans of iron - The Daily</title>", "Rust on a kettle", "/12", "Pans of iron"),
    ],
)
def test_the_heading_replaces_a_title_that_many_pages_share(
    head: str, heading: str, url: str, title: str | None
) -> None:
    html = f"<head>{head}</head><main><h1>{heading}</h1><p>{WORDS}</p></main>"
    assert read(html, url=f"https://www.example.com{url}").title == (title or heading)
