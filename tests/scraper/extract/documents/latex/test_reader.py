"""LaTeX source files."""

from __future__ import annotations

import pytest

from scraper import errors
from scraper.extract.documents.latex import reader
from scraper.extract.documents.sniff import DocumentKind, sniff_kind
from tests.growth import Hostile, hostile_inputs
from tests.scraper.extract.documents.builders import parse

REVTEX = r"""\documentclass[twocolumn,prl]{revtex4-2}
% \title{An old title}
\begin{document}
\title{Tides of the {\it northern} harbor}
\author{Ada Vale}
\email{ada@example.org}
\affiliation{Institute of Tides, Porto}
\author{Bo \surname{Stone}}
\altaffiliation{Also at the lighthouse}
\affiliation{Harbor Office, Cork}
\begin{abstract}
The water rises twice a day.
\end{abstract}
\maketitle
\end{document}
"""


def markdown_of(body: str, preamble: str = "") -> str:
    return parse(
        f"\\documentclass{{article}}\n{preamble}\n\\begin{{document}}\n{body}\n\\end{{document}}".encode()
    ).markdown


def test_revtex_file_has_a_title_page_and_metadata() -> None:
    parsed = parse(REVTEX.encode(), name="tides.tex")
    assert (parsed.format, parsed.title, parsed.author) == (
        "latex",
        "Tides of the northern harbor",
        "Ada Vale, Bo Stone",
    )
    blocks = [block.strip() for block in parsed.markdown.split("\n\n")]
    assert blocks == [
        "# Tides of the *northern* harbor",
        "Ada Vale",
        "ada@example.org",
        "Institute of Tides, Porto",
        "Bo Stone",
        "Also at the lighthouse",
        "Harbor Office, Cork",
        "## Abstract",
        "The water rises twice a day.",
    ]


def test_title_of_the_preamble_stands_where_the_file_puts_it() -> None:
    preamble = "\\title{Short}\n\\author{A. One\\thanks{Paid.} \\\\ Cork \\and B. T\\'wo \\\\ Porto}"
    parsed = parse(f"\\documentclass{{a}}{preamble}\\begin{{document}}First.\n\n\\maketitle Last.".encode())
    assert parsed.author == "A. One, B. Tẃo"
    assert parsed.markdown == ("First.\n\n# Short\n\nA. One[^1]  \nCork\n\nB. Tẃo  \nPorto\n\nLast.\n\n[^1]: Paid.")


def test_sections_lists_and_marked_words_become_markdown() -> None:
    body = (
        "\\section{Harbor}\\label{sec:h} {\\bf Bold} and \\emph{slanted} words -- ``quoted''.\n"
        "\\subsection*{Ships}\nSee Section~\\ref{sec:h}.\n"
        "\\begin{enumerate}\n\\item One\n\\begin{itemize}\\item inner\\end{itemize}\n\\item[b)] Two\n\\end{enumerate}\n"
        "\\begin{description}\\item[Ebb] Water falls.\\end{description}"
    )
    assert markdown_of(body) == (
        "## Harbor\n\n**Bold** and *slanted* words – “quoted”.\n\n### Ships\n\nSee Section “Harbor”.\n\n"
        "1. One\n\n   - inner\n- b) Two\n\n- **Ebb** Water falls."
    )


def test_formulas_stay_tex_with_the_macros_of_the_file() -> None:
    preamble = (
        "\\newcommand{\\R}{\\mathbb{R}}\\newcommand{\\vect}[2][x]{\\mathbf{#2}_{#1}}\\def\\a{\\alpha}\n"
        "\\newcommand{\\be}{\\begin{equation}}\\newcommand{\\ee}{\\end{equation}}"
    )
    body = (
        "In $\\vect{v} \\in \\R$ and \\(\\a b\\), by Eq.~\\eqref{e}:\n\\be \\label{e} E = mc^2 \\ee\n"
        "\\begin{align*} a &= b \\\\ c &= d \\nonumber \\end{align*}"
    )
    assert markdown_of(body, preamble) == (
        "In $\\mathbf{v}_{x} \\in \\mathbb{R}$ and $\\alpha b$, by Eq. (1):\n\n$$\\tag{1} E = mc^2$$\n\n"
        "$$\\begin{aligned}a &= b \\\\ c &= d\\end{aligned}$$"
    )


def test_tables_repeat_merged_cells_and_have_captions() -> None:
    body = (
        "\\begin{table}\\caption{Heights}\\label{t}\n\\begin{tabular}{l|rr}\\toprule\n"
        "& \\multicolumn{2}{c}{Height}\\\\ \\cmidrule(lr){2-3}\nTown & low & high\\\\[2pt] \\midrule\n"
        "\\multirow{2}{*}{Porto} & 1.2 & $3$\\\\\n & 1.3 & 3.5\\\\\nCork \\& Co & -- & 5~m\\\\ \\bottomrule\n"
        "\\end{tabular}\\end{table}\nSee Table~\\ref{t}."
    )
    assert markdown_of(body) == (
        "Table 1: Heights\n\n|  | Height | Height |\n| --- | --- | --- |\n| Town | low | high |\n"
        "| Porto | 1.2 | $3$ |\n| Porto | 1.3 | 3.5 |\n| Cork & Co | – | 5 m |\n\nSee Table 1."
    )


def test_citations_have_the_numbers_of_the_bibliography() -> None:
    body = (
        "As in \\cite[p.~3]{b,a} and \\citep{other}.\\footnote{Below.}\n\\begin{thebibliography}{9}\n"
        "\\bibitem{a} A. Book.\n\\bibitem[B]{b} \\textit{B.} Book.\n\\end{thebibliography}"
    )
    assert markdown_of(body) == (
        "As in [2, 1, p. 3] and [other].[^1]\n\n## References\n\n[1] A. Book.\n\n[2] *B.* Book.\n\n[^1]: Below."
    )


def test_code_is_literal() -> None:
    body = (
        "\\begin{verbatim}\nx = {1} % one\n\\end{verbatim}\n\\begin{lstlisting}[language=Python]\ndef f(): pass\n"
        "\\end{lstlisting}\nCall \\verb|a_b{| or \\texttt{c\\_d}."
    )
    assert markdown_of(body) == ("```\nx = {1} % one\n```\n\n```python\ndef f(): pass\n```\n\nCall `a_b{` or `c_d`.")


def test_missing_files_and_drawings_are_warnings() -> None:
    source = (
        "\\documentclass{book}\n\\begin{document}\nBefore.\n\\input{parts/one}\n\\include{two}\n"
        "\\begin{tikzpicture}\\draw (0,0);\\end{tikzpicture}\nAfter.\\bibliography{refs}\n\\end{document}"
    )
    parsed = parse(source.encode())
    assert parsed.markdown == "Before.\n\n(file parts/one is not here)\n\n(file two is not here)\n\nAfter."
    assert parsed.warnings == (
        "The text of other files, to which this one refers, is missing: parts/one, two, refs.",
        "Drawings and their labels (TikZ, pgfplots) are left out.",
    )


def test_unknown_commands_and_environments_keep_their_text() -> None:
    body = (
        "\\fancy[2cm]{Kept words}{and more} \\vspace{2cm}\\textcolor{red}{red} \\LaTeX{} "
        "Stra\\ss e, S\\~ao, \\v{S}koda.\n"
        "\\begin{widebox}[3]Inside.\\end{widebox}\\SI{5}{\\kilo\\meter}"
    )
    assert markdown_of(body) == "Kept words and more\n\nred LaTeX Straße, São, Škoda.\n\nInside.\n\n5 km"


def test_part_of_a_document_is_read_and_its_examples_are_text() -> None:
    source = "\\section{One}\nWords.\n\\begin{demo}\\begin{document}Shown.\\end{document}\\end{demo}\nLast."
    parsed = parse(source.encode(), name="chapter.tex")
    assert parsed.markdown == "## One\n\nWords.\n\nShown.\n\nLast."


@pytest.mark.parametrize(
    "text", ["Use the command:\n\n\\documentclass{article}\n\nto begin.", "A path C:\\section and more."]
)
def test_text_about_latex_is_plain_text(text: str) -> None:
    assert sniff_kind(text.encode(), name="a.txt") is DocumentKind.TEXT
    assert sniff_kind(b"% made by a program\n\\RequirePackage{x}\n\\documentclass{a}\nx") is DocumentKind.LATEX


def test_file_without_text_raises_an_error() -> None:
    with pytest.raises(errors.NoContentError):
        parse(b"\\documentclass{article}\n\\begin{document}\\maketitle\\end{document}")


@hostile_inputs(
    {
        "brackets": (20_000, lambda count: b"\\item[" * count),
        "formulas": (20_000, lambda count: b"\\( " * count),
        "conditionals": (20_000, lambda count: b"\\iffalse " * count),
        "groups": (20_000, lambda count: b"{" * count),
        "literal texts": (20_000, lambda count: b"\\verb|" * count),
        "environments": (5_000, lambda count: b"\\begin{itemize}" * count),
        "cells": (50_000, lambda count: b"\\begin{tabular}{l}" + b"&" * count),
    }
)
def test_unclosed_constructs_are_read_once(hostile: Hostile[bytes]) -> None:
    hostile.run(lambda body: parse(b"\\documentclass{a}\n\\begin{document}x " + body), limit_s=10)


def test_macros_that_call_themselves_end() -> None:
    assert markdown_of("\\def\\a{\\b}\\def\\b{\\a\\a}\\a Words.") == "Words."


def test_the_rest_of_a_very_long_file_is_left_out_with_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "MAX_SOURCE_CHARACTERS", 200)
    parsed = parse(b"\\documentclass{a}\n\\begin{document}\n" + b"words " * 100 + b"\\end{document}")
    assert parsed.warnings == ("Only the first 1,500,000 characters of the file are read.",)
    assert 20 < parsed.markdown.count("words") < 40
