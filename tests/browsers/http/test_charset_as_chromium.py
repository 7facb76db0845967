"""Encodings are decoded as by Chromium, compared byte by byte."""

from __future__ import annotations

import base64

import pytest
from playwright.async_api import Browser
from webencodings import LABELS

from browsers.http.charset import decode_with, find_codec

pytestmark = pytest.mark.browser

DECODE = """([label, data]) => {
  const bytes = Uint8Array.from(atob(data), c => c.charCodeAt(0));
  try { return new TextDecoder(label).decode(bytes); } catch { return null; }
}"""
# Browsers refuse these encodings because they can hide scripts from filters; we run no text.
REFUSED = {"hz", "iso2022_kr"}
# TextDecoder treats it as a separate encoding; for pages the standard maps it to windows-1252.
FOR_SCRIPTS = {"x-user-defined"}
KNOWN = [label for label in LABELS if find_codec(label)]


async def as_chromium(browser: Browser, cases: list[tuple[str, bytes]]) -> list[str | None]:
    page = await browser.new_page()
    try:
        data = [(label, base64.b64encode(body).decode()) for label, body in cases]
        texts: list[str | None] = await page.evaluate(f"cases => cases.map({DECODE})", data)
        return texts
    finally:
        await page.close()


async def test_chromium_knows_every_label(plain_browser: Browser) -> None:
    known = [label for label in KNOWN if find_codec(label) not in REFUSED]
    texts = await as_chromium(plain_browser, [(label, b"a") for label in known])
    assert [label for label, text in zip(known, texts, strict=True) if text is None] == []


async def test_single_bytes_are_decoded_as_in_chromium(plain_browser: Browser) -> None:
    single = [label for label in KNOWN if decode_with(b"\xe1", find_codec(label) or "") != "\ufffd"]
    body = bytes(range(0x80, 0x100))
    cases = [(label, body) for label in single if label not in FOR_SCRIPTS]
    assert len(cases) > 150
    for (label, _), theirs in zip(cases, await as_chromium(plain_browser, cases), strict=True):
        ours = decode_with(body, find_codec(label) or "")
        # Browsers map gaps of a code table to control characters, which are useless in text.
        different = [
            pair for pair in zip(ours, theirs or "", strict=True) if pair[0] != pair[1] and pair[0] != "\ufffd"
        ]
        assert different == [], label


@pytest.mark.parametrize("label", ["gbk", "big5", "shift_jis", "euc-jp", "euc-kr"])
async def test_byte_pairs_are_decoded_as_in_chromium(plain_browser: Browser, label: str) -> None:
    codec = find_codec(label) or ""
    pairs = [bytes((lead, trail)) for lead in range(0x81, 0xFF) for trail in (*range(0x40, 0x7F), *range(0x80, 0xFF))]
    known = [pair for pair in pairs if len(decode_with(pair, codec)) == 1 and decode_with(pair, codec) != "\ufffd"]
    (theirs,) = await as_chromium(plain_browser, [(label, b"\n".join(known))])
    different = [
        (pair.hex(), decode_with(pair, codec), other)
        for pair, other in zip(known, (theirs or "").split("\n"), strict=True)
        if decode_with(pair, codec) != other and other != "\ufffd"
    ]
    assert len(known) > 6000
    assert len(different) <= 20, different
