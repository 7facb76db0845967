"""Titles that are buttons, and the labels of tabs."""

from __future__ import annotations

import pytest

from tests.scraper.extract.conversion import markdown_of


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<h3><button aria-controls=a>Delivery</button></h3><p>Two days.</p>", "### Delivery\n\nTwo days."),
        ("<dl><dt><button>Delivery</button><dd>Two days.</dl>", "Delivery\n:   Two days."),
        (
            "<button aria-expanded=false>When will it come?</button><p>Soon.</p>",
            "When will it come?\n\nSoon.",
        ),
        ("<h3>Delivery <button>Copy link</button></h3><p>Two days.</p>", "### Delivery\n\nTwo days."),
        ("<button aria-expanded=false>Show more of it</button><p>Soon.</p>", "Soon."),
        ("<button>When will it come?</button><p>Soon.</p>", "When will it come?\n\nSoon."),
        ("<button>いつ届きますか？</button><p>すぐに。</p>", "いつ届きますか？\n\nすぐに。"),
        ("<button>Sure?</button><p>Soon.</p>", "Soon."),
        ("<button>Show all that it can do?</button><p>Soon.</p>", "Soon."),
        ("<button>Add to bag</button><p>Soon.</p>", "Soon."),
        ("<button class=accordion__trigger>Delivery times</button><p>Soon.</p>", "Delivery times\n\nSoon."),
        ("<button class=accordion__trigger>Close</button><p>Soon.</p>", "Soon."),
        ("<button>" + "very " * 60 + "long?</button><p>Soon.</p>", "Soon."),
    ],
)
def test_a_button_that_titles_what_it_opens_is_kept_and_no_other(html: str, expected: str) -> None:
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
def test_the_label_of_a_tab_stands_above_what_it_shows(html: str) -> None:
    assert markdown_of(html) == LABELLED


def test_a_label_is_not_said_twice() -> None:
    panel = "<div class=tab-pane id=a><h2>Size</h2><p>Large.</div>"
    html = f"<ul><li><a href='#a' data-toggle=tab>Size</a></ul>{panel}"
    assert markdown_of(html) == "## Size\n\nLarge."


def test_tabs_without_their_parts_stay_where_they_are() -> None:
    panel = "<div><div role=tabpanel><p>npm i x</div></div>"
    html = f"<ul role=tablist><li role=tab>npm<li role=tab>yarn</ul>{panel}"
    assert markdown_of(html) == "- npm\n- yarn\n\nnpm i x"


def test_thousands_of_buttons_and_tabs_come_to_an_end() -> None:
    buttons = "<button aria-expanded=false>Of many words</button>" * 5_000
    tabs = "".join(f"<i role=tab aria-controls=p{number}>T</i>" for number in range(5_000))
    panels = "".join(f"<div id=p{number}>x" for number in range(150)) + "</div>" * 150
    assert "Of many words" in markdown_of(f"<h2>{buttons}</h2>{tabs}{panels}")
