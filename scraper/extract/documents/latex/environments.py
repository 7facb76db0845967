"""Convert the environments of LaTeX."""

from __future__ import annotations

import re
from collections.abc import Sequence

from scraper.extract.documents.latex import commands
from scraper.extract.documents.latex.converter import LatexConverter
from scraper.extract.documents.latex.tables import convert_table
from scraper.extract.documents.latex.tokens import PARAGRAPH, Macros, TokenStream, split_tokens

_LENGTH = re.compile(r"[-+]?[\d.]*\s*(?:\\\w+|pt|cm|mm|in|em|ex|\d)\s*")
_OVERLAY = re.compile(r"<[\d,+.|\-]*>")


def convert_environment(converter: LatexConverter) -> str:
    """Return the content of an environment; its name is the next argument."""
    stream = converter.stream
    name = "".join(stream.argument()).strip()
    if defined := converter.macros.environments.get(name):
        stream.expand(defined[0])
        return ""
    plain = name.rstrip("*")
    if name in commands.TABLES or plain in commands.TABLES:
        return convert_table(converter, name if name in commands.TABLES else plain)
    tokens = stream.environment()
    if plain in commands.SINGLE_FORMULAS or plain in commands.ALIGNED_FORMULAS:
        if plain in ("alignat", "xalignat", "IEEEeqnarray"):
            tokens = strip_arguments(tokens, 1, converter.macros)
        form = commands.ALIGNED_FORMULAS.get(plain, "")
        numbered = plain == name and plain not in ("displaymath", "math")
        if plain == "subequations":
            return converter.convert(tokens)
        return converter.formula(tokens, is_block=plain != "math", environment=form, numbered=numbered)
    if plain in commands.DRAWINGS:
        converter.has_drawings = True
        return PARAGRAPH
    if plain in commands.LISTS:
        tokens = strip_arguments(tokens, commands.ENVIRONMENT_ARGUMENTS.get(name, 0), converter.macros)
        return _list(converter, tokens, plain)
    return _text_environment(converter, name, plain, tokens)


def _text_environment(converter: LatexConverter, name: str, plain: str, tokens: Sequence[str]) -> str:
    if plain == "thebibliography":
        return _bibliography(converter, tokens)
    if plain in converter.theorems:
        return _theorem(converter, plain, tokens)
    tokens = strip_arguments(tokens, commands.ENVIRONMENT_ARGUMENTS.get(name, 0), converter.macros)
    if plain in commands.FLOATS:
        with converter.inside_float(commands.FLOATS[plain]):
            return f"{PARAGRAPH}{converter.convert(tokens)}{PARAGRAPH}"
    if plain == "frame" and tokens[:1] == ["{"]:
        stream = TokenStream(tokens, converter.macros)
        title = converter.line(stream.argument())
        return converter.block(f"### {title}") + converter.convert(stream.rest()) + PARAGRAPH
    if plain.endswith("block") and tokens[:1] == ["{"]:
        stream = TokenStream(tokens, converter.macros)
        title = converter.line(stream.argument())
        return converter.block(f"**{title}**") + converter.convert(stream.rest()) + PARAGRAPH
    text = converter.convert(tokens)
    if plain == "abstract" and text.strip():
        return f"{converter.block('## Abstract')}{text}{PARAGRAPH}"
    if plain in commands.QUOTES:
        return converter.block("\n".join(f"> {line}".rstrip() for line in converter.format_blocks(text).split("\n")))
    return f"{PARAGRAPH}{text}{PARAGRAPH}"


def _list(converter: LatexConverter, tokens: Sequence[str], name: str) -> str:
    mark = commands.LISTS[name]
    before, *items = split_tokens(tokens, ("\\item", "\\task", "\\question"))
    lines = []
    outer = converter.current
    for number, item in enumerate(items, 1):
        stream = TokenStream(item, converter.macros)
        label = stream.optional()
        converter.current = str(number)
        text = converter.format_blocks(_OVERLAY.sub("", converter.convert(stream.rest()), count=1))
        if label is not None and (name := converter.line(label)):
            text = f"**{name}** {text}" if mark == "" and "**" not in name else f"{name} {text}"
        start = f"{number}. " if mark == "1" and label is None else "- "
        lines.append(start + text.replace("\n", "\n" + " " * len(start)))
    converter.current = outer
    return f"{PARAGRAPH}{converter.convert(before)}{converter.block(chr(10).join(map(_trim_lines, lines)))}"


def _bibliography(converter: LatexConverter, tokens: Sequence[str]) -> str:
    _, *items = split_tokens(strip_arguments(tokens, 1, converter.macros), ("\\bibitem",))
    entries = []
    for number, item in enumerate(items, 1):
        stream = TokenStream(item, converter.macros)
        stream.optional()
        converter.citations["".join(stream.argument()).strip()] = str(number)
        entries.append(f"[{number}] {converter.line(stream.rest())}")
    return converter.block("\n\n".join(("## References", *entries)) if entries else "")


def _theorem(converter: LatexConverter, name: str, tokens: Sequence[str]) -> str:
    stream = TokenStream(tokens, converter.macros)
    note = stream.optional()
    title = converter.theorems[name]
    if name != "proof":
        converter.counts[name] += 1
        converter.current = str(converter.counts[name])
        title = f"{title} {converter.current}"
    title += f" ({converter.line(note)})" if note else ""
    return f"{PARAGRAPH}**{title}.** {converter.convert(stream.rest())}{PARAGRAPH}"


def strip_arguments(tokens: Sequence[str], count: int, macros: Macros) -> list[str]:
    """Return the content of an environment without its options, its arguments, and a length in front of it."""
    stream = TokenStream(tokens, macros)
    while stream.optional() is not None:
        pass
    for _ in range(count):
        stream.argument()
        stream.optional()
    if not count and stream.next_is("{", after_space=False):
        first = stream.argument()
        if not _LENGTH.fullmatch("".join(first)):
            stream.push(["{", *first, "}"])
    return stream.rest()


def _trim_lines(text: str) -> str:
    return "\n".join(line if line.strip() else "" for line in text.split("\n"))
