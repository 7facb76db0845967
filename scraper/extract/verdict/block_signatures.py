"""Signatures of block pages: captchas, challenges, refusals, rate limits, logins and consent forms.

Markup (ids, classes, URLs, code of challenges) does not change with the language. Phrases count only in title and
headings, since they occur in many complete pages and their scripts. Search engines use the same table on pages without
rows: plain words ("captcha", "unusual traffic") gave 43 false positives on 114 saved result pages, these signatures
none. To add a block page, add a line here and a saved page to a test.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Set
from dataclasses import dataclass

from scraper.words.matcher import WordPattern, expand


@dataclass(frozen=True, slots=True)
class BlockSignature:
    """Signature of one kind of block page. One matching field is sufficient."""

    name: str
    """Name for people. Empty if complete result pages of search engines match too."""
    reason: str
    """Reason of the verdict: `challenge`, `captcha`, `proof_of_work`, `rate_limit`, `denied` or `consent`."""
    clears_itself: bool = False
    """True if a waiting browser passes: the page computes a proof and reloads."""
    is_widget: bool = False
    """True if complete pages match too. The verdict uses it on pages with hardly any text."""
    yields: bool = False
    """True if other result pages match too: a "no results" message takes precedence."""
    ids: str = ""
    """Values of `id` and `data-testid`, separated by blanks."""
    classes: str = ""
    """Class names, separated by blanks."""
    addresses: str = ""
    """Pattern searched in the URLs of scripts, frames, images and forms, one per line."""
    scripts: str = ""
    """Pattern searched in inline scripts."""
    urls: str = ""
    """Pattern searched in the URL of the page and of its redirects, one per line."""
    names: str = ""
    """Pattern searched in ids and classes of a result page."""
    title: str = ""
    """Pattern of the whole title of a result page."""
    opening: str = ""
    """Pattern searched in the first visible text of a result page."""

    def matches(
        self, ids: Set[str], classes: Set[str], addresses: str, scripts: Iterable[str] = (), urls: str = ""
    ) -> bool:
        """Return True if the markup of a page matches."""
        return (
            not ids.isdisjoint(self.ids.split())
            or not classes.isdisjoint(self.classes.split())
            or search_pattern(self.addresses, addresses)
            or any(search_pattern(self.scripts, script) for script in scripts)
            or search_pattern(self.urls, urls)
        )


def search_pattern(pattern: str, text: str) -> bool:
    """Return True if a pattern is in a text; an empty pattern is in none."""
    return bool(pattern and re.search(expand(pattern), text, re.IGNORECASE | re.MULTILINE))


_SITEGROUND = r"/\.well-known/sgcaptcha"
_CONSENT_HOSTS = r"//consent\.(?:google|youtube|yahoo)\.|//guce\.yahoo\."

SIGNATURES = (
    BlockSignature(
        "anubis",
        "proof_of_work",
        clears_itself=True,
        ids="anubis_challenge anubis_version anubis_base_prefix",
        addresses=r"\.within\.website/x/cmd/anubis",
        scripts=r"within\.website/x/cmd/anubis",
        urls=r"/\.within\.website/",
        title=r"making sure you['’]re not a bot.*",
    ),
    BlockSignature(
        "altcha",
        "proof_of_work",
        clears_itself=True,
        is_widget=True,
        classes="altcha captcha-altcha",
        addresses=r"/altcha(?:[.-][\w.-]+)?\.js|/captcha/challenge\b",
        scripts=r"altcha-widget",
    ),
    BlockSignature(
        "duck puzzle",
        "captcha",
        ids="anomaly-modal",
        classes="anomaly-modal__title anomaly-modal__mask anomaly-modal__box",
        addresses=r"/anomaly\.js\?",
        opening=r"bots use DuckDuckGo too",
    ),
    BlockSignature(
        "cloudflare",
        "challenge",
        clears_itself=True,
        ids="challenge-error-text challenge-running cf-challenge-running cf-browser-verification cf-please-wait",
        addresses=r"/cdn-cgi/challenge-platform/.*/orchestrate/",
        scripts=r"_cf_chl_opt",
        title=r"just a moment\.\.\.|attention required! \|.*",
    ),
    BlockSignature(
        "turnstile", "captcha", classes="captcha_header", addresses=r"/turing/captcha", urls=r"/turing/captcha\b"
    ),
    BlockSignature(
        "turnstile", "captcha", is_widget=True, classes="cf-turnstile", addresses=r"challenges\.cloudflare\.com"
    ),
    BlockSignature(
        "pow captcha",
        "proof_of_work",
        clears_itself=True,
        addresses=r"/api/captcha/pow\b",
        scripts=r"/api/captcha/pow",
        title=r"pow captcha.*",
    ),
    BlockSignature("pow captcha", "proof_of_work", clears_itself=True, is_widget=True, addresses=r"/api/captcha/"),
    BlockSignature("google consent", "consent", addresses=_CONSENT_HOSTS, urls=_CONSENT_HOSTS),
    BlockSignature(
        "google sorry",
        "captcha",
        ids="captcha-form",
        addresses=r"/sorry/(?:index|image)|^CaptchaRedirect",
        urls=r"/sorry/(?:index\b|\?|$)",
        opening=r"our systems have detected unusual traffic",
    ),
    BlockSignature(
        "baidu slider",
        "captcha",
        classes="passMod_dialog-wrapper passMod_dialog-body passMod_slide-control",
        addresses=r"wappass\.baidu\.com|mkd_v2_link|/static/touch/js/mkd",
        urls=r"//wappass\.baidu\.",
        title=r"百度安全验证",
        opening=r"网络不给力，请稍后重试",
    ),
    BlockSignature(
        "smart captcha",  # Yandex
        "captcha",
        classes="CheckboxCaptcha AdvancedCaptcha SmartCaptcha-Overlay",
        addresses=r"/checkcaptcha\b|/captchapgrd",
        urls=r"/showcaptcha\b",
        title=r"{blocks.robot_question}\W*",
    ),
    BlockSignature(
        "smart captcha",
        "captcha",
        is_widget=True,
        classes="SmartCaptcha smart-captcha",
        addresses=r"smartcaptcha|captcha\.yandex",
    ),
    BlockSignature("datadome", "challenge", scripts=r"captcha-delivery\.com"),
    BlockSignature("datadome", "captcha", addresses=r"captcha-delivery\.com", urls=r"captcha-delivery\.com/"),
    BlockSignature("perimeterx", "challenge", ids="px-captcha", scripts=r"_pxBlockScript"),
    BlockSignature("akamai", "challenge", ids="sec-if-cpt-container sec-cpt-if"),
    BlockSignature("aws waf", "challenge", scripts=r"gokuProps|AwsWafIntegration\."),
    BlockSignature("kasada", "challenge", scripts=r"KPSDK\.scriptStart"),
    BlockSignature("siteground", "challenge", scripts=r"sgchallenge\s*="),
    BlockSignature("siteground", "proof_of_work", addresses=_SITEGROUND, urls=_SITEGROUND),
    BlockSignature("fastly", "challenge", addresses=r"/_fs-ch-\w+/"),
    BlockSignature("amazon", "captcha", addresses=r"/errors/validateCaptcha\b"),
    BlockSignature("perfdrive", "captcha", urls=r"//validate\.perfdrive\.com/"),
    BlockSignature("queue-it", "rate_limit", urls=r"^[a-z]+://[\w.-]+\.queue-it\.net/"),
    BlockSignature("", "challenge", is_widget=True, addresses=r"_Incapsula_Resource|/cdn-cgi/challenge-platform/"),
    BlockSignature("captcha", "challenge", yields=True, ids="challenge-form"),
    BlockSignature("captcha", "captcha", yields=True, urls=r"/sp/captcha\b"),
    BlockSignature(
        "captcha",
        "captcha",
        is_widget=True,
        yields=True,
        classes="frc-captcha g-recaptcha geetest_holder h-captcha captcha-container captcha-wrap",
        addresses=r"(?:^|/)(?:sp/)?captcha(?:/|\?|$)|/captcha[^/\n]*\.js|hcaptcha\.com/|recaptcha/(?:api|enterprise)",
        urls=r"/captcha(?:/|\?|$)",
        names=r"captcha",
        title=r"captcha(?: - .*)?|are you (?:a )?(?:robot|human|bot)\W*|verifying your? .{0,20}"
        r"|(?:security|robot) (?:check|verification)|{blocks.security_check}",
        opening=r"(?:verify|confirm|prove)(?: that)? you(?: a|['’])re (?:a )?(?:human|not a (?:ro)?bot)"
        r"|verifying your (?:request|browser)|checking your browser|select all squares"
        r"|(?:has been|was) flagged as (?:being )?suspicious",
    ),
    BlockSignature(
        "refusal by country", "denied", yields=True, title=r"service unavailable", opening=r"{blocks.unavailable}"
    ),
    BlockSignature(
        "rate limit",
        "rate_limit",
        yields=True,
        title=r"(?:error )?429(?: .{0,30})?|too many requests",
        opening=r"automated queries|too many requests|rate limit(?:ed)? exceeded|unusual traffic from",
    ),
    BlockSignature(
        "denial",
        "denied",
        yields=True,
        ids="cf-error-details",
        classes="cf-error-code",
        title=r"(?:error )?403(?: .{0,30})?|access (?:denied|blocked)|forbidden|blocked",
        opening=r"\A\W*(?:access denied|403 forbidden|you have been blocked|sorry, you have been blocked)",
    ),
)
"""Specific signatures first; the first match is used."""

_ENGLISH_PHRASES = {
    "captcha": r"(?:verify|confirm|prove)(?: that)? you(?: a|['’])re (?:a )?(?:human|not a (?:ro)?bot)",
    "denied": r"access (?:to this page |to this site )?(?:has been |is |was )?(?:denied|blocked|forbidden)",
    "login": r"(?:please|you (?:must|need to|have to)(?: be)?) (?:sign|log|logged) ?in\b",
}
"""Phrases with variants, beside those in the tables."""
_REASONS = ("proof_of_work", "challenge", "captcha", "rate_limit", "denied", "login", "consent", "javascript")

PHRASES = tuple(
    (reason, WordPattern("|".join(filter(None, (f"{{blocks.{reason}}}\\b", _ENGLISH_PHRASES.get(reason))))))
    for reason in _REASONS
)
"""Reason and its phrases in title or headings, the strongest first."""
