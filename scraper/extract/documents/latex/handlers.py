"""Convert the LaTeX commands that read arguments or change the state of the document."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from scraper.extract.documents.latex import commands
from scraper.extract.documents.latex.converter import BREAK, Handler, LatexConverter
from scraper.extract.documents.latex.environments import convert_environment
from scraper.extract.documents.latex.tokens import PARAGRAPH, TokenStream, command_name


def _footnote(converter: LatexConverter, is_starred: bool) -> str:
    converter.stream.optional()
    converter.notes.append("")
    number = len(converter.notes)
    converter.notes[number - 1] = converter.line(converter.stream.argument())
    return converter.protect(f"[^{number}]")


def _caption(converter: LatexConverter, is_starred: bool) -> str:
    stream = converter.stream
    kind = converter.float_kind
    if stream.next_is("{") is False and stream.optional() is None:
        return ""
    text = converter.line(stream.argument())
    if kind and not is_starred:
        converter.counts[kind] += 1
        converter.current = str(converter.counts[kind])
        text = f"{kind} {converter.current}: {text}"
    return converter.block(text)


def _newtheorem(converter: LatexConverter, is_starred: bool) -> str:
    name = "".join(converter.stream.argument()).strip()
    converter.stream.optional()
    converter.theorems[name] = converter.line(converter.stream.argument())
    converter.stream.optional()
    return ""


def _label(converter: LatexConverter, is_starred: bool) -> str:
    converter.labels["".join(converter.stream.argument()).strip()] = converter.current
    return ""


def _link(converter: LatexConverter, is_starred: bool) -> str:
    converter.stream.optional()
    url = _url(converter.stream.argument())
    text = converter.line(converter.stream.argument())
    is_web = re.fullmatch(r"(?:https?|mailto|ftp):[^\s()<>]+", url)
    return converter.protect(f"[{text}]({url})" if is_web and text and text != url else text or url)


def _address(converter: LatexConverter, is_starred: bool) -> str:
    converter.stream.optional()
    return converter.protect(_url(converter.stream.argument()))


def _code(converter: LatexConverter, is_starred: bool) -> str:
    text = converter.line(converter.stream.argument()).replace("\\*", "*")
    return converter.protect(f"`{text}`" if text and not re.search("[`\ue003]", text) else text)


def _break(converter: LatexConverter, is_starred: bool) -> str:
    converter.stream.optional()
    return BREAK


def _end(converter: LatexConverter, is_starred: bool) -> str:
    name = "".join(converter.stream.argument()).strip()
    if defined := converter.macros.environments.get(name):
        converter.stream.push(defined[1])
    elif name == "document":
        converter.stream = TokenStream((), converter.macros)
    return ""


def _multicolumn(converter: LatexConverter, is_starred: bool) -> str:
    count = "".join(converter.stream.argument()).strip()
    converter.stream.argument()
    converter.cell_columns = max(1, int(count)) if count.isdecimal() and len(count) < 3 else 1
    return converter.convert(converter.stream.argument())


def _multirow(converter: LatexConverter, is_starred: bool) -> str:
    converter.stream.optional()
    count = "".join(converter.stream.argument()).strip().lstrip("-")
    converter.stream.optional()
    converter.stream.argument()
    converter.stream.optional()
    converter.cell_rows = max(1, int(count)) if count.isdecimal() and len(count) < 4 else 1
    return converter.convert(converter.stream.argument())


def _quantity(converter: LatexConverter, is_starred: bool) -> str:
    converter.stream.optional()
    number, unit = converter.line(converter.stream.argument()), _unit(converter, True)
    return f"{number} {unit}"


def _unit(converter: LatexConverter, is_starred: bool) -> str:
    converter.stream.optional()
    names = (commands.UNITS.get(command_name(piece), piece) for piece in converter.stream.argument())
    return "".join(name for name in names if name != " ").replace("~", " ").replace("{", "").replace("}", "")


def _skip_false(converter: LatexConverter, is_starred: bool) -> str:
    converter.stream.skip_conditional(commands.CONDITIONALS)
    return ""


def _item(converter: LatexConverter, is_starred: bool) -> str:
    label = converter.stream.optional()
    return f"{PARAGRAPH}\u2022 {converter.line(label) if label else ''} "


def _picture(converter: LatexConverter, is_starred: bool) -> str:
    while converter.stream.optional() is not None:
        pass
    converter.stream.argument()
    return ""


def _raised(converter: LatexConverter, is_starred: bool) -> str:
    return converter.protect(f"<sup>{text}</sup>") if (text := converter.line(converter.stream.argument())) else ""


def _ensure_math(converter: LatexConverter, is_starred: bool) -> str:
    return converter.formula(converter.stream.argument(), is_block=False)


def _url(tokens: Sequence[str]) -> str:
    return "".join("~" if piece == "~" else piece.strip().removeprefix("\\") for piece in tokens)


HANDLERS: Mapping[str, Handler] = {
    "begin": lambda converter, _: convert_environment(converter),
    "end": _end, "footnote": _footnote, "thanks": _footnote,
    "footnotetext": _footnote, "caption": _caption, "newtheorem": _newtheorem,
    "label": _label, "href": _link, "url": _address, "nolinkurl": _address,
    "path": _address, "texttt": _code, "code": _code, "\\": _break,
    "newline": _break, "linebreak": _break, "tabularnewline": _break,
    "par": lambda converter, _: PARAGRAPH, "and": lambda converter, _: ", ", "And": lambda converter, _: ", ",
    "AND": lambda converter, _: ", ", "multicolumn": _multicolumn, "multirow": _multirow,
    "SI": _quantity, "qty": _quantity, "si": _unit, "unit": _unit,
    "iffalse": _skip_false, "item": _item, "includegraphics": _picture,
    "textsuperscript": _raised,
    "inst": _raised, "affilmark": _raised, "orcidlink": _picture, "ensuremath": _ensure_math,
}  # fmt: skip
"""Methods that read the arguments of a command."""
