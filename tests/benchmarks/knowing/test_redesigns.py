"""Made redesigns change the markup of a site, and no text."""

from __future__ import annotations

import re
from collections import Counter

import pytest
from lxml import html

from benchmarks.knowing.redesigns import DEGREES, redesign

PAGE = (
    "<html><body><div class='top' id='a' data-x='1'>Start<ul><li>One</li><li>Two</li></ul> between "
    "<div class='box'><h2>Head</h2> after <b>bold</b></div> tail <table class='t'><tr><th>Price</th><td>$5</td></tr>"
    "</table> end</div><section><p>Words</p></section></body></html>"
)


def words(source: str) -> Counter[str]:
    return Counter(re.findall(r"\S+", " ".join(map(str, html.document_fromstring(source).itertext()))))


@pytest.mark.parametrize("degree", DEGREES)
@pytest.mark.parametrize("site", [f"site-{number}" for number in range(20)])
def test_no_text_is_lost_or_added(degree: str, site: str) -> None:
    changed = redesign(PAGE, degree, site)
    assert words(changed) == words(PAGE)
    assert "top" not in changed and "data-x" not in changed


def test_pages_of_one_site_change_in_the_same_way() -> None:
    assert redesign(PAGE, "moved", "a") == redesign(PAGE, "moved", "a")
    assert any(len({redesign(PAGE, degree, f"site-{n}") for degree in DEGREES}) == 3 for n in range(20))
    assert redesign(PAGE, "tags", "a") != redesign(PAGE, "tags", "b")
