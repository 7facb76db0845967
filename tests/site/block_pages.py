"""Pages shown instead of content: captcha, consent, login, bans, challenges."""

from __future__ import annotations

from aiohttp import web

from tests.site.catalogue import Page, built, fixed
from tests.site.markup import html, page, scripted
from tests.site.prose import paragraphs

_CAPTCHA = """<h1>Are you a person?</h1><p>Our systems have detected unusual traffic from your network.</p>
<form action="/wall/captcha" method="post"><div class="g-recaptcha" data-sitekey="none"></div>
<iframe title="captcha" src="/frame-hidden" width="300" height="80"></iframe>
<input name="answer"><button>Go on</button></form>"""

_CONSENT = """<div role="dialog" aria-modal="true" id="consent"><h1>Before you continue</h1>
<p>We and our 812 partners use cookies to store and access information on your device.</p>
<button>Accept all</button><button>Reject all</button><a href="/privacy">Privacy</a></div>"""

_GATE = (
    _CONSENT
    + """<script>document.querySelectorAll('button').forEach((button) => {
  button.onclick = () => { document.cookie = 'choice=' + button.textContent.split(' ')[0]; location.reload(); };
});</script>"""
)

# The most frequent kind: a dialog covers the article.
_OVERLAY = """<div role="dialog" aria-modal="true" class="cookie-banner"
style="position:fixed;inset:0;background:#fff">
<h2>We value your privacy</h2><p>CONSENT-BANNER-TEXT choose what we may store.</p>
<button>Accept all</button></div>"""

_LOGIN = """<h1>Sign in to go on</h1><form method="post"><label>Name <input name="user"></label>
<label>Password <input type="password" name="password"></label><button>Sign in</button></form>
<p>No account? <a href="/join">Join now</a> to read this story.</p>"""

_ENABLE = """<h1>Please enable JavaScript</h1>
<p>This site needs JavaScript. Enable JavaScript in your browser and reload the page.</p>"""

_NOSCRIPT = """<noscript><h1>JavaScript is required</h1>
<p>NOSCRIPT-TEXT please enable JavaScript.</p></noscript>
<div id="app"></div>"""

_CHECKING = """<html><head><title>Just a moment...</title></head><body><h1>Checking your browser</h1>
<div class="spinner"></div><script>setTimeout(() => {
  document.cookie = 'passed=1; path=/challenge'; location.reload();
}, 900)</script></body></html>"""


def _challenge(request: web.Request) -> str:
    if request.cookies.get("passed") == "1":
        return page("Passed", paragraphs("challenge", 0, 10))
    return _CHECKING


def _gate(request: web.Request) -> str:
    """Return the content only after a choice, which it names."""
    if choice := request.cookies.get("choice"):
        return page("Behind", f"<p>CHOICE {choice}</p>{paragraphs('consent-gate', 0, 10)}")
    return page("Before you continue", _GATE)


def _refusal(path: str, about: str, status: int, text: str, **headers: str) -> Page:
    sent = {name.replace("_", "-"): value for name, value in headers.items()}

    async def answer(request: web.Request) -> web.Response:
        return html(page("Refused", text), status=status, headers=sent)

    return Page(path, about, answer)


async def _no_headless(request: web.Request) -> web.Response:
    agent = request.headers.get("User-Agent", "") + request.headers.get("Sec-CH-UA", "")
    if "headless" in agent.lower():
        return html(page("Denied", "<h1>Access denied</h1><p>Automated access.</p>"), status=403)
    return html(page("Welcome", paragraphs("no-headless", 0, 10)))


async def _asks_password(request: web.Request) -> web.Response:
    said = request.headers.get("Authorization")
    if said is None:
        return web.Response(status=401, headers={"WWW-Authenticate": 'Basic realm="test"'}, text="NOT-TOLD")
    return html(f"<p>TOLD-{said.removeprefix('Basic ')}</p>{paragraphs('told', 0, 10)}")


PAGES = (
    Page("/asks-password", "401 to who does not say a name and a password", _asks_password),
    fixed("/wall/captcha", "a captcha instead of the page, status 200", page("Attention", _CAPTCHA)),
    fixed("/wall/consent", "nothing but a consent dialog", page("Before you continue", _CONSENT)),
    built("/wall/consent-gate", "a consent dialog before the content is sent", _gate),
    fixed(
        "/consent-overlay",
        "an article under a consent dialog",
        page("Overlaid", paragraphs("consent-overlay", 0, 10) + _OVERLAY),
        marks=10,
    ),
    fixed("/wall/login", "nothing but a login form", page("Sign in", _LOGIN)),
    fixed("/wall/javascript", "'enable JavaScript', whatever one does", page("JavaScript", _ENABLE)),
    fixed(
        "/noscript",
        "'enable JavaScript' that goes away with scripts on",
        scripted("Scripts", "article('noscript', 0, 10, 100).then(put)", _NOSCRIPT),
        marks=10,
    ),
    built("/challenge", "a check that lets the browser through after 0.9 s", _challenge, marks=10),
    _refusal("/wall/forbidden", "403", 403, "<h1>Forbidden</h1><p>You may not read this.</p>"),
    _refusal("/wall/too-many", "429 with Retry-After: 7", 429, "<h1>Too many requests</h1>", Retry_After="7"),
    _refusal(
        "/wall/too-many-date",
        "429 with Retry-After as a date",
        429,
        "<h1>Too many requests</h1>",
        Retry_After="Fri, 31 Dec 2027 23:59:59 GMT",
    ),
    _refusal("/wall/unavailable", "503 with Retry-After: 30", 503, "<h1>Back soon</h1>", Retry_After="30"),
    _refusal(
        "/wall/unauthorized",
        "401 that asks for a password",
        401,
        "<h1>Password, please</h1>",
        WWW_Authenticate='Basic realm="harbour"',
    ),
    _refusal(
        "/wall/challenge",
        "403 challenge that never clears, in the manner of a CDN",
        403,
        "<h1>Just a moment...</h1><p>Verifying you are human. This may take a few seconds.</p>"
        "<div id='challenge-running'></div>",
        Cf_Mitigated="challenge",
    ),
    Page("/no-headless", "403 for whoever calls himself headless", _no_headless, marks=10),
)
