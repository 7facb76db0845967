"""Pages with third parties: advertising, tag managers, consent dialogs, chats, captchas and comments.

Third parties are served under their real names. Each script burns CPU, then calls back as the real ones do.
"""

from __future__ import annotations

import json

from aiohttp import web

from tests.site.catalogue import Page, built
from tests.site.hosts import TRACKERS, WIDGETS, origin
from tests.site.markup import page
from tests.site.prose import paragraph_texts, paragraphs

_PUT = """const put = texts => { for (const text of texts) {
  const p = document.createElement('p'); p.textContent = text; document.querySelector('main').append(p); } };"""
_TEXTS = {
    name: json.dumps(paragraph_texts(name, 0, 12)) for name in ("consent", "views", "gtag", "captcha", "comments")
}


def _scripts(request: web.Request, *hosts: str, attributes: str = "", query: str = "") -> str:
    sources = (f"{origin(request, host)}/third-party.js?{query}" for host in hosts)
    return "".join(f'<script src="{source}" {attributes}></script>' for source in sources)


async def _third_party(request: web.Request) -> web.Response:
    burn = int(request.query.get("ms", "40"))
    host = request.host.partition(":")[0]
    code = f"""const until = performance.now() + {burn}; while (performance.now() < until);
(window.loaded = window.loaded || []).push("{host}"); document.dispatchEvent(new Event("third-party"));
if (window.onThirdParty) window.onThirdParty("{host}");"""
    return web.Response(text=code, content_type="text/javascript")


def _trackers(request: web.Request) -> str:
    if request.query.get("none"):
        scripts = ""
    else:
        scripts = _scripts(request, *TRACKERS, *WIDGETS, attributes="async", query=request.query_string)
    return page("News", f"{paragraphs('trackers', 0, 12)}{scripts}<div id=late></div>" + _late("trackers"))


def _late(name: str) -> str:
    """Return a script that adds the second half of the text, so that the page must be rendered."""
    texts = json.dumps(paragraph_texts(name, 12, 24))
    return f"<script>{_PUT} setTimeout(() => put({texts}), 50)</script>"


def _callback(request: web.Request, name: str, host: str) -> str:
    code = f"{_PUT} window.onThirdParty = host => {{ if (host === '{host}') put({_TEXTS[name]}) }}"
    return page("Harbour", f"<script>{code}</script>{_scripts(request, host, attributes='async')}")


def _consent(request: web.Request) -> str:
    return _callback(request, "consent", "sdk.privacy-center.org")


def _views(request: web.Request) -> str:
    return _callback(request, "views", "www.googletagmanager.com")


def _captcha(request: web.Request) -> str:
    return _callback(request, "captcha", "www.recaptcha.net")


def _comments(request: web.Request) -> str:
    return _callback(request, "comments", "harbour.disqus.com")


def _gtag(request: web.Request) -> str:
    code = f"""{_PUT} const timer = setInterval(() => {{
  if (window.loaded) {{ clearInterval(timer); put({_TEXTS["gtag"]}); }} }}, 50)"""
    manager = _scripts(request, "www.googletagmanager.com", attributes="async")
    return page("Harbour", f"<script>{code}</script>{manager}")


def _note(request: web.Request) -> str:
    return page("Note", f"<p>The ferry leaves at seven.</p>{_scripts(request, TRACKERS[0], attributes='async')}")


_WALL = "Please turn off your ad blocker and reload this page."


def _overlay(request: web.Request) -> str:
    code = f"""window.addEventListener('load', () => setTimeout(() => {{ if (!window.loaded) {{
  document.querySelector('main').style.display = 'none';
  document.body.insertAdjacentHTML('beforeend', '<div class=wall><h1>{_WALL}</h1></div>'); }} }}, 100));"""
    ads = _scripts(request, "securepubads.g.doubleclick.net")
    return page("News", f"{paragraphs('overlay', 0, 12)}{ads}<script>{code}</script>{_late('overlay')}")


def _replaced(request: web.Request) -> str:
    code = f"""{_PUT} setTimeout(() => {{ if (window.loaded) put({json.dumps(paragraph_texts("replaced", 0, 24))});
  else document.body.innerHTML = '<p>{_WALL}</p>' }}, 100)"""
    ads = _scripts(request, "securepubads.g.doubleclick.net")
    return page("News", f"{ads}<script>{code}</script>")


def _snippet(request: web.Request) -> str:
    hide = """<style>.hidden-by-test { opacity: 0 !important }</style><script>
document.documentElement.className = 'hidden-by-test';
const show = () => document.documentElement.className = '';
window.onThirdParty = show; setTimeout(show, 4000);</script>"""
    test = _scripts(request, "www.googletagmanager.com", attributes="async")
    return page("Harbour", f"{paragraphs('snippet', 0, 12)}{_late('snippet')}", hide + test)


def _error(request: web.Request) -> str:
    texts = json.dumps(paragraph_texts("error", 0, 24))
    failed = "document.body.innerHTML = '<p>Something went wrong. Try again later.</p>'"
    script = _scripts(request, "embed.tawk.to", attributes=f'onerror="{failed}"')
    return page("Harbour", f"<script>{_PUT} put({texts})</script>{script}")


def _first_party(request: web.Request) -> str:
    texts = json.dumps(paragraph_texts("first", 0, 24))
    code = f"{_PUT} window.onThirdParty = () => put({texts})"
    return page("Harbour", f'<script>{code}</script><script src="/third-party.js?tag=GTM"></script>')


def _subject(request: web.Request) -> str:
    texts = json.dumps(paragraph_texts("subject", 0, 24))
    own = _scripts(request, request.host.partition(":")[0])
    return page("Tags", f"<script>{_PUT} window.onThirdParty = () => put({texts})</script>{own}")


CASES = {
    "trackers": ("trackers", 24),
    "consent-callback": ("consent", 12),
    "page-view": ("views", 12),
    "gtag-wait": ("gtag", 12),
    "adblock-overlay": ("overlay", 24),
    "adblock-wall": ("replaced", 24),
    "hide-snippet": ("snippet", 24),
    "error-handler": ("error", 24),
    "first-party": ("first", 24),
    "captcha-script": ("captcha", 12),
    "comment-script": ("comments", 12),
}
"""Marker words and their number by page."""

PAGES = (
    Page("/third-party.js", "a script of a third party", _third_party),
    built("/trackers", "a page with six third parties", _trackers),
    built("/consent-callback", "text that a consent dialog reveals", _consent),
    built("/page-view", "text that the tag manager reveals", _views),
    built("/tracked-note", "a short text with a tracker", _note),
    built("/gtag-wait", "text that waits for the tag manager", _gtag),
    built("/adblock-overlay", "a wall over the text if advertising is missing", _overlay),
    built("/adblock-wall", "a wall instead of the text if advertising is missing", _replaced),
    built("/hide-snippet", "text that an A/B test hides for four seconds", _snippet),
    built("/error-handler", "a page that replaces itself if a script fails", _error),
    built("/first-party", "a tracker under the site's own name", _first_party),
    built("/ad-host", "a page of a tag manager's own site", _subject),
    built("/captcha-script", "text that a captcha script reveals", _captcha),
    built("/comment-script", "comments of a comment service", _comments),
)
