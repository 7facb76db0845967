"""Shorten texts, suggest similar words, format durations, and read files in the folder of a package."""

import difflib
from collections.abc import Iterable
from importlib import resources
from typing import Any

ECHO_CHARS = 60
"""Characters of an invalid value that are repeated in an error message."""

MAX_TEX = 8_000
"""Characters. A longer text is not a formula."""


def truncate(text: str, limit: int = ECHO_CHARS) -> str:
    """Return the text, cut to `limit` characters with `…` as the last one."""
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"


def suggest(word: str, candidates: Iterable[str], similarity: float = 0.6, prefix: str = "") -> str:
    """Return ` (did you mean "X"?)` with the candidate most similar to a misspelled word, or an empty string.

    Nothing is suggested for a word of more than 60 characters.

    Args:
        word: The misspelled word.
        candidates: The words that are accepted.
        similarity: Minimum ratio of difflib.SequenceMatcher; 0.6 is difflib's default.
        prefix: Text before the suggested word, which is not compared.
    """
    if len(word) > ECHO_CHARS:
        return ""
    closest = difflib.get_close_matches(word, list(candidates), n=1, cutoff=similarity)
    return f' (did you mean "{prefix}{closest[0]}"?)' if closest else ""


def format_duration(seconds: float) -> str:
    """Return a duration in one unit, such as `90 s`, `5 min`, `3 h` or `2 days`."""
    for unit, size, end in (("s", 1, 120), ("min", 60, 7_200), ("h", 3_600, 172_800)):
        if seconds < end:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds / 86_400:,.0f} days"


def format_clock(seconds: float) -> str:
    """Return a duration as `m:ss` or `h:mm:ss`."""
    minutes, second = divmod(int(seconds), 60)
    hours, minute = divmod(minutes, 60)
    return f"{hours}:{minute:02}:{second:02}" if hours else f"{minute}:{second:02}"


def is_balanced(text: str, opening: str, closing: str) -> bool:
    """Return True if every bracket of one kind is closed after it is opened."""
    if opening not in text and closing not in text:
        return True
    depth = 0
    for character in text:
        depth += (character == opening) - (character == closing)
        if depth < 0:
            return False
    return depth == 0


def read_file(package: str, *path: str) -> str:
    """Return the text of a file in the folder of a package; `package` is its `__package__`."""
    return resources.files(package).joinpath(*path).read_text(encoding="utf-8")


def read_statements(package: str, name: str) -> dict[str, str]:
    """Return the SQL statements of a file in the folder of a package, by their names; comments are left out."""
    statements = {}
    for part in read_file(package, name).split("-- name: ")[1:]:
        head, *lines = part.strip().split("\n")
        statements[head] = "\n".join(line for line in lines if not line.startswith("--"))
    return statements


def read_table(package: str, name: str) -> dict[str, Any]:
    """Return the content of a TOML file in the folder of a package."""
    import tomllib  # Loaded only where there is a table: it takes a tenth of the start.

    return tomllib.loads(read_file(package, name))
