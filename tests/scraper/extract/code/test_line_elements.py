"""Lists and rows that hold one line of code each."""

from __future__ import annotations

import pytest

from tests.growth import assert_linear
from tests.scraper.extract.snapshots import markdown_of

_LINES = ("if a:", "    b()", "c()")
_BLOCK = "```\nif a:\n    b()\nc()\n```"


def _join(template: str) -> str:
    return "".join(
        template.format(number=number, line=line.replace(" ", "&nbsp;")) for number, line in enumerate(_LINES, 9)
    )


@pytest.mark.parametrize(
    "html",
    [
        f"<ol>{_join('<li><code>{line}</code></li>')}</ol>",
        f"<ol>{_join('<li><pre>{line}</pre></li>')}</ol>",
        f"<div>{_join('<div><span class=ln>{number}</span><code>{line}</code></div>')}</div>",
        f"<div>{_join('<p><a href=#{number}>{number}</a> <code><b>{line}</b></code></p>')}</div>",
    ],
)
def test_lines_of_a_list_or_of_numbered_rows_are_one_block(html: str) -> None:
    assert markdown_of(f"<p>before</p>{html}<p>after</p>") == f"before\n\n{_BLOCK}\n\nafter"


@pytest.mark.parametrize(
    "html",
    [
        "<ol><li><code>make</code></li><li><code>make install</code></li></ol>",
        "<ol><li>Run <code>make</code></li><li><code>  make install</code></li></ol>",
        "<ul><li><code>a</code></li><li><code>&nbsp;&nbsp;b</code></li></ul>",
        f"<div>{_join('<div><span>{number}</span><code>{line}</code> is a line</div>')}</div>",
        f"<div>{_join('<div><span>5</span><code>{line}</code></div>')}</div>",
        "<p>Error <b>404</b> <code>not found</code></p><p>Error <b>405</b> <code>not allowed</code></p>",
    ],
)
def test_other_lists_and_numbers_stay(html: str) -> None:
    assert "```" not in markdown_of(html)


def test_time_grows_linearly_with_the_rows() -> None:
    row = "<span>{0}</span><code>x</code><br>"
    assert_linear(markdown_of, lambda size: "".join(row.format(number) for number in range(size)), 2_000)


@pytest.mark.parametrize(
    "html",
    [
        "<div class=cm-editor><div class=cm-gutters><div>1</div><div>2</div><div>3</div></div><div class=cm-content>"
        "<div class=cm-line>if a:</div><div class=cm-line>    b()</div><div class=cm-line>c()</div></div></div>",
        "<div class='view-lines'><div class=view-line style='top:19px'><span>    b()</span></div>"
        "<div class=view-line style='top:38px'><span>c()</span></div>"
        "<div class=view-line style='top:0px'><span>if&nbsp;a:</span></div></div>",
        "<div class='ace_layer ace_text-layer'><div class=ace_line_group><div class=ace_line>if a:</div></div>"
        "<div class=ace_line_group><div class=ace_line>    b()</div></div>"
        "<div class=ace_line_group><div class=ace_line>c()</div></div></div>",
        "<div data-slate-type=pre class=codebox><div data-slate-type=code-line>if a:</div>"
        "<div data-slate-type=code-line>    b()</div><div data-slate-type=code-line>c()</div></div>",
        "<div class=notion-code-block><div style='white-space: pre-wrap'>if a:\n    b()\nc()</div></div>",
    ],
)
def test_code_in_an_editor_is_one_block(html: str) -> None:
    assert markdown_of(f"<p>before</p>{html}<p>after</p>") == f"before\n\n{_BLOCK}\n\nafter"


def test_elements_named_lines_outside_of_code_are_no_code() -> None:
    assert "```" not in markdown_of("<div class=poem><div class=line>A ferry</div><div class=line>at noon</div></div>")
