"""Run the cases of pages and documents: read each input, then check the text, the facts and the warnings."""

from __future__ import annotations

import json
from collections.abc import Mapping

from benchmarks.cases.model import Case, CaseResult, Judgment, announces_loss
from benchmarks.cases.product import Product, has_browser
from benchmarks.cases.text_checks import Answer, Check, ReadText, holds

_MAX_FOUND = 200


async def run(case: Case, product: Product) -> CaseResult:
    """Read the inputs of a case with the product and check the answers."""
    reason = reason_not_to_run(case)
    if not reason and case.data.get("needs_browser") and not has_browser():
        reason = "no browser"
    if reason:
        return CaseResult(case, not_run=reason)
    return judge(case, {name: await product.read(case, name) for name in input_names(case)})


def reason_not_to_run(case: Case) -> str:
    """Return the reason why a case cannot be run by any reader; empty if it can."""
    if input_names(case):
        return ""
    if case.data.get("public"):
        return "no input: its public files are not here"
    return "no input" if case.data["expect"] else "no expectation"


def input_names(case: Case) -> list[str]:
    """Return the files that are checked, of those that are here."""
    return [name for name in _checked_names(case) if case.has_input(name)]


def judge(case: Case, answers: Mapping[str, Answer]) -> CaseResult:
    """Check the answers to the inputs of a case."""
    read = {name: ReadText.of(answer) for name, answer in answers.items()}
    judgments = []
    for check in case.data["expect"]:
        text = read.get(_file(case, check))
        verdict = holds(check, text) if text else None
        if text and verdict is not None:
            judgments.append(_judgment(check, text.answer, verdict))
    return CaseResult(case, judgments, absent=[name for name in _checked_names(case) if name not in answers])


def _checked_names(case: Case) -> list[str]:
    return list(dict.fromkeys(_file(case, check) for check in case.data["expect"]))


def _file(case: Case, check: Check) -> str:
    return str(check.get("file", case.data.get("file", "")))


def _judgment(check: Check, answer: Answer, verdict: bool) -> Judgment:
    is_announced = bool(answer.error) or announces_loss(answer.warnings)
    found = answer.error or "; ".join(answer.warnings)
    shown = json.dumps(check, ensure_ascii=False)
    return Judgment(shown, verdict, is_silent=not verdict and not is_announced, found=found[:_MAX_FOUND])
