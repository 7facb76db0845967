"""Comments of a Word file: who said what, and where in the text."""

from __future__ import annotations

from collections.abc import Mapping

from scraper.extract.documents.docx.xml_names import W, text_element
from scraper.extract.documents.review_comments import ReviewComment, ReviewComments
from scraper.extract.documents.safe_zip import Parts
from scraper.extract.dom.xpath import Element

_WORD_2010 = "{http://schemas.microsoft.com/office/word/2010/wordml}"
_WORD_2012 = "{http://schemas.microsoft.com/office/word/2012/wordml}"


def comments_in(parts: Parts, root: Element | None) -> dict[str, ReviewComment]:
    """The comments of a file by their numbers, from the part that lists them."""
    found: dict[str, ReviewComment] = {}
    if root is None:
        return found
    done = _resolved(parts)
    for comment in root.iter(W + "comment"):
        paragraphs = list(comment.iter(W + "p"))
        said = ("".join(text.text or "" for text in paragraph.iter(W + "t")) for paragraph in paragraphs)
        found[str(comment.get(W + "id"))] = ReviewComment(
            str(comment.get(W + "author", "")),
            str(comment.get(W + "date", "")),
            " ".join(said),
            any(str(paragraph.get(_WORD_2010 + "paraId")) in done for paragraph in paragraphs),
        )
    return found


def mark_comments(body: Element, comments: Mapping[str, ReviewComment]) -> ReviewComments:
    """Write a mark where each comment's passage ends; the comments in the order of their marks."""
    marked = ReviewComments()
    for reference in list(body.iter(W + "commentReference")):
        parent = reference.getparent()
        comment = comments.get(str(reference.get(W + "id")))
        if parent is not None and comment is not None:
            parent.replace(reference, text_element(marked.mark(comment)))
    return marked


def _resolved(parts: Parts) -> frozenset[str]:
    """The paragraphs of comments that are marked as done."""
    root = parts.xml_if_there("word/commentsExtended.xml")
    return frozenset(
        str(one.get(_WORD_2012 + "paraId"))
        for one in (root.iter(_WORD_2012 + "commentEx") if root is not None else ())
        if one.get(_WORD_2012 + "done") in ("1", "true")
    )
