"""The samples of probe.js, run in the page's own world, where the test can read it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from browsers.scripts import PROBE

if TYPE_CHECKING:
    from playwright.async_api import Browser

pytestmark = pytest.mark.browser

FLOORS = 50
WATCHED = """
    const text = Object.getOwnPropertyDescriptor(Node.prototype, 'textContent');
    globalThis.weighed = 0;
    Object.defineProperty(Node.prototype, 'textContent', {
      ...text, get() { weighed++; return text.get.call(this); },
    });
"""
NESTED = """async (floors) => {
    const before = __settling.look(null, 0)[2];
    weighed = 0;
    let inner = document.body;
    for (let i = 0; i < floors; i++) {
      const next = document.createElement('div');
      inner.append(next);
      inner = next;
    }
    inner.append('A text that is long enough to be taken for content.');
    // Observers are told before the next task.
    await new Promise((done) => setTimeout(done));
    const weighings = weighed;
    return [weighings, __settling.look(null, 0)[2] - before];
}"""


async def test_elements_put_one_into_another_are_weighed_once(plain_browser: Browser) -> None:
    page = await plain_browser.new_page()
    try:
        await page.evaluate(WATCHED + PROBE)
        assert await page.evaluate(NESTED, FLOORS) == [1, 1]
    finally:
        await page.close()
