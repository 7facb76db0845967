"""XML declarations in parts of office files are checked quickly, even in hostile files."""

from __future__ import annotations

import pytest

from scraper.documents.safe_zip import check_entities
from scraper.errors import MalformedDocumentError
from tests.scraper.soon import soon

TYPE = "<!DOCTYPE"


@pytest.mark.parametrize(
    "hostile",
    [TYPE * 5_000, f"{TYPE} '" * 5_000, f"{TYPE}'\"" * 5_000, f"{TYPE} \"{TYPE} '" * 3_000, f'{TYPE} "{TYPE * 5_000}"'],
)
def test_check_entities_is_fast_for_unclosed_document_types(hostile: str) -> None:
    with soon():
        check_entities(hostile.encode(), "a.xml")
        with pytest.raises(MalformedDocumentError, match="declares entities"):
            check_entities(f"{hostile}>'>\"> {TYPE} a 'b>' [<!ENTITY e 'f'>]>".encode(), "a.xml")


def test_document_type_without_declarations_is_accepted() -> None:
    check_entities(b"<!DOCTYPE html PUBLIC \"x[\" 'y['><p>[</p>", "a.xml")
