"""Has documents read by processes of their own, by a second reader where the first fails, and says why."""

from __future__ import annotations

import logging
from dataclasses import asdict, replace
from typing import Any, Protocol

from scraper import errors
from scraper.extract.documents.model import ParsedDocument, ParseRequest
from scraper.extract.documents.read import has_second_reader
from scraper.extract.documents.sniff import DocumentKind, kind_of
from scraper.workers import WorkerFailedError, WorkerMemoryError, WorkerTimeoutError

log = logging.getLogger(__name__)

_KINDS: dict[str, type[errors.ScraperError]] = {
    kind.code: kind
    for kind in (
        errors.UnsupportedTypeError,
        errors.ContentTooLargeError,
        errors.NoContentError,
        errors.EncryptedDocumentError,
        errors.MalformedDocumentError,
        errors.OcrNeededError,
        errors.InvalidArgumentError,
    )
}  # fmt: skip
_WORTH_A_SECOND = frozenset({"crash", "timeout", "out_of_memory", "malformed", "encrypted"})
_SECOND_SHARE = 0.5
"""Of the time that is left: a second reader of a file that broke the first gets half of the limits."""
_FAILURES: dict[str, tuple[str, str]] = {
    "timeout": ("takes longer to read than a document may", "Look for a smaller copy, or another source."),
    "out_of_memory": ("needs more memory than reading a document may take", "Look for a smaller copy."),
    "crash": ("makes its reader crash: it is damaged, or was made to", "Look for another copy or source."),
}
_DAMAGED = errors.MalformedDocumentError(
    "The document is damaged: its reader could not make sense of it.",
    next_step="Try once more, or look for another copy.",
)


class SingleUseRunner(Protocol):
    """The part of `OneShots` that is used."""

    async def run(self, asked: Any, data: bytes, *, limit_s: float | None = None) -> dict[str, Any]: ...


class Parser:
    """Reads documents."""

    def __init__(self, shots: SingleUseRunner) -> None:
        self._shots = shots

    async def read(self, data: bytes, asked: ParseRequest, *, limit_s: float, source: str) -> ParsedDocument:
        """The document in these bytes; `source` is what errors name.

        Raises:
            ScraperError: it cannot be read; the sentence says why and what to do.
        """
        try:
            parsed = await self._once(data, asked, limit_s)
            return (
                await self._with_care(parsed, data, asked, limit_s) if parsed.deserves_more_care else parsed
            )
        except errors.ScraperError as first:
            kind = kind_of(data, media_type=asked.media_type, name=asked.name)
            if first.code not in _WORTH_A_SECOND or not has_second_reader(kind):
                raise _about(first, source) from first.__cause__
            try:
                parsed = await self._once(data, replace(asked, plain_reader=True), limit_s * _SECOND_SHARE)
            except errors.ScraperError:
                raise _about(first, source) from None
            return replace(
                parsed,
                warnings=(
                    *parsed.warnings,
                    "The file is odd: a plainer reader read it, which may miss tables, notes and parts.",
                ),
            )

    async def _with_care(
        self, parsed: ParsedDocument, data: bytes, asked: ParseRequest, limit_s: float
    ) -> ParsedDocument:
        """A better reading where the second reader can give one; the first one where it cannot."""
        try:
            return await self._once(data, replace(asked, more_care=True), limit_s * _SECOND_SHARE)
        except errors.ScraperError:
            return parsed

    async def _once(self, data: bytes, asked: ParseRequest, limit_s: float) -> ParsedDocument:
        try:
            answer = await self._shots.run(asdict(asked), data, limit_s=limit_s)
        except WorkerFailedError as failure:
            raise _told(failure) from failure
        if "parsed" in answer:
            try:
                return ParsedDocument.of_json(answer["parsed"])
            except (ValueError, TypeError, AttributeError) as error:
                raise _failed("crash") from error
        raise _answered(answer)


def is_document(body: bytes, media_type: str) -> bool:
    """Whether a response is a document for `read_doc` rather than a page or a text."""
    return kind_of(body, media_type=media_type) in _DOCUMENTS


_DOCUMENTS = frozenset(
    {
        DocumentKind.PDF, DocumentKind.DOCX, DocumentKind.XLSX, DocumentKind.XLSB, DocumentKind.XLS,
        DocumentKind.ODS, DocumentKind.PPTX, DocumentKind.EPUB, DocumentKind.ODT,
        DocumentKind.ODP, DocumentKind.RTF, DocumentKind.DOC, DocumentKind.PPT, DocumentKind.LOCKED_OFFICE,
    }
)  # fmt: skip


def _told(failure: WorkerFailedError) -> errors.ScraperError:
    if isinstance(failure, WorkerTimeoutError):
        return _failed("timeout")
    return _failed("out_of_memory" if isinstance(failure, WorkerMemoryError) else "crash")


def _answered(answer: dict[str, Any]) -> errors.ScraperError:
    """The error that a process told; its words are ours, made in our own code."""
    code = answer.get("error")
    if code == "fault":
        log.error("the reader of documents failed: %s", answer.get("detail"))
        return errors.MalformedDocumentError(str(_DAMAGED), next_step=_DAMAGED.next_step)
    if code in _FAILURES:
        return _failed(str(code))
    kind = _KINDS.get(str(code), errors.UnreadableError)
    return kind(str(answer.get("message", "")), next_step=str(answer.get("next_step", "")))


def _failed(code: str) -> errors.ParserFailedError:
    what, step = _FAILURES[code]
    error = errors.ParserFailedError(f"The document {what}.", next_step=step)
    error.code = code
    return error


def _about(error: errors.ScraperError, source: str) -> errors.ScraperError:
    error.target = source
    return error
