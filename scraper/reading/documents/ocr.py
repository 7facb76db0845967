"""Recognize the text of page images with the program tesseract, if it is installed, and add it to the document.

The program receives pixels that the sandbox decoded, never the bytes of a document.
"""

import asyncio
import base64
import binascii
import contextlib
import csv
import os
import shutil
import subprocess
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby
from typing import Any, Self

from scraper.documents.markdown_writing import escape_text, join_pages
from scraper.documents.model import ParsedDocument
from scraper.documents.pdf.text_assembly import join_lines
from scraper.text.language import detect_language
from scraper.text.markdown_structure import PAGE_MARK, strip_markdown
from scraper.text.sanitize import clean

_TESSERACT_COMMAND = "tesseract"
_MAX_LANGUAGES = 8
_ORIENTATION = "osd"
"""Language data for the rotation and the script of a page, which is not a language."""
_LANGUAGES = {
    "ar": "ara", "bg": "bul", "ca": "cat", "cs": "ces", "da": "dan", "de": "deu", "el": "ell", "en": "eng",
    "es": "spa", "fa": "fas", "fi": "fin", "fr": "fra", "he": "heb", "hi": "hin", "hu": "hun", "it": "ita",
    "ja": "jpn", "ko": "kor", "nl": "nld", "no": "nor", "pl": "pol", "pt": "por", "ro": "ron", "ru": "rus",
    "sv": "swe", "th": "tha", "tr": "tur", "uk": "ukr", "vi": "vie", "zh": "chi_sim",
}  # fmt: skip
_SIMILAR = 2
"""Percent. The detected language alone is used unless its confidence is lower by more: other languages lose accents but
have high confidence."""
_MAX_LISTED = 100
_LIST_LIMIT_S = 10.0
_MAX_PIXEL_BYTES = 16_000_000
_WORD_LEVEL = "5"


class RecognitionError(Exception):
    """Tesseract failed or took too long."""


@dataclass(frozen=True, slots=True)
class RecognizedPage:
    """Recognized text of a page image."""

    text: str
    """Paragraphs, separated by empty lines."""
    confidence: int
    """Mean confidence of the words in percent, as reported by tesseract."""


@dataclass(frozen=True, slots=True)
class PageImage:
    """Image of a page in gray, one byte per pixel."""

    width: int
    height: int
    dpi: int
    pixels: bytes

    @classmethod
    def of_json(cls, data: Mapping[str, Any]) -> Self:
        """Build an image from the response of an untrusted process; limit its resolution to 70 to 600 dpi.

        Raises:
            ValueError: The data is not a valid image.
        """
        try:
            width, height, dpi = (int(data[name]) for name in ("width", "height", "dpi"))
            packed = base64.b64decode(data["pixels"], validate=True)
            pixels = zlib.decompressobj().decompress(packed, _MAX_PIXEL_BYTES + 1)
        except (KeyError, TypeError, ValueError, binascii.Error, zlib.error):
            raise ValueError("not a picture") from None
        if not (0 < width * height == len(pixels) <= _MAX_PIXEL_BYTES):
            raise ValueError("not a picture")
        return cls(width, height, min(600, max(70, dpi)), pixels)

    def as_pgm(self) -> bytes:
        """Return the image as a PGM file."""
        return b"P5 %d %d 255\n" % (self.width, self.height) + self.pixels


class Tesseract:
    """Run the installed tesseract; `is_available` returns False if there is none."""

    def __init__(self, program: str | None = None) -> None:
        """Use the program at this path, or the first one in the search path."""
        self._program = program or shutil.which(_TESSERACT_COMMAND)

    def is_available(self) -> bool:
        """Return True if the program and data of at least one language are installed; the first call runs it."""
        return bool(self.languages)

    @cached_property
    def languages(self) -> tuple[str, ...]:
        """Installed languages by tesseract's names, English first."""
        if self._program is None:
            return ()
        try:
            done = subprocess.run(
                [self._program, "--list-langs"], capture_output=True, text=True, timeout=_LIST_LIMIT_S, check=False
            )
        except (OSError, subprocess.TimeoutExpired):
            return ()
        names = [line.strip() for line in done.stdout.splitlines()[1:] if line.strip() and "/" not in line]
        self._has_orientation = _ORIENTATION in names
        return tuple(sorted((name for name in names if name != _ORIENTATION), key=lambda name: (name != "eng", name)))

    async def recognize(self, picture: PageImage, limit_s: float) -> RecognizedPage:
        """Recognize the text of an image with up to `_MAX_LANGUAGES` languages, then with the detected one alone.

        Return the second result unless its confidence is lower by more than `_SIMILAR`.

        Raises:
            RecognitionError: The program failed, or took longer than `limit_s` seconds.
        """
        file = picture.as_pgm()
        try:
            async with asyncio.timeout(limit_s):
                best = await self._run(file, picture.dpi, self.languages[:_MAX_LANGUAGES])
                language = _LANGUAGES.get(detect_language(best.text) or "")
                if language in self.languages and len(self.languages) > 1:
                    alone = await self._run(file, picture.dpi, (language,))
                    best = alone if alone.confidence >= best.confidence - _SIMILAR else best
        except TimeoutError:
            raise RecognitionError("it took too long") from None
        return best

    async def _run(self, file: bytes, dpi: int, languages: tuple[str, ...]) -> RecognizedPage:
        data_folder = {name: os.environ[name] for name in ("TESSDATA_PREFIX",) if name in os.environ}
        mode = "1" if self._has_orientation else "3"  # Automatic layout, with or without the rotation.
        command = ("stdin", "stdout", "-l", "+".join(languages), "--psm", mode, "--dpi", str(dpi), "tsv")
        process = await asyncio.create_subprocess_exec(
            str(self._program), *command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            env={"PATH": os.defpath, "LC_ALL": "C.UTF-8", "OMP_THREAD_LIMIT": "1"} | data_folder,
        )  # fmt: skip
        try:
            output, _ = await process.communicate(file)
        finally:
            if process.returncode is None:
                with contextlib.suppress(ProcessLookupError):
                    process.kill()
                await process.wait()
        if process.returncode:
            raise RecognitionError(f"exit code {process.returncode}")
        return _read_table(output.decode("utf-8", "replace"))


def _read_table(table: str) -> RecognizedPage:
    rows = csv.DictReader(table.splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE)
    words = [row for row in rows if row.get("level") == _WORD_LEVEL and (row.get("text") or "").strip()]
    confidences: list[float] = []
    for word in words:
        with contextlib.suppress(ValueError):
            confidences.append(float(word["conf"]))
    paragraphs = []
    for _, paragraph in groupby(words, key=lambda row: (row["block_num"], row["par_num"])):
        lines = groupby(paragraph, key=lambda row: row["line_num"])
        paragraphs.append(join_lines(" ".join(row["text"] for row in line) for _, line in lines))
    text, _ = clean("\n\n".join(paragraphs).replace("<!--", "<! --"))
    return RecognizedPage(text.strip(), round(sum(confidences) / max(1, len(confidences))))


def add_recognized_pages(parsed: ParsedDocument, recognized: Mapping[int, RecognizedPage]) -> ParsedDocument:
    """Return the document with recognized text in its pages, and a warning that lists the pages."""
    if not recognized:
        return parsed
    _, *found = PAGE_MARK.split(parsed.markdown)
    texts = {int(number): text.strip() for number, text in zip(found[::2], found[1::2], strict=True)}
    for page, one in recognized.items():
        paragraphs = "\n\n".join(map(escape_text, one.text.split("\n\n")))
        texts[page] = "\n\n".join(filter(None, (texts.get(page, ""), paragraphs)))
    markdown = join_pages(sorted(texts.items()))
    listed = ", ".join(f"{page} ({one.confidence} %)" for page, one in sorted(recognized.items())[:_MAX_LISTED])
    more = ", ..." if len(recognized) > _MAX_LISTED else ""
    return replace(
        parsed,
        markdown=markdown,
        text=strip_markdown(markdown),
        ocr_pages=tuple(page for page in parsed.ocr_pages if page not in recognized),
        warnings=(
            *parsed.warnings,
            f"Text of pictures was recognized and may have mistakes, on pages (with confidence): {listed}{more}.",
        ),
    )
