"""Layout model of a PDF page: text runs, drawn lines, rows, and the blocks built from them."""

import enum
import math
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

Span = tuple[float, float]
"""Start and end of an interval, in points."""


class TextRun(NamedTuple):
    """Text of one font on one line. Coordinates in points from the top left."""

    text: str
    x0: float
    y0: float
    x1: float
    y1: float
    size: float
    """Font size in points."""
    bold: bool = False
    mono: bool = False
    """True if the font is monospaced and the run may be code."""
    fixed_width: bool = False
    """True if the font is monospaced, for code and prose."""
    mark: int | None = None
    """Marked content ID, if the file is tagged."""
    block: int = -1
    """Index of the table that this run stands for while the page is put in reading order; -1 for text."""
    words: tuple[Span, ...] = ()
    """Left and right edge of each word, if they are known."""
    is_math: bool = False
    """True if the font is made for formulas."""

    @property
    def middle(self) -> float:
        """Vertical center."""
        return (self.y0 + self.y1) / 2


class RulingLine(NamedTuple):
    """A horizontal or vertical line at `at`, from `start` to `end` along the other axis, in points."""

    at: float
    start: float
    end: float


_Rules = tuple[RulingLine, ...]


class RulingLines(NamedTuple):
    """Drawn lines, each sorted by position."""

    across: _Rules = ()
    """Horizontal lines."""
    down: _Rules = ()
    """Vertical lines."""


class LayoutRow:
    """Runs on one line, left to right, with the edges of the row and the font size of its longest run."""

    __slots__ = ("runs", "size", "x0", "x1", "y0", "y1")

    def __init__(self, runs: tuple[TextRun, ...]) -> None:
        """Compute edges and size once: most rows have one run, and every step of the analysis needs them."""
        self.runs = runs
        _, self.x0, self.y0, self.x1, self.y1, self.size, *_ = runs[0]
        if len(runs) > 1:
            self.y0, self.y1 = min([run.y0 for run in runs]), max([run.y1 for run in runs])
            self.x1 = max([run.x1 for run in runs])
            self.size = max(runs, key=lambda run: len(run.text)).size

    @property
    def bold(self) -> bool:
        """True if all of it is bold."""
        return all(run.bold for run in self.runs if run.text.strip())

    @property
    def mono(self) -> bool:
        """True if all of its runs are `mono`."""
        return all(run.mono for run in self.runs)


class BlockKind(enum.Enum):
    """Type of a block."""

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
    """Heading level if known; nesting depth of an item."""
    label: str = ""
    """Number of an item; empty for a bullet."""


@dataclass(frozen=True, slots=True)
class TagNode:
    """Element of the author's structure tree, for one page."""

    kind: str
    marks: tuple[int, ...] = ()
    children: "tuple[TagNode, ...]" = ()
    column_span: int = 1
    row_span: int = 1
    text: str = ""
    """Replacement text for its characters."""


@dataclass(frozen=True, slots=True)
class LayoutPage:
    """Content of one page."""

    number: int
    height: float
    runs: tuple[TextRun, ...]
    lines: RulingLines
    tags: tuple[TagNode, ...] = ()
    rotated_runs: tuple[TextRun, ...] = ()
    """Runs that are rotated against the page. Each box is one font size wide, around the text's lower end."""


def rotate_page(page: LayoutPage, angle: int, width: float) -> LayoutPage:
    """Return a page of this width rotated so that text turned by 90, 180 or 270 degrees is upright."""
    height = page.height

    def box(x0: float, y0: float, x1: float, y1: float) -> tuple[float, float, float, float]:
        if angle == 90:
            return y0, width - x1, y1, width - x0
        if angle == 270:
            return height - y1, x0, height - y0, x1
        return width - x1, height - y1, width - x0, height - y0

    runs = []
    for run in page.runs:
        x0, y0, x1, y1 = box(run.x0, run.y0, run.x1, run.y1)
        runs.append(run._replace(x0=x0, y0=y0, x1=x1, y1=y1))
    ends = [box(rule.start, rule.at, rule.end, rule.at) for rule in page.lines.across]
    ends += [box(rule.at, rule.start, rule.at, rule.end) for rule in page.lines.down]
    across = sorted({RulingLine(y0, x0, x1) for x0, y0, x1, y1 in ends if y1 - y0 < x1 - x0})
    down = sorted({RulingLine(x0, y0, y1) for x0, y0, x1, y1 in ends if y1 - y0 >= x1 - x0})
    lines = RulingLines(tuple(across), tuple(down))
    return replace(page, height=width if angle % 180 else height, runs=tuple(runs), lines=lines)


_MAX_LINES = 4_000
"""Lines and shapes. A page with more of them is a map or a drawing without tables."""
_MAX_LINE_WIDTH = 2.5
"""Points. A filled box that is no thicker is a line."""


def find_lines(drawing: Any) -> RulingLines:
    """Return horizontal and vertical lines; nothing if the page has more than `_MAX_LINES` shapes and lines."""
    shapes, strokes = (drawing.shapes, drawing.lines) if drawing is not None else ([], [])
    if len(shapes) + len(strokes) > _MAX_LINES:
        return RulingLines()
    found = [(*sorted((line.x1, line.x2)), *sorted((line.y1, line.y2))) for line in strokes]
    boxes = (shape.bbox for shape in shapes if shape.stroke or shape.fill)
    found += ((box.x, box.x + box.width, box.y, box.y + box.height) for box in boxes)
    across, down = set[RulingLine](), set[RulingLine]()
    for x0, x1, y0, y1 in found:
        if not all(map(math.isfinite, (x0, x1, y0, y1))):
            continue
        if y1 - y0 <= _MAX_LINE_WIDTH < x1 - x0:
            across.add(RulingLine((y0 + y1) / 2, x0, x1))
        elif x1 - x0 <= _MAX_LINE_WIDTH < y1 - y0:
            down.add(RulingLine((x0 + x1) / 2, y0, y1))
    return RulingLines(tuple(sorted(across)), tuple(sorted(down)))
