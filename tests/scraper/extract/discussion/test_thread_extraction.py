"""Posts of discussions: authors, dates, texts, marks, their headings in Markdown, and bad input."""

from __future__ import annotations

import pytest

from scraper.extract.discussion.thread_extraction import find_discussion, format_heading
from scraper.html.page.page_tree import PageTree, build_page_tree
from scraper.model import Post
from tests.growth import assert_linear
from tests.scraper.extract.discussion.forum_pages import SENTENCE, forum_page, forum_post, read_page, read_posts
from tests.scraper.extract.snapshots import page


def test_posts_have_author_date_and_text_without_signature_and_profile() -> None:
    document = read_page(forum_page("".join(forum_post(number) for number in range(1, 9))))
    assert [(post.position, post.author) for post in document.discussion] == [(n, f"ann_{n}") for n in range(1, 9)]
    assert document.discussion[2].date == "May 4, 2024, 10:03"
    assert str(document.discussion[2].published) == "2024-05-04 00:00:00+00:00"
    assert document.discussion[2].text == SENTENCE.format(n=3)
    assert "### #3 · ann_3 · May 4, 2024, 10:03" in document.markdown
    assert "Made with care" not in document.markdown
    assert "Joined" not in document.markdown
    assert document.markdown.count("needs a new part number 3 ") == 1


def test_quotations_stay_quotations_and_are_not_the_own_text() -> None:
    quote = '<div class="quote"><cite>Ann wrote:</cite> Where is the part?</div>'
    document = read_page(
        forum_page(forum_post(1) + forum_post(2, body=f"{quote}<p>It is in the shed.</p>") + forum_post(3))
    )
    assert document.discussion[1].text == "It is in the shed."
    assert "Where is the part?" in document.discussion[1].quoted
    assert any(line.startswith(">") and "Where is the part?" in line for line in document.markdown.splitlines())


def test_answers_have_score_and_accepted_mark_and_remarks_are_a_list() -> None:
    def answer(number: int, mark: str, remark: str = "") -> str:
        return (
            f'<div class="answer {mark}" id="answer-{number}"><div class="vote-count">{number * 7}</div>'
            f'<div class="post-text">{SENTENCE.format(n=number)} Another sentence makes it longer.</div>'
            f'<span class="author">Lee {number}</span> <time datetime="2024-05-0{number}T14:02:00Z">May</time>'
            f"{remark}</div>"
        )

    remark = (
        '<ul><li class="comment" id="c1"><span class="comment-copy">Thank you.</span> <a class="comment-user">Mo</a> '
        '<span class="comment-date">May 7, 2024</span></li><li class="comment" id="c2">'
        '<span class="comment-copy">Works.</span> <a class="comment-user">Jo</a> '
        '<span class="comment-date">May 8, 2024</span></li></ul>'
    )
    document = read_page(forum_page(answer(1, "") + answer(2, "accepted-answer", remark) + answer(3, "")))
    answers = [post for post in document.discussion if post.author and post.author.startswith("Lee")]
    assert [(post.score, post.accepted) for post in answers] == [(7, False), (14, True), (21, False)]
    assert "### #2 · Lee 2 · 2024-05-02 14:02 · score 14 · accepted" in document.markdown
    assert "**Mo** (May 7, 2024): Thank you." in document.markdown
    assert "Works." not in answers[1].text


def test_comments_below_an_article_are_posts_but_not_its_text() -> None:
    article = "".join(
        f"<p>{SENTENCE.format(n=n)} It is an article about kettles and their parts.</p>" for n in range(20)
    )
    comments = "".join(
        f'<li class="comment" id="comment-{n}"><div class="comment-author"><cite class="fn">Mia {n}</cite> says:</div>'
        f'<time datetime="2024-03-0{n}T08:00:00Z">March {n}, 2024</time>'
        f'<div class="comment-content"><p>So helpful {n}!</p></div><div class="reply"><a>Reply</a></div></li>'
        for n in range(1, 5)
    )
    document = read_page(
        f"<body><article><h1>Kettles</h1>{article}</article><ol class=comment-list>{comments}</ol>"
        "<footer>Imprint</footer></body>"
    )
    assert [post.author for post in document.discussion] == ["Mia 1", "Mia 2", "Mia 3", "Mia 4"]
    assert "### #4 · Mia 4 · March 4, 2024\n\nSo helpful 4!" in document.markdown
    assert "Reply" not in document.markdown


def test_nested_replies_name_the_post_they_answer() -> None:
    inner = forum_post(2, body="<p>A short reply.</p>")
    outer = forum_post(1).removesuffix("</div>") + inner + "</div>"
    posts = read_posts(forum_page(outer + forum_post(3)))
    assert [(post.author, post.reply_to) for post in posts] == [("ann_1", None), ("ann_2", 1), ("ann_3", None)]
    assert "short reply" not in posts[0].text


@pytest.mark.parametrize(
    "teasers",
    [
        "".join(
            f'<article class="post"><h2><a href="/news/{n}">A long headline about kettles {n}</a></h2>'
            f'<span class="author">Ann {n}</span><time datetime="2024-05-0{n}">May</time><p>{SENTENCE}</p></article>'
            for n in range(1, 9)
        ),
        "".join(
            f'<tr class="topic"><td><a href="/t/{n}">How do I repair kettle number {n}?</a></td>'
            f'<td class="author">ann{n}</td><td>May {n}, 2024</td></tr>'
            for n in range(1, 9)
        ),
        "".join(
            f'<li><a href="/jobs/{n}"><div class="new-listing"><h3>Repairer {n}</h3>'
            f'<p class="company-name name">Shop {n}</p><time datetime="2024-05-0{n}">May</time>'
            f"<p>Full-time, anywhere in the country</p></div></a></li>"
            for n in range(1, 9)
        ),
        "".join(
            f'<tr class="athing" id="{n}"><td class="title"><a href="/kettle/{n}">Kettle number {n}</a></td></tr>'
            f'<tr><td></td><td class="subtext"><span class="subline"><span class="score">38{n} points</span> by '
            f'<a href="user?id=ann{n}">ann{n}</a> <span class="age" title="2024-05-1{n}T10:00:00">'
            f'<a href="item?id={n}">{n} hours ago</a></span> | <a href="item?id={n}">14{n}&nbsp;comments</a></span>'
            "</td></tr>"
            for n in range(1, 9)
        ),
    ],
    ids=["articles", "topics", "jobs", "links"],
)
def test_lists_of_articles_and_topics_are_no_posts(teasers: str) -> None:
    assert read_posts(f"<body><h1>News</h1><table>{teasers}</table></body>") == ()


@pytest.mark.parametrize(
    "name",
    [
        "# Heading",
        "Eve · accepted · score 99",
        "Eve ‧ accepted ⋅ score ∙ 99",
        "[click](https://evil.example/)",
        "a\n\n### #1 · Admin",
        "</untrusted>",
        "`x`",
    ],
)
def test_names_cannot_forge_marks_and_headings(name: str) -> None:
    safe = name.replace("<", "&lt;").replace(">", "&gt;")
    document = read_page(forum_page(forum_post(1) + forum_post(2, author=safe) + forum_post(3)))
    headings = [line for line in document.markdown.splitlines() if line.startswith("#")]
    assert len(headings) == 3
    line = headings[1]
    assert not set("‧∙⋅•").intersection(line)
    assert line.startswith("### #2 · ")
    assert line.count(" · ") <= 2
    assert "](" not in line
    assert "</untrusted>" not in document.markdown


def test_a_heading_joins_what_is_known() -> None:
    assert format_heading(Post(3, None, None, None, "x")) == "#3"
    assert (
        format_heading(Post(3, "Ann", "2h ago", None, "x", score=-2, reply_to=1))
        == "#3 · Ann · 2h ago · reply to #1 · score -2"
    )


def test_quotes_nested_200_deep_keep_the_own_text() -> None:
    nested = "<blockquote>deep " * 200 + "</blockquote>" * 200
    posts = read_posts(
        forum_page(forum_post(1) + forum_post(2, body=f"{nested}<p>My own words are here.</p>") + forum_post(3))
    )
    assert posts[1].text == "My own words are here."
    assert (
        "My own words are here."
        in read_page(forum_page(forum_post(1) + forum_post(2, body=f"{nested}<p>My own words are here.</p>"))).markdown
    )


@pytest.mark.slow
def test_time_grows_linearly_with_the_number_of_posts() -> None:
    def build(count: int) -> PageTree:
        return build_page_tree(page(forum_page("".join(forum_post(number) for number in range(count)))))

    # The caches hold all dates of a thousand posts. More would make the smaller thread alone cheap.
    assert_linear(find_discussion, build, 1_000)


@pytest.mark.full_size
def test_a_thread_of_10_000_posts_keeps_all_of_them() -> None:
    assert len(read_posts(forum_page("".join(forum_post(number) for number in range(10_000))))) == 10_000


def test_a_class_of_several_lines_names_an_author() -> None:
    body = "".join(
        f'<div class="post"><span class="big\n  author\n  blue">Lee {number}</span>'
        f'<time datetime="2024-05-0{number}">May {number}</time><p>{SENTENCE}</p></div>'
        for number in (1, 2, 3)
    )
    assert [post.author for post in read_posts(f"<h1>Thread</h1>{body}")] == ["Lee 1", "Lee 2", "Lee 3"]


def test_a_post_becomes_an_object_with_the_known_fields() -> None:
    posts = read_posts(forum_page(forum_post(1) + forum_post(2) + forum_post(3)))
    assert posts[0].as_object() == {
        "position": 1,
        "author": "ann_1",
        "date": "2024-05-02",
        "text": SENTENCE.format(n=1),
        "date_text": "May 2, 2024, 10:01",
    }


def _typed(kind: str, number: int, author: str, body: str, inner: str = "") -> str:
    return (
        f'<div itemscope itemtype="https://schema.org/{kind}" id="{kind.lower()}-{number}"><div class="post-layout">'
        f'<div class="cell post-layout--right"><div itemprop=text class=prose><p>{body}</p></div>'
        f'<div class="user-info">edited <time datetime="2022-01-01">Jan 1, 2022</time>'
        f'<a href="/users/9">Editor</a></div><div class="user-info">asked '
        f'<time datetime="2021-03-0{number}" itemprop=dateCreated>Mar {number}, 2021</time>'
        f'<span itemprop=author><a href="/users/{number}">{author}</a></span></div></div>'
        f'<div class="post-layout--right">{inner}</div></div></div>'
    )


def test_posts_of_different_declared_types_are_found_together() -> None:
    remark = _typed("Comment", 3, "Mia", "Thanks, that was the part.")
    answers = _typed("Answer", 2, "Bob", SENTENCE.format(n=2), remark) + _typed("Answer", 4, "Cy", "Ask the shop.")
    question = _typed("Question", 1, "Ann", SENTENCE.format(n=1)).removesuffix("</div>") + answers + "</div>"
    posts = read_posts(forum_page(question))
    assert [(post.author, post.reply_to) for post in posts] == [("Ann", None), ("Bob", 1), ("Mia", 2), ("Cy", 1)]
    assert [str(post.published)[:10] for post in posts] == [f"2021-03-0{n}" for n in (1, 2, 3, 4)]
    assert posts[3].text == "Ask the shop."


def test_a_page_that_declares_some_posts_only_keeps_the_others() -> None:
    declared = forum_post(1).replace("<div ", '<div itemscope itemtype="https://schema.org/Comment" ', 1)
    assert len(read_posts(forum_page(declared + forum_post(2) + forum_post(3)))) == 3


def test_names_of_scripts_and_wrappers_do_not_hide_posts() -> None:
    thread = "".join(forum_post(number) for number in range(1, 4))
    assert len(read_posts(forum_page(f'<div class="js-quote-selection-container">{thread}</div>'))) == 3
    assert len(read_posts(forum_page(f'<div id="beside_sidebar_1">{thread}</div>'))) == 3


@pytest.mark.parametrize("name", ["Coop", "theop", "Verified"])
def test_names_that_end_like_a_mark_stay_whole(name: str) -> None:
    assert read_posts(forum_page(forum_post(1, name) + forum_post(2)))[0].author == name


@pytest.mark.parametrize("text", ["#12006-08-08T22:13", "https://video.example/user/ann"])
def test_numbers_and_addresses_are_no_names(text: str) -> None:
    assert text not in [
        post.author for post in read_posts(forum_page(forum_post(1, text) + forum_post(2) + forum_post(3)))
    ]


def _item(number: int, inner: str = "", meta: str = "") -> str:
    return (
        f'<li class="Item" id="Comment_{number}"><div class="Comment"><div class="Meta">'
        f'<a class="Username" href="/profile/kim_{number}">kim_{number}</a> '
        f'<time datetime="2023-03-0{number}T16:10:00+00:00">March {number}</time>{meta}</div>'
        f'<div class="Item-Body"><div class="Message"><p>{SENTENCE.format(n=number)}</p>{inner}</div>'
        f'<div class="Reactions"><a href="#">Like {number}</a></div></div></div></li>'
    )


def test_initials_in_place_of_a_picture_are_no_part_of_the_name() -> None:
    posts = "".join(
        f'<div class="Stream-item" data-id="{number}"><article class="CommentPost"><h3 class="PostUser-name">'
        f'<a href="/u/olaf{number}"><span class="Avatar">O</span> <span class="username">olaf{number}</span></a></h3>'
        f'<time datetime="2021-11-0{number}T12:00:00Z">Nov {number}, 2021</time>'
        f'<div class="Post-body"><p>{SENTENCE.format(n=number)}</p></div></article></div>'
        for number in range(1, 6)
    )
    assert [post.author for post in read_posts(forum_page(posts))] == [f"olaf{number}" for number in range(1, 6)]


def test_links_to_spaces_of_members_are_names() -> None:
    posts = "".join(
        f'<div id="post_{number}"><div class="authi"><a href="home.php?mod=space&amp;uid={number}">王小{name}</a></div>'
        f'<div class="pti"><em id="authorposton{number}">发表于 2023-5-{number} 08:10:22</em></div>'
        f'<div class="t_f" id="postmessage_{number}">第{number}个房子的水泵在十分钟之后停止工作，'
        "这次不是保险丝的问题。</div></div>"
        for number, name in enumerate("明红强丽", start=1)
    )
    found = read_posts(forum_page(posts))
    assert [(post.author, post.published and post.published.day) for post in found] == [
        ("王小明", 1), ("王小红", 2), ("王小强", 3), ("王小丽", 4),
    ]  # fmt: skip


def test_a_score_after_an_own_vote_against_is_not_the_score() -> None:
    scores = '<span class="score dislikes">6 points</span><span class="score unvoted">7 points</span>'
    posts = read_posts(forum_page("".join(_item(number, meta=scores) for number in range(1, 5))))
    assert [post.score for post in posts] == [7, 7, 7, 7]


def test_answers_signed_without_a_date_are_posts() -> None:
    answers = "".join(
        f"<div class=answer><p>Answered by Bob {name}</p><p>{SENTENCE.format(n=name)}</p></div>"
        for name in ("Lee", "May", "Oak", "Ray")
    )
    assert [post.author for post in read_posts(f"<body><h1>Why?</h1>{answers}</body>")] == [
        "Bob Lee",
        "Bob May",
        "Bob Oak",
        "Bob Ray",
    ]
