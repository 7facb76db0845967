"""Detect block pages of search engines by their markup.

Plain words ("captcha", "unusual traffic") gave 43 false positives on 114 saved pages;
these signatures gave none.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from types import MappingProxyType

from scraper.engines.common.result_page import ResultPage


@dataclass(frozen=True, slots=True)
class BlockPage:
    """Signature of one kind of block page. One matching field is sufficient on a page without rows."""

    name: str
    reason: str
    """`captcha`, `consent`, `rate_limited` or `refused`."""
    clears_itself: bool = False
    ids: frozenset[str] = frozenset()
    """Values of `id` and `data-testid`."""
    classes: frozenset[str] = frozenset()
    names: str = ""
    """Pattern searched in ids and classes."""
    addresses: str = ""
    """Pattern searched in the URLs of scripts, frames, images and forms."""
    title: str = ""
    """Pattern of the whole title."""
    opening: str = ""
    """Pattern searched in the first visible text."""
    scripts: str = ""
    """Pattern searched in inline scripts."""
    urls: str = ""
    """Pattern searched in the URL of the page and of its redirects."""
    yields: bool = False
    """True if other pages match too: a "no results" message takes precedence."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


BLOCK_PAGES = (
    BlockPage(
        "anubis",
        "captcha",
        clears_itself=True,
        ids=_words("anubis_challenge anubis_version anubis_base_prefix"),
        addresses=r"\.within\.website/x/cmd/anubis",
        scripts=r"within\.website/x/cmd/anubis",
        title=r"making sure you['’]re not a bot.*",
    ),
    BlockPage(
        "altcha",
        "captcha",
        clears_itself=True,
        classes=_words("altcha captcha-altcha"),
        addresses=r"/altcha(?:[.-][\w.-]+)?\.js|/captcha/challenge\b",
        scripts=r"altcha-widget",
    ),
    BlockPage(
        "duck puzzle",
        "captcha",
        ids=_words("anomaly-modal"),
        classes=_words("anomaly-modal__title anomaly-modal__mask anomaly-modal__box"),
        addresses=r"/anomaly\.js\?",
        opening=r"bots use DuckDuckGo too",
    ),
    BlockPage(
        "cloudflare",
        "captcha",
        clears_itself=True,
        ids=_words("challenge-error-text challenge-running cf-challenge-running cf-browser-verification"),
        addresses=r"/cdn-cgi/challenge-platform/.*/orchestrate/",
        scripts=r"_cf_chl_opt",
        title=r"just a moment\.\.\.|attention required! \|.*",
    ),
    BlockPage(
        "turnstile",
        "captcha",
        addresses=r"challenges\.cloudflare\.com/turnstile|/turing/captcha",
        classes=_words("cf-turnstile captcha_header"),
        urls=r"/turing/captcha",
    ),
    BlockPage(
        "pow captcha",
        "captcha",
        clears_itself=True,
        title=r"pow captcha.*",
        addresses=r"/api/captcha/",
        scripts=r"/api/captcha/pow",
    ),
    BlockPage(
        "google consent",
        "consent",
        addresses=r"//consent\.(?:google|youtube|yahoo)\.",
        urls=r"//(?:consent\.(?:google|youtube|yahoo)\.|guce\.yahoo\.)",
    ),
    BlockPage(
        "google sorry",
        "captcha",
        ids=_words("captcha-form"),
        addresses=r"/sorry/(?:index|image)|^CaptchaRedirect",
        urls=r"/sorry/",
        opening=r"our systems have detected unusual traffic",
    ),
    BlockPage(
        "baidu slider",
        "captcha",
        classes=_words("passMod_dialog-wrapper passMod_dialog-body passMod_slide-control"),
        addresses=r"wappass\.baidu\.com|mkd_v2_link|/static/touch/js/mkd",
        title=r"百度安全验证",
        opening=r"网络不给力，请稍后重试",
        urls=r"wappass\.baidu\.com",
    ),
    BlockPage(
        "smart captcha",
        "captcha",
        classes=_words("CheckboxCaptcha SmartCaptcha AdvancedCaptcha"),
        addresses=r"/checkcaptcha|smartcaptcha|captcha\.yandex|/captchapgrd",
        urls=r"/showcaptcha",
        title=r"(?:are you not a robot|вы не робот|ой)\W*",
    ),
    BlockPage("datadome", "captcha", addresses=r"captcha-delivery\.com", scripts=r"captcha-delivery\.com"),
    BlockPage(
        "captcha",
        "captcha",
        yields=True,
        classes=_words("frc-captcha geetest_holder"),
        ids=_words("challenge-form"),
        names=r"captcha",
        addresses=r"(?:^|/)(?:sp/)?captcha(?:/|\?|$)|hcaptcha\.com/|recaptcha/(?:api|enterprise)",
        title=r"captcha(?: - .*)?|are you (?:a )?(?:robot|human|bot)\W*|verifying your? .{0,20}"
        r"|(?:security|robot) (?:check|verification)|人机验证|安全验证",
        urls=r"/(?:sp/)?captcha(?:/|\?|$)",
        opening=r"(?:verify|confirm|prove)(?: that)? you(?: a|['’])re (?:a )?(?:human|not a (?:ro)?bot)"
        r"|verifying your (?:request|browser)|checking your browser|select all squares"
        r"|(?:has been|was) flagged as (?:being )?suspicious",
    ),
    BlockPage(
        "refusal by country",
        "refused",
        yields=True,
        title=r"service unavailable",
        opening=r"(?:is )?not (?:yet )?available in your (?:country|region)|"
        r"n['’]est pas (?:encore )?disponible dans votre (?:pays|région)|"
        r"(?:noch )?nicht in (?:deinem|ihrem) land verfügbar",
    ),
    BlockPage(
        "rate limit",
        "rate_limited",
        yields=True,
        title=r"(?:error )?429(?: .{0,30})?|too many requests",
        opening=r"automated queries|too many requests|rate limit(?:ed)? exceeded|unusual traffic from",
    ),
    BlockPage(
        "denial",
        "refused",
        yields=True,
        title=r"(?:error )?403(?: .{0,30})?|access (?:denied|blocked)|forbidden|blocked",
        opening=r"^\W*(?:access denied|403 forbidden|you have been blocked|sorry, you have been blocked)",
    ),
)
"""Specific signatures first; the first match is used."""

_BY_STATUS = MappingProxyType(
    {
        202: BlockPage("status 202", "captcha"),
        403: BlockPage("denial", "refused"),
        429: BlockPage("rate limit", "rate_limited"),
        503: BlockPage("status 503", "rate_limited"),
    }
)
"""Meaning of a status code on a page without rows and without a matching signature."""


def find_block_page(page: ResultPage) -> BlockPage | None:
    """Return the signature that matches a page without organic rows, or None."""
    found = next((wall for wall in BLOCK_PAGES if _fits(page, wall)), None)
    return found or _BY_STATUS.get(page.status)


def _fits(page: ResultPage, wall: BlockPage) -> bool:
    marks = page.marks
    return bool(
        wall.ids & marks.ids
        or wall.classes & marks.classes
        or (wall.urls and any(_search(wall.urls, url) for url in (page.url, *page.redirects)))
        or (wall.title and re.fullmatch(wall.title, marks.title, re.IGNORECASE))
        or (wall.names and any(_search(wall.names, name) for name in marks.ids | marks.classes))
        or (wall.addresses and any(_search(wall.addresses, address) for address in marks.addresses))
        or (wall.opening and _search(wall.opening, marks.opening))
        or (wall.scripts and _search(wall.scripts, marks.scripts))
    )


def _search(pattern: str, text: str) -> bool:
    return re.search(pattern, text[:20_000], re.IGNORECASE) is not None
