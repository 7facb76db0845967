"""Measure the cost of style sheets that hide text, on saved pages with gold texts.

`hidden.lost` is the share of gold words on the pages that are lost because rules of inline style sheets hide them.
`hidden.more_rendered` is the share of pages that are rendered only because text may be hidden.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from pathlib import Path
from unittest import mock

from benchmarks.common.command_line import Figures, Goal, Options, print_goals, run
from benchmarks.training.pages import Sample, samples
from benchmarks.training.table import snapshot_of
from scraper.extract.verdict.verdict import PageSignals, judge_signals
from scraper.html.dom.parsing import text_of
from scraper.html.page import hidden_elements
from scraper.html.page.css_rules import HiddenByRules
from scraper.html.page.page_tree import build_page_tree

_SOURCES = ("wcxb", "pages-lang")
_QUICK = 10
"""With `--quick`, every tenth page is read."""
_WORD = re.compile(r"\w+")
_GOALS = (Goal("hidden.lost", at_most=0.001), Goal("hidden.more_rendered", at_most=0.03))


async def measure(options: Options) -> Figures:
    """Read the pages with and without the rules of their style sheets."""
    if options.corpora is None:
        raise FileNotFoundError("The pages are missing: use --corpora DIR.")
    figures = measure_cost(options.corpora, _QUICK if options.quick else 1)
    print_goals(figures, _GOALS)
    return figures


def measure_cost(corpora: Path, step: int) -> Figures:
    """Return the two figures for every `step`-th page of the corpora."""
    pages = rendered = words = lost = 0
    for source in _SOURCES:
        for sample in itertools.islice(samples(corpora, source), 0, None, step):
            tree = build_page_tree(snapshot_of(sample))
            pages += 1
            rendered += judge_signals(snapshot_of(sample), PageSignals(tree)).reason == "hidden"
            found = _count_gold(sample, text_of(tree.body))
            with mock.patch.object(hidden_elements, "find_hidden_by_rules", lambda *_, **__: HiddenByRules([])):
                complete = _count_gold(sample, text_of(build_page_tree(snapshot_of(sample)).body))
            words += complete
            lost += max(0, complete - found)
    return {"hidden.lost": lost / max(1, words), "hidden.more_rendered": rendered / max(1, pages)}


def _count_gold(sample: Sample, text: str) -> int:
    """Return the number of gold words that the text contains."""
    return (Counter(_WORD.findall(sample.gold)) & Counter(_WORD.findall(text))).total()


if __name__ == "__main__":
    run(__doc__ or "", measure)
