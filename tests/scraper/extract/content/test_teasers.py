"""Lines amid an article that lead to another one."""

from __future__ import annotations

import numpy as np
import pytest

from scraper.extract.content.teasers import lead_away
from tests.scraper.extract.content.trees import measured


def leads(line: str) -> bool:
    page = measured(f"<p>The text of a page that goes on.</p><p>{line}</p>")
    return bool(lead_away(page, np.ones(page.n, np.bool_))[1])


@pytest.mark.parametrize(
    "words",
    [
        "Read also:", "Lesen Sie auch:", "À lire aussi :", "Читайте також:", "Διαβάστε επίσης:", "관련기사",
        "อ่านเพิ่มเติม", "यह भी पढ़ें:", "আরও পড়ুন", "اقرأ أيضًا:", "بیشتر بخوانید:", "קראו גם:", "あわせて読みたい",
        "相关阅读：", "延伸閱讀：", "Loe ka:", "Đọc thêm:",
    ],
)  # fmt: skip
def test_a_link_behind_such_words_leads_away(words: str) -> None:
    assert leads(f"{words} <a href=/x>the tides of the northern bay this year</a>")


def test_words_without_spaces_count_as_they_are_read() -> None:
    assert leads(f"<a href=/x>関連記事 {'潮の満ち引きは月の力' * 3}</a>")


@pytest.mark.parametrize(
    "line",
    [
        "Read also what stands below",
        "The <a href=/x>tides of the northern bay</a>, read also as ebb and flood",
        f"Read also <a href=/x>{'the tides ' * 20}</a>",
    ],
)
def test_other_lines_stay(line: str) -> None:
    assert not leads(line)
