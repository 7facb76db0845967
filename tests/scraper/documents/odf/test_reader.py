"""OpenDocument texts, presentations and spreadsheets are read as office programs show them."""

from __future__ import annotations

import pytest

from scraper.documents.odf import tables
from tests.growth import full_size
from tests.scraper.documents import builders
from tests.scraper.documents.builders import parse

COUNTED = (
    '<text:list-style style:name="N"><text:list-level-style-number text:level="1" style:num-format="1"/>'
    '<text:list-level-style-number text:level="2" style:num-format="a" style:num-suffix=")"/>'
    "</text:list-style>"
)


def item(*content: str, start: str = "") -> str:
    """Build a list item."""
    return f"<text:list-item{start}>{''.join(content)}</text:list-item>"


def listed(*items: str, more: str = 'text:style-name="N"') -> str:
    """Build a list."""
    return f"<text:list {more}>{''.join(items)}</text:list>"


def p(text: str, style: str = "") -> str:
    """Build a paragraph."""
    return f'<text:p text:style-name="{style}">{text}</text:p>'


def cell(content: str, more: str = "") -> str:
    """Build a table cell."""
    return f"<table:table-cell {more}>{content}</table:table-cell>"


def row(*cells: str) -> str:
    """Build a table row."""
    return f"<table:table-row>{''.join(cells)}</table:table-row>"


def test_headings_are_below_the_title_and_have_visible_numbers() -> None:
    outline = (
        '<text:outline-style><text:outline-level-style text:level="1" style:num-format="1"/>'
        '<text:outline-level-style text:level="2" style:num-format="1" text:display-levels="2"/>'
        '<text:outline-level-style text:level="3" style:num-format="1" text:display-levels="3"/>'
        "</text:outline-style>"
        '<style:style style:name="P1" style:family="paragraph" style:parent-style-name="Title"/>'
    )
    head = '<text:h text:outline-level="{}">{}</text:h>'.format
    body = p("The paper", "P1") + p("In short", "Subtitle") + head(1, "Start") + head(3, "Deep") + head(2, "Next")
    parsed = parse(builders.odf("text", body + head(1, "End"), outline))
    assert parsed.markdown == (
        "# The paper\n\n## In short\n\n## 1 Start\n\n#### 1.1.1 Deep\n\n### 1.2 Next\n\n## 2 End"
    )


def test_tenth_level_has_its_own_number() -> None:
    level = '<text:outline-level-style text:level="{0}" style:num-format="1" text:display-levels="{0}"/>'.format
    outline = f"<text:outline-style>{''.join(map(level, range(1, 11)))}</text:outline-style>"
    head = '<text:h text:outline-level="10">{}</text:h>'.format
    parsed = parse(builders.odf("text", head("a") + head("b"), outline))
    assert parsed.markdown == "###### 1.1.1.1.1.1.1.1.1.1 a\n\n###### 1.1.1.1.1.1.1.1.1.2 b"


def test_levels_of_a_list_style_are_limited() -> None:
    level = '<text:list-level-style-number text:level="{}" style:num-format="1" text:display-levels="{}"/>'.format
    for style in (level(200_000, 200_000), level(10, 200_000)):
        styles = f'<text:list-style style:name="N">{style}</text:list-style>'
        assert len(parse(builders.odf("text", listed(item(p("one"))), styles)).markdown) < 50


def test_bold_italic_struck_and_breaks_are_preserved_and_hidden_text_is_omitted() -> None:
    looks = "".join(
        f'<style:style style:name="{name}" style:family="text"><style:text-properties {look}/></style:style>'
        for name, look in (
            ("B", 'fo:font-weight="bold"'), ("I", 'fo:font-style="italic"'), ("H", 'text:display="none"'),
            ("S", 'style:text-line-through-style="solid"'),
        )
    )  # fmt: skip
    span = '<text:span text:style-name="{}">{}</text:span>'.format
    spans = f"{span('B', 'bold')} {span('I', 'slanted')} {span('S', 'gone')}{span('H', 'secret')}"
    body = p(f"a {spans}<text:line-break/>b")
    assert parse(builders.odf("text", body, looks)).markdown == "a **bold** *slanted* ~~gone~~  \nb"


def test_list_continues_after_text_and_below_its_levels() -> None:
    body = (
        listed(item(p("one")), item(p("two")))
        + listed(item(listed(item(p("inner")), more="")))
        + listed(item(p("three")))
        + p("Between.")
        + listed(item(p("four")), more='text:style-name="N" text:continue-numbering="true"')
        + listed(item(p("nine"), start=' text:start-value="9"'))
    )
    assert parse(builders.odf("text", body, COUNTED)).markdown == (
        "1. one\n2. two\n\n   - a) inner\n3. three\n\nBetween.\n\n4. four\n\n9. nine"
    )


def test_merged_cells_repeat_their_text_and_inner_tables_become_text() -> None:
    inner = f"<table:table>{row(cell(p('x')), cell(p('y')))}</table:table>"
    covered = "<table:covered-table-cell/>"
    body = (
        "<table:table>"
        + row(cell(p("wide"), 'table:number-columns-spanned="2"'), covered, cell(p("c")))
        + row(cell(p("tall"), 'table:number-rows-spanned="2"'), cell(p("b")), cell(inner))
        + row(covered, cell(p("d")), cell(p("e")))
        + "</table:table>"
    )
    assert parse(builders.odf("text", body)).markdown == (
        "| wide | wide | c |\n| --- | --- | --- |\n| tall | b | x y |\n| tall | d | e |"
    )


def test_charts_become_tables_and_formulas_are_inline() -> None:
    numbers = row(cell(""), cell(p("Sales"))) + row(cell(p("May")), cell(p("7")))
    chart = (
        f'<office:body><chart:chart chart:class="chart:bar"><chart:title>{p("Year")}</chart:title>'
        f"<table:table>{numbers}</table:table></chart:chart></office:body>"
    )
    math = '<math xmlns="http://www.w3.org/1998/Math/MathML"><mfrac><mi>a</mi><mi>b</mi></mfrac></math>'
    frame = '<draw:frame><draw:object xlink:href="./{}"/></draw:frame>'.format
    body = p(f"It is {frame('F')} here.") + p(frame("C"))
    parts = {"C/content.xml": chart, "F/content.xml": math}
    assert parse(builders.odf("text", body, parts=parts)).markdown == (
        "It is $\\frac{a}{b}$ here.\n\nYear\n\nBar chart\n\n|  | Sales |\n| --- | --- |\n| May | 7 |"
    )


def test_comment_becomes_a_note_at_the_end_of_its_passage() -> None:
    body = p(
        'a<office:annotation office:name="1"><dc:creator>Ann</dc:creator>'
        "<dc:date>2026-01-02T03:04:05</dc:date>"
        f'{p("Is it so?")}</office:annotation> b<office:annotation-end office:name="1"/> c'
    )
    assert parse(builders.odf("text", body)).markdown == (
        "a b[^comment-1] c\n\n[^comment-1]: Ann, 2026-01-02: Is it so?"
    )


def test_text_boxes_follow_their_paragraph_and_code_preserves_its_lines() -> None:
    box = f"<draw:frame><draw:text-box>{p('In a box')}</draw:text-box></draw:frame>"
    code = p("if x:", "Preformatted_20_Text") + p('<text:s text:c="4"/>run()', "Preformatted_20_Text")
    assert parse(builders.odf("text", p(f"Before{box} after") + code)).markdown == (
        "Before after\n\nIn a box\n\n```\nif x:\n    run()\n```"
    )


def test_slide_without_a_declared_title_uses_its_largest_text() -> None:
    size = (
        '<style:style style:name="{}" style:family="paragraph"><style:text-properties fo:font-size="{}pt"/>'
        "</style:style>"
    ).format
    frame = f'<draw:frame presentation:class="notes">{p("Say it slowly")}</draw:frame>'
    notes = f"<presentation:notes>{frame}</presentation:notes>"
    slide = (
        f"<draw:page><draw:custom-shape>{p('Head', 'L')}</draw:custom-shape>"
        f"<draw:frame><draw:text-box>{p('Words', 'S')}</draw:text-box></draw:frame>{notes}</draw:page>"
    )
    parsed = parse(builders.odf("presentation", slide * 2, size("L", 40) + size("S", 20)))
    one = "<!-- page {} -->\n\n# Head\n\nWords\n\nNotes: Say it slowly".format
    assert parsed.markdown == f"{one(1)}\n\n{one(2)}"
    assert parsed.pages == 2


@pytest.fixture(params=[2_000, full_size(tables.MAX_ROWS, id="full size")])
def most_rows(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """Set and return the largest number of rows that a sheet shows."""
    monkeypatch.setattr(tables, "MAX_ROWS", request.param)
    return int(request.param)


def test_sheet_shows_merged_cells_comments_and_truncation(most_rows: int) -> None:
    noted = cell(f"{p('7')}<office:annotation><dc:creator>Bo</dc:creator>{p('Counted twice')}</office:annotation>")
    sheet = (
        '<table:table table:name="S">'
        + row(cell(p("a"), 'table:number-columns-spanned="2"'), "<table:covered-table-cell/>", cell(p("b")))
        + row(cell(p("1")), cell(p("2")), noted)
        + "</table:table>"
    )
    assert parse(builders.odf("spreadsheet", sheet)).markdown == (
        "<!-- page 1 -->\n\n## S\n\n| a | a | b |\n| --- | --- | --- |\n| 1 | 2 | 7 |\n\n"
        "Comments:\n\n- 7: (Bo) Counted twice"
    )
    long = "".join(row(cell(p(str(n)))) for n in range(most_rows + 100))
    parsed = parse(builders.odf("spreadsheet", f'<table:table table:name="L">{long}</table:table>'))
    assert parsed.warnings == (f"Sheet L: only the first {most_rows:,} rows are shown.",)


def test_sheet_warns_of_rows_after_an_empty_one_and_of_columns_beyond_the_limits(most_rows: int) -> None:
    long = "".join(row(cell(p(str(n)))) for n in range(most_rows)) + row(cell(""))
    wide = row(*(cell(p(str(n))) for n in range(500)), cell("", 'table:number-columns-repeated="9000"'))
    repeated = row(*(cell(p("x")) for _ in range(450)), cell(p("y"), 'table:number-columns-repeated="60"'))
    sheet = '<table:table table:name="L">{}</table:table>'.format
    for content, warnings in (
        (long + row(cell(p("end"))), (f"Sheet L: only the first {most_rows:,} rows are shown.",)),
        (long, ()),
        (row(*(cell(p(str(n))) for n in range(600))), ("Sheet L: only the first 500 columns are shown.",)),
        (repeated, ("Sheet L: only the first 500 columns are shown.",)),
        (wide, ()),
    ):
        assert parse(builders.odf("spreadsheet", sheet(content))).warnings == warnings


def test_huge_spans_and_levels_are_limited() -> None:
    wide = cell(p("x"), 'table:number-columns-spanned="999999999" table:number-rows-spanned="999999999"')
    deep = "<text:list><text:list-item>" * 60 + p("deep") + "</text:list-item></text:list>" * 60
    parsed = parse(builders.odf("text", f"<table:table>{row(wide, cell(p('y')))}</table:table>{deep}{p('end')}"))
    assert len(parsed.markdown) < 5_000
    assert parsed.markdown.endswith("\n\nend\n\ndeep"), "text that is nested too deep is added at the end"


def test_text_has_headings_lists_tables_links_and_notes() -> None:
    styles = '<text:list-style style:name="N"><text:list-level-style-number text:level="1"/></text:list-style>'
    parsed = parse(
        builders.odf(
            "text",
            '<text:h text:outline-level="2">Head</text:h><text:p>One<text:s text:c="3"/>two '
            '<text:a xlink:href="https://a.example/">there</text:a><text:note><text:note-citation>1'
            "</text:note-citation><text:note-body><text:p>Below.</text:p></text:note-body></text:note></text:p>"
            '<text:list text:style-name="N"><text:list-item><text:p>a</text:p></text:list-item>'
            "<text:list-item><text:p>b</text:p></text:list-item></text:list><table:table><table:table-row><table:table-cell>"
            '<text:p>x</text:p></table:table-cell><table:table-cell table:number-columns-repeated="2">'
            "<text:p>y</text:p></table:table-cell></table:table-row></table:table>",
            styles,
        )
    )
    assert parsed.markdown == (
        "## Head\n\nOne two [there](https://a.example/)[^1]\n\n1. a\n2. b\n\n"
        "| x | y | y |\n| --- | --- | --- |\n\n[^1]: Below."
    )


def test_repeated_rows_of_a_sheet_are_limited() -> None:
    cell = '<table:table-cell table:number-columns-repeated="{0}">{1}</table:table-cell>'.format
    rows = (
        f'<table:table-row table:number-rows-repeated="1000000">{cell(1, "<text:p>a</text:p>")}'
        f"{cell(16_000, '')}</table:table-row>"
        f'<table:table-row table:number-rows-repeated="1000000">{cell(16_000, "")}</table:table-row>'
    )
    parsed = parse(builders.odf("spreadsheet", f'<table:table table:name="S">{rows}</table:table>'))
    assert parsed.markdown.startswith("<!-- page 1 -->\n\n## S\n\n| a |")
    assert len(parsed.markdown) < 2_000


def test_page_header_is_the_text_of_a_document_without_other_text() -> None:
    styles = f"<office:master-styles><style:header>{p('Tide table')}</style:header></office:master-styles>"
    assert parse(builders.odf("text", p(""), parts={"styles.xml": styles})).markdown == "Tide table"
