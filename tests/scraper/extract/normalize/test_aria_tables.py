from __future__ import annotations

from tests.scraper.extract.conversion import markdown_of
from tests.scraper.extract.snapshots import WORDS, read

TABLE = "| Name | Type |\n| --- | --- |\n| a | int |\n| b | str |"


def test_roles_make_a_table_as_elements_do() -> None:
    html = (
        "<div role=table><div role=rowgroup><div role=row><b role=columnheader>Name</b>"
        "<b role=columnheader>Type</b></div></div>"
        "<div role=rowgroup><div role=row><i role=cell>a</i><i role=cell>int</i></div>"
        "<div role=row><p><i role=cell>b</i></p><i role=cell>str</i></div></div></div>"
    )
    assert markdown_of(html) == TABLE


def test_one_row_of_roles_is_no_table() -> None:
    assert markdown_of("<div role=grid><div role=row><p role=cell>a</p></div></div>") == "a"


def test_cells_one_behind_the_other_are_rows_of_the_width_they_name() -> None:
    texts = "".join(f"<div>{text}</div>" for text in ("a", "int", "b", "str"))
    cells = f"<div class=table-header>Name</div><div class=table-header>Type</div>{texts}"
    assert markdown_of(f"<div class='summary-table two-column-summary'>{cells}</div>") == TABLE
    assert "|" not in markdown_of(f"<div class='summary-table four-column-summary'>{cells}</div>")


def test_a_row_of_such_cells_is_read_whole() -> None:
    rows = "".join(
        f"<div class='col-first even-row-color'><code><a href='T{n}.html'>T{n}</a></code></div>"
        f"<div class='col-second even-row-color'><code><a href='#m{n}()'>m{n}</a>()</code></div>"
        f"<div class='col-last even-row-color'><div class=block>Gives the {n}th of them.</div></div>"
        for n in range(12)
    )
    heads = "".join(f"<div class='table-header'>{name}</div>" for name in ("Type", "Method", "Description"))
    table = f"<div class='summary-table three-column-summary'>{heads}{rows}</div>"
    html = f"<main><h1>Class A</h1><p>{WORDS}</p><ul><li><h2>Methods</h2>{table}</ul><p>{WORDS}</p></main>"
    markdown = read(f"<body><nav><a href=/>Overview</a></nav>{html}</body>").markdown
    for n in range(12):
        assert f"| `T{n}` | `m{n}()` | Gives the {n}th of them. |" in markdown
