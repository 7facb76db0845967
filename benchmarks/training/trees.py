"""Train the decision forest with LightGBM, and convert it to arrays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.training.boosting import lightgbm
from scraper.extract.content.block_classifier import MAX_LEAVES, TreeNodes

_PARAMETERS: Mapping[str, Any] = {
    "objective": "binary",
    "learning_rate": 0.08,
    "extra_trees": True,
    "num_leaves": 31,
    "max_depth": 9,
    "max_bin": 127,
    "feature_fraction": 0.3,
    "bagging_fraction": 0.6,
    "bagging_freq": 1,
    "lambda_l2": 10.0,
    # One thread and fixed seeds: the same trees on every run.
    "seed": 14,
    "num_threads": 1,
    "deterministic": True,
    "force_col_wise": True,
    "verbose": -1,
}


@dataclass(frozen=True, slots=True)
class Growth:
    """Size of a forest and its learning parameters."""

    trees: int = 400
    min_leaf_blocks: int = 60
    """Minimum blocks in a leaf."""


def grow(data: lightgbm.Dataset, growth: Growth) -> lightgbm.Booster:
    """Train a forest on a table."""
    return lightgbm.train({**_PARAMETERS, "min_data_in_leaf": growth.min_leaf_blocks}, data, growth.trees)


def nodes_of(booster: lightgbm.Booster) -> TreeNodes:
    """Convert a trained forest to arrays."""
    trees = booster.dump_model()["tree_info"]
    leaves = np.zeros((len(trees), MAX_LEAVES), np.float32)
    rows: list[tuple[int, int, float, int, int]] = []
    for number, tree in enumerate(trees):
        _collect_nodes(tree["tree_structure"], number, 0, leaves, rows)
    table = np.array(rows, np.float64).reshape(-1, 5)
    return TreeNodes(
        trees=table[:, 0].astype(np.int64),
        features=table[:, 1].astype(np.int64),
        thresholds=_round_down(table[:, 2]),
        first=table[:, 3].astype(np.int64),
        last=table[:, 4].astype(np.int64),
        leaves=leaves,
    )


def _collect_nodes(
    node: Mapping[str, Any],
    tree: int,
    leaf: int,
    leaves: NDArray[np.float32],
    rows: list[tuple[int, int, float, int, int]],
) -> int:
    """Assign numbers to the leaves from the left; return the next. Trees have at most nine levels."""
    if "split_feature" not in node:
        leaves[tree, leaf] = node["leaf_value"]
        return leaf + 1
    middle = _collect_nodes(node["left_child"], tree, leaf, leaves, rows)
    rows.append((tree, node["split_feature"], node["threshold"], leaf, middle))
    return _collect_nodes(node["right_child"], tree, middle, leaves, rows)


def _round_down(thresholds: NDArray[np.float64]) -> NDArray[np.float32]:
    """Round down to 32 bits, so that a value of 32 bits stays on the same side."""
    rounded = thresholds.astype(np.float32)
    above = rounded.astype(np.float64) > thresholds
    return np.where(above, np.nextafter(rounded, np.float32(-np.inf)), rounded).astype(np.float32)
