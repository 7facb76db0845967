"""Convert the table environments of LaTeX."""

from __future__ import annotations

from collections.abc import Sequence

from scraper.extract.documents.latex import commands
from scraper.extract.documents.latex.converter import LatexConverter
from scraper.extract.documents.latex.tokens import PARAGRAPH, TokenStream, command_name, split_tokens
from scraper.extract.documents.tables import pipe_table

_MAX_COLUMNS = 500


def convert_table(converter: LatexConverter, name: str) -> str:
    """Return the table of an environment, and its caption; merged cells are repeated."""
    stream = converter.stream
    while stream.optional() is not None:
        pass
    for _ in range(commands.TABLES[name]):
        stream.argument()
        stream.optional()
    rows: list[list[str]] = []
    whole: set[int] = set()
    below: dict[int, tuple[int, str]] = {}
    captions = ""
    has_first_header = False
    with converter.inside_float(commands.FLOATS.get(name, "")):
        for tokens in split_tokens(stream.environment(), ("\\\\", "\\tabularnewline", "\\cr")):
            tokens, rules = _strip_rules(tokens, converter)
            if ("endhead" in rules and has_first_header) or "endfoot" in rules:
                rows = rows[:1] if has_first_header else rows[:-1]
            has_first_header |= "endfirsthead" in rules
            if any(command_name(piece) == "caption" for piece in tokens):
                captions += converter.convert(tokens)
            elif any(not piece.isspace() for piece in tokens):
                row, spans = _convert_row(converter, tokens, below)
                if len(spans) == 1 and spans[0] > 1:
                    whole.add(len(rows))
                rows.append(row)
    width = max(map(len, rows), default=0)
    rows = [row[:1] if at in whole and len(row) == width else row for at, row in enumerate(rows)]
    rows = [row for row in rows if any(row)]
    return f"{captions}{converter.block(pipe_table(rows)) if rows else PARAGRAPH}"


def _strip_rules(tokens: Sequence[str], converter: LatexConverter) -> tuple[list[str], set[str]]:
    """Return a row without the lines above it and the space below the row before; and the names of these commands."""
    stream = TokenStream(tokens, converter.macros)
    rules = set[str]()
    stream.optional()
    while True:
        stream.skip_space()
        piece = stream.raw()
        name = command_name(piece or "")
        if name not in commands.RULES:
            stream.push([piece] if piece is not None else [])
            return stream.rest(), rules
        rules.add(name)
        while stream.optional() is not None:
            pass
        if name == "cmidrule" and (trim := stream.raw()) and not trim.startswith("("):
            stream.push([trim])
        for _ in range(commands.DROPPED.get(name, 0)):
            stream.argument()


def _convert_row(
    converter: LatexConverter, tokens: Sequence[str], below: dict[int, tuple[int, str]]
) -> tuple[list[str], list[int]]:
    """Return the cells of a row, and their numbers of columns.

    `below` has the number of rows and the text of merged cells above by column; it is updated.
    """
    row: list[str] = []
    spans = []
    for cell in split_tokens(tokens, ("&",)):
        converter.cell_columns = converter.cell_rows = 1
        text = converter.format_blocks(converter.convert(cell)).replace("  \n", "\n")
        columns, rows = min(converter.cell_columns, _MAX_COLUMNS - len(row)), converter.cell_rows
        for column in range(len(row), len(row) + max(1, columns)):
            count, above = below.pop(column, (0, ""))
            if count and not text:
                row.append(above)
                if count > 1:
                    below[column] = (count - 1, above)
                continue
            row.append(text)
            if rows > 1:
                below[column] = (rows - 1, text)
        spans.append(max(1, columns))
    return row, spans
