"""Remember the predictions of the content model, which take most of the time and seldom change with a rule."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

from lxml import etree

from scraper.extract.content.block_classifier import BlockClassifier, Prediction
from scraper.extract.content.page_statistics import PageStatistics


@contextmanager
def remembered_predictions() -> Iterator[None]:
    """Predict each page once for each model and tree while the block runs."""
    known: dict[tuple[int, int, object], tuple[Prediction, dict[str, Any]]] = {}
    predict = BlockClassifier.predict

    def remembered(self: BlockClassifier, page: PageStatistics) -> Prediction:
        root = page.segments.elements.nodes[0]
        key = id(self), hash(etree.tostring(root)), page.description
        if key not in known:
            before = set(vars(page))
            prediction = predict(self, page)
            known[key] = prediction, {name: value for name, value in vars(page).items() if name not in before}
        prediction, computed = known[key]
        vars(page).update(computed)  # the rules after the prediction read the statistics that it computed
        return prediction

    with mock.patch.object(BlockClassifier, "predict", remembered):
        yield
