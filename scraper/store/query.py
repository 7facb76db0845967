"""Parse a cache query: FTS5 syntax where it is valid, quoted words where it is not.

Grammar and precedence (adjacent words, NOT, AND, OR) are those of FTS5: words (all of them), "phrases", prefix*,
^first, a + b, AND, OR, NOT, parentheses, NEAR(a b, 5), and title: or text: before any of these. Text of the caller
reaches SQLite only in quotes. Parts without a word, such as `*`, are ignored.
"""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from scraper.store.tokenization import has_words, is_unspaced, to_query_text

COLUMN_NAMES = frozenset({"title", "text"})


@dataclass(frozen=True, slots=True)
class QueryTerm:
    """A word or phrase as written; with `prefix`, longer words match too."""

    text: str
    prefix: bool = False


@dataclass(frozen=True, slots=True)
class PhraseSequence:
    """Terms that follow one another; with `first`, at the start of the column."""

    terms: tuple[QueryTerm, ...]
    first: bool = False


@dataclass(frozen=True, slots=True)
class Near:
    """Terms with at most `distance` words between them."""

    terms: tuple[QueryTerm, ...]
    distance: int


@dataclass(frozen=True, slots=True)
class Combined:
    """All parts match (`AND`), at least one (`OR`), or the first and none of the others (`NOT`)."""

    operator: str
    parts: tuple[QueryNode, ...]


@dataclass(frozen=True, slots=True)
class InColumns:
    """The inner query matches in one of these columns."""

    columns: frozenset[str]
    inner: QueryNode


QueryNode = PhraseSequence | Near | Combined | InColumns


def _join_nodes(operator: str, parts: list[QueryNode | None]) -> QueryNode | None:
    present = tuple(part for part in parts if part is not None)
    return Combined(operator, present) if len(present) > 1 else next(iter(present), None)


def iter_phrases(node: QueryNode | None, *, with_excluded: bool = True) -> Iterator[PhraseSequence]:
    """Iterate over every word or phrase in order; without `with_excluded`, skip those that must not occur."""
    match node:
        case PhraseSequence():
            yield PhraseSequence(node.terms)
        case Near():
            yield from (PhraseSequence((term,)) for term in node.terms)
        case Combined():
            for part in node.parts if with_excluded or node.operator != "NOT" else node.parts[:1]:
                yield from iter_phrases(part, with_excluded=with_excluded)
        case InColumns():
            yield from iter_phrases(node.inner, with_excluded=with_excluded)


def _make_expression(node: QueryNode | None) -> str:
    """Return the query as an expression for FTS5's MATCH; empty if it has no words."""
    match node:
        case None:
            return ""
        case PhraseSequence():
            return f"{'^ ' if node.first else ''}{' + '.join(_quote_term(term) for term in node.terms)}"
        case Near():
            return f"NEAR({' '.join(_quote_term(term) for term in node.terms)}, {node.distance})"
        case Combined():
            return f"({f' {node.operator} '.join(_make_expression(part) for part in node.parts)})"
        case InColumns():
            # FTS5 cannot name an empty set of columns; excluding every column has the same effect.
            names = f"{{{' '.join(sorted(node.columns or COLUMN_NAMES))}}}"
            return f"{'' if node.columns else '- '}{names} : ({_make_expression(node.inner)})"


def _quote_term(term: QueryTerm) -> str:
    """Return a term in quotes, so that FTS5 accepts it whatever it contains."""
    text, is_prefix = to_query_text(term.text.replace('"', " "))
    return f'"{text}"{" *" if term.prefix or is_prefix else ""}'


_COLUMN = r"(?:title|text)"
_TOKEN = re.compile(
    rf"""(?<![^\s()"]) ((?:-\s*)? (?: {_COLUMN} | \{{ \s*{_COLUMN}(?:\s+{_COLUMN})*\s* \}} ) \s*:)
    | "((?:[^"]|"")*)" (\*?)
    | ([()])
    | ([^\s"()]+)""",
    re.IGNORECASE | re.VERBOSE,
)
"""Tokens never begin with a space, because a run of spaces would be scanned again from each of them."""


@dataclass(frozen=True, slots=True)
class QueryToken:
    """One token of a query."""

    kind: str
    """`columns`, `phrase`, `word`, `(` or `)`."""
    text: str
    prefix: bool = False


def tokenize(query: str) -> list[QueryToken]:
    """Return the tokens of a query in order."""
    found = []
    for match in _TOKEN.finditer(query):
        named, phrase, star, bracket, word = match.groups()
        if named:
            found.append(QueryToken("columns", named))
        elif phrase is not None:
            found.append(QueryToken("phrase", phrase.replace('""', '"'), bool(star)))
        elif bracket:
            found.append(QueryToken(bracket, bracket))
        else:
            found.append(QueryToken("word", word))
    return found


_WORDS_LIMIT = 64
"""Words of a query; further ones are ignored. A pasted page is not a query, and each word costs an index lookup."""
_PHRASE_CHARS = 500
"""Characters of one word or phrase. Searching for the same word ten thousand times took a second."""
_PAIRS_LIMIT = 64
"""Characters of a word without spaces that are looked for."""
_PREFIX_COSTS, _PREFIX_BUDGET = {1: 8, 2: 1}, 16
"""Costs of prefixes of one and two letters, and the budget per query. With 100,000 pages, one letter takes half a
second, because FTS5 collects every word with the prefix and cannot be interrupted."""
_DEPTH_LIMIT = 32
"""Nested parentheses; FTS5's own limit is 256."""
_NEAR_WORDS = 10
_NEAR_LIMIT = 1_000

_OPERATORS = ("OR", "AND", "NOT")
"""Operators; those that bind more strongly are last."""


@dataclass(frozen=True, slots=True)
class CacheQuery:
    """A parsed query."""

    expression: str
    """Expression for MATCH; empty if the query has no words."""
    terms: tuple[QueryTerm, ...]
    """Terms to highlight in a hit; excluded terms are left out."""
    phrases: tuple[str, ...] = ()
    """Each word or phrase of the expression in order, as a separate expression."""
    note: str = ""
    """Message for the caller about how the query was interpreted."""
    tree: QueryNode | None = None
    """Syntax tree, for indexes with another query language."""


class _QuerySyntaxError(Exception):
    """The query is not valid FTS5 syntax."""


def parse_query(query: str) -> CacheQuery:
    """Parse a query. Every text is accepted; invalid syntax is searched as words."""
    tokens = tokenize(query.replace("\0", " "))
    is_cut = sum(token.kind in {"phrase", "word"} for token in tokens) > _WORDS_LIMIT
    if is_cut:
        return _quote_all(tokens, f"Only the first {_WORDS_LIMIT} words of the query were looked for.")
    if query.count('"') % 2:
        return _quote_all(tokens, _NOTE_LITERAL)
    if any(len(token.text) > _PHRASE_CHARS for token in tokens):
        return _quote_all(tokens, f"Only {_PHRASE_CHARS} characters of a word or phrase were looked for.")
    parser = _Parser(tokens)
    try:
        tree = parser.parse()
    except _QuerySyntaxError:
        return _quote_all(tokens, _NOTE_LITERAL)
    parts = []
    if parser.quoted_words:
        parts.append(f"Looked for as written: {', '.join(parser.quoted_words[:3])}.")
    if parser.has_implicit_and:
        parts.append("What stands beside brackets without AND, OR or NOT was read as AND.")
    if parser.short_prefixes:
        parts.append(f"Too short to be more than words: {', '.join(parser.short_prefixes[:3])}.")
    if parser.has_wordless:
        parts.append("Signs without a word were passed over.")
    return _make_query(tree, parser.terms, " ".join(parts))


def parse_as_words(query: str) -> CacheQuery:
    """Return a query for all words of the text, ignoring its syntax."""
    return _quote_all(tokenize(query.replace("\0", " ")), _NOTE_LITERAL)


_NOTE_LITERAL = "The query is not valid search syntax; its words were looked for as they are."


def _quote_all(tokens: list[QueryToken], note: str) -> CacheQuery:
    """Return a query that requires every token as a quoted word."""
    texts = [token.text[:_PHRASE_CHARS].rstrip(": ") for token in tokens]
    terms = [QueryTerm(text) for text in texts if has_words(text)][:_WORDS_LIMIT]
    split = [_split_runs(term) for term in terms]
    pairs = [pair for _, some in split for pair in some]
    return _make_query(_join_nodes("AND", [node for node, _ in split]), [*terms, *pairs], note)


def _make_query(tree: QueryNode | None, terms: list[QueryTerm], note: str) -> CacheQuery:
    return CacheQuery(
        _make_expression(tree), tuple(terms), tuple(map(_make_expression, iter_phrases(tree))), note, tree
    )


def _split_runs(term: QueryTerm) -> tuple[QueryNode | None, list[QueryTerm]]:
    """Return a query for a word, of whose runs without spaces any pair of characters matches, and these pairs."""
    text = unicodedata.normalize("NFKC", term.text)
    pieces = ["".join(letters) for _, letters in itertools.groupby(text, is_unspaced)]
    if not any(len(piece) > 2 and is_unspaced(piece[0]) for piece in pieces):
        return PhraseSequence((term,)), []
    nodes: list[QueryNode | None] = []
    found: list[QueryTerm] = []
    for piece in filter(has_words, pieces):
        ends = range(2, min(len(piece), _PAIRS_LIMIT) + 1) if is_unspaced(piece[0]) else ()
        pairs = [QueryTerm(piece[end - 2 : end]) for end in ends]
        found += (pair for pair in pairs if pair.text.isalnum())
        nodes.append(_join_nodes("OR", [PhraseSequence((one,)) for one in pairs or [QueryTerm(piece)]]))
    return _join_nodes("AND", nodes), found


class _Parser:
    """Recursive descent parser for FTS5's grammar."""

    def __init__(self, tokens: list[QueryToken]) -> None:
        self.terms: list[QueryTerm] = []
        self.quoted_words: list[str] = []
        self.short_prefixes: list[str] = []
        self.has_implicit_and = self.has_wordless = False
        self._tokens = tokens
        self._at = 0
        self._depth = 0
        self._prefixes = _PREFIX_BUDGET
        self._is_excluding = False

    def parse(self) -> QueryNode | None:
        """Return the syntax tree, or None for a query without words."""
        if not self._tokens:
            return None
        tree = self._parse_chain()
        if self._at < len(self._tokens):
            raise _QuerySyntaxError
        return tree

    def _parse_chain(self, level: int = 0) -> QueryNode | None:
        """Parse what one operator joins, or words without an operator below the last level."""
        if level == len(_OPERATORS):
            return self._parse_implicit_and()
        operator, was_excluding = _OPERATORS[level], self._is_excluding
        parts = [self._parse_chain(level + 1)]
        while self._is_word(operator):
            self._at += 1
            self._is_excluding = was_excluding or operator == "NOT"
            parts.append(self._parse_chain(level + 1))
            self._is_excluding = was_excluding
        return None if operator == "NOT" and parts[0] is None else _join_nodes(operator, parts)

    def _parse_implicit_and(self) -> QueryNode | None:
        brackets = self._is_bracket_next()
        parts = [self._parse_operand()]
        while self._at < len(self._tokens) and not (self._is(")") or self._is_operator()):
            brackets = brackets or self._is_bracket_next()
            self.has_implicit_and = self.has_implicit_and or brackets
            parts.append(self._parse_operand())
        return _join_nodes("AND", parts)

    def _parse_operand(self) -> QueryNode | None:
        if self._at >= len(self._tokens) or self._is(")") or self._is_operator():
            raise _QuerySyntaxError
        token = self._tokens[self._at]
        self._at += 1
        if token.kind == "(":
            return self._parse_group()
        if token.kind == "columns":
            if self._is("columns"):
                raise _QuerySyntaxError
            names = frozenset(name for name in COLUMN_NAMES if name in token.text.lower())
            columns = COLUMN_NAMES - names if token.text.startswith("-") else names
            inner = self._parse_operand()
            return InColumns(columns, inner) if inner is not None else None
        if token.text == "NEAR" and token.kind == "word" and self._is("("):
            return self._parse_near()
        return self._parse_phrase_sequence(token)

    def _parse_group(self) -> QueryNode | None:
        self._depth += 1
        if self._depth > _DEPTH_LIMIT:
            raise _QuerySyntaxError
        inner = self._parse_chain()
        if not self._is(")"):
            raise _QuerySyntaxError
        self._at += 1
        self._depth -= 1
        return inner

    def _parse_phrase_sequence(self, token: QueryToken) -> QueryNode | None:
        first = token.kind == "word" and token.text.startswith("^")
        if first and token.text == "^":
            token = self._take_text()
        elif first:
            token = QueryToken("word", token.text[1:])
        terms = [self._read_term(token)]
        while self._is_word("+"):
            self._at += 1
            terms.append(self._read_term(self._take_text()))
        self.has_wordless = self.has_wordless or not all(has_words(term.text) for term in terms)
        parts = [self._limit_prefix(term) for term in terms if has_words(term.text)]
        if not parts:
            return None
        if self._is_excluding:
            return PhraseSequence(tuple(parts), first)
        self.terms.append(QueryTerm(" ".join(term.text for term in parts), parts[-1].prefix))
        if token.kind == "word" and len(parts) == 1 and not first and not parts[0].prefix:
            node, pairs = _split_runs(parts[0])
            self.terms += pairs
            return node
        return PhraseSequence(tuple(parts), first)

    def _read_term(self, token: QueryToken) -> QueryTerm:
        text, is_prefix = token.text, token.prefix
        if token.kind == "word":
            text, is_prefix = text.rstrip("*"), text.endswith("*")
            # FTS5 accepts other words only in quotes.
            is_plain = all(one.isalnum() or one == "_" or not one.isascii() for one in token.text.removesuffix("*"))
            if not is_plain and has_words(text):
                self.quoted_words.append(text)
        if not is_prefix and self._is_word("*"):
            self._at += 1
            is_prefix = True
        return QueryTerm(text, is_prefix)

    def _limit_prefix(self, term: QueryTerm) -> QueryTerm:
        """Return the term, without its star if too many words would match."""
        letters = len(term.text.split()[-1].strip("'.,-"))
        cost = _PREFIX_COSTS.get(letters, 0) if term.prefix and not is_unspaced(term.text[-1]) else 0
        if cost <= self._prefixes:
            self._prefixes -= cost
            return term
        self.short_prefixes.append(f"{term.text}*")
        return QueryTerm(term.text)

    def _take_text(self) -> QueryToken:
        if not (self._is("word") or self._is("phrase")) or self._is_operator():
            raise _QuerySyntaxError
        token = self._tokens[self._at]
        if token.kind == "word" and token.text[0] in "^+*":
            raise _QuerySyntaxError
        self._at += 1
        return token

    def _parse_near(self) -> QueryNode | None:
        terms: list[QueryTerm] = []
        distance: str | None = None
        self._at += 1
        while not self._is(")"):
            if self._at >= len(self._tokens) or self._is("("):
                raise _QuerySyntaxError
            token = self._tokens[self._at]
            self._at += 1
            if distance is not None:
                distance += token.text
                continue
            text, comma, after = (token.text, "", "") if token.kind == "phrase" else token.text.partition(",")
            distance = after if comma else None
            if has_words(text):
                terms.append(QueryTerm(text.rstrip("*"), token.prefix or text.endswith("*")))
        self._at += 1
        if distance is not None and not distance.isdecimal():
            raise _QuerySyntaxError
        if not terms:
            return None
        if not self._is_excluding:
            self.terms += terms
        words = _NEAR_WORDS if distance is None else min(int(distance[:4]), _NEAR_LIMIT)
        return Near(tuple(self._limit_prefix(term) for term in terms), words)

    def _is(self, kind: str) -> bool:
        return self._at < len(self._tokens) and self._tokens[self._at].kind == kind

    def _is_word(self, word: str) -> bool:
        return self._is("word") and self._tokens[self._at].text == word

    def _is_bracket_next(self) -> bool:
        """Return True if a parenthesis follows, with or without a column filter before it."""
        ahead = self._tokens[self._at : self._at + 2]
        return "(" in [token.kind for token in ahead if ahead[0].kind in {"(", "columns"}]

    def _is_operator(self) -> bool:
        return self._is("word") and self._tokens[self._at].text in _OPERATORS
