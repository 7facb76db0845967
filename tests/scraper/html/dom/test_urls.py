"""The URL of an image: the largest candidate of `srcset`, parsed as browsers do."""

from __future__ import annotations

import pytest
from lxml import etree

from scraper.html.dom.urls import find_image_source
from tests.scraper.soon import soon


@pytest.mark.parametrize(
    ("candidates", "largest"),
    [
        ("a.png 300w, b.png 1200w, c.png 800w", "b.png"),
        ("a.png, b.png 2x", "b.png"),
        ("a.png?w=1,2 1x,b.png 2x", "b.png"),
        ("a,b.png", "a,b.png"),
        ("a.png w", "a.png"),
        ("a.png 100w 50h, b.png 80w", "a.png"),
        ("Screenshot\u202fAM.png 800w", "Screenshot\u202fAM.png"),
        (" ,\n a.png\n 1.5x ,", "a.png"),
        ("data:image/png;base64,AA== 1x, b.png 2x", "b.png"),
        ("", ""),
    ],
)
def test_the_largest_candidate_is_taken(candidates: str, largest: str) -> None:
    assert find_image_source(etree.Element("img", srcset=candidates)) == largest


@pytest.mark.parametrize("candidates", [f"{'a' * 2_000}{' ' * 1_999}x", "," * 4_000, "a 1w x, " * 500])
def test_hostile_candidates_are_parsed_fast(candidates: str) -> None:
    image = etree.Element("img", srcset=candidates)
    with soon():
        for _ in range(200):
            find_image_source(image)
