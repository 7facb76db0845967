"""Write PDF files with Typst and reportlab in their environment: `document_writers.py FOLDER < documents.json`.

The input is a list of documents: `{"name", "typst"}` with Typst source, or `{"name", "document"}` with the fields of
`benchmarks.documents.random_documents.model.Document`. Each file is `FOLDER/NAME.pdf`.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

_FONT_FILES = "/usr/share/fonts/truetype/liberation/Liberation{}-{}.ttf"
_FAMILIES = {"serif": "Serif", "sans": "Sans", "mono": "Mono"}


def main() -> None:
    """Write all documents of the standard input."""
    folder = Path(sys.argv[1])
    for one in json.load(sys.stdin):
        path = folder / f"{one['name']}.pdf"
        if "typst" in one:
            import typst

            typst.compile(one["typst"].encode(), output=str(path), pdf_tags=one["tagged"])
        else:
            _write_with_reportlab(one["document"], path)


def _write_with_reportlab(document: dict[str, Any], path: Path) -> None:
    from reportlab.lib.styles import ParagraphStyle
    from reportlab.pdfbase import pdfmetrics
    from reportlab.pdfbase.ttfonts import TTFont
    from reportlab.platypus import BaseDocTemplate, Frame, PageTemplate

    layout = document["layout"]
    family = _FAMILIES[layout["family"]]
    for weight in ("Regular", "Bold"):
        pdfmetrics.registerFont(TTFont(f"{family}-{weight}", _FONT_FILES.format(family, weight)))
    size, margin = layout["size"], layout["margin"]
    body = ParagraphStyle(
        "body", fontName=f"{family}-Regular", fontSize=size, leading=size * layout["leading"], spaceAfter=6,
        alignment=4 if layout["justified"] else 0,
    )  # fmt: skip
    headings = [
        ParagraphStyle(
            f"h{level}", fontName=f"{family}-Bold", fontSize=size * ratio, leading=size * ratio * 1.2, spaceBefore=8,
            spaceAfter=5, keepWithNext=1,
        )
        for level, ratio in enumerate(layout["heading_sizes"], 1)
    ]  # fmt: skip

    def draw_margins(canvas: Any, template: Any) -> None:
        canvas.setFont(f"{family}-Regular", 8)
        if layout["header"]:
            canvas.drawString(margin, layout["height"] - margin * 0.6, layout["header"])
        if layout["footer"]:
            canvas.drawCentredString(layout["width"] / 2, margin * 0.5, f"{layout['footer']} {template.page}")

    columns, gap = layout["columns"], layout["gap"]
    width, height = layout["width"] - 2 * margin, layout["height"] - 2 * margin
    column = (width - gap * (columns - 1)) / columns
    top = size * layout["heading_sizes"][0] * 3

    def frames(height: float) -> list[Any]:
        return [
            Frame(margin + at * (column + gap), margin, column, height, 0, 0, 0, 0, id=f"c{at}")
            for at in range(columns)
        ]

    first = [Frame(margin, margin + height - top, width, top, 0, 0, 0, 0, id="title"), *frames(height - top)]
    template = BaseDocTemplate(str(path), pagesize=(layout["width"], layout["height"]))
    template.addPageTemplates(
        [
            PageTemplate("first", first, onPage=draw_margins, autoNextPageTemplate="later"),
            PageTemplate("later", frames(height), onPage=draw_margins),
        ]
    )
    template.build(_flowables(document["blocks"], body, headings, column))


def _flowables(blocks: list[dict[str, Any]], body: Any, headings: list[Any], width: float) -> list[Any]:
    from reportlab.platypus import BalancedColumns, FrameBreak, ListFlowable, Paragraph, Spacer

    story: list[Any] = []
    for block in blocks:
        kind, lines = block["kind"], block["lines"]
        if kind == "heading":
            story.append(Paragraph(lines[0], headings[block["level"] - 1]))
        elif kind in ("bullets", "numbers"):
            options = {"bulletType": "bullet", "start": "•"} if kind == "bullets" else {"bulletFormat": "%s."}
            items = [Paragraph(line, body) for line in lines]
            story.append(ListFlowable(items, bulletFontName=body.fontName, bulletFontSize=body.fontSize, **options))
        elif kind == "directory":
            story.append(BalancedColumns([Paragraph(line, body) for line in lines], nCols=2))
        elif kind == "table":
            story += [_table(block["table"], body, width), Spacer(1, 8)]
        else:
            story += [Paragraph(line, body) for line in lines]
        if len(story) == 1:
            story.append(FrameBreak())
    return story


def _table(table: dict[str, Any], body: Any, width: float) -> Any:
    from reportlab.lib.styles import ParagraphStyle
    from reportlab.platypus import Paragraph, Table, TableStyle

    rows = [*table["head"], *table["rows"]]
    columns = sum(cell["across"] for cell in table["head"][0])
    heads = len(table["head"])
    bold = body.fontName.replace("Regular", "Bold")
    style: list[Any] = [
        ("FONT", (0, 0), (-1, -1), body.fontName, body.fontSize, body.fontSize * 1.2),
        ("FONT", (0, 0), (-1, heads - 1), bold, body.fontSize, body.fontSize * 1.2),
        ("VALIGN", (0, 0), (-1, -1), "TOP"),
        *_rules(table["rules"], heads, -2 if table["sums"] else -1),
        *(("ALIGN", (at, heads), (at, -1), "RIGHT") for at in table["numbers"]),
    ]
    right, strong = (ParagraphStyle("cell", body, **change) for change in ({"alignment": 2}, {"fontName": bold}))
    left = ParagraphStyle("left", body, alignment=0)
    widths = _column_widths(table, body, width)
    grid: list[list[Any]] = [[""] * columns for _ in rows]
    taken: set[tuple[int, int]] = set()
    for y, row in enumerate(rows):
        x = 0
        for cell in row:
            while (y, x) in taken:
                x += 1
            cell_style = strong if y < heads else right if x in table["numbers"] else left
            grid[y][x] = Paragraph(cell["text"], cell_style) if widths or x in table["wide"] else cell["text"]
            taken |= {(y + dy, x + dx) for dy in range(cell["down"]) for dx in range(cell["across"])}
            if cell["across"] > 1 or cell["down"] > 1:
                style.append(("SPAN", (x, y), (x + cell["across"] - 1, y + cell["down"] - 1)))
            x += cell["across"]
    return Table(grid, colWidths=widths, style=TableStyle(style), repeatRows=heads, hAlign="LEFT")


def _column_widths(table: dict[str, Any], body: Any, width: float) -> list[float] | None:
    """Return widths that fill the column, or None if the table fits without."""
    from reportlab.pdfbase.pdfmetrics import stringWidth

    rows = [row for row in (*table["head"], *table["rows"]) if all(cell["across"] == 1 for cell in row)]
    full = [row for row in rows if len(row) == max(map(len, rows))]
    natural = [
        max(stringWidth(cell["text"], body.fontName, body.fontSize) for cell in column)
        for column in zip(*full, strict=True)
    ]
    natural = [12 + min(each, 0.4 * width) if at in table["wide"] else 14 + each for at, each in enumerate(natural)]
    is_known = len(natural) == sum(cell["across"] for cell in table["head"][0])
    if not is_known or (sum(natural) <= width and not table["wide"]):
        return None
    return [each * min(1.0, width / sum(natural)) for each in natural]


def _rules(rules: str, heads: int, last: int) -> list[Any]:
    black = "#000000"
    styles: dict[str, list[Any]] = {
        "grid": [("GRID", (0, 0), (-1, -1), 0.6, black)],
        "open": [("GRID", (0, heads), (-1, last), 0.6, black)],
        "rows": [("LINEBELOW", (0, 0), (-1, -1), 0.5, black)],
        "frame": [("BOX", (0, 0), (-1, -1), 0.7, black)],
        "booktabs": [
            ("LINEABOVE", (0, 0), (-1, 0), 1, black), ("LINEBELOW", (0, heads - 1), (-1, heads - 1), 0.5, black),
            ("LINEBELOW", (0, -1), (-1, -1), 1, black),
        ],
        "shaded": [("ROWBACKGROUNDS", (0, 0), (-1, -1), ["#e4e8f0", "#ffffff"])],
        "none": [],
    }  # fmt: skip
    return styles[rules]


if __name__ == "__main__":
    main()
