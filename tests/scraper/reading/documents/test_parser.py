"""Failures of the process that parses a document."""

from __future__ import annotations

from typing import Any, cast

import pytest

from scraper import errors
from scraper.documents.model import ParseRequest
from scraper.reading.documents.parser import DocumentParser
from scraper.workers import WorkerDiedError, WorkerFailedError, WorkerMemoryError, WorkerTimeoutError
from scraper.workers.single_use import SingleUseProcesses

PDF = b"%PDF-1.7\n"
GOOD: dict[str, Any] = {
    "format": "pdf", "markdown": "words", "text": "words", "title": None, "author": None, "pages": 1,
    "ocr_pages": [], "encrypted": False, "warnings": [], "is_part": False,
}  # fmt: skip


class ScriptedShots:
    """Fake single-use processes: return the answers in order, or raise them if they are exceptions."""

    def __init__(self, *answers: dict[str, Any] | Exception) -> None:
        self.answers = list(answers)
        self.asked: list[dict[str, Any]] = []

    async def run(self, asked: Any, data: bytes, *, limit_s: float | None = None) -> dict[str, Any]:
        self.asked.append({**asked, "limit_s": limit_s})
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


async def read(shots: ScriptedShots, data: bytes = PDF) -> str:
    parsed = await DocumentParser(cast(SingleUseProcesses, shots)).parse(
        data, ParseRequest(), limit_s=10, source="a.pdf"
    )
    return parsed.markdown


@pytest.mark.parametrize(
    "failure",
    [
        WorkerDiedError("its process died"),
        WorkerTimeoutError("too long"),
        WorkerMemoryError("too much"),
        {"error": "malformed"},
        {"error": "empty", "message": "The document contains no text."},
    ],
)
async def test_the_second_reader_gets_half_the_time(failure: Any) -> None:
    shots = ScriptedShots(failure, {"parsed": GOOD})
    assert await read(shots) == "words"
    assert [asked["plain_reader"] for asked in shots.asked] == [False, True]
    assert [asked["limit_s"] for asked in shots.asked] == [10, 5]


@pytest.mark.parametrize(
    ("failure", "code"),
    [
        (WorkerDiedError("its process died"), "crash"),
        (WorkerTimeoutError("too long"), "timeout"),
        (WorkerMemoryError("too much"), "out_of_memory"),
        ({"error": "encrypted", "message": "Locked.", "next_step": "Give `password`."}, "encrypted"),
        ({"error": "too_large", "message": "Large."}, "too_large"),
        ({"error": "fault", "detail": "Traceback"}, "malformed"),
        ({"parsed": {"format": "pdf"}}, "crash"),
        ({"parsed": {**GOOD, "ocr_pages": ["x"]}}, "crash"),
    ],
)
async def test_every_failure_is_one_typed_error(failure: Any, code: str) -> None:
    with pytest.raises(errors.UnreadableError) as raised:
        await read(ScriptedShots(failure, WorkerFailedError("again")))
    assert raised.value.code == code
    assert raised.value.target == "a.pdf"


async def test_a_format_with_one_reader_is_not_retried() -> None:
    shots = ScriptedShots(WorkerDiedError("its process died"))
    with pytest.raises(errors.ParserFailedError):
        await read(shots, b"plain words")
    assert len(shots.asked) == 1
