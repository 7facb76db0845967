"""LaTeX reader: text, headings, lists, tables, formulas, notes and references as Markdown.

Macros of the file are expanded. Other files to which it refers are not part of it, which a warning says.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from scraper.errors import NoContentError
from scraper.extract.documents.latex.converter import LatexConverter
from scraper.extract.documents.latex.handlers import HANDLERS
from scraper.extract.documents.latex.tokens import command_name, tokenize
from scraper.extract.documents.model import ParsedDocument, ParseRequest
from scraper.extract.documents.text_decoding import decode_text
from scraper.extract.markdown.plain_text import strip_markdown

MAX_SOURCE_CHARACTERS = 1_500_000
"""Characters of a file. A million take up to three seconds of CPU time on a slow machine; a process may use ten."""
_SOURCE_WARNING = f"Only the first {MAX_SOURCE_CHARACTERS:,} characters of the file are read."
_MAX_FILES = 10
"""Missing files that the warning names."""
_MARK = re.compile(r"\[\^\d+\]|<sup>[^<]*</sup>|\*+")
"""Numbers of notes and institutes, and emphasis."""


def read(data: bytes, request: ParseRequest) -> ParsedDocument:
    """Return the text of a LaTeX file.

    Raises:
        NoContentError: There is no text.
    """
    source, warnings = decode_text(data, request)
    if len(source) > MAX_SOURCE_CHARACTERS:
        source, warnings = source[:MAX_SOURCE_CHARACTERS], (_SOURCE_WARNING,)
    tokens = tokenize(source)
    converter = LatexConverter(HANDLERS)
    start = _find_body(tokens)
    converter.in_preamble = True
    converter.convert(tokens[:start])
    converter.in_preamble = False
    body = converter.convert(tokens[start:])
    body = "".join(map(converter.block, converter.front)) + body  # A file without \maketitle.
    markdown = converter.finish(converter.format_blocks(body))
    if not markdown.strip():
        raise NoContentError("The LaTeX file contains no text.", next_step="There is nothing to read in it.")
    if converter.missing_files:
        names = list(converter.missing_files)
        listed = ", ".join(names[:_MAX_FILES]) + (", ..." if len(names) > _MAX_FILES else "")
        warnings = (*warnings, f"The text of other files, to which this one refers, is missing: {listed}.")
    if converter.has_drawings:
        warnings = (*warnings, "Drawings and their labels (TikZ, pgfplots) are left out.")
    authors = ", ".join(filter(None, map(_plain, converter.authors)))
    return ParsedDocument("latex", markdown, title=_plain(converter.title), author=authors, warnings=warnings)


def _find_body(tokens: Sequence[str]) -> int:
    """Return the index of the first token of the document; 0 if the file is a part of one, which may show examples."""
    depth = 0
    for at, piece in enumerate(tokens):
        name = command_name(piece)
        if name == "begin" and depth == 0 and tokens[at + 1 : at + 4] == ["{", "document", "}"]:
            return at + 4
        depth += (name == "begin") - (name == "end")
    return 0


def _plain(text: str) -> str:
    return " ".join(strip_markdown(_MARK.sub("", text)).split())
