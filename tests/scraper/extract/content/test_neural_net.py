"""Contributions of the surrounding blocks in the neural net."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from scraper.extract.content.class_name_features import TAGS
from scraper.extract.content.feature_matrix import compute_columns, stack_columns
from scraper.extract.content.neural_net import (
    NEIGHBOR_STEPS,
    SPAN_COUNT,
    WEIGHT_EPSILON,
    ContextLayerWeights,
    Neighborhood,
    NeuralNet,
    NeuralNetWeights,
    _compute_context,
    build_neighborhood,
)
from scraper.extract.content.page_statistics import PageDescription, PageStatistics
from scraper.html.page import page_tree
from scraper.html.page.segmentation import segment_body
from tests.scraper.extract.content.trees import build_statistics
from tests.scraper.extract.snapshots import page
from tests.scraper.extract.test_reader import SOUP

_WIDTH = 6
_PAGE = (
    "<body><nav><a href=/a>Home</a></nav><main><h1>A title</h1><p>One two three.</p><p>Four five.</p>"
    "<h2>More</h2><ul><li>Six</li><li>Seven eight</li></ul></main><footer>Nine</footer></body>"
)


def make_weights(width: int, seed: int = 0) -> NeuralNetWeights:
    """Return random weights of a net with two layers."""
    chance = np.random.default_rng(seed)

    def drawn(*shape: int) -> np.ndarray:
        return chance.normal(size=shape).astype(np.float32)

    rounds = tuple(
        ContextLayerWeights(
            drawn(_WIDTH), drawn(_WIDTH, _WIDTH), drawn((SPAN_COUNT + 1) * _WIDTH, _WIDTH), drawn(_WIDTH)
        )
        for _ in range(2)
    )
    low, ones = np.full(width, -9, np.float32), np.ones(width, np.float32)
    columns, tags = drawn(width, _WIDTH), drawn(len(TAGS) + 1, _WIDTH)
    return NeuralNetWeights(low, -low, 0 * ones, ones, columns, tags, drawn(_WIDTH), rounds, drawn(_WIDTH), drawn())


def _of(page: PageStatistics) -> np.ndarray:
    named = compute_columns(page)
    return stack_columns(named, tuple(named), page.n)


def test_the_spans_of_a_block_are_the_text_before_it_the_page_and_its_ancestors() -> None:
    page = build_statistics(_PAGE)
    compute_columns(page)
    at = page.texts.index("Four five.")
    spans = [page.texts[blocks.start : blocks.stop] for blocks in _blocks(build_neighborhood(page), at)]
    assert len(NEIGHBOR_STEPS) + len(spans) == SPAN_COUNT
    assert spans[:2] == [["Home", "A title", "One two three."], page.texts]
    assert page.texts[1:-1] in spans[2:]


def _blocks(around: Neighborhood, at: int) -> list[range]:
    """Return the blocks of each span of a block."""
    places = [(span, span.block_spans[at]) for span in around.spans]
    return [range(span.starts[place], span.ends[place]) for span, place in places]


def _mean(around: Neighborhood, states: np.ndarray, blocks: list[int]) -> np.ndarray:
    weights = around.weights[blocks]
    mean: np.ndarray = (weights[:, None] * states[blocks]).sum(0) / (weights.sum() + WEIGHT_EPSILON)
    return mean


def _compute_context_by_block(page: PageStatistics, states: np.ndarray, learned: np.ndarray) -> np.ndarray:
    """Compute the contribution of the surrounding blocks, block by block."""
    around = build_neighborhood(page)
    context = []
    for at in range(page.n):
        some = [[at + step] if 0 <= at + step < page.n else [] for step in NEIGHBOR_STEPS]
        some += [list(blocks) for blocks in _blocks(around, at)]
        some.append(np.flatnonzero(around.paths == around.paths[at]).tolist())
        context.append(np.concatenate([_mean(around, states, each) for each in some]) @ learned)
    return np.array(context)


def test_a_block_receives_the_mean_of_each_span() -> None:
    page = build_statistics(_PAGE)
    compute_columns(page)
    chance = np.random.default_rng(4)
    states = chance.normal(size=(page.n, _WIDTH)).astype(np.float32)
    learned = chance.normal(size=((SPAN_COUNT + 1) * _WIDTH, _WIDTH)).astype(np.float32)
    context = _compute_context(states, build_neighborhood(page), learned)
    np.testing.assert_allclose(context, _compute_context_by_block(page, states, learned), atol=1e-4)


def test_the_logit_of_a_block_depends_on_its_neighbors() -> None:
    page = build_statistics(_PAGE)
    values = _of(page)
    net = NeuralNet(make_weights(len(values)))
    before = net.compute_logits(page, values)
    values[:, page.texts.index("One two three.")] += 1
    assert abs(net.compute_logits(page, values) - before)[page.texts.index("Four five.")] > 1e-4


def test_values_beyond_the_training_data_are_clipped() -> None:
    page = build_statistics(_PAGE)
    values = _of(page)
    net = NeuralNet(make_weights(len(values)))
    far, farther = values.copy(), values.copy()
    far[0], farther[0] = 9, 1e30
    np.testing.assert_array_equal(net.compute_logits(page, far), net.compute_logits(page, farther))


@given(st.lists(st.sampled_from(SOUP), max_size=30).map("".join))
def test_any_tag_soup_gets_finite_logits(html: str) -> None:
    segments = segment_body(page_tree.build_page_tree(page(html)).body)
    if not segments.texts:
        return
    measures = PageStatistics(segments, PageDescription())
    values = _of(measures)
    sums = NeuralNet(make_weights(len(values))).compute_logits(measures, values)
    assert sums.shape == (measures.n,)
    assert np.isfinite(sums).all()
