"""Parts of articles in the markup of site generators, read as a whole between paragraphs."""

from __future__ import annotations

import pytest

from tests.scraper.extract.snapshots import read

_PARAGRAPHS = [
    "The harbor of Sund was dug by hand between 1791 and 1804, and nobody wrote down how many people worked there.",
    "Its first keeper, Ilse Krug, collected log books from four towns. The oldest one lists cows, priests and barrels.",
    "Visitors start on the upper floor, where a rope is stretched across the room at the height of the old ferry rope.",
    "The town council discussed the matter twice in spring, and decided that the bridge should wait for the ferry.",
]
_MENU = "".join(f"<li><a href=/{name}>{name}</a></li>" for name in ("news", "sport", "culture", "weather", "archive"))


def markdown_of_article(part: str) -> str:
    """Return the Markdown of an article with a part between its paragraphs."""
    one, two, three, four = (f"<p>{text}</p>" for text in _PARAGRAPHS)
    article = f"<article><h1>Harbor</h1><div>{one}{two}{part}{three}{four}</div></article>"
    return read(
        f"<header><nav><ul>{_MENU}</ul></nav></header><main>{article}</main><footer><ul>{_MENU}</ul></footer>"
    ).markdown


@pytest.mark.parametrize(
    ("part", "caption"),
    [
        (
            "<div class=wp-caption><a href=/f.jpg><img src=/q.jpg alt></a><p class=wp-caption-text>{}</p></div>",
            "Quay, I.",
        ),
        (
            "<table class=tr-caption-container><tbody><tr><td><a href=/f.jpg><img src=/q.jpg></a></td></tr>"
            "<tr><td class=tr-caption>{}</td></tr></tbody></table>",
            "The quay by night",
        ),
        (
            "<div class=thumbinner><a href=/wiki/File:Q.jpg><img alt src=/q.jpg></a> "
            "<div class=thumbcaption><div class=magnify><a href=/f></a></div>{}</div></div>",
            "The quay in 1911",
        ),
        (
            "<dl class=gallery-item><dt class=gallery-icon><img src=/q.jpg alt></dt>"
            "<dd class='wp-caption-text gallery-caption'>{}</dd></dl>",
            "The quay",
        ),
        (
            "<article class=media><div class=field><div class=field__item><img src=/q.jpg></div></div>"
            "<div class='field field--name-field-caption'>{}</div></article>",
            "Before the market opens.",
        ),
        ("<figure><img src=/q.jpg><figcaption><a href=/ann>{}</a></figcaption></figure>", "Ann Li / Nord"),
        (
            "<section class=fig><h3>Figure 1.</h3><p><img src=/q.jpg></p><div><a href=/f>Open in a new tab</a></div>"
            "<figcaption><p>{}</p></figcaption></section>",
            "Flow for two stages. (a) Low water. (b) High water.",
        ),
        (
            "<div class=c><figure><img src=/q.jpg><button>Enlarge</button><figcaption class=meta>{}</figcaption>"
            "</figure></div>",
            "Photo: Ann Li",
        ),
    ],
)
def test_a_picture_stays_with_its_caption(part: str, caption: str) -> None:
    text = markdown_of_article(part.replace("{}", caption))
    picture, _, behind = text.partition("https://example.com/q.jpg")
    assert behind and picture.count("The town") == 0
    assert caption in behind.partition("Visitors")[0] and "Open in" not in text and "Enlarge" not in text


def test_a_linked_card_stays_with_its_caption() -> None:
    card = (
        "<figure class=kg-bookmark-card><a href=/story><div class=kg-bookmark-title>How the ferry was saved</div>"
        "<div class=kg-bookmark-metadata><span class=kg-bookmark-author>Other Paper</span></div></a>"
        "<figcaption>The report that we quote.</figcaption></figure>"
    )
    assert "[How the ferry was saved](https://example.com/story)\n\nOther Paper\n\nThe report that we quote." in (
        markdown_of_article(card)
    )


_STEPS = "<ol><li>Get the {0} from the page.</li>{1}<li>Restart the computer, and open the settings.</li></ol>"
_RUN = "<li>Run it and follow the steps on the screen.</li>"


def test_two_sections_may_have_the_same_steps() -> None:
    text = markdown_of_article(
        f"<h3>Windows</h3>{_STEPS.format('installer', _RUN)}<h3>Linux</h3>{_STEPS.format('archive', _RUN)}"
    )
    assert text.count("2. Run it and") == text.count("3. Restart the") == 2


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        ("<p>Ticket <span class='price line-through'>9 euros</span> 7 euros</p>", "Ticket ~~9 euros~~ 7 euros"),
        ("<div class=whitespace-pre-line>Mon 9-12\nTue closed</div>", "Mon 9-12  \nTue closed"),
        ("<p><span>1,204</span><span>boats</span> <b>98%</b><span>on time</span></p>", "1,204 boats **98%** on time"),
        ("<p>the <b>3</b><span>rd</span> boat of the <b>5</b><span>km</span> race</p>", "**3**rd boat of the **5**km"),
        (
            "<aside class='starlight-aside starlight-aside--caution'><p class=starlight-aside__title>Caution</p>"
            "<div><p>Never open two valves at once.</p></div></aside>",
            "> [!caution] Caution\n> Never open two valves at once.",
        ),
        ("<figure><svg><title>Boats</title><desc>14 in 1910</desc><path/></svg></figure>", "Boats 14 in 1910"),
        ("<div><button>0:07</button> <b>KRUG:</b> The rope broke at noon, and all saw it.</div>", "0:07 **KRUG:**"),
        ("<em><ul><li>Bring a coat</li></ul></em>", "\n- Bring a coat"),
        ("<p>1931. The year in which the bridge was begun.</p>", "1931\\. The year"),
        ("<p>- x is no list here, but the name of a sign.</p>", "\\- x is"),
        ("<p>4. maj holder byen mindehøjtid ved kajen.</p>", "4\\. maj"),
        ("<div>4) is the number of a berth at the quay.</div>", "4\\) is"),
        ("<p>1. Open the lock.</p><p>2. Close the lock.</p>", "\n1. Open the lock.\n\n2. Close"),
        ("<p>&gt; is a sign here, and no quotation at all.</p>", "\\> is a sign"),
        ("<div><l>An old quiet pond</l><l>A frog jumps in</l></div>", "An old quiet pond\n\nA frog"),
        ("<p>- One thing of the list.</p><p>- Another thing of it.</p>", "- One thing of the list.\n\n- Another"),
    ],
)
def test_styles_and_marks_of_generators_are_read(part: str, expected: str) -> None:
    assert expected in markdown_of_article(part)


def test_a_fact_box_in_an_aside_belongs_to_the_text() -> None:
    facts = [
        ("Location", "Sund"),
        ("Opened", "1804"),
        ("Keeper", "Ilse Krug"),
        *((f"Quay {n}", f"{n} m") for n in range(8)),
    ]
    rows = "".join(f"<div class=pi-data><h3>{label}</h3><div>{value}</div></div>" for label, value in facts)
    text = markdown_of_article(f"<aside class=portable-infobox><h2>Port of Sund</h2><section>{rows}</section></aside>")
    assert all(f"### {label}\n\n{value}" in text for label, value in facts)
    assert "Quay" not in markdown_of_article(
        f"<aside class=widget><h2>Port of Sund</h2><section>{rows}</section></aside>"
    )
