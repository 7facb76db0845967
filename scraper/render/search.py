"""Render the answers of `search`, `web_search`, `instant_answer` and `cache_search`."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime

from scraper.engines.model import InstantAnswer, SearchAnswer, SearchResult
from scraper.model import PageHit, PageHits
from scraper.render.json_truncation import count_fitting, drop_empty
from scraper.render.page import iso_date, read_ago
from scraper.render.untrusted_text import UNTRUSTED_NOTICE, break_marks, mark_untrusted
from scraper.text.sanitize import clean_line
from scraper.values.text import read_table

_ANSWER_BUDGET = 6_000
"""Tokens of all results: enough for 50 with long snippets, or 50 cache hits. Ten usually have about 1,000."""

_MAX_TITLE = 200
_MAX_URL = 2_000
_MAX_SNIPPET = 400
_MAX_HINT = 500
_MAX_QUERY = 200
_MAX_SOURCE = 80
_MAX_FACT = 160
_MAX_ALSO = 5
_INSTANT_SOURCE = "_Source: DuckDuckGo Instant Answer API_"

_NO_CACHE = (
    "The cache cannot be searched: it is disabled, or its file or database cannot be used now. "
    "Use `search` or `fetch` instead."
)
_NO_HITS = "Only pages that were read before are found here: use `search` for the web, or fewer or other words."

REASON_TEXTS: Mapping[str, str] = read_table(__package__, "reasons.toml")
"""Text for each reason code of a failed engine, after the name of the engine."""


def as_markdown(answer: SearchAnswer, *, region: str, now: datetime, budget: int = _ANSWER_BUDGET) -> str:
    """Return the facts of the search, then the results that fit a token budget in an untrusted region."""
    query, count = clean_line(answer.query, _MAX_QUERY), len(answer.results)
    if count:
        summary = f'{count} result{"" if count == 1 else "s"} for "{query}"'
    elif set(answer.errors) >= set(answer.engines):
        summary = f'No engine answered "{query}": this says nothing about what there is'
    else:
        summary = f'No results for "{query}"'
    age = f", cached {read_ago(answer.retrieved_at, now)}" if answer.cached and answer.retrieved_at else ""
    head = [f"{summary} (engines: {', '.join(answer.engines)}){age}"]
    if answer.errors:
        reasons = (f"{name} {REASON_TEXTS.get(why, 'failed')} ({why})" for name, why in answer.errors.items())
        head.append("Errors: " + "; ".join(reasons) + ".")
    head += [f"Warning: {clean_line(warning, _MAX_HINT)}" for warning in answer.warnings]
    if answer.hint:
        head.append(f"Hint: {clean_line(answer.hint, _MAX_HINT)}")
    if not answer.results:
        return "\n".join(head)
    rows = [_result_text(number, row) for number, row in enumerate(answer.results, 1)]
    rows = rows[: max(1, count_fitting(rows, budget, 2))]
    return "\n".join([*head, mark_untrusted("\n\n".join(rows), region)])


def as_json(answer: SearchAnswer, *, budget: int = _ANSWER_BUDGET) -> dict[str, object]:
    """Return the answer as an object; `errors`, `hint` and `warnings` are set only if there are any."""
    objects = [_result_object(row) for row in answer.results]
    # The texts of a result whose length varies.
    texts = [f"{row['title']}{row['url']}{row['snippet']}{row.get('also', '')}" for row in objects]
    known = {
        "errors": dict(answer.errors),
        "hint": clean_line(answer.hint or "", _MAX_HINT),
        "warnings": [clean_line(warning, _MAX_HINT) for warning in answer.warnings],
        "retrieved_at": answer.retrieved_at and answer.retrieved_at.isoformat(timespec="seconds"),
    }
    data = {"results": objects[: max(1, count_fitting(texts, budget, 2))], "engines": list(answer.engines)}
    return {**data, "cached": answer.cached, **drop_empty(known), "notice": UNTRUSTED_NOTICE}


def web_search_as_markdown(answer: SearchAnswer) -> str:
    """Return the answer of `web_search` in the format of its contract."""
    heading = f'## Web Search Results for "{clean_line(answer.query, _MAX_QUERY)}"'
    if not answer.results:
        return f"{heading}\n\nNo results found.\n\n_Source: DuckDuckGo_"
    rows = []
    for number, row in enumerate(answer.results, 1):
        lines = [f"### {number}. {clean_line(row.title, _MAX_TITLE)}", f"**URL:** {clean_line(row.url, _MAX_URL)}"]
        snippet = clean_line(row.snippet, _MAX_SNIPPET)
        rows.append(break_marks("\n".join([*lines, snippet] if snippet else lines)))
    source = f"_Source: DuckDuckGo ({len(answer.results)} results)_"
    return "\n\n".join([heading, "\n\n---\n\n".join(rows), "---", source])


def instant_answer_as_markdown(query: str, answer: InstantAnswer) -> str:
    """Return the answer of `instant_answer` in the format of its contract."""
    heading = f'## Instant Answer for "{clean_line(query, _MAX_QUERY)}"'
    if answer.empty:
        return f"{heading}\n\nNo instant answer available for this query.\n\n{_INSTANT_SOURCE}"
    return "\n\n".join([heading, *(break_marks(section) for section in _instant_sections(answer)), _INSTANT_SOURCE])


def cache_hits_as_markdown(query: str, found: PageHits, *, region: str, now: datetime) -> str:
    """Return the number of cached pages found, then the hits in an untrusted region."""
    if not found.usable:
        return _NO_CACHE
    hits = _hits_within_budget(found.hits)
    count = len(hits)
    summary = f"{count} cached page{'' if count == 1 else 's'}" if count else "No cached page"
    head = [f'{summary} for "{clean_line(query, _MAX_QUERY)}".']
    if found.note:
        head.append(f"Note: {clean_line(found.note, 300)}")
    if not count:
        return "\n".join([*head, _NO_HITS])
    head.append("Continue with fetch, from the `start` of each page.")
    rows = []
    for number, hit in enumerate(hits, 1):
        title = clean_line(hit.title, _MAX_TITLE) or "(no title)"
        url, snippet = clean_line(hit.url, _MAX_URL), clean_line(hit.snippet, _MAX_SNIPPET)
        facts = f"read {read_ago(_retrieved_at(hit), now)}, start={hit.start}"
        rows.append(f"{number}. {title}\n<{url}> ({facts})\n{snippet}")
    return "\n".join([*head, mark_untrusted("\n\n".join(rows), region)])


def cache_hits_as_json(hits: PageHits) -> list[dict[str, object]]:
    """Return an object for each cached page that was found."""
    return [
        {
            "url": clean_line(hit.url, _MAX_URL),
            "title": clean_line(hit.title, _MAX_TITLE),
            "snippet": clean_line(hit.snippet, _MAX_SNIPPET),
            "start": hit.start,
            "retrieved_at": _retrieved_at(hit).isoformat(timespec="seconds"),
            "notice": UNTRUSTED_NOTICE,
        }
        for hit in _hits_within_budget(hits.hits)
    ]


def _result_text(number: int, row: SearchResult) -> str:
    lines = [f"{number}. {clean_line(row.title, _MAX_TITLE) or '(no title)'}", f"<{clean_line(row.url, _MAX_URL)}>"]
    date = row.date.date().isoformat() if row.date else ""
    facts = [fact for fact in (date, clean_line(row.source or "", _MAX_SOURCE)) if fact]
    facts += [f"{name} {clean_line(str(value), _MAX_FACT)}" for name, value in row.facts]
    snippet = clean_line(row.snippet, _MAX_SNIPPET)
    details = " · ".join([*facts, snippet] if snippet else facts)
    if details:
        lines.append(details)
    if row.also:
        lines.append("Also: " + " ".join(f"<{clean_line(url, _MAX_URL)}>" for url in row.also[:_MAX_ALSO]))
    return "\n".join(lines)


def _result_object(row: SearchResult) -> dict[str, object]:
    facts = {name: clean_line(value, _MAX_FACT) if isinstance(value, str) else value for name, value in row.facts}
    known = {"date": iso_date(row.date), "source": clean_line(row.source or "", _MAX_SOURCE)}
    return {
        "title": clean_line(row.title, _MAX_TITLE),
        "url": clean_line(row.url, _MAX_URL),
        "snippet": clean_line(row.snippet, _MAX_SNIPPET),
        "engines": list(row.engines),
        "score": row.score,
        **drop_empty({**known, "also": [clean_line(url, _MAX_URL) for url in row.also[:_MAX_ALSO]], "facts": facts}),
    }


def _instant_sections(answer: InstantAnswer) -> Iterator[str]:
    if answer.answer:
        yield f"### Answer\n{answer.answer}"
    if answer.abstract:
        yield f"### Abstract\n{answer.abstract}"
        yield from _source_lines(answer.source, answer.url)
    if answer.definition:
        yield f"### Definition\n{answer.definition}"
        yield from _source_lines(answer.definition_source, answer.definition_url)
    if answer.redirect:
        yield f"### Redirect\n{answer.redirect}"
    if answer.official:
        yield f"### Official Site\n{answer.official}"
    if answer.facts:
        yield "\n".join(["### Facts", *(f"- **{label}:** {value}" for label, value in answer.facts)])
    if answer.topics:
        lines, group = ["### Related Topics"], ""
        for topic in answer.topics:
            if topic.group != group:
                group = topic.group
                lines.append(f"\n#### {group}")
            rest = f" - {clean_line(topic.text, 300)}" if topic.text else ""
            lines.append(f"- **{topic.title}**{rest}")
        yield "\n".join(lines)


def _source_lines(source: str, url: str) -> Iterator[str]:
    if source or url:
        yield "\n".join(filter(None, [source and f"**Source:** {source}", url and f"**URL:** {url}"]))


def _hits_within_budget(hits: tuple[PageHit, ...]) -> tuple[PageHit, ...]:
    texts = [f"{hit.url}{hit.title}{hit.snippet}"[: _MAX_URL + _MAX_TITLE + _MAX_SNIPPET] for hit in hits]
    return hits[: max(1, count_fitting(texts, _ANSWER_BUDGET, 20))]


def _retrieved_at(hit: PageHit) -> datetime:
    return datetime.fromtimestamp(hit.retrieved_at, UTC)
