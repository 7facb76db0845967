"""Synthetic pages for `benchmarks.verdict`: shells, block pages and complete pages.

The authors of the rules wrote them, so their figures are separate from those of saved pages.
"""

from __future__ import annotations

import json
import re
import urllib.request
from collections.abc import Iterator

from benchmarks.verdict.pages import LabeledPage, text_of
from tests.site.prose import paragraphs
from tests.site.running import Site

_NO_PAGES = frozenset({"/plain"})
_HOST = "https://made.example/"
_APP = '<script src="/static/js/main.3f2a1c.js" defer></script><script src="/runtime.js"></script>'
_MENU = "<nav><ul>" + "".join(f"<li><a href='/m{n}'>Entry {n}</a></li>" for n in range(30)) + "</ul></nav>"
_STATE = json.dumps({"props": {"page": {"body": "The northern mole was closed to ships. " * 60}}})
_ANALYTICS = "".join(f"<script async src='https://tags.example/{n}.js'></script>" for n in range(25))

_DATA = f'<script id="__NEXT_DATA__" type="application/json">{_STATE}</script>'
_RECAPTCHA = "<script src='https://www.google.com/recaptcha/api.js'></script>"

_SHELLS = {
    "react": '<noscript>You need to enable JavaScript to run this app.</noscript><div id="root"></div>',
    "react, bare": '<div id="root"></div>',
    "vue": "<noscript><strong>We're sorry but it doesn't work without JavaScript.</strong></noscript>"
    '<div id="app"></div>',
    "angular": "<app-root></app-root>",
    "angular, loading": '<app-root><div class="spinner">Loading…</div></app-root>',
    "svelte": '<div style="display: contents" id="svelte"></div>',
    "next, state alone": f'<div id="__next"></div>{_DATA}',
    "nuxt": '<div id="__nuxt"><div class="nuxt-loading"></div></div><script>window.__NUXT__={}</script>',
    "ember": '<script id="ember-basic-dropdown-wormhole"></script><div id="ember"></div>',
    "flutter": '<script src="flutter_bootstrap.js" async></script>',
    "blazor": '<div id="app"><div class="loading-progress-text"></div></div>',
    "skeleton": '<div id="root"><div class="skeleton"></div>' + "<div class='line'></div>" * 20 + "</div>",
    "menu and empty main": f"<header>{_MENU}</header><main id='content'></main><footer>© Harbour</footer>",
    "loading in German": "<div id=app>Wird geladen, bitte warten …</div>",
    "loading in Japanese": "<div id=app>読み込み中です。しばらくお待ちください。</div>",
    "loading in Arabic": "<div id=app>جار التحميل…</div>",
    "custom elements": "<x-app><x-header></x-header><x-router></x-router></x-app>",
    "written by script": "<script>document.write(atob(page))</script>",
}

_WALLS = {
    "cloudflare": "<title>Just a moment...</title>"
    "<script>(function(){window._cf_chl_opt={cvId:'3'}})()</script>"
    "<noscript>Enable JavaScript and cookies to continue</noscript>",
    "cloudflare in German": "<title>Nur einen Moment…</title>"
    "<script>window._cf_chl_opt={cvId:'3'}</script><h1>x.de</h1>",
    "cloudflare denial": "<title>Attention Required! | Cloudflare</title><div id=cf-error-details>"
    "<h1>Sorry, you have been blocked</h1><p>You are unable to access made.example</p></div>",
    "datadome": "<title>made.example</title><p>Please enable JS and disable any ad blocker</p>"
    "<script>var dd={'rt':'c','host':'geo.captcha-delivery.com'}</script>"
    "<script src='https://ct.captcha-delivery.com/c.js'></script>",
    "perimeterx": "<title>Access to this page has been denied</title><div id=px-captcha></div>"
    "<script>window._pxAppId='PX1'</script>",
    "perimeterx in Spanish": "<title>Un momento</title><p>Mantén pulsado</p><div id=px-captcha></div>",
    "akamai": "<div id=sec-if-cpt-container></div><script src='/_sec/cp_challenge/x.js'></script>",
    "akamai denial": "<title>Access Denied</title><h1>Access Denied"
    "</h1>You don't have permission to access this."
    "<p>Reference #18.2d351ab8.1557333295.a4e16ab",
    "incapsula": "<iframe src='/_Incapsula_Resource?CWUDNSAI=1&incident_id=5'>Request unsuccessful.</iframe>"
    "<script src='/_Incapsula_Resource?SWJIYLWA=1'></script>",
    "aws": "<div id=challenge-container></div><script>window.gokuProps={'key':'x'}</script>"
    "<script src='https://x.token.awswaf.com/x/challenge.js'></script>",
    "kasada": "<script>window.KPSDK={};KPSDK.scriptStart=KPSDK.now()</script><script src='/ips.js'></script>",
    "anubis": "<title>Making sure you're not a bot!</title>"
    "<script id=anubis_challenge type=application/json>{}"
    "</script><p>Loading...</p><script src='/.within.website/x/cmd/anubis/static/js/main.mjs'></script>",
    "anubis in French": "<title>Vérification en cours</title>"
    "<script id=anubis_challenge type=application/json>{}"
    "</script><p>Chargement</p><script src='/.within.website/x/cmd/anubis/static/js/main.mjs'></script>",
    "siteground": "<meta http-equiv=refresh content='0;/.well-known/sgcaptcha/?r=%2F'>",
    "google": "<title>https://made.example</title><form id=captcha-form action=index method=post>"
    "<div class=g-recaptcha></div></form><hr>About this page. Our systems have detected unusual traffic.",
    "yandex": "<title>Вы не робот?</title><form action='/checkcaptcha?key=1'><div class=CheckboxCaptcha>Я</div></form>",
    "consent, google": "<h1>Bevor Sie zu Google weitergehen</h1>"
    "<form action='https://consent.google.com/save'>"
    f"<button>Alle ablehnen</button></form>{paragraphs('consent', 0, 3)}",
    "consent alone": f"<div id=onetrust-banner-sdk class=cookie-consent>{paragraphs('cookies', 0, 2)}</div>",
    "login": "<title>Sign in</title><form><input name=user><input type=password><button>Go</button></form>",
    "login in Chinese": "<title>欢迎</title><form><input name=u><input type=password><button>登录</button></form>",
    "denied in Russian": "<title>Доступ запрещён</title><p>Обратитесь к администратору.</p>",
    "too many": "<title>Too Many Requests</title><p>Please slow down.</p>",
    "hcaptcha alone": "<form><div class=h-captcha></div></form>"
    "<script src='https://js.hcaptcha.com/1/api.js'></script>",
}

_WHOLE = {
    "article, many tags": f"<article><h1>A day</h1>{paragraphs('many-tags', 0, 12)}</article>{_ANALYTICS}",
    "rendered on the server": f"<div id=__next><main><h1>A day</h1>{paragraphs('ssr', 0, 12)}</main></div>"
    f"{_DATA}{_APP}",
    "note for who has no scripts": "<noscript>Please enable JavaScript for comments.</noscript>"
    f"<main>{paragraphs('note', 0, 8)}</main>{_APP}",
    "thread in noscript": f"<div id=main></div><noscript><h1>Thread</h1>{paragraphs('thread', 0, 10)}</noscript>{_APP}",
    "contact form with a captcha": f"<main><h1>Contact</h1>{paragraphs('contact', 0, 2)}<form>"
    f"<input type=email>"
    "<textarea></textarea><div class=g-recaptcha></div></form></main>" + _RECAPTCHA,
    "article about captchas": "<title>Are you a robot? A history</title><main><h1>Are you a robot?</h1>"
    f"{paragraphs('captchas', 0, 10)}</main>{_APP}",
    "article under a consent banner": f"<main>{paragraphs('under', 0, 10)}</main><div class=cookie-banner>"
    f"{paragraphs('banner', 0, 1)}</div>{_APP}",
    "login beside the text": f"<main>{paragraphs('beside', 0, 6)}</main><form><input type=password></form>{_APP}",
    "short and whole": "<h1>Example Domain</h1><p>This domain is for use in illustrative examples.</p>",
    "guarded but open": f"<main>{paragraphs('open', 0, 8)}</main>"
    "<script src='/cdn-cgi/challenge-platform/scripts/jsd/main.js'></script>",
    "Chinese": f"<main><h1>公告</h1><p>{'本页包含一段很长的中文文字，用于说明。' * 30}</p></main>{_APP}",
    "definition": "<h1>jetty</h1><p>A structure of wood or stone that is built out into the water.</p>",
}


def synthetic_pages() -> Iterator[LabeledPage]:
    """Yield the shells, block pages and complete pages."""
    for kind, expected, pages in (("shell", "thin", _SHELLS), ("wall", "blocked", _WALLS), ("whole", "ok", _WHOLE)):
        for name, html in pages.items():
            head = "<meta charset=utf-8>" if kind == "wall" else f"<meta charset=utf-8><title>{name}</title>"
            script = _APP if kind == "shell" else ""
            yield LabeledPage(f"made {kind}", name, _HOST, f"<!doctype html>{head}{html}{script}", expected)


def test_site_pages(site: Site) -> Iterator[LabeledPage]:
    """Yield pages of the test site: complete if the response has every marker, thin if it has none."""
    with urllib.request.urlopen(site.direct("/manifest.json"), timeout=30) as answer:
        rows = json.load(answer)
    for path, marks in sorted(rows.items()):
        with urllib.request.urlopen(site.direct(path), timeout=30) as answer:
            html = answer.read().decode("utf-8", "replace")
        seen = set(re.findall(r"MARK-[\w-]+-\d+", text_of(html)))
        if len(seen) in (0, marks["marks"]) and path not in _NO_PAGES:
            yield LabeledPage("test site", path, site.url(path), html, "ok" if seen else "thin")
