"""Jupyter notebooks: text, code and outputs."""

from __future__ import annotations

import json

import pytest

from tests.scraper.documents.builders import parse


def test_notebook_contains_text_code_and_output() -> None:
    notebook = {
        "nbformat": 4,
        "metadata": {"kernelspec": {"language": "python"}},
        "cells": [
            {"cell_type": "markdown", "source": ["# Title"]},
            {"cell_type": "code", "source": "print(1)", "outputs": [{"text": ["1\n"]}]},
            {
                "cell_type": "code",
                "source": "fail()",
                "outputs": [{"output_type": "error", "ename": "NameError", "evalue": "no fail", "traceback": ["..."]}],
            },
        ],
    }
    assert parse(json.dumps(notebook).encode()).markdown == (
        "# Title\n\n```python\nprint(1)\n```\n\n```\n1\n```\n\n```python\nfail()\n```\n\n```\nNameError: no fail\n```"
    )


def notebook_of(*outputs: dict[str, object], source: str = "show()") -> bytes:
    cells = [{"cell_type": "code", "source": source, "outputs": list(outputs)}]
    return json.dumps({"cells": cells, "nbformat": 4, "metadata": {}}).encode()


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (
            {"text/plain": ["<IPython.core.display.Markdown object>"], "text/markdown": ["**The** ferry"]},
            "**The** ferry",
        ),
        ({"text/plain": "<IPython.core.display.Latex object>", "text/latex": "$x^2$"}, "$x^2$"),
        ({"text/html": "<table><tr><th>Ferry</th></tr><tr><td>7</td></tr></table>"}, "| Ferry |\n| --- |\n| 7 |"),
        (
            {"text/plain": "<IPython.core.display.Image object>", "image/png": "AA"},
            "```\n<IPython.core.display.Image object>\n```",
        ),
    ],
)
def test_notebook_output_without_plain_text_is_shown_in_its_own_format(data: dict[str, object], expected: str) -> None:
    parsed = parse(notebook_of({"output_type": "display_data", "data": data}), name="a.ipynb")
    assert parsed.markdown == f"```python\nshow()\n```\n\n{expected}"


def test_long_output_of_a_notebook_has_a_warning_and_one_without_source_is_shown() -> None:
    parsed = parse(notebook_of({"text": "ferry " * 2_000}, source=""), name="a.ipynb")
    assert parsed.warnings == ("Only the first 4,000 characters of each output are shown.",)
    assert parsed.markdown.endswith("(The rest of this output is left out.)")
    assert parse(notebook_of({"text": "ferry " * 100}), name="a.ipynb").warnings == ()


def test_notebook_with_large_pictures_is_read_as_a_whole() -> None:
    picture = {"output_type": "display_data", "data": {"image/png": "A" * 5_000_000, "text/plain": "<Figure>"}}
    cells = [
        {"cell_type": "code", "source": "plot()", "outputs": [picture]},
        {"cell_type": "markdown", "source": "The end."},
    ]
    parsed = parse(json.dumps({"cells": cells, "nbformat": 4, "metadata": {}}).encode(), name="a.ipynb")
    assert (parsed.format, parsed.warnings) == ("ipynb", ())
    assert parsed.markdown.endswith("```\n<Figure>\n```\n\nThe end.")


def test_colors_of_a_terminal_are_left_out() -> None:
    cell = {
        "cell_type": "code",
        "source": "x",
        "outputs": [{"text": "\x1b[1;31mError\x1b[0m in \x1b]8;;http://a\x07line\x1b[K"}],
    }
    assert "\n```\nError in line\n```" in parse(json.dumps({"nbformat": 4, "cells": [cell]}).encode()).markdown
