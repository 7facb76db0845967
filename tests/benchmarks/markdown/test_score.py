"""The Markdown benchmark counts correct, missing and superfluous parts."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.markdown.score import gold_from_markdown, score, summary
from benchmarks.markdown.structure import parse_structure

PAGE = """## Title

- one
- two [link](https://example.org/x/)

```py
a = 1
```

| a | b |
| --- | --- |
| 1 | 2 |

Formula $x^2$.[^1]

[^1]: A note.
"""


def figures(tmp_path: Path, markdown: str) -> dict[str, float]:
    gold = tmp_path / "gold.md"
    gold.write_text(PAGE, encoding="utf-8")
    return summary([score(gold_from_markdown(gold), markdown)])


def test_the_gold_itself_has_full_scores(tmp_path: Path) -> None:
    found = figures(tmp_path, PAGE)
    assert {key: value for key, value in found.items() if value != 1.0} == {"relative_links": 0}


@pytest.mark.parametrize(
    ("old", "new", "figure", "value"),
    [
        ("## Title", "### Title", "headings", 0.0),
        ("```py", "```", "code", 0.0),
        ("```py", "```python", "code", 1.0),
        ("a = 1", "a = 2", "code_text", 0.0),
        ("| 1 | 2 |", "| 1 | 3 |", "tables", 0.0),
        ("| 1 | 2 |", "| 1 | 3 |", "cells", 0.75),
        ("- one\n", "", "list_items", 2 / 3),
        ("https://example.org/x/", "/x", "links", 0.0),
        ("https://example.org/x/", "/x", "relative_links", 1),
        ("$x^2$", "x2", "math", 0.0),
        ("[^1]: A note.", "A note.", "footnote_pages", 0),
    ],
)
def test_each_difference_lowers_its_figure(tmp_path: Path, old: str, new: str, figure: str, value: float) -> None:
    assert figures(tmp_path, PAGE.replace(old, new))[figure] == pytest.approx(value)


def test_tables_written_as_html_are_tables() -> None:
    assert parse_structure("<table><tr><td>a</td><td>b<br>c</td></tr></table>").tables == [[["a", "b c"]]]
