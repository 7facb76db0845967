"""What a stretch of RTF looks like, and which letters its bytes are."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

CHARSETS = {
    0: "cp1252", 77: "mac_roman", 128: "cp932", 129: "cp949", 134: "gb18030", 136: "big5", 161: "cp1253",
    162: "cp1254", 163: "cp1258", 177: "cp1255", 178: "cp1256", 186: "cp1257", 204: "cp1251", 222: "cp874",
    238: "cp1250",
}  # fmt: skip
"""By the numbers of fonts' `fcharset`."""

SIGNS = {
    "emdash": "—", "endash": "–", "lquote": "‘", "rquote": "’", "ldblquote": "“", "rdblquote": "”",
    "bullet": "•", "tab": " ", "emspace": " ", "enspace": " ", "qmspace": " ", "~": " ", "_": "-",
    "\\": "\\", "{": "{", "}": "}",
}  # fmt: skip


@dataclass(slots=True)
class RtfTextFormat:
    """How letters look and where they go; each group begins with its surrounding group's."""

    place: str = "text"
    """`text`, or what else the letters are for: `skip`, `fonts`, `styles`, `title`, `instruction`, ..."""
    encoding: str = "cp1252"
    fallback: int = 1
    """How many letters after one of Unicode stand for it where it is not known."""
    bold: bool = False
    italic: bool = False
    struck: bool = False
    hidden: bool = False
    mono: bool = False
    raised: str = ""
    # Of the paragraph:
    style: int = 0
    outline: int | None = None
    in_table: bool = False
    level: int = 0

    def plain(self) -> None:
        """Back to letters without any look."""
        self.bold = self.italic = self.struck = self.hidden = self.mono = False
        self.raised = ""

    def begin_paragraph(self) -> None:
        """Back to a paragraph without any properties."""
        self.style, self.outline, self.in_table, self.level = 0, None, False, 0


def _hide(look: RtfTextFormat, number: int | None) -> None:
    look.hidden = number != 0


def _strike(look: RtfTextFormat, number: int | None) -> None:
    look.struck = number != 0


def _embolden(look: RtfTextFormat, number: int | None) -> None:
    look.bold = number != 0


def _slant(look: RtfTextFormat, number: int | None) -> None:
    look.italic = number != 0


def _rank(look: RtfTextFormat, number: int | None) -> None:
    look.outline = number if number is not None and 0 <= number < 9 else None


def _deepen(look: RtfTextFormat, number: int | None) -> None:
    look.level = max(0, min(8, number or 0))


def _fall_back(look: RtfTextFormat, number: int | None) -> None:
    look.fallback = max(0, min(100, 1 if number is None else number))


def _name(look: RtfTextFormat, number: int | None) -> None:
    look.style = number or 0


def _raise_to(height: str) -> Callable[[RtfTextFormat, int | None], None]:
    def raised(look: RtfTextFormat, number: int | None) -> None:
        look.raised = height if number != 0 else ""

    return raised


def _put_in_table(look: RtfTextFormat, number: int | None) -> None:
    look.in_table = True


SETTINGS: Mapping[str, Callable[[RtfTextFormat, int | None], None]] = {
    "b": _embolden, "i": _slant, "strike": _strike, "striked": _strike, "v": _hide, "deleted": _hide,
    "super": _raise_to("sup"), "sub": _raise_to("sub"), "nosupersub": _raise_to(""), "s": _name,
    "outlinelevel": _rank, "ilvl": _deepen, "uc": _fall_back, "intbl": _put_in_table,
    "pard": lambda look, number: look.begin_paragraph(),
}  # fmt: skip
"""Words of control that change a look and nothing else."""


def dressed(text: str, look: RtfTextFormat) -> str:
    """A stretch of text in the elements that say how it looks."""
    if not text.strip():
        return text
    tags = [tag for tag, wanted in (("b", look.bold), ("i", look.italic), ("s", look.struck)) if wanted]
    tags += [look.raised] if look.raised else []
    return "".join(f"<{tag}>" for tag in tags) + text + "".join(f"</{tag}>" for tag in reversed(tags))
