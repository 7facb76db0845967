"""Checks of pages and documents: one dictionary each, with the name of the check as its first key."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmarks.cases.markdown_view import MarkdownView, normalize, strip_marks, tidy_code

Check = Mapping[str, Any]

_OPTIONAL_FACTS = frozenset({"format", "pages"})
"""Facts that a reader need not report: a check of an unreported one is not counted."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a reader makes of a page or document."""

    markdown: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """`title`, `author`, `published`, `format` and `pages`, those that the reader reports."""
    warnings: Sequence[str] = ()
    error: str = ""
    """Code and text of a refusal."""


@dataclass(frozen=True, slots=True)
class ReadText:
    """An answer with the forms of its text."""

    answer: Answer
    view: MarkdownView

    @classmethod
    def of(cls, answer: Answer) -> ReadText:
        """Build the forms of an answer."""
        return cls(answer, MarkdownView(answer.markdown))


def holds(check: Check, read: ReadText) -> bool | None:
    """Return True if a check holds, or None if the reader does not report what is asked.

    Raises:
        ValueError: The check is unknown.
    """
    for name, test in _OF_ANSWER.items():
        if name in check:
            return test(check, read)
    for name, text_test in _OF_TEXT.items():
        if name in check:
            # Where nothing was read, a missing text proves nothing.
            return bool(read.answer.markdown.strip()) and text_test(check, read.view)
    raise ValueError(f"unknown check {dict(check)}")


def _any(check: Check, read: ReadText) -> bool | None:
    verdicts = [holds(one, read) for one in check["any"]]
    return True if True in verdicts else None if None in verdicts else False


def _all(check: Check, read: ReadText) -> bool | None:
    verdicts = [holds(one, read) for one in check["all"]]
    return False if False in verdicts else None if None in verdicts else True


def _error(check: Check, read: ReadText) -> bool:
    error = read.answer.error
    return bool(error) and re.search(check["error"], error, re.IGNORECASE | re.DOTALL) is not None


def _no_error(check: Check, read: ReadText) -> bool:
    reported = "\n".join([read.answer.error, *read.answer.warnings])
    return re.search(check["noerror"], reported, re.IGNORECASE) is None


def _warning(check: Check, read: ReadText) -> bool:
    return re.search(check["warning"], "\n".join(read.answer.warnings), re.IGNORECASE | re.DOTALL) is not None


def _meta(check: Check, read: ReadText) -> bool | None:
    facts, wanted = read.answer.facts, check["meta"]
    if any(name in _OPTIONAL_FACTS and name not in facts for name in wanted):
        return None
    return all(
        facts.get(name) == value if name == "pages" else _fold(value) in _fold(facts.get(name))
        for name, value in wanted.items()
    )


def _heading(check: Check, read: ReadText) -> bool:
    wanted, level = strip_marks(check["heading"]), check.get("level")
    if level in (None, 1) and _fold(read.answer.facts.get("title")) == _fold(wanted):
        return bool(read.answer.markdown.strip())
    return any(
        level in (None, depth) and (text == wanted or (bool(check.get("starts")) and text.startswith(wanted)))
        for depth, text in read.view.headings
    )


def _has(check: Check, view: MarkdownView) -> bool:
    wanted = normalize(check["has"])
    if "times" in check or "max" in check:
        count = view.normal.count(wanted)
        return bool(check.get("times", count) == count <= check.get("max", count))
    wanted, bare = wanted.strip(), strip_marks(check["has"]).strip()
    is_written = any(wanted in text for text in (view.normal, view.plain, *view.flat))
    return is_written or (bool(bare) and (bare in view.plain or bare in view.flat[1]))


def _has_not(check: Check, view: MarkdownView) -> bool:
    unwanted = normalize(check["hasnot"]).strip()
    return unwanted not in view.normal and unwanted not in view.plain


def _order(check: Check, view: MarkdownView) -> bool:
    parts = _normalized(check["order"])
    return any(_in_order(parts, text) for text in (view.normal, view.plain, view.flat[1]))


def _near(check: Check, view: MarkdownView) -> bool:
    label, value = _normalized(check["near"])
    return any(_follows(label, value, check["within"], text) for text in (view.normal, view.plain))


def _line(check: Check, view: MarkdownView) -> bool:
    return any(re.search(check["line"], line) for lines in view.lines for line in lines)


def _no_line(check: Check, view: MarkdownView) -> bool:
    return not any(re.search(check["noline"], line) for line in view.lines[0])


def _match(check: Check, view: MarkdownView) -> bool:
    return any(re.search(check["match"], text) for text in (view.normal, view.plain))


def _raw(check: Check, view: MarkdownView) -> bool:
    return re.search(check["raw"], view.raw) is not None


def _code(check: Check, view: MarkdownView) -> bool:
    wanted, language = tidy_code(check["code"]), check.get("language")
    return any(
        language in (None, named) and (text == wanted or (bool(check.get("part")) and wanted in text))
        for named, text in view.code
    )


def _row(check: Check, view: MarkdownView) -> bool:
    bare, written = [strip_marks(cell).strip() for cell in check["row"]], _normalized(check["row"])
    if any(_holds_cells(bare, row) for row in view.rows):
        return True
    return any(
        _in_order(cells, line) for cells, lines in zip((written, bare), view.lines, strict=True) for line in lines
    )


def _cells(check: Check, view: MarkdownView) -> bool:
    wanted = check["cells"]
    return any(
        all(want in ("*", cell) for want, cell in zip(wanted, row[at:], strict=False))
        for row in view.rows
        for at in range(len(row) - len(wanted) + 1)
    )


def _column(check: Check, view: MarkdownView) -> bool:
    header, value, key = check["column"]
    for at, row in enumerate(view.rows):
        columns = [index for index, cell in enumerate(row) if header in cell]
        below = (later for later in view.rows[at + 1 :] if key in later)
        if columns and any(index < len(later) and later[index] == value for later in below for index in columns):
            return True
    return False


def _holds_cells(wanted: Sequence[str], row: Iterable[str]) -> bool:
    """Return True if the cells of a row contain the texts in this order."""
    cells = iter(row)
    return all(any(want in cell for cell in cells) for want in wanted)


def _in_order(parts: Iterable[str], text: str) -> bool:
    at = 0
    for part in parts:
        found = text.find(part, at)
        if found < 0:
            return False
        at = found + len(part)
    return True


def _follows(label: str, value: str, within: int, text: str) -> bool:
    """Return True if the value begins within so many characters after the label."""
    ends = (match.end() for match in re.finditer(re.escape(label), text))
    return any(value in text[end : end + within + len(value)] for end in ends)


def _normalized(parts: Iterable[str]) -> list[str]:
    return [normalize(part).strip() for part in parts]


def _fold(text: object) -> str:
    return " ".join(str(text or "").split()).casefold()


_OF_ANSWER: Mapping[str, Callable[[Check, ReadText], bool | None]] = {
    "any": _any, "all": _all, "error": _error, "noerror": _no_error, "warning": _warning, "meta": _meta,
    "heading": _heading,
}  # fmt: skip
_OF_TEXT: Mapping[str, Callable[[Check, MarkdownView], bool]] = {
    "has": _has, "hasnot": _has_not, "order": _order, "near": _near, "line": _line, "noline": _no_line,
    "match": _match, "raw": _raw, "code": _code, "row": _row, "cells": _cells, "column": _column,
}  # fmt: skip
