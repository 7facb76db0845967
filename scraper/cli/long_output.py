"""Write long answers to files, so that an agent reads the parts that it needs."""

from __future__ import annotations

import hashlib
import itertools
from pathlib import Path

from scraper.cli.files import write_file
from scraper.render.untrusted_text import mark_untrusted
from scraper.text import token_estimate
from scraper.tools.model import new_region

FOLDER = Path(".search-mcp")
"""Folder of long answers, below the working folder."""
MAX_TOKENS = 5_000
"""Tokens that are printed for an agent. Claude Code shows an agent 30,000 characters of a command at most."""
_MAX_HEADINGS = 40
"""Tokens of the headings in the description of a file."""
_OPENING, _CLOSING = "<<<untrusted ", "<<<end untrusted "


def describe_file(path: Path, text: str) -> str:
    """Return path, tokens and first headings of a file with an answer; headings are marked as text of the web."""
    lines = [line for line in text.splitlines() if line.startswith("#")]
    tokens = itertools.accumulate(map(token_estimate.estimate, lines))
    headings = [line.strip("# ") for line, total in zip(lines, tokens, strict=True) if total <= _MAX_HEADINGS]
    about = f"{path}: about {token_estimate.estimate(text):,} tokens, {text.count(chr(10)):,} lines."
    return f"{about} Headings:\n{mark_untrusted('; '.join(headings), new_region())}\n" if headings else f"{about}\n"


def shorten(text: str, limit: int, name: str, *, is_json: bool) -> str:
    """Return the part of an answer that fits `limit` tokens; the whole answer is written to a file, which is named.

    `name` identifies the command: the same one writes the same file. Half a JSON answer is of no use, so that only its
    file is named.
    """
    if token_estimate.estimate(text) <= limit:
        return text
    words = "".join(letter if letter.isalnum() else "-" for letter in name.partition("://")[2] or name)
    digest = hashlib.sha256(name.encode("utf-8", "replace")).hexdigest()[:6]
    path = FOLDER / f"{words[:40].strip('-')}-{digest}.{'json' if is_json else 'md'}"
    write_file(FOLDER / ".gitignore", "*\n")
    write_file(path, text)
    about = describe_file(path, text)
    if is_json:
        return about
    lines = text.splitlines(keepends=True)
    left, region, end = limit - token_estimate.estimate(about), "", 0
    while end < len(lines) and (left := left - token_estimate.estimate(lines[end])) > 0:
        if lines[end].startswith((_OPENING, _CLOSING)):
            region = lines[end].strip()[len(_OPENING) :] if lines[end].startswith(_OPENING) else ""
        end += 1
    closing = f"{_CLOSING}{region}\n" if region else ""
    return f"{''.join(lines[:end])}{closing}\nThe rest is in {about}"
