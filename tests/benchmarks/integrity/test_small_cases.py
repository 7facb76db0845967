"""Each invariant reports its fault on a small page, and nothing else raises an alarm."""

import pytest

from benchmarks.integrity import seeded
from benchmarks.integrity.invariants import INVARIANTS

CASES = list(seeded.small_cases())


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_a_fault_is_reported_and_the_right_output_raises_no_alarm(case: seeded.SmallCase) -> None:
    assert case.wrong != case.right
    assert case.name in seeded.violated(case.html, case.wrong)
    assert seeded.violated(case.html, case.right) == set()


def test_every_invariant_has_a_small_case() -> None:
    assert {case.name for case in CASES} == set(INVARIANTS)
