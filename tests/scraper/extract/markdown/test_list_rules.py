"""Nested, numbered, task and definition lists."""

from __future__ import annotations

import pytest

from tests.scraper.extract.conversion import markdown_of


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        ("<ul><li>a<ul><li>b<ol><li>c</ol></ul><li>d</ul>", "- a\n  - b\n    1. c\n- d"),
        ("<ol start=9><li>a<li><p>b</p><p>c</p></ol>", "9. a\n10. b\n\n    c"),
        ("<ol type=a><li>a<li><p>b</p><p>c</p></ol>", "- a. a\n- b. b\n\n  c"),
        ("<ol type=I start=4><li>a<li type=1>b</ol>", "- IV. a\n5. b"),
        ("<ol reversed><li>a<li>b</ol>", "- 2\\. a\n- 1\\. b"),
        ("<ul><li><p>a</p></li><li><p>b</p></li></ul>", "- a\n- b"),
        ("<ul><li></li><li>a</li></ul>", "- a"),
        (
            "<ul class=contains-task-list><li class=task-list-item><input type=checkbox disabled checked> a"
            "<li class=task-list-item><input type=checkbox disabled> b</ul>",
            "- [x] a\n- [ ] b",
        ),
        ("<ul><li><input type=checkbox id=t><label for=t>menu</label></ul>", "- menu"),
        ("<dl><dt>a</dt><dd><p>b</p><p>c</p></dd><dd>d</dd></dl>", "a\n:   b\n\n    c\n:   d"),
        ("<ul><li>a<pre>b\nc</pre>d</ul>", "- a\n\n  ```\n  b\n  c\n  ```\n\n  d"),
        ("<dl><dt><pre>f(a,\n  b)</pre><dd>c</dl>", "`f(a, b)`\n:   c"),
        ("<dl><dt>a<dd><pre>b\nc</pre><p>d</p></dl>", "a\n:   ```\n    b\n    c\n    ```\n\n    d"),
        ("<p>a - b\n-c</p>", "a - b -c"),
    ],
)
def test_lists(html: str, markdown: str) -> None:
    assert markdown_of(html) == markdown


def test_long_code_in_a_term_keeps_its_lines() -> None:
    code = "\n".join(f"  field{number}: int" for number in range(20))
    assert markdown_of(f"<dl><dt><pre>type\n{code}</pre><dd>c</dl>") == f"```\ntype\n{code}\n```\n:   c"


def test_text_directly_before_an_item_gets_its_own_line() -> None:
    assert markdown_of("<ul>Berths:<li>a</li><li>b</li></ul>") == "Berths:\n- a\n- b"


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        ("<ul><li>a</li><ul><li>b</li></ul><li>c</li></ul>", "- a\n  - b\n- c"),
        (
            "<ul class=inline-task-list><li class=checked><span>a</span></li><li><span>b</span></li></ul>",
            "- [x] a\n- [ ] b",
        ),
        ("<ul class='todo-list'><li class='todo checked'>a</li></ul>", "- [x] a"),
        ("<dl><dd>a<dd>b</dl>", "a\n\nb"),
        ("<div><dd>a<dd>b</div>", "a\n\nb"),
        ("<ul><ul><li>b</li></ul><li>c</li></ul>", "- b\n\n- c"),
        ("<ul><li data-checked=true>a<li data-checked=false><p>b</p></ul>", "- [x] a\n- [ ] b"),
    ],
)
def test_lists_of_various_editors(html: str, markdown: str) -> None:
    assert markdown_of(html) == markdown
