"""The samples of probe.js, run in the page's own world, where the test can read it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from browsers.scripts import READINESS_PROBE

if TYPE_CHECKING:
    from playwright.async_api import Browser

pytestmark = pytest.mark.browser

LEVELS = 50
WATCHED = """
    const text = Object.getOwnPropertyDescriptor(Node.prototype, 'textContent');
    globalThis.reads = 0;
    Object.defineProperty(Node.prototype, 'textContent', {
      ...text, get() { reads++; return text.get.call(this); },
    });
"""
NESTED = """async (levels) => {
    const before = __readinessProbe.sample(null, 0)[2];
    reads = 0;
    let inner = document.body;
    for (let i = 0; i < levels; i++) {
      const next = document.createElement('div');
      inner.append(next);
      inner = next;
    }
    inner.append('A text that is long enough to be taken for content.');
    // Observers run before the next task.
    await new Promise((done) => setTimeout(done));
    const readings = reads;
    return [readings, __readinessProbe.sample(null, 0)[2] - before];
}"""


async def test_the_text_of_nested_elements_is_read_once(plain_browser: Browser) -> None:
    page = await plain_browser.new_page()
    try:
        await page.evaluate(WATCHED + READINESS_PROBE)
        assert await page.evaluate(NESTED, LEVELS) == [1, 1]
    finally:
        await page.close()
