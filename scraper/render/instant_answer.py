"""The answer of `instant_answer`, in the form that its clients know."""

from __future__ import annotations

from collections.abc import Iterator

from scraper.extract.text.sanitize import clean_line
from scraper.model import InstantAnswer, RelatedTopic
from scraper.render.untrusted_region import defused

_MAX_QUERY = 200
_MAX_TOPIC = 300
_SOURCE = "_Source: DuckDuckGo Instant Answer API_"


def as_markdown(query: str, answer: InstantAnswer) -> str:
    """A section for everything that is known."""
    heading = f'## Instant Answer for "{clean_line(query, _MAX_QUERY)}"'
    if answer.empty:
        return f"{heading}\n\nNo instant answer available for this query.\n\n{_SOURCE}"
    return "\n\n".join([heading, *(defused(section) for section in _sections(answer)), _SOURCE])


def _sections(answer: InstantAnswer) -> Iterator[str]:
    if answer.answer:
        yield f"### Answer\n{answer.answer}"
    if answer.abstract:
        yield f"### Abstract\n{answer.abstract}"
        yield from _sourced(answer.source, answer.url)
    if answer.definition:
        yield f"### Definition\n{answer.definition}"
        yield from _sourced(answer.definition_source, answer.definition_url)
    if answer.redirect:
        yield f"### Redirect\n{answer.redirect}"
    if answer.official:
        yield f"### Official Site\n{answer.official}"
    if answer.facts:
        yield "\n".join(["### Facts", *(f"- **{label}:** {value}" for label, value in answer.facts)])
    if answer.topics:
        yield "\n".join(["### Related Topics", *_topics(answer.topics)])


def _sourced(source: str, url: str) -> Iterator[str]:
    lines = [f"**Source:** {source}" if source else "", f"**URL:** {url}" if url else ""]
    if any(lines):
        yield "\n".join(filter(None, lines))


def _topics(topics: tuple[RelatedTopic, ...]) -> Iterator[str]:
    """A line each; groups, which come after the others, under their names."""
    group = ""
    for topic in topics:
        if topic.group != group:
            group = topic.group
            yield f"\n#### {group}"
        rest = f" - {clean_line(topic.text, _MAX_TOPIC)}" if topic.text else ""
        yield f"- **{topic.title}**{rest}"
