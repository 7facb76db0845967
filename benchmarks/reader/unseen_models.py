"""Choose for each page a model of the reader that was not trained on pages of its domain.

`benchmarks.train_reader` splits the domains of its pages into folds and trains one model without each fold. Their
weights are files beside this module, because a training takes 40 minutes. Other domains get the shipped model.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from benchmarks.training.table import FOLDS, fold_of
from benchmarks.training.weights_file import save_weights
from scraper.extract.content.block_classifier import BlockClassifier, ModelWeights, load_bundled_classifier

_FOLDER = Path(__file__).resolve().parent / "fold_weights"
_DOMAINS = "domains.txt"


class UnseenModels:
    """The models of the folds, and the shipped model for domains of no training page."""

    def __init__(self, folder: Path = _FOLDER) -> None:
        """Load the models from a folder that `save_fold_models` wrote."""
        self._shipped = load_bundled_classifier()
        self._domains = frozenset((folder / _DOMAINS).read_text(encoding="utf-8").splitlines())
        self._folds = [_load(folder / f"{fold}.npz") for fold in range(FOLDS)]

    def of_domain(self, domain: str) -> BlockClassifier:
        """Return the model for pages of a domain."""
        return self._folds[fold_of(domain)] if domain in self._domains else self._shipped


def save_fold_models(weights: Sequence[ModelWeights], domains: Iterable[str], folder: Path = _FOLDER) -> None:
    """Write the weights of each fold, and the domains of all pages of its corpora."""
    folder.mkdir(parents=True, exist_ok=True)
    for fold in range(FOLDS):
        with (folder / f"{fold}.npz").open("wb") as file:
            save_weights(weights[fold], file)
    (folder / _DOMAINS).write_text("".join(f"{domain}\n" for domain in sorted(set(domains))), encoding="utf-8")


def _load(path: Path) -> BlockClassifier:
    with path.open("rb") as file:
        return BlockClassifier(ModelWeights.load(file))
