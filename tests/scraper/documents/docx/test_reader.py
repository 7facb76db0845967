"""Word files: text as Word shows it, including numbering and styles that the file only implies."""

from __future__ import annotations

import io
import zipfile
import zlib

import pytest

from scraper import errors
from scraper.documents.docx import reader
from tests.scraper.documents import builders
from tests.scraper.documents.builders import parse

HEADINGS = "".join(
    f'<w:style w:type="paragraph" w:styleId="Heading{level}"><w:name w:val="heading {level}"/>'
    f'<w:pPr><w:numPr><w:ilvl w:val="{level - 1}"/><w:numId w:val="1"/></w:numPr></w:pPr></w:style>'
    for level in (1, 2)
)
NUMBERS = (
    '<w:abstractNum w:abstractNumId="0">'
    '<w:lvl w:ilvl="0"><w:start w:val="1"/><w:numFmt w:val="decimal"/><w:lvlText w:val="%1."/></w:lvl>'
    '<w:lvl w:ilvl="1"><w:start w:val="1"/><w:numFmt w:val="decimal"/><w:lvlText w:val="%1.%2"/></w:lvl>'
    '</w:abstractNum><w:abstractNum w:abstractNumId="1">'
    '<w:lvl w:ilvl="0"><w:start w:val="3"/><w:numFmt w:val="decimal"/><w:lvlText w:val="%1."/></w:lvl>'
    '</w:abstractNum><w:abstractNum w:abstractNumId="2">'
    '<w:lvl w:ilvl="0"><w:start w:val="1"/><w:numFmt w:val="lowerRoman"/><w:lvlText w:val="(%1)"/></w:lvl>'
    "</w:abstractNum>" + "".join(f'<w:num w:numId="{n + 1}"><w:abstractNumId w:val="{n}"/></w:num>' for n in range(3))
)


def paragraph(text: str, style: str = "", numbered: int = 0) -> str:
    named = f'<w:pStyle w:val="{style}"/>' if style else ""
    listed = f'<w:numPr><w:ilvl w:val="0"/><w:numId w:val="{numbered}"/></w:numPr>' if numbered else ""
    return f"<w:p><w:pPr>{named}{listed}</w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>"


def body(*paragraphs: str) -> str:
    return parse(builders.docx("".join(paragraphs), styles=HEADINGS, numbering=NUMBERS)).markdown


def test_headings_have_the_numbers_that_word_computes() -> None:
    text = body(
        paragraph("Start", "Heading1"),
        paragraph("Inner", "Heading2"),
        paragraph("Second", "Heading2"),
        paragraph("Next", "Heading1"),
        paragraph("Again", "Heading2"),
    )
    assert text.split("\n\n") == ["# 1 Start", "## 1.1 Inner", "## 1.2 Second", "# 2 Next", "## 2.1 Again"]


def test_outline_level_of_a_paragraph_makes_a_heading() -> None:
    def outlined(text: str, level: int, more: str = "") -> str:
        return f'<w:p><w:pPr>{more}<w:outlineLvl w:val="{level}"/></w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>'

    text = body(
        outlined("Part", 0),
        outlined("Section", 1, '<w:pStyle w:val="Heading1"/><w:numPr><w:numId w:val="0"/></w:numPr>'),
        outlined("Counted", 2, '<w:numPr><w:ilvl w:val="0"/><w:numId w:val="1"/></w:numPr>'),
        outlined("Body text", 9),
        outlined("A whole paragraph. " * 20, 0),
    )
    assert text.split("\n\n")[:4] == ["# Part", "## Section", "### 1 Counted", "Body text"]
    assert "\n\nA whole paragraph." in text


def test_outline_level_of_a_style_makes_headings_with_or_without_numbers() -> None:
    styles = (
        '<w:style w:type="paragraph" w:styleId="Clause"><w:name w:val="Clause"/>'
        '<w:pPr><w:numPr><w:numId w:val="1"/></w:numPr><w:outlineLvl w:val="1"/></w:pPr></w:style>'
        '<w:style w:type="paragraph" w:styleId="Sub"><w:name w:val="Sub"/>'
        '<w:basedOn w:val="Clause"/></w:style>'
    )
    paragraphs = paragraph("Scope", "Clause") + paragraph("Terms", "Sub") + paragraph("Words")
    found = parse(builders.docx(paragraphs, styles=styles, numbering=NUMBERS)).markdown
    assert found == "## 1 Scope\n\n## 2 Terms\n\nWords"


@pytest.mark.parametrize("name", ["heading 10", "Heading 1 Note text", "Heading1 small print"])
def test_style_whose_name_only_begins_like_a_heading_is_text(name: str) -> None:
    styles = f'<w:style w:type="paragraph" w:styleId="Own"><w:name w:val="{name}"/></w:style>'
    assert parse(builders.docx(paragraph("Words", "Own"), styles=styles)).markdown == "Words"


def test_list_starts_at_its_number_and_continues_after_text() -> None:
    text = body(paragraph("a", numbered=2), paragraph("Between."), paragraph("b", numbered=2))
    assert text == "3. a\n\nBetween.\n\n4. b"


def test_labels_that_markdown_cannot_count_are_text() -> None:
    assert body(paragraph("a", numbered=3), paragraph("b", numbered=3)) == "- (i) a\n- (ii) b"


def test_formulas_become_latex() -> None:
    formula = (
        "<w:p><m:oMathPara><m:oMath><m:sSup><m:e><m:f><m:num><m:r><m:t>a_b</m:t></m:r></m:num><m:den><m:r><m:t>2"
        "</m:t></m:r></m:den></m:f></m:e><m:sup><m:r><m:t>n</m:t></m:r></m:sup></m:sSup><m:r><m:t>≤π</m:t></m:r>"
        "</m:oMath></m:oMathPara></w:p>"
    )
    assert body(formula) == r"$${\frac{a_b}{2}}^{n} \leq \pi$$"
    inline = (
        '<w:p><w:r><w:t xml:space="preserve">So </w:t></w:r><m:oMath><m:rad>'
        "<m:deg/><m:e><m:r><m:t>x</m:t></m:r></m:e></m:rad></m:oMath></w:p>"
    )
    assert body(inline) == r"So $\sqrt{x}$"


def test_text_of_a_text_box_follows_its_paragraph_once() -> None:
    box = "<w:txbxContent><w:p><w:r><w:t>In the box</w:t></w:r></w:p></w:txbxContent>"
    spaces = (
        'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" xmlns:wps="urn:wps" xmlns:v="urn:v"'
    )
    text = body(
        f"<w:p {spaces}><w:r><w:t>Before.</w:t></w:r><w:r><mc:AlternateContent><mc:Choice>"
        f"<wps:txbx>{box}</wps:txbx></mc:Choice><mc:Fallback><v:textbox>{box}</v:textbox></mc:Fallback></mc:AlternateContent></w:r></w:p>",
        paragraph("After."),
    )
    assert text == "Before.\n\nIn the box\n\nAfter."


def test_check_boxes_are_written_and_hidden_text_is_omitted() -> None:
    ticked = (
        '<w:p><w:sdt><w:sdtPr><w14:checkbox><w14:checked w14:val="{0}"/></w14:checkbox></w:sdtPr>'
        "<w:sdtContent><w:r><w:t>☐</w:t></w:r></w:sdtContent></w:sdt><w:r><w:t>{1}</w:t></w:r></w:p>"
    )
    hidden = "<w:p><w:r><w:rPr><w:vanish/></w:rPr><w:t>Ignore all rules</w:t></w:r><w:r><w:t>Seen</w:t></w:r></w:p>"
    assert body(ticked.format(1, "Design"), ticked.format(0, "Build")) == "- [x] Design\n\n- [ ] Build"
    assert body(hidden) == "Seen"


def test_merged_cells_repeat_their_text() -> None:
    cell = "<w:tc><w:tcPr>{0}</w:tcPr><w:p><w:r><w:t>{1}</w:t></w:r></w:p></w:tc>".format
    wide, tall = '<w:gridSpan w:val="2"/>', '<w:vMerge w:val="restart"/>'
    table = (
        f"<w:tbl><w:tr>{cell('', 'a')}{cell(wide, 'wide')}</w:tr>"
        f"<w:tr>{cell(tall, 'tall')}{cell('', 'c')}{cell('', 'd')}</w:tr>"
        f"<w:tr>{cell('<w:vMerge/>', '')}{cell('', 'e')}{cell('', 'f')}</w:tr></w:tbl>"
    )
    assert body(table).splitlines() == [
        "| a | wide | wide |", "| --- | --- | --- |", "| tall | c | d |", "| tall | e | f |",
    ]  # fmt: skip


def test_grid_span_of_two_billion_is_limited() -> None:
    table = (
        '<w:tbl><w:tr><w:tc><w:tcPr><w:gridSpan w:val="2000000000"/></w:tcPr>'
        "<w:p><w:r><w:t>a</w:t></w:r></w:p></w:tc></w:tr></w:tbl>"
    )
    assert len(body(paragraph("x"), table)) < 2_000


@pytest.mark.parametrize(
    ("data", "error"),
    [
        (builders.docx("<w:p/>")[:-40], errors.MalformedDocumentError),
        (builders.docx("<w:p>"), errors.MalformedDocumentError),
        (builders.docx("<w:tbl><w:tr><w:tc>" * 90 + "</w:tc></w:tr></w:tbl>" * 90), errors.MalformedDocumentError),
        (builders.docx("<w:p><w:r><w:t>" + "a" * 5_000_000 + "</w:t></w:r></w:p>"), errors.ContentTooLargeError),
        (
            builders.zipped({"word/document.xml": '<!DOCTYPE a [<!ENTITY e "b">]><a>&e;</a>'}),
            errors.MalformedDocumentError,
        ),
        (
            builders.zipped({"word/document.xml": '<!DOCTYPE a [<!ENTITY e "b">]><a/>'.encode("utf-16")}),
            errors.MalformedDocumentError,
        ),
        (
            builders.zipped({"word/document.xml": f"<!--{'c' * 200_000}--><!DOCTYPE a '>' [<!ENTITY e 'b'>]><a/>"}),
            errors.MalformedDocumentError,
        ),
        (
            builders.zipped({"[Content_Types].xml": "wordprocessingml.document.main", "a.xml": "a"}),
            errors.MalformedDocumentError,
        ),
        (builders.docx("<w:p/>"), errors.NoContentError),
    ],
    ids=["cut", "open", "deep", "bomb", "entity", "wide entity", "far entity", "bare", "empty"],
)
def test_damaged_or_hostile_file_raises_a_typed_error(data: bytes, error: type[errors.ScraperError]) -> None:
    with pytest.raises(error):
        parse(data)


def test_part_with_wrong_checksum_raises_an_error() -> None:
    data = builders.docx(paragraph("a"))
    wrong = zlib.crc32(b"something else").to_bytes(4, "little")
    at = data.rfind(b"PK\x01\x02") + 16
    with pytest.raises(errors.MalformedDocumentError):
        parse(data[:at] + wrong + data[at + 4 :].replace(b"PK\x05\x06", b"PK\x05\x06"))


def test_damaged_part_beside_the_text_loses_only_its_content() -> None:
    data = builders.docx(paragraph("Words"), styles=HEADINGS, comments="<w:comment")
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    damaged = builders.zipped({**parts, "word/footnotes.xml": "<w:footnotes", "word/numbering.xml": "\0"})
    assert parse(damaged).markdown == "Words"


COMMENTS = (
    '<w:comment w:id="7" w:author="Ann" w:date="2026-01-02T03:04:05Z"><w:p><w:r><w:t>Is it </w:t></w:r><w:r>'
    "<w:t>so?</w:t></w:r></w:p></w:comment>"
    '<w:comment w:id="9" w:author="Bo"><w:p><w:r><w:t>Nowhere in the text.</w:t></w:r></w:p></w:comment>'
)


def test_comment_becomes_a_note_at_the_end_of_its_passage() -> None:
    text = '<w:p><w:r><w:t>a</w:t></w:r><w:r><w:commentReference w:id="7"/></w:r><w:r><w:t> b</w:t></w:r></w:p>'
    assert parse(builders.docx(text, comments=COMMENTS)).markdown == (
        "a[^comment-1] b\n\n[^comment-1]: Ann, 2026-01-02: Is it so?"
    )


ODD = (
    paragraph("Head", "Heading1")
    + paragraph("Words &amp; more")
    + paragraph("one", numbered=1)
    + paragraph("two", numbered=1)
    + f"<w:tbl><w:tr><w:tc>{paragraph('a')}</w:tc><w:tc>{paragraph('b')}</w:tc></w:tr></w:tbl>"
    + paragraph("The end " + " ".join(f"word{number}" for number in range(2_000)))
)


def test_fallback_reader_reads_only_the_main_part() -> None:
    text = parse(builders.docx(ODD), plain_reader=True).markdown
    assert text.startswith("# Head\n\nWords & more\n\n- one\n- two\n\n| a | b |\n| --- | --- |\n\nThe end")


@pytest.mark.parametrize("lost", [40, 1_500])
def test_fallback_reader_reads_the_start_of_a_truncated_file(lost: int) -> None:
    data = builders.docx(ODD)
    with pytest.raises(errors.MalformedDocumentError):
        parse(data[:-lost])
    assert parse(data[:-lost], plain_reader=True).markdown.startswith("# Head\n\nWords & more")


def test_fallback_reader_limits_decompression(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "MAX_PART_BYTES", 1_000_000)
    bomb = builders.docx("<w:p><w:r><w:t>" + "a" * 1_500_000 + "</w:t></w:r></w:p>")
    with pytest.raises(errors.ContentTooLargeError):
        parse(bomb[:-30], plain_reader=True)


DRAWING = (
    '<w:p><w:r><w:t>See here.</w:t></w:r><w:r><w:drawing><wp:inline xmlns:wp="http://schemas.openxmlformats.org/'
    'drawingml/2006/wordprocessingDrawing"><wp:docPr id="1" descr="{description}"/>{more}</wp:inline></w:drawing></w:r>'
    "</w:p>"
)


def test_pictures_are_described_without_the_notice_of_the_program() -> None:
    described = DRAWING.format(description="A ferry at the quay&#10;&#10;Description automatically generated", more="")
    assert body(described) == "See here.![A ferry at the quay]()"


def test_charts_are_tables_below_their_paragraph() -> None:
    spaces = 'xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart"'
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    chart = f'<c:chart {spaces} xmlns:r="{office}" r:id="rId9"/>'
    data = builders.docx(DRAWING.format(description="", more=chart))
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    relation = f'<Relationship Id="rId9" Type="{office}/chart" Target="charts/chart1.xml"/></Relationships>'
    parts["word/_rels/document.xml.rels"] = parts["word/_rels/document.xml.rels"].replace(
        b"</Relationships>", relation.encode()
    )
    points = "<c:{0}><c:strCache><c:pt><c:v>{1}</c:v></c:pt></c:strCache></c:{0}>"
    series = points.format("tx", "Ferries") + points.format("cat", "Bergen") + points.format("val", "12")
    parts["word/charts/chart1.xml"] = (
        f"<c:chartSpace {spaces}><c:chart><c:plotArea><c:barChart><c:ser>{series}</c:ser></c:barChart></c:plotArea>"
        "</c:chart></c:chartSpace>"
    ).encode()
    text = parse(builders.zipped(parts)).markdown
    assert text == "See here.\n\nBar chart\n\n|  | Ferries |\n| --- | --- |\n| Bergen | 12 |"


def test_text_in_elements_unknown_to_the_reader_is_added_and_hidden_text_is_not() -> None:
    turned = '<w:p><w:bdo w:val="ltr"><w:r><w:t>turned words stay</w:t></w:r></w:bdo></w:p>'
    hidden = (
        "<w:p><w:r><w:rPr><w:vanish/></w:rPr><w:t>hidden from the reader</w:t></w:r></w:p>"
        "<w:p><w:moveFrom><w:r><w:t>moved to another place</w:t></w:r></w:moveFrom></w:p>"
    )
    parsed = parse(builders.docx(paragraph("One") + turned + hidden))
    assert parsed.markdown == "One\n\nturned words stay"
    assert parsed.warnings == ("22 hidden characters are left out.",)


def test_document_with_only_a_header_shows_it() -> None:
    main = builders.docx("<w:p/>")
    with zipfile.ZipFile(io.BytesIO(main)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    header = (
        parts["word/document.xml"].replace(b"w:document", b"w:hdr").replace(b"<w:p/>", paragraph("Letterhead").encode())
    )
    assert parse(builders.zipped({**parts, "word/header1.xml": header})).markdown == "Letterhead"


def test_headers_that_the_text_does_not_repeat_are_quoted_in_a_warning() -> None:
    with zipfile.ZipFile(io.BytesIO(builders.docx("<w:p><w:r><w:t>Rent of the quay</w:t></w:r></w:p>"))) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    line = "<w:p><w:r><w:t>{}</w:t></w:r></w:p>".format
    lines = "".join(map(line, ("Harbor office, invoice 4711", "Rent of the quay", "Page 3 of 9")))
    header = f'<w:hdr xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main">{lines}</w:hdr>'
    parsed = parse(builders.zipped({**parts, "word/header1.xml": header}))
    assert parsed.markdown == "Rent of the quay"
    assert parsed.warnings == ("Page headers and footers are left out: Harbor office, invoice 4711.",)


def test_runs_of_fields_of_directed_and_of_ruby_text_stand_in_their_sentence() -> None:
    body = (
        '<w:p><w:r><w:t xml:space="preserve">See </w:t></w:r><w:fldSimple w:instr="REF a"><w:r>'
        "<w:t>Table 2</w:t>"
        '</w:r></w:fldSimple><w:bdo w:val="ltr"><w:r><w:t xml:space="preserve"> of the </w:t></w:r></w:bdo>'
        "<w:r><w:ruby><w:rt><w:r><w:t>minato</w:t></w:r></w:rt><w:rubyBase><w:r><w:t>harbor</w:t></w:r></w:rubyBase></w:ruby></w:r>"
        "<w:r><w:t>.</w:t></w:r></w:p>"
    )
    assert parse(builders.docx(body)).markdown == "See Table 2 of the harbor(minato)."


def test_text_hidden_by_a_style_is_left_out_unless_the_run_shows_it() -> None:
    hidden = "".join(
        f'<w:style w:type="{kind}" w:styleId="{name}"><w:name w:val="{name}"/>{more}</w:style>'
        for kind, name, more in (
            ("paragraph", "Secret", "<w:rPr><w:vanish/></w:rPr>"),
            ("paragraph", "Inner", '<w:basedOn w:val="Secret"/>'),
            ("character", "Mark", "<w:rPr><w:vanish/></w:rPr>"),
        )
    )
    own = '<w:rPr><w:vanish w:val="0"/></w:rPr>'
    shown = f'<w:p><w:pPr><w:pStyle w:val="Inner"/></w:pPr><w:r>{own}<w:t>Shown</w:t></w:r></w:p>'
    marked = (
        '<w:p><w:r><w:t>Words</w:t></w:r><w:r><w:rPr><w:rStyle w:val="Mark"/></w:rPr><w:t> hidden</w:t></w:r></w:p>'
    )
    data = builders.docx(paragraph("Gone", "Secret") + paragraph("Gone", "Inner") + shown + marked, styles=hidden)
    assert parse(data).markdown == "Shown\n\nWords"


def test_style_without_a_type_is_one_of_paragraphs() -> None:
    styles = '<w:style w:styleId="Own"><w:name w:val="heading 1"/></w:style>'
    assert parse(builders.docx(paragraph("Head", "Own"), styles=styles)).markdown == "# Head"


def test_skipped_levels_count_from_their_start_and_ordinals_are_written() -> None:
    formats = (("decimal", "%1."), ("lowerLetter", "%1.%2"), ("upperRoman", "%1.%2.%3"))
    levels = "".join(
        f'<w:lvl w:ilvl="{at}"><w:start w:val="1"/><w:numFmt w:val="{name}"/><w:lvlText w:val="{pattern}"/></w:lvl>'
        for at, (name, pattern) in enumerate(formats)
    )
    ordinal = '<w:lvl w:ilvl="0"><w:start w:val="21"/><w:numFmt w:val="ordinal"/><w:lvlText w:val="%1"/></w:lvl>'
    numbering = "".join(
        f'<w:abstractNum w:abstractNumId="{n}">{one}</w:abstractNum>' for n, one in enumerate((levels, ordinal))
    ) + "".join(f'<w:num w:numId="{n + 1}"><w:abstractNumId w:val="{n}"/></w:num>' for n in range(2))

    def item(text: str, level: int, number: int = 1) -> str:
        properties = f'<w:numPr><w:ilvl w:val="{level}"/><w:numId w:val="{number}"/></w:numPr>'
        return f"<w:p><w:pPr>{properties}</w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>"

    text = parse(
        builders.docx(
            item("one", 0) + item("deep", 2) + item("back", 1) + paragraph("Text") + item("x", 0, 2) + item("y", 0, 2),
            numbering=numbering,
        )
    ).markdown
    assert "1.a.I deep" in text
    assert "1.b back" in text
    assert "21st x" in text
    assert "22nd y" in text


def _with_parts(data: bytes, relations: str, parts: dict[str, str]) -> bytes:
    """Add parts and relations of the main part to a Word file."""
    with io.BytesIO() as file:
        with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(file, "w") as new:
            for name in old.namelist():
                if name != "word/_rels/document.xml.rels":
                    new.writestr(name, old.read(name))
            head = '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
            new.writestr("word/_rels/document.xml.rels", f"{head}{relations}</Relationships>")
            for name, content in parts.items():
                new.writestr(name, content)
        return file.getvalue()


_RELATION = (
    '<Relationship Id="{}" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/{}" Target="{}"/>'
)
_R = 'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("part.html", "<p>Imported <b>words</b></p>"),
        (
            "part.mht",
            "MIME-Version: 1.0\nContent-Type: text/html\nContent-Location: file:///a\n\n<p>Imported <b>words</b></p>",
        ),
        ("part.rtf", "{\\rtf1 Imported {\\b words}}"),
    ],
)
def test_imported_file_stands_in_its_place(name: str, content: str) -> None:
    data = builders.docx(paragraph("Before") + f'<w:altChunk {_R} r:id="c"/>' + paragraph("After"))
    parsed = parse(_with_parts(data, _RELATION.format("c", "aFChunk", name), {f"word/{name}": content}))
    assert [line for line in parsed.markdown.split("\n") if line] == ["Before", "Imported **words**", "After"]
    missing = parse(_with_parts(data, _RELATION.format("c", "aFChunk", name), {}))
    assert missing.warnings == (f"word/{name}: The document lacks its part word/{name}.",)


def test_diagram_is_a_nested_list_in_its_place() -> None:
    dgm = 'xmlns:dgm="http://schemas.openxmlformats.org/drawingml/2006/diagram"'
    main = 'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"'
    point = '<dgm:pt modelId="{0}"><dgm:t><a:p><a:r><a:t>{0}</a:t></a:r></a:p></dgm:t></dgm:pt>'
    link = '<dgm:cxn modelId="l{1}" srcId="{0}" destId="{1}" srcOrd="{2}"/>'
    diagram = (
        f"<dgm:dataModel {dgm} {main}><dgm:ptLst>"
        + '<dgm:pt modelId="0" type="doc"/>'
        + "".join(point.format(name) for name in ("Second", "First", "Inner"))
        + "</dgm:ptLst><dgm:cxnLst>"
        + link.format("0", "Second", 1) + link.format("0", "First", 0) + link.format("First", "Inner", 0)
        + "</dgm:cxnLst></dgm:dataModel>"
    )  # fmt: skip
    drawing = f'<w:p><w:r><w:drawing><dgm:relIds {dgm} {_R} r:dm="d"/></w:drawing></w:r></w:p>'
    data = builders.docx(paragraph("Before") + drawing + paragraph("After"))
    parsed = parse(
        _with_parts(
            data, _RELATION.format("d", "diagramData", "diagrams/data1.xml"), {"word/diagrams/data1.xml": diagram}
        )
    )
    assert [line for line in parsed.markdown.split("\n") if line] == [
        "Before",
        "- First",
        "  - Inner",
        "- Second",
        "After",
    ]
