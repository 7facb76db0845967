from __future__ import annotations

import io
from dataclasses import fields
from itertools import pairwise
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.training.weights_file import save_weights
from scraper.extract.content.block_classifier import (
    MAX_LEAVES,
    DecisionForest,
    ModelWeights,
    PageTypeClassifier,
    TreeNodes,
)
from tests.scraper.extract.content.test_neural_net import make_weights


def evaluate_by_node(nodes: TreeNodes, row: list[float]) -> float:
    """Evaluate the same trees node by node."""
    total = 0.0
    for tree, leaves in enumerate(nodes.leaves):
        gone: set[int] = set()
        for number in np.flatnonzero(nodes.trees == tree):
            if row[nodes.features[number]] > nodes.thresholds[number]:
                gone |= set(range(int(nodes.first[number]), int(nodes.last[number])))
        total += float(leaves[min(set(range(MAX_LEAVES)) - gone)])
    return total


def generate_trees(seed: int, trees: int, features: int) -> TreeNodes:
    """Generate trees by random splits."""
    chance = np.random.default_rng(seed)
    rows = []
    for tree in range(trees):
        spans = [(0, int(chance.integers(2, MAX_LEAVES + 1)))]
        while spans:
            start, end = spans.pop()
            if end - start < 2:
                continue
            middle = int(chance.integers(start + 1, end))
            rows.append((tree, int(chance.integers(features)), float(chance.integers(-3, 4)), start, middle))
            spans += pairwise((start, middle, end))
    table = np.array(rows)
    whole = [table[:, place].astype(np.int64) for place in (0, 1, 3, 4)]
    leaves = chance.normal(size=(trees, MAX_LEAVES)).astype(np.float32)
    return TreeNodes(whole[0], whole[1], table[:, 2].astype(np.float32), whole[2], whole[3], leaves)


@given(st.integers(0, 10_000))
def test_the_forest_equals_the_trees_evaluated_node_by_node(seed: int) -> None:
    nodes = generate_trees(seed, trees=5, features=4)
    # Whole numbers, so that values meet thresholds.
    matrix = np.random.default_rng(seed + 1).integers(-4, 5, size=(4, 30)).astype(np.float32)
    expected = [evaluate_by_node(nodes, matrix[:, column].tolist()) for column in range(30)]
    np.testing.assert_allclose(DecisionForest(nodes).compute_logits(matrix), expected, rtol=1e-4, atol=1e-5)


def test_many_rows_are_evaluated_in_parts() -> None:
    nodes = generate_trees(7, trees=3, features=2)
    matrix = np.tile(np.arange(-3, 3, dtype=np.float32), (2, 300))
    sums = DecisionForest(nodes).compute_logits(matrix)
    np.testing.assert_allclose(sums, np.tile(sums[:6], 300), rtol=1e-6)


def test_saved_weights_are_loaded_unchanged() -> None:
    nodes = generate_trees(1, trees=3, features=2)
    linear = np.array([0.0, -1.0, 0.5], np.float32)
    ones = np.ones((7, 4), np.float32)
    types = PageTypeClassifier(ones, ones[:, 0], ones[0], ones[0])
    weights = ModelWeights(linear, ("a", "b"), nodes, make_weights(2), types)
    first, second = io.BytesIO(), io.BytesIO()
    save_weights(weights, first)
    save_weights(weights, second)
    assert first.getvalue() == second.getvalue()
    read = ModelWeights.load(io.BytesIO(first.getvalue()))
    np.testing.assert_allclose(read.linear, linear, atol=1e-4)
    assert read.columns == ("a", "b")
    for one, other in zip(arrays_of(read), arrays_of(weights), strict=True):
        np.testing.assert_array_equal(one, other)


def arrays_of(weights: ModelWeights) -> list[np.ndarray]:
    """Return the arrays that are stored without rounding."""
    arrays = []
    parts: tuple[Any, ...] = (weights.forest, weights.page_types, weights.net, *weights.net.rounds)
    for part in parts:
        values = [getattr(part, field.name) for field in fields(part)]
        arrays += [value for value in values if isinstance(value, np.ndarray)]
    return arrays
