"""Run the cases of searches: rows of result pages, equal URLs, filters of domains, and questions to an index."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any
from urllib.parse import unquote

from benchmarks.cases import product as own
from benchmarks.cases.model import Case, CaseResult, Judgment
from benchmarks.cases.product import Product
from benchmarks.cases.values import same_date

_NOW = datetime(2026, 11, 28, 12, tzinfo=UTC)
"""Time of all saved result pages, for dates such as "2 days ago"."""
_FAILED = frozenset({"blocked", "error"})
"""Outcomes that announce that rows are missing."""


async def run(case: Case, product: Product) -> CaseResult:
    """Run a case by its form."""
    data = case.data
    if "documents" in data:
        return CaseResult(case, [one async for one in _judge_index(data["documents"], data["queries"])])
    if "must_differ" in data or "should_equal" in data:
        return CaseResult(case, list(_judge_equality(data)))
    if "include_domains" in data or "exclude_domains" in data:
        return CaseResult(case, list(_judge_filters(data)))
    file = data.get("file", "page.html")
    if not case.has_input(file):
        return CaseResult(case, not_run="no input")
    expect = _read_expectation(data["expect"])
    if expect is None:
        return CaseResult(case, not_run="the expectation is in words, and there are no rows for it")
    return CaseResult(case, list(_judge_page(case, file, expect)))


def _read_expectation(expect: object) -> Mapping[str, Any] | None:
    """Return an expectation as an object; None for words of which not even the number of rows is known."""
    if isinstance(expect, Mapping):
        return expect
    if isinstance(expect, list):
        return {"rows": expect}
    words = str(expect).split()
    if words[:1] == ["none"]:
        return {"outcome": "none"}
    if words[:1] == ["blocked"]:
        return {"outcome": "blocked", "detail": words[1]}
    counts = [words[at] for at in range(len(words) - 1) if words[at + 1].startswith("row") and words[at].isdecimal()]
    return {"rows": int(counts[0])} if counts else None


def _judge_page(case: Case, file: str, expect: Mapping[str, Any]) -> Iterator[Judgment]:
    response = own.parse_results(case, file, _NOW)
    rows = [
        {
            "title": one.title, "url": one.url, "snippet": one.snippet, "source": one.source,
            "date": one.date.isoformat() if one.date else None,
        }
        for one in response.results
    ]  # fmt: skip
    outcome = response.outcome.value
    is_silent = outcome not in _FAILED and not response.layout_changed
    found = f"{outcome} {response.detail}".strip()
    wanted = " ".join([expect.get("outcome", "ok"), expect.get("detail", "")]).strip()
    holds = found == wanted or (outcome == wanted and "detail" not in expect)
    yield Judgment(f"outcome {wanted}", holds, not holds and is_silent, found)
    listed = expect.get("rows", 0 if expect.get("outcome", "ok") != "ok" else None)
    count = listed if isinstance(listed, int) else len(listed) if listed is not None else None
    for row in listed if isinstance(listed, list) else ():
        holds = any(_is_row(row, one) for one in rows)
        yield Judgment(f"row {_show(row)}", holds, not holds and is_silent, _nearest(row, rows))
    if count is not None:
        holds = len(rows) == count and _in_order(listed if isinstance(listed, list) else [], rows)
        yield Judgment(f"{count} rows in order", holds, not holds and is_silent, f"{len(rows)} rows")
    for text in expect.get("without", ()):
        hits = [one["url"] for one in rows if text in f"{one['title']} {one['url']}"]
        yield Judgment(f"no row with {text}", not hits, bool(hits), _show(hits))


def _row_parts(row: Mapping[str, Any] | str) -> Mapping[str, Any]:
    if isinstance(row, str):
        return {"url" if row.startswith(("http://", "https://")) else "title": row}
    return row


def _is_row(wanted: Mapping[str, Any] | str, row: Mapping[str, Any]) -> bool:
    """Return True if a row has all stated parts; `null` means: no value may be returned."""
    return all(_is_part(name, part, row[name]) for name, part in _row_parts(wanted).items())


def _is_part(name: str, wanted: Any, found: Any) -> bool:
    if wanted is None:
        return not found
    if name == "date":
        return same_date(str(wanted), found)
    if name == "url":
        return unquote(str(wanted)) == unquote(str(found))
    return " ".join(str(wanted).split()) == " ".join(str(found or "").split())


def _in_order(wanted: Sequence[Mapping[str, Any] | str], rows: Sequence[Mapping[str, Any]]) -> bool:
    """Return True if the wanted rows that were found stand in their order."""
    places = [next((at for at, row in enumerate(rows) if _is_row(one, row)), None) for one in wanted]
    known = [place for place in places if place is not None]
    return known == sorted(known)


def _nearest(wanted: Mapping[str, Any] | str, rows: Sequence[Mapping[str, Any]]) -> str:
    parts = _row_parts(wanted)
    best = max(rows, key=lambda row: sum(_is_part(name, part, row[name]) for name, part in parts.items()), default={})
    return _show({name: best.get(name) for name in parts})


def _judge_equality(data: Mapping[str, Any]) -> Iterator[Judgment]:
    for name, number in (("must_differ", 2), ("should_equal", 1)):
        for pair in data.get(name, ()):
            left = own.merge_urls(pair)
            yield _silent_judgment(f"{name} {_show(pair)}", len(left) == number, left)


def _judge_filters(data: Mapping[str, Any]) -> Iterator[Judgment]:
    for name in ("include_domains", "exclude_domains"):
        for domain, wanted in data.get(name, {}).items():
            left = own.filter_urls(data["rows"], {name: domain})
            yield _silent_judgment(f"{name} {domain} leaves {_show(wanted)}", left == list(wanted), left)


async def _judge_index(documents: Mapping[str, str], queries: Mapping[str, Sequence[str]]) -> Any:
    """Yield a judgment for each question: its documents must be the first ones that are found, in any order."""
    for query, found in (await own.search_documents(documents, list(queries))).items():
        wanted = queries[query]
        holds = sorted(found[: len(wanted)]) == sorted(wanted) if wanted else not found
        yield _silent_judgment(f"{query} finds {_show(list(wanted))}", holds, found)


def _silent_judgment(expectation: str, holds: bool, found: object) -> Judgment:
    """Return a judgment on an answer that cannot carry a warning."""
    return Judgment(expectation, holds, not holds, _show(found))


def _show(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)
