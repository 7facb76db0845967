"""The nouns of a page: runs of letters, drawn lines, rows, and the blocks that are made of them."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import NamedTuple


class TextRun(NamedTuple):
    """Letters of one font on one line. Points, origin at the top left."""

    text: str
    x0: float
    y0: float
    x1: float
    y1: float
    size: float
    bold: bool = False
    mono: bool = False
    mark: int | None = None
    """Marked content it belongs to, where the file is tagged."""
    block: int = -1
    """The table that rides through the ordering as one run; -1 for letters."""

    @property
    def middle(self) -> float:
        """Half way between top and bottom."""
        return (self.y0 + self.y1) / 2


class RuledLine(NamedTuple):
    """A drawn straight line: at `at`, from `start` to `end` along the other axis."""

    at: float
    start: float
    end: float


@dataclass(frozen=True, slots=True)
class LayoutRow:
    """Runs that share a line, left to right."""

    runs: tuple[TextRun, ...]

    @property
    def x0(self) -> float:
        """Left end."""
        return self.runs[0].x0

    @property
    def x1(self) -> float:
        """Right end."""
        return max(run.x1 for run in self.runs)

    @property
    def y0(self) -> float:
        """Top."""
        return min(run.y0 for run in self.runs)

    @property
    def y1(self) -> float:
        """Bottom."""
        return max(run.y1 for run in self.runs)

    @property
    def size(self) -> float:
        """Of most of its letters."""
        return max(self.runs, key=lambda run: len(run.text)).size

    @property
    def bold(self) -> bool:
        """Whether all of it is."""
        return all(run.bold for run in self.runs if run.text.strip())

    @property
    def mono(self) -> bool:
        """Whether all of it is set in letters of one width."""
        return all(run.mono for run in self.runs)


class BlockKind(enum.Enum):
    """What a block is."""

    TEXT = "text"
    HEADING = "heading"
    ITEM = "item"
    CODE = "code"
    TABLE = "table"


@dataclass(frozen=True, slots=True)
class LayoutBlock:
    """Lines that belong together, or a table."""

    kind: BlockKind
    lines: tuple[str, ...] = ()
    table: tuple[tuple[str, ...], ...] = ()
    size: float = 0.0
    bold: bool = False
    level: int = 0
    """Of a heading whose level is known; of an item, how deep it stands."""
    label: str = ""
    """The number of an item; empty for a bullet."""
    indent: float = 0.0
    headed: bool = True


@dataclass(frozen=True, slots=True)
class TagNode:
    """An element of the structure that the file's author gave, for one page."""

    kind: str
    marks: tuple[int, ...] = ()
    children: tuple[TagNode, ...] = ()
    column_span: int = 1
    row_span: int = 1
    text: str = ""
    """What it says in place of its letters."""


@dataclass(frozen=True, slots=True)
class LayoutPage:
    """What stands on one page."""

    number: int
    width: float
    height: float
    runs: tuple[TextRun, ...]
    across: tuple[RuledLine, ...] = ()
    """Horizontal lines."""
    down: tuple[RuledLine, ...] = ()
    """Vertical lines."""
    tags: tuple[TagNode, ...] = ()
    box_across: tuple[RuledLine, ...] = ()
    """Upper and lower edges of boxes: frames, and the shading of cells."""
    box_down: tuple[RuledLine, ...] = ()
    sideways: tuple[TextRun, ...] = ()
    """Letters that are turned against the page's: their boxes end where they stand."""
