"""Is the content there, does it need its scripts, or does a wall stand before it: read from the DOM.

The limits come from a study of 2,008 saved pages: every file with fewer than 40 visible words held its
content nowhere in its HTML, the smallest page with content had 49. Mount points and notes about JavaScript
stand in many whole pages, as do the marks of captcha services (12 %): they mean something on short pages
only.
"""

from __future__ import annotations

import re

from browsers.model import Snapshot
from scraper.extract import regions, tree
from scraper.extract.texts import words_in
from scraper.extract.tree import Page
from scraper.extract.walls import CAPTCHA_CLASSES, CHALLENGE_IDS, CHALLENGE_SCRIPTS, LEAKY_SCRIPTS, PHRASES
from scraper.extract.xpath import elements, having, text_of
from scraper.model import Verdict, VerdictKind

__all__ = ["Survey", "judge", "verdict_on"]

THIN_WORDS = 40
SHORT_WORDS = 150
BARE_WORDS = 60
"""On a page this short a wall's words count wherever they stand; on a longer one in title and headings."""

_MAX_TITLE = 500
_EXECUTABLE = frozenset({"", "module", "text/javascript", "application/javascript", "text/ecmascript"})
_MOUNT_POINTS = frozenset(
    "root app __next __nuxt ___gatsby react-root app-root main-app svelte application vue-app".split()
)
_REFRESH = re.compile(r"^\s*\d+\s*[;,]\s*url\s*=", re.IGNORECASE)

_IDS = having("id")
_CLASSED = having("class")
_HEADINGS = elements("(//h1 | //h2)[position() <= 5]")
_PASSWORDS = elements("(//input[@type='password'])[1]")
_FIELDS = elements("(//textarea | //input[@type='text' or @type='email' or @type='search' or not(@type)])[1]")


class Survey:
    """What is known of a page before its body is pruned; one with plenty of words is not looked at closer."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.text = text_of(page.body)
        self.words = words_in(self.text)
        self.short = self.words < SHORT_WORDS
        self.marked = self.asks_password = self.has_fields = self.empty_mount = False
        self.classes: set[str] = set()
        self.titles: list[str] = []
        if self.short:
            self._look_closer()

    def _look_closer(self) -> None:
        body = self.page.body
        named = {element.get("id") or "": element for element in _IDS(body)}
        self.marked = not CHALLENGE_IDS.isdisjoint(named)
        self.empty_mount = any(
            words_in(text_of(named[name])) < THIN_WORDS for name in _MOUNT_POINTS.intersection(named)
        )
        self.classes = {name for element in _CLASSED(body) for name in (element.get("class") or "").split()}
        self.asks_password = bool(_PASSWORDS(body))
        self.has_fields = bool(_FIELDS(body))
        shown = [self.page.head.title[:_MAX_TITLE], *map(text_of, _HEADINGS(body))]
        if self.words < BARE_WORDS:
            shown.append(self.text)
        self.titles = [" ".join(text.split()) for text in shown]


def judge(snapshot: Snapshot) -> Verdict:
    """The verdict on a snapshot of HTML that is not to be read."""
    page = tree.build(snapshot)
    survey = Survey(page)
    consent = regions.prune(page.body)
    return verdict_on(snapshot, survey, main_words=words_in(text_of(page.body)), consent=consent)


def verdict_on(snapshot: Snapshot, survey: Survey, *, main_words: int, consent: int) -> Verdict:
    """The verdict, given the survey and what pruning left.

    `main_words`: outside of navigation and side matter. `consent`: characters that stood in consent banners.
    """
    wall = _wall(snapshot, survey, main_words, consent)
    if wall:
        return Verdict(VerdictKind.BLOCKED, wall)
    lack = _lack(survey, main_words, rendered=snapshot.rendered)
    return Verdict(VerdictKind.THIN, lack) if lack else Verdict()


def _wall(snapshot: Snapshot, survey: Survey, main_words: int, consent: int) -> str:
    """What stands before the page, by name."""
    if snapshot.headers.get("cf-mitigated") == "challenge":
        return "challenge"
    if snapshot.status == 429:
        return "rate_limit"
    if not survey.short:
        return ""
    if survey.marked or _challenges(survey, main_words):
        return "challenge"
    if snapshot.status == 401 or survey.asks_password:
        return "login"
    said = _said(survey)
    if said:
        return said
    if not survey.classes.isdisjoint(CAPTCHA_CLASSES) and not survey.has_fields and main_words < THIN_WORDS:
        return "captcha"
    if snapshot.status == 403:
        return "denied"
    return "consent" if consent * 2 > len(survey.text) else ""


def _challenges(survey: Survey, main_words: int) -> bool:
    """Whether a script of the page is a challenge, or belongs to one and there is nothing else."""
    sources = [script.text or script.source for script in survey.page.head.scripts]
    if any(CHALLENGE_SCRIPTS.search(source) for source in sources):
        return True
    bare = main_words < THIN_WORDS and not survey.has_fields
    return bare and any(LEAKY_SCRIPTS.search(source) for source in sources)


def _said(survey: Survey) -> str:
    """The wall that title, headings or the few words of a page speak of."""
    for reason, phrases in PHRASES:
        if any(phrases.search(text) for text in survey.titles) and not (
            reason == "login" and not survey.has_fields and survey.words >= THIN_WORDS
        ):
            return reason
    return ""


def _lack(survey: Survey, main_words: int, *, rendered: bool) -> str:
    """What is missing: something that rendering would bring, or everything."""
    if rendered:
        return "" if main_words else "empty"
    page = survey.page
    if page.binary:
        return "binary"
    if survey.short and any(name == "refresh" and _REFRESH.match(value) for name, value in page.head.metas):
        return "refresh"
    scripted = any(script.type in _EXECUTABLE for script in page.head.scripts)
    waiting = survey.short and (survey.empty_mount or page.asks_for_scripts)
    if scripted and (main_words < THIN_WORDS or waiting):
        return "javascript"
    if page.embeds and main_words < THIN_WORDS:
        return "frames"
    return "" if survey.words else "empty"
