"""The settings page of the docs lists all settings of the code."""

from __future__ import annotations

import pytest

from devtools.settings_table import GROUPS, PAGE, table, with_table
from scraper.settings import FILE_ONLY, setting_table


def test_the_page_s_table_is_the_one_the_code_makes() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert page == with_table(page), "run: make docs"


def test_every_setting_has_one_row_of_four_cells() -> None:
    rows = [row for row in table().splitlines() if row.startswith("| `")]
    assert sorted(row.split("`")[1] for row in rows) == sorted(
        setting.key if setting.name in FILE_ONLY else setting.variable for setting in setting_table()
    )
    assert all(row.replace(r"\|", "").count("|") == 5 for row in rows)


def test_every_setting_has_a_group() -> None:
    assert sorted(" ".join(GROUPS.values()).split()) == sorted(setting.name for setting in setting_table())


def test_a_page_without_the_marks_is_refused() -> None:
    with pytest.raises(ValueError, match="settings"):
        with_table("# A page\n")


def test_no_default_of_the_machine_that_made_it_is_told() -> None:
    assert "/root" not in table() and "/home" not in table()
