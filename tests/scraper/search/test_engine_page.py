"""Consent is refused with the page's own form, and no other form is ever submitted."""

from __future__ import annotations

from browsers.model import Request, Snapshot
from scraper.search.engine_query import build_consent_refusal

ASKED = Request("https://news.google.com/rss/search?q=a", principal="somebody", site_profile="engine-googlenews")
URL = "https://consent.google.com/m?continue=https://news.google.com/"


def answer(html: str, url: str = URL) -> Request | None:
    return build_consent_refusal(Snapshot(url, ASKED.url, 200, {}, "text/html", html.encode(), html), ASKED)


def form(label: str, value: str, action: str = "https://consent.google.com/save") -> str:
    return (
        f"<form action='{action}' method='POST'>"
        f"<input type='hidden' name='set_eom' value='{value}'>"
        f"<input type='hidden' name='gl' value='DE'>"
        f"<button name='which' value='{value}'>{label}</button></form>"
    )


def test_the_refusing_form_is_sent_with_its_fields() -> None:
    sent = answer(form("Accept all", "false") + form("Reject all", "true"))
    assert sent is not None
    assert (sent.url, sent.method) == ("https://consent.google.com/save", "POST")
    assert sent.form == {"set_eom": "true", "gl": "DE", "which": "true"}
    assert (sent.principal, sent.site_profile) == (ASKED.principal, ASKED.site_profile)


def test_refusals_in_other_languages_are_recognized() -> None:
    for label in ("Alle ablehnen", "Tout refuser", "Rechazar todo", "すべて拒否", "全部拒绝", "Отклонить все"):
        assert answer(form(label, "true")) is not None, label


def test_consent_is_never_accepted() -> None:
    assert answer(form("Accept all", "false")) is None


def test_other_forms_are_never_sent() -> None:
    assert answer(form("Reject the offer", "true", "https://shop.example/order"), "https://shop.example/") is None
    assert answer("<form id='consent' method='post' action='javascript:x()'><button>Reject</button></form>") is None


def test_an_empty_page_has_no_refusal() -> None:
    assert answer("") is None
