"""Judge from the DOM if a page has its content, needs its scripts, or is a block page.

The limits come from a study of 2,008 saved pages: every file with fewer than 40 visible words had its content nowhere
in its HTML, the smallest page with content had 49. Mount points and notes about JavaScript occur in many complete
pages, as do the marks of captcha services (12 %). They count on short pages only.
"""

import copy
import json
import math
import re
from itertools import islice

from browsers.model import Snapshot
from scraper.extract.verdict.block_signatures import PHRASES, SIGNATURES
from scraper.html.dom.parsing import Element, attribute_selector, element_selector, text_of
from scraper.html.page.main_content import remove_boilerplate
from scraper.html.page.page_tree import PageHead, PageTree
from scraper.model import Verdict, VerdictKind
from scraper.text.terms import compile_any_of, count_words, split_words

_THIN_WORDS = 40
"""Words. A page with fewer visible words has no content."""
_SHORT_WORDS = 150
"""Words. On shorter pages, mount points, notes about JavaScript, login forms and phrases of block pages count."""
_BARE_WORDS = 60
"""Words. On shorter pages, phrases of block pages are searched in all text; on longer ones in title and headings."""

_MAX_BLOCK_PAGE_WORDS = 400
"""Words. Longer pages are not checked for marks. Block pages contain explanations and menus: the longest of 27 saved
ones has 309 words, a consent form 360."""

LONG_WORDS = 2_000
"""Words. Longer pages are not examined. Of 1,000 pages without their content, 5 had more words left."""

_MAX_BESIDE_CONSENT = 120
"""Characters next to a consent form that is the whole page: a logo, the imprint."""

_DISCUSSED_REASONS = frozenset({"challenge", "captcha", "denied"})
_MIN_TITLE_SHARE = 0.5
"""Share of the title that a phrase must cover on a page with a good status and some text. "How to fix 403 Forbidden
errors" is help, "Access to this page has been denied" is not."""

_MAX_TITLE_TEXT = 4_000

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
    """Signals of a page before its body is pruned. Pages with many words are examined less closely."""

    def __init__(self, page: PageTree) -> None:
        """Collect the signals of a page."""
        self.page = page
        self.text = text_of(page.body)
        self.words = count_words(self.text, LONG_WORDS)
        self.short = self.words < _SHORT_WORDS
        self.main_words = self.words
        """Words outside of navigation and side matter; all words if the page is long, or neither short nor scripted."""
        self.consent = 0
        """Characters in consent banners."""
        self.hollow = self.has_buttons = self.asks_password = self.has_fields = self.empty_mount = False
        self.scripted = any(script.type in _EXECUTABLE for script in page.head.scripts)
        self.ids: set[str] = set()
        self.classes: set[str] = set()
        self.addresses: list[str] = []
        self.titles: list[str] = []
        if self.words < _MAX_BLOCK_PAGE_WORDS:
            self._collect_marks()
        if self.words < LONG_WORDS and (self.scripted or self.short):
            body = copy.deepcopy(page.body)
            self.has_buttons = next(body.iter("button"), None) is not None or bool(_BUTTONS(body))
            self.consent = remove_boilerplate(body)
            text = text_of(body)
            self.main_words = count_words(text)
            self.hollow = is_shell(page.head, body, text)
        if self.short:
            self._examine_short_page()

    def _collect_marks(self) -> None:
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

    def _examine_short_page(self) -> None:
        body = self.page.body
        self.empty_mount = any(
            count_words(text_of(element)) < _THIN_WORDS for element in _IDS(body) if element.get("id") in _MOUNT_POINTS
        )
        self.asks_password = bool(_PASSWORDS(body))
        self.has_fields = bool(_FIELDS(body))
        shown = [self.page.head.title, *map(text_of, _HEADINGS(body))]
        if self.words < _BARE_WORDS:
            shown.append(self.text)
        self.titles = [" ".join(text.split())[:_MAX_TITLE_TEXT] for text in shown]


def judge_signals(snapshot: Snapshot, signals: PageSignals) -> Verdict:
    """Return the verdict on a snapshot from the signals of its page."""
    block_reason = _find_block_reason(snapshot, signals)
    if block_reason:
        return Verdict(VerdictKind.BLOCKED, block_reason)
    lack = _find_missing_content(signals, rendered=snapshot.rendered)
    return Verdict(VerdictKind.THIN, lack) if lack else Verdict()


def _find_block_reason(snapshot: Snapshot, signals: PageSignals) -> str:
    if "challenge" in (snapshot.headers.get(name) for name in _CHALLENGE_HEADERS):
        return "challenge"
    if snapshot.headers.get("sg-captcha") == "challenge":
        return "proof_of_work"
    if snapshot.status == 429:
        return "rate_limit"
    if signals.words >= _MAX_BLOCK_PAGE_WORDS:
        return ""
    if reason := _match_marks(snapshot, signals):
        return reason
    if not signals.short:
        return "consent" if signals.has_buttons and _asks_consent_alone(signals) else ""
    if snapshot.status == 401 or signals.asks_password:
        return "login"
    if reason := _match_phrases(snapshot, signals) or _match_captcha_widget(signals):
        return reason
    return "denied" if snapshot.status == 403 else "consent" if _asks_consent_alone(signals) else ""


def _match_marks(snapshot: Snapshot, signals: PageSignals) -> str:
    """Return the reason of the first signature that only block pages have, whatever else the page contains."""
    scripts = [script.text or script.source for script in signals.page.head.scripts] if signals.short else []
    addresses = "\n".join(signals.addresses)
    for one in SIGNATURES:
        if not one.is_widget and one.matches(signals.ids, signals.classes, addresses, scripts, snapshot.url):
            return one.reason
    return ""


def _match_captcha_widget(signals: PageSignals) -> str:
    if signals.has_fields or signals.main_words >= _THIN_WORDS:
        return ""
    sources = "\n".join([*signals.addresses, *(script.text for script in signals.page.head.scripts)])
    widgets = (one for one in SIGNATURES if one.is_widget)
    return next((one.reason for one in widgets if one.matches(signals.ids, signals.classes, sources)), "")


def _match_phrases(snapshot: Snapshot, signals: PageSignals) -> str:
    """Return the reason whose phrases are in title, headings or the text of a very short page."""
    explains = snapshot.status < 400 and signals.words >= _BARE_WORDS
    for reason, phrases in PHRASES:
        least = _MIN_TITLE_SHARE if explains and reason in _DISCUSSED_REASONS else 0.0
        matches = ((phrases.search(text), text) for text in signals.titles)
        if not any(match and len(match[0]) > least * len(text) for match, text in matches):
            continue
        if reason == "login" and not signals.has_fields and signals.words >= _THIN_WORDS:
            continue
        if reason == "javascript" and not snapshot.rendered:
            continue  # rendering will run its scripts
        return reason
    return ""


def _asks_consent_alone(signals: PageSignals) -> bool:
    beside = len(signals.text) - signals.consent
    return signals.consent > beside and beside < _MAX_BESIDE_CONSENT


def _find_missing_content(signals: PageSignals, *, rendered: bool) -> str:
    if rendered:
        return "" if signals.main_words else "empty"
    page = signals.page
    is_thin = signals.main_words < _THIN_WORDS
    is_waiting = signals.short and (signals.empty_mount or page.asks_for_scripts)
    reasons = {
        "binary": page.binary,
        "refresh": signals.short
        and any(name == "refresh" and _REFRESH.match(value) for name, value in page.head.metas),
        "javascript": signals.scripted and (is_thin or is_waiting),
        "frames": page.embeds and is_thin,
        "hollow": signals.scripted and signals.hollow,
    }
    if reason := next((reason for reason, applies in reasons.items() if applies), ""):
        return reason
    if page.may_hide_text or (page.is_styled and _addresses_model(signals.text.lower())):
        return "hidden"
    return "" if signals.words else "empty"


_MODEL_WORDS = "instruction,prompt,assistant,language model,ai model,llm,ai agent,chatgpt,claude".split(",")
_MODEL = r"(?:ai|llm|assistant|language model|chatbot|agent)\b"
_MODEL_NAMES = r"(?:ai|llm|chatgpt|claude|gemini|copilot|assistants?|language models?)\b"
_SENTENCES_TO_MODELS = {
    "ignore disregard forget override bypass": r"\b[^.!?]{0,60}\b(?:instruction|prompt|guideline)",
    "system developer": " (?:prompt|message|instruction)",
    "you": rf" are (?:now )?(?:an?|the) (?:[\w-]+ ){{0,3}}{_MODEL}",
    "note attention message instructions? important dear hello hey": rf"\b[^.!?]{{0,20}}\b{_MODEL_NAMES}",
}
"""Continuations of sentences by their first words."""
_ADDRESSES_MODEL = compile_any_of(
    rf"\b{word}{end}" for words, end in _SENTENCES_TO_MODELS.items() for word in words.split()
)
"""Sentences to a model. A person seldom sees them on a page."""


def _addresses_model(lowered: str) -> bool:
    folded = " ".join(lowered.split()) if any(word in lowered for word in _MODEL_WORDS) else ""
    return _ADDRESSES_MODEL.search(folded) is not None


FEATURES = (
    "bias,words,running words,share of running words,words of the description,description found,title found,"
    "words in the landmark,texts only in data,texts also in data,pictures"
).split(",")
"""Measures of a page. Shells, whose scripts load their content later, have menus, a footer and teasers, so that no word
limit detects them: they have little running text, and long texts in the data of their scripts."""

_WEIGHTS = (14.0, -2.25, 0.66, -5.22, 0.565, -1.46, 1.43, -0.465, 0.112, -0.058, -0.178)
"""Weights of a logistic regression, in the order of `FEATURES`, fitted by `benchmarks.train_verdict`."""

_SHELL_THRESHOLD = 0.5
"""Logarithm of the odds. A page with more is a shell.

Out of fold, of pages with scripts, 3.6 % of 1,425 complete ones would be rendered unnecessarily and 14 % of 939 shells
would not be rendered; with words alone 1.3 and 74 %.
"""

_DEFAULT_LANDMARK = 4.0
"""Logarithm for pages without a landmark, as for 54 words: neither empty nor full."""

_MAX_DATA = 400_000
_MAX_STRINGS = 60
_MIN_STRING = 160

_MAX_STRING = 20_000
"""Characters at the end of a string that are read."""
_STRING = re.compile(rf'"((?:[^"\\]|\\.){{{_MIN_STRING},}}+)("?)')
"""Unclosed strings match too, so that they are scanned once and not from each quotation mark."""

_TAG = re.compile(r"<[^<>]*>")
_SAMPLE = slice(20, 60)
"""Letters of a string that are searched on the page; its beginning may be cut or decorated."""

_MIN_LETTERS = 80
_WITH_ROLE, _WITH_ID = attribute_selector("role"), attribute_selector("id")
_LANDMARK_IDS = frozenset("content main app root __next __nuxt".split())
_LINKS = element_selector(".//a")
_PICTURES = element_selector(".//img")


def is_shell(head: PageHead, body: Element, text: str) -> bool:
    """Return True if the content of a page is still missing. `body` is without navigation and side matter."""
    values = measure(head, body, text)
    return sum(weight * value for weight, value in zip(_WEIGHTS, values, strict=True)) > _SHELL_THRESHOLD


def measure(head: PageHead, body: Element, text: str) -> tuple[float, ...]:
    """Return the measures of a page in the order of `FEATURES`. `text` is all text of `body`."""
    words = count_words(text)
    running = max(0, words - count_words(" ".join(text_of(link) for link in _LINKS(body))))
    visible = text.lower()
    visible_words = split_words(visible)
    known = frozenset(visible_words)
    metas = dict(reversed(head.metas))
    described = split_words(metas.get("og:description") or metas.get("description") or "")
    hidden_letters, visible_letters = _count_prose_in_data(head, "".join(visible_words))
    return (
        1.0,
        math.log1p(words),
        math.log1p(running),
        running / (1 + words),
        math.log1p(len(described)),
        _found_share(described, known, visible),
        _found_share(sorted(set(split_words(head.title))), known, visible),
        _score_landmarks(body),
        math.log1p(hidden_letters),
        math.log1p(visible_letters),
        math.log1p(len(_PICTURES(body))),
    )


def _found_share(words: list[str], known: frozenset[str], visible: str) -> float:
    """Return the share of the words that are visible. Words of scripts without spaces may be inside other words."""
    found = sum(word in known or (not word.isascii() and word in visible) for word in words)
    return found / max(1, len(words))


def _score_landmarks(body: Element) -> float:
    # One expression for landmarks by tag and by attribute takes twelve times as long.
    landmarks = [*body.iter("main", "article")]
    landmarks += [element for element in _WITH_ROLE(body) if element.get("role") == "main"]
    landmarks += [element for element in _WITH_ID(body) if element.get("id") in _LANDMARK_IDS]
    words = [count_words(text_of(landmark)) for landmark in landmarks if landmark is not body]
    return math.log1p(max(words)) if words else _DEFAULT_LANDMARK


def _count_prose_in_data(head: PageHead, visible: str) -> tuple[int, int]:
    """Return the number of letters in long texts of the page's data: of hidden texts, and of visible ones."""
    hidden_letters = visible_letters = 0
    data = (script.text[:_MAX_DATA] for script in head.scripts if "json" in script.type)
    strings = (string[1][-_MAX_STRING:] for part in data for string in _STRING.finditer(part) if string[2])
    texts = (text for text in map(_decode, strings) if " " in text.strip() or not text.isascii())
    for text in islice(texts, _MAX_STRINGS):
        letters = "".join(split_words(_TAG.sub("", text)))
        if len(letters) < _MIN_LETTERS:
            continue
        if letters[_SAMPLE] in visible:
            visible_letters += len(letters)
        else:
            hidden_letters += len(letters)
    return hidden_letters, visible_letters


def _decode(text: str) -> str:
    try:
        return str(json.loads(f'"{text}"'))
    except ValueError:
        return text
