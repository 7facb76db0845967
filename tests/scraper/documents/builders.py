"""Builders of small documents in every supported format."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping, Sequence

from PIL import Image

from scraper.documents.dispatcher import dispatch
from scraper.documents.model import ParsedDocument, ParseRequest

Page = Sequence[str]
"""Drawing operators of one page, from the top left of 595 by 842 points."""

_W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_M = "http://schemas.openxmlformats.org/officeDocument/2006/math"
_W14 = "http://schemas.microsoft.com/office/word/2010/wordml"
_RELATIONS = "http://schemas.openxmlformats.org/package/2006/relationships"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def parse(data: bytes, **request: object) -> ParsedDocument:
    """Parse a file."""
    return dispatch(data, ParseRequest(**request))  # type: ignore[arg-type]


def text_at(x: float, y: float, text: str, size: float = 10, font: str = "F1") -> str:
    """Return operators that write a text `y` points below the top of the page."""
    escaped = text.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)")
    return f"BT /{font} {size} Tf {x} {842 - y} Td ({escaped}) Tj ET"


def line(x0: float, y0: float, x1: float, y1: float) -> str:
    """Return operators that draw a line."""
    return f"{x0} {842 - y0} m {x1} {842 - y1} l S"


def table_cells(xs: Sequence[float], ys: Sequence[float], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return operators that draw a grid and write into its cells."""
    drawn = [line(xs[0], y, xs[-1], y) for y in ys] + [line(x, ys[0], x, ys[-1]) for x in xs]
    for row, y in zip(rows, ys[1:], strict=True):
        drawn += [text_at(x + 3, y - 5, text) for text, x in zip(row, xs, strict=False) if text]
    return drawn


def drawn_pdf(*pages: Page) -> bytes:
    """Build a PDF of these pages: Helvetica, its bold, and Courier as F1, F2, F3."""
    kids = " ".join(f"{4 + 2 * number + 2} 0 R" for number in range(len(pages)))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>".encode(),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica-Bold >>",
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Courier >>",
    ]
    for number, page in enumerate(pages):
        own = 6 + 2 * number
        drawing = "\n".join(page).encode("latin-1")
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents {own + 1} 0 R"
            " /Resources << /Font << /F1 3 0 R /F2 4 0 R /F3 5 0 R >> >> >>".encode()
        )
        objects.append(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(drawing), drawing))
    return pdf_of(objects)


def pdf_of(objects: Sequence[bytes], trailer: str = "") -> bytes:
    """Build a PDF of these objects, numbered from 1 on; the first is its catalog."""
    out, offsets = bytearray(b"%PDF-1.4\n"), []
    for number, content in enumerate(objects, 1):
        offsets.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    end = (len(objects) + 1, trailer.encode("latin-1"), start)
    out += b"trailer\n<< /Size %d /Root 1 0 R %s >>\nstartxref\n%d\n%%%%EOF\n" % end
    return bytes(out)


def zipped(parts: Mapping[str, str | bytes]) -> bytes:
    """Build a zip archive of these parts, in this order."""
    with io.BytesIO() as file:
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in parts.items():
                archive.writestr(name, content)
        return file.getvalue()


def docx(body: str, **parts: str) -> bytes:
    """Build a Word file of this body; `styles`, `numbering`, ... are the contents of those parts."""
    roots = {"styles": "styles", "numbering": "numbering", "comments": "comments"}
    more = {
        f"word/{name}.xml": f'<w:{roots[name]} xmlns:w="{_W}">{content}</w:{roots[name]}>'
        for name, content in parts.items()
    }
    links = "".join(f'<Relationship Id="r{name}" Type="{_OFFICE}/{name}" Target="{name}.xml"/>' for name in parts)
    return zipped(
        {
            "_rels/.rels": f'<Relationships xmlns="{_RELATIONS}"><Relationship Id="r1" '
            f'Type="{_OFFICE}/officeDocument" Target="word/document.xml"/></Relationships>',
            "word/_rels/document.xml.rels": f'<Relationships xmlns="{_RELATIONS}">{links}</Relationships>',
            "word/document.xml": f'<w:document xmlns:w="{_W}" xmlns:m="{_M}" xmlns:w14="{_W14}">'
            f"<w:body>{body}"
            "</w:body></w:document>",
            **more,
        }
    )


def xlsx(*sheets: tuple[str, str], shared: str = "") -> bytes:
    """Build a workbook of sheets, each a name and the content of its `sheetData`."""
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    names = "".join(
        f'<sheet name="{name}" sheetId="{number}" r:id="r{number}"/>' for number, (name, _) in enumerate(sheets, 1)
    )
    links = "".join(
        f'<Relationship Id="r{number}" Type="{_OFFICE}/worksheet" Target="worksheets/sheet{number}.xml"/>'
        for number in range(1, len(sheets) + 1)
    )
    if shared:
        links += f'<Relationship Id="rs" Type="{_OFFICE}/sharedStrings" Target="sharedStrings.xml"/>'
    return zipped(
        {
            "[Content_Types].xml": '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
            '<Override PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-'
            'officedocument.spreadsheetml.sheet.main+xml"/></Types>',
            "_rels/.rels": f'<Relationships xmlns="{_RELATIONS}"><Relationship Id="r1" '
            f'Type="{_OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
            "xl/workbook.xml": f'<workbook xmlns="{main}" xmlns:r="{_OFFICE}"><sheets>{names}</sheets></workbook>',
            "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{_RELATIONS}">{links}</Relationships>',
            **({"xl/sharedStrings.xml": f'<sst xmlns="{main}">{shared}</sst>'} if shared else {}),
            **{
                f"xl/worksheets/sheet{number}.xml": f'<worksheet xmlns="{main}">'
                f"<sheetData>{data}</sheetData></worksheet>"
                for number, (_, data) in enumerate(sheets, 1)
            },
        }
    )


def epub(chapters: Mapping[str, str]) -> bytes:
    """Build an EPUB of these chapters, by file name, in this order."""
    items = "".join(
        f'<item id="i{n}" href="{name}" media-type="application/xhtml+xml"/>' for n, name in enumerate(chapters)
    )
    spine = "".join(f'<itemref idref="i{n}"/>' for n in range(len(chapters)))
    return zipped(
        {
            "mimetype": "application/epub+zip",
            "META-INF/container.xml": '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container">'
            '<rootfiles><rootfile full-path="OEBPS/book.opf"/></rootfiles></container>',
            "OEBPS/book.opf": '<package xmlns="http://www.idpf.org/2007/opf" '
            'xmlns:dc="http://purl.org/dc/elements/1.1/"><metadata><dc:title>The Book</dc:title>'
            f"<dc:creator>A. Writer</dc:creator></metadata><manifest>{items}</manifest>"
            f"<spine>{spine}</spine></package>",
            **{
                f"OEBPS/{name}": f'<html xmlns="http://www.w3.org/1999/xhtml"><body>{body}</body></html>'
                for name, body in chapters.items()
            },
        }
    )


def odf(kind: str, body: str, styles: str = "", parts: Mapping[str, str] | None = None) -> bytes:
    """Build an OpenDocument file: `kind` is text, spreadsheet or presentation; `parts` are its objects."""
    return zipped(
        {
            "mimetype": f"application/vnd.oasis.opendocument.{kind}",
            "content.xml": _odf_content(
                f"<office:automatic-styles>{styles}</office:automatic-styles><office:body><office:{kind}>{body}"
                f"</office:{kind}></office:body>"
            ),
            **{name: _odf_content(content) for name, content in (parts or {}).items()},
        }
    )


def _odf_content(content: str) -> str:
    urn = "urn:oasis:names:tc:opendocument:xmlns:"
    names = {
        "office": "office", "text": "text", "table": "table", "draw": "drawing", "style": "style",
        "presentation": "presentation", "chart": "chart", "fo": "xsl-fo-compatible",
    }  # fmt: skip
    spaces = " ".join(f'xmlns:{prefix}="{urn}{name}:1.0"' for prefix, name in names.items())
    more = 'xmlns:xlink="http://www.w3.org/1999/xlink" xmlns:dc="http://purl.org/dc/elements/1.1/"'
    return f"<office:document-content {spaces} {more}>{content}</office:document-content>"


def picture(kind: str, side: int) -> bytes:
    """Return a square picture of a type of Pillow."""
    file = io.BytesIO()
    Image.new("1" if kind == "TIFF" else "RGB", (side, side)).save(file, kind, sizes=[(side, side)])
    return file.getvalue()
