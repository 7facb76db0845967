"""Convert the tokens of a LaTeX file to Markdown."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from scraper.extract.code.fences import fence
from scraper.extract.documents.latex import commands
from scraper.extract.documents.latex.tokens import (
    PARAGRAPH,
    VERBATIM,
    Macros,
    TokenStream,
    command_name,
    define,
    join_tokens,
    split_tokens,
)
from scraper.extract.documents.pdf.markdown_writer import escape_text

_MAX_DEPTH = 30
"""Levels of groups and environments. Each copies its tokens."""
_PIECE = re.compile("\ue001(\\d+)\ue002")
_REFERENCE = re.compile("\ue003(\\w+):([^\ue004]*)\ue004")
BREAK = "\ue005"
_AROUND_BREAK = re.compile(f"\\s*{BREAK}\\s*")
_QUOTES = (("---", "\u2014"), ("--", "\u2013"), ("``", "\u201c"), ("''", "\u201d"), ("`", "\u2018"), ("'", "\u2019"))
_ANDS = ("\\and", "\\And", "\\AND")
_LABEL = re.compile(r"\\label\s*\{([^{}]*)\}")
_NO_TEXT = re.compile(r"\\(?:nonumber|notag|displaystyle(?![a-zA-Z]))\s*")
_LENGTH = re.compile(r"[-+]?[\d.]*\s*(?:\\\w+|pt|cm|mm|in|em|ex|\d)\s*")
_GLUE = re.compile(r"(?:[-+]?[\d.]+(?:pt|cm|mm|in|em|ex|pc|bp|fil+)|plus|minus)\b")
_OVERLAY = re.compile(r"<[\d,+.|\-]*>")
_OPTION_LANGUAGE = re.compile(r"language\s*=\s*\{?(\w+)")
_KEPT_COMMANDS = frozenset(
    {*commands.HEADINGS, *commands.MARKS, *commands.DROPPED, *commands.FILES, *commands.REFERENCES, *commands.FRONT,
     *commands.DEFINITIONS, "begin", "end", "item", "caption", "label", "footnote", "href", "url", "par", "\\", "cite"}
)  # fmt: skip
_KEPT_ENVIRONMENTS = frozenset(
    {*commands.LISTS, *commands.TABLES, *commands.FLOATS, *commands.SINGLE_FORMULAS, *commands.ALIGNED_FORMULAS,
     *commands.QUOTES, "abstract", "document", "thebibliography"}
)  # fmt: skip


Handler = Callable[["LatexConverter", bool], str]
"""Return the text of a command, given whether it has a star."""


class LatexConverter:
    """Convert one document; its notes, references and missing files are collected."""

    def __init__(self, handlers: Mapping[str, Handler]) -> None:
        """Start without macros; `handlers` convert the commands that read arguments."""
        self._handlers = handlers
        self.macros = Macros()
        self.stream = TokenStream((), self.macros)
        self.front: list[str] = []
        """Blocks of the title page that stand in front of the text."""
        self.title = ""
        self.authors: list[str] = []
        self.missing_files: dict[str, None] = {}
        self.has_drawings = False
        self.in_preamble = False
        self.cell_columns = self.cell_rows = 1
        """Columns and rows of the cell that is converted."""
        self._pieces: list[str] = []
        self.notes: list[str] = []
        self.labels: dict[str, str] = {}
        self.citations: dict[str, str] = {}
        self.counts: Counter[str] = Counter()
        self.theorems = dict(commands.THEOREMS)
        self.current = ""
        """Number or title to which the next label belongs."""
        self.float_kind = ""
        self._depth = 0

    def convert(self, tokens: Sequence[str]) -> str:
        """Return the text of tokens, with placeholders for blocks, formulas and references."""
        if self._depth >= _MAX_DEPTH:
            return "".join(piece for piece in tokens if piece not in ("{", "}"))
        outer, self.stream = self.stream, TokenStream(tokens, self.macros)
        self._depth += 1
        out: list[str] = []
        switches: list[tuple[int, str]] = []
        while (piece := self.stream.read()) is not None:
            if (mark := commands.SWITCHES.get(command_name(piece))) is not None:
                switches.append((len(out), mark))
            else:
                out.append(self._convert_token(piece))
        for at, mark in reversed(switches):
            out[at:] = [_mark("".join(out[at:]), mark)]
        self._depth -= 1
        self.stream = outer
        return "".join(out)

    @contextmanager
    def inside_float(self, kind: str) -> Iterator[None]:
        """Count captions in the block as those of a figure or table; an empty kind changes nothing."""
        outer, self.float_kind = self.float_kind, kind or self.float_kind
        yield
        self.float_kind = outer

    def format_blocks(self, text: str) -> str:
        """Return converted text as paragraphs, without placeholders of blocks."""
        blocks = []
        for block in re.split(r"\n\s*\n", text):
            lines = [" ".join(line.split()) for line in _AROUND_BREAK.split(block)]
            blocks.append("  \n".join(filter(None, map(escape_text, lines))))
        return self._restore("\n\n".join(filter(None, blocks)))

    def finish(self, markdown: str) -> str:
        """Add the notes at the end, and resolve the references."""
        notes = "\n".join(f"[^{number}]: {note}" for number, note in enumerate(self.notes, 1))
        return _REFERENCE.sub(self._resolve, "\n\n".join(filter(None, (markdown, notes))))

    def _resolve(self, match: re.Match[str]) -> str:
        kind, names = match[1], [name.strip() for name in match[2].split(",")]
        if kind == "cite":
            return f"[{', '.join(self.citations.get(name, name) for name in names)}]"
        return ", ".join(self.labels.get(name, name) for name in names)

    def protect(self, text: str) -> str:
        """Return a placeholder for text that stays as it is."""
        self._pieces.append(text)
        return f"\ue001{len(self._pieces) - 1}\ue002"

    def block(self, text: str) -> str:
        """Return a placeholder for a block, between paragraph breaks."""
        return f"{PARAGRAPH}{self.protect(text)}{PARAGRAPH}" if text.strip() else PARAGRAPH

    def _restore(self, text: str) -> str:
        return _PIECE.sub(lambda match: self._restore(self._pieces[int(match[1])]), text)

    def line(self, tokens: Sequence[str]) -> str:
        """Return tokens as one line of Markdown."""
        return " ".join(self.format_blocks(self.convert(tokens)).split())

    def _convert_token(self, piece: str) -> str:
        if piece[0] == VERBATIM:
            return self._verbatim(piece)
        if piece[0] == "\\":
            return self._command(command_name(piece), is_starred=piece.rstrip().endswith("*"))
        if piece == "{":
            self.stream.push(["{"])
            return self.convert(self.stream.argument())
        if piece[0] == "$":
            tokens = self.stream.math(piece)
            return piece if tokens is None else self.formula(tokens, is_block=piece == "$$")
        if piece in "}~&":
            return " " if piece == "~" else ""
        for source, character in _QUOTES:
            piece = piece.replace(source, character)
        return piece.replace("*", "\\*")

    def _verbatim(self, piece: str) -> str:
        _, name, text = piece.split(VERBATIM, 2)
        if name == "verb":
            return self.protect(f"`{text}`" if text and "`" not in text else text)
        if name.rstrip("*") not in commands.CODE:
            return ""
        language = ""
        if name == "lstlisting" and (options := re.match(r"\s*\[([^\]]*)\]", text)):
            language = match[1].lower() if (match := _OPTION_LANGUAGE.search(options[1])) else ""
            text = text[options.end() :]
        elif name == "minted" and (options := re.match(r"\s*(?:\[[^\]]*\])?\s*\{(\w+)\}", text)):
            language, text = options[1], text[options.end() :]
        elif options := re.match(r"\s*\[[^\]\n]*\](?=\s*\n)", text):
            text = text[options.end() :]
        return self.block(fence(text.strip("\n").rstrip(), language))

    def _command(self, name: str, *, is_starred: bool) -> str:
        stream = self.stream
        if name in commands.CHARACTERS:
            return commands.CHARACTERS[name].replace("*", "\\*")
        if name in ("(", "["):
            tokens = stream.math("\\)" if name == "(" else "\\]")
            return "" if tokens is None else self.formula(tokens, is_block=name == "[")
        if name in commands.ACCENTS:
            return self._accent(name)
        if name in commands.DEFINITIONS:
            define(stream, name, _KEPT_ENVIRONMENTS if "environment" in name else _KEPT_COMMANDS)
            return ""
        if name in commands.HEADINGS:
            stream.optional()
            title = self.line(stream.argument())
            self.current = f"\u201c{title}\u201d"
            return self.block(f"{'#' * commands.HEADINGS[name]} {title}" if title else "")
        if name in commands.DROPPED:
            return self._drop(name)
        if name in commands.MARKS:
            return _mark(self.convert(stream.argument()), commands.MARKS[name])
        if name in commands.SYMBOL_TEXTS:
            return commands.SYMBOL_TEXTS[name]
        if name in commands.FRONT:
            return self._front(name)
        if name in commands.FILES or name in commands.BIBLIOGRAPHIES:
            return self._missing_file(name)
        if name in commands.REFERENCES:
            return self._reference(name)
        if line := commands.ALGORITHM.get(name) or commands.ALGORITHM.get(name.capitalize()):
            return f"{BREAK}{line[0]} {self.arguments()} {line[1]}"
        if "cite" in name.lower():
            notes = [self.line(note) for _ in range(2) if (note := stream.optional())]
            cited = f"\ue003cite:{''.join(stream.argument())}\ue004"
            return f"{cited[:-1]}, {', '.join(notes)}\ue004" if notes else cited
        if handler := self._handlers.get(name):
            return handler(self, is_starred)
        return self.arguments()

    def arguments(self) -> str:
        """Return the arguments of an unknown command as text."""
        while self.stream.next_is("[", after_space=False) and self.stream.optional() is not None:
            pass
        texts = []
        while self.stream.next_is("{", after_space=False):
            texts.append(self.convert(self.stream.argument()))
        return " ".join(texts)

    def _drop(self, name: str) -> str:
        stream = self.stream
        if name in ("vskip", "hskip", "kern"):
            while (piece := stream.raw()) is not None and (piece == " " or _GLUE.fullmatch(piece)):
                pass
            stream.push([piece] if piece is not None else [])
            return " "
        count = commands.DROPPED[name]
        while count and stream.optional() is not None:
            pass
        for _ in range(count):
            stream.argument()
        if name == "maketitle":
            front, self.front = self.front, []
            return "".join(map(self.block, front))
        return PARAGRAPH if name in ("newpage", "clearpage", "bigskip", "medskip", "vspace", "hrule", "vskip") else " "

    def _accent(self, name: str) -> str:
        base = self.line(self.stream.argument()) or " "
        base = base.replace("\u0131", "i").replace("\u0237", "j")
        return unicodedata.normalize("NFC", base[0] + commands.ACCENTS[name]) + base[1:]

    def _front(self, name: str) -> str:
        stream = self.stream
        while stream.optional() is not None:
            pass
        if name == "abstract" and not stream.next_is("{"):
            return ""
        blocks = [self.format_blocks(self.convert(part)) for part in split_tokens(stream.argument(), _ANDS)]
        blocks = [block for block in blocks if block]
        if name == "author":
            self.authors += [block.split("\n", 1)[0] for block in blocks]
        if name == "title" and blocks:
            blocks = [f"# {' '.join(' '.join(blocks).split())}"]
            self.title = self.title or blocks[0][2:]
        if self.in_preamble:
            self.front += blocks
            return ""
        return "".join(map(self.block, blocks))

    def _missing_file(self, name: str) -> str:
        self.stream.optional()
        if name == "inputminted":
            self.stream.argument()
        folder = "".join(self.stream.argument()) if name.endswith("import") else ""
        file = folder + "".join(self.stream.argument() if self.stream.next_is("{") else [self.stream.raw() or ""])
        self.missing_files[" ".join(file.split())] = None
        return "" if name in commands.BIBLIOGRAPHIES or self.in_preamble else self.block(f"(file {file} is not here)")

    def _reference(self, name: str) -> str:
        label = self.stream.optional() if name == "hyperref" else None
        if name == "hyperref" and label is not None:
            return self.convert(self.stream.argument())
        reference = f"\ue003ref:{''.join(self.stream.argument())}\ue004"
        return f"({reference})" if name == "eqref" else reference

    def formula(self, tokens: Sequence[str], *, is_block: bool, environment: str = "", numbered: bool = False) -> str:
        """Return a formula as TeX; a label becomes its number."""
        source = join_tokens(tokens)
        if "\n" in source or "  " in source:
            source = " ".join(source.split())
        if numbered:
            rows = source.count("\\\\") + 1 - len(re.findall(r"\\(?:nonumber|notag)\b", source)) if environment else 1
            first = self.counts["equation"] + 1
            self.counts["equation"] += max(0, rows)
            for number, match in enumerate(_LABEL.finditer(source), first):
                self.labels[match[1].strip()] = str(number)
        source = _LABEL.sub(lambda match: f"\\tag{{{self.labels.get(match[1].strip(), '')}}}", source)
        source = _NO_TEXT.sub("", source).replace("\\tag{}", "").strip()
        if not source:
            return ""
        if environment:
            source = f"\\begin{{{environment}}}{source}\\end{{{environment}}}"
        return self.block(f"$${source}$$") if is_block else self.protect(f"${source}$")


def _mark(text: str, mark: str) -> str:
    core = text.strip()
    if not core or PARAGRAPH in core or core.startswith(mark) or BREAK in core:
        return text
    at = text.index(core)
    return f"{text[:at]}{mark}{core}{mark}{text[at + len(core) :]}"
