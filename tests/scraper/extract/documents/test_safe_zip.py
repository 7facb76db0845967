"""XML declarations in parts of office files are checked quickly, even in hostile files."""

from __future__ import annotations

import pytest

from scraper.errors import MalformedDocumentError
from scraper.extract.documents.safe_zip import check_entities
from tests.scraper.soon import soon

TYPE = "<!DOCTYPE"


@pytest.mark.parametrize(
    "hostile",
    [TYPE * 5_000, f"{TYPE} '" * 5_000, f"{TYPE}'\"" * 5_000, f"{TYPE} \"{TYPE} '" * 3_000, f'{TYPE} "{TYPE * 5_000}"'],
)
def test_types_that_never_end_are_looked_through_soon(hostile: str) -> None:
    with soon():
        check_entities(hostile.encode(), "a.xml")
        with pytest.raises(MalformedDocumentError, match="declares entities"):
            check_entities(f"{hostile}>'>\"> {TYPE} a 'b>' [<!ENTITY e 'f'>]>".encode(), "a.xml")


def test_a_type_that_is_only_named_is_harmless() -> None:
    check_entities(b"<!DOCTYPE html PUBLIC \"x[\" 'y['><p>[</p>", "a.xml")
