"""Documents of random content and layout, with their gold Markdown."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of a table."""

    text: str
    across: int = 1
    """Columns."""
    down: int = 1
    """Rows."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table; cells that a spanning cell covers are missing, as in HTML."""

    head: list[list[Cell]]
    rows: list[list[Cell]]
    rules: str
    """grid, rows, booktabs, frame, shaded, open (a grid around the body only) or none."""
    numbers: tuple[int, ...] = ()
    """Columns that are aligned right."""
    wide: tuple[int, ...] = ()
    """Columns of long text."""
    upright: bool = False
    """True if the headers are rotated."""
    sums: bool = False
    """True if the last row is below the grid of an open table."""

    @property
    def width(self) -> int:
        """Number of columns."""
        return sum(cell.across for cell in self.head[0])

    def grid(self) -> list[list[str]]:
        """Return the texts by row and column; a spanning text is in its first position."""
        taken: set[tuple[int, int]] = set()
        grid: list[list[str]] = []
        for y, row in enumerate((*self.head, *self.rows)):
            line = [""] * self.width
            x = 0
            for cell in row:
                while (y, x) in taken:
                    x += 1
                line[x] = cell.text
                taken |= {(y + dy, x + dx) for dy in range(cell.down) for dx in range(cell.across)}
                x += cell.across
            grid.append(line)
        return grid


@dataclass(frozen=True, slots=True)
class Block:
    """One element of a document."""

    kind: str
    """heading, paragraph, bullets, numbers, table, directory (two columns of short lines) or chart."""
    lines: list[str] = field(default_factory=list)
    """Text, items, or labels of a chart's legend."""
    level: int = 1
    table: Table | None = None


@dataclass(frozen=True, slots=True)
class Layout:
    """Appearance of the pages."""

    width: float
    """Points."""
    height: float
    margin: float
    columns: int
    gap: float
    """Points between columns."""
    family: str
    """serif, sans or mono."""
    size: float
    """Points."""
    leading: float
    """Multiple of the size."""
    justified: bool
    heading_sizes: tuple[float, float, float]
    """Multiples of the size; 1 stands for bold text."""
    header: str
    footer: str
    """Text before the page number; empty for none."""


@dataclass(frozen=True, slots=True)
class Document:
    """A document."""

    name: str
    producer: str
    layout: Layout
    blocks: list[Block]

    def gold(self) -> str:
        """Return the Markdown that a perfect reader writes."""
        return "\n\n".join(map(_gold, self.blocks))


def _gold(block: Block) -> str:
    if block.kind == "heading":
        return f"{'#' * block.level} {block.lines[0]}"
    if block.kind == "bullets":
        return "\n".join(f"- {line}" for line in block.lines)
    if block.kind == "numbers":
        return "\n".join(f"{number}. {line}" for number, line in enumerate(block.lines, 1))
    if block.table is not None:
        first, *others = block.table.grid()
        rows = [first, ["---"] * len(first), *others]
        return "\n".join(f"| {' | '.join(row)} |" for row in rows)
    return "\n\n".join(block.lines)
