"""Each page is read with a model that was not trained on its domain."""

from __future__ import annotations

from pathlib import Path

import benchmarks.reader.unseen_models
from benchmarks.reader.unseen_models import UnseenModels
from benchmarks.training.table import FOLDS, fold_of
from scraper.extract.content.block_classifier import ModelWeights, load_bundled_classifier

FOLDER = Path(benchmarks.reader.unseen_models.__file__).parent / "fold_weights"


def test_a_domain_gets_the_model_without_its_fold_and_others_the_shipped_one() -> None:
    domains = (FOLDER / "domains.txt").read_text().splitlines()
    models = UnseenModels()
    by_fold = {fold_of(domain): models.of_domain(domain) for domain in domains}
    assert len(domains) > 1_000 and len(by_fold) == len(set(map(id, by_fold.values()))) == FOLDS
    assert models.of_domain("of-no-page.example") is load_bundled_classifier()


def test_the_models_of_the_folds_have_the_columns_of_the_shipped_one() -> None:
    shipped = load(Path("scraper/extract/content/weights.npz"))
    for fold in range(FOLDS):
        assert load(FOLDER / f"{fold}.npz").columns == shipped.columns


def load(path: Path) -> ModelWeights:
    with path.open("rb") as file:
        return ModelWeights.load(file)
