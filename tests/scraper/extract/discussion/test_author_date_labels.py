"""Names and dates of posts in boards, shops and mail archives that name them in their own ways."""

from __future__ import annotations

import pytest

from scraper.extract.discussion.thread_extraction import find_discussion
from scraper.facts.metadata.written_dates import find_written_date
from scraper.html.page.page_tree import build_page_tree
from scraper.model import Post
from tests.scraper.extract.snapshots import page

_NAMES = ("Ann Lee", "Bob Miller", "Dmitri")
_TEXTS = (
    "The kettle in the kitchen needs a new part before the winter, and nobody sells it around here.",
    "I bought mine from the hardware store on Main Street, and it took three days to arrive.",
    "The printed part fits perfectly, and the kettle is working again since this morning.",
)


def _posts(template: str) -> tuple[Post, ...]:
    """Return the posts of a page with three copies of the template."""
    filled = "".join(
        template.replace("NAME", name).replace("TEXT", text).replace("NUMBER", str(number))
        for number, (name, text) in enumerate(zip(_NAMES, _TEXTS, strict=True), start=1)
    )
    return find_discussion(build_page_tree(page(f"<body><h1>Kettle</h1><div>{filled}</div></body>"))).posts


@pytest.mark.parametrize(
    "template",
    [
        '<div class="item"><p>TEXT</p><span>Asked by NAME on May NUMBER, 2021</span></div>',
        '<div class="item"><p>TEXT</p><small>By NAME, May NUMBER, 2021</small></div>',
        '<div class="item"><p>TEXT</p><p class="s">Gefragt von NAME am NUMBER. Mai 2021</p></div>',
        '<div class="item"><p>TEXT</p><p class="s">Demandé par NAME le NUMBER mai 2021</p></div>',
        '<div class="msg"><ul><li><em>From</em>: NAME &lt;x@example.org&gt;</li><li><em>To</em>: list@example.org</li>'
        "<li><em>Date</em>: Wed, NUMBER May 2021 10:00:00 +0200</li></ul><pre>TEXT</pre></div>",
        '<div class="msg"><table><tr><th>From:</th><td>NAME (x at example.org)</td></tr>'
        "<tr><th>Date:</th><td>NUMBER May 2021</td></tr></table><pre>TEXT</pre></div>",
        "<section><dl><dt>Von</dt><dd>NAME</dd><dt>Datum</dt><dd>0NUMBER.05.2021</dd></dl><p>TEXT</p></section>",
    ],
)
def test_lines_of_name_and_date_and_headers_of_mails_are_read(template: str) -> None:
    posts = _posts(template)
    assert [post.author for post in posts] == list(_NAMES)
    assert [post.text for post in posts] == list(_TEXTS)
    assert [post.published and post.published.date().isoformat() for post in posts] == [
        f"2021-05-0{number}" for number in (1, 2, 3)
    ]


@pytest.mark.parametrize(
    "date",
    [
        '<span class="age" title="2024-05-0NUMBERT10:20:00 1714557600"><a href="#i">NUMBER hours ago</a></span>',
        '<span title="2024-05-0NUMBER 10:20:00">NUMBER hours ago</span>',
    ],
)
def test_a_relative_date_has_the_time_that_its_title_states(date: str) -> None:
    posts = _posts(
        f'<div class="comment"><a class="author" href="/u/x">NAME</a> {date}<div class="text">TEXT</div></div>'
    )
    assert [post.published and post.published.isoformat()[:16] for post in posts] == [
        f"2024-05-0{number}T10:20" for number in (1, 2, 3)
    ]
    assert posts[0].date == "1 hours ago"


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("By Bob Miller, May 2, 2019", "May 2, 2019"),
        ("Martin Torres 2 May 2019", "2 May 2019"),
        ("Sam May 2, 2019", "May 2, 2019"),
        ("Sunday, May 2, 2019", "Sunday, May 2, 2019"),
        ("quarta-feira, 2 de maio de 2019", "quarta-feira, 2 de maio de 2019"),
        ("среда, 2 мая 2019", "среда, 2 мая 2019"),
        ("mié. 2 may 2019", "mié. 2 may 2019"),
    ],
)
def test_only_days_of_the_week_belong_to_a_date(text: str, written: str) -> None:
    found = find_written_date(text)
    assert found is not None
    assert found[0] == written


def test_the_score_of_a_custom_element_is_read() -> None:
    posts = _posts(
        '<x-comment author="NAME" score="4NUMBER"><time datetime="2024-05-0NUMBERT10:00:00Z">old</time>'
        '<div class="md"><p>TEXT</p></div></x-comment>'
    )
    assert [post.score for post in posts] == [41, 42, 43]
