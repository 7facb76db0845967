"""Modal dialogs, inert parts, rows of tables and the main part in outlines."""

from __future__ import annotations

import pytest

from tests.browsers.acting.scripts import Actor
from tests.site.acting_regions import MODALS

pytestmark = pytest.mark.browser


async def test_what_is_behind_a_modal_dialog_or_inert_is_counted_and_found(actor: Actor) -> None:
    for name in MODALS:
        opened = (await actor(f"open @modal-{name}")).content
        assert 'button "Begin"' in opened and '"Open 3"' not in opened, name
        assert opened.endswith("… 362 lines behind the dialog or in inert parts: close it, or look with words of them")
        assert 'button "Open 3"' in (await actor("look Open 3")).content
        if name in ("native", "overlay", "inert"):
            assert (await actor('click "Open 3"')).error, name


async def test_a_page_in_a_fixed_box_is_no_dialog(actor: Actor) -> None:
    assert 'button "Open 3"' in (await actor("open @fixed-page")).content


async def test_main_comes_first_if_not_all_fits(actor: Actor) -> None:
    assert '"Prices"' in (await actor("open @long-navigation")).content


async def test_rows_of_tables_are_lines_with_marks_between_their_cells(actor: Actor) -> None:
    opened = (await actor("open @tables")).content
    for line in ("Item | Price | Left", "Rope 10 m | 12 | 3", "Sail | | 1", "90 | 7", "Mast | 800", "Inner | 5"):
        assert f'"{line}"\n' in opened
    assert '"Only one cell After"' in opened
    assert (await actor('click "Add"')).content == '+ "Oar | 40"'
    assert (await actor("look Sail")).content.count('"') == 4
