"""Recognize the text of pictures of pages with the program tesseract, if it is installed.

The program gets pixels that the sandbox has decoded, never the bytes of a document.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import contextlib
import csv
import os
import shutil
import subprocess
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import Any

from scraper.extract.documents.pdf.rows import join_lines
from scraper.extract.text.language import detect_language
from scraper.extract.text.sanitize import clean

PROGRAM = "tesseract"
_MAX_LANGUAGES = 8
_ORIENTATION = "osd"
"""Data for the rotation and the script of a page; no language."""
_LANGUAGES = {
    "ar": "ara", "bg": "bul", "ca": "cat", "cs": "ces", "da": "dan", "de": "deu", "el": "ell", "en": "eng",
    "es": "spa", "fa": "fas", "fi": "fin", "fr": "fra", "he": "heb", "hi": "hin", "hu": "hun", "it": "ita",
    "ja": "jpn", "ko": "kor", "nl": "nld", "no": "nor", "pl": "pol", "pt": "por", "ro": "ron", "ru": "rus",
    "sv": "swe", "th": "tha", "tr": "tur", "uk": "ukr", "vi": "vie", "zh": "chi_sim",
}  # fmt: skip
"""Names of tesseract by code of ISO 639-1."""
_SIMILAR = 2
"""Percent of confidence by which one language may be worse: other languages lose accents, but feel sure."""
_LIST_LIMIT_S = 10.0
_MAX_PIXEL_BYTES = 16_000_000
_WORD_LEVEL = "5"
"""Level of the rows of words in tesseract's table."""


class RecognitionError(Exception):
    """The program failed, or took too long."""


@dataclass(frozen=True, slots=True)
class RecognizedPage:
    """Text of a picture."""

    text: str
    """Paragraphs, separated by empty lines."""
    confidence: int
    """Mean confidence of the words in percent, as the program states it."""


@dataclass(frozen=True, slots=True)
class PagePicture:
    """Gray pixels of a page, one byte each."""

    width: int
    height: int
    dpi: int
    pixels: bytes

    @classmethod
    def of_json(cls, data: Mapping[str, Any]) -> PagePicture:
        """Build a picture from the answer of an untrusted process.

        Raises:
            ValueError: The data are no picture.
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
        """Return the picture as a file of the format PGM."""
        return b"P5 %d %d 255\n" % (self.width, self.height) + self.pixels


class Tesseract:
    """The installed program tesseract; without it, `is_available` returns False."""

    def __init__(self, program: str | None = None) -> None:
        """Use the program at this path, or the one in the search path."""
        self._program = program or shutil.which(PROGRAM)

    def is_available(self) -> bool:
        """Return True if the program and data of at least one language are installed; the first call runs it."""
        return bool(self.languages)

    @cached_property
    def languages(self) -> tuple[str, ...]:
        """Installed languages, by the program's names; English first."""
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

    async def recognize(self, picture: PagePicture, limit_s: float) -> RecognizedPage:
        """Return the text of a picture, first in all languages, then in the language that it is in.

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
        mode = "1" if self._has_orientation else "3"  # Automatic layout, with or without the rotation.
        command = ("stdin", "stdout", "-l", "+".join(languages), "--psm", mode, "--dpi", str(dpi), "tsv")
        process = await asyncio.create_subprocess_exec(
            str(self._program), *command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            env={"PATH": os.defpath, "LC_ALL": "C.UTF-8", "OMP_THREAD_LIMIT": "1"} | _data_folder(),
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


def _data_folder() -> dict[str, str]:
    """Return the variable that names another folder of language data, if it is set."""
    name = "TESSDATA_PREFIX"
    return {name: os.environ[name]} if name in os.environ else {}


def _read_table(table: str) -> RecognizedPage:
    """Return the paragraphs of tesseract's table of words."""
    rows = csv.DictReader(table.splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE)
    words = [row for row in rows if row.get("level") == _WORD_LEVEL and (row.get("text") or "").strip()]
    confidences = list(_confidences(words))
    paragraphs = []
    for _, paragraph in groupby(words, key=lambda row: (row["block_num"], row["par_num"])):
        lines = groupby(paragraph, key=lambda row: row["line_num"])
        paragraphs.append(join_lines(" ".join(row["text"] for row in line) for _, line in lines))
    text, _ = clean("\n\n".join(paragraphs).replace("<!--", "<! --"))
    return RecognizedPage(text.strip(), round(sum(confidences) / max(1, len(confidences))))


def _confidences(words: list[dict[str, str]]) -> Iterator[float]:
    for word in words:
        with contextlib.suppress(ValueError):
            yield float(word["conf"])
