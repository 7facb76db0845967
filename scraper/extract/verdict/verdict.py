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

from browsers.model import Snapshot
from scraper.extract.dom.words import words_in
from scraper.extract.dom.xpath import elements, having, text_of
from scraper.extract.page import build
from scraper.extract.page.build import PageTree
from scraper.extract.verdict import landmarks, shell_score
from scraper.extract.verdict.block_signatures import (
    CHALLENGE_SCRIPTS,
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

_IDS = having("id")
_CLASSED = having("class")
_FORMS = elements("//form[@action]")
_HEADINGS = elements("(//h1 | //h2)[position() <= 5]")
_BUTTONS = elements("(//*[@role='button'] | //input[@type='submit' or @type='button'])[1]")
_PASSWORDS = elements("(//input[@type='password'])[1]")
_FIELDS = elements(
    "//textarea[not(@name='q')] | //input[@type='text' or @type='email' or @type='tel' or not(@type)]"
    "[not(@name='q' or @name='s' or @name='query' or @name='search')]"
)


class PageSignals:
    """What is known of a page before its body is pruned; one with plenty of words is not looked at closer."""

    def __init__(self, page: PageTree) -> None:
        self.page = page
        self.text = text_of(page.body)
        self.words = words_in(self.text, LONG_WORDS)
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
        self.consent = landmarks.prune(body)
        text = text_of(body)
        self.main_words = words_in(text)
        self.hollow = shell_score.is_hollow(self.page.head, body, text)

    def _look_closer(self) -> None:
        body = self.page.body
        self.empty_mount = any(
            words_in(text_of(element)) < THIN_WORDS
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
    return verdict_on(snapshot, PageSignals(build.build(snapshot)))


def verdict_on(snapshot: Snapshot, survey: PageSignals) -> Verdict:
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


def _code(script: build.ScriptElement) -> str:
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
