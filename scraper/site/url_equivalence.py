"""Learn which differences between the URLs of a site do not matter, and recognize its duplicate pages."""

from collections import Counter, defaultdict, deque
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import parse_qsl, quote, urlencode

from scraper.site.crawled_page import CrawledPage
from scraper.site.url_patterns import PathWords, is_number, url_shape
from scraper.text.likeness import SketchIndex
from scraper.text.terms import DIGITS
from scraper.urls import page_key

_COPY = 0.85
"""Similarity of texts from 0 to 1; more similar pages are copies."""
_EQUAL = 0.97
"""Similarity of lists from 0 to 1; more similar ones count as equal when URL rules are learned."""
MIN_COPY_WORDS = 8
"""Words. Shorter pages never count as copies."""


@dataclass(frozen=True, slots=True)
class DuplicateComparison:
    """Comparison of a page with the pages that were read before."""

    copied: str = ""
    """Key of the page of which it is a copy; empty if it is unique."""
    is_template: bool = False
    """True if it equals another page except for the numbers of its URL, such as empty months of a calendar."""
    has_new_rule: bool = False
    """True if all keys must be shortened again."""


class DuplicateDetector:
    """Recognize copies of pages on one site, and learn which parts of its URLs do not matter."""

    def __init__(self, words: PathWords) -> None:
        """Start without rules and pages; `words` says which words of paths belong to one pattern."""
        self._rules = UrlEquivalenceRules(words)
        self._texts = SketchIndex()
        self._known: dict[str, tuple[str, int]] = {}
        """Title and digest of the text by key."""
        self._templates: set[tuple[int, str]] = set()
        self._paths: set[str] = set()

    def shorten(self, key: str) -> str:
        """Return a key without the parts that do not matter on this site."""
        return self._rules.shorten(key)

    def is_new_path(self, key: str) -> bool:
        """Return True if no page linked to this path before, with any parameters."""
        path = key.partition("?")[0]
        is_new = path not in self._paths
        self._paths.add(path)
        return is_new

    def learn_page(self, key: str, page: CrawledPage, *, is_list: bool, has_new_links: bool) -> DuplicateComparison:
        """Compare a page with earlier ones, and store the sketch of its text if it is unique.

        Lists of links are never copies, because their links are needed. A page with another title is a copy only if its
        text is equal.
        """
        copied, similarity = self._texts.find_nearest(page.sketch)
        title, digest = self._known.get(copied, ("", 0))
        has_text = similarity >= (_EQUAL if is_list else _COPY) and (title == page.title or digest == page.digest)
        text = copied if copied and has_text else key
        has_new_rule = self._rules.learn(page_key(page.url), text, has_new_links=has_new_links)
        if has_new_rule:
            key = self.shorten(key)
        original = copied if text == copied and page.word_count >= MIN_COPY_WORDS and not is_list else ""
        form = (page.template, DIGITS.sub("0", page.title))
        is_template = bool(page.template) and form in self._templates
        if not original:
            self._texts.add(key, page.sketch)
            self._known[key] = page.title, page.digest
            self._templates.add(form)
        return DuplicateComparison(original, is_template, has_new_rule)


_SUFFIXES = (".html", ".htm", ".php", "/print", "/amp", "/print/", "/amp/")

_MIN_PAIRS = 2
"""Different texts of which two URLs were read, before a rule holds."""
_PAIRS_PER_EXCEPTION = 8
"""Pairs with equal texts that outweigh one pair with different texts."""
_CASE = "case"
"""Name of the rule that lowers the case of the path."""
_COMPARED = 3
"""Latest pages with which a page is compared for each rule."""
_MAX_STEPS = 8


class UrlEquivalenceRules:
    """Learn which differences between URLs of one path pattern do not matter.

    A rule shortens a key: it drops a parameter, all parameters, a suffix, a final slash, the title behind a number or
    all folders, or lowers the case. It holds after two pairs of keys that it makes equal had equal texts. Each pair
    must have another text: the URLs of one page may be alike without a parameter that other pages need. A parameter
    with one value was only seen with its default, such as `?page=1`, so only this value is dropped. For each pair
    with different texts, a rule needs eight with equal texts.
    """

    def __init__(self, words: PathWords) -> None:
        """Start without rules; `words` says which words of paths belong to one pattern."""
        self._words = words
        self._variable_count = 0
        self._equal: Counter[tuple[str, str]] = Counter()
        """Pairs with equal texts by rule and path pattern."""
        self._equal_texts: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
        """Names of these texts, of which two are enough."""
        self._values: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
        """Values of the parameter in these pairs, of which two are enough."""
        self._different: Counter[tuple[str, str]] = Counter()
        self._confirmed: set[tuple[str, str]] = set()
        self._texts: dict[str, str] = {}
        """Text name by key."""
        self._longer: defaultdict[str, dict[str, deque[tuple[str, str]]]] = defaultdict(dict)
        """Keys and text names of the latest pages, by shortened key and rule."""

    def learn(self, key: str, text: str, *, has_new_links: bool = False) -> bool:
        """Compare a page with those whose keys differ by one rule; return True if a new rule holds.

        `text` is a name of the page's text; pages with equal texts must have the same name. The parameters of a page
        `has_new_links` matter: parts of a list may have one text.
        """
        before = len(self._confirmed)
        for rule, shorter in _iter_shorter_keys(key):
            own = "" if has_new_links and rule.startswith("?") else text
            latest = self._longer[shorter].setdefault(rule, deque(maxlen=_COMPARED))
            known = dict(latest)
            if shorter in self._texts:
                known[shorter] = self._texts[shorter]
            for other, other_text in known.items():
                if other != key:
                    self._count(rule, key, other, own == other_text, text)
            latest.append((key, text))
        for rule, latest in self._longer.get(key, {}).items():
            for longer, longer_text in latest:
                self._count(rule, longer, key, text == longer_text, text)
        self._texts[key] = text
        return len(self._confirmed) > before

    def shorten(self, key: str) -> str:
        """Return the key after applying all rules that hold."""
        self._merge()
        if not self._confirmed:
            return key
        for _ in range(_MAX_STEPS):
            shorter = next(
                (short for rule, short in _iter_shorter_keys(key) if self._name(rule, key) in self._confirmed), ""
            )
            if not shorter:
                break
            key = shorter
        return key

    def _count(self, rule: str, key: str, other: str, is_equal: bool, text: str) -> None:
        self._merge()
        name = self._name(rule, key)
        if is_equal:
            self._equal[name] += 1
            _add(self._equal_texts[name], text)
            for value in filter(None, (_find_value(rule, key), _find_value(rule, other))):
                _add(self._values[name], value)
        else:
            self._different[name] += 1
        self._update(name)

    def _update(self, name: tuple[str, str]) -> None:
        has_pairs = len(self._equal_texts[name]) >= _MIN_PAIRS
        has_values = len(self._values[name]) >= _MIN_PAIRS or not _is_any_value(name[0])
        if has_pairs and has_values and self._different[name] * _PAIRS_PER_EXCEPTION <= self._equal[name]:
            self._confirmed.add(name)
        else:
            self._confirmed.discard(name)

    def _name(self, rule: str, key: str) -> tuple[str, str]:
        """Return the rule with the pattern for which it holds; the case is a habit of the whole server."""
        return rule, "" if rule == _CASE else self._words.generalize(url_shape(key.partition("?")[0]))

    def _merge(self) -> None:
        """Add up the counts of patterns that have become equal."""
        if self._variable_count == self._words.variable_count:
            return
        self._variable_count = self._words.variable_count
        for counts in (self._equal, self._different):
            before = dict(counts)
            counts.clear()
            for (rule, shape), count in before.items():
                counts[rule, self._words.generalize(shape)] += count
        for sets in (self._equal_texts, self._values):
            for (rule, shape), members in list(sets.items()):
                sets[rule, self._words.generalize(shape)] |= members
        self._confirmed.clear()
        for name in list(self._equal):
            self._update(name)


def _add(members: set[str], one: str) -> None:
    """Add a member to a set that needs no more than `_MIN_PAIRS`."""
    if len(members) < _MIN_PAIRS:
        members.add(one)


def _is_any_value(rule: str) -> bool:
    """Return True if a rule drops a parameter with any value."""
    return rule.startswith("?") and rule != "?*" and "=" not in rule


def _find_value(rule: str, key: str) -> str:
    """Return `=` and the value of the parameter that a rule drops with any value; empty if there is none."""
    if not _is_any_value(rule):
        return ""
    pairs = parse_qsl(key.partition("?")[2], keep_blank_values=True)
    return "".join(f"={value}" for name, value in pairs if name == rule[1:])


def _iter_shorter_keys(key: str) -> Iterator[tuple[str, str]]:
    """Yield each rule that would shorten a key, with the shorter key."""
    head, mark, query = key.partition("?")
    pairs = parse_qsl(query, keep_blank_values=True)
    names = list(dict.fromkeys(name for name, _ in pairs))
    for name in names:
        left = [pair for pair in pairs if pair[0] != name]
        shorter = head + (f"?{urlencode(left, quote_via=quote)}" if left else "")
        yield f"?{name}", shorter
        yield f"?{name}{_find_value(f'?{name}', key)}", shorter
    if len(names) > 1:
        yield "?*", head
    if head.endswith("/") and head.count("/") > 1:
        yield "/", f"{head[:-1]}{mark}{query}"
    for suffix in _SUFFIXES:
        if head.endswith(suffix):
            yield suffix, f"{head.removesuffix(suffix)}{mark}{query}"
    folder, _, title = head.rpartition("/")
    if title and is_number(folder.rpartition("/")[2]):
        yield "/*", f"{folder}{mark}{query}"
    if title and folder.count("/"):
        yield "*/", f"{folder.partition('/')[0]}/{title}{mark}{query}"
    if head.lower() != head:
        yield _CASE, f"{head.lower()}{mark}{query}"
