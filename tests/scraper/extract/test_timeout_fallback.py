from __future__ import annotations

import pytest

from scraper.extract import timeout_fallback
from scraper.model import Document, VerdictKind
from tests.growth import Hostile, hostile_inputs
from tests.scraper.extract.snapshots import page


def read(html: str) -> Document:
    return timeout_fallback.read(page(html))


def test_text_of_a_page_excludes_scripts_and_styles() -> None:
    document = read(
        "<html><head><title>A &amp; B</title><style>p{color:red}</style></head>"
        "<body><h1>Tide</h1>"
        "<p>High <b>wa</b>ter &lt; noon</p><!-- no --><script>if (a < b) no()</script><p>3 < 4<br>then</p>"
        "<template>no</template><svg><text>no</text></svg></body></html>"
    )
    assert document.title == "A & B"
    assert document.text == "Tide\n\nHigh water < noon\n\n3 < 4\n\nthen"
    assert document.degraded and document.verdict.ok


@pytest.mark.parametrize(
    "hidden",
    [
        "<div hidden>no<div>no</div>no</div>",
        "<div style='display:none'>no<p>no</div>",
        "<p data-x-hidden>no</p>",
        "<span style='opacity:0;color:red'>no <span>no</span></span>",
        "<textarea>no</textarea>",
    ],
)
def test_elements_hidden_by_their_tags_are_removed(hidden: str) -> None:
    assert read(f"<p>before</p>{hidden}<p>after</p>").text == "before\n\nafter"


@pytest.mark.parametrize("shown", ["<p style='opacity:0.5'>yes</p>", "<img hidden><p>yes</p>", "<b>yes"])
def test_visible_text_stays(shown: str) -> None:
    assert read(shown).text == "yes"


def test_a_body_that_is_hidden_until_its_scripts_ran_is_read() -> None:
    assert read("<body style='opacity:0'><p>yes</p></body>").text == "yes"


def test_empty_page_and_binary_page_are_distinguished() -> None:
    assert read("").verdict.reason == "empty"
    assert read("\x00" * 1000).verdict.reason == "binary"
    assert read("").verdict.kind is VerdictKind.THIN


@hostile_inputs(
    {"open tags": (3_000_000, lambda n: "<" * n), "bold words": (300_000, lambda n: "<p>x<b>y</b></p>" * n)},
    {
        "tags without an end": lambda: "<a" * 2_000_000,
        "open comments": lambda: "<!--" * 500_000,
        "open scripts": lambda: "<script>" * 500_000,
        "hidden and never closed": lambda: "<div hidden>" * 100_000,
        "open values": lambda: "<p a='" * 500_000,
        "empty lines": lambda: " \n" * 1_000_000,
        "entities": lambda: "&amp;" * 300_000,
    },
)
def test_time_grows_with_the_page_alone(hostile: Hostile[str]) -> None:
    assert len(hostile.run(read, limit_s=15).text) <= timeout_fallback.MAX_TEXT
