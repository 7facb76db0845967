"""The answer to a page that asks for consent: its own form, sent as the button that refuses sends it."""

from __future__ import annotations

import re
from dataclasses import replace
from urllib.parse import urljoin

from lxml import html

from browsers.model import Request, Snapshot

_REFUSES = re.compile(
    r"reject|decline|refuse|deny|necessary|essential|ablehnen|nur notwendige|refuser|rifiuta|rechazar|"
    r"rejeitar|recusar|weiger|afwijzen|avvis|avvisa|afvis|odmítn|odrzuć|отклонить|отказ|拒否|拒绝|全部拒絕|거부",
    re.IGNORECASE,
)
_CONSENT = re.compile(r"consent", re.IGNORECASE)
MAX_FIELDS = 60


def refusal(snapshot: Snapshot, asked: Request) -> Request | None:
    """The request that refuses what can be refused and goes on; None where the page has no such form."""
    if not snapshot.html.strip():
        return None
    tree = html.document_fromstring(snapshot.html)
    forms = [form for form in tree.iter("form") if _is_consent(form, snapshot.url)]
    refusing = [form for form in forms if _refuses(form)]
    if not refusing:
        return None
    form = refusing[0]
    url = urljoin(snapshot.url, form.get("action") or "")
    if not url.startswith("https://"):
        return None
    fields = _fields(form)
    if (form.get("method") or "get").lower() == "post":
        return replace(asked, url=url, method="POST", form=fields, headers={})
    return None


def _is_consent(form: html.HtmlElement, url: str) -> bool:
    return _CONSENT.search(f"{form.get('action') or ''} {form.get('id') or ''} {url}") is not None


def _refuses(form: html.HtmlElement) -> bool:
    return any(_REFUSES.search(_label(button)) for button in _buttons(form))


def _buttons(form: html.HtmlElement) -> list[html.HtmlElement]:
    return [
        element
        for element in form.iter("button", "input")
        if element.tag == "button" or element.get("type") in {"submit", "button"}
    ]


def _label(button: html.HtmlElement) -> str:
    return " ".join((button.text_content(), button.get("value") or "", button.get("aria-label") or ""))


def _fields(form: html.HtmlElement) -> dict[str, str]:
    """What the form sends: its hidden fields, and the name of the button that refuses."""
    fields = {
        element.get("name", ""): element.get("value") or ""
        for element in list(form.iter("input"))[:MAX_FIELDS]
        if element.get("name") and element.get("type", "text") in {"hidden", "text"}
    }
    for button in _buttons(form):
        if button.get("name") and _REFUSES.search(_label(button)):
            fields[button.get("name", "")] = button.get("value") or ""
            break
    return fields
