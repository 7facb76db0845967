"""Mutated inputs of the parsers: each is read or refused with an error of its own, in a short time."""

from __future__ import annotations

from benchmarks.fuzz.inputs import fuzz_parsers


def test_a_few_mutated_inputs_neither_crash_nor_hang_a_parser() -> None:
    for outcomes in fuzz_parsers(inputs=25, seed=1).values():
        assert outcomes.keys() <= {"read", "refused"} and outcomes.total() == 25
