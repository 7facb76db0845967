from __future__ import annotations

from tests.scraper.extract.conversion import markdown_of

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
