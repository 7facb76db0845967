"""Read a PDF with liteparse (PDFium) into pages of text runs and drawn lines."""

import contextlib
import html
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

from liteparse._liteparse import LiteParse

from scraper.call_context import Deadline
from scraper.documents.markdown_writing import escape_text
from scraper.documents.model import ParseRequest
from scraper.documents.pdf import item_corrections
from scraper.documents.pdf.formula_layout import write_formulas
from scraper.documents.pdf.layout_model import LayoutPage, Span, TagNode, TextRun, find_lines, rotate_page
from scraper.documents.pdf.pdfium import Box, pdfium
from scraper.documents.pdf.pdfium_text import DocumentFacts, PageText, read_document
from scraper.documents.pdf.text_assembly import SPACE, is_right_to_left
from scraper.errors import EncryptedDocumentError, InvalidArgumentError, MalformedDocumentError
from scraper.text.sanitize import clean_line

MAX_PAGES = 1_000
"""Pages per reading; a client requests further pages separately."""
_MAX_RUNS = 400_000
"""Runs of all pages, after which no further ones are read; a page of prose has a hundred."""
_FIRST_PAGES, _FEWEST_PAGES = 32, 12
"""Pages that are read at first, then twice as many each time: opening a file takes the time of a dozen pages.
The second number counts if only the beginning is requested: fewer do not show which lines are margins."""
_MIN_PAGE_CHARACTERS = 500
"""Characters that a page counts at least: recognizing one that was scanned costs more than reading letters."""

_WIDE_SPACE = 0.55
"""Multiple of the font size. Words of justified text are rarely further apart, cells of dense tables are."""
_MAX_SLANT = 30.0
"""Degrees. Slanted text of the examined files leans by 11 to 19."""
_MAX_LINE_HEIGHT = 2.2
"""Maximum height of the box of one line, as a multiple of the character height."""
_MAX_ROTATED_RUNS = 500
_MIN_HIDDEN_SHARE = 0.25
"""Ratio of a word's box: that of PDFium is as high as its letters, that of liteparse as the line."""
_MAX_TREE_NODES = 200_000
_MAX_TREE_DEPTH = 100
_SMALLEST = (
    b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj 2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj "
    b"3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]>>endobj trailer<</Root 1 0 R>>"
)


@dataclass(slots=True)
class PdfContent:
    """Content of a PDF: its pages, metadata and form fields."""

    pages: list[LayoutPage] = field(default_factory=list)
    """Pages that were read."""
    page_count: int = 0
    """Pages of the whole file."""
    title: str | None = None
    author: str | None = None
    encrypted: bool = False
    failed_pages: list[int] = field(default_factory=list)
    unread_pages: list[int] = field(default_factory=list)
    """Requested pages that were not begun: for lack of time or room, or because the text before them suffices."""
    forms: dict[int, str] = field(default_factory=dict)
    """Filled form fields and notes, by page."""
    files: list[str] = field(default_factory=list)
    """Names of attached files."""
    is_xfa_form: bool = False
    """True if the form content is XML (XFA), which is not in the pages."""
    texts: dict[int, PageText] = field(default_factory=dict)
    """Text of the pages as PDFium reads it, by page."""


def warm_up() -> None:
    """Load PDFium, which liteparse opens with its first file."""
    parse_pdf(ParseRequest(), _SMALLEST)
    with contextlib.suppress(FileNotFoundError):
        pdfium()


def parse_pdf(request: ParseRequest, data: bytes) -> Any:
    """Return the native result of liteparse.

    Its public function copies all values of the result, which takes a fifth of the time that PDFium takes. The import
    of its public module takes 24 ms, and reading a page 20 ms.
    """
    return _parser(request).parse_bytes(data)


def _parser(request: ParseRequest) -> LiteParse:
    return LiteParse(
        ocr_enabled=False,
        output_format="json",
        image_mode="off",
        quiet=True,
        extract_text_metadata=True,
        extract_vector_graphics=True,
        extract_structure_tree=True,
        extract_form_fields=True,
        extract_annotations=True,
        extract_document_metadata=True,
        emit_word_boxes=True,
        continue_on_page_error=True,
        target_pages=",".join(map(str, request.pages)) or None,
        password=request.password,
    )


def read_items(page: Any) -> list[item_corrections.PdfItem]:
    """Return the text items of a page of the native result."""
    return [
        item_corrections.PdfItem(
            one.text, one.x, one.y, one.width, one.height, one.rotation, one.font_name, one.font_size, one.font_height,
            one.font_weight, one.mcid,
            tuple([item_corrections.PdfWord(word.text, word.x, word.y, word.width, word.height) for word in one.words]),
        )
        for one in page.text_items
    ]  # fmt: skip


def load(data: bytes, request: ParseRequest) -> PdfContent:
    """Return the pages of a file.

    Raises:
        EncryptedDocumentError: It needs a password.
        InvalidArgumentError: It has none of the requested pages.
        MalformedDocumentError: PDFium cannot read it.
    """
    data = data[max(0, data.find(b"%PDF-")) :]  # liteparse refuses anything before the signature.
    deadline = Deadline.within(request.time_s or math.inf)
    wanted = list(request.pages[:MAX_PAGES]) or list(range(1, MAX_PAGES + 1))
    content = PdfContent()
    at, runs, characters = 0, 0, 0
    enough = request.characters or math.inf
    step = _FEWEST_PAGES if request.characters else _FIRST_PAGES
    while at < len(wanted) and (not at or (runs < _MAX_RUNS and characters < enough and deadline.left_s() > 0)):
        result = _parse(data, replace(request, pages=tuple(wanted[at : at + step])))
        facts = _add_pages(content, data, result, request.password)
        runs = sum(len(page.runs) for page in content.pages)
        lengths = (sum(len(run.text) for run in page.runs) for page in content.pages)
        characters = sum(max(_MIN_PAGE_CHARACTERS, length) for length in lengths)
        if not at:
            meta = result.doc_meta
            content.title, content.author = _choose_metadata(facts, meta.xmp or "" if meta else "")
            content.encrypted, content.is_xfa_form = bool(meta and meta.is_encrypted), result.form_type in _XFA_FORMS
            content.page_count = result.total_pages or len(content.pages)
            content.files = [*facts.files, *content.files]
            wanted = _existing_pages(wanted, content.page_count)
        at += step
        step = math.ceil(min(2 * step, (enough - characters) * at / max(1, characters)))
    content.unread_pages = wanted[at:]
    return content


def _existing_pages(wanted: Sequence[int], count: int) -> list[int]:
    """Return the pages that a document has; raise InvalidArgumentError for none."""
    existing = [number for number in wanted if number <= count]
    if not existing and count:
        pages = f"{count:,} page{'s' * (count != 1)}"
        raise InvalidArgumentError(f"There is no page {wanted[0]}: the document has {pages}.")
    return existing


def _add_pages(content: PdfContent, data: bytes, result: Any, password: str | None) -> DocumentFacts:
    """Add the pages of a native result."""
    native_pages = result.pages  # Each access copies all pages.
    texts, facts = read_document(data, [page.page_num for page in native_pages], password)
    content.texts |= texts
    for page in native_pages:
        items = _correct_items(read_items(page), texts.get(page.page_num, PageText("")))
        content.pages.append(_convert_page(page, items[:_MAX_RUNS]))
        notes, files = _read_annotations(page.annotations or ())
        form = _format_form(page.form_fields) if page.form_fields else ""
        content.forms[page.page_num] = "\n\n".join(filter(None, (form, notes)))
        content.files += files
    content.failed_pages += sorted({int(failure.page_num) for failure in result.page_errors or ()})
    return facts


def _parse(data: bytes, request: ParseRequest) -> Any:
    try:
        return parse_pdf(request, data)
    except Exception as error:  # liteparse raises errors of many kinds.
        if "password" not in str(error).lower():
            raise MalformedDocumentError(
                "The file claims to be a PDF but cannot be read as one: it is damaged or was cut off.",
                next_step="Try once more, or look for another copy.",
            ) from None
        password = "another password than the one given" if request.password else "a password"
        raise EncryptedDocumentError(
            f"The PDF is locked and asks for {password}.", next_step="Give `password`, or look for another copy."
        ) from None


def _correct_items(items: list[item_corrections.PdfItem], text: PageText) -> list[item_corrections.PdfItem]:
    """Return the items of a page without hidden words, with words in order and apart, and raised numbers."""
    if text.hidden:
        items = [item for one in items for item in _remove_hidden(one, text)]
    if text.is_vertical:
        return item_corrections.rebuild_columns(items, text.glyphs)
    if max(text.text, default="") > "\uffff":
        items = item_corrections.add_astral_letters(items, text.glyphs)
    elif text.glyphs:
        items = item_corrections.rebuild_words(items, text.glyphs, from_right=is_right_to_left(text.text))
    else:
        items = item_corrections.use_spaces_of(items, text.text)
    if text.bold:
        items = list(item_corrections.split_bold(items, text.bold))
    return item_corrections.write_superscripts(items, text.superscripts) if text.superscripts else items


def _remove_hidden(item: item_corrections.PdfItem, page: PageText) -> Iterator[item_corrections.PdfItem]:
    """Yield an item without its hidden words."""

    def is_hidden(piece: item_corrections.PdfItem | item_corrections.PdfWord) -> bool:
        box = Box(piece.x, piece.y, piece.x + piece.width, piece.y + piece.height)
        hidden = sum(box.overlap(other) for other in page.hidden)
        return hidden > _MIN_HIDDEN_SHARE * box.area and hidden > sum(map(box.overlap, page.visible))

    kept = [word for word in item.words if not is_hidden(word)]
    if len(kept) == len(item.words):
        if item.words or not is_hidden(item):
            yield item
    elif kept:
        text, last = " ".join(word.text for word in kept), kept[-1]
        yield item._replace(text=text, x=kept[0].x, width=last.x + last.width - kept[0].x, words=tuple(kept))


def _convert_page(page: Any, items: Sequence[item_corrections.PdfItem]) -> LayoutPage:
    # Rotation of most of the page's text: 0, 90, 180 or 270 degrees.
    by_rotation: Counter[float] = Counter()
    for item in items:
        by_rotation[item.rotation] += len(item.text)
    characters: Counter[int] = Counter()
    for rotation, count in by_rotation.items():
        characters[round(rotation / 90) * 90 % 360 if math.isfinite(rotation) else 0] += count
    angle = characters.most_common(1)[0][0] if characters else 0
    width, height = (
        side if math.isfinite(side) and 0 < side < 100_000 else 800.0 for side in (page.width, page.height)
    )
    lines = find_lines(page.vector_graphics)
    runs = write_formulas(tuple(_convert_runs(items, angle)), lines.across)
    tags, rotated = _read_tags(page.structure_tree), () if angle else _find_rotated_runs(items)
    converted = LayoutPage(page.page_num, height, runs, lines, tags, rotated)
    return rotate_page(converted, angle, width) if angle else converted


def _convert_runs(items: Sequence[item_corrections.PdfItem], angle: int) -> Iterator[TextRun]:
    """Yield the runs with the rotation of the page; drop others, such as stamps in the margin."""
    for item in items:
        text = item.text
        is_typed_line = len(text) > 7 and not text.strip(" -=_\u2014\u2500")
        if not text or text.isspace() or is_typed_line or not _is_straight(item, angle):
            continue
        if not all(map(math.isfinite, (item.x, item.y, item.width, item.height))) or item.width <= 0:
            continue
        size = _font_size(item)
        bold, mono, is_math = item_corrections.read_font(item.font_name or "", item.font_weight or 0)
        for part, x0, x1, words in _split_item(item, size):
            text, y1 = part.replace("\u00a0", " "), item.y + item.height
            yield TextRun(text, x0, item.y, x1, y1, size, bold, mono, mono, item.mcid, -1, words, is_math)


def _font_size(item: item_corrections.PdfItem) -> float:
    return round(min(item.size, 1000.0) * 2) / 2


def _is_straight(item: item_corrections.PdfItem, angle: int = 0) -> bool:
    """Return True for text with the rotation of the page, or slanted in place of an italic font.

    PDFium reports a slant as a rotation. Text that is really rotated by that angle has a box as high as it is long.
    """
    slant = abs((item.rotation - angle + 180) % 360 - 180) if math.isfinite(item.rotation) else 0.0
    height = item.width if angle % 180 else item.height
    return slant <= 1 or (slant < _MAX_SLANT and height < _MAX_LINE_HEIGHT * item.size)


def _find_rotated_runs(items: Sequence[item_corrections.PdfItem]) -> tuple[TextRun, ...]:
    """Return upright or slanted runs, such as headers of narrow columns, each placed by its lower end."""
    found: list[tuple[float, TextRun]] = []
    for item in items:
        rotation = item.rotation % 360 if math.isfinite(item.rotation) else 0.0
        if _is_straight(item) or 135 < rotation < 225 or item.text.isspace():
            continue
        upright = min(abs(rotation - 90), abs(rotation - 270)) < _MAX_SLANT
        size = _font_size(item)
        for piece in (item,) if upright or len(item.words) < 2 else item.words:
            foot = piece.x + piece.width / 2 if upright else piece.x + size / 2
            run = TextRun(piece.text, foot - size / 2, piece.y, foot + size / 2, piece.y + piece.height, size)
            found.append((foot if rotation > 180 else -foot, run))
    return tuple(run for _, run in sorted(found, key=lambda one: one[0])[:_MAX_ROTATED_RUNS])


def _split_item(item: item_corrections.PdfItem, size: float) -> Iterator[tuple[str, float, float, tuple[Span, ...]]]:
    """Yield text, ends and words of an item, split where its words are so far apart that they may be cells."""
    words = item.words if abs(item.rotation) <= _MAX_SLANT else ()
    ends = tuple([(word.x, word.x + word.width) for word in words])
    if len(words) < 2:
        yield item.text, item.x, item.x + item.width, ends
        return
    breaks = [at for at, (a, b) in enumerate(pairwise(ends), 1) if b[0] - a[1] > _WIDE_SPACE * size]
    if not breaks:
        text = _separate_words(item, size) if item.text.count(" ") + 1 < len(words) else item.text
        yield text, item.x, item.x + item.width, ends
        return
    for start, end in pairwise([0, *breaks, len(words)]):
        yield " ".join(word.text for word in words[start:end]), ends[start][0], ends[end - 1][1], ends[start:end]


def _separate_words(item: item_corrections.PdfItem, size: float) -> str:
    """Return the text with spaces between words that are apart, such as a caption's label and its number."""
    text, rest = "", item.text
    for word, following in pairwise(item.words):
        before, found, rest = rest.partition(word.text)
        is_apart = following.x - word.x - word.width > SPACE * size and rest.startswith(following.text)
        text += f"{before}{found} " if is_apart else before + found
    return text + rest


def _read_tags(tree: Any) -> tuple[TagNode, ...]:
    """Return the structure tree, limited in size and depth."""
    remaining = _MAX_TREE_NODES

    def node(element: Any, depth: int) -> TagNode:
        nonlocal remaining
        remaining -= 1
        has_room = depth < _MAX_TREE_DEPTH and remaining > 0
        return TagNode(
            element.element_type,
            tuple(element.marked_content_ids),
            tuple(node(child, depth + 1) for child in element.children) if has_room else (),
            _span(element.attributes, "ColSpan"),
            _span(element.attributes, "RowSpan"),
            element.actual_text or "",
        )

    return tuple(node(root, 0) for root in tree.roots) if tree else ()


def _span(attributes: Sequence[Any], name: str) -> int:
    value = next((one.number_value for one in reversed(attributes) if one.name == name), None)
    return min(100, max(1, int(value))) if value is not None and math.isfinite(value) else 1


_XMP_FACT = re.compile(r"<dc:(title|creator)>(?:(?!</dc:).){0,200}?<rdf:li[^>]*>([^<]{1,1000})<", re.DOTALL)
_PROGRAM = re.compile(r"^(?:Microsoft (?:Word|PowerPoint|Excel)|PowerPoint) - ")
_NO_TITLE = re.compile(
    r"(?:untitled|title|powerpoint presentation|document\d*|slide \d+|print"
    r"|.*\.(?:docx?|pptx?|xlsx?|indd|qxd|tex|dvi|pdf|cdr))",
    re.IGNORECASE,
)
"""Titles that programs set: file names and placeholders."""


def _choose_metadata(declared: DocumentFacts, xmp: str) -> tuple[str | None, str | None]:
    title = _PROGRAM.sub("", declared.title).strip()
    found = {name: html.unescape(text).strip() for name, text in reversed(_XMP_FACT.findall(xmp))}
    title = found.get("title") or ("" if _NO_TITLE.fullmatch(title) else title)
    return title or None, found.get("creator") or declared.author or None


_XFA_FORMS = frozenset({2, 3})
"""Form types (PDFium's FPDF_GetFormType) whose content is Adobe's XML (XFA) instead of the pages."""

_MAX_FIELDS = 500
_MAX_NAME_CHARS, _MAX_VALUE_CHARS = 120, 1_000
_PASSWORD_FLAG = 1 << 13
"""Flag of a password field, whose text is never shown: PDF 32000-1, 12.7.4.3."""
_UNCHECKED = "[ ]"


def _format_form(fields: Iterable[Any]) -> str:
    """Return the form fields of a page (from liteparse) as a list; empty if none is filled."""
    found: dict[str, str] = {}
    empty: set[str] = set()
    has_input = False
    for one in fields:
        name = clean_line(str(one.alternate_name or ""), _MAX_NAME_CHARS)  # Its tooltip, or the last part of its path.
        name = name or clean_line(str(one.name or "").rpartition(".")[2], _MAX_NAME_CHARS) or "(without a name)"
        value = _field_value(one)
        if value is None or len(found) >= _MAX_FIELDS:
            continue
        has_input = has_input or value not in ("", _UNCHECKED)
        if not value:
            empty.add(name)
        elif found.setdefault(name, value) != value and value not in found[name].split(", "):
            found[name] += f", {value}"
    if not has_input:
        return ""
    lines = ["Filled in on this form:", "", *(f"- {name}: {value}" for name, value in found.items())]
    if count := len(empty - set(found)):
        lines.append(f"- ({count} more {'field is' if count == 1 else 'fields are'} empty)")
    return "\n".join(lines)


_NO_NOTES = frozenset({"link", "popup", "widget"})


def _read_annotations(annotations: Iterable[Any]) -> tuple[str, list[str]]:
    """Return the comments and typed notes on a page (from liteparse) as a list, and the names of attached files."""
    notes: list[str] = []
    files: list[str] = []
    for one in annotations:
        text = clean_line(str(one.contents or ""), _MAX_VALUE_CHARS)
        if one.subtype == "fileattachment":
            files.append(text or "attached file")
        elif text and one.subtype not in _NO_NOTES:
            author = clean_line(str(one.title or ""), _MAX_NAME_CHARS)
            notes.append(f"- {author}: {escape_text(text)}" if author else f"- {escape_text(text)}")
    return "\n".join(["Notes on this page:", "", *notes]) if notes else "", files


def _field_value(field: Any) -> str | None:
    """Return the value of a field; empty for no value, None for a field that cannot be filled in."""
    value = str(field.value or "")
    match field.field_type:
        case "checkbox":
            return "[x]" if field.checked else _UNCHECKED
        case "radio":
            value = str(field.export_value or value) if field.checked else ""
        case "combobox" | "listbox":
            value = ", ".join(map(str, field.selected_options or ())) or value
        case "text":
            if value and int(field.field_flags or 0) & _PASSWORD_FLAG:
                return "(hidden)"
        case _:
            return None
    return clean_line(value, _MAX_VALUE_CHARS)
