from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scraper.extract.content import hashed_features
from scraper.extract.content.block_classifier import load_bundled_classifier
from scraper.extract.content.feature_matrix import compute_columns, compute_score_columns, stack_columns
from scraper.extract.content.page_statistics import PageDescription, PageStatistics
from scraper.html.page import page_tree
from scraper.html.page.segmentation import segment_body
from tests.scraper.extract.content.trees import build_statistics
from tests.scraper.extract.snapshots import page
from tests.scraper.extract.test_reader import SOUP

CARD = "<li class=card><img src=x><h3>Shoe</h3><p>A fine shoe</p><span>$ 30</span></li>"
ARTICLE = (
    "<body class=page><nav><a href=/a>Home</a><a href=/b>News</a></nav><main><h1>A title</h1>"
    "<p>First sentence of it. Second sentence, with a comma.</p><h2>Comments</h2><p>Nice.</p></main>"
    f"<ul>{CARD * 4}</ul><footer>© 2024</footer></body>"
)


def test_columns_are_finite_and_have_one_value_per_block() -> None:
    page = build_statistics(ARTICLE, url="https://example.com/blog/2024/a-title")
    for name, values in compute_columns(page).items():
        assert values.shape == (page.n,), name
        assert np.isfinite(values.astype(float)).all(), name


@given(st.lists(st.sampled_from(SOUP), max_size=30).map("".join))
def test_any_tag_soup_has_finite_columns(html: str) -> None:
    segments = segment_body(page_tree.build_page_tree(page(html)).body)
    if not segments.texts:
        return
    measures = PageStatistics(segments, PageDescription())
    named = compute_columns(measures)
    values = stack_columns(named, tuple(named), measures.n)
    assert np.isfinite(values).all()


def test_the_bundled_model_reads_existing_columns() -> None:
    page = build_statistics(ARTICLE)
    named = compute_columns(page)
    scores = hashed_features.compute_scores(
        page, hashed_features.hash_features(page), np.zeros(hashed_features.BUCKETS, np.float32)
    )
    assert set(load_bundled_classifier().columns) <= set(named | compute_score_columns(scores))


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("in_nav", "HomeNews", 1),
        ("in_nav", "A title", 0),
        ("in_main", "Nice.", 1),
        ("in_footer", "© 2024", 1),
        ("link_share", "HomeNews", 1),
        ("under_comments", "Nice.", 1),
        ("under_comments", "A title", 0),
        ("card_money", "Shoe", 0.25),
        ("card_images", "A fine shoe", 0.25),
        ("equal", "Shoe", 4),
        ("page_main_share", "Nice.", pytest.approx(0.5, abs=0.2)),
    ],
)
def test_columns_have_the_expected_values(name: str, text: str, expected: float) -> None:
    page = build_statistics(ARTICLE)
    value = compute_columns(page)[name][page.texts.index(text)]
    if name.startswith("card_"):
        assert value > 0
    else:
        assert value == expected


def test_url_columns_are_unknown_without_a_url() -> None:
    named = compute_columns(build_statistics(ARTICLE))
    assert all((values == -1).all() for name, values in named.items() if name.startswith("url_"))


def test_buckets_depend_on_the_words_of_a_page() -> None:
    one, same, other = (
        hashed_features.hash_features(build_statistics(f"<p class=a>{text}</p>")) for text in ("x y", "x y", "y x")
    )
    assert (one.text.buckets == same.text.buckets).all()
    assert set(one.text.buckets.tolist()) != set(other.text.buckets.tolist())
    assert (one.own.buckets == other.own.buckets).all()
