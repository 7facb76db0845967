"""Labels of pages from their gold files, with a small corpus."""

from __future__ import annotations

import json
from pathlib import Path

from benchmarks.verdict.pages import Labelled, saved, text_of
from benchmarks.verdict.synthetic_pages import made
from scraper.extract.verdict import verdict
from tests.scraper.extract.snapshots import page

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


def corpus(folder: Path) -> dict[str, Labelled]:
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
    return {labelled.name: labelled for labelled in saved(folder)}


def test_pages_are_labelled_by_what_of_their_gold_is_served(tmp_path: Path) -> None:
    labels = {name: labelled.expected for name, labelled in corpus(tmp_path).items()}
    assert labels == {"whole": "ok", "whole hollow": "thin", "plain": "ok", "shell": "thin", "state": "thin"}


def test_a_hollow_page_keeps_what_stands_around_its_content(tmp_path: Path) -> None:
    hollow = corpus(tmp_path)["whole hollow"].html
    assert text_of(hollow).split() == ["Menu", "Imprint"]
    assert "<script" in hollow and "<main>" in hollow


def test_pages_of_our_making_are_judged_as_they_were_meant() -> None:
    said = {one.name: verdict.judge(page(one.html, url=one.url)).kind.value for one in made()}
    assert said == {one.name: one.expected for one in made()}
