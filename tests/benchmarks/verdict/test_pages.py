"""Labels of pages from their gold files, with a small corpus."""

from __future__ import annotations

import json
from pathlib import Path

from benchmarks.verdict.pages import LabeledPage, saved_pages, text_of
from benchmarks.verdict.synthetic_pages import synthetic_pages
from tests.scraper.extract.snapshots import page, verdict_of

STORY = " ".join(f"sentence{n} about the harbour" for n in range(60))
SCRIPT = "<script src=/a.js></script>"
DATA = f"<script type=application/json>{json.dumps(STORY)}</script>"
PAGES = {
    "whole": f"<nav>Menu</nav><main><div><p>{STORY}</p></div></main><footer>Imprint</footer>{SCRIPT}",
    "plain": f"<nav>Menu</nav><p>{STORY}</p>",
    "shell": "<nav>Menu</nav><div id=root></div><script src=/a.js></script>",
    "state": f"<div id=root></div>{DATA}<script>run()</script>",
    "half": f"<p>{STORY[: len(STORY) // 2]}</p><script src=/a.js></script>",
}


def corpus(folder: Path) -> dict[str, LabeledPage]:
    wcxb = folder / "wcxb"
    for name in ("html", "gold"):
        (wcxb / name).mkdir(parents=True)
    for name, html in PAGES.items():
        (wcxb / "html" / f"{name}.html").write_text(f"<body>{html}</body>")
        (wcxb / "gold" / f"{name}.json").write_text(json.dumps({"ground_truth": {"main_content": STORY}}))
    rows = {name: {"url": f"https://{name}.example/", "type": "article"} for name in PAGES}
    (wcxb / "index.json").write_text(json.dumps(rows))
    for other in ("extra-pages", "pages-lang", "recipes"):
        (folder / other).mkdir()
        (folder / other / "index.jsonl").write_text("")
    return {labelled.name: labelled for labelled in saved_pages(folder)}


def test_pages_are_labeled_by_the_share_of_their_gold_in_the_html(tmp_path: Path) -> None:
    labels = {name: labelled.expected for name, labelled in corpus(tmp_path).items()}
    assert labels == {"whole": "ok", "whole hollow": "thin", "plain": "ok", "shell": "thin", "state": "thin"}


def test_a_page_without_content_keeps_menus_and_footer(tmp_path: Path) -> None:
    hollow = corpus(tmp_path)["whole hollow"].html
    assert text_of(hollow).split() == ["Menu", "Imprint"]
    assert "<script" in hollow and "<main>" in hollow


def test_synthetic_pages_get_their_expected_verdict() -> None:
    said = {one.name: verdict_of(page(one.html, url=one.url)).kind.value for one in synthetic_pages()}
    assert said == {one.name: one.expected for one in synthetic_pages()}
