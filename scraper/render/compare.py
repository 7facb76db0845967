"""The answer of `compare`: for each page what of it bears on the question, in the order asked for."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from scraper.extract.text.sanitize import clean_line
from scraper.model import Reading, ReadPage
from scraper.render import errors
from scraper.render.excerpts import failure, page_object, section
from scraper.render.untrusted_region import EXPLANATION

RULE = "\n\n---\n\n"

_MAX_QUESTION = 500
_MAX_URL = 2_000
_MAX_SHOWN_URL = 200
_MAX_ERROR = 500


def as_markdown(question: str, pages: Sequence[ReadPage], *, region: str, now: datetime | None = None) -> str:
    """A section for each page, separated by rules; a failed one is a note."""
    read = sum(isinstance(page.outcome, Reading) for page in pages)
    opening = "\n".join(
        [
            "# Comparison",
            "",
            f"Question: {clean_line(question, _MAX_QUESTION)}",
            f"Pages: {read} of {len(pages)} read",
            EXPLANATION.format(region=region),
        ]
    )
    sections = [_section(number, page, region, now) for number, page in enumerate(pages, start=1)]
    return RULE.join([opening, *sections])


def as_json(question: str, pages: Sequence[ReadPage]) -> dict[str, object]:
    """The comparison for programs; a failed page is an excerpt with `error`."""
    excerpts = [_excerpt(page, pages) for page in pages]
    counts = (excerpt.get("tokens_estimated") for excerpt in excerpts)
    return {
        "question": question,
        "urls": [page.url for page in pages],
        "excerpts": excerpts,
        "tokens_estimated": sum(count for count in counts if isinstance(count, int)),
    }


def _section(number: int, page: ReadPage, region: str, now: datetime | None) -> str:
    heading = f"## {number}. {clean_line(page.url, _MAX_SHOWN_URL)}"
    if not isinstance(page.outcome, Reading):
        return f"{heading}\n\nError: {clean_line(errors.sentence(page.outcome), _MAX_ERROR)}"
    parts = [heading]
    if page.same_as is not None:
        parts.append(f"The same text as page {page.same_as + 1}.")
    return "\n\n".join([*parts, section(page, page.outcome, region, now)])


def _excerpt(page: ReadPage, pages: Sequence[ReadPage]) -> dict[str, object]:
    if not isinstance(page.outcome, Reading):
        return {"url": clean_line(page.url, _MAX_URL), "title": None, "excerpt": "", **failure(page)}
    found = page_object(page, page.outcome)
    answer = {("excerpt" if name == "content" else name): value for name, value in found.items()}
    # `excerpts` is the list of pages here.
    answer["passages"] = answer.pop("excerpts")
    if page.same_as is not None:
        answer["same_text_as"] = pages[page.same_as].url
    return answer
