"""Write documents as LaTeX source, in the styles of articles of different publishers."""

from __future__ import annotations

import re

from benchmarks.documents.random_documents.model import Block, Cell, Document, Layout, Table

_FONTS = {
    "serif": r"\usepackage{mathptmx}",
    "sans": r"\usepackage[scaled=.92]{helvet}\renewcommand{\familydefault}{\sfdefault}",
    "mono": r"\usepackage{courier}\renewcommand{\familydefault}{\ttdefault}",
}
_SPECIAL = re.compile(r"[&%$#_{}~^\\–]")
_ESCAPES = {"~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "\\": r"\textbackslash{}", "–": "--"}
_NEWLINE = r" \newline "
_LEAST_GAP = 1.4
"""Points on both sides of a column. Proceedings of Springer use it; the default of LaTeX is 6."""
_BARS = (30, 18, 26, 10)


def write_latex(document: Document) -> str:
    """Return the LaTeX source of the document."""
    layout = document.layout
    title, *others = document.blocks
    heading = rf"{{\raggedright {_font(layout, 0)} {_text(title.lines[0])}\endgraf}}\bigskip "
    body = "\n\n".join(_block(block, layout) for block in others)
    body = body if layout.justified else rf"\raggedright {body}"
    if layout.columns > 1:
        body = rf"\begin{{multicols}}{{{layout.columns}}}[{heading}]{body}\end{{multicols}}"
    else:
        body = heading + body
    gap = max(_LEAST_GAP, layout.gap / 2 - 7)
    footer = rf"{_text(layout.footer)} \thepage" if layout.footer else ""
    return rf"""
        \documentclass{{article}}
        \usepackage[utf8]{{inputenc}}\usepackage[T1]{{fontenc}}
        \usepackage{{textcomp,booktabs,array,multicol,graphicx,fancyhdr}}
        {_FONTS[layout.family]}
        \usepackage[paperwidth={layout.width}bp,paperheight={layout.height}bp,margin={layout.margin:.1f}bp]{{geometry}}
        \setlength{{\columnsep}}{{{layout.gap:.1f}pt}}\setlength{{\tabcolsep}}{{{gap:.1f}pt}}\setlength{{\headheight}}{{15pt}}
        \pagestyle{{fancy}}\fancyhf{{}}\renewcommand{{\headrulewidth}}{{0pt}}
        \lhead{{{_text(layout.header)}}}\cfoot{{{footer}}}
        \makeatletter
        {_heading("section", 1, layout)}
        {_heading("subsection", 2, layout)}
        \makeatother
        \begin{{document}}\fontsize{{{layout.size}}}{{{layout.size * layout.leading:.1f}}}\selectfont
        {body}
        \end{{document}}
    """


def _heading(name: str, level: int, layout: Layout) -> str:
    font = rf"\raggedright{_font(layout, level)}"
    return rf"\renewcommand\{name}{{\@startsection{{{name}}}{{{level}}}{{0pt}}{{10pt}}{{5pt}}{{{font}}}}}"


def _font(layout: Layout, level: int) -> str:
    size = layout.size * layout.heading_sizes[level]
    return rf"\bfseries\fontsize{{{size:.1f}}}{{{size * 1.2:.1f}}}\selectfont"


def _text(text: str) -> str:
    return _SPECIAL.sub(lambda match: _ESCAPES.get(match[0], f"\\{match[0]}"), text)


def _block(block: Block, layout: Layout) -> str:
    lines = [_text(line) for line in block.lines]
    if block.kind == "heading":
        return rf"\{'sub' * (block.level - 2)}section*{{{lines[0]}}}"
    if block.kind in ("bullets", "numbers"):
        name = "itemize" if block.kind == "bullets" else "enumerate"
        items = "\n".join(rf"\item {line}" for line in lines)
        return rf"\begin{{{name}}}{items}\end{{{name}}}"
    if block.kind == "directory":
        half = (len(lines) + 1) // 2
        columns = (
            rf"\begin{{minipage}}[t]{{.46\linewidth}}\raggedright {_NEWLINE.join(part)}\smallskip\end{{minipage}}"
            for part in (lines[:half], lines[half:])
        )
        return r"\noindent " + r"\hfill ".join(columns)
    if block.kind == "chart":
        return _chart(lines)
    if block.table is not None:
        return _table(block.table, layout)
    return "\n\n".join(lines)


def _chart(labels: list[str]) -> str:
    """Return bars with an axis, and a legend beside them."""
    shapes = r"\put(0,0){\line(1,0){62}}\put(0,0){\line(0,1){36}}"
    for at, (label, bar) in enumerate(zip(labels, _BARS, strict=False)):
        shapes += rf"\put({4 + at * 14},0){{\rule{{8pt}}{{{bar}pt}}}}\put(72,{30 - at * 10}){{\rule{{5pt}}{{5pt}}}}"
        shapes += rf"\put(81,{30 - at * 10}){{\scriptsize {label}}}"
    return rf"\noindent\begin{{picture}}(150,42){shapes}\end{{picture}}"


def _table(table: Table, layout: Layout) -> str:
    lines = table.rules in ("grid", "open")
    bar = "|" if lines else ""
    column_width = (layout.width - 2 * layout.margin) / layout.columns - layout.gap
    wide = max(60.0, column_width * 0.4)
    kinds = [
        rf"p{{{wide:.0f}pt}}" if at in table.wide else "r" if at in table.numbers else "l" for at in range(table.width)
    ]
    top, middle, bottom = {
        "grid": (r"\hline", "", ""), "open": ("", r"\hline", ""), "rows": ("", r"\hline", ""),
        "booktabs": (r"\toprule", r"\midrule", r"\bottomrule"),
        "frame": (r"\hline", "", r"\hline"), "shaded": (r"\hline", r"\hline", r"\hline"), "none": ("", "", ""),
    }[table.rules]  # fmt: skip
    rule = r"\hline" if table.rules in ("grid", "rows", "open") else ""
    head_rule, head_bar = (rule, bar) if table.rules == "grid" else ("", "")
    head = _rows(table.head, table, kinds, head_bar, head_rule, bold=True, is_bare=table.rules == "open")
    end = len(table.rows) - table.sums
    body = _rows(table.rows[:end], table, kinds, bar, rule)
    body += _rows(table.rows[end:], table, kinds, "", "", is_bare=True)
    columns = bar + bar.join(kinds) + bar
    tabular = rf"\begin{{tabular}}{{{columns}}}{top} {head} {middle} {body} {bottom}\end{{tabular}}"
    return (
        rf"\begin{{center}}\sbox0{{{tabular}}}"
        r"\ifdim\wd0>\linewidth\resizebox{\linewidth}{!}{\usebox0}\else\usebox0\fi\end{center}"
    )


def _rows(
    rows: list[list[Cell]],
    table: Table,
    kinds: list[str],
    bar: str,
    rule: str,
    *,
    bold: bool = False,
    is_bare: bool = False,
) -> str:
    """Return the rows; bare ones have no vertical lines, though their table has."""
    written, covered = "", set[int]()
    below: dict[int, int] = {}  # Covered column -> rows left.
    for row in rows:
        left, cells, x, covered = list(row), [], 0, set()
        while x < table.width:
            if below.get(x, 0) > 0:
                below[x] -= 1
                covered |= {x} if below[x] else set()
                cells.append(r"\multicolumn{1}{l}{}" if is_bare else "")
                x += 1
                continue
            cell = left.pop(0)
            written_cell = _cell(cell, kinds[x], bar, bold=bold, upright=bold and table.upright, first=x == 0)
            is_single = is_bare and cell.across == 1
            cells.append(rf"\multicolumn{{1}}{{{kinds[x]}}}{{{written_cell}}}" if is_single else written_cell)
            below |= {x + step: cell.down - 1 for step in range(cell.across)}
            covered |= {x + step for step in range(cell.across) if cell.down > 1}
            x += cell.across
        written += " & ".join(cells) + rf" \\ {_partial_rule(rule, covered, table.width)} "
    return written + (r"\hline " if rule and covered else "")


def _partial_rule(rule: str, covered: set[int], width: int) -> str:
    """Return a line below the columns whose cells end here."""
    if not rule or not covered:
        return rule
    return "".join(rf"\cline{{{at + 1}-{at + 1}}}" for at in range(width) if at not in covered)


def _cell(cell: Cell, kind: str, bar: str, *, bold: bool, upright: bool, first: bool) -> str:
    text = rf"\textbf{{{_text(cell.text)}}}" if bold and cell.text else _text(cell.text)
    if upright:
        text = rf"\rotatebox{{90}}{{{text}}}"
    if cell.across > 1:
        text = rf"\multicolumn{{{cell.across}}}{{{bar if first else ''}c{bar}}}{{{text}}}"
    return text
