"""Pages in old encodings, declared correctly, only in markup, wrongly, or not at all."""

from __future__ import annotations

from aiohttp import web

from tests.site.catalogue import Page
from tests.site.languages import LANGUAGES, Language

_DECLARATIONS = ("header", "meta", "wrong", "none")
_BOMS = {
    "utf-8": ("utf-8", b"\xef\xbb\xbf"),
    "utf-16le": ("utf-16-le", b"\xff\xfe"),
    "utf-16be": ("utf-16-be", b"\xfe\xff"),
}
_PHRASE = 24


def _language(label: str) -> tuple[Language, str] | None:
    for language in LANGUAGES.values():
        for known, codec in language.encodings:
            if known == label:
                return language, codec
    return None


def _document(text: str, charset: str | None) -> str:
    meta = f'<meta charset="{charset}">' if charset else ""
    half = len(text) // 2
    return (
        f"<!doctype html><html><head>{meta}<title>{text[:_PHRASE]}</title></head><body>"
        f"<main><h1>{text[:_PHRASE]}</h1><p>{text[:half]}</p><p>{text[half:]}</p></main></body></html>"
    )


async def _old(request: web.Request) -> web.Response:
    label, declaration = request.match_info["label"], request.match_info["declaration"]
    found = _language(label)
    if found is None or declaration not in _DECLARATIONS:
        raise web.HTTPNotFound
    language, codec = found
    # A common error: servers declare a default charset that is wrong for the page.
    header = {"header": f"; charset={label}", "wrong": "; charset=utf-8"}.get(declaration, "")
    text = _document(language.text, label if declaration == "meta" else None)
    return web.Response(body=text.encode(codec, "replace"), headers={"Content-Type": f"text/html{header}"})


async def _with_bom(request: web.Request) -> web.Response:
    codec, bom = _BOMS[request.match_info["label"]]
    text = _document(LANGUAGES["ru"].text, None)
    return web.Response(body=bom + text.encode(codec), headers={"Content-Type": "text/html"})


async def _utf8(request: web.Request) -> web.Response:
    declaration = request.match_info["declaration"]
    header = {"header": "; charset=utf-8", "wrong": "; charset=iso-8859-1"}.get(declaration, "")
    text = _document(LANGUAGES["ru"].text, "utf-8" if declaration == "meta" else None)
    return web.Response(body=text.encode(), headers={"Content-Type": f"text/html{header}"})


async def _broken_utf8(request: web.Request) -> web.Response:
    body = _document(LANGUAGES["ru"].text, "utf-8").encode()
    middle = body.index(b"<p>") + 3
    bad = body[:middle] + b"\xff\xc3\x28 \xed\xa0\x80 \xf8 MARK-broken-0 " + body[middle:]
    return web.Response(body=bad, headers={"Content-Type": "text/html; charset=utf-8"})


async def _with_nul(request: web.Request) -> web.Response:
    body = b"<!doctype html><p>before\0after &#0; &#xD800; MARK-nul-0</p>"
    return web.Response(body=body, headers={"Content-Type": "text/html; charset=utf-8"})


async def _manifest(request: web.Request) -> web.Response:
    phrases: dict[str, str] = {}
    for language in LANGUAGES.values():
        for label, _ in language.encodings:
            for declaration in _DECLARATIONS:
                phrases.setdefault(f"/charset/{label}/{declaration}", language.text[:_PHRASE])
    russian = LANGUAGES["ru"].text[:_PHRASE]
    phrases |= {f"/charset/utf-8/{declaration}": russian for declaration in _DECLARATIONS}
    phrases |= {f"/bom/{label}": russian for label in _BOMS}
    return web.json_response(phrases)


PAGES = (
    Page("/charset/manifest.json", "the phrase that each charset page must show", _manifest),
    Page("/charset/utf-8/broken", "UTF-8 with bytes that are not", _broken_utf8),
    Page("/charset/utf-8/nul", "UTF-8 with NUL characters", _with_nul),
    Page("/charset/utf-8/{declaration}", "UTF-8: header, meta, wrong, none", _utf8, example="/charset/utf-8/none"),
    Page(
        "/charset/{label}/{declaration}",
        "an old encoding: header, meta, wrong, none",
        _old,
        example="/charset/gbk/meta",
    ),
    Page("/bom/{label}", "UTF-8, UTF-16LE, UTF-16BE told by their first bytes", _with_bom, example="/bom/utf-16le"),
)
