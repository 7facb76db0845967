"""The marks by which walls are known: data alone, so that a new wall is a line here and a page in a test."""

from __future__ import annotations

import re

__all__ = ["CAPTCHA_CLASSES", "CHALLENGE_IDS", "CHALLENGE_SCRIPTS", "CONSENT_BOX", "LEAKY_SCRIPTS", "PHRASES"]

CHALLENGE_IDS = frozenset(
    "challenge-error-text challenge-form challenge-running cf-browser-verification cf-challenge-running "
    "px-captcha sec-if-cpt-container sec-cpt-if anubis_challenge".split()
)
"""Cloudflare, PerimeterX, Akamai, Anubis: no other page has these ids."""

CHALLENGE_SCRIPTS = re.compile(
    r"_cf_chl_opt|captcha-delivery\.com|_pxBlockScript|gokuProps|AwsWafIntegration\.|within\.website/x/cmd/anubis"
)
"""Cloudflare, DataDome, PerimeterX, AWS, Anubis, in the script of the challenge itself."""

LEAKY_SCRIPTS = re.compile(r"_Incapsula_Resource|cdn-cgi/challenge-platform|challenges\.cloudflare\.com")
"""These stand in many whole pages too; they mean a wall where there is next to nothing else."""

CAPTCHA_CLASSES = frozenset("g-recaptcha h-captcha cf-turnstile frc-captcha geetest_holder".split())

CONSENT_BOX = re.compile(
    r"cookie[-_]?(?:banner|bar|box|consent|dialog|law|modal|notice|overlay|popup|wall)|cookieconsent|consent|gdpr|"
    r"onetrust|cybotcookie|didomi|usercentrics|cmpbox|truste|qc-cmp|sp_message",
    re.IGNORECASE,
)
"""In the id or class of what a consent manager puts at the top level of a page."""


def _any_of(phrases: str) -> re.Pattern[str]:
    return re.compile("|".join(phrase.strip() for phrase in phrases.strip().splitlines()), re.IGNORECASE)


PHRASES: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "challenge",
        _any_of(
            r"""
            just a moment\.\.\.
            checking (?:your browser|if the site connection is secure)
            enable javascript and cookies to continue
            attention required! \|
            pardon our interruption
            making sure you['’]re not a bot
            verifying (?:your browser|(?:that )?you are (?:a )?human)
            """
        ),
    ),
    (
        "captcha",
        _any_of(
            r"""
            (?:verify|confirm|prove)(?: that)? you(?: a|['’])re (?:a )?(?:human|not a (?:ro)?bot)
            are you (?:a robot|a person|human)\?
            ^\W*(?:robot|security) check\b
            press (?:&|and) hold
            unusual traffic from your (?:computer )?network
            complete the (?:security check|captcha)
            enter the characters you see
            请完成.{0,8}验证
            人机验证
            ロボットではありません
            подтвердите, что вы не робот
            no soy un robot
            je ne suis pas un robot
            """
        ),
    ),
    (
        "denied",
        _any_of(
            r"""
            access (?:to this page |to this site )?(?:has been |is |was )?(?:denied|blocked|forbidden)
            \b403 forbidden\b
            you(?: have|['’]ve) been blocked
            your request (?:has been |was )blocked
            not available in your (?:country|region)
            zugriff verweigert
            accès (?:refusé|interdit)
            acceso denegado
            доступ (?:запрещ|огранич)
            访问被拒绝
            アクセスが拒否
            """
        ),
    ),
    (
        "login",
        _any_of(
            r"""
            ^\W*(?:sign|log) ?in\b
            (?:please|you (?:must|need to|have to)(?: be)?) (?:sign|log|logged) ?in\b
            ^\W*(?:anmelden|connexion|iniciar sesión|войти|вход|登录|登入|ログイン|로그인)
            """
        ),
    ),
    (
        "consent",
        _any_of(
            r"""
            ^\W*before you continue(?: to\b|\W*$)
            ^\W*bevor sie .{0,30}fortfahren
            ^\W*avant d['’]accéder à
            """
        ),
    ),
)
"""Reason and what such a wall says in its title or headings, strongest first."""
