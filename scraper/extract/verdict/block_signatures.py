"""Signatures of block pages: captchas, challenges, refusals, rate limits, logins and consent forms.

A mark is a part of the page (ids, classes, URLs of scripts, frames and forms, code of challenges) that does not change
with the language. Phrases come last and count only in title and headings, since they occur in many complete pages and
their scripts. To add a block page, add a line here and a saved page to a test.
"""

from __future__ import annotations

import re


def _map_names(reason: str, names: str) -> dict[str, str]:
    return dict.fromkeys(names.split(), reason)


MARKED_IDS = (
    # Cloudflare, PerimeterX, Akamai
    _map_names("challenge", "challenge-error-text challenge-form challenge-running cf-browser-verification")
    | _map_names("challenge", "cf-challenge-running cf-please-wait px-captcha sec-if-cpt-container sec-cpt-if")
    | _map_names("proof_of_work", "anubis_challenge anubis_version")
    | _map_names("captcha", "captcha-form anomaly-modal")  # Google, DuckDuckGo
    | _map_names("denied", "cf-error-details")
)
"""Reason by an id that no other page has."""

MARKED_CLASSES = (
    _map_names("captcha", "anomaly-modal__title anomaly-modal__box")  # DuckDuckGo
    | _map_names("captcha", "CheckboxCaptcha AdvancedCaptcha SmartCaptcha-Overlay")  # Yandex
    | _map_names("captcha", "passMod_dialog-wrapper passMod_slide-control")  # Baidu
    | _map_names("captcha", "captcha_header")  # Bing
    | _map_names("denied", "cf-error-code")
)
"""Reason by a class that no other page has."""

MARKED_ADDRESSES: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("proof_of_work", re.compile(r"\.within\.website/x/cmd/anubis|/\.well-known/sgcaptcha|/api/captcha/pow\b")),
    (
        "captcha",
        re.compile(
            r"/sorry/(?:index|image)|^CaptchaRedirect|/checkcaptcha\b|wappass\.baidu\.com|captcha-delivery\.com|"
            r"/errors/validateCaptcha\b"
        ),
    ),
    ("challenge", re.compile(r"/_fs-ch-\w+/")),  # Fastly
    ("consent", re.compile(r"//consent\.(?:google|youtube|yahoo)\.|//guce\.yahoo\.")),
)
"""Reason and pattern of the URL of a script, frame or form that only block pages use."""

MARKED_URLS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("proof_of_work", re.compile(r"/\.well-known/sgcaptcha|/\.within\.website/")),
    (
        "captcha",
        re.compile(
            r"/sorry/index\b|/showcaptcha\b|/(?:sp|turing)/captcha\b|//wappass\.baidu\.|captcha-delivery\.com/|"
            r"//validate\.perfdrive\.com/"
        ),
    ),
    ("rate_limit", re.compile(r"\A[a-z]+://[\w.-]+\.queue-it\.net/")),  # a waiting queue
    ("consent", re.compile(r"//consent\.(?:google|youtube|yahoo)\.|//guce\.yahoo\.")),
)
"""Reason and pattern of the final URL of a request."""

CHALLENGE_SCRIPTS = re.compile(
    r"_cf_chl_opt|_pxBlockScript|gokuProps|AwsWafIntegration\.|KPSDK\.scriptStart|sgchallenge\s*="
    r"|captcha-delivery\.com"
)
"""Code in the script of a challenge: Cloudflare, PerimeterX, AWS, Kasada, SiteGround, DataDome."""

WIDGET_ADDRESSES: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("challenge", re.compile(r"_Incapsula_Resource|/cdn-cgi/challenge-platform/")),
    ("proof_of_work", re.compile(r"/altcha(?:[.-][\w.-]+)?\.js")),
    (
        "captcha",
        re.compile(
            r"challenges\.cloudflare\.com|hcaptcha\.com/|/recaptcha/(?:api|enterprise)|smartcaptcha\.|/captcha[^/]*\.js"
        ),
    ),
)
"""Reason and pattern of a URL that complete pages use too. It counts on pages with hardly any text."""

WIDGET_CLASSES = (
    _map_names("captcha", "g-recaptcha h-captcha cf-turnstile frc-captcha geetest_holder captcha-wrap")
    | _map_names("captcha", "captcha-container SmartCaptcha smart-captcha")
    | _map_names("proof_of_work", "altcha captcha-altcha")
)
"""Reason by a class that complete pages use too. It counts on pages with hardly any text."""


CONSENT_BOX = re.compile(
    r"cookie[-_]?(?:banner|bar|box|consent|dialog|law|modal|notice|overlay|popup|wall)|cookieconsent|consent|gdpr|"
    r"onetrust|cybotcookie|didomi|usercentrics|cmpbox|truste|qc-cmp|sp_message",
    re.IGNORECASE,
)
"""Id or class of the elements that consent managers insert at the top level of a page."""


def _compile_phrases(phrases: str) -> re.Pattern[str]:
    return re.compile("|".join(phrase.strip() for phrase in phrases.strip().splitlines()), re.IGNORECASE)


PHRASES: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "proof_of_work",
        _compile_phrases(
            r"""
            making sure you['’]re not a bot
            ^\W*pow captcha
            """
        ),
    ),
    (
        "challenge",
        _compile_phrases(
            r"""
            just a moment\.\.\.
            ^\W*(?:one|un|einen|ein|um|een) (?:moment|momento|instant|augenblick)\W*$
            checking (?:your browser|if the site connection is secure)
            enable javascript and cookies to continue
            attention required! \|
            pardon our interruption
            verifying (?:your browser|(?:that )?you are (?:a )?human)
            ^\W*vercel security checkpoint
            ^\W*client challenge\W*$
            ^\W*one moment, please\b
            your request is being verified
            ^\W*(?:robot|browser) challenge screen
            """
        ),
    ),
    (
        "captcha",
        _compile_phrases(
            r"""
            (?:verify|confirm|prove)(?: that)? you(?: a|['’])re (?:a )?(?:human|not a (?:ro)?bot)
            are you (?:not )?(?:a robot|a person|human)\?
            ^\W*(?:robot|security) check\b
            ^\W*(?:bot|human) verification\W*$
            verifying that you are not a (?:ro)?bot
            ^\W*captcha\W*$
            press (?:&|and) hold
            unusual traffic from your (?:computer )?network
            complete the (?:security check|captcha)
            solve the (?:challenge|captcha)
            enter the characters you see
            请完成.{0,8}验证
            人机验证
            安全验证
            ロボットではありません
            로봇이 아닙니다
            вы не робот
            no soy un robot
            je ne suis pas un robot
            ich bin kein roboter
            non sono un robot
            não (?:sou|é) um robô
            """
        ),
    ),
    (
        "rate_limit",
        _compile_phrases(
            r"""
            ^\W*(?:429\W+)?too many requests\W*$
            ^\W*rate limit(?:ed| exceeded)?\b
            ^\W*zu viele anfragen
            ^\W*trop de requêtes
            ^\W*demasiadas solicitudes
            """
        ),
    ),
    (
        "denied",
        _compile_phrases(
            r"""
            access (?:to this page |to this site )?(?:has been |is |was )?(?:denied|blocked|forbidden)
            \b403 forbidden\b
            you(?: have|['’]ve) been blocked
            your request (?:has been |was )blocked
            ^\W*the request is blocked\b
            ^\W*request rejected\W*$
            the requested url was rejected
            your access to this site has been limited
            not (?:yet )?available in your (?:country|region)
            zugriff verweigert
            accès (?:refusé|interdit)
            accesso (?:negato|vietato)
            dostęp zabroniony
            erişim engellendi
            acceso denegado
            acesso negado
            доступ (?:запрещ|огранич)
            访问被拒绝
            アクセスが拒否
            """
        ),
    ),
    (
        "login",
        _compile_phrases(
            r"""
            ^\W*(?:sign|log) ?in\b
            (?:please|you (?:must|need to|have to)(?: be)?) (?:sign|log|logged) ?in\b
            ^\W*(?:anmelden|connexion|iniciar sesión|войти|вход|登录|登入|ログイン|로그인)
            """
        ),
    ),
    (
        "consent",
        _compile_phrases(
            r"""
            ^\W*before you continue(?: to\b|\W*$)
            ^\W*bevor sie .{0,30}fortfahren
            ^\W*avant d['’]accéder à
            """
        ),
    ),
    (
        "javascript",
        _compile_phrases(
            r"""
            ^\W*(?:please )?(?:enable|turn on|activate) javascript\b
            ^\W*javascript (?:is )?(?:required|disabled|not enabled)\b
            ^\W*you need to enable javascript\b
            ^\W*(?:bitte )?javascript aktivieren
            ^\W*javascript ist (?:deaktiviert|erforderlich)
            ^\W*(?:veuillez )?activer javascript\b
            ^\W*(?:por favor,? )?(?:activ[ae]|habilit[ae]r?|ative) (?:el |o )?javascript\b
            ^\W*(?:abilita|attiva)(?:re)? javascript\b
            ^\W*(?:пожалуйста,? )?включите javascript
            ^\W*(?:proszę )?włącz(?:yć)? javascript
            ^\W*(?:请|請)?(?:启用|啟用|开启|開啟) ?javascript
            ^\W*javascript ?を有効
            ^\W*javascript ?(?:을|를) (?:활성화|사용)
            """
        ),
    ),
)
"""Reason and its phrases in title or headings, the strongest first."""
