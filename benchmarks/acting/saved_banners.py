"""Measure how consent banners go from real saved pages, and whether content goes with them.

Pages are chosen by the markup of known consent managers. Most were saved without their style sheets, so that nothing
floats.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from playwright.async_api import Error, Page

from benchmarks.acting.banners import open_browser
from benchmarks.acting.serving import served
from benchmarks.common.command_line import Figures, print_table
from browsers.navigation.consent import refuse_consent

_MANAGERS = (
    "#onetrust-banner-sdk,#CybotCookiebotDialog,.qc-cmp2-container,[id^=sp_message_container],#truste-consent-track,"
    "#didomi-popup,#didomi-notice,#usercentrics-root,.osano-cm-window,.cc-window,#cmplz-cookiebanner-container,"
    ".cky-consent-container,#cookie-law-info-bar,#cookie-notice,#BorlabsCookieBox,#iubenda-cs-banner,"
    "#moove_gdpr_cookie_info_bar,#hs-eu-cookie-confirmation,.fc-consent-root"
)
"""Selectors of the banners of known consent managers."""
_MARKUP = re.compile(
    rb"(?:id|class)=[\"'][^\"']*\b(?:%s)"
    % b"|".join(name.encode() for name in re.findall(r"[\w-]{5,}", _MANAGERS.replace("id^=", "")))
)
_LOOK = """(managers) => {
  const isVisible = (element) => {
    const box = element.getBoundingClientRect();
    const isShown = element.checkVisibility({visibilityProperty: true, opacityProperty: true});
    return isShown && box.width > 30 && box.height > 15;
  };
  const isBanner = (element) =>
    (element.innerText || '').trim().length > 20 && (isVisible(element) || [...element.children].some(isVisible));
  const text = document.body ? document.body.innerText.replace(/\\s+/g, ' ') : '';
  return [[...document.querySelectorAll(managers)].some(isBanner), text];
}"""
_MIN_SENTENCE, _MAX_SENTENCES = 25, 60


@dataclass(frozen=True, slots=True)
class _SavedPage:
    path: str
    """Path below the folder of all corpora."""
    sentences: tuple[str, ...]
    """Sentences of its content."""


async def measure_saved_banners(folders: Sequence[Path]) -> Figures:
    """Refuse the banners of the pages of corpora with `html` and `gold` that have a known consent manager."""
    root = folders[0].parent
    pages = [page for folder in folders for page in _iter_pages(folder)]
    shown, stayed, lost, failed = 0, [], [], []
    with served(root) as port:
        async with open_browser() as new_page:
            for saved in pages:
                try:
                    async with new_page(f"http://127.0.0.1:{port}/{saved.path}") as (page, session):
                        had_banner, before = await _look(page)
                        await refuse_consent(session)
                        has_banner, after = await _look(page)
                except Error as error:
                    failed.append((saved.path, str(error)[:80]))
                    continue
                shown += had_banner
                if had_banner and has_banner:
                    stayed.append(saved.path)
                if any(sentence in before and sentence not in after for sentence in saved.sentences):
                    lost.append(saved.path)
    rows = [("banner stays", path) for path in stayed] + [("content lost", path) for path in lost]
    print_table(
        f"Saved pages with a consent manager: {shown} of {len(pages)} show its banner",
        ("", "page"),
        [*rows, *(("failed", f"{path}: {why}") for path, why in failed)],
    )
    return {
        "saved.pages": len(pages) - len(failed),
        "saved.shown": shown,
        "saved.gone": shown - len(stayed),
        "saved.lost": len(lost),
    }


def _iter_pages(folder: Path) -> Iterator[_SavedPage]:
    for file in sorted((folder / "html").glob("*.html")):
        if not _MARKUP.search(file.read_bytes()):
            continue
        gold = folder / "gold" / f"{file.stem}.json"
        text = _find_text(gold) if gold.exists() else (folder / "gold" / f"{file.stem}.txt").read_text(encoding="utf-8")
        parts = (" ".join(part.split()) for part in re.split(r"\n|(?<=[.!?]) ", text))
        sentences = [part for part in parts if len(part) > _MIN_SENTENCE][:_MAX_SENTENCES]
        yield _SavedPage(f"{folder.name}/html/{file.name}", tuple(sentences))


def _find_text(gold: Path) -> str:
    facts = json.loads(gold.read_text(encoding="utf-8"))
    text: str = facts.get("ground_truth", facts).get("main_content") or facts.get("text") or ""
    return text


async def _look(page: Page) -> tuple[bool, str]:
    found = await page.evaluate(_LOOK, _MANAGERS)
    return bool(found[0]), str(found[1])
