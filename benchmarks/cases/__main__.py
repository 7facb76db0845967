"""Run small cases through the product, and count the expectations that hold.

    python -m benchmarks.cases --cases DIR [--area NAME] [--case PATTERN] [--extra FILE] [--failures] --json FILE

DIR holds `AREA/NAME/case.json`, each with its input files. `--extra` adds cases: a folder of the same form, or a JSON
file with a list (or lines) of the same objects, which also have `area`, `name`, and `folder` (beside the file) or
`files` (text by name). The figures of each area:

    AREA.held           share of the expectations that hold
    AREA.cases_right    cases in which all expectations hold, of AREA.cases
    AREA.silent         failed expectations that the answer does not announce, for each 100 expectations
    AREA.not_run        cases without their input, which count nowhere else

An answer announces a failure by a refusal, or by a warning that does not stand in every answer of its kind.
Where values carry a confidence, only wrong values with .8 or more are silent, unless a warning names the value.

Areas `pages` and `documents`: `expect` is a list of the checks of `text_checks`; `file` is the input of a check that
names none.

Area `facts`: `records` and `fields` are arguments of `extract_structured`. `expect` has `product`, `recipe`, `fields`
(values by name), `recipe_lists` (`ingredients`, `instructions`, `instructions_contains`), `name_contains`,
`json_ld_count`, `og` (`images`: their number; `pictures`: each with the sizes and the alt text of its object), `rows`
(their number), `table` and `first` (values by fields), `titles`, `prices`, `numbers`, `price_by_title`, `next`, and
`author` and `published` of `fetch`. Each named value and each list is one expectation. `null` means: no value may be
returned. A value that ends in "(any form)" is compared by its words and numbers.

Area `search`: for a saved page, `engine`, `url`, `status` and `expect`:

    {"rows": [{"title": ..., "url": ..., "snippet": ..., "date": "2026-11-26", "source": ...}], "without": ["y.js"]}
    {"outcome": "blocked", "detail": "captcha"}        (outcome: ok, none, blocked or error)

A row states any of these parts; it may also be only a URL or a title, and `rows` may be only their number. Each row is
one expectation; their number and order are another. The words "5 rows", "none" and "blocked captcha" are understood.
Other forms: `must_differ` and `should_equal` (pairs of URLs), `rows` with `include_domains` and `exclude_domains` (the
URLs that each domain leaves), `documents` with `queries` (the ids that must be the first ones found, in any order).

Area `browser`: `site.py` holds `routes`, a dict of paths to HTML, (type, body) or a handler of aiohttp. `steps` are
those of one call of `browse`, a list for each call, or a `tool` with `arguments`; `{base}` is the URL of the site.
`expect` has `contains` and `not_contains`: each text is one expectation.

Area `protocol`: `settings` of the server, and `steps` of the kinds `http` (a raw request), `stdio` (lines), `tool`
(a call), `command` (a program, with `{base}` and `{python}`) and `file` (of the repository). `has` and `hasnot` are
texts of what comes back: each is one expectation. `needs` names a program without which a case is not run.

Area `site`: `site.py` holds `HOSTS` and `handle(host, path, headers)`, which returns status, headers and body.
`expect.runs` is a list of calls of `map`, `crawl` and `changes`; a folder needs no `case.json` if
`expectations/site.toml` has its runs. Each has `tool`, `hosts` (patterns of HOSTS), `path` (start page), `arguments`,
`states` (files in the folder STATE, written before a call; of several calls the last counts), `calls` (most calls of a
crawl) and `resumes` (true: go on with the crawl of the run before), and checks, each one expectation at each host:
see `site.judge`.

`expectations/AREA.toml` holds rows of cases of DIR that have an expectation in words.
"""

from __future__ import annotations

import argparse
import asyncio
import fnmatch
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path

from benchmarks.cases import browser, facts, protocol, search, site, text_cases
from benchmarks.cases.loading import load_cases
from benchmarks.cases.model import Case, CaseResult, area_figures
from benchmarks.cases.peers import PEERS, run_peer
from benchmarks.cases.product import Product, open_product
from benchmarks.common.command_line import Figures, Options, print_table, run

_AREAS: Mapping[str, Callable[[Case, Product], Awaitable[CaseResult]]] = {
    "pages": text_cases.run,
    "facts": facts.run,
    "search": search.run,
    "documents": text_cases.run,
}
"""Runner of each area whose cases share one product. The other areas of a folder are listed and not run."""
_WITH_SERVERS: Mapping[str, Callable[[Sequence[Case]], Awaitable[Sequence[CaseResult]]]] = {
    "browser": browser.run,
    "protocol": protocol.run,
    "site": site.run,
}
"""Runner of the areas whose cases need servers of their own."""
_COLUMNS = ("cases", "not_run", "expectations", "held", "cases_right", "silent")
_OURS = "search-mcp"


async def measure(options: Options) -> Figures:
    """Run all cases of the chosen areas.

    Raises:
        FileNotFoundError: There are no such cases.
    """
    chosen = options.more
    loaded = load_cases(chosen.cases, chosen.extra)
    cases: dict[str, list[Case]] = defaultdict(list)
    for case in loaded:
        if chosen.area in (None, case.area) and fnmatch.fnmatch(case.name, chosen.case):
            cases[case.area].append(case)
    if not cases:
        raise FileNotFoundError("No case has this area and this name.")
    results: dict[tuple[str, str], Sequence[CaseResult]] = {}
    async with open_product() as product:
        for area in _AREAS.keys() & cases.keys():
            results[area, _OURS] = [await _AREAS[area](case, product) for case in cases[area]]
    for area in _WITH_SERVERS.keys() & cases.keys():
        results[area, _OURS] = await _WITH_SERVERS[area](cases[area])
    if options.peers:
        for area, peer in PEERS:
            if area in cases and (answers := await asyncio.to_thread(run_peer, peer, cases[area])) is not None:
                results[area, peer] = answers
    others = {area: len(listed) for area, listed in sorted(cases.items()) if area not in (*_AREAS, *_WITH_SERVERS)}
    return _report(results, others, shows_failures=chosen.failures)


def _report(
    results: Mapping[tuple[str, str], Sequence[CaseResult]], others: Mapping[str, int], *, shows_failures: bool
) -> Figures:
    figures: Figures = {}
    rows = []
    for area in (*_AREAS, *_WITH_SERVERS):
        for (_, reader), listed in ((key, value) for key, value in results.items() if key[0] == area):
            found = area_figures(area, listed)
            rows.append((f"{area} {reader}", *(found.get(f"{area}.{column}") for column in _COLUMNS)))
            figures |= found if reader == _OURS else {f"{reader}.{name}": value for name, value in found.items()}
            if reader == _OURS:
                _print_not_run(listed)
                if shows_failures:
                    _print_failures(listed)
    print_table("Cases; silent for each 100 expectations", ("area", *_COLUMNS), rows)
    if others:
        print(f"Not run here: {', '.join(f'{area} ({count})' for area, count in others.items())}")
    return figures


def _print_not_run(results: Sequence[CaseResult]) -> None:
    for one in results:
        if one.not_run:
            print(f"{one.case.area}/{one.case.name}: not run, {one.not_run}")
        if one.absent:
            print(f"{one.case.area}/{one.case.name}: no input for the expectations on {', '.join(one.absent)}")


def _print_failures(results: Sequence[CaseResult]) -> None:
    for one in results:
        failures = [judgment for judgment in one.judgments if not judgment.holds]
        if failures:
            held = len(one.judgments) - len(failures)
            print(f"\n{one.case.area}/{one.case.name}: {held} of {len(one.judgments)} hold")
        for judgment in failures:
            note = " (silent)" if judgment.is_silent else ""
            print(f"  - {judgment.expectation}{note}\n      {judgment.found}")


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--cases", type=Path, metavar="DIR", required=True, help="folder with AREA/NAME/case.json")
    parser.add_argument("--extra", type=Path, metavar="FILE", help="more cases: a folder, or a list of cases as JSON")
    parser.add_argument("--area", metavar="NAME", help="run only this area")
    parser.add_argument("--case", metavar="PATTERN", default="*", help="run only the cases with such a name")
    parser.add_argument("--failures", action="store_true", help="print the failed expectations of each case")


if __name__ == "__main__":
    run(__doc__ or "", measure, optional_peers=True, add_arguments=_add_arguments)
