"""The report of missing languages has every topic, and no topic loses a language."""

from __future__ import annotations

import pytest

from devtools import language_gaps

_LANGUAGES = {
    "blocks": "cs da de en es fr it ja ko nl no pl pt ru sv tr zh",
    "byline": "ar cs da de el en es fa fi fr he hi hu id it ja ko nl no pl pt ro ru sv th tr uk vi zh",
    "calendar": "af ar az be bg bn ca cs da de el en es et fa fi fil fr gl gu he hi hr hu hy id is it ka kk kn lt lv "
    "mk ml mr ms nl no pa pl pt ro ru sk sl sq sr sv sw ta te th tr uk ur uz",
    "currencies": "ar bg cs fa hr ja kk mk pl ro ru sr th uk zh",
    "date_labels": "de en es fr it nl pl ru",
    "dates": "cs da de el en es fa fi fr he hi hy it ja ko lt ml nl no pl pt ro ru sv te th tr uk vi zh",
    "headings": "ar bg bn ca cs da de el en es et fa fi fil fr he hi hr hu id it ja ko lt lv nl no pl pt ro ru sk sl "
    "sr sv sw ta te th tr uk ur vi zh",
    "language": "af ar be bg ca cs da de el en es et eu fa fi fr he hi hr hu id is it ja kk ko lt lv mk nb nl no pl "
    "pt ro ru sk sl sq sr sv sw th tl tr uk vi zh",
    "links": "de en es fr it ja nl pt ru zh",
    "noise": "da de en es fr it ja ko nl no pl pt ru sv zh",
    "posts": "cs da de en es fr it ja nl no pl pt ru sv zh",
    "recipe": "ar bg ca cs da de el en es et fa fi fr he hi hr hu id it ja ko lt lv nl no pl pt ro ru sk sl sv th tr "
    "uk vi zh",
    "search": "ar da de el en es fr hi it ja ko nl pl pt ro ru tr vi zh",
    "shop": "ar bg cs da de el en es et fa fi fr he hr hu id it ja ko lt lv nl no pl pt ro ru sk sl sv th tr uk vi zh",
    "stop_words": "ar de el en es fr hi it nl pt ro ru tr vi",
    "tasks": "de en es fr it ja nl pt ru zh",
}
"""Languages that each topic has at least. A new topic needs a row, a new language does not."""


def test_each_topic_has_a_row_and_each_language_that_it_lacks(capsys: pytest.CaptureFixture[str]) -> None:
    language_gaps.main([])

    rows = dict(line.split(": ", 1) for line in capsys.readouterr().out.splitlines())
    assert sorted(rows) == sorted(_LANGUAGES) == language_gaps.list_topics()
    for topic, row in rows.items():
        lacking = set(row.partition(", lacks ")[2].split())
        assert lacking.isdisjoint(set().union(*language_gaps.find_languages(topic).values()))
    assert "zh" in rows["calendar"].split()


def test_the_lists_of_a_topic_have_rows_on_request(capsys: pytest.CaptureFixture[str]) -> None:
    language_gaps.main(["--lists"])

    names = [line.partition(": ")[0] for line in capsys.readouterr().out.splitlines()]
    assert {"links", "links.next", "links.older"} <= set(names)
    assert language_gaps.NOT_BY_LANGUAGE.isdisjoint(names)


@pytest.mark.parametrize("topic", _LANGUAGES)
def test_no_topic_loses_a_language(topic: str) -> None:
    assert set(_LANGUAGES[topic].split()) <= set().union(*language_gaps.find_languages(topic).values())
