r"""Build regular expressions, sets and prefilters from the words of human languages in the TOML files of this folder.

A pattern names its words as `{topic.list}`: the words of the table `list` in the file `topic.toml`, in all languages.
`{topic.list|topic.other}` stands for the words of several lists.
`\b` beside it holds only for words of scripts with spaces, since no space separates the others.
In a word, `*` stands for the rest of a word, `#` for a number, `…` for up to 30 characters, `'` for any apostrophe, and
`^` and `$` for the start and the end of the text.

Tables are read when a pattern first needs them. `load_words` reads all that the imported modules need, before a process
forks or loses its access to files.
"""

import re
import tomllib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from importlib import resources
from itertools import chain
from typing import TypeVar

_REFERENCE = re.compile(r"(\\b)?\{(\w+\.\w+(?:\|\w+\.\w+)*)\}(\\b)?")
_SIGNS = {"*": r"\w*", "#": r"\d+", "…": ".{0,30}?", "'": "['’]", "^": r"^\W*", "$": r"\W*$"}
_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]")
"""Letters of Thai, Lao, Burmese, Khmer, Japanese, Chinese and Korean, which has spaces, but adds particles to words."""
_SMALL_LETTERS = bytes(code if ord("a") <= code <= ord("z") else ord(" ") for code in range(256))
"""Letters a to z in UTF-8, and spaces for all else. Splitting so takes a third of the time of a regular expression."""
_MAX_SEARCHED = 16
"""Words. So few are found by one search for each in less time than by splitting the text."""
_PIECE = re.compile("[^*#…'^$]+")

_loaders: list[Callable[[], object]] = []
T = TypeVar("T")


def load_words() -> None:
    """Read the words of all patterns and sets of the imported modules, and compile them."""
    for load in _loaders:
        load()


def load_once(function: Callable[[], T]) -> Callable[[], T]:
    """Let `load_words` call a function without arguments, whose result is kept."""
    kept = cache(function)
    _loaders.append(kept)
    return kept


@cache
def read_topic(topic: str) -> Mapping[str, Mapping[str, Sequence[str]]]:
    """Return the lists of a topic: for each list, the words by language."""
    return tomllib.loads(resources.files(__package__).joinpath(f"{topic}.toml").read_text(encoding="utf-8"))


def read_words(name: str, language: str = "") -> list[str]:
    """Return the words of a list such as `byline.by` in one language or in all, each once."""
    topic, _, table = name.partition(".")
    lists = read_topic(topic)[table]
    return list(dict.fromkeys(word for key, words in lists.items() if language in (key, "") for word in words))


class Words:
    """Words of some lists in one language or in all."""

    def __init__(self, *names: str, language: str = "") -> None:
        """Name the lists, such as `byline.by`."""
        self.names = names
        self._language = language
        _loaders.append(self.load)

    @cached_property
    def all(self) -> frozenset[str]:
        """The words as they are written."""
        return frozenset(word for name in self.names for word in read_words(name, self._language))

    @cached_property
    def keys(self) -> frozenset[str]:
        """The longest part in letters a to z of each word that has only ASCII characters and no ending `*`."""
        words = (word for word in self.all if word.isascii() and "*" not in word)
        return frozenset(max(word.encode().translate(_SMALL_LETTERS).split(), key=len).decode() for word in words)

    @cached_property
    def _parts(self) -> tuple[frozenset[bytes], tuple[str, ...], tuple[str, ...]]:
        """Whole ASCII words, ASCII parts and other parts. Each text with one of the words has one of these."""
        are_many = len(self.all) > _MAX_SEARCHED
        parts = {
            max(_PIECE.findall(word), key=len)
            for word in self.all
            if not (are_many and word.isascii() and "*" not in word)
        }
        ascii_parts = tuple(part for part in parts if part.isascii())
        return (
            frozenset(key.encode() for key in self.keys) if are_many else frozenset(),
            ascii_parts,
            tuple(parts.difference(ascii_parts)),
        )

    def may_be_in(self, lowered: str) -> bool:
        """Return False if a text in lower case contains none of the words as a whole word."""
        whole, ascii_parts, parts = self._parts
        if whole and not whole.isdisjoint(lowered.encode("utf-8", "replace").translate(_SMALL_LETTERS).split()):
            return True
        candidates = ascii_parts if lowered.isascii() else ascii_parts + parts
        return any(part in lowered for part in candidates)

    def load(self) -> None:
        """Read the words."""
        _ = self.all, self.keys, self._parts


class WordPattern:
    """A regular expression with words of some lists, compiled when it is first used."""

    compiled: re.Pattern[str]
    search: Callable[[str], re.Match[str] | None]
    match: Callable[..., re.Match[str] | None]
    fullmatch: Callable[[str], re.Match[str] | None]
    finditer: Callable[[str], Iterator[re.Match[str]]]
    sub: Callable[..., str]

    def __init__(self, template: str, flags: re.RegexFlag = re.IGNORECASE, *, required: Words | None = None) -> None:
        """Name the words in the template as `{topic.list}`. Each match contains a word of `required` as a whole."""
        self.template = template
        self._flags = flags
        self._required = required
        _loaders.append(self.load)

    def __getattr__(self, name: str) -> object:
        """Compile the pattern when one of its methods is first needed; later calls take no detour."""
        if name not in type(self).__annotations__:
            raise AttributeError(name)
        self.load()
        return getattr(self, name)

    def load(self) -> None:
        """Compile the pattern."""
        compiled = self.compiled = re.compile(expand(self.template), self._flags)
        self.match, self.fullmatch, self.finditer, self.sub = (
            compiled.match, compiled.fullmatch, compiled.finditer, compiled.sub,
        )  # fmt: skip
        self.search = self._search_with_filter if self._required else compiled.search

    def _search_with_filter(self, text: str) -> re.Match[str] | None:
        assert self._required is not None
        return self.compiled.search(text) if self._required.may_be_in(text.lower()) else None


@cache
def expand(template: str) -> str:
    """Return the regular expression of a template, with the words in place of each `{topic.list}`."""
    return _REFERENCE.sub(
        lambda named: join_alternatives(
            chain.from_iterable(map(read_words, named[2].split("|"))), starts=bool(named[1]), ends=bool(named[3])
        ),
        template,
    )


def join_alternatives(words: Iterable[str], *, starts: bool = False, ends: bool = False) -> str:
    """Return an expression that matches the longest of some words, as whole words with `starts` and `ends`.

    Words with the same beginning share it. A search skips to the first letters, which no assertion precedes, so it
    takes a third of the time of a list of words or less.
    """
    return _join(tuple(_tokens(word, starts=starts, ends=ends)) for word in words)


def _tokens(word: str, *, starts: bool, ends: bool) -> Iterator[str]:
    """Yield the expression of each character of a word, and the assertions for a whole word."""
    for number, character in enumerate(word):
        yield _SIGNS.get(character) or re.escape(character)
        if number == 0 and starts and _is_spaced(character):
            yield r"(?<!\w.)"
    if ends and _is_spaced(word[-1]):
        yield r"(?!\w)"


def _is_spaced(character: str) -> bool:
    return character.isalnum() and not _UNSPACED.match(character)


def _join(sequences: Iterable[tuple[str, ...]]) -> str:
    rests: defaultdict[str, list[tuple[str, ...]]] = defaultdict(list)
    may_end = False
    for sequence in sequences:
        if sequence:
            rests[sequence[0]].append(sequence[1:])
        else:
            may_end = True
    branches = [first + _join(rest) for first, rest in rests.items()]
    if not branches:
        return ""
    joined = branches[0] if len(branches) == 1 and not may_end else f"(?:{'|'.join(branches)})"
    return f"{joined}?" if may_end else joined
