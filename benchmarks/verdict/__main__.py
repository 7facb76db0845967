"""Whether a page as served holds its content, needs its scripts, or is a wall: both kinds of mistakes.

`rendered_for_nothing`: the share of whole pages that `auto` would render all the same. `stopped_too_early`:
the share of pages without their content, walls among them, that it would take for whole. Pages: saved ones
by their gold, the same made hollow, walls and shells of search engines (`benchmarks.verdict.pages`), pages of
our own making (`benchmarks.verdict.synthetic_pages`), counted apart as `made.`, and those of the test site.
Beside ours: crawl4ai's test for blocked pages (`is_blocked`), which renders everything first and so answers
another
question with the same words; free-search-mcp's rule, which renders what has fewer than 500 characters of
HTML; and the usual rule of fewer than 200 characters of text. The weights of
`scraper.extract.verdict.shell_score` were fitted on the hollow pages: `benchmarks.train_verdict` has their
figures out of fold.
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
from benchmarks.verdict.pages import Labelled, saved, searches, snapshot_of, text_of
from benchmarks.verdict.synthetic_pages import made, of_the_site
from scraper.extract.page import page_tree
from scraper.extract.verdict import verdict
from tests.site.running import running_site

_OURS = "search-mcp"
_QUICK = 10
_FEW_BYTES = 500
_FEW_CHARACTERS = 200
_PEER_LIMIT_S = 900
_GOALS = (
    Goal("rendered_for_nothing", at_most=0.04),
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
class _Judged:
    """A page and what somebody made of it."""

    page: Labelled
    said: str
    reason: str = ""

    @property
    def renders(self) -> bool:
        return self.said != "ok"

    @property
    def wrong(self) -> bool:
        return self.renders is (self.page.expected == "ok")


async def measure(options: Options) -> Figures:
    """Judge every page in every way."""
    if options.corpora is None:
        raise FileNotFoundError("--corpora DIR is needed: saved pages with their gold.")
    every = _QUICK if options.quick else 1
    with running_site() as site:
        own = [*made(), *of_the_site(site)]
    pages = [*saved(options.corpora, every), *searches(options.corpora), *own]
    ours, cpu_ms = _by_us(pages)
    ways = {_OURS: ours, **_by_peers(pages)}
    for name, judged in ways.items():
        _print_kinds(name, judged)
    _print_wrong(ours)
    figures = _figures(ours) | {"cpu_ms": cpu_ms}
    for name, judged in ways.items():
        if name != _OURS:
            for key, value in _figures(judged).items():
                figures[f"{name.replace('-', '_').replace(' ', '_')}.{key}"] = value
    rows = [(name, *_mistakes([one for one in judged if not _is_made(one)])) for name, judged in ways.items()]
    print_table("Together, pages of our making apart", ("", "rendered for nothing", "stopped too early"), rows)
    print_goals(figures, _GOALS)
    return figures


def _by_us(pages: Sequence[Labelled]) -> tuple[list[_Judged], float]:
    judged, spent = [], 0.0
    for page in pages:
        snapshot = snapshot_of(page)
        built = page_tree.build_page_tree(snapshot)
        started = time.process_time()
        found = verdict.judge_signals(snapshot, verdict.PageSignals(built))
        spent += time.process_time() - started
        judged.append(_Judged(page, found.kind.value, found.reason))
    return judged, 1000 * spent / len(pages)


def _by_peers(pages: Sequence[Labelled]) -> dict[str, list[_Judged]]:
    rules: dict[str, Callable[[Labelled], bool]] = {
        "free-search-mcp": lambda page: len(page.html) < _FEW_BYTES,
        "little text": lambda page: len("".join(text_of(page.html).split())) < _FEW_CHARACTERS,
    }
    ways = {name: [_Judged(page, "thin" if rule(page) else "ok") for page in pages] for name, rule in rules.items()}
    if not is_set_up("crawl4ai"):
        print("crawl4ai is not set up: `python -m benchmarks.setup_peers`")
        return ways
    answers = _blocked_to_crawl4ai([page.html for page in pages])
    judged = [_Judged(page, "blocked" if no else "ok") for page, no in zip(pages, answers, strict=True)]
    return {"crawl4ai": judged, **ways}


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


def _is_made(one: _Judged) -> bool:
    return one.page.kind.startswith("made ") and one.page.kind != "made hollow"


def _mistakes(judged: Sequence[_Judged]) -> tuple[float | None, float | None]:
    whole = [one.wrong for one in judged if one.page.expected == "ok"]
    lacking = [one.wrong for one in judged if one.page.expected != "ok"]
    return _mean(whole), _mean(lacking)


def _mean(values: Sequence[bool]) -> float | None:
    return sum(values) / len(values) if values else None


def _figures(judged: Sequence[_Judged]) -> Figures:
    groups = {"": [one for one in judged if not _is_made(one)], "made.": [one for one in judged if _is_made(one)]}
    figures: Figures = {}
    for prefix, group in groups.items():
        for key, value in zip(("rendered_for_nothing", "stopped_too_early"), _mistakes(group), strict=True):
            if value is not None:
                figures[prefix + key] = value
    whole = [one.said == "blocked" for one in judged if one.page.expected == "ok"]
    walls = [one.said != "blocked" for one in judged if one.page.expected == "blocked"]
    return figures | {"false_walls": _mean(whole) or 0.0, "missed_walls": _mean(walls) or 0.0}


def _print_kinds(name: str, judged: Sequence[_Judged]) -> None:
    kinds: Mapping[str, Counter[str]] = defaultdict(Counter)
    for one in judged:
        kinds[f"{one.page.kind}: {one.page.expected}"][one.said] += 1
    rows = [(kind, *(said[verdict] for verdict in ("ok", "thin", "blocked"))) for kind, said in kinds.items()]
    print_table(f"What {name} makes of each kind", ("kind: expected", "ok", "thin", "blocked"), sorted(rows))


def _print_wrong(judged: Sequence[_Judged]) -> None:
    rows = [
        (one.page.name, one.page.kind, one.page.expected, f"{one.said} {one.reason}".strip())
        for one in judged
        if one.wrong and one.page.kind != "made hollow"
    ]
    print_table("Where we are wrong, hollow pages apart", ("page", "kind", "expected", "said"), rows[:80])


if __name__ == "__main__":
    run(__doc__ or "", measure)
