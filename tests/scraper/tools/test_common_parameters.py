"""What the reading tools have in common."""

from __future__ import annotations

import re

from scraper.tools.common_parameters import max_age_s, new_region


def test_the_marks_of_an_answer_cannot_be_known_from_another() -> None:
    regions = {new_region() for _ in range(100)}
    assert len(regions) == 100
    assert all(re.fullmatch("[0-9a-f]{12}", region) for region in regions)


def test_an_age_is_given_in_hours_and_meant_in_seconds() -> None:
    assert [max_age_s({"max_age_hours": hours}) for hours in (None, 0, 0.5)] == [None, 0, 1_800]
