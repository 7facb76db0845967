from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from scraper.html.page import page_tree
from scraper.model import Document
from tests.growth import Hostile, hostile_inputs
from tests.scraper.extract.snapshots import WORDS, page, read


def with_json_ld(item: object) -> str:
    return f"<script type='application/ld+json'>{json.dumps(item)}</script><main><p>{WORDS}</p></main>"


def test_json_ld_gives_author_date_and_site() -> None:
    document = read(
        with_json_ld(
            {
                "@context": "https://schema.org",
                "@graph": [
                    {"@type": "WebSite", "name": "The Example"},
                    {
                        "@type": ["NewsArticle", "Article"],
                        "author": [{"@type": "Person", "name": "Ada Lovelace"}, {"name": "Alan Turing"}],
                        "datePublished": "2024-05-17T10:30:00+02:00",
                    },
                ],
            }
        )
    )
    assert document.author == "Ada Lovelace, Alan Turing"
    assert document.published == datetime(2024, 5, 17, 8, 30, tzinfo=UTC)
    assert document.published_source == "structured"
    assert document.site_name == "The Example"


@pytest.mark.parametrize(
    "block",
    [
        "{",
        "[" * 100_000,
        "null",
        '{"@type": "A", "author": 7, "datePublished": ["x"]}',
        "<!-- not json -->",
        "\x01{}",
        "",
    ],
)
def test_a_broken_block_loses_only_itself(block: str) -> None:
    item = '{"@type":"Article","author":"Ada Lovelace",}'
    good = f"<script type=application/ld+json>/*<![CDATA[*/{item}/*]]>*/;</script>"
    html = f"<script type='application/ld+json'>{block}</script>{good}<main><p>{WORDS}</p></main>"
    assert read(html).author == "Ada Lovelace"


@pytest.mark.parametrize(
    ("html", "author"),
    [
        ("<meta name=author content='Ada Lovelace'>", "Ada Lovelace"),
        ("<meta name=author content='By Ada Lovelace'>", "Ada Lovelace"),
        ("<meta name=author content='Von Ada Lovelace'>", "Ada Lovelace"),
        ("<meta name=author content='Di Wang'>", "Di Wang"),
        (
            "<meta name=citation_author content='Wang, Di'><meta name=citation_author content='Li, Bo'>",
            "Di Wang, Bo Li",
        ),
        ("<meta name=author content=admin><a rel=author>Ada Lovelace</a>", "Ada Lovelace"),
        ("<meta property=article:author content='https://social.example/ada'>", None),
        ("<p class='meta byline'>by Ada Lovelace</p>", "Ada Lovelace"),
        ("<meta property=og:site_name content='The Site'><meta name=author content='The Site'>", None),
        ("<meta name=author content='ada@example.com (Ada Lovelace)'>", "Ada Lovelace"),
    ],
)
def test_authors_are_people_or_unknown(html: str, author: str | None) -> None:
    assert read(f"{html}<main><p>{WORDS}</p></main>").author == author


@pytest.mark.parametrize(
    ("html", "url", "day", "source"),
    [
        ("<meta property=article:published_time content=2024-05-17>", "https://e.com/", "2024-05-17", "meta"),
        ("", "https://e.com/2023/04/05/story", "2023-04-05", "url"),
        ("", "https://e.com/20230405/story", "2023-04-05", "url"),
        ("", "https://e.com/20234567/story", None, None),
        ("<h1>A</h1><time class=published datetime=2022-01-02>Jan 2</time>", "https://e.com/", "2022-01-02", "text"),
        ("<time datetime=2022-01-02>some time</time>", "https://e.com/", None, None),
        ("<meta name=date content='not a date'>", "https://e.com/", None, None),
    ],
)
def test_published_date_has_its_source(html: str, url: str, day: str | None, source: str | None) -> None:
    document = read(f"{html}<main><p>{WORDS}</p></main>", url=url)
    assert (document.published.date().isoformat() if document.published else None) == day
    assert document.published_source == source


def test_of_a_paper_the_first_five_authors_are_named() -> None:
    metas = "".join(f"<meta name=citation_author content='Name{n}, Ann'>" for n in "ABCDEFG")
    assert read(f"{metas}<p>{WORDS}</p>").author == "Ann NameA, Ann NameB, Ann NameC, Ann NameD, Ann NameE"


@pytest.mark.parametrize(
    ("html", "language"),
    [
        ("<html lang=de-AT>", "de-AT"),
        ("<html lang='pt_BR'>", "pt-BR"),
        ("<html lang='<b>'><meta property=og:locale content=fr_FR>", "fr-FR"),
        ("<html>", "en"),  # the language of the text
    ],
)
def test_languages_are_tags(html: str, language: str) -> None:
    assert read(f"{html}<main><p>{WORDS}</p></main>").language == language


def _stated(block: str) -> Document:
    return read(f'<script type="application/ld+json">{block}</script><main><p>{WORDS}</p></main>')


@pytest.mark.parametrize(
    ("block", "author", "day"),
    [
        (
            '{"@graph": [{"@type": "Person", "@id": "#a", "name": "Ada Lovelace"}, '
            '{"@type": "Article", "author": {"@id": "#a"}, "datePublished": ["2024-05-17"]}]}',
            "Ada Lovelace",
            "2024-05-17",
        ),
        (
            '{"@graph": [{"@type": "Article", "author": {"@type": "Person", "@id": "#p", "url": "/p", "image": "/i"}}, '
            '{"@type": "Person", "@id": "#p", "name": "Ada Lovelace"}]}',
            "Ada Lovelace",
            None,
        ),
        (
            '{"@type": "Product", "name": "Kettle", "review": [{"@type": "Review", '
            '"author": {"name": "Buyer Bob"}, "datePublished": "2019-01-01"}]}',
            None,
            None,
        ),
        (
            '[{"@type": "VideoObject", "uploadDate": "2001-01-01"}, '
            '{"@type": "NewsArticle", "datePublished": "2018-01-01"}]',
            None,
            "2018-01-01",
        ),
        (
            '[{"@type": "WebPage", "author": {"@type": "Organization", "name": "The Wire"}}, '
            '{"@type": "NewsArticle", "author": [{"@type": "Person", "name": "Ada Lovelace"}]}]',
            "Ada Lovelace",
            None,
        ),
        ('{"@type": "Article", "author": {"@type": "Organization", "name": "The Wire"}}', "The Wire", None),
    ],
)
def test_author_and_date_are_of_the_page_s_own_work(block: str, author: str | None, day: str | None) -> None:
    found = _stated(block)
    assert found.author == author
    assert (found.published.date().isoformat() if found.published else None) == day


@pytest.mark.parametrize(
    ("block", "author", "day"),
    [
        (
            '[{"@type": "NewsArticle", "headline": "Gulls", "author": "Cy Other", "datePublished": "2019-01-01"}, '
            '{"@type": "NewsArticle", "headline": "Crane repaired", "author": "Ann", "datePublished": "2024-03-04"}]',
            "Ann",
            "2024-03-04",
        ),
        (
            '[{"@type": "Article", "headline": "Gulls", "author": "Cy Other", "datePublished": "2019-01-01"}, '
            '{"@type": "Article", "url": "page", "author": "Ann", "datePublished": "2024-03-04"}]',
            "Ann",
            "2024-03-04",
        ),
        (
            '{"@type": "Article", "name": "Gulls", "url": "/g", "author": "Cy Other", "dateCreated": "2019-01-01"}',
            "Bea Byline",
            None,
        ),
        (
            '{"@type": "Article", "image": {"@type": "ImageObject", "name": "Crane repaired", "author": "Cy Other", '
            '"datePublished": "2011-01-01"}}',
            "Bea Byline",
            None,
        ),
        ('{"@type": "VideoObject", "name": "A harbour", "uploadDate": "2011-01-01"}', "Bea Byline", None),
        ('{"@type": "VideoObject", "name": "Crane repaired", "uploadDate": "2011-01-01"}', "Bea Byline", "2011-01-01"),
    ],
)
def test_other_works_in_the_data_of_a_page_have_their_own_author_and_date(
    block: str, author: str, day: str | None
) -> None:
    head = f'<title>Crane repaired</title><script type="application/ld+json">{block}</script>'
    found = read(f"{head}<main><h1>Crane repaired</h1><p>By Bea Byline</p><p>{WORDS}</p><p>Ann</p></main>")
    assert (found.author, found.published and found.published.date().isoformat()) == (author, day)


@pytest.mark.parametrize(
    ("person", "author"),
    [
        ('{"givenName": "Ada", "familyName": "Lovelace"}', "Ada Lovelace"),
        ('{"name": {"@value": "Ada Lovelace"}}', "Ada Lovelace"),
        ('{"name": [{"@value": "Ada", "@language": "en"}, {"@value": "Ade", "@language": "de"}]}', "Ada"),
        ('[{"name": ["Ada Lovelace", "Bo"]}]', "Ada Lovelace, Bo"),
        ('{"name": {"givenName": "Ada", "familyName": "Lovelace"}}', "Ada Lovelace"),
        ('{"alternateName": "Ada Lovelace"}', "Ada Lovelace"),
        ('{"name": 7}', None),
        ('"Bo"', "Bo"),
        ('"林晓"', "林晓"),
        ('"X1"', None),
    ],
)
def test_names_of_authors_have_several_forms(person: str, author: str | None) -> None:
    assert _stated(f'{{"@type": "Article", "author": {person}}}').author == author


@pytest.mark.parametrize("name", ["QuayPost", "Quay Post Staff", "quaypost.example", "Quaypost net", "Photo Feed"])
@pytest.mark.parametrize(("byline", "author"), [("<p>By Ada Lovelace</p>", "Ada Lovelace"), ("", None)])
def test_a_byline_precedes_a_declared_author_that_is_the_site_or_not_displayed(
    name: str, byline: str, author: str | None
) -> None:
    site = "<meta property=og:site_name content='Quay Post'>"
    found = read(f"{site}<meta name=author content='{name}'><main><h1>T</h1>{byline}<p>{WORDS}</p></main>")
    assert found.author == (author or name)


def test_each_author_of_a_paper_has_a_meta_of_their_own() -> None:
    metas = "".join(f'<meta name="citation_author" content="{name}">' for name in ("Lovelace, Ada", "Ben Oyelaran"))
    assert read(f"<head>{metas}</head><body><h1>T</h1><p>{WORDS}</p></body>").author == "Ada Lovelace, Ben Oyelaran"


def test_several_authors_have_metas_of_their_own_and_photographers_are_not_among_them() -> None:
    names = ("Ada Lovelace", "https://x.example/ada", "Ben Oyelaran", "(Image: Getty)")
    metas = "".join(f'<meta name="author" content="{name}">' for name in names)
    assert read(f"<head>{metas}</head><body><h1>T</h1><p>{WORDS}</p></body>").author == "Ada Lovelace, Ben Oyelaran"


@pytest.mark.parametrize("name", ["undefined", "Name *", "Comment", "Feb", "August", "Sat.", "Field()", ", Site"])
def test_text_in_the_place_of_an_author_must_be_a_name(name: str) -> None:
    page = f"<meta name=author content='{name}'><meta property=og:site_name content=Site><p>{WORDS}</p>"
    assert read(page).author is None


def test_the_author_is_read_without_the_escapes_of_templates() -> None:
    assert read(f"<meta name=author content='Ann &amp;amp; Bob'><p>{WORDS}</p>").author == "Ann & Bob"


@pytest.mark.parametrize(
    "block",
    [
        '{"@type": "Blog", "blogPost": [{"@type": "BlogPosting", "author": {"name": "Ada Lovelace"}, '
        '"datePublished": "2019-01-01"}, {"@type": "BlogPosting"}]}',
        '{"@type": "ItemList", "itemListElement": [{"@type": "ListItem", "item": {"@type": "Article", '
        '"author": "Ada Lovelace", "datePublished": "2019-01-01"}}, {"@type": "ListItem"}]}',
        '{"@type": "QAPage", "mainEntity": {"@type": "Question", "acceptedAnswer": {"@type": "Answer", '
        '"author": {"name": "Ada Lovelace"}, "datePublished": "2019-01-01"}}}',
    ],
)
def test_author_and_date_of_a_work_in_a_list_or_of_an_answer_are_not_the_page_s(block: str) -> None:
    found = _stated(block)
    assert (found.author, found.published) == (None, None)


@pytest.mark.parametrize(
    ("block", "author", "day"),
    [
        (
            '{"@type": "Blog", "blogPost": [{"@type": "BlogPosting", "author": {"name": "Ada Lovelace"}, '
            '"datePublished": "2019-01-01"}]}',
            "Ada Lovelace",
            "2019-01-01",
        ),
        ('{"@type": "JobPosting", "datePosted": "2019-01-01"}', None, "2019-01-01"),
        (
            '{"@type": "RealEstateListing", "datePosted": "2019-02-03", "datePublished": "2019-01-01"}',
            None,
            "2019-01-01",
        ),
    ],
)
def test_a_single_post_and_an_offer_have_their_author_and_date(block: str, author: str | None, day: str) -> None:
    found = _stated(block)
    assert found.author == author
    assert found.published is not None and found.published.date().isoformat() == day


def test_meta_elements_of_a_review_are_ignored() -> None:
    metas = "<meta itemprop=author content='Ada Lovelace'><meta itemprop=datePublished content=2019-01-01>"
    page = f"<main itemscope><p>{WORDS}</p>{{}}</main>"
    own, review = read(page.format(metas)), read(page.format(f"<div itemprop=review itemscope>{metas}</div>"))
    assert (own.author, own.published_source) == ("Ada Lovelace", "meta")
    assert (review.author, review.published) == (None, None)


@hostile_inputs({"metas": (20_000, lambda n: "<div>" * 1_500 + "<meta itemprop=author content=x>" * n)})
def test_metas_deep_in_a_page_are_read_soon(hostile: Hostile[str]) -> None:
    hostile.run(lambda html: page_tree.build_page_tree(page(html)), limit_s=4)


def test_a_paper_s_site_is_its_journal_where_none_is_named() -> None:
    journal = "<meta name=citation_journal_title content='Journal of Nets'>"
    assert read(f"{journal}<h1>Nets</h1><p>{WORDS}</p>").site_name == "Journal of Nets"
    publisher = "<meta property=og:site_name content='Press'>"
    assert read(f"{journal}{publisher}<h1>Nets</h1><p>{WORDS}</p>").site_name == "Press"


@pytest.mark.parametrize("name", ["Agenturen", "agences", "Team", "Newsdesk"])
def test_names_of_nobody_give_way_to_the_publisher(name: str) -> None:
    block = {"@type": "NewsArticle", "author": {"name": name}, "publisher": {"name": "The Daily"}}
    html = f'<head><script type="application/ld+json">{json.dumps(block)}</script></head><body><p>{WORDS}</p>'
    assert read(html).author is None


@pytest.mark.parametrize(("name", "site"), [("tdg.ch/", "tdg.ch"), ("/", None), ("The Daily", "The Daily")])
def test_the_name_of_a_site_is_no_path(name: str, site: str | None) -> None:
    assert read(f"<head><meta property=og:site_name content='{name}'></head><p>{WORDS}</p>").site_name == site


def test_a_date_in_the_text_of_a_list_is_not_that_of_the_list() -> None:
    cards = "".join(
        f'<li class="card"><a href="/p/{n}"><img src="/{n}.jpg"><h3>Copper kettle {n}</h3></a>'
        f'<span class="price">${n}.90</span><button>Add to cart</button></li>'
        for n in range(10, 40)
    )
    html = f"<title>Kettles</title><h1>Kettles</h1><p class=date>May 3, 2011</p><ul class=products>{cards}</ul>"
    document = read(html, url="https://shop.example/collections/kettles")
    assert document.page_type == "collection"
    assert document.published is None
