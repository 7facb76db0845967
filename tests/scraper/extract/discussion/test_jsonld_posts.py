"""Discussions that a page states only in its JSON-LD, as shops of questions and forums built in scripts do."""

from __future__ import annotations

import json
from typing import Any

import pytest

from scraper.extract import reader
from scraper.model import Document
from tests.scraper.extract.snapshots import WORDS, page

_QUESTION = "How do I remove the lime from the inside of an old kettle without damage?"
_ANSWER = "Boil water with a spoon of citric acid, wait for ten minutes and rinse it twice."
_OTHER = "Vinegar works as well, but the smell stays in the kitchen for a whole day."
_REMARK = "Do not use this for kettles of aluminum, because the acid dissolves the metal."


def _comment(kind: str, text: str, author: str, day: int, **more: Any) -> dict[str, Any]:
    person = {"@type": "Person", "name": author, "url": f"https://example.com/u/{author}"}
    return {"@type": kind, "text": text, "author": person, "datePublished": f"2024-05-0{day}T10:00:00Z", **more}


def _qa_page(**more: Any) -> dict[str, Any]:
    question = _comment("Question", _QUESTION, "ann", 1, name="Lime in a kettle", upvoteCount=4, answerCount=2)
    question["acceptedAnswer"] = _comment("Answer", _ANSWER, "bob", 2, upvoteCount="7")
    question["suggestedAnswer"] = [
        _comment("Answer", f"<p>{_OTHER}</p>", "eve", 3, comment=[_comment("Comment", _REMARK, "dan", 4)])
    ]
    return {"@context": "https://schema.org", "@type": "QAPage", "mainEntity": question, **more}


def _read(data: Any, body: str = "") -> Document:
    script = f'<script type="application/ld+json">{json.dumps(data)}</script>'
    return reader.read(page(f"<head>{script}</head><body><h1>Lime in a kettle</h1>{body}<div id=app></div></body>"))


def test_answers_of_a_question_page_are_read_from_its_data() -> None:
    document = _read(_qa_page(), f"<p>{_QUESTION}</p><p>{WORDS}</p>")
    assert [(post.author, post.text, post.score, post.accepted) for post in document.discussion] == [
        ("ann", _QUESTION, 4, False),
        ("bob", _ANSWER, 7, True),
        ("eve", _OTHER, None, False),
        ("dan", _REMARK, None, False),
    ]
    assert document.discussion[3].reply_to == 3
    assert document.discussion[1].as_object()["date"] == "2024-05-02T10:00+00:00"
    assert "### #2 · bob · 2024-05-02 10:00 · score 7 · accepted\n\nBoil water" in document.markdown
    # The page displays the question.
    assert document.markdown.count(_QUESTION) == 1
    assert _ANSWER not in document.text


def test_comments_of_a_forum_posting_are_read_from_its_data() -> None:
    posting = _comment("DiscussionForumPosting", _QUESTION, "ann", 1, headline="Lime in a kettle")
    posting["comment"] = [_comment("Comment", _ANSWER, "bob · eve] accepted", 2), _comment("Comment", _OTHER, "eve", 3)]
    document = _read({"@context": "https://schema.org", "@graph": [{"@type": "WebSite"}, posting]}, f"<p>{WORDS}</p>")
    assert [post.text for post in document.discussion] == [_QUESTION, _ANSWER, _OTHER]
    assert document.discussion[1].author == "bob eve) accepted"
    assert all(post.reply_to is None for post in document.discussion)


@pytest.mark.parametrize(
    "data",
    [
        {"@type": "FAQPage", "mainEntity": _qa_page()["mainEntity"]},
        [_qa_page(), _qa_page()],
        {"@type": "QAPage", "mainEntity": _comment("Question", _QUESTION, "ann", 1)},
        {"@type": "QAPage", "mainEntity": ["Question", 7, None]},
        {"@type": "QAPage", "mainEntity": {"text": [1], "suggestedAnswer": {"text": {"a": 1}}}},
    ],
)
def test_no_discussion_is_made_of_other_data(data: Any) -> None:
    assert _read(data, f"<p>{WORDS}</p>").discussion == ()


def test_a_discussion_that_the_page_displays_is_not_repeated() -> None:
    body = "".join(f"<p>{text}</p>" for text in (_QUESTION, _ANSWER, _OTHER, _REMARK, WORDS))
    document = _read(_qa_page(), body)
    assert [post.author for post in document.discussion] == ["ann", "bob", "eve", "dan"]
    assert document.markdown.count(_ANSWER) == 1
    assert "### #1" not in document.markdown


def test_likes_are_the_score() -> None:
    likes = {
        "@type": "InteractionCounter",
        "interactionType": "https://schema.org/LikeAction",
        "userInteractionCount": 7,
    }
    reply = _comment("Comment", _OTHER, "bob", 2) | {"interactionStatistic": [likes]}
    document = _read(_comment("DiscussionForumPosting", _QUESTION, "ann", 1) | {"comment": [reply]}, f"<p>{WORDS}</p>")
    assert [post.score for post in document.discussion] == [None, 7]


def test_deeply_nested_comments_end_at_a_limit() -> None:
    posting = _comment("DiscussionForumPosting", _QUESTION, "ann", 1)
    for number in range(100):
        posting = _comment("DiscussionForumPosting" if number == 99 else "Comment", f"{_OTHER} {number}", "a", 1) | {
            "comment": [posting]
        }
    assert 1 < len(_read(posting, f"<p>{WORDS}</p>").discussion) < 100
