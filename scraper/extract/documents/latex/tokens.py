"""Split LaTeX source into tokens, and expand the macros that it defines."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field

VERBATIM = "\ue000"
"""Start of a token with literal text: its environment or command, this character again, the text."""
PARAGRAPH = "\n\n"
_PRIVATE = re.compile("[\ue000-\ue00f]")
_TOKEN = re.compile(
    r"""
    \\begin[ ]?\{(?P<name>verbatim\*?|[BL]?Verbatim|lstlisting|minted|alltt|comment|filecontents\*?)\}
    | \\(?P<verb>verb\*?|lstinline)(?P<mark>[^\sA-Za-z*\[{])
    | (?P<comment>%[^\n]*+(?:\n(?![^\S\n]*+\n)[^\S\n]*+)?+)
    | \\[A-Za-z@]++\*?+[^\S\n]*+(?:\n(?![^\S\n]*+\n)[^\S\n]*+)?+
    | \\(?s:.)
    | (?P<paragraph>\s*?\n[^\S\n]*+\n\s*+)
    | (?P<space>\s++)
    | \$\$? | [{}&~\[\]#^_]
    | [^\\%\s{}$&~\[\]#^_]++
    | \\
    """,
    re.VERBOSE,
)
_MANY_SPACES = re.compile(r"[^\S\n]{1000,}")
_MAX_EXPANSIONS, _MAX_EXPANDED = 50_000, 300_000
"""Macros that are expanded, and tokens that they may give. A thesis has ten thousand."""
_MAX_PARAMETERS = 9
_MAX_OPTIONAL, _MAX_FORMULA = 5_000, 20_000
"""Tokens of an argument in brackets, and of a formula."""


def tokenize(source: str) -> list[str]:
    """Return the tokens of a source without comments.

    A token is a command with the spaces after it, a special character, a space, a paragraph break, a text, or the
    literal text of a verbatim environment.
    """
    source = _PRIVATE.sub("", source)
    source = _MANY_SPACES.sub(" ", source)
    return list(_scan(source))


def _scan(source: str) -> Iterator[str]:
    at, unclosed = 0, set[str]()
    while at < len(source) and (match := _TOKEN.match(source, at)):
        at = match.end()
        if (name := match["name"]) and name not in unclosed:
            end = source.find(f"\\end{{{name}}}", at)
            if end >= 0:
                yield f"{VERBATIM}{name}{VERBATIM}{source[at:end]}"
                at = end + len(name) + 6
                continue
            unclosed.add(name)
        if name:
            yield from ("\\begin", "{", name, "}")
        elif mark := match["mark"]:
            line_end = source.find("\n", at, at + 1_000)
            end = source.find(mark, at, line_end if line_end >= 0 else at + 1_000)
            if end >= 0:
                yield f"{VERBATIM}verb{VERBATIM}{source[at:end]}"
                at = end + 1
        elif match["paragraph"]:
            yield PARAGRAPH
        elif match["space"]:
            yield " "
        elif not match["comment"]:
            yield match[0]


def command_name(piece: str) -> str:
    """Return the name of a command without its star; empty for another token."""
    if len(piece) < 2 or piece[0] != "\\":
        return ""
    return piece[1:].strip().removesuffix("*") or " "


def join_tokens(tokens: Sequence[str]) -> str:
    """Return the source of tokens, with a space between a command and a letter after it."""
    parts: list[str] = []
    for piece in tokens:
        if piece[0] == VERBATIM:
            piece = piece.split(VERBATIM, 2)[2]
        if piece[:1].isalpha() and parts and parts[-1][0] == "\\" and parts[-1][-1].isalpha():
            parts.append(" ")
        if piece:
            parts.append(piece)
    return "".join(parts)


def split_tokens(tokens: Sequence[str], separators: Sequence[str]) -> list[list[str]]:
    """Split tokens at commands or characters outside of groups and inner environments."""
    parts: list[list[str]] = [[]]
    depth = 0
    for piece in tokens:
        name = command_name(piece)
        depth += (piece == "{") - (piece == "}") + (name == "begin") - (name == "end")
        if depth == 0 and (f"\\{name}" if name else piece) in separators:
            parts.append([])
        else:
            parts[-1].append(piece)
    return parts


@dataclass(frozen=True, slots=True)
class Macro:
    """A command that the source defines."""

    parameters: int
    default: tuple[str, ...] | None
    """Value of the optional first parameter; None if it has none."""
    body: tuple[str, ...]


@dataclass(slots=True)
class Macros:
    """Commands and environments that the source defines, and how many more may be expanded."""

    commands: dict[str, Macro] = field(default_factory=dict)
    environments: dict[str, tuple[Macro, tuple[str, ...]]] = field(default_factory=dict)
    """Macro of the start, and tokens of the end."""
    expansions: int = _MAX_EXPANSIONS
    expanded: int = _MAX_EXPANDED


class TokenStream:
    """Tokens that are read one by one."""

    def __init__(self, tokens: Sequence[str], macros: Macros) -> None:
        """Read these tokens; expand these macros."""
        self._left = list(reversed(tokens))
        self.macros = macros
        self._absent: dict[str, int] = {}
        """By end token: number of tokens left after the part that was searched for it without success."""

    def raw(self) -> str | None:
        """Return the next token without expanding it; None at the end."""
        return self._left.pop() if self._left else None

    def read(self) -> str | None:
        """Return the next token that is no macro; None at the end."""
        while self._left:
            piece = self._left.pop()
            macro = self.macros.commands.get(command_name(piece)) if piece[0] == "\\" else None
            if macro is None:
                return piece
            self.expand(macro)
        return None

    def expand(self, macro: Macro) -> None:
        """Read the arguments of a macro, and put its body in their place; beyond the limits, put nothing there."""
        macros = self.macros
        values = [self.optional() or macro.default] if macro.default is not None else []
        values += [self.argument() for _ in range(macro.parameters - len(values))]
        body: list[str] = []
        tokens = iter(macro.body)
        for piece in tokens:
            if piece != "#":
                body.append(piece)
                continue
            number = next(tokens, "")
            index = int(number[0]) - 1 if number[:1].isdecimal() else -1
            body += values[index] if 0 <= index < len(values) else ["#"]
            body += [number[1:]] if index >= 0 and number[1:] else []
        macros.expansions -= 1
        macros.expanded -= len(body)
        if macros.expansions > 0 and macros.expanded > 0:
            self.push(body)

    def push(self, tokens: Sequence[str]) -> None:
        """Put tokens in front of the others."""
        for end in self._absent.keys() & set(map(str.strip, tokens)):
            del self._absent[end]
        self._left.extend(reversed(tokens))

    def rest(self) -> list[str]:
        """Return the tokens that are left."""
        return self._left[::-1]

    def next_is(self, character: str, *, after_space: bool = True) -> bool:
        """Return True if the next token is this character, also after a space."""
        left = self._left
        if after_space and len(left) > 1 and left[-1] == " ":
            return left[-2] == character
        return bool(left) and left[-1] == character

    def skip_space(self) -> None:
        """Skip spaces and paragraph breaks."""
        while self._left and self._left[-1].isspace():
            self._left.pop()

    def argument(self) -> list[str]:
        """Return the tokens of the next argument without its braces."""
        self.skip_space()
        piece = self.raw()
        if piece is None or piece == "}":
            return []
        if piece != "{":
            if piece[0] in "\\{[$&~" + VERBATIM or len(piece) == 1:
                return [piece]
            self.push([piece[1:]])
            return [piece[0]]
        return self._group()

    def optional(self) -> list[str] | None:
        """Return the tokens of an optional argument in brackets; None if there is none."""
        if not self.next_is("[") or self._is_absent("]"):
            return None
        while self.raw() != "[":
            pass
        found: list[str] = []
        depth = 0
        while len(found) < _MAX_OPTIONAL and (piece := self.raw()) is not None:
            if piece == "]" and depth == 0:
                return found
            found.append(piece)
            if piece == PARAGRAPH:
                break
            depth += (piece == "{") - (piece == "}")
        self._put_back(["[", *found], "]")
        return None

    def skip_conditional(self, conditionals: Collection[str]) -> None:
        """Skip the tokens up to the end of a conditional; skip nothing if it has no end."""
        found: list[str] = []
        depth = 1
        if self._is_absent("\\fi"):
            return
        while len(found) < _MAX_FORMULA and (piece := self.raw()) is not None:
            found.append(piece)
            name = command_name(piece)
            depth += (name in conditionals) - (name == "fi")
            if depth == 0:
                return
        self._put_back(found, "\\fi")

    def _is_absent(self, end: str) -> bool:
        return len(self._left) > self._absent.get(end, len(self._left))

    def _put_back(self, tokens: Sequence[str], end: str) -> None:
        """Put back tokens that were searched for an end, and store the position if it is not among them."""
        left = len(self._left)
        self.push(tokens)
        if all(piece.strip() != end for piece in tokens):
            self._absent[end] = left

    def _group(self) -> list[str]:
        found: list[str] = []
        depth = 0
        while (piece := self.raw()) is not None:
            if piece == "}" and depth == 0:
                break
            depth += (piece == "{") - (piece == "}")
            found.append(piece)
        return found

    def environment(self) -> list[str]:
        """Return the tokens up to the end of the current environment; environments may be nested in it."""
        found: list[str] = []
        depth = 1
        while (piece := self.read()) is not None:
            name = command_name(piece)
            if name in ("begin", "end"):
                inner = self.argument()
                depth += 1 if name == "begin" else -1
                if depth == 0:
                    break
                found += [f"\\{name}", "{", *inner, "}"]
            else:
                found.append(piece)
        return found

    def math(self, end: str) -> list[str] | None:
        """Return the tokens up to the end of a formula; None, and no token is read, if its paragraph ends before it."""
        found: list[str] = []
        depth = 0
        if self._is_absent(end):
            return None
        while len(found) < _MAX_FORMULA and (piece := self.read()) is not None:
            if piece == "$$" and end == "$" and depth <= 0:
                self.push(["$"])
                return found
            if piece.strip() == end and depth <= 0:
                return found
            depth += (piece == "{") - (piece == "}")
            found.append(piece)
            if piece == PARAGRAPH:
                break
        self._put_back(found, end)
        return None


def define(stream: TokenStream, command: str, kept: frozenset[str]) -> None:
    """Read a definition; commands in `kept` stay as they are.

    Args:
        stream: Tokens after the defining command.
        command: Name of the defining command, such as `newcommand` or `def`.
        kept: Names that the reader itself converts.
    """
    if command in ("newenvironment", "renewenvironment"):
        name = "".join(stream.argument()).strip()
        parameters, default = _parameters(stream)
        start, end = stream.argument(), stream.argument()
        if name not in kept:
            stream.macros.environments[name] = (Macro(parameters, default, tuple(start)), tuple(end))
        return
    names = [command_name(piece) for piece in stream.argument()]
    name = next(filter(None, names), "")
    if command == "let":
        if stream.next_is("="):
            stream.argument()
        macro = Macro(0, None, tuple(stream.argument()))
    elif command.endswith("def"):
        parameters = 0
        while not stream.next_is("{") and (piece := stream.raw()) is not None:
            parameters += piece == "#"
        macro = Macro(min(parameters, _MAX_PARAMETERS), None, tuple(stream.argument()))
    elif command == "DeclareMathOperator":
        macro = Macro(0, None, ("\\operatorname", "{", *stream.argument(), "}"))
    else:
        parameters, default = _parameters(stream)
        macro = Macro(parameters, default, tuple(stream.argument()))
    if name and name not in kept and not any(command_name(piece) == name for piece in macro.body):
        stream.macros.commands[name] = macro


def _parameters(stream: TokenStream) -> tuple[int, tuple[str, ...] | None]:
    """Return the number of parameters in brackets, and the value of the optional one in the next brackets."""
    count = "".join(stream.optional() or ()).strip()
    default = stream.optional()
    parameters = int(count) if count.isdecimal() and len(count) == 1 else 0
    return parameters, tuple(default) if default is not None else None
