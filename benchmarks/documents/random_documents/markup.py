"""Write documents as HTML, which Chromium prints, and as Typst source."""

from __future__ import annotations

import html
import json

from benchmarks.documents.random_documents.model import Block, Cell, Document, Table

_FONTS = {"serif": "Liberation Serif", "sans": "Liberation Sans", "mono": "Liberation Mono"}
_BARS = (70, 45, 60, 25)
_COLORS = ("#4472c4", "#ed7d31", "#a5a5a5", "#ffc000")


def write_html(document: Document) -> str:
    """Return the HTML page that prints as the document."""
    layout = document.layout
    footer = f'@bottom-center {{ content: "{layout.footer} " counter(page); }}' if layout.footer else ""
    header = f'@top-left {{ content: "{layout.header}"; }}' if layout.header else ""
    first, second, third = (layout.size * size for size in layout.heading_sizes)
    style = f"""
        @page {{ size: {layout.width}pt {layout.height}pt; margin: {layout.margin}pt; {header} {footer} }}
        body {{ font: {layout.size}pt/{layout.leading} "{_FONTS[layout.family]}"; margin: 0; columns: {layout.columns};
          column-gap: {layout.gap}pt; column-fill: auto; text-align: {"justify" if layout.justified else "left"} }}
        h1 {{ font-size: {first}pt; column-span: all }} h2 {{ font-size: {second}pt }} h3 {{ font-size: {third}pt }}
        h1, h2, h3 {{ line-height: 1.2; text-align: left; break-after: avoid }}
        table {{ border-collapse: collapse; text-align: left; margin: 8pt 0 }} th, td {{ padding: 2.5pt 5pt }}
        .grid th, .grid td, table.frame {{ border: .7pt solid black }} .rows tr {{ border-bottom: .5pt solid #888 }}
        table.booktabs {{ border-top: 1pt solid; border-bottom: 1pt solid }}
        .booktabs thead {{ border-bottom: .5pt solid }}
        .open td {{ border: .7pt solid black }} .open .sums td {{ border: none }}
        .shaded tr:nth-child(even) td, .shaded th {{ background: #e4e8f0 }} .right {{ text-align: right }}
        .upright th {{ writing-mode: vertical-rl; transform: rotate(180deg) }}
        .two {{ columns: 2 }} .two p {{ margin: 0 }}
    """
    body = "\n".join(_html_block(block) for block in document.blocks)
    return f'<!DOCTYPE html><html><head><meta charset="utf-8"><style>{style}</style></head><body>{body}</body></html>'


def _html_block(block: Block) -> str:
    lines = [html.escape(line) for line in block.lines]
    if block.kind == "heading":
        return f"<h{block.level}>{lines[0]}</h{block.level}>"
    if block.kind in ("bullets", "numbers"):
        name = "ul" if block.kind == "bullets" else "ol"
        return f"<{name}>{''.join(f'<li>{line}</li>' for line in lines)}</{name}>"
    if block.kind == "directory":
        return f'<div class="two">{"".join(f"<p>{line}</p>" for line in lines)}</div>'
    if block.kind == "chart":
        return _svg_chart(lines)
    if block.table is not None:
        return _html_table(block.table)
    return "".join(f"<p>{line}</p>" for line in lines)


def _svg_chart(labels: list[str]) -> str:
    shapes = ""
    for at, (label, bar, color) in enumerate(zip(labels, _BARS, _COLORS, strict=False)):
        shapes += f'<rect x="{10 + at * 25}" y="{80 - bar}" width="18" height="{bar}" fill="{color}"/>'
        shapes += f'<rect x="125" y="{12 + at * 18}" width="8" height="8" fill="{color}"/>'
        shapes += f'<text x="138" y="{20 + at * 18}" font-size="8">{label}</text>'
    return f'<p><svg width="220" height="90">{shapes}</svg></p>'


def _html_table(table: Table) -> str:
    def row(cells: list[Cell], tag: str, covered: set[int], name: str = "") -> str:
        written, x = "", 0
        for cell in cells:
            while x in covered:
                x += 1
            align = ' class="right"' if x in table.numbers and tag == "td" else ""
            spans = f' colspan="{cell.across}" rowspan="{cell.down}"'
            written += f"<{tag}{spans}{align}>{html.escape(cell.text)}</{tag}>"
            x += cell.across
        return f'<tr class="{name}">{written}</tr>'

    head = "".join(row(cells, "th", set()) for cells in table.head)
    sums = table.rows[-1] if table.sums else None
    body = "".join(
        row(cells, "td", {0} if len(cells) < table.width else set(), "sums" if cells is sums else "")
        for cells in table.rows
    )
    upright = " upright" if table.upright else ""
    return f'<table class="{table.rules}{upright}"><thead>{head}</thead><tbody>{body}</tbody></table>'


def write_typst(document: Document) -> str:
    """Return the Typst source of the document."""
    layout = document.layout
    header = f"[{_typst(layout.header)}]" if layout.header else "none"
    footer = f"context [{_typst(layout.footer)} #counter(page).display()]" if layout.footer else "none"
    sizes = "\n".join(
        f"#show heading.where(level: {level}): set text(size: {size * layout.size}pt)"
        for level, size in enumerate(layout.heading_sizes, 1)
    )
    spacing = (layout.leading - 0.7) * layout.size
    title, *others = document.blocks
    top = _typst_block(title)
    if layout.columns > 1:
        top = f'#place(top, scope: "parent", float: true, [{top}])'
    return f"""
        #set page(width: {layout.width}pt, height: {layout.height}pt, margin: {layout.margin}pt,
          columns: {layout.columns}, header: {header}, footer: {footer})
        #set columns(gutter: {layout.gap}pt)
        #set text(font: "{_FONTS[layout.family]}", size: {layout.size}pt)
        #set par(justify: {str(layout.justified).lower()}, leading: {spacing}pt, spacing: {spacing + 6}pt)
        {sizes}
        {top}
    """ + "\n\n".join(_typst_block(block) for block in others)


def _typst(text: str) -> str:
    return f"#{json.dumps(text, ensure_ascii=False)}"


def _typst_block(block: Block) -> str:
    lines = [f"[{_typst(line)}]" for line in block.lines]
    if block.kind == "heading":
        return f"#heading(level: {block.level}){lines[0]}"
    if block.kind in ("bullets", "numbers"):
        return f"#{'list' if block.kind == 'bullets' else 'enum'}({', '.join(lines)})"
    if block.kind == "directory":
        half = (len(lines) + 1) // 2
        columns = (
            "[" + " #linebreak() ".join(f"#{line}" for line in part) + "]" for part in (lines[:half], lines[half:])
        )
        return f"#grid(columns: (1fr, 1fr), gutter: 12pt, {', '.join(columns)})"
    if block.kind == "chart":
        return _typst_chart(lines)
    if block.table is not None:
        return _typst_table(block.table)
    return "\n\n".join(_typst(line) for line in block.lines)


def _typst_chart(labels: list[str]) -> str:
    bars = ", ".join(f"rect(width: 18pt, height: {bar}pt, fill: blue)" for bar in _BARS[: len(labels)])
    legend = ", ".join(f"stack(dir: ltr, spacing: 5pt, rect(width: 7pt, height: 7pt), {label})" for label in labels)
    return (
        f"#block(stack(dir: ltr, spacing: 20pt, stack(dir: ltr, spacing: 6pt, {bars}), "
        f"stack(dir: ttb, spacing: 6pt, {legend})))"
    )


def _typst_table(table: Table) -> str:
    columns = ", ".join("1fr" if at in table.wide else "auto" for at in range(table.width))
    align = ", ".join("right" if at in table.numbers else "left" for at in range(table.width))
    end = len(table.head) + len(table.rows) - table.sums
    strokes = {
        "grid": "stroke: .6pt", "rows": "stroke: (x, y) => (bottom: .5pt)", "frame": "stroke: none",
        "none": "stroke: none",
        "open": f"stroke: (x, y) => if y >= {len(table.head)} and y < {end} {{ .6pt }}",
        "booktabs": "stroke: (x, y) => if y == 0 { (top: 1pt, bottom: .5pt) }",
        "shaded": "stroke: none, fill: (x, y) => if calc.even(y) { luma(230) }",
    }  # fmt: skip

    def cells(rows: list[list[Cell]], bold: bool) -> str:
        written = []
        for cell in (cell for row in rows for cell in row):
            text = f"*{_typst(cell.text)}*" if bold and cell.text else _typst(cell.text)
            turned = f"#rotate(-90deg, reflow: true)[{text}]" if bold and table.upright else text
            written.append(f"table.cell(colspan: {cell.across}, rowspan: {cell.down})[{turned}]")
        return ", ".join(written)

    body = (
        f"table(columns: ({columns},), align: ({align},), inset: (x: 5pt, y: 3.5pt), {strokes[table.rules]}, "
        f"table.header({cells(table.head, True)}), {cells(table.rows, False)})"
    )
    return f"#block(stroke: .7pt, {body})" if table.rules == "frame" else f"#{body}"
