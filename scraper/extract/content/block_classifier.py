"""Predict the probability that each block of a page is content, with a trained model loaded from a file."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache
from importlib import resources
from typing import IO, Any, Self

import numpy as np
from numpy.typing import NDArray

from scraper.extract.content.feature_matrix import FeatureMatrix, compute_columns, compute_score_columns, stack_columns
from scraper.extract.content.hashed_features import compute_scores, hash_features
from scraper.extract.content.neural_net import ContextLayerWeights, NeuralNet, NeuralNetWeights
from scraper.extract.content.page_statistics import BlockMask, FloatArray, PageStatistics

MAX_LEAVES = 32
"""Leaves of a tree."""
_PLANES = 5
"""Bits of a leaf number."""
_ROWS, _BYTE = 64, 8
"""Rows that are evaluated at once, and those of a byte."""


@dataclass(frozen=True, slots=True)
class TreeNodes:
    """Inner nodes of all trees, one entry per node in each array, and the leaf values (trees x 32)."""

    trees: NDArray[np.int64]
    """Index of the node's tree."""
    features: NDArray[np.int64]
    """Row of the feature matrix that the node compares."""
    thresholds: NDArray[np.float32]
    """A value of at most the threshold goes left."""
    first: NDArray[np.int64]
    """First leaf of the node, which is also the first leaf of its left child."""
    last: NDArray[np.int64]
    """End of the leaf range of the left child: a value above the threshold cannot reach these leaves."""
    leaves: NDArray[np.float32]


class DecisionForest:
    """Sum of the trees of a forest; nodes with the same feature and threshold share one comparison."""

    def __init__(self, nodes: TreeNodes) -> None:
        """Merge equal comparisons, and list those that exclude each leaf of each tree."""
        self._trees = trees = len(nodes.leaves)
        keys = nodes.features << 32 | nodes.thresholds.view(np.uint32)
        _, places, comparisons = np.unique(keys, return_index=True, return_inverse=True)
        self._features = nodes.features[places]
        # Equal shapes are compared in half the time.
        self._thresholds = np.repeat(nodes.thresholds[places][:, None], _ROWS, axis=1)
        numbers = np.arange(MAX_LEAVES)
        node, leaf = np.nonzero((nodes.first[:, None] <= numbers) & (numbers < nodes.last[:, None]))
        leaf = leaf * trees + nodes.trees[node]
        counts = np.bincount(leaf, minlength=MAX_LEAVES * trees)
        # In the order of the leaves with the most nodes first, the n-th nodes are those of the first leaves.
        self._places = np.argsort(np.argsort(-counts, kind="stable"))
        places = self._places[leaf]
        order = np.argsort(places, kind="stable")
        number = np.arange(len(order)) - np.searchsorted(places[order], places[order])
        self._excluding = [comparisons[node[order[number == one]]] for one in range(counts.max())]
        self._leaves = nodes.leaves.ravel()
        self._first_leaf = (np.arange(trees) * MAX_LEAVES)[:, None]

    def compute_logits(self, matrix: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the sum of the trees for each column of a matrix with the shape (features, rows)."""
        sums = np.empty(matrix.shape[1], np.float32)
        for start in range(0, len(sums), _ROWS):
            sums[start : start + _ROWS] = self._sum_leaves(matrix[:, start : start + _ROWS])
        return sums

    def _sum_leaves(self, matrix: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the sums for at most `_ROWS` rows."""
        count = matrix.shape[1]
        values = np.zeros((len(matrix), _ROWS), np.float32)
        values[:, :count] = matrix
        is_larger = values.take(self._features, axis=0) > self._thresholds
        results = np.packbits(is_larger, bitorder="little").view(np.uint64)
        excluded = np.zeros(len(self._places), np.uint64)
        for comparisons in self._excluding:
            excluded[: len(comparisons)] |= results.take(comparisons)
        by_leaf = excluded.take(self._places).reshape(MAX_LEAVES, self._trees)
        # The number of the first leaf that is not excluded is the number of leaves up to which all are.
        passed = np.bitwise_and.accumulate(by_leaf, axis=0)
        steps = [1 << bit for bit in range(_PLANES)]
        planes = np.array([np.bitwise_xor.reduce(passed[step - 1 :: step], axis=0) for step in steps])
        at_least = max(count, 2)  # numpy would add the trees of a single row in another order
        bits = np.unpackbits(planes.view(np.uint8).reshape(-1, _BYTE), axis=1, count=at_least, bitorder="little")
        *lower, leaf = bits.reshape(_PLANES, self._trees, at_least)
        for plane in reversed(lower):
            leaf = (leaf + leaf) | plane  # a shift takes ten times as long
        return np.asarray(self._leaves.take(leaf + self._first_leaf, mode="clip").sum(0)[:count])


PAGE_TYPES = ("article", "collection", "documentation", "forum", "listing", "product", "service")
_MAX_DEVIATION = 6.0
"""Standard deviations. Larger distances from the mean are clipped."""

_CONFIDENT_F1 = 0.85
"""Expected F1. Above this, only the forest is used, as on five of six pages."""

STORED_NAMES = {"context": "heard"}
"""Array names in the weights file that differ from the field names."""


def average_columns(matrix: FeatureMatrix, lengths: FloatArray) -> FloatArray:
    """Return the mean of each column over all blocks: weighted by block length plus one, then unweighted.

    `matrix` has the shape (columns, blocks), `lengths` (blocks), and the result (2 x columns).
    """
    weights = lengths + 1
    return np.concatenate((matrix @ weights / weights.sum(), matrix.mean(axis=1)))


@dataclass(frozen=True, slots=True)
class PageTypeClassifier:
    """Multinomial logistic regression over the column means of a page."""

    coefficients: NDArray[np.float32]
    """Shape (types, 2 x columns)."""
    intercepts: NDArray[np.float32]
    """Shape (types)."""
    means: NDArray[np.float32]
    deviations: NDArray[np.float32]
    """Shape (2 x columns), like `means`: both standardize the averages."""

    def predict(self, averages: FloatArray) -> FloatArray:
        """Return the probability of each of `PAGE_TYPES` from the result of `average_columns`."""
        standard = np.clip((averages - self.means) / self.deviations, -_MAX_DEVIATION, _MAX_DEVIATION)
        values = self.coefficients @ standard + self.intercepts
        powers = np.exp(values - values.max())
        return np.asarray(powers / powers.sum(), np.float64)


@dataclass(frozen=True, slots=True)
class ModelWeights:
    """Weights of a trained model."""

    linear: NDArray[np.float32]
    """Weight of each bucket of the hashed features. Shape (`hashed_features.BUCKETS`)."""
    columns: tuple[str, ...]
    """Names of the matrix columns, in the order that forest, net and page types expect."""
    forest: TreeNodes
    net: NeuralNetWeights
    page_types: PageTypeClassifier

    @classmethod
    def load(cls, file: IO[bytes]) -> Self:
        """Read an archive that `benchmarks.training.weights_file` wrote. The linear weights have a common scale."""
        with np.load(file, allow_pickle=False) as data:
            rounds = [
                ContextLayerWeights(**_unpack(f"round{number}", ContextLayerWeights, data))
                for number in range(int(data["rounds"]))
            ]
            return cls(
                linear=data["linear"].astype(np.float32) * data["linear_scale"],
                columns=tuple(str(data["names"]).split("\n")),
                forest=TreeNodes(**_unpack("forest", TreeNodes, data)),
                net=NeuralNetWeights(rounds=tuple(rounds), **_unpack("net", NeuralNetWeights, data)),
                page_types=PageTypeClassifier(**_unpack("types", PageTypeClassifier, data)),
            )


def _unpack(
    prefix: str,
    kind: type[TreeNodes | PageTypeClassifier | NeuralNetWeights | ContextLayerWeights],
    data: np.lib.npyio.NpzFile,
) -> dict[str, Any]:
    """Return the arrays of a part by field name. All integers become 64-bit integers."""
    keys = {field.name: f"{prefix}_{STORED_NAMES.get(field.name, field.name)}" for field in fields(kind)}
    arrays = {name: data[key] for name, key in keys.items() if key in data}
    return {name: array.astype(np.int64) if array.dtype.kind in "iu" else array for name, array in arrays.items()}


@dataclass(frozen=True, slots=True)
class Prediction:
    """Output of the model for one page."""

    probabilities: FloatArray
    """Probability of each block to be content."""
    page_types: dict[str, float]
    """Probability of each page type."""


class BlockClassifier:
    """Trained model: a linear score, a decision forest, and a neural net for uncertain pages."""

    def __init__(self, weights: ModelWeights) -> None:
        """Prepare the forest and the net of the weights."""
        self._weights = weights
        self._forest = DecisionForest(weights.forest)
        self._net = NeuralNet(weights.net)

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the matrix columns that the model reads."""
        return self._weights.columns

    def predict(self, page: PageStatistics) -> Prediction:
        """Return the probabilities of a page with at least one block.

        The net is evaluated only if the forest is not confident; both probabilities are then averaged.
        """
        weights = self._weights
        columns = compute_columns(page)
        columns |= compute_score_columns(compute_scores(page, hash_features(page), weights.linear))
        values = stack_columns(columns, weights.columns, page.n)
        probabilities = sigmoid(self._forest.compute_logits(values))
        if not is_confident(probabilities, page.lengths):
            probabilities = (probabilities + sigmoid(self._net.compute_logits(page, values))) / 2
        page_types = weights.page_types.predict(average_columns(values, page.lengths))
        return Prediction(probabilities, dict(zip(PAGE_TYPES, page_types.tolist(), strict=True)))


def is_confident(probabilities: FloatArray, lengths: FloatArray) -> bool:
    """Return True if the best selection of blocks has an expected F1 above `_CONFIDENT_F1`."""
    return estimate_f1(select_by_expected_f1(probabilities, lengths), probabilities, lengths) > _CONFIDENT_F1


def sigmoid(logits: FeatureMatrix) -> FloatArray:
    """Return the probabilities of logits, which are clipped to -30 to 30."""
    return np.asarray(1 / (1 + np.exp(-np.clip(logits.astype(np.float64), -30, 30))))


@cache
def load_bundled_classifier() -> BlockClassifier:
    """Load the model that is shipped with this package, `weights.npz`, once per process."""
    with resources.files(__package__).joinpath("weights.npz").open("rb") as file:
        return BlockClassifier(ModelWeights.load(file))


_MAX_ARTICLE, _MAX_FORUM = 0.5, 0.3
"""Probabilities of page types. On articles and forums, blocks of one path are of several kinds: paragraphs of the text
and of the author's box, posts and signatures."""

_PATH_SHARE = 0.5
"""Share of the mean of the path in a new probability. F1 on wcxb is the same at .7, where phrases are .002 lower."""

_MIN_SERVICE = 0.6
"""Probability. F1 of services on wcxb is the same at .4, where headings of widgets are selected on other pages."""

_SERVICE_LOGIT = 0.6
"""Logit added on pages of services. Their sections look like teasers, but gold texts have most of them. F1 of services
on wcxb is .006 higher at .6 and at .8."""

_LEAST = 1e-6
"""Least distance of a probability from 0 and 1, so that its logit is finite."""


def calibrate(page: PageStatistics, p: FloatArray, types: Mapping[str, float]) -> FloatArray:
    """Return adjusted probabilities of the blocks of a page, except on articles and forums."""
    if types["forum"] >= _MAX_FORUM:
        return p
    adjusted = _raise_service_pages(p, types)
    return adjusted if types["article"] >= _MAX_ARTICLE else _average_paths(page, adjusted)


def _average_paths(page: PageStatistics, p: FloatArray) -> FloatArray:
    """Move each probability towards the mean, weighted by length, of the blocks with the same path of tags."""
    weights = page.lengths + 1
    means = np.bincount(page.path_groups, p * weights) / np.maximum(np.bincount(page.path_groups, weights), 1)
    return (1 - _PATH_SHARE) * p + _PATH_SHARE * means[page.path_groups]


def _raise_service_pages(p: FloatArray, types: Mapping[str, float]) -> FloatArray:
    """Raise the probabilities on a page of a service, in proportion to the probability of this page type."""
    if types["service"] <= _MIN_SERVICE:
        return p
    clipped = np.clip(p, _LEAST, 1 - _LEAST)
    odds = clipped / (1 - clipped) * np.exp(_SERVICE_LOGIT * types["service"])
    return np.asarray(odds / (1 + odds))


_LEAST_LENGTH = 1.0
"""Words added to the length of each block, so that blocks without words are selected by their probability."""


def select_by_expected_f1(p: FloatArray, lengths: FloatArray) -> BlockMask:
    """Select the blocks above the probability threshold with the greatest expected F1.

    Blocks are taken in order of probability. A block of n words with the probability p has n p expected content words.
    The expected F1 is 2 sum(n p) / (sum(n) + sum over all blocks (n p)). The first two sums are over the selected
    blocks. A fixed threshold would cost .009 of F1.
    """
    lengths = lengths + _LEAST_LENGTH
    order = np.argsort(-p, kind="stable")
    expected = (lengths * p)[order]
    values = 2 * np.cumsum(expected) / (np.cumsum(lengths[order]) + expected.sum() + 1e-9)
    return np.asarray(p >= p[order[int(values.argmax())]])


def estimate_f1(chosen: BlockMask, p: FloatArray, lengths: FloatArray) -> float:
    """Return the expected F1 of a selection, from 0 to 1."""
    lengths = lengths + _LEAST_LENGTH
    expected = lengths * p
    return float(2 * expected[chosen].sum() / (lengths[chosen].sum() + expected.sum() + 1e-9))
