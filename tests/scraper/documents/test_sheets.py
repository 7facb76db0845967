"""Spreadsheets."""

from __future__ import annotations

import datetime
import io
import zipfile
from collections.abc import Callable

import pytest
import xlsxwriter

from scraper import errors
from tests.scraper.documents import builders
from tests.scraper.documents.builders import parse


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


OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
MICROSOFT = "http://schemas.microsoft.com/office"
THREADS = f'xmlns="{MICROSOFT}/spreadsheetml/2018/threadedcomments"'


def workbook_with(relations: dict[str, str], parts: dict[str, str]) -> bytes:
    """Build a workbook of one sheet with these relations (type to target) and parts."""
    with zipfile.ZipFile(io.BytesIO(builders.xlsx(("A", row(1, "1"))))) as archive:
        known = {name: archive.read(name) for name in archive.namelist()}
    links = "".join(
        f'<Relationship Id="r{number}" Type="{kind}" Target="{target}"/>'
        for number, (kind, target) in enumerate(relations.items())
    )
    rels = {"xl/worksheets/_rels/sheet1.xml.rels": f"<Relationships>{links}</Relationships>"}
    return builders.zipped({**known, **rels, **parts})


def test_text_boxes_over_a_sheet_are_shown() -> None:
    names = 'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"'
    drawing = f"<d {names}><a:p><a:r><a:t>Only </a:t></a:r><a:r><a:t>in a box</a:t></a:r></a:p></d>"
    relations = {f"{OFFICE}/drawing": "../drawings/drawing1.xml"}
    assert parse(workbook_with(relations, {"xl/drawings/drawing1.xml": drawing})).markdown.endswith("\n\nOnly in a box")


NOTES = (
    '<comments xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">'
    "<authors><author>Ada</author><author>tc={1}</author></authors><commentList>"
    '<comment ref="B2" authorId="0"><text><t>Why?</t></text></comment>'
    '<comment ref="F7" authorId="1"><text><t>[Threaded comment]\n\nYour version of Excel ...\n\nComment:\n    Too low'
    "\nReply:\n    By far</t></text></comment></commentList></comments>"
)


def test_threads_of_comments_have_authors_dates_and_replies() -> None:
    threads = (
        f"<ThreadedComments {THREADS}>"
        '<threadedComment ref="F7" dT="2026-06-18T17:12:37.41" personId="{a}" id="{1}" done="1"><text>Too low</text>'
        '</threadedComment><threadedComment ref="F7" dT="2026-06-19T08:00:00" personId="{b}" id="{2}" parentId="{1}">'
        '<text>By far</text></threadedComment><threadedComment ref="G1" id="{3}" parentId="{missing}">'
        "<text>Alone</text></threadedComment></ThreadedComments>"
    )
    people = (
        f'<personList {THREADS}><person displayName="Bo" id="{{a}}"/><person displayName="Cy" id="{{b}}"/></personList>'
    )
    links = f'<Relationship Id="r1" Type="{OFFICE}/worksheet" Target="worksheets/sheet1.xml"/>'
    links += f'<Relationship Id="r2" Type="{MICROSOFT}/2017/10/relationships/person" Target="persons/person.xml"/>'
    parsed = parse(
        workbook_with(
            {
                f"{OFFICE}/comments": "../comments1.xml",
                f"{MICROSOFT}/2017/10/relationships/threadedComment": "../threadedComments/threadedComment1.xml",
            },
            {
                "xl/comments1.xml": NOTES,
                "xl/threadedComments/threadedComment1.xml": threads,
                "xl/persons/person.xml": people,
                "xl/_rels/workbook.xml.rels": f"<Relationships>{links}</Relationships>",
            },
        )
    )
    assert parsed.markdown.endswith(
        "Comments:\n\n- B2 (Ada): Why?\n- F7 (Bo, 2026-06-18, resolved): Too low\n  - Cy, 2026-06-19: By far\n"
        "- G1: Alone"
    )


def test_copies_of_threads_are_read_where_the_threads_are_missing() -> None:
    parsed = parse(workbook_with({f"{OFFICE}/comments": "../comments1.xml"}, {"xl/comments1.xml": NOTES}))
    assert parsed.markdown.endswith("- B2 (Ada): Why?\n- F7: Too low Reply: By far")


def written_workbook(write: Callable[[xlsxwriter.Workbook], None]) -> bytes:
    """Build a workbook with XlsxWriter."""
    with io.BytesIO() as file:
        with xlsxwriter.Workbook(file) as workbook:
            write(workbook)
        return file.getvalue()


def test_hidden_sheets_are_marked() -> None:
    def write(workbook: xlsxwriter.Workbook) -> None:
        for name in ("Plain", "Hidden", "Very"):
            workbook.add_worksheet(name).write("A1", f"in {name}")
        workbook.get_worksheet_by_name("Hidden").hide()
        workbook.get_worksheet_by_name("Very").very_hidden()

    headings = [line for line in parse(written_workbook(write)).markdown.splitlines() if line.startswith("##")]
    assert headings == ["## Plain", "## Hidden (hidden sheet)", "## Very (hidden sheet)"]


def test_errors_durations_and_leading_zeros_are_shown_as_in_the_sheet() -> None:
    def write(workbook: xlsxwriter.Workbook) -> None:
        sheet = workbook.add_worksheet("A")
        zeros, hours, plain = (workbook.add_format({"num_format": code}) for code in ("00000", "[h]:mm:ss", "0"))
        sheet.write_formula("A1", "=1/0", None, "#DIV/0!")
        sheet.write_formula("A2", "=NA()", zeros, "#N/A")
        sheet.write_number("A3", 1234, zeros)
        sheet.write_formula("A4", "=A3+1", zeros, 1235)
        sheet.write_number("A5", 1234, plain)
        sheet.write_string("A6", "77", zeros)
        sheet.write_number("A7", 1.25, zeros)
        sheet.write_datetime("A8", datetime.timedelta(hours=30, minutes=5), hours)
        sheet.write_datetime("A9", datetime.timedelta(seconds=59), hours)

    cells = [line.strip("| ") for line in parse(written_workbook(write)).markdown.splitlines()[4:]]
    del cells[1]
    assert cells == ["#DIV/0!", "#N/A", "01234", "01235", "1234", "77", "1.25", "30:05:00", "0:00:59"]


def test_links_of_cells_are_shown() -> None:
    def write(workbook: xlsxwriter.Workbook) -> None:
        sheet = workbook.add_worksheet("A")
        sheet.write_url("C3", "https://e.example/a (1)?x=1&y=2", string="Report [1]")
        sheet.write_url("C4", "https://e.example/")
        sheet.write_url("C5", "internal:A!C3", string="Above")
        sheet.write_url("D3", "mailto:ada@e.example", string="ada@e.example")
        sheet.write_string("D4", "plain")

    lines = parse(written_workbook(write)).markdown.splitlines()[4:]
    assert lines == [
        "| [Report \\[1\\]](https://e.example/a%20%281%29?x=1&y=2) | ada@e.example |",
        "| --- | --- |",
        "| https://e.example/ | plain |",
        "| Above |  |",
    ]


def _tables(*rows: str) -> str:
    return parse(builders.xlsx(("A", "".join(rows)))).markdown.removeprefix("<!-- page 1 -->\n\n## A").strip()


def test_empty_columns_inside_of_a_table_are_left_out() -> None:
    assert _tables(row(1, "Item", "", "2029", "", "2028"), row(2, "Freight", "", "120", "", "110")) == (
        "| Item | 2029 | 2028 |\n| --- | --- | --- |\n| Freight | 120 | 110 |"
    )


def test_tables_side_by_side_stay_two_and_a_remark_is_a_line() -> None:
    left = [("Town", "Rain"), ("Porto", "12"), ("Gent", "9"), ("Turku", "7")]
    right = [("Ship", "Crew"), ("Ada", "4")]
    rows = [
        row(n, *one, "", *two) for n, (one, two) in enumerate(zip(left, [*right, ("", ""), ("", "")], strict=True), 1)
    ]
    assert _tables(*rows).count("| --- |") == 2
    rows = [row(1, "Town", "Rain", "", "A remark"), *(row(n, f"T{n}", "5") for n in range(2, 6))]
    assert _tables(*rows).endswith("A remark")


def test_rows_below_an_empty_row_continue_their_table() -> None:
    rows = [
        row(1, "Item", "Value"),
        row(2, "Freight", "120"),
        row(4, "Costs"),
        row(5, "Fuel", "45"),
        row(6, "Wages", "30"),
    ]
    assert _tables(*rows) == (
        "| Item | Value |\n| --- | --- |\n| Freight | 120 |\n| Costs |  |\n| Fuel | 45 |\n| Wages | 30 |"
    )
    rows = [
        row(1, "Item", "Value"),
        row(2, "Freight", "120"),
        row(4, "Remarks"),
        row(6, "Town", "Rain"),
        row(7, "Porto", "3"),
    ]
    assert _tables(*rows).count("| --- |") == 2


def test_formulas_without_a_value_are_shown_and_counted() -> None:
    cells = (
        '<c r="A2"><f>SUM(A1:A1)</f><v></v></c><c r="B2" t="str"><f>""</f><v></v></c><c r="C2" s="1"><f>A1*2</f></c>'
    )
    parsed = parse(builders.xlsx(("A", row(1, "5", "6", "7") + f'<row r="2">{cells}</row>')))
    assert "| =SUM(A1:A1) |  | =A1*2 |" in parsed.markdown
    assert parsed.warnings == ("Sheet A: 2 formulas have no stored value and are shown themselves.",)


@pytest.mark.parametrize(
    ("stored", "shown"),
    [("1.602176634E-19", "1.602176634e-19"), ("4111111111111111", "4111111111111111"), ("0.30000000000000004", "0.3")],
)
def test_numbers_keep_their_digits(stored: str, shown: str) -> None:
    assert _tables(f'<row r="1"><c r="A1"><v>{stored}</v></c></row>') == shown


def test_empty_cell_at_the_end_of_the_sheet_is_no_obstacle() -> None:
    far = '<row r="1048576"><c r="XFD1048576" s="1"/></row>'
    assert _tables(row(1, "Town", "5"), far) == "| Town | 5 |\n| --- | --- |"


def test_damaged_sheet_is_named() -> None:
    parsed = parse(builders.xlsx(("Good", row(1, "x")), ("Bad", '<row r="1"><c r="A1"><v>1</v></c><c r="B1')))
    assert parsed.warnings[0].startswith("Sheet Bad is damaged and not read")
    assert "## Good\n\nx" in parsed.markdown


def test_table_with_an_empty_row_after_each_one_is_joined_in_linear_time() -> None:
    rows = "".join(row(2 * number, f"Item {number}", str(number)) for number in range(1, 5_001))
    assert _tables(row(1, "Item", "Value"), rows).count("| --- |") == 1
