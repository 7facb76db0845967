"""Links with text fragments follow the standard's rules and open a real Chromium at the quotation."""

from __future__ import annotations

import time

import pytest
from playwright.async_api import Browser

from scraper.retrieval.text_fragments import VisibleText, build_text_directive, link_to_quotation
from tests.scraper.soon import soon

SPACER = "<div style='height:3000px'>.</div>"
NIGHT = "The night ferry to Borkum carries bicycles free of charge between October and March."
DAY = "The day ferry does not."


def quoted(markdown: str, passage: str, *words: str) -> str:
    page = VisibleText(markdown)
    start = markdown.index(passage)
    return build_text_directive(page, start, start + len(passage), page.weigh_terms(words))


class TestWriting:
    def test_a_short_sentence_is_quoted_whole_and_a_long_one_by_its_first_words(self) -> None:
        assert quoted(f"{NIGHT} {DAY}", DAY) == "text=The%20day%20ferry%20does%20not"
        assert quoted(f"{DAY} {NIGHT}", NIGHT) == "text=The%20night%20ferry"

    def test_the_sentence_with_the_words_that_were_asked_for_is_quoted(self) -> None:
        assert quoted(f"{NIGHT} {DAY}", f"{NIGHT} {DAY}", "day") == "text=The%20day%20ferry%20does%20not"

    def test_what_the_directive_would_read_as_its_own_is_encoded(self) -> None:
        assert quoted("Salt, pepper & well-done (raw)", "Salt, pepper & well-done (raw)") == (
            "text=Salt%2C%20pepper%20%26%20well%2Ddone%20%28raw"
        )

    def test_letters_of_every_script_stay_legible(self) -> None:
        assert quoted("Über Fähren reden", "Über Fähren reden") == "text=Über%20Fähren%20reden"
        assert (
            quoted("夜行フェリー、自転車は無料です。", "夜行フェリー、自転車は無料です。", "自転")
            == "text=自転車は無料です"
        )

    def test_what_stands_earlier_too_gets_the_words_before_it(self) -> None:
        text = f"Heading and more\n\n{DAY}\n\nOn Sundays it is otherwise: yes. {DAY}"
        assert quoted(text, f"On Sundays it is otherwise: yes. {DAY}", "day") == (
            "text=is%20otherwise%3A%20yes.-,The%20day%20ferry%20does%20not"
        )

    @pytest.mark.parametrize(
        ("markdown", "words"),
        [
            ("- A **bold** [link to it](https://example.org/a_(b)) and `code`", "A bold link to it and code"),
            ("3. One \\* two \\_three\\_ words", "One * two _three_ words"),
            ("> ![picture](x.png) Caption of the picture", "Caption of the picture"),
            ("## Heading of four words", "Heading of four words"),
        ],
    )
    def test_markup_is_not_quoted(self, markdown: str, words: str) -> None:
        assert link_to_quotation("", quoted(markdown, markdown)) == "#:~:text=" + _encoded(words)

    def test_cells_are_not_quoted_across(self) -> None:
        assert quoted("| First cell | Second longer cell |", "| First cell | Second longer cell |", "second") == (
            "text=Second%20longer%20cell"
        )

    def test_nothing_to_quote_is_no_directive(self) -> None:
        assert quoted("| --- | --- |", "| --- | --- |") == ""
        assert link_to_quotation("https://example.org/a", "") == "https://example.org/a"

    def test_a_fragment_of_the_address_is_kept(self) -> None:
        assert link_to_quotation("https://example.org/a#part", "text=x") == "https://example.org/a#part:~:text=x"
        assert link_to_quotation("https://example.org/a#:~:text=old", "text=x") == "https://example.org/a#:~:text=x"


def _encoded(words: str) -> str:
    return words.replace(" ", "%20").replace("*", "%2A")


SENTENCES = [
    f"{DAY} {NIGHT}",
    "冬の間、ボルクム行きの夜行フェリーは自転車を無料で運びます。",
    "冬季前往博尔库姆的夜间渡轮免费运送自行车。",
    "เรือข้ามฟากกลางคืน ไปบอร์คุม ขนส่งจักรยานฟรี",
    "الدراجات مجانية في الشتاء، على متن العبارة",
    "सर्दियों में साइकिल मुफ़्त है।",
    "Straße nach Åland – 100 % “sicher”",
    "겨울에는 야간 페리가 자전거를 무료로 운송합니다.",
]
MARKDOWN_AND_HTML = [
    *((sentence, f"<p>{sentence}</p>") for sentence in SENTENCES),
    ("Salt, well-done: *rare* [meat](x) & so on", "<p>Salt, well-done: <i>rare</i> <a href=x>meat</a> &amp; so on"),
    ("| Name | Free bicycles in winter |", "<table><tr><td>Name<td>Free bicycles in winter</table>"),
    ("```\nferry.load(bicycles)\n```", "<pre>ferry.load(bicycles)</pre>"),
]


@pytest.mark.browser
class TestInChromium:
    @pytest.mark.parametrize(("markdown", "body"), MARKDOWN_AND_HTML)
    async def test_the_page_opens_at_the_quotation(self, plain_browser: Browser, markdown: str, body: str) -> None:
        found = quoted(f"Top of the page\n\n{markdown}", markdown)
        assert found
        assert await scrolled(plain_browser, f"Top of the page{SPACER}{body}{SPACER}", found) > 2_000

    async def test_of_two_equal_sentences_the_second_is_found_by_the_words_before_it(
        self, plain_browser: Browser
    ) -> None:
        second = f"On Sundays it is otherwise. {DAY}"
        text = f"{DAY}\n\n{second}"
        start = text.index(second)
        page = VisibleText(text)
        found = build_text_directive(page, start, len(text), page.weigh_terms(["day"]))
        body = f"<p>{DAY}</p>{SPACER}<p>{second}</p>{SPACER}"
        assert found.startswith("text=it%20is%20otherwise.-,")
        assert await scrolled(plain_browser, body, found) > 2_000

    async def test_what_is_not_there_does_no_harm(self, plain_browser: Browser) -> None:
        assert (
            await scrolled(plain_browser, f"Top{SPACER}<p>{DAY}</p>{SPACER}", "text=gone%20away", patience_s=0.5) == 0
        )


async def scrolled(browser: Browser, body: str, text_directive: str, *, patience_s: float = 60.0) -> float:
    """Open a link and return the scroll position, as soon as the page has scrolled."""
    address = "https://site.example/quoted"
    page = await browser.new_page()
    try:
        await page.route(
            address,
            lambda route: route.fulfill(
                body=f"<!doctype html><meta charset=utf-8><body>{body}", content_type="text/html; charset=utf-8"
            ),
        )
        await page.goto(link_to_quotation(address, text_directive))
        # The browser searches for the words after layout, and again after loading.
        end = time.monotonic() + patience_s
        while not (offset := await page.evaluate("scrollY")) and time.monotonic() < end:
            await page.wait_for_timeout(25)
        return float(offset)
    finally:
        await page.close()


@pytest.mark.parametrize(
    ("markdown", "words"),
    [
        (r"The \[old\] [harbour](https://h.example/a_(b)) office", "The%20%5Bold%5D%20harbour%20office"),
        ("![A \\] map](m.png)The harbour office counts", "The%20harbour%20office%20counts"),
    ],
)
def test_links_and_pictures_are_quoted_as_they_are_shown(markdown: str, words: str) -> None:
    assert build_text_directive(VisibleText(markdown), 0, len(markdown), {}) == f"text={words}"


@pytest.mark.parametrize("piece", ["[\\[", "![", "[a](", "[", "[a[", "![a](b(c"])
def test_a_hostile_line_is_read_soon(piece: str) -> None:
    markdown = f"The harbour {piece * (100_000 // len(piece))}]( office"
    with soon():
        VisibleText(markdown)
