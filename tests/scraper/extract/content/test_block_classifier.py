"""The net is evaluated only for pages on which the forest is not confident."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from scraper.extract.content.block_classifier import BlockClassifier, is_confident, load_bundled_classifier
from scraper.extract.content.neural_net import NeuralNet
from scraper.extract.content.page_statistics import PageStatistics
from tests.scraper.extract.content.trees import build_statistics

_MENU = "<nav><ul>" + "".join(f"<li><a href='/{k}'>Part {k}</a></li>" for k in range(9)) + "</ul></nav>"
_PROSE = "<p>The harbour was quiet that morning, and the boats came in one after the other with the tide.</p>"
_ARTICLE = f"{_MENU}<article><h1>Log of the harbour</h1>{_PROSE * 40}</article>"
_REVIEWS = "".join(f"<div><b>Anna {k}</b><p>I liked it, and would buy it again any time.</p></div>" for k in range(8))
_BOATS = "".join(f"<div><a href='/{k}'>Boat {k}</a> <span>{k} feet</span></div>" for k in range(20))
_MIXED = f"<aside>{_REVIEWS}</aside><div>{_BOATS}</div><footer>{_PROSE * 3}</footer>"


class _Counting:
    """Net that records the number of blocks of each call."""

    def __init__(self, net: NeuralNet) -> None:
        self._net = net
        self.calls: list[int] = []

    def compute_logits(self, page: PageStatistics, values: NDArray[np.float32]) -> NDArray[np.float32]:
        self.calls.append(page.n)
        return self._net.compute_logits(page, values)


def _count_net_calls(html: str) -> tuple[int, list[int]]:
    """Return the number of blocks of a page and the calls of the net."""
    model = BlockClassifier(load_bundled_classifier()._weights)
    net = _Counting(model._net)
    model._net = net  # type: ignore[assignment]
    page = build_statistics(f"<html><body>{html}</body></html>")
    prediction = model.predict(page)
    assert len(prediction.probabilities) == page.n
    return page.n, net.calls


def test_the_net_is_not_evaluated_on_a_confident_page() -> None:
    assert _count_net_calls(_ARTICLE)[1] == []


def test_the_net_is_evaluated_for_all_blocks_of_an_uncertain_page() -> None:
    blocks, calls = _count_net_calls(_MIXED)
    assert calls == [blocks]


def test_a_page_is_confident_if_its_selection_is_probable() -> None:
    lengths = np.array([50.0, 60.0, 5.0])
    assert is_confident(np.array([0.999, 0.998, 0.001]), lengths)
    assert not is_confident(np.array([0.7, 0.5, 0.3]), lengths)
