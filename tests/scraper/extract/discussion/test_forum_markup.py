"""Posts in the markup of certain forum software: texts, quotations, scores, dates and opening posts."""

from __future__ import annotations

import pytest

from tests.scraper.extract.discussion.forum_pages import SENTENCE, forum_page, forum_post, read_page, read_posts


def test_blockquote_around_the_whole_text_is_no_quotation() -> None:
    text = '<blockquote class="postcontent restore">{}</blockquote>'
    quote = '<div class="bbcode_quote"><div class="message">Where is it?</div></div>'
    posts = read_posts(
        forum_page(
            forum_post(1, body=text.format("Where is it?")) + forum_post(2, body=text.format(quote + "In the shed."))
        )
    )
    assert [(post.text, post.quoted) for post in posts] == [("Where is it?", ""), ("In the shed.", "Where is it?")]


@pytest.mark.parametrize(
    ("score", "value"),
    [
        ('<button><span aria-label="31 votes">31</span></button>', 31),
        ('<a class="upvoter">1,204</a>', 1204),
        ('<a class="vote-up count-3"><span class="count" data-role="likes">3</span></a>', 3),
        ('<span class="post-likes">12 Likes</span>', 12),
        ('<span aria-label="7 replies">7</span>', None),
    ],
)
def test_score_in_labels_and_roles(score: str, value: int | None) -> None:
    body = "{0}<div class=content>{1}</div>"
    posts = read_posts(
        forum_page("".join(forum_post(n, body=body.format(score, SENTENCE.format(n=n))) for n in (1, 2)))
    )
    assert [post.score for post in posts] == [value, value]


def test_date_in_the_title_of_a_time() -> None:
    def mail(number: int) -> str:
        return (
            f'<div class="email" id="m{number}"><span class="name"><a href="/users/{number}/">Ann {number}</a></span>'
            f'<div class="time"><span title="Sender\'s time: March {number}, 2024, 10:00 a.m.">10:00</span></div>'
            f'<div class="email-body"><p>{SENTENCE.format(n=number)}</p></div></div>'
        )

    posts = read_posts(forum_page(mail(1) + mail(2)))
    assert [(post.author, str(post.published)[:10]) for post in posts] == [
        ("Ann 1", "2024-03-01"),
        ("Ann 2", "2024-03-02"),
    ]


def test_opening_post_in_a_custom_element() -> None:
    def part(tag: str, number: int, inner: str = "") -> str:
        return (
            f'<{tag} author="ann{number}" score="{number}">{inner}<a href="/user/ann{number}">ann{number}</a> '
            f'<time datetime="2024-05-0{number}T10:00:00Z">May</time>'
            f'<div class="md"><p>{SENTENCE.format(n=number)}</p></div></{tag}>'
        )

    opening = part("forum-post", 1, "<h1>Kettle repair</h1>")
    assert "# Kettle repair\n\n### #1 · ann1" in read_page(f"<main>{opening}</main>").markdown
    assert not read_posts(part("forum-post", 1).replace(SENTENCE.format(n=1), "<a href=/r/tea>r/tea</a>"))
    posts = read_posts(forum_page(opening + part("forum-comment", 2) + part("forum-comment", 3)))
    assert [(post.author, post.score) for post in posts] == [("ann1", 1), ("ann2", 2), ("ann3", 3)]


def test_boxes_about_authors_and_lists_of_readers_who_like_a_post_are_no_posts() -> None:
    def post(number: int) -> str:
        date = f'<time datetime="2024-05-0{number}T10:00:00Z"><span class="date">May {number}, 2024</span></time>'
        name = f'<a href="/user/{number}">ann{number}</a>'
        return (
            f'<article class="cPost" id="c{number}"><h3 class="author">{name}</h3>{date}'
            f'<aside class="comment_author"><strong>{name}</strong><ul><li>Scholar</li>'
            f'<li><time datetime="2020-01-0{number}">January {number}, 2020</time></li></ul></aside>'
            f'<div class="comment_wrap">{date}<div class="content">{SENTENCE.format(n=number)}</div>'
            f'<ul class="reactionsbar"><li><a href="/user/bob">bob{number}</a></li></ul></div></article>'
        )

    posts = read_posts(forum_page(post(1) + post(2) + post(3)))
    assert [(post.author, post.text) for post in posts] == [(f"ann{n}", SENTENCE.format(n=n)) for n in (1, 2, 3)]


def test_short_replies_to_a_declared_opening_post_have_headings() -> None:
    def part(kind: str, number: int, text: str, inner: str = "") -> str:
        return (
            f'<div itemscope itemtype="http://schema.org/{kind}">'
            f'<span itemprop="author">ann{number}</span> '
            f'<time itemprop="datePublished" datetime="2024-05-0{number}T10:00:00Z">May</time>'
            f'<div itemprop="text">{text}</div>{inner}</div>'
        )

    replies = part("Comment", 2, "Yes, it is sold out.") + part("Comment", 3, "Thank you very much.")
    markdown = read_page(forum_page(part("DiscussionForumPosting", 1, SENTENCE.format(n=1) * 3, replies))).markdown
    assert [line[:11] for line in markdown.splitlines() if "###" in line] == [
        "### #1 · an",
        "### #2 · an",
        "### #3 · an",
    ]


def test_thread_in_a_table_keeps_its_headings() -> None:
    posts = "".join(forum_post(number, body="In the shed.") for number in (1, 2))
    html = f"<table><tr><td><b>Kettle repair</b></td></tr><tr><td>{posts}</td></tr></table>"
    lines = read_page(forum_page(html)).markdown.splitlines()
    assert "### #1 · ann_1 · May 2, 2024, 10:01" in lines
    assert "### #2 · ann_2 · May 3, 2024, 10:02" in lines


def test_short_thread_in_side_elements_keeps_its_posts() -> None:
    html = "".join(
        f'<article class="post" id="p{n}"><aside><a class="username" href="/u/{n}">ann{n}</a></aside>'
        f'<aside class="main"><time datetime="2024-05-0{n}">May</time><div class="content">{SENTENCE.format(n=n)}</div>'
        "</aside></article>"
        for n in (1, 2)
    )
    document = read_page(f"<title>Kettle</title><main><h1>Kettle</h1>{html}</main>")
    assert [post.author for post in document.discussion] == ["ann1", "ann2"]
    assert SENTENCE.format(n=2) in document.markdown
