"""Authors and dates near a headline, in several languages."""

from __future__ import annotations

from itertools import islice

import pytest

from scraper.facts.metadata import metadata
from scraper.html.dom import parsing
from scraper.model import Document
from tests.scraper.extract.snapshots import WORDS, read
from tests.scraper.soon import soon

TEXT = f"<p>{WORDS}</p>"


def article(around: str) -> Document:
    return read(f"<body><nav><a class=author>Nav Igation</a></nav><main>{around}{TEXT}</main></body>")


@pytest.mark.parametrize(
    ("around", "name"),
    [
        ('<h1>T</h1><div class="post-author-name">Ada Lovelace</div>', "Ada Lovelace"),
        ('<h1>T</h1><p class="byline">By <a href="/a">Ada Lovelace</a>, Senior Writer</p>', "Ada Lovelace"),
        (
            '<h1>T</h1><p class="byline">By <a>Ada Lovelace</a> and <a>Ben Oyelaran</a></p>',
            "Ada Lovelace, Ben Oyelaran",
        ),
        ("<h1>T</h1><p class=byline>By Ada Bo, Cy Du and Eve Fox</p>", "Ada Bo, Cy Du and Eve Fox"),
        ("<h1>T</h1><ul class=authors><li class=author>Ada Bo<li class=author>Cy Du</ul>", "Ada Bo, Cy Du"),
        ("<h1>T</h1><b itemprop=author><i itemprop=name>Ada</i>, <i itemprop=name>Bo</i></b>", "Ada, Bo"),
        ("<h1>T</h1><p class=byline>By <a>Ada</a>, <a>Bo</a>, <a>Cy</a> and <a>Eve</a></p>", "Ada, Bo, Cy, Eve"),
        ("<h1>T</h1><div class=byline><b>Ada Bo</b><i>Harbor correspondent</i></div>", "Ada Bo"),
        ("<h1>T</h1><div class=byline><p>Ada Bo</p><p>Harbor correspondent</p></div>", "Ada Bo"),
        ("<h1>T</h1><p class=byline>Text: Ada Bo, Photos: Cy Du</p>", None),
        ("<h1>T</h1><p class=byline>by <a rel=author>JK</a></p>", "JK"),
        ("<h1>T</h1><p class=auteur>Par Anne Le Goff le 3 mai</p>", "Anne Le Goff"),
        ("<h1>T</h1><p>Written by Ada Lovelace on 3 May 2024</p>", "Ada Lovelace"),
        ("<h1>T</h1><p class=byline>Ada Lovelace June 3, 2021</p>", "Ada Lovelace"),
        ("<h1>T</h1><p class=byline>April May, Dec. 3, 2021</p>", "April May"),
        ("<h1>T</h1><p>By Ada Lovelace Sat 3 May</p>", "Ada Lovelace"),
        ("<h1>T</h1><p class=byline>Sat</p>", None),
        ("<h1>T</h1><div><span>Von</span> <a>Änne Größ</a></div>", "Änne Größ"),
        ("<h1>T</h1><span class=author>作者：王小明</span>", "王小明"),
        ("<h1>T</h1><div class=author>بقلم: أحمد علي</div>", "أحمد علي"),
        ("<h1>T</h1><div class=byline>홍길동 기자</div>", "홍길동"),
        ("<h1>T</h1><span class=author>โดย สมชาย ใจดี</span>", "สมชาย ใจดี"),
        ("<h1>T</h1><span class=author>लेखक: राम शर्मा</span>", "राम शर्मा"),
        ("<h1>T</h1><p class=author><a><span>Post</span></a> by <b>driver1</b></p>", None),
        ("<h1>T</h1><p>By the time it rained we had left</p>", None),
        ('<h1>T</h1><p class="author-bio">Ada Lovelace</p>', None),
        ('<h1>T</h1><p class="authorization">Ada Lovelace</p>', None),
        ("<h1>T</h1>", None),
    ],
)
def test_a_byline_is_read_near_the_headline(around: str, name: str | None) -> None:
    assert article(around).author == name


@pytest.mark.parametrize(
    ("around", "date"),
    [
        ("<h1>T</h1><p>May 17, 2024</p>", "2024-05-17"),
        ("<h1>T</h1><p class=meta>Joined: May 3, 2011</p><p class=date>May 17, 2024</p>", "2024-05-17"),
        ("<h1>T</h1><dl><dt>Registriert</dt><dd class=date>3. Mai 2011</dd></dl>", None),
        ('<h1>T</h1><p class="meta">Von Ada, 17. Mai 2024 um 10 Uhr</p>', "2024-05-17"),
        ("<h1>T</h1><time>17 février 2024</time>", "2024-02-17"),
        ("<span>2024年5月17日</span><h1>T</h1>", "2024-05-17"),
        ("<h1>T</h1><p>Updated May 20, 2024</p><p>Published May 17, 2024</p>", "2024-05-17"),
        ("<h1>T</h1><p>Updated May 20, 2024. Published May 17, 2024</p>", "2024-05-17"),
        ("<h1>T</h1><p>Publicado: 17 de mayo de 2024. Actualizado: 20 de mayo de 2024</p>", "2024-05-17"),
        ("<h1>T</h1><p class=date>更新日：2024年5月20日　公開日：2024年5月17日</p>", "2024-05-17"),
        ("<h1>T</h1><p class=date>Mis à jour le 20 mai 2024</p><p class=date>17 mai 2024</p>", "2024-05-17"),
        ("<h1>T</h1><span class=date title='2024-05-17T10:00:00Z'>2 days ago</span>", "2024-05-17"),
        ("<h1>T</h1><span class=date>17 ต.ค. 2567</span>", "2024-10-17"),
        ("<h1>T</h1><p>Updated May 20, 2024</p>", "2024-05-20"),
        ("<h1>T</h1><p>Updated May 20, 2024</p><p>Modified June 1, 2024</p>", "2024-05-20"),
        ("<h1>T</h1><aside><p class=date>May 20, 2024</p></aside>", None),
        ("<h1>T</h1><blockquote><p>So.</p>- Club <a>May 20, 2024</a></blockquote>", None),
        ("<h1>T</h1><nav><p class=date>May 20, 2024</p></nav>", None),
        ("<h1>T</h1><p>03/04/2024</p>", None),
        ("<h1>T</h1>", None),
    ],
)
def test_a_date_is_read_near_the_headline_and_of_several_the_publication(around: str, date: str | None) -> None:
    found = article(around)
    assert (found.published.date().isoformat() if found.published else None) == date
    assert found.published_source == ("text" if date else None)


def test_author_and_date_far_below_the_headline_are_ignored() -> None:
    later = "<p>words</p>" * 200
    assert article(f"<h1>T</h1>{later}<p class=author>Ada Lovelace</p><p>May 17, 2024</p>").published is None


def test_elements_called_author_in_each_other_are_read_soon() -> None:
    links = "<a href=x>one of many links</a>" * 5_000
    body = parsing.parse_html("<h1>T</h1>" + "<div class=author>" * 100 + links).root
    assert body is not None
    near = list(islice(body.iter("*"), 130))
    with soon():
        assert list(metadata.find_author_names(near)) == []
