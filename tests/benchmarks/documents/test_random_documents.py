"""Documents of random layout hold the content that their gold states."""

from __future__ import annotations

from benchmarks.documents.random_documents.content import random_documents
from benchmarks.documents.random_documents.model import Cell, Table
from benchmarks.documents.random_documents.word import write_docx
from benchmarks.documents.score import scores
from scraper.documents.dispatcher import dispatch
from scraper.documents.model import ParseRequest


def test_spanning_cells_leave_empty_positions() -> None:
    table = Table(
        [[Cell("a", down=2), Cell("b", across=2)], [Cell("c"), Cell("d")]], [[Cell("e"), Cell("f"), Cell("g")]], ""
    )
    assert table.grid() == [["a", "b", ""], ["", "c", "d"], ["e", "f", "g"]]


def test_same_seed_writes_the_same_documents_and_another_seed_others() -> None:
    first, again, other = ([one.gold() for one in random_documents(seed, 8)] for seed in (1, 1, 2))
    assert first == again
    assert not set(first) & set(other)


def test_word_files_read_as_their_gold() -> None:
    tables = []
    for document in random_documents(7, 16):
        if document.producer == "word":
            text = dispatch(write_docx(document), ParseRequest(name=f"{document.name}.docx")).markdown
            found = scores(document.gold(), text)
            assert (found.order, found.headings) > (0.98, 0.99), document.name
            tables.append(found.tables)
    assert len(tables) == 3 and all(score is not None and score > 0.9 for score in tables)
