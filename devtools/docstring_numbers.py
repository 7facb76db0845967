"""Compare the numbers in docstrings and comments between a git revision and the working tree.

python -m devtools.docstring_numbers --base REV [PATH ...]

The paths are files and folders of Python code; the default is browsers and scraper. All files of a side are
one multiset, so files may be moved, merged and split. Each number that is lost, or new, is printed with its
file, its line and its sentence. The exit code is 1 if numbers are lost.

Spelling does not matter: 1,155 is 1155, .53 is 0.53 and 2.50 is 2.5. Versions such as 1.2.3 are compared as
they are. Digits that follow a letter belong to a name (utf8, h1) and do not count, nor do number words.
"""

from __future__ import annotations

import argparse
import io
import re
import subprocess
import sys
import tarfile
import tokenize
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

DEFAULT_PATHS = ("browsers", "scraper")
CONTEXT_CHARACTERS = 60
"""On each side of a number. Enough for the words of its sentence that identify it after a rewrite."""
SAME_PATH_BONUS = 0.2
"""Added to a similarity between 0 and 1: of two similar sentences, the one in the same file matches."""

_NUMBER = re.compile(
    r"""(?<![\w.])(?:
        [0-9]+(?:\.[0-9]+){2,}                                  # 1.2.3, 127.0.0.1
        | (?:[0-9]{1,3}(?:,[0-9]{3})+(?![0-9]) | [0-9][0-9_]*)  # 1,155 or 1155
          (?:\.[0-9]+)? (?:[eE][+-]?[0-9]+(?![\w.]))?           # .53, e6
        | \.[0-9]+
    )""",
    re.VERBOSE,
)
_BETWEEN_STATEMENTS = frozenset(
    {tokenize.ENCODING, tokenize.NEWLINE, tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.COMMENT}
)
_OPENING, _CLOSING = frozenset("([{"), frozenset(")]}")


@dataclass(frozen=True, slots=True)
class Occurrence:
    """One number of a docstring or comment."""

    number: str
    path: str
    line: int
    context: str
    """The text around the number, on one line."""

    def __str__(self) -> str:
        """Return the number with its place and context."""
        return f"{self.number:>10}  {self.path}:{self.line}: {self.context}"


def numbers_of(text: str) -> Iterator[tuple[str, int]]:
    """Yield each number of a text in its normal spelling, with its position."""
    for match in _NUMBER.finditer(text):
        yield _normalize(match[0]), match.start()


def occurrences(path: str, source: str) -> Iterator[Occurrence]:
    """Yield the numbers in the docstrings and comments of a Python file."""
    for first_line, text in _texts(source):
        for number, start in numbers_of(text):
            context = text[max(0, start - CONTEXT_CHARACTERS) : start + CONTEXT_CHARACTERS]
            line = first_line + text.count("\n", 0, start)
            yield Occurrence(number, path, line, " ".join(context.split()))


def compare(base: Iterable[Occurrence], now: Iterable[Occurrence]) -> tuple[list[Occurrence], list[Occurrence]]:
    """Return the numbers that were lost and those that are new, sorted by place.

    Where a number occurs more often on one side, the occurrences without a similar sentence on the other side
    are returned.
    """
    before, after = _by_number(base), _by_number(now)
    lost: list[Occurrence] = []
    new: list[Occurrence] = []
    for number in before.keys() | after.keys():
        old, current = before.get(number, []), after.get(number, [])
        if len(old) > len(current):
            lost += _unmatched(old, current)
        elif len(current) > len(old):
            new += _unmatched(current, old)
    return sorted(lost, key=_place), sorted(new, key=_place)


def _normalize(spelling: str) -> str:
    if spelling.count(".") > 1:
        return spelling
    number = Decimal(spelling.replace(",", "").replace("_", ""))
    return f"{number.normalize():f}"


def _texts(source: str) -> Iterator[tuple[int, str]]:
    """Yield the docstrings and comments with their first lines; adjacent comment lines are one text."""
    comment: list[str] = []
    comment_line = depth = 0
    previous = tokenize.ENCODING
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        depth += (token.string in _OPENING) - (token.string in _CLOSING)
        if token.type == tokenize.STRING and previous in _BETWEEN_STATEMENTS and not depth:
            yield token.start[0], token.string
        elif token.type == tokenize.COMMENT:
            if comment and token.start[0] != comment_line + len(comment):
                yield comment_line, "\n".join(comment)
                comment = []
            comment_line = comment_line if comment else token.start[0]
            comment.append(token.string)
        previous = token.type
    if comment:
        yield comment_line, "\n".join(comment)


def _by_number(found: Iterable[Occurrence]) -> Mapping[str, list[Occurrence]]:
    groups: defaultdict[str, list[Occurrence]] = defaultdict(list)
    for occurrence in found:
        groups[occurrence.number].append(occurrence)
    return groups


def _unmatched(more: list[Occurrence], fewer: list[Occurrence]) -> list[Occurrence]:
    """Pair the most similar occurrences first; return those of the longer list without a partner."""
    pairs = sorted(
        ((_similarity(one, other), i, j) for i, one in enumerate(more) for j, other in enumerate(fewer)), reverse=True
    )
    paired: set[int] = set()
    taken: set[int] = set()
    for _, i, j in pairs:
        if i not in paired and j not in taken:
            paired.add(i)
            taken.add(j)
    return [one for i, one in enumerate(more) if i not in paired]


def _similarity(one: Occurrence, other: Occurrence) -> float:
    words, others = _words(one.context), _words(other.context)
    shared = len(words & others) / max(1, len(words | others))
    return shared + (SAME_PATH_BONUS if one.path == other.path else 0.0)


def _words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", text.lower()))


def _place(occurrence: Occurrence) -> tuple[str, int]:
    return occurrence.path, occurrence.line


def _base_sources(root: Path, revision: str, paths: Sequence[str]) -> Iterator[tuple[str, str]]:
    command = ("git", "-C", str(root), "archive", "--format=tar", revision)
    archive = subprocess.run(command, check=True, capture_output=True).stdout
    with tarfile.open(fileobj=io.BytesIO(archive)) as files:
        for member in files:
            content = files.extractfile(member) if member.isfile() and _is_chosen(member.name, paths) else None
            if content is not None:
                yield member.name, content.read().decode("utf-8")


def _current_sources(root: Path, paths: Sequence[str]) -> Iterator[tuple[str, str]]:
    for path in paths:
        place = root / path
        for file in [place] if place.is_file() else sorted(place.rglob("*.py")):
            yield file.relative_to(root).as_posix(), file.read_text(encoding="utf-8")


def _is_chosen(name: str, paths: Sequence[str]) -> bool:
    return name.endswith(".py") and any(name == path or name.startswith(f"{path}/") for path in paths)


def main(arguments: Sequence[str] | None = None, root: Path = Path()) -> int:
    """Print what was lost and what is new; return 1 if numbers are lost."""
    parser = argparse.ArgumentParser(
        prog="python -m devtools.docstring_numbers",
        description="Compare the numbers in docstrings and comments with those of a git revision.",
    )
    parser.add_argument("--base", required=True, metavar="REV", help="revision to compare with")
    parser.add_argument("paths", nargs="*", metavar="PATH", help="default: browsers scraper")
    options = parser.parse_args(arguments)
    paths = [path.rstrip("/") for path in options.paths] or list(DEFAULT_PATHS)
    base = [one for file in _base_sources(root, options.base, paths) for one in occurrences(*file)]
    now = [one for file in _current_sources(root, paths) for one in occurrences(*file)]
    lost, new = compare(base, now)
    for title, found in (("lost", lost), ("new", new)):
        print(f"{title}: {len(found)}")
        for occurrence in found:
            print(occurrence)
    print(f"numbers: {len(base)} in {options.base}, {len(now)} now")
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main())
