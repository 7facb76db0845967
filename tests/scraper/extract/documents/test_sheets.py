"""Spreadsheets."""

from __future__ import annotations

import io
import zipfile

import pytest

from scraper import errors
from tests.scraper.extract.documents import builders
from tests.scraper.extract.documents.builders import parse


def row(number: int, *cells: str) -> str:
    written = ""
    for letter, cell in zip("ABCDEFGH", cells, strict=False):
        kind = "" if cell.replace(".", "").isdigit() else ' t="str"'
        written += f'<c r="{letter}{number}"{kind}><v>{cell}</v></c>' if cell else ""
    return f'<row r="{number}">{written}</row>'


def test_sheet_becomes_a_heading_and_its_blocks_of_cells_become_tables() -> None:
    data = row(1, "town", "people") + row(2, "Bergen", "290.0") + row(4, "year", "rain") + row(5, "2020", "1.5")
    parsed = parse(builders.xlsx(("Towns", data), ("Notes", row(3, "Only this"))))
    assert parsed.pages == 2
    assert parsed.markdown == (
        "<!-- page 1 -->\n\n## Towns\n\n| town | people |\n| --- | --- |\n| Bergen | 290 |\n\n"
        "| year | rain |\n| --- | --- |\n| 2020 | 1.5 |\n\n<!-- page 2 -->\n\n## Notes\n\nOnly this"
    )


def test_distant_cell_and_repeated_long_text_are_refused_before_reading() -> None:
    far = '<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>'
    with pytest.raises(errors.ContentTooLargeError, match="1,048,576 rows"):
        parse(builders.xlsx(("A", row(1, "1") + far)))
    many = "".join(f'<row r="{n}"><c r="A{n}" t="s"><v>0</v></c></row>' for n in range(1, 30_000))
    with pytest.raises(errors.ContentTooLargeError):
        parse(builders.xlsx(("A", many), shared="<si><t>" + "abcdefghi " * 20_000 + "</t></si>"))


def test_long_sheet_has_a_warning_with_its_row_count() -> None:
    parsed = parse(builders.xlsx(("A", "".join(row(n, str(n), "x") for n in range(1, 20_500)))))
    assert "only the first 20,000 of 20,499 rows" in parsed.warnings[0]


def test_huge_sheet_shows_its_first_rows_and_counts_the_rest() -> None:
    many = "".join(f'<row r="{n}"><c r="A{n}"><v>{n}</v></c></row>' for n in range(1, 600_001))
    assert len(many) > 25_000_000
    parsed = parse(builders.xlsx(("Many", many), ("Few", row(1, "x"))))
    assert parsed.warnings == ("Sheet Many: only the first 20,000 of 600,000 rows are shown.",)
    assert "| 20000 |\n\n<!-- page 2 -->\n\n## Few\n\nx" in parsed.markdown


def test_text_boxes_over_a_sheet_are_shown() -> None:
    with zipfile.ZipFile(io.BytesIO(builders.xlsx(("A", row(1, "1"))))) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    relation = f'<Relationship Id="r1" Type="{office}/drawing" Target="../drawings/drawing1.xml"/>'
    names = 'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"'
    drawing = f"<d {names}><a:p><a:r><a:t>Only </a:t></a:r><a:r><a:t>in a box</a:t></a:r></a:p></d>"
    parsed = parse(
        builders.zipped(
            {
                **parts,
                "xl/worksheets/_rels/sheet1.xml.rels": f"<Relationships>{relation}</Relationships>",
                "xl/drawings/drawing1.xml": drawing,
            }
        )
    )
    assert parsed.markdown.endswith("\n\nOnly in a box")
