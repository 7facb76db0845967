"""Write documents as Word files, with the parts that Word writes."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from xml.sax.saxutils import escape

from benchmarks.documents.random_documents.model import Block, Cell, Document, Table

_NAMESPACE = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml"
_TYPES = (
    f'<Types xmlns="{_PACKAGE}/content-types">'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    f'<Override PartName="/word/document.xml" ContentType="{_TYPE}.document.main+xml"/>'
    f'<Override PartName="/word/styles.xml" ContentType="{_TYPE}.styles+xml"/>'
    f'<Override PartName="/word/numbering.xml" ContentType="{_TYPE}.numbering+xml"/></Types>'
)
_ROOT = (
    f'<Relationships xmlns="{_PACKAGE}/relationships"><Relationship Id="r1" Type="{_OFFICE}/officeDocument" '
    'Target="word/document.xml"/></Relationships>'
)
_PARTS = (
    f'<Relationships xmlns="{_PACKAGE}/relationships">'
    f'<Relationship Id="r1" Type="{_OFFICE}/styles" Target="styles.xml"/>'
    f'<Relationship Id="r2" Type="{_OFFICE}/numbering" Target="numbering.xml"/></Relationships>'
)

_LONGEST = 30
"""Letters. Longer texts of a cell are wrapped."""


def write_docx(document: Document) -> bytes:
    """Return the document as a Word file."""
    layout = document.layout
    lists = [block for block in document.blocks if block.kind in ("bullets", "numbers")]
    column = (layout.width - 144) / layout.columns
    body = "".join(_block(block, lists, column) for block in document.blocks)
    section = (
        f'<w:sectPr><w:pgSz w:w="{round(layout.width * 20)}" w:h="{round(layout.height * 20)}"/>'
        f'<w:cols w:num="{layout.columns}" w:space="{round(layout.gap * 20)}"/></w:sectPr>'
    )
    parts = {
        "[Content_Types].xml": _TYPES,
        "_rels/.rels": _ROOT,
        "word/_rels/document.xml.rels": _PARTS,
        "word/document.xml": f"<w:document {_NAMESPACE}><w:body>{body}{section}</w:body></w:document>",
        "word/styles.xml": f"<w:styles {_NAMESPACE}>{''.join(_styles(document))}</w:styles>",
        "word/numbering.xml": f"<w:numbering {_NAMESPACE}>{''.join(_numbering(lists))}</w:numbering>",
    }
    with io.BytesIO() as file:
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as package:
            for name, content in parts.items():
                package.writestr(name, f'<?xml version="1.0" encoding="UTF-8" standalone="yes"?>{content}')
        return file.getvalue()


def _styles(document: Document) -> Iterator[str]:
    for level, ratio in enumerate(document.layout.heading_sizes, 1):
        size = round(document.layout.size * ratio * 2)
        yield (
            f'<w:style w:type="paragraph" w:styleId="Heading{level}"><w:name w:val="heading {level}"/>'
            f'<w:pPr><w:outlineLvl w:val="{level - 1}"/></w:pPr><w:rPr><w:b/><w:sz w:val="{size}"/></w:rPr></w:style>'
        )


def _numbering(lists: list[Block]) -> Iterator[str]:
    for number, block in enumerate(lists):
        kind, text = ("bullet", "\u2022") if block.kind == "bullets" else ("decimal", "%1.")
        yield (
            f'<w:abstractNum w:abstractNumId="{number}"><w:lvl w:ilvl="0"><w:start w:val="1"/>'
            f'<w:numFmt w:val="{kind}"/><w:lvlText w:val="{text}"/></w:lvl></w:abstractNum>'
        )
    for number, _ in enumerate(lists):
        yield f'<w:num w:numId="{number + 1}"><w:abstractNumId w:val="{number}"/></w:num>'


def _block(block: Block, lists: list[Block], width: float) -> str:
    if block.table is not None:
        return _table(block.table, width)
    properties = ""
    if block.kind == "heading":
        properties = f'<w:pStyle w:val="Heading{block.level}"/>'
    elif block.kind in ("bullets", "numbers"):
        number = next(at for at, one in enumerate(lists, 1) if one is block)
        properties = f'<w:numPr><w:ilvl w:val="0"/><w:numId w:val="{number}"/></w:numPr>'
    return "".join(_paragraph(line, properties) for line in block.lines)


def _paragraph(text: str, properties: str = "") -> str:
    run = f'<w:r><w:t xml:space="preserve">{escape(text)}</w:t></w:r>' if text else ""
    return f"<w:p><w:pPr>{properties}</w:pPr>{run}</w:p>"


def _table(table: Table, width: float) -> str:
    """Return a table as wide as its column of the page; the widths of its columns follow their texts."""
    lengths = [min(_LONGEST, max(map(len, column))) + 2 for column in zip(*table.grid(), strict=True)]
    grid = "".join(f'<w:gridCol w:w="{round(20 * width * length / sum(lengths))}"/>' for length in lengths)
    below: dict[int, tuple[int, int]] = {}  # Covered column -> rows left, columns.
    rows = ""
    for cells in (*table.head, *table.rows):
        left, row, x = list(cells), "", 0
        while x < table.width:
            if x in below:
                down, across = below.pop(x)
                row += _cell(Cell("", across), "<w:vMerge/>")
                if down > 1:
                    below[x] = down - 1, across
            else:
                cell, across = left[0], left[0].across
                row += _cell(left.pop(0), '<w:vMerge w:val="restart"/>' if cell.down > 1 else "")
                if cell.down > 1:
                    below[x] = cell.down - 1, across
            x += across
        header = "<w:trPr><w:tblHeader/></w:trPr>" if cells in table.head else ""
        rows += f"<w:tr>{header}{row}</w:tr>"
    return f'<w:tbl><w:tblPr><w:tblW w:w="0" w:type="auto"/></w:tblPr><w:tblGrid>{grid}</w:tblGrid>{rows}</w:tbl>'


def _cell(cell: Cell, merge: str) -> str:
    return f'<w:tc><w:tcPr><w:gridSpan w:val="{cell.across}"/>{merge}</w:tcPr>{_paragraph(cell.text)}</w:tc>'
