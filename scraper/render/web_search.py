"""The answer of `web_search`: one engine's rows in the form that its clients know."""

from __future__ import annotations

from scraper.extract.text.sanitize import clean_line
from scraper.model import SearchAnswer
from scraper.render.search import MAX_SNIPPET, MAX_TITLE, MAX_URL
from scraper.render.untrusted_region import defused

_MAX_QUERY = 200


def as_markdown(answer: SearchAnswer) -> str:
    """Title, address and snippet of each row under a heading, rules between them."""
    heading = f'## Web Search Results for "{clean_line(answer.query, _MAX_QUERY)}"'
    if not answer.results:
        return f"{heading}\n\nNo results found.\n\n_Source: DuckDuckGo_"
    rows = []
    for number, row in enumerate(answer.results, 1):
        lines = [
            f"### {number}. {clean_line(row.title, MAX_TITLE)}",
            f"**URL:** {clean_line(row.url, MAX_URL)}",
        ]
        snippet = clean_line(row.snippet, MAX_SNIPPET)
        rows.append(defused("\n".join([*lines, snippet] if snippet else lines)))
    source = f"_Source: DuckDuckGo ({len(answer.results)} results)_"
    return "\n\n".join([heading, "\n\n---\n\n".join(rows), "---", source])
