"""Print for each topic of `scraper/words` the languages that it lacks and other topics have.

python -m devtools.language_gaps [--lists]

`--lists` prints a row for each list of a topic too.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from pathlib import Path

import scraper.words
from scraper.words.matcher import read_topic

__all__ = ["NOT_BY_LANGUAGE", "find_languages", "list_topics"]

NOT_BY_LANGUAGE = frozenset({"currencies.sign", "currencies.shared"})
"""Lists by currency or sign instead of language."""


def list_topics() -> list[str]:
    """Return the names of the files, in alphabetical order."""
    return sorted(file.stem for file in Path(scraper.words.__file__).parent.glob("*.toml"))


def find_languages(topic: str) -> Mapping[str, Set[str]]:
    """Return the languages of each list of a topic."""
    lists = read_topic(topic).items()
    return {name: rows.keys() - {"any"} for name, rows in lists if f"{topic}.{name}" not in NOT_BY_LANGUAGE}


def _rows(*, with_lists: bool) -> Iterator[str]:
    """Yield a row for each topic, and for its lists."""
    languages = {topic: find_languages(topic) for topic in list_topics()}
    every = set().union(*(found for lists in languages.values() for found in lists.values()))
    for topic, lists in languages.items():
        yield _row(topic, set().union(*lists.values()), every)
        if with_lists:
            yield from (_row(f"{topic}.{name}", found, every) for name, found in lists.items())


def _row(name: str, found: Iterable[str], every: Set[str]) -> str:
    lacking = sorted(every - set(found))
    return f"{name}: {len(every) - len(lacking)} of {len(every)} languages, lacks {' '.join(lacking) or 'none'}"


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the rows."""
    parser = argparse.ArgumentParser(prog="python -m devtools.language_gaps", description="Print missing languages.")
    parser.add_argument("--lists", action="store_true", help="print the lists of each topic too")
    print(*_rows(with_lists=parser.parse_args(arguments).lists), sep="\n")


if __name__ == "__main__":
    main()
