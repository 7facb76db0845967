"""Pages in old encodings become the same text peeked and rendered."""

from __future__ import annotations

import pytest

from browsers import Browsers, Mode, Request
from tests.site.languages import LANGUAGES
from tests.site.running import Site

pytestmark = pytest.mark.browser

PEEKED = [
    f"/charset/{label}/{way}"
    for label in ("gbk", "big5", "shift_jis", "euc-jp", "euc-kr", "windows-1251", "windows-1250", "windows-874")
    for way in ("header", "meta", "wrong", "none")
]


def phrase(path: str) -> str:
    label = path.split("/")[2]
    return next(one.text[:24] for one in LANGUAGES.values() if label in dict(one.encodings))


@pytest.mark.parametrize("path", PEEKED)
async def test_peeked_page_is_decoded(browsers: Browsers, site: Site, path: str) -> None:
    snapshot = await browsers.visit(Request(site.url(path), mode=Mode.PEEK))
    assert not snapshot.rendered
    assert phrase(path) in snapshot.html
    assert "\ufffd" not in snapshot.html


@pytest.mark.parametrize("path", ["/charset/gbk/header", "/charset/shift_jis/meta", "/charset/windows-1251/header"])
async def test_declared_encoding_gives_the_same_text_peeked_and_rendered(
    browsers: Browsers, site: Site, path: str
) -> None:
    snapshot = await browsers.visit(Request(site.url(path), mode=Mode.RENDER))
    assert snapshot.rendered
    assert phrase(path) in snapshot.html


@pytest.mark.parametrize("label", ["utf-8", "utf-16le", "utf-16be"])
async def test_byte_order_mark_decides(browsers: Browsers, site: Site, label: str) -> None:
    snapshot = await browsers.visit(Request(site.url(f"/bom/{label}"), mode=Mode.PEEK))
    assert LANGUAGES["ru"].text[:24] in snapshot.html


async def test_invalid_bytes_and_nul_do_not_change_other_text(browsers: Browsers, site: Site) -> None:
    broken = await browsers.visit(Request(site.url("/charset/utf-8/broken"), mode=Mode.PEEK))
    assert LANGUAGES["ru"].text[:24] in broken.html
    assert "MARK-broken-0" in broken.html
    nul = await browsers.visit(Request(site.url("/charset/utf-8/nul"), mode=Mode.PEEK))
    assert "MARK-nul-0" in nul.html
    assert "\0" not in nul.html
