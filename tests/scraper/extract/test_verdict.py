from __future__ import annotations

import pytest

from scraper.extract import reader, verdict
from scraper.model import Verdict, VerdictKind
from tests.scraper.extract.snapshots import WORDS, page

SCRIPT = "<script src=/app.js></script>"
LONG = WORDS * 3
SHELL = f"<title>App</title><body><div id=root></div>{SCRIPT}</body>"

OK = Verdict()


def blocked(reason: str) -> Verdict:
    return Verdict(VerdictKind.BLOCKED, reason)


def thin(reason: str) -> Verdict:
    return Verdict(VerdictKind.THIN, reason)


CASES = [
    # whole pages
    (f"<main><p>{LONG}</p></main>", OK),
    (f"<main><p>{LONG}</p></main>{SCRIPT}", OK),
    ("<h1>Example Domain</h1><p>This domain is for use in examples.</p>", OK),
    (f"<main><p>{WORDS}</p></main>{SCRIPT}", OK),
    (f"<div id=root><main><p>{LONG}</p></main></div>{SCRIPT}<noscript>Enable JavaScript.</noscript>", OK),
    (f"<main><h1>What is a captcha?</h1><p>{LONG}</p><div class=g-recaptcha></div></main>", OK),
    (f"<main><h1>Access denied: a novel</h1><p>{LONG}</p></main>", OK),
    (f"<main><p>{LONG}</p><form><input type=password></form></main>", OK),
    (f"<script>window._cf_chl_opt={{}}</script><main><p>{LONG}</p></main>", OK),
    ("<main><p>" + "これは読むための文章です。" * 40 + f"</p></main>{SCRIPT}", OK),
    # thin
    (SHELL, thin("javascript")),
    (f"<nav>{'<a href=/x>Menu entry</a> ' * 60}</nav><div id=app></div>{SCRIPT}", thin("javascript")),
    (f"<div id=__next><p>{WORDS[:400]}</p></div>{SCRIPT}<div id=root></div>", thin("javascript")),
    (
        f"<main><p>{WORDS[:300]}</p></main>{SCRIPT}<noscript>You need to enable JavaScript.</noscript>",
        thin("javascript"),
    ),
    ("<meta http-equiv=refresh content='0; url=/next'><p>Moved.</p>", thin("refresh")),
    ("<iframe src=/inner></iframe>", thin("frames")),
    ("<script type=application/ld+json>{}</script>", thin("empty")),
    ("", thin("empty")),
    # walls
    (
        "<title>Just a moment...</title><div id=challenge-error-text>Enable JavaScript</div>" + SCRIPT,
        blocked("challenge"),
    ),
    ("<script>window._cf_chl_opt={cvId:'3'}</script><h1>example.com</h1>", blocked("challenge")),
    ("<p>Loading</p><script src='https://ct.captcha-delivery.com/c.js'></script>", blocked("challenge")),
    ("<iframe src=/x></iframe><script src='/_Incapsula_Resource?x=1'></script>", blocked("challenge")),
    ("<h1>Are you a robot?</h1><p>Please confirm.</p>", blocked("captcha")),
    ("<p>Go on:</p><div class=h-captcha></div>" + SCRIPT, blocked("captcha")),
    ("<title>Access Denied</title><p>You don't have permission to access this.</p>", blocked("denied")),
    ("<h1>Доступ ограничен</h1><p>Извините.</p>", blocked("denied")),
    (
        "<h1>Welcome</h1><form><input name=user><input type=password><button>Go</button></form>",
        blocked("login"),
    ),
    ("<h1>Sign in to continue</h1><form><input type=email></form>", blocked("login")),
    (f"<div class=cookie-consent><p>{WORDS[:600]}</p></div>", blocked("consent")),
    ("<h1>Before you continue to Example</h1><form><button>Accept all</button></form>", blocked("consent")),
]


@pytest.mark.parametrize(("html", "expected"), CASES)
def test_pages_are_judged_by_what_is_in_them(html: str, expected: Verdict) -> None:
    assert verdict.judge(page(html)) == expected
    assert reader.read(page(html)).verdict == expected


@pytest.mark.parametrize(
    ("status", "expected"),
    [(401, blocked("login")), (403, blocked("denied")), (429, blocked("rate_limit")), (404, OK), (503, OK)],
)
def test_a_status_names_the_wall_of_a_short_page(status: int, expected: Verdict) -> None:
    assert verdict.judge(page("<h1>Sorry</h1><p>That did not work.</p>", status=status)) == expected


def test_a_header_names_a_challenge_of_any_length() -> None:
    snapshot = page(f"<p>{LONG}</p>", status=403, headers={"cf-mitigated": "challenge"})
    assert verdict.judge(snapshot) == blocked("challenge")


def test_a_long_page_that_is_forbidden_is_still_a_page() -> None:
    assert verdict.judge(page(f"<main><p>{LONG}</p></main>", status=403)) == OK


def test_a_rendered_page_has_what_it_has() -> None:
    assert verdict.judge(page(f"<p>Few words.</p>{SCRIPT}", rendered=True)) == OK
    assert verdict.judge(page(SHELL, rendered=True)) == thin("empty")
    assert verdict.judge(page("<h1>Access denied</h1>", rendered=True)) == blocked("denied")


def test_a_form_with_a_captcha_beside_it_is_a_form() -> None:
    form = "<form><textarea></textarea><div class=g-recaptcha></div></form>"
    html = f"<main><h1>Contact</h1><p>{WORDS[:200]}</p>{form}</main>"
    assert verdict.judge(page(html)).kind is not VerdictKind.BLOCKED
