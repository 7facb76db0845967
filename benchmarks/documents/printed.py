"""Measure what made files show alone: the order of right-to-left words, the parts of mails, the wait for a long PDF."""

from __future__ import annotations

import asyncio
import random
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from email.message import EmailMessage
from email.mime.multipart import MIMEMultipart
from email.mime.text import MIMEText
from itertools import pairwise
from pathlib import Path

from benchmarks.common.command_line import Figures
from browsers.chromium import locate
from browsers.model import Tier
from tests.scraper.documents.builders import drawn_pdf, text_at

Reader = Callable[[bytes, str], Awaitable[str]]
"""Returns the answer to a file of a name: its Markdown and warnings."""

_WORDS = {
    "ar": "القديم الميناء الرصيف السفينة المدينة الشمال الصباح الرافعات الجزر الكتاب الطريق البحر لا إلى من في عندما",
    "he": "הישן הנמל הרציף ספינה העיר הצפון הבוקר מנופי האיים הספר הדרך הים לא אל מן של כאשר",
}
_OTHERS = ("1931", "06:15", "1,350", "90", "Aurora", "(2030)", "12.5%")
_PAGES_OF_EACH, _PARAGRAPHS, _WORDS_OF_PARAGRAPH = 10, 4, 30
_TIMEOUT_S = 120
_LONG, _SHORT = 600, 3
"""Pages."""
_TIMES, _PAUSE_S = 5, 0.5
"""The next process starts in the pause, as in practice."""


def _paragraphs(language: str, chance: random.Random) -> list[str]:
    words = _WORDS[language].split()
    return [
        " ".join(chance.choice(_OTHERS) if chance.random() < 0.1 else chance.choice(words) for _ in range(length))
        for length in [_WORDS_OF_PARAGRAPH] * _PARAGRAPHS
    ]


def _order(paragraphs: Sequence[str], text: str) -> float:
    """Return the ratio of neighboring words of the paragraphs that are neighbors in a text, in the same order."""
    marks = dict.fromkeys(map(ord, "\u200e\u200f\u202a\u202b\u202c\u2066\u2067\u2068\u2069"))
    read = " ".join(text.translate(marks).split())
    pairs = [pair for paragraph in paragraphs for pair in pairwise(paragraph.split())]
    return sum(" ".join(pair) in read for pair in pairs) / len(pairs)


def _print_pages(folder: Path) -> list[tuple[Path, list[str]]]:
    """Print pages with Chromium, and LibreOffice if it is installed; return the PDF files with their paragraphs."""
    chromium = locate.find_chromium(Tier.LIGHT, None) or locate.find_chromium(Tier.FULL, None)
    office = shutil.which("soffice")
    chance, printed = random.Random(7), []
    for number in range(_PAGES_OF_EACH):
        for language in _WORDS:
            paragraphs = _paragraphs(language, chance)
            page = folder / f"{language}-{number}.html"
            content = "".join(f"<p>{paragraph}</p>" for paragraph in paragraphs)
            start = f'<!doctype html><html lang="{language}" dir="rtl"><meta charset="utf-8">'
            page.write_text(start + content, "utf-8")
            target = page.with_suffix(".pdf")
            with_office = office is not None and number % 2 == 1
            if with_office:
                # As a text: a page of the web loses its first line in print.
                options = ["--headless", "--infilter=HTML (StarWriter)", "--convert-to", "pdf", "--outdir", str(folder)]
                command = [str(office), *options, str(page)]
            elif chromium is not None:
                options = ["--no-sandbox", "--disable-gpu", f"--user-data-dir={folder / 'profile'}"]
                command = [str(chromium.executable), *options, f"--print-to-pdf={target}", page.as_uri()]
            else:
                continue
            subprocess.run(command, capture_output=True, check=True, timeout=_TIMEOUT_S)
            printed.append((target, paragraphs))
    return printed


def _read_with_pdftotext(printed: Sequence[tuple[Path, list[str]]]) -> list[tuple[str, list[str]]]:
    """Return the texts by pdftotext with their paragraphs; nothing if it is not installed."""
    program = shutil.which("pdftotext")
    if program is None:
        return []
    runs = (subprocess.run([program, file, "-"], capture_output=True, check=True) for file, _ in printed)
    return [(run.stdout.decode(), paragraphs) for run, (_, paragraphs) in zip(runs, printed, strict=True)]


def _make_mails() -> list[tuple[bytes, int]]:
    """Return mails of common structures with their number of parts; part N contains the word `partN`."""

    def part(number: int, kind: str = "plain") -> MIMEText:
        return MIMEText(f"<p>The text of part{number}.</p>" if kind == "html" else f"The text of part{number}.", kind)

    def attachment(number: int, kind: str, name: str) -> MIMEText:
        made = MIMEText(f"The text of part{number}.", kind)
        made.add_header("Content-Disposition", "attachment", filename=name)
        return made

    calendar = MIMEText("BEGIN:VCALENDAR\nBEGIN:VEVENT\nSUMMARY:part2\nEND:VEVENT\nEND:VCALENDAR\n", "calendar")
    inner = EmailMessage()
    inner["Subject"] = "Forwarded"
    inner.set_content("The text of part2.")
    forwarded = EmailMessage()
    forwarded.set_content("The text of part1.")
    forwarded.add_attachment(inner)
    structures = [
        MIMEMultipart("mixed", _subparts=[part(1), part(2, "html"), part(3)]),
        MIMEMultipart("mixed", _subparts=[MIMEMultipart("alternative", _subparts=[MIMEText(""), part(1, "html")])]),
        MIMEMultipart(
            "signed", _subparts=[MIMEMultipart("mixed", _subparts=[part(1), attachment(2, "plain", "a.txt")])]
        ),
        MIMEMultipart("mixed", _subparts=[part(1), calendar]),
        MIMEMultipart("report", _subparts=[part(1), MIMEText("Status: 5.1.1 part2", "delivery-status")]),
        MIMEMultipart("mixed", _subparts=[part(1), attachment(2, "csv", "a.csv"), attachment(3, "html", "b.html")]),
        forwarded,
    ]
    counts = (3, 1, 2, 2, 2, 3, 2)
    return [(message.as_bytes(), count) for message, count in zip(structures, counts, strict=True)]


async def measure_made_files(read: Reader, read_beginning: Reader) -> Figures:
    """Return `rtl.order` beside that of pdftotext, `mail.parts`, and `long.first_ratio`.

    `long.first_ratio` is the time for the first pages of a PDF of 600 pages, as a multiple of that for one of 3 pages:
    medians, as `read_doc` reads them.
    """
    figures: Figures = {}
    with tempfile.TemporaryDirectory() as folder:
        printed = _print_pages(Path(folder))
        ours = [_order(paragraphs, await read(file.read_bytes(), file.name)) for file, paragraphs in printed]
        figures["rtl.order"] = sum(ours) / len(ours)
        theirs = [_order(paragraphs, text) for text, paragraphs in _read_with_pdftotext(printed)]
        if theirs:
            figures["rtl.order.pdftotext"] = sum(theirs) / len(theirs)
    found = total = 0
    for data, count in _make_mails():
        answer = await read(data, "message.eml")
        found += sum(f"part{number}" in answer for number in range(1, count + 1))
        total += count
    figures["mail.parts"] = found / total
    medians = []
    for count in (_SHORT, _LONG):
        lines = [text_at(60, 60 + 12 * at, f"The ferry of pier {at} leaves late") for at in range(50)]
        data = drawn_pdf(*([*lines, text_at(60, 700, f"Day {page}")] for page in range(count)))
        times = []
        for _ in range(_TIMES):
            await asyncio.sleep(_PAUSE_S)
            start = time.perf_counter()
            await read_beginning(data, "long.pdf")
            times.append(time.perf_counter() - start)
        medians.append(statistics.median(times))
    figures["long.first_ratio"] = medians[1] / medians[0]
    return figures
