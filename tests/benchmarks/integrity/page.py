"""A page of an article, and readers that write it well or badly."""

from __future__ import annotations

import re
from collections.abc import Callable

from markdownify import markdownify

from benchmarks.integrity import dom
from benchmarks.integrity.case import Case
from benchmarks.integrity.output import Output, read_markdown
from benchmarks.integrity.relations import Subject
from benchmarks.integrity.visible import read_page

URL = "https://canal.example/news/locks"

_PARAGRAPHS = (
    "The upper lock of the canal opened again on Monday after the gates were repaired with oak from the forest.",
    "Forty boats waited in the basin since the end of winter, and their owners came with cake and warm coffee.",
    "The keeper measured the water at noon and found that it stands a hand above the mark of the last dry year.",
    "Rowers may pass the small weir on foot, but they must carry their boats along the path below the old mill.",
    "A new table of tolls hangs beside the office, and children who bring a paper boat still travel for nothing.",
    "In autumn the council wants to decide whether the lower lock gets a roof and the bridge a second railing.",
)

PAGE = (
    "<!DOCTYPE html><html><head><title>Locks open again</title></head><body><main><h1>Locks open again</h1>"
    f"{''.join(f'<p>{text}</p>' for text in _PARAGRAPHS)}</main></body></html>"
)

Reading = Callable[[str], str]
"""Returns the Markdown of a page."""


def write_everything(html: str) -> str:
    """Return all that a page shows, as Markdown."""
    shown = re.sub(r"<(script|style|title)\b.*?</\1>", "", html, flags=re.DOTALL | re.IGNORECASE)
    return markdownify(shown, heading_style="ATX", sub_symbol="<sub>", sup_symbol="<sup>", bs4_options="lxml")


def subject_of(read: Reading, html: str = PAGE) -> Subject:
    """Return the page with the output of a reader."""
    root = dom.parse(html)
    source = dom.serialize(root)
    return Subject(source, URL, root, Case(read_page(root), output_of(read, source), URL))


def output_of(read: Reading, html: str) -> Output:
    """Return the output of a reader."""
    return read_markdown(read(html))
