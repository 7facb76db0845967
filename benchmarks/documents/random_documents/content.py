"""Random content and layout of documents: paper, columns, fonts, lists, and tables of all kinds."""

from __future__ import annotations

import random
from collections.abc import Iterator

from benchmarks.documents.random_documents.model import Block, Cell, Document, Layout, Table
from benchmarks.documents.scans import SENTENCES

PRODUCERS = ("chromium", "typst", "reportlab", "word", "latex", "libreoffice")
_LATEX_LANGUAGES = ("deu", "eng", "fra", "por", "spa")
"""A small installation of LaTeX has no Cyrillic fonts."""
_PAPERS = ((595, 842), (612, 792), (420, 595), (612, 1008), (842, 595))
"""Points: A4, letter, A5, legal, A4 across."""
_RULES = ("grid", "rows", "booktabs", "frame", "shaded", "open", "none")
_SUM_SHARE = 0.6
"""Ratio of columns with numbers in a table with a row of sums."""
_LABELS = ("Total", "Q1", "Q2", "2023", "2024", "2025", "Plan", "%", "Min", "Max", "A", "B")


def random_documents(seed: int, count: int) -> Iterator[Document]:
    """Yield documents, the producers in turn."""
    for number in range(count):
        source = random.Random(f"{seed}/{number}")
        producer = PRODUCERS[number % len(PRODUCERS)]
        yield _Author(source, producer).write(f"{number:03}-{producer}", producer)


class _Author:
    """Writes one document in one language."""

    def __init__(self, source: random.Random, producer: str) -> None:
        self._source = source
        sentences = SENTENCES[source.choice(_LATEX_LANGUAGES if producer == "latex" else sorted(SENTENCES))]
        words = {word.strip(".,") for sentence in sentences for word in sentence.split()}
        self._words = sorted(word for word in words if word)

    def write(self, name: str, producer: str) -> Document:
        source = self._source
        layout = self._layout()
        blocks = [Block("heading", [self._phrase(2, 6)], 1)]
        numbered, section, part = source.random() < 0.3, 0, 0
        for _ in range(source.randint(6, 26)):
            kind = source.choices(
                ("heading", "paragraph", "bullets", "numbers", "table", "directory", "chart"),
                (4, 9, 2, 1, 4, 0.7, 0.4 if producer in ("chromium", "typst", "latex") else 0),
            )[0]
            if kind == "heading" and blocks[-1].kind != "heading":
                level = source.choice((2, 2, 3)) if section else 2
                section, part = (section + 1, 0) if level == 2 else (section, part + 1)
                number = (f"{section} " if level == 2 else f"{section}.{part} ") if numbered else ""
                blocks.append(Block("heading", [number + self._phrase(2, 6)], level))
            elif kind == "table":
                blocks.append(Block("table", table=self._table(layout)))
            elif kind in ("bullets", "numbers"):
                blocks.append(Block(kind, [self._phrase(2, 14) for _ in range(source.randint(2, 6))]))
            elif kind == "directory":
                size = source.randint(4, 9) * 2
                blocks.append(Block(kind, [self._phrase(1, 3) for _ in range(size)]))
            elif kind == "chart":
                blocks.append(Block(kind, [self._phrase(1, 2) for _ in range(source.randint(2, 4))]))
            blocks.append(Block("paragraph", [self._paragraph()]))
        return Document(name, producer, layout, blocks)

    def _layout(self) -> Layout:
        source = self._source
        width, height = source.choice(_PAPERS)
        most = 3 if width > 800 else 2 if width > 500 else 1
        size = source.choice((8, 9, 9.5, 10, 10.5, 11, 12))
        large = source.uniform(1.2, 1.6)
        return Layout(
            width, height, source.uniform(36, 80), min(most, source.choice((1, 1, 1, 2, 2, 3))), source.uniform(14, 26),
            source.choice(("serif", "serif", "serif", "sans", "sans", "sans", "mono")), size,
            source.uniform(1.15, 1.5), source.random() < 0.5,
            (source.uniform(1.6, 2.4), large, source.choice((1.0, (1 + large) / 2))),
            self._phrase(2, 4) if source.random() < 0.4 else "",
            source.choice(("", "Page", self._phrase(1, 3))),
        )  # fmt: skip

    def _table(self, layout: Layout) -> Table:
        source = self._source
        column_width = (layout.width - 2 * layout.margin) / layout.columns
        most = max(2, min(9, int(column_width / (layout.size * (9 if layout.family == "mono" else 6)))))
        width = source.randint(2, most)
        kinds = ["name", *(source.choice(("count", "money", "share", "word", "date", "gap")) for _ in range(width - 1))]
        wide: tuple[int, ...] = ()
        if width <= most - 2 and source.random() < 0.35:
            at = source.randrange(width)
            wide, kinds[at] = (at,), "text"
        rows = [[Cell(self._cell(kind, row == 0)) for kind in kinds] for row in range(source.randint(2, 14))]
        if source.random() < 0.2 and len(rows) > 3 and "text" not in kinds:
            rows = self._merge_first_column(rows)
        numbers = tuple(at for at, kind in enumerate(kinds) if kind in ("count", "money", "share", "gap"))
        upright = width > 3 and source.random() < 0.06
        head = [[Cell(self._header(kind)) for kind in kinds]]
        if width >= 4 and not upright and source.random() < 0.3:
            head = self._grouped_head(head[0])
        rules = source.choice(_RULES)
        if any(cell.down > 1 for row in (*head, *rows) for cell in row) and rules not in ("grid", "booktabs", "open"):
            rules = "grid"
        sums = rules == "open" and len(rows) > 3 and len(numbers) >= _SUM_SHARE * width and source.random() < 0.5
        sums = sums and all(cell.down == 1 for row in rows for cell in row)
        return Table(head, rows, rules, numbers if source.random() < 0.7 else (), wide, upright, sums)

    def _grouped_head(self, head: list[Cell]) -> list[list[Cell]]:
        """Return two header rows: groups over two or more columns, and their columns."""
        groups, left = [Cell(head[0].text, down=2)], len(head) - 1
        while left:
            size = left if left <= 3 else self._source.randint(2, left - 2)
            groups.append(Cell(self._phrase(1, 1), across=size))
            left -= size
        return [groups, head[1:]]

    def _merge_first_column(self, rows: list[list[Cell]]) -> list[list[Cell]]:
        """Return the rows with a first column whose cells span two or three rows."""
        merged: list[list[Cell]] = []
        while rows:
            size = min(len(rows), self._source.randint(2, 3))
            first, *others = rows[:size]
            merged += [[Cell(first[0].text, down=size), *first[1:]], *(row[1:] for row in others)]
            rows = rows[size:]
        return merged

    def _header(self, kind: str) -> str:
        if kind in ("name", "text", "word") or self._source.random() < 0.6:
            return self._phrase(1, 2)
        return self._source.choice(_LABELS)

    def _cell(self, kind: str, is_first: bool) -> str:
        source = self._source
        if kind == "gap" and source.random() < 0.3:
            return source.choice(("", "–", "n/a"))
        number = source.choice((source.randint(1, 99), source.randint(100, 9_999), source.randint(10_000, 9_999_999)))
        return {
            "name": lambda: self._phrase(1, 3),
            "count": lambda: f"{number:,}",
            "gap": lambda: f"{number:,}",
            "money": lambda: f"$ {number:,}" if is_first else f"{number:,}",
            "share": lambda: f"{source.uniform(-20, 100):.1f}%",
            "word": lambda: self._phrase(1, 2),
            "date": lambda: f"{source.randint(1, 28):02}.{source.randint(1, 12):02}.{source.randint(1990, 2030)}",
            "text": lambda: self._phrase(6, 16),
        }[kind]()  # fmt: skip

    def _phrase(self, least: int, most: int) -> str:
        text = " ".join(self._source.choice(self._words) for _ in range(self._source.randint(least, most)))
        return text[:1].upper() + text[1:]

    def _paragraph(self) -> str:
        return " ".join(f"{self._phrase(6, 16)}." for _ in range(self._source.randint(1, 6)))
