"""Is the content there, does it need its scripts, or does a wall stand before it: read from the DOM.

The limits come from a study of 2,008 saved pages: every file with fewer than 40 visible words held its
content nowhere in its HTML, the smallest page with content had 49. Mount points and notes about JavaScript
stand in many whole pages, as do the marks of captcha services (12 %): they mean something on short pages
only.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterable

from lxml import etree

from browsers.model import Snapshot
from scraper.extract.dom.parsing import remove
from scraper.extract.dom.xpath import Element, attribute_selector, element_selector, text_of
from scraper.extract.page import page_tree
from scraper.extract.page.page_tree import PageTree
from scraper.extract.text.terms import count_words
from scraper.extract.verdict import shell_score
from scraper.extract.verdict.block_signatures import (
    CHALLENGE_SCRIPTS,
    CONSENT_BOX,
    MARKED_ADDRESSES,
    MARKED_CLASSES,
    MARKED_IDS,
    MARKED_URLS,
    PHRASES,
    WIDGET_ADDRESSES,
    WIDGET_CLASSES,
)
from scraper.model import Verdict, VerdictKind

THIN_WORDS = 40
SHORT_WORDS = 150
BARE_WORDS = 60
"""On a page this short a wall's words count wherever they stand; on a longer one in title and headings."""

WALL_WORDS = 400
"""Walls explain themselves, menus around them: the longest of 27 saved ones has 309 words, a form that asks
for consent 360. What has more is not looked at for marks."""

LONG_WORDS = 2_000
"""Of 1,000 pages whose content was taken out 5 had more words left. What has more is not looked at at all."""

_BESIDE_CONSENT = 120
"""Characters beside a consent form that is the whole page: a logo, the imprint."""

_TALKED_ABOUT = frozenset({"challenge", "captcha", "denied"})
_LEAST_SHARE = 0.5
"""Of a title that the words of these walls must make up on a page that comes with a good status and explains
something: "How to fix 403 Forbidden errors" is help, "Access to this page has been denied" is not."""

_MAX_SAID = 4_000
"""Characters of a title, heading or short page that are looked at: words may be of any length."""

_CHALLENGE_HEADERS = ("cf-mitigated", "x-vercel-mitigated")
_EXECUTABLE = frozenset({"", "module", "text/javascript", "application/javascript", "text/ecmascript"})
_MOUNT_POINTS = frozenset(
    "root app __next __nuxt ___gatsby react-root app-root main-app svelte application vue-app".split()
)
_REFRESH = re.compile(r"^\s*\d+\s*[;,]\s*url\s*=", re.IGNORECASE)

_IDS = attribute_selector("id")
_CLASSED = attribute_selector("class")
_FORMS = element_selector("//form[@action]")
_HEADINGS = element_selector("(//h1 | //h2)[position() <= 5]")
_BUTTONS = element_selector("(//*[@role='button'] | //input[@type='submit' or @type='button'])[1]")
_PASSWORDS = element_selector("(//input[@type='password'])[1]")
_FIELDS = element_selector(
    "//textarea[not(@name='q')] | //input[@type='text' or @type='email' or @type='tel' or not(@type)]"
    "[not(@name='q' or @name='s' or @name='query' or @name='search')]"
)


class PageSignals:
    """What is known of a page before its body is pruned; one with plenty of words is not looked at closer."""

    def __init__(self, page: PageTree) -> None:
        self.page = page
        self.text = text_of(page.body)
        self.words = count_words(self.text, LONG_WORDS)
        self.short = self.words < SHORT_WORDS
        self.main_words = self.words
        """Words outside of navigation and side matter."""
        self.consent = 0
        """Characters that stand in consent banners."""
        self.hollow = self.has_buttons = self.asks_password = self.has_fields = self.empty_mount = False
        self.scripted = any(script.type in _EXECUTABLE for script in page.head.scripts)
        self.ids: set[str] = set()
        self.classes: set[str] = set()
        self.addresses: list[str] = []
        self.titles: list[str] = []
        if self.words < WALL_WORDS:
            self._look_for_marks()
        if self.words < LONG_WORDS and (self.scripted or self.short):
            self._look_at_main()
        if self.short:
            self._look_closer()

    def _look_for_marks(self) -> None:
        body, head = self.page.body, self.page.head
        self.ids = {element.get("id") or "" for element in _IDS(body)}
        self.ids.update(script.name for script in head.scripts)
        self.classes = {name for element in _CLASSED(body) for name in (element.get("class") or "").split()}
        self.addresses = [
            *(script.source for script in head.scripts if script.source),
            *head.frames,
            *(form.get("action") or "" for form in _FORMS(body)),
            *(value for name, value in head.metas if name == "refresh"),
        ]

    def _look_at_main(self) -> None:
        body = copy.deepcopy(self.page.body)
        self.has_buttons = next(body.iter("button"), None) is not None or bool(_BUTTONS(body))
        self.consent = remove_page_furniture(body)
        text = text_of(body)
        self.main_words = count_words(text)
        self.hollow = shell_score.is_shell(self.page.head, body, text)

    def _look_closer(self) -> None:
        body = self.page.body
        self.empty_mount = any(
            count_words(text_of(element)) < THIN_WORDS
            for element in _IDS(body)
            if element.get("id") in _MOUNT_POINTS
        )
        self.asks_password = bool(_PASSWORDS(body))
        self.has_fields = bool(_FIELDS(body))
        shown = [self.page.head.title, *map(text_of, _HEADINGS(body))]
        if self.words < BARE_WORDS:
            shown.append(self.text)
        self.titles = [" ".join(text.split())[:_MAX_SAID] for text in shown]


def judge(snapshot: Snapshot) -> Verdict:
    """The verdict on a snapshot of HTML that is not to be read."""
    return judge_signals(snapshot, PageSignals(page_tree.build_page_tree(snapshot)))


def judge_signals(snapshot: Snapshot, survey: PageSignals) -> Verdict:
    """The verdict, given a survey of the snapshot's page."""
    wall = _wall(snapshot, survey)
    if wall:
        return Verdict(VerdictKind.BLOCKED, wall)
    lack = _lack(survey, rendered=snapshot.rendered)
    return Verdict(VerdictKind.THIN, lack) if lack else Verdict()


def _wall(snapshot: Snapshot, survey: PageSignals) -> str:
    """What stands before the page, by name."""
    if "challenge" in (snapshot.headers.get(name) for name in _CHALLENGE_HEADERS):
        return "challenge"
    if snapshot.headers.get("sg-captcha") == "challenge":
        return "proof_of_work"
    if snapshot.status == 429:
        return "rate_limit"
    if survey.words >= WALL_WORDS:
        return ""
    marked = _marked(snapshot, survey)
    if marked:
        return marked
    if not survey.short:
        return "consent" if survey.has_buttons and _asks_consent_alone(survey) else ""
    if snapshot.status == 401 or survey.asks_password:
        return "login"
    return _said(snapshot, survey) or _widget(survey) or _refused(snapshot, survey)


def _marked(snapshot: Snapshot, survey: PageSignals) -> str:
    """The wall that has left its mark, whatever else there is to read."""
    named = _first(MARKED_IDS, survey.ids) or _first(MARKED_CLASSES, survey.classes)
    if named:
        return named
    if survey.short and any(CHALLENGE_SCRIPTS.search(_code(script)) for script in survey.page.head.scripts):
        return "challenge"
    return _matching(MARKED_ADDRESSES, survey.addresses) or _matching(MARKED_URLS, [snapshot.url])


def _code(script: page_tree.ScriptElement) -> str:
    return script.text or script.source


def _widget(survey: PageSignals) -> str:
    """The captcha that is all there is on a page."""
    if survey.has_fields or survey.main_words >= THIN_WORDS:
        return ""
    sources = [*survey.addresses, *(script.text for script in survey.page.head.scripts)]
    return _first(WIDGET_CLASSES, survey.classes) or _matching(WIDGET_ADDRESSES, sources)


def _said(snapshot: Snapshot, survey: PageSignals) -> str:
    """The wall that title, headings or the few words of a page speak of."""
    explains = snapshot.status < 400 and survey.words >= BARE_WORDS
    for reason, phrases in PHRASES:
        least = _LEAST_SHARE if explains and reason in _TALKED_ABOUT else 0.0
        if not any(_share_of(phrases, text) > least for text in survey.titles):
            continue
        if reason == "login" and not survey.has_fields and survey.words >= THIN_WORDS:
            continue
        if reason == "javascript" and not snapshot.rendered:
            continue  # it gets what it asks for
        return reason
    return ""


def _share_of(phrases: re.Pattern[str], text: str) -> float:
    """How much of a text is the phrase in it."""
    match = phrases.search(text)
    return len(match.group()) / len(text) if match else 0.0


def _refused(snapshot: Snapshot, survey: PageSignals) -> str:
    if snapshot.status == 403:
        return "denied"
    return "consent" if _asks_consent_alone(survey) else ""


def _asks_consent_alone(survey: PageSignals) -> bool:
    beside = len(survey.text) - survey.consent
    return survey.consent > beside and beside < _BESIDE_CONSENT


def _lack(survey: PageSignals, *, rendered: bool) -> str:
    """What is missing: something that rendering would bring, or everything."""
    if rendered:
        return "" if survey.main_words else "empty"
    page = survey.page
    if page.binary:
        return "binary"
    if survey.short and any(name == "refresh" and _REFRESH.match(value) for name, value in page.head.metas):
        return "refresh"
    waiting = survey.short and (survey.empty_mount or page.asks_for_scripts)
    if survey.scripted and (survey.main_words < THIN_WORDS or waiting):
        return "javascript"
    if page.embeds and survey.main_words < THIN_WORDS:
        return "frames"
    if survey.scripted and survey.hollow:
        return "hollow"
    return "" if survey.words else "empty"


def _first(reasons: dict[str, str], names: Iterable[str]) -> str:
    """The reason that one of the names stands for."""
    return next((reasons[name] for name in names if name in reasons), "")


def _matching(patterns: Iterable[tuple[str, re.Pattern[str]]], texts: Iterable[str]) -> str:
    """The reason whose pattern is found in one of the texts."""
    known = list(texts)
    return next((reason for reason, pattern in patterns if any(map(pattern.search, known))), "")


_ALWAYS_OFF = ("nav", "menu", "button", "input")
_ROLES_OFF = frozenset(
    "alertdialog banner complementary contentinfo dialog menu menubar navigation search tablist "
    "toolbar".split()
)
_WITH_ROLE = attribute_selector("role")
_WITH_ITEMPROP = attribute_selector("itemprop")
_CONTENT_TAGS = frozenset({"article", "main"})
_TOO_MUCH = 0.5
"""An element with more of the page's text than this is content, whatever it is called."""

_MAIN_SHARE = 0.25
"""A landmark with less of the page's text than this was set on something else."""

_LEADING_SHARE = 0.6
"""An article with less of all articles' text than this is one of a list."""


def remove_page_furniture(body: Element) -> int:
    """Take navigation, side matter, small forms and consent banners out; how much text the last ones held."""
    total = len(text_of(body))
    etree.strip_elements(body, *_ALWAYS_OFF, with_tail=False)
    consent = 0
    for child in list(body):
        if CONSENT_BOX.search(f"{child.get('id') or ''} {child.get('class') or ''}"):
            consent += _length(child)
            if _off(child, total):
                remove(child)
    landmarks = [element for element in _WITH_ROLE(body) if element.get("role") in _ROLES_OFF]
    for element in [*landmarks, *body.iter("aside", "form"), *_outer_parts(body)]:
        if element.getparent() is not None and _off(element, total):
            remove(element)
    return consent


def _outer_parts(body: Element) -> list[Element]:
    """Headers and footers of the page; those of an article belong to it."""
    return [
        part
        for part in body.iter("header", "footer")
        if not any(around.tag in _CONTENT_TAGS for around in part.iterancestors())
    ]


def find_main_content(body: Element) -> Element:
    """The element that holds the content of a pruned body."""
    total = len(text_of(body))
    mains = [*body.iter("main"), *(element for element in _WITH_ROLE(body) if element.get("role") == "main")]
    if mains:
        main = max(mains, key=_length)
        if _length(main) >= _MAIN_SHARE * total:
            return _leading_article(main, total=_length(main))
    return _leading_article(body, total=total)


def _leading_article(within: Element, *, total: int) -> Element:
    """The one article that a page is about; all that holds it where there are several or none."""
    articles = [article for article in _articles(within) if within in article.iterancestors()]
    lengths = [_length(article) for article in articles]
    longest = max(lengths, default=0)
    if longest and longest >= _LEADING_SHARE * sum(lengths) and longest >= _MAIN_SHARE * total:
        return articles[lengths.index(longest)]
    return within


def _articles(root: Element) -> list[Element]:
    """Articles that stand in no other."""
    bodies = (element for element in _WITH_ITEMPROP(root) if element.get("itemprop") == "articleBody")
    return [
        article
        for article in (*root.iter("article"), *bodies)
        if next(article.iterancestors("article"), None) is None
    ]


def _off(element: Element, total: int) -> bool:
    return _length(element) <= _TOO_MUCH * total


def _length(element: Element) -> int:
    return len(text_of(element))
