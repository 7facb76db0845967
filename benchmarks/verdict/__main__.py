"""Measure how well the verdict detects complete pages, pages that need scripts, and block pages.

`rendered_for_nothing` is the share of complete pages that `auto` would render as if content were missing;
`rendered_for_hidden_text` is that of complete pages that it renders because their text may be hidden.
`stopped_too_early` is the share of pages without their content, block pages included, that it would accept.
Pages: saved pages with their gold, copies without their content, block pages and shells of search engines
(`benchmarks.verdict.pages`), synthetic pages (`benchmarks.verdict.synthetic_pages`), counted separately as `made.`, and
pages of the test site.
Peers: crawl4ai's test for blocked pages (`is_blocked`), which is meant for rendered pages; the rule of
free-search-mcp, which renders pages with fewer than 500 characters of HTML; and the common rule of fewer than 200
characters of text. The weights of `scraper.extract.verdict.verdict` were fitted on the copies without content:
`benchmarks.train_verdict` prints their figures out of fold.
"""

from __future__ import annotations

import json
import subprocess
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from benchmarks.common.command_line import Figures, Goal, Options, print_goals, print_table, run
from benchmarks.peers.launch import is_set_up, peer_python
from benchmarks.verdict.pages import LabeledPage, saved_pages, search_engine_pages, snapshot_of, text_of
from benchmarks.verdict.synthetic_pages import synthetic_pages, test_site_pages
from scraper.extract.verdict import verdict
from scraper.html.page import page_tree
from tests.site.running import running_site

_OURS = "search-mcp"
_QUICK = 10
_FEW_BYTES = 500
_FEW_CHARACTERS = 200
_PEER_LIMIT_S = 900
_GOALS = (
    Goal("rendered_for_nothing", at_most=0.04),
    Goal("rendered_for_hidden_text", at_most=0.035),
    Goal("stopped_too_early", at_most=0.16),
    Goal("false_walls", at_most=0.001),
    Goal("made.rendered_for_nothing", at_most=0),
    Goal("made.stopped_too_early", at_most=0),
)

_CRAWL4AI = """
import json, sys
from crawl4ai.antibot_detector import is_blocked
for line in sys.stdin:
    print(int(is_blocked(200, json.loads(line))[0]), flush=True)
"""


@dataclass(frozen=True, slots=True)
class _Verdict:
    """A page and the verdict of a method."""

    page: LabeledPage
    outcome: str
    reason: str = ""

    @property
    def renders(self) -> bool:
        return self.outcome != "ok"

    @property
    def checks_hidden_text(self) -> bool:
        return self.reason == "hidden"

    @property
    def wrong(self) -> bool:
        return self.renders is (self.page.expected == "ok") and not self.checks_hidden_text


async def measure(options: Options) -> Figures:
    """Classify every page with every method."""
    if options.corpora is None:
        raise FileNotFoundError("Name the folder of the corpora: --corpora DIR.")
    every = _QUICK if options.quick else 1
    with running_site() as site:
        own = [*synthetic_pages(), *test_site_pages(site)]
    pages = [*saved_pages(options.corpora, every), *search_engine_pages(options.corpora), *own]
    ours, cpu_ms = _classify(pages)
    methods = {_OURS: ours, **_classify_with_peers(pages)}
    for name, verdicts in methods.items():
        _print_kinds(name, verdicts)
    _print_wrong(ours)
    figures = _figures(ours) | {"cpu_ms": cpu_ms}
    for name, verdicts in methods.items():
        if name != _OURS:
            for key, value in _figures(verdicts).items():
                figures[f"{name.replace('-', '_').replace(' ', '_')}.{key}"] = value
    rows = [(name, *_mistakes([one for one in verdicts if not _is_made(one)])) for name, verdicts in methods.items()]
    print_table("Totals without synthetic pages", ("", "unnecessary renders", "missed renders"), rows)
    print_goals(figures, _GOALS)
    return figures


def _classify(pages: Sequence[LabeledPage]) -> tuple[list[_Verdict], float]:
    verdicts, spent = [], 0.0
    for page in pages:
        snapshot = snapshot_of(page)
        built = page_tree.build_page_tree(snapshot)
        started = time.process_time()
        found = verdict.judge_signals(snapshot, verdict.PageSignals(built))
        spent += time.process_time() - started
        verdicts.append(_Verdict(page, found.kind.value, found.reason))
    return verdicts, 1000 * spent / len(pages)


def _classify_with_peers(pages: Sequence[LabeledPage]) -> dict[str, list[_Verdict]]:
    rules: dict[str, Callable[[LabeledPage], bool]] = {
        "free-search-mcp": lambda page: len(page.html) < _FEW_BYTES,
        "little text": lambda page: len("".join(text_of(page.html).split())) < _FEW_CHARACTERS,
    }
    methods = {name: [_Verdict(page, "thin" if rule(page) else "ok") for page in pages] for name, rule in rules.items()}
    if not is_set_up("crawl4ai"):
        print("crawl4ai is not set up: `python -m benchmarks.setup_peers`")
        return methods
    answers = _blocked_to_crawl4ai([page.html for page in pages])
    verdicts = [_Verdict(page, "blocked" if no else "ok") for page, no in zip(pages, answers, strict=True)]
    return {"crawl4ai": verdicts, **methods}


def _blocked_to_crawl4ai(pages: Sequence[str]) -> list[bool]:
    done = subprocess.run(
        [str(peer_python("crawl4ai")), "-c", _CRAWL4AI],
        input="\n".join(map(json.dumps, pages)),
        capture_output=True,
        text=True,
        check=True,
        timeout=_PEER_LIMIT_S,
    )
    return [answer == "1" for answer in done.stdout.split()]


def _is_made(one: _Verdict) -> bool:
    return one.page.kind.startswith("made ") and one.page.kind != "made hollow"


def _mistakes(verdicts: Sequence[_Verdict]) -> tuple[float | None, float | None]:
    whole = [one.wrong for one in verdicts if one.page.expected == "ok"]
    incomplete = [one.wrong for one in verdicts if one.page.expected != "ok"]
    return _mean(whole), _mean(incomplete)


def _mean(values: Sequence[bool]) -> float | None:
    return sum(values) / len(values) if values else None


def _figures(verdicts: Sequence[_Verdict]) -> Figures:
    groups = {"": [one for one in verdicts if not _is_made(one)], "made.": [one for one in verdicts if _is_made(one)]}
    figures: Figures = {}
    for prefix, group in groups.items():
        for key, value in zip(("rendered_for_nothing", "stopped_too_early"), _mistakes(group), strict=True):
            if value is not None:
                figures[prefix + key] = value
    whole = [one.checks_hidden_text for one in groups[""] if one.page.expected == "ok"]
    figures["rendered_for_hidden_text"] = _mean(whole) or 0.0
    whole = [one.outcome == "blocked" for one in verdicts if one.page.expected == "ok"]
    walls = [one.outcome != "blocked" for one in verdicts if one.page.expected == "blocked"]
    return figures | {"false_walls": _mean(whole) or 0.0, "missed_walls": _mean(walls) or 0.0}


def _print_kinds(name: str, verdicts: Sequence[_Verdict]) -> None:
    kinds: Mapping[str, Counter[str]] = defaultdict(Counter)
    for one in verdicts:
        kinds[f"{one.page.kind}: {one.page.expected}"][one.outcome] += 1
    rows = [(kind, *(outcome[verdict] for verdict in ("ok", "thin", "blocked"))) for kind, outcome in kinds.items()]
    print_table(f"Verdicts of {name} by kind", ("kind: expected", "ok", "thin", "blocked"), sorted(rows))


def _print_wrong(verdicts: Sequence[_Verdict]) -> None:
    rows = [
        (one.page.name, one.page.kind, one.page.expected, f"{one.outcome} {one.reason}".strip())
        for one in verdicts
        if one.wrong and one.page.kind != "made hollow"
    ]
    print_table("Our errors without pages made hollow", ("page", "kind", "expected", "verdict"), rows[:80])


if __name__ == "__main__":
    run(__doc__ or "", measure)
