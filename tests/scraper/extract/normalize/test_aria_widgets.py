"""ARIA widgets: headings made of buttons, and tab labels."""

from __future__ import annotations

import pytest

from tests.scraper.extract.conversion import markdown_of


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<h3><button aria-controls=a>Delivery</button></h3><p>Two days.</p>", "### Delivery\n\nTwo days."),
        ("<dl><dt><button>Delivery</button><dd>Two days.</dl>", "Delivery\n:   Two days."),
        ("<button aria-expanded=false>When will it come?</button><p>Soon.</p>", "When will it come?\n\nSoon."),
        ("<h3>Delivery <button>Copy link</button></h3><p>Two days.</p>", "### Delivery\n\nTwo days."),
        ("<button aria-expanded=false>Show more of it</button><p>Soon.</p>", "Soon."),
        ("<button>When will it come?</button><p>Soon.</p>", "When will it come?\n\nSoon."),
        ("<button>いつ届きますか？</button><p>すぐに。</p>", "いつ届きますか？\n\nすぐに。"),
        ("<button>Sure?</button><p>Soon.</p>", "Soon."),
        ("<button>Show all that it can do?</button><p>Soon.</p>", "Soon."),
        ("<button>Add to bag</button><p>Soon.</p>", "Soon."),
        ("<button class=accordion__trigger>Delivery times</button><p>Soon.</p>", "Delivery times\n\nSoon."),
        ("<button class=accordion__trigger>Close</button><p>Soon.</p>", "Soon."),
        ("<button class=accordion__trigger>Показать ещё</button><p>Скоро.</p>", "Скоро."),
        ("<button>" + "very " * 60 + "long?</button><p>Soon.</p>", "Soon."),
    ],
)
def test_only_buttons_that_are_titles_are_kept(html: str, expected: str) -> None:
    assert markdown_of(html) == expected


LABELLED = "**npm**\n\n    npm i x\n\n**yarn**\n\n    yarn add x".replace("    ", "")


@pytest.mark.parametrize(
    "html",
    [
        "<div role=tablist><button role=tab aria-controls=a>npm</button><button role=tab aria-controls=b>yarn"
        "</button></div><div id=a><p>npm i x</div><div id=b><p>yarn add x</div>",
        "<ul><li><a href='#a' data-toggle=tab>npm</a><li><a href='#b' data-toggle=tab>yarn</a></ul>"
        "<div><div class=tab-pane id=a><p>npm i x</div><div class=tab-pane id=b><p>yarn add x</div></div>",
        "<ul role=tablist><li role=tab>npm<li role=tab>yarn</ul>"
        "<div><div role=tabpanel><p>npm i x</div><div role=tabpanel><p>yarn add x</div></div>",
        "<div><div class=tabbed-labels><label for=i>npm</label><label for=j>yarn</label></div>"
        "<div class=tabbed-content><div><p>npm i x</div><div><p>yarn add x</div></div></div>",
        "<div role=tablist><i role=tab id=a>npm</i><i role=tab id=b>yarn</i></div><div role=tabpanel "
        "aria-labelledby=a><p>npm i x</div><div role=tabpanel aria-labelledby=b><p>yarn add x</div>",
    ],
)
def test_the_label_of_a_tab_moves_to_its_panel(html: str) -> None:
    assert markdown_of(html) == LABELLED


def test_a_label_is_not_repeated() -> None:
    panel = "<div class=tab-pane id=a><h2>Size</h2><p>Large.</div>"
    html = f"<ul><li><a href='#a' data-toggle=tab>Size</a></ul>{panel}"
    assert markdown_of(html) == "## Size\n\nLarge."


def test_tabs_without_panels_stay_in_place() -> None:
    panel = "<div><div role=tabpanel><p>npm i x</div></div>"
    html = f"<ul role=tablist><li role=tab>npm<li role=tab>yarn</ul>{panel}"
    assert markdown_of(html) == "- npm\n- yarn\n\nnpm i x"


def test_thousands_of_buttons_and_tabs_are_processed_in_time() -> None:
    buttons = "<button aria-expanded=false>Of many words</button>" * 5_000
    tabs = "".join(f"<i role=tab aria-controls=p{number}>T</i>" for number in range(5_000))
    panels = "".join(f"<div id=p{number}>x" for number in range(150)) + "</div>" * 150
    assert "Of many words" in markdown_of(f"<h2>{buttons}</h2>{tabs}{panels}")


TABLE = "| Name | Type |\n| --- | --- |\n| a | int |\n| b | str |"


def test_an_aria_grid_becomes_a_table() -> None:
    html = (
        "<div role=table><div role=rowgroup><div role=row><b role=columnheader>Name</b>"
        "<b role=columnheader>Type</b></div></div>"
        "<div role=rowgroup><div role=row><i role=cell>a</i><i role=cell>int</i></div>"
        "<div role=row><p><i role=cell>b</i></p><i role=cell>str</i></div></div></div>"
    )
    assert markdown_of(html) == TABLE


def test_an_aria_grid_of_one_row_is_not_a_table() -> None:
    assert markdown_of("<div role=grid><div role=row><p role=cell>a</p></div></div>") == "a"
