"""Relations of the kind `same`: the page in another spelling, with words in inline elements, in another design."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from random import Random

from benchmarks.integrity import dom, visible
from benchmarks.integrity.dom import Comment, Element, Text
from benchmarks.integrity.relations import NEAR, Change, Subject, relation, sentence

_TAG = re.compile(r"(</?)([a-zA-Z][a-zA-Z0-9]*)(?=[\s>])")
_VOID_TAG = re.compile(rf"<({'|'.join(dom.VOID)})((?: [^<>]*?)?)>")
_MARKUP = re.compile(
    r"(<(script|style|title|textarea|xmp|iframe|noembed|noframes)\b.*?</\2>|<!--.*?-->|<[^>]*>)",
    re.DOTALL | re.IGNORECASE,
)
_VOWEL = re.compile(r"(?<![&#\w;])[aeo](?=\w)")
_HANGUL = re.compile("[\u1100-\u11ff\uac00-\ud7a3]")
_END_TAG = re.compile(
    r"</(?:p|li|dt|dd|td|th|tr|tbody|thead|option)>"
    r"(?=\s*<(?:/?(?:ul|ol|dl|table|tr|tbody|div|section|article|main)|p|li|dt|dd|td|th|tr|tbody)\b)"
)
_CODE = "<script>window.q=window.q||[];q.push(['a',1])</script><style>.a1{color:#111}</style>"
_INLINE = {
    "span": ('<span class="a7">', "</span>"),
    "font": ('<font face="Arial">', "</font>"),
    "custom-element": ("<x-term>", "</x-term>"),
    "word-smart-tag": ('<st1:place w:st="on">', "</st1:place>"),
    "button": ('<button type="button" class="term" aria-haspopup="dialog">', "</button>"),
    "link": ('<a href="/wiki/page">', "</a>"),
    "mark": ("<mark>", "</mark>"),
    "bdi": ("<bdi>", "</bdi>"),
    "label": ("<label>", "</label>"),
}


def on_source(name: str) -> Callable[[Callable[[Subject, Random], str | None]], None]:
    """Register a change of the source; None if it cannot be made."""

    def add(change: Callable[[Subject, Random], str | None]) -> None:
        @relation(name, "same")
        def make(subject: Subject, rng: Random) -> Change | None:
            source = change(subject, rng)
            return None if source is None else Change(source)

    return add


def on_tree(name: str, least: float = 1.0) -> Callable[[Callable[[Element, Subject, Random], bool]], None]:
    """Register a change of the tree; False if it cannot be made."""

    def add(change: Callable[[Element, Subject, Random], bool]) -> None:
        @relation(name, "same", least)
        def make(subject: Subject, rng: Random) -> Change | None:
            root = subject.copy()
            return Change(dom.serialize(root)) if change(root, subject, rng) else None

    return add


# Spelling


@on_source("serialized")
def _(subject: Subject, rng: Random) -> str:
    return subject.source


@on_tree("comments-and-attribute-order")
def _(root: Element, subject: Subject, rng: Random) -> bool:
    for element in list(root.iter()):
        if len(element.attrs) > 1:
            items = list(element.attrs.items())
            rng.shuffle(items)
            element.attrs = dict(items)
        if element.tag in ("p", "div", "li", "td") and rng.random() < 0.3:
            element.insert(rng.randrange(len(element.children) + 1), Comment(" part "))
    return True


@on_source("upper-case-tags")
def _(subject: Subject, rng: Random) -> str | None:
    source = subject.source
    return None if "<svg" in source or "<math" in source else _TAG.sub(lambda tag: tag[1] + tag[2].upper(), source)


@on_source("xhtml-syntax")
def _(subject: Subject, rng: Random) -> str:
    return _VOID_TAG.sub(r"<\1\2 />", subject.source)


@on_source("character-references")
def _(subject: Subject, rng: Random) -> str:
    source, pieces, end = subject.source, [], 0
    for markup in _MARKUP.finditer(source):
        pieces += [_with_references(source[end : markup.start()], rng), markup[0]]
        end = markup.end()
    return "".join([*pieces, _with_references(source[end:], rng)])


def _with_references(text: str, rng: Random) -> str:
    text = "".join(sign if sign.isascii() else f"&#{ord(sign)};" for sign in text)
    return _VOWEL.sub(lambda sign: f"&#x{ord(sign[0]):x};" if rng.random() < 0.2 else sign[0], text)


@on_tree("white-space-between-blocks")
def _(root: Element, subject: Subject, rng: Random) -> bool:
    for element in list(root.iter()):
        if any(one.tag in ("pre", "textarea", "svg", "head") for one in element.lineage()):
            continue
        for child in element.elements:
            behind = element.children[child.index + 1 : child.index + 2]
            if child.tag in visible.BLOCKS and any(
                isinstance(one, Element) and one.tag in visible.BLOCKS for one in behind
            ):
                element.insert(child.index + 1, Text("\n\n      "))
    return True


@on_tree("decomposed-characters")
def _(root: Element, subject: Subject, rng: Random) -> bool:
    count = 0
    for node in next(root.iter("body"), root).texts():
        data = unicodedata.normalize("NFD", node.data)
        is_same = unicodedata.normalize("NFC", data) == node.data and not _HANGUL.search(node.data)
        if data != node.data and is_same and node.parent is not None and node.parent.tag not in dom.RAW:
            node.data = data
            count += 1
    return count > 0


@on_source("end-tags-omitted")
def _(subject: Subject, rng: Random) -> str | None:
    changed = _END_TAG.sub("", subject.source)
    page = visible.read_page(dom.parse(changed))
    one, other = ([(unit.block.tag, unit.squashed) for unit in units] for units in (subject.page.units, page.units))
    return changed if one == other and changed != subject.source else None


@relation("https-instead-of-http", "same")
def _(subject: Subject, rng: Random) -> Change:
    scheme, _, rest = subject.url.partition("://")
    return Change(subject.source, url=f"{'https' if scheme == 'http' else 'http'}://{rest}")


@on_tree("page-address-as-base")
def _(root: Element, subject: Subject, rng: Random) -> bool:
    head = next(root.iter("head"), None)
    if head is None or root.has("base"):
        return False
    head.insert(0, Element("base", {"href": subject.url}))
    return True


@relation("styles-and-scripts-in-text", "same")
def _(subject: Subject, rng: Random) -> Change | None:
    root, paragraphs = subject.copies()
    for paragraph in paragraphs:
        paragraph.replace(paragraph, *dom.parse_fragment(_CODE))
    return Change(dom.serialize(root)) if len(paragraphs) > 1 else None


# Words in inline elements


def wrap_words(subject: Subject, rng: Random, opening: str, closing: str, share: float = 0.5) -> Change | None:
    """Put one or two words of some sentences into an element."""
    root, paragraphs = subject.copies()
    count = 0
    for paragraph in reversed(paragraphs):
        if rng.random() > share and count:
            continue
        texts = [one for one in paragraph.children if isinstance(one, Text) and len(one.data.split()) >= 6]
        if texts:
            text = rng.choice(texts)
            words = list(re.finditer(r"\S+", text.data))
            first = rng.randrange(1, len(words) - 3)
            start, end = words[first].start(), words[first + rng.randrange(0, 2)].end()
            before, inner, behind = map(dom.escape, (text.data[:start], text.data[start:end], text.data[end:]))
            (block,) = dom.parse_fragment(f"<p>{before}{opening}{inner}{closing}{behind}</p>")
            assert isinstance(block, Element)
            text.replace(*block.children)
            count += 1
    return Change(dom.serialize(root)) if count else None


def add_wrapper(name: str, opening: str, closing: str) -> None:
    """Register a relation that puts words into an element."""
    relation(f"words-in-{name}", "same")(lambda subject, rng: wrap_words(subject, rng, opening, closing))


for _name, _tags in _INLINE.items():
    add_wrapper(_name, *_tags)


# Design


@on_tree("nested-wrappers", NEAR)
def _(root: Element, subject: Subject, rng: Random) -> bool:
    body = next(root.iter("body"))
    for _ in range(rng.randrange(1, 7)):
        wrapper = Element("div")
        wrapper.insert(0, *body.children)
        body.children = []
        body.append(wrapper)
    return True


@on_tree("paragraphs-as-div", NEAR)
def _(root: Element, subject: Subject, rng: Random) -> bool:
    for paragraph in list(root.iter("p")):
        paragraph.tag = "div"
    return bool(subject.paragraphs)


@on_tree("hashed-class-names", 0.95)
def _(root: Element, subject: Subject, rng: Random) -> bool:
    names: dict[str, str] = {}
    for element in root.iter():
        if element.classes:
            new = [
                names.setdefault(name, f"{rng.choice('abcdefgh')}{rng.randrange(16**5):05x}")
                for name in element.classes
            ]
            element.attrs["class"] = " ".join(new)
    return bool(names) and not root.has("style")


@on_tree("other-title", 0.97)
def _(root: Element, subject: Subject, rng: Random) -> bool:
    title = next(root.iter("title"), None)
    if title is None:
        return False
    title.children = []
    title.append(Text(sentence(subject, rng, 6).rstrip(".")))
    for meta in root.iter("meta"):
        if meta.get("property") == "og:title" or meta.get("name") in ("title", "twitter:title"):
            meta.attrs["content"] = title.text()
    return True
