"""The later trees are asked where the first ones are in doubt, and nowhere else."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from scraper.extract.content.forest import Forest
from scraper.extract.content.model import Model, is_clear, shipped
from tests.scraper.extract.content.trees import measured

_MENU = "<nav><ul>" + "".join(f"<li><a href='/{k}'>Part {k}</a></li>" for k in range(9)) + "</ul></nav>"
_PROSE = "<p>The harbour was quiet that morning, and the boats came in one after the other with the tide.</p>"
_ARTICLE = f"{_MENU}<article><h1>Log of the harbour</h1>{_PROSE * 40}</article>"
_CARDS = "".join(
    f"<div class='card'><h3><a href='/{k}'>Boat {k}</a></h3><p>A boat of {k} feet, and more of it</p></div>"
    for k in range(12)
)
_MIXED = f"{_MENU}<div>{_CARDS}</div><div>{_PROSE * 2}</div><div>{_CARDS}</div>"


class _Counting:
    """A forest that notes how many blocks it is asked about."""

    def __init__(self, forest: Forest) -> None:
        self._forest = forest
        self.asked: list[int] = []

    def sums(self, matrix: NDArray[np.float32]) -> NDArray[np.float32]:
        self.asked.append(matrix.shape[1])
        return self._forest.sums(matrix)


def _counted(html: str) -> tuple[int, _Counting, _Counting]:
    """The blocks of a page, and what the later forests and the second trees were asked about it."""
    model = Model(shipped()._weights)
    others, second = _Counting(model._others), _Counting(model._second)  # type: ignore[arg-type]
    model._others, model._second = others, second  # type: ignore[assignment]
    page = measured(f"<html><body>{html}</body></html>")
    opinion = model.judge(page)
    assert len(opinion.p) == page.n
    return page.n, others, second


def test_a_page_that_is_clear_is_decided_by_the_first_forest_alone() -> None:
    _, others, second = _counted(_ARTICLE)
    assert (others.asked, second.asked) == ([], [])


def test_of_another_page_only_the_blocks_in_doubt_are_asked_about_again() -> None:
    blocks, others, second = _counted(_MIXED)
    assert len(others.asked) == len(second.asked) == 1
    assert 0 < second.asked[0] < blocks
    assert 0 < others.asked[0] < blocks


def test_a_page_is_clear_when_its_choice_is_likely_to_be_right() -> None:
    lengths = np.array([50.0, 60.0, 5.0])
    assert is_clear(np.array([0.999, 0.998, 0.001]), lengths)
    assert not is_clear(np.array([0.9, 0.6, 0.3]), lengths)
